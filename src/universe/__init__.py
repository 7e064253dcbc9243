"""Universes that change only by commands, with a durable log and live event streams.

from universe import EMPTY, apply

state, events = apply(EMPTY, {"type": "tick", "dt": 5})
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from universe.domain.command_parser import parse_command
    from universe.domain.reducer import apply
    from universe.domain.state import EMPTY, State, parse_state
    from universe.service.universes import UniverseService

_MODULES = {
    "EMPTY": "universe.domain.state",
    "State": "universe.domain.state",
    "UniverseService": "universe.service.universes",
    "apply": "universe.domain.reducer",
    "parse_command": "universe.domain.command_parser",
    "parse_state": "universe.domain.state",
}

__all__ = ["EMPTY", "State", "UniverseService", "apply", "parse_command", "parse_state"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package is fast."""
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'universe' has no attribute '{name}'")
