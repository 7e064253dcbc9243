"""Stored truths of N-body runs: the start, where IAS15 ends, and how far another result is from there."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.orbits.kepler_equation import Floats

FOLDER: Final = Path(__file__).parent / "truth"
PARENTS: Final = {"earth-moon": (-1, 0, 1)}
"""The parents of the bodies in systems where not all bodies orbit the first."""


@dataclass(frozen=True)
class End:
    days: float
    positions: Floats
    velocities: Floats
    exact: Floats
    """Positions by an integration in 80-bit numbers."""
    uncertainty: Floats
    """The distance of the IAS15 result from `exact`, in AU per body."""


@dataclass(frozen=True)
class Truth:
    start: InitialConditions
    ends: tuple[End, ...]

    def end(self, days: float) -> End:
        return next(one for one in self.ends if abs(one.days - days) < 0.5)

    def errors(self, truth: Floats, positions: Floats) -> tuple[Floats, Floats]:
        """Return how far `positions` are from true ones, relative to each body's centre, in AU and in degrees."""
        relative = self.start.relative_matrix
        apart = np.linalg.norm(relative @ (positions - truth), axis=1)
        distances = np.linalg.norm(relative @ truth, axis=1)
        return apart, np.degrees(apart / np.where(distances > 0, distances, 1.0))


def read_truth(case: str) -> Truth:
    read: dict[str, Any] = json.loads((FOLDER / f"{case}.json").read_text(encoding="utf-8"))
    ends = tuple(
        End(
            one["days"],
            np.array(one["positions"]),
            np.array(one["velocities"]),
            np.array(one["exact"]),
            np.array(one["uncertainty"]),
        )
        for one in read["ends"]
    )
    ids = tuple(read["ids"])
    masses = np.array(read["masses"])
    parents = PARENTS.get(case, (-1, *[0] * (len(ids) - 1)))
    relative, orbited = jacobi(masses, parents)
    return Truth(
        InitialConditions(
            ids=ids,
            names=ids,
            masses=masses,
            positions=np.array(read["positions"]),
            velocities=np.array(read["velocities"]),
            radii=np.full(len(ids), np.nan),
            relative_matrix=relative,
            orbited_mass=orbited,
            parents=parents,
            notes=(),
        ),
        ends,
    )


def jacobi(masses: Floats, parents: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return the rows that make positions relative to each body's centre, and the mass that each orbit goes around.

    Bodies are listed from the inside out, a parent before its children.
    """
    count = len(masses)
    below = np.eye(count)
    for child in range(count - 1, 0, -1):
        below[parents[child]] += below[child]
    relative, orbited = np.zeros((count, count)), np.zeros(count)
    for body in range(1, count):
        parent = parents[body]
        inside = np.eye(count)[parent]
        for sibling in range(parent + 1, body):
            if parents[sibling] == parent:
                inside = inside + below[sibling]
        relative[body] = _centre(below[body], masses) - _centre(inside, masses)
        orbited[body] = masses @ inside + masses @ below[body]
    return relative, orbited


def _centre(members: Floats, masses: Floats) -> Floats:
    weights = members * masses
    return weights / weights.sum() if weights.sum() > 0 else members / members.sum()
