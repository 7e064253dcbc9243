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
    from universe.domain.systems import load_system
    from universe.service.jobs.job_service import JobService
    from universe.service.jobs.measurement import find_transits, measure_velocities, run_nbody
    from universe.service.universes import UniverseService

_MODULES = {
    "EMPTY": "universe.domain.state",
    "JobService": "universe.service.jobs.job_service",
    "State": "universe.domain.state",
    "UniverseService": "universe.service.universes",
    "apply": "universe.domain.reducer",
    "find_transits": "universe.service.jobs.measurement",
    "load_system": "universe.domain.systems",
    "measure_velocities": "universe.service.jobs.measurement",
    "parse_command": "universe.domain.command_parser",
    "parse_state": "universe.domain.state",
    "run_nbody": "universe.service.jobs.measurement",
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
