"""Positions of all bodies of a state: the local position of each, summed along its parents."""

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

import numpy as np

from universe.orbits.jacobi_hierarchy import Bodies, compute_orbited_masses
from universe.orbits.kepler_blocks import KeplerOrbit, make_elements, read_kepler_orbit
from universe.orbits.kepler_equation import Floats
from universe.orbits.number_fields import check_finite_time
from universe.orbits.parent_chains import NO_PARENT, Indices, ParentChains, find_parent_indices
from universe.orbits.uniform_ellipse_arrays import FIELDS, read_ellipses, read_rogue_planets
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


@dataclass(frozen=True, slots=True)
class _Motions:
    """The motions of some bodies, the reasons why others of them have none, and which ones depend on masses."""

    moving: list[_Moving]
    problems: dict[str, str]
    mass_dependent_ids: frozenset[str]


_ORBIT_FIELDS: Final = (*FIELDS, "kepler", "isRoguePlanet", "roguePlanet", "parentId")
_MIN_REPLACED: Final = 64
_BODIES_PER_REPLACED: Final = 200
"""An orrery is prepared anew when more than one of this many bodies was replaced."""


class Orrery:
    """The bodies of a state, prepared once; positions at any time then need a few array operations.

    A body follows its `kepler` block where it has one, the rule of rogue planets where it is one, and else the
    compatible rule, by which an `orbitalDistance` of exactly 0 puts it where its parent is. A parent that does not
    exist counts as the origin; in a ring of parents each member counts once.
    """

    @_BEYOND_NUMBERS
    def __init__(self, stars: Bodies) -> None:
        self.ids: list[str] = list(stars)
        self._index_of = {body_id: body_index for body_index, body_id in enumerate(self.ids)}
        self._replaced_ids: frozenset[str] = frozenset()
        self._base = _read_motions(stars, self.ids, self._index_of)
        self._mass_dependent_ids = self._base.mass_dependent_ids
        self._set_motions([self._base], ParentChains(find_parent_indices(stars)))

    @_BEYOND_NUMBERS
    def update(self, before: Bodies, after: Bodies, touched: Collection[str]) -> "Orrery":
        """Return an orrery for `after`, which has the same ids as `before`, the bodies of this one.

        The two differ only in the bodies `touched`. Those whose orbits did not change are not prepared again.
        """
        changed = {key for key in touched if not _has_same_orbit(before[key], after[key])}
        dependent = self._mass_dependent_ids
        if dependent and (changed or any(before[key].get("mass") != after[key].get("mass") for key in touched)):
            changed |= dependent
        if not changed:
            return self
        replaced = self._replaced_ids | changed
        if len(replaced) > max(_MIN_REPLACED, len(self.ids) // _BODIES_PER_REPLACED):
            return Orrery({key: after[key] for key in self.ids})
        return self._replace_bodies(before, after, changed, replaced)

    def _replace_bodies(
        self, before: Bodies, after: Bodies, changed: Collection[str], replaced: frozenset[str]
    ) -> "Orrery":
        updated = copy(self)
        updated._replaced_ids = replaced
        motions = _read_motions(after, sorted(replaced, key=self._index_of.__getitem__), self._index_of)
        problems = {key: reason for key, reason in self._base.problems.items() if key not in replaced}
        chains = self._hierarchy
        if moved := [key for key in changed if before[key].get("parentId") != after[key].get("parentId")]:
            parents = chains.parents.copy()
            for key in moved:
                parents[self._index_of[key]] = self._index_of.get(str(after[key].get("parentId")), NO_PARENT)
            chains = ParentChains(parents)
        updated._set_motions([dataclasses.replace(self._base, problems=problems), motions], chains)
        updated._mass_dependent_ids = (self._base.mass_dependent_ids - replaced) | motions.mass_dependent_ids
        return updated

    def list_motions(self) -> list[tuple[Indices, MotionRule]]:
        """Return the motions with the indices of their bodies; later motions replace earlier ones of the same body."""
        return [(moving.indices, moving.motion) for moving in self._moving]

    @property
    def parents(self) -> Indices:
        """The index of the parent of each body; NO_PARENT if it has none."""
        return self._hierarchy.parents

    def _set_motions(self, motions: list[_Motions], chains: ParentChains) -> None:
        """Set the motions, of which later ones replace those of the same bodies before them."""
        self._moving = [moving for one in motions for moving in one.moving]
        self._hierarchy = chains
        self.unplaceable: dict[str, str] = {}
        """The reason why a body has no position, by id."""
        for one in motions:
            self.unplaceable |= one.problems
        self._has_problem = np.zeros(len(self.ids), dtype=np.bool_)
        self._has_problem[[self._index_of[key] for key in self.unplaceable]] = True
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
        for moving in reversed(self._moving):
            index = int(np.searchsorted(moving.indices, body_index))
            if index < moving.indices.size and moving.indices[index] == body_index:
                return _fill_incomplete_rows_with_nan(moving.motion.compute_path(index, segments))
        raise AssertionError("every body moves by one of the rules")

    def _mark_bodies_without_parent_position(self) -> None:
        """Also list the bodies that orbit a body without a position."""
        if not self._has_problem.any():
            return
        tainted = self._hierarchy.sum_along_parents(self._has_problem[:, None].astype(np.float64))[:, 0] > 0
        for body_index in np.flatnonzero(tainted & ~self._has_problem).tolist():
            parent = self.ids[int(self._hierarchy.parents[body_index])]
            self.unplaceable[self.ids[body_index]] = f"It goes around '{parent}', which has no position."


def _read_motions(stars: Bodies, ids: Sequence[str], index_of: Mapping[str, int]) -> _Motions:
    """Return the motions of these bodies, which are in the order of their indices."""
    plain, kepler, rogue = _split_ids_by_rule(stars, ids)
    moving: list[_Moving] = []

    def add_motion(moved_ids: Iterable[str], motion: MotionRule) -> None:
        if indices := [index_of[body_id] for body_id in moved_ids]:
            moving.append(_Moving(np.array(indices, dtype=np.intp), motion))

    ellipses, refused = read_ellipses([stars[body_id] for body_id in plain])
    add_motion(plain, ellipses)
    problems = {plain[index]: reason for index, reason in refused.items()}

    orbits: dict[str, KeplerOrbit] = {}
    masses = _MassesOrbited(stars)
    for body_id in kepler:
        try:
            orbits[body_id] = read_kepler_orbit(stars, body_id, masses.get_orbited_mass)
        except InvalidInput as exc:
            problems[body_id] = exc.message
    add_motion(orbits, make_elements(orbits.values()))

    rogues = read_rogue_planets([stars[body_id]["roguePlanet"] for body_id in rogue])
    add_motion([rogue[index] for index in rogues.straight_indices], rogues.straight)
    add_motion([rogue[index] for index in rogues.curved_indices], rogues.curved)
    problems |= {rogue[index]: reason for index, reason in rogues.problems.items()}
    dependent = frozenset(key for key in kepler if _needs_mass(stars[key]["kepler"]))
    return _Motions(moving, problems, dependent)


def _needs_mass(block: Any) -> bool:
    """Return True if the period of an orbit follows from masses."""
    return isinstance(block, Mapping) and cast("Mapping[str, Any]", block).get("period") is None


def _has_same_orbit(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return old is new or all(old.get(name) == new.get(name) for name in _ORBIT_FIELDS)


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


def _split_ids_by_rule(stars: Bodies, ids: Iterable[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the ids of bodies by rule: the compatible rule, a `kepler` block, or the rule of rogue planets."""
    plain: list[str] = []
    kepler: list[str] = []
    rogue: list[str] = []
    for body_id in ids:
        body = stars[body_id]
        if body.get("kepler") is not None:
            kepler.append(body_id)
        elif body.get("isRoguePlanet") and isinstance(body.get("roguePlanet"), Mapping):
            rogue.append(body_id)
        else:
            plain.append(body_id)
    return plain, kepler, rogue
