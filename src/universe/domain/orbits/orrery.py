"""Compute the positions of all bodies of a state: each local position, summed along its parents."""

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

import numpy as np

from universe.domain.orbits.jacobi_hierarchy import Bodies, compute_orbited_masses
from universe.domain.orbits.kepler_blocks import KeplerOrbit, make_elements, read_kepler_orbit
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.orbits.parent_chains import NO_PARENT, Indices, ParentChains, find_parent_indices
from universe.domain.orbits.uniform_ellipses import (
    FIELDS,
    check_at_least_one_segment,
    read_ellipses,
    read_rogue_planets,
)
from universe.domain.units_and_dates import check_finite_time
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
"""An orrery is prepared anew when more than one of this many bodies was replaced or added."""
_BODIES_PER_REMOVED: Final = 10
"""An orrery is prepared anew when more than one of this many bodies was removed."""


class Orrery:
    """The bodies of a state, prepared once; positions at any time then need a few array operations.

    A body follows its `kepler` block where it has one, the rule of rogue planets where it is one, and else the
    compatible rule, by which an `orbitalDistance` of exactly 0 puts it where its parent is. A parent that does not
    exist counts as the origin; in a ring of parents each member counts once.

    Each body has a slot, a row in the arrays. An update keeps the slots of the bodies prepared first, also of those
    that were removed, and adds slots at the end; `order` has the slot of each body.
    """

    @_BEYOND_NUMBERS
    def __init__(self, stars: Bodies) -> None:
        self.ids: list[str] = list(stars)
        self.order: Indices = np.arange(len(self.ids))
        self._first_slots = {body_id: slot for slot, body_id in enumerate(self.ids)}
        self._added_slots: dict[str, int] = {}
        self._slot_ids = self.ids
        self._replaced_ids: frozenset[str] = frozenset()
        self._base = _read_motions(stars, self.ids, self._first_slots.__getitem__)
        self._mass_dependent_ids = self._base.mass_dependent_ids
        self._first_parents = find_parent_indices(stars)
        self._orphan_ids = [
            key
            for key, parent in zip(self.ids, self._first_parents.tolist(), strict=True)
            if parent == NO_PARENT and stars[key].get("parentId") is not None
        ]
        self._set_motions([self._base], ParentChains(self._first_parents))

    @_BEYOND_NUMBERS
    def update(self, before: Bodies, after: Bodies, touched: Collection[str], ids: list[str] | None = None) -> "Orrery":
        """Return an orrery for `after`; this one is for `before`. The two differ only in the bodies `touched`.

        `ids` has all ids in order if bodies were added, removed or moved. Bodies whose orbits did not change are not
        prepared again.
        """
        removed = {key for key in touched if key not in after}
        changed = {key for key in touched if key in after and not _has_same_orbit(before.get(key), after[key])}
        dependent = self._mass_dependent_ids - removed
        if dependent and (
            changed or removed or any(before[key].get("mass") != after[key].get("mass") for key in touched)
        ):
            changed |= dependent
        if not changed and ids is None:
            return self
        replaced = (self._replaced_ids | changed) - removed
        ids = self.ids if ids is None else ids
        absent = len(self._first_slots) - sum(key in self._first_slots for key in ids) if ids is not self.ids else 0
        if len(replaced) > max(_MIN_REPLACED, len(ids) // _BODIES_PER_REPLACED) or absent > max(
            _MIN_REPLACED, len(ids) // _BODIES_PER_REMOVED
        ):
            return Orrery({key: after[key] for key in ids})
        updated = copy(self)
        updated._replaced_ids = replaced
        if ids is not self.ids:
            updated._set_order(ids)
        updated._replace_bodies(after, has_new_parents=_has_new_parents(before, after, touched))
        return updated

    def _set_order(self, ids: list[str]) -> None:
        """Set the bodies and their slots: new slots at the end for the bodies that were not prepared first."""
        count = len(self._first_slots)
        added = sorted(key for key in self._replaced_ids if key not in self._first_slots)
        self._added_slots = {key: count + index for index, key in enumerate(added)}
        self._slot_ids = [*self._first_slots, *added]
        slots = self._first_slots | self._added_slots
        self.ids = ids
        self.order = np.array([slots[key] for key in ids], dtype=np.intp)

    def _replace_bodies(self, after: Bodies, *, has_new_parents: bool) -> None:
        """Set the motions of the bodies that were replaced or added, and the parents if some are new."""
        replaced = self._replaced_ids
        motions = _read_motions(after, sorted(replaced, key=self._get_slot), self._get_slot)
        problems = {key: why for key, why in self._base.problems.items() if key not in replaced and key in after}
        chains = ParentChains(self._find_parents(after)) if has_new_parents else self._hierarchy
        self._set_motions([dataclasses.replace(self._base, problems=problems), motions], chains)
        self._mass_dependent_ids = (
            frozenset(key for key in self._base.mass_dependent_ids - replaced if key in after)
            | motions.mass_dependent_ids
        )

    def _find_parents(self, after: Bodies) -> Indices:
        parents = np.full(len(self._slot_ids), NO_PARENT, dtype=np.intp)
        parents[: len(self._first_parents)] = self._first_parents
        is_absent = np.ones(len(parents) + 1, dtype=np.bool_)  # the last one is that of NO_PARENT
        is_absent[self.order] = False
        parents[is_absent[parents]] = NO_PARENT
        for key in {*self._replaced_ids, *self._orphan_ids}:
            if key in after:
                parent = after[key].get("parentId")
                is_there = isinstance(parent, str) and parent in after
                parents[self._get_slot(key)] = self._get_slot(str(parent)) if is_there else NO_PARENT
        return parents

    def _get_slot(self, body_id: str) -> int:
        slot = self._added_slots.get(body_id)
        return self._first_slots[body_id] if slot is None else slot

    def list_motions(self) -> list[tuple[Indices, MotionRule]]:
        """Return the motions with the slots of their bodies; later motions replace earlier ones of the same slot."""
        return [(moving.indices, moving.motion) for moving in self._moving]

    @property
    def slot_count(self) -> int:
        """The number of slots, also of bodies that were removed."""
        return len(self._slot_ids)

    @property
    def parents(self) -> Indices:
        """The index of the parent of each body; NO_PARENT if it has none."""
        index_of_slot = np.full(self.slot_count + 1, NO_PARENT, dtype=np.intp)
        index_of_slot[self.order] = np.arange(len(self.ids))
        return index_of_slot[self._hierarchy.parents[self.order]]

    def _set_motions(self, motions: list[_Motions], chains: ParentChains) -> None:
        """Set the motions, of which later ones replace those of the same bodies before them."""
        self._moving = [moving for one in motions for moving in one.moving]
        self._hierarchy = chains
        self.unplaceable: dict[str, str] = {}
        """The reason why a body has no position, by id."""
        for one in motions:
            self.unplaceable |= one.problems
        self._has_problem = np.zeros(self.slot_count, dtype=np.bool_)
        self._has_problem[[self._get_slot(key) for key in self.unplaceable]] = True
        self._mark_bodies_without_parent_position()

    @_BEYOND_NUMBERS
    def compute_positions(self, t: float) -> Floats:
        """Return world positions at time `t` as an (n, 3) array in the order of `ids`.

        NaN for bodies without a position.
        """
        check_finite_time(t)
        local = np.zeros((self.slot_count, 3))
        for moving in self._moving:
            local[moving.indices] = moving.motion.compute_positions(t)
        local[self._has_problem] = math.nan
        return _fill_incomplete_rows_with_nan(self._hierarchy.sum_along_parents(local)[self.order])

    @_BEYOND_NUMBERS
    def compute_path(self, body_id: str, segments: int = 128) -> Floats:
        """Return one body's orbit relative to its parent, as (segments + 1, 3) points; NaN for a body without an orbit.

        Raise NotFound for an unknown body.
        """
        check_at_least_one_segment(segments)
        slot = self._added_slots.get(body_id, self._first_slots.get(body_id))
        if slot is None or not (self.order == slot).any():
            raise NotFound(f"There is no body '{body_id}'.", hint="Use an id of the state.", id=body_id)
        if self._has_problem[slot]:
            return np.full((segments + 1, 3), math.nan)
        for moving in reversed(self._moving):
            index = int(np.searchsorted(moving.indices, slot))
            if index < moving.indices.size and moving.indices[index] == slot:
                return _fill_incomplete_rows_with_nan(moving.motion.compute_path(index, segments))
        raise AssertionError("every body moves by one of the rules")

    def _mark_bodies_without_parent_position(self) -> None:
        """Also list the bodies that orbit a body without a position."""
        if not self._has_problem.any():
            return
        tainted = self._hierarchy.sum_along_parents(self._has_problem[:, None].astype(np.float64))[:, 0] > 0
        tainted &= ~self._has_problem
        for slot in self.order[tainted[self.order]].tolist():
            parent = self._slot_ids[int(self._hierarchy.parents[slot])]
            self.unplaceable[self._slot_ids[slot]] = f"It goes around '{parent}', which has no position."


def _read_motions(stars: Bodies, ids: Sequence[str], get_slot: Callable[[str], int]) -> _Motions:
    """Return the motions of these bodies, which are in the order of their slots."""
    plain, kepler, rogue = _split_ids_by_rule(stars, ids)
    moving: list[_Moving] = []

    def add_motion(moved_ids: Iterable[str], motion: MotionRule) -> None:
        if indices := [get_slot(body_id) for body_id in moved_ids]:
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


def _has_same_orbit(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> bool:
    return old is not None and (old is new or all(old.get(name) == new.get(name) for name in _ORBIT_FIELDS))


def _has_new_parents(before: Bodies, after: Bodies, touched: Collection[str]) -> bool:
    """Return True if a body was added, removed, or has another parent."""
    return any(
        key not in before or key not in after or before[key].get("parentId") != after[key].get("parentId")
        for key in touched
    )


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
