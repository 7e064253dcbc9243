"""Positions of all bodies of a state: the local position of each, summed along its parents."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from universe.orbits.jacobi_hierarchy import Bodies, compute_orbited_masses
from universe.orbits.kepler_blocks import KeplerOrbit, make_elements, read_kepler_orbit
from universe.orbits.kepler_equation import Floats
from universe.orbits.number_fields import check_finite_time
from universe.orbits.parent_chains import Indices, ParentChains, find_parent_indices
from universe.orbits.uniform_ellipse_arrays import read_ellipses, read_rogue_planets
from universe.orbits.uniform_ellipses import check_at_least_one_segment
from uraniborg.kernel.errors import InvalidInput, NotFound

# Finite numbers can overflow; such a body has no position, and numpy must not warn.
_BEYOND_NUMBERS: Final = np.errstate(over="ignore", invalid="ignore", divide="ignore")


class MotionRule(Protocol):
    """The motion of some bodies around their parents."""

    def compute_positions(self, t: float) -> Floats: ...
    def compute_path(self, index: int, segments: int) -> Floats: ...


@dataclass(frozen=True, slots=True)
class _Moving:
    indices: Indices
    motion: MotionRule


class Orrery:
    """The bodies of a state, prepared once; positions at any time then need a few array operations.

    A body follows its `kepler` block where it has one, the rule of rogue planets where it is one, and else the
    compatible rule, by which an `orbitalDistance` of exactly 0 puts it where its parent is. A parent that does not
    exist counts as the origin; in a ring of parents each member counts once.
    """

    @_BEYOND_NUMBERS
    def __init__(self, stars: Bodies) -> None:
        self.ids: list[str] = list(stars)
        self.unplaceable: dict[str, str] = {}
        """The reason why a body has no position, by id."""
        self._index_of = {body_id: body_index for body_index, body_id in enumerate(self.ids)}
        self._moving: list[_Moving] = []
        plain, kepler, rogue = _split_ids_by_rule(stars)
        self._add_uniform_ellipse_bodies(stars, plain)
        self._add_kepler_bodies(stars, kepler)
        self._add_rogue_bodies(stars, rogue)
        self._hierarchy = ParentChains(find_parent_indices(stars))
        self._has_problem = np.array([body_id in self.unplaceable for body_id in self.ids], dtype=np.bool_)
        self._mark_bodies_without_parent_position()

    @_BEYOND_NUMBERS
    def compute_positions(self, t: float) -> Floats:
        """Return world positions at time `t` as an (n, 3) array in the order of `ids`.

        NaN for bodies without a position.
        """
        check_finite_time(t)
        local = np.zeros((len(self.ids), 3))
        for moving in self._moving:
            local[moving.indices] = moving.motion.compute_positions(t)
        local[self._has_problem] = math.nan
        return _fill_incomplete_rows_with_nan(self._hierarchy.sum_along_parents(local))

    @_BEYOND_NUMBERS
    def compute_path(self, body_id: str, segments: int = 128) -> Floats:
        """Return one body's orbit relative to its parent, as (segments + 1, 3) points; NaN for a body without an orbit.

        Raise NotFound for an unknown body.
        """
        check_at_least_one_segment(segments)
        body_index = self._index_of.get(body_id)
        if body_index is None:
            raise NotFound(f"There is no body '{body_id}'.", hint="Use an id of the state.", id=body_id)
        if self._has_problem[body_index]:
            return np.full((segments + 1, 3), math.nan)
        for moving in self._moving:
            index = int(np.searchsorted(moving.indices, body_index))
            if index < moving.indices.size and moving.indices[index] == body_index:
                return _fill_incomplete_rows_with_nan(moving.motion.compute_path(index, segments))
        raise AssertionError("every body moves by one of the rules")

    def _add_motion(self, indices: list[int], motion: MotionRule) -> None:
        if indices:
            self._moving.append(_Moving(np.array(indices, dtype=np.intp), motion))

    def _add_uniform_ellipse_bodies(self, stars: Bodies, ids: list[str]) -> None:
        ellipses, problems = read_ellipses([stars[body_id] for body_id in ids])
        self._add_motion([self._index_of[body_id] for body_id in ids], ellipses)
        self.unplaceable |= {ids[index]: reason for index, reason in problems.items()}

    def _add_kepler_bodies(self, stars: Bodies, ids: list[str]) -> None:
        orbits: dict[int, KeplerOrbit] = {}
        masses = _MassesOrbited(stars)
        for body_id in ids:
            try:
                orbits[self._index_of[body_id]] = read_kepler_orbit(stars, body_id, masses.get_orbited_mass)
            except InvalidInput as exc:
                self.unplaceable[body_id] = exc.message
        self._add_motion(list(orbits), make_elements(orbits.values()))

    def _add_rogue_bodies(self, stars: Bodies, ids: list[str]) -> None:
        rogues = read_rogue_planets([stars[body_id]["roguePlanet"] for body_id in ids])
        self._add_motion([self._index_of[ids[index]] for index in rogues.straight_indices], rogues.straight)
        self._add_motion([self._index_of[ids[index]] for index in rogues.curved_indices], rogues.curved)
        self.unplaceable |= {ids[index]: reason for index, reason in rogues.problems.items()}

    def _mark_bodies_without_parent_position(self) -> None:
        """Also list the bodies that orbit a body without a position."""
        if not self._has_problem.any():
            return
        tainted = self._hierarchy.sum_along_parents(self._has_problem[:, None].astype(np.float64))[:, 0] > 0
        for body_index in np.flatnonzero(tainted & ~self._has_problem).tolist():
            parent = self.ids[int(self._hierarchy.parents[body_index])]
            self.unplaceable[self.ids[body_index]] = f"It goes around '{parent}', which has no position."


class _MassesOrbited:
    """The orbited masses, computed once and only if a block has no period."""

    def __init__(self, stars: Bodies) -> None:
        self._stars = stars
        self._masses: dict[str, float] | None = None

    def get_orbited_mass(self, body_id: str) -> float:
        if self._masses is None:
            self._masses = compute_orbited_masses(self._stars)
        return self._masses.get(body_id, 0.0)


def _fill_incomplete_rows_with_nan(rows: Floats) -> Floats:
    """Return `rows`, with NaN for every row that is not three finite numbers."""
    rows[~np.isfinite(rows).all(axis=1)] = math.nan
    return rows


def _split_ids_by_rule(stars: Bodies) -> tuple[list[str], list[str], list[str]]:
    """Return the ids of bodies by rule: the compatible rule, a `kepler` block, or the rule of rogue planets."""
    plain: list[str] = []
    kepler: list[str] = []
    rogue: list[str] = []
    for body_id, body in stars.items():
        if body.get("kepler") is not None:
            kepler.append(body_id)
        elif body.get("isRoguePlanet") and isinstance(body.get("roguePlanet"), Mapping):
            rogue.append(body_id)
        else:
            plain.append(body_id)
    return plain, kepler, rogue
