"""Universes that change only by commands, with a durable log and live event streams.

from universe import EMPTY, apply

state, events = apply(EMPTY, {"type": "tick", "dt": 5})

Measure a system; a notebook shows the summary and the chart:

from universe import load_system, run_nbody

run_nbody(load_system("trappist-1"), days=100)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from universe.domain.command_parser import parse_command
    from universe.domain.reducer import apply
    from universe.domain.state import EMPTY, State, parse_state
    from universe.jobs.python_api import find_transits, measure_velocities, run_nbody
    from universe.jobs.service import JobService
    from universe.service.universes import UniverseService
    from universe.systems import load_system

_MODULES = {
    "EMPTY": "universe.domain.state",
    "JobService": "universe.jobs.service",
    "State": "universe.domain.state",
    "UniverseService": "universe.service.universes",
    "apply": "universe.domain.reducer",
    "find_transits": "universe.jobs.python_api",
    "load_system": "universe.systems",
    "measure_velocities": "universe.jobs.python_api",
    "parse_command": "universe.domain.command_parser",
    "parse_state": "universe.domain.state",
    "run_nbody": "universe.jobs.python_api",
}

__all__ = [
    "EMPTY",
    "JobService",
    "State",
    "UniverseService",
    "apply",
    "find_transits",
    "load_system",
    "measure_velocities",
    "parse_command",
    "parse_state",
    "run_nbody",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package is fast."""
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'universe' has no attribute '{name}'")
