"""What the benchmarks of N-body runs share: the stored cases, IAS15 where it is installed, lines with pass or fail."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
sys.path.append(str(ROOT))  # the stored results are those of the tests

from tests.universe.domain.nbody.truths import End, Truth, read_truth  # noqa: E402
from universe.domain.nbody.initial_conditions import InitialConditions  # noqa: E402
from universe.domain.orbits.kepler_equation import Floats  # noqa: E402
from universe.domain.units_and_dates import G  # noqa: E402

__all__ = [
    "DATA",
    "YEAR",
    "End",
    "Floats",
    "InitialConditions",
    "Truth",
    "best_of",
    "ias15",
    "installed",
    "line",
    "read_truth",
]

YEAR: Final = 365.25
DATA: Final = ROOT.parent / "shared" / "data" / "universe" / "de421_vectors.json"


def installed(module: str) -> Any | None:
    try:
        return import_module(module)
    except ImportError:
        return None


def ias15(start: InitialConditions, days: float, rebound: Any) -> Floats:
    """Return where IAS15 of REBOUND finds the bodies after `days`."""
    import numpy as np

    simulation = rebound.Simulation()
    simulation.G, simulation.integrator = G, "ias15"
    for mass, (x, y, z), (vx, vy, vz) in zip(start.masses, start.positions, start.velocities, strict=True):
        simulation.add(m=mass, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
    simulation.integrate(days, exact_finish_time=1)
    return np.array([one.xyz for one in simulation.particles])


def best_of(rounds: int, contenders: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the least CPU time of each, in seconds; rounds are taken in turns so that a busy moment falls on all."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, work in contenders.items():
            began = process_time()
            work()
            best[name] = min(best[name], process_time() - began)
    return best


def line(claim: str, value: str, target: str, *, passed: bool) -> None:
    print(f"  {'pass' if passed else 'FAIL'}  {claim:<58} {value:<28} (target {target})")
