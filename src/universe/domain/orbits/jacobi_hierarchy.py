"""Choose the centre and the mass of each orbit of a system by the hierarchical (Jacobi) rule.

A body and all bodies below it are its subsystem. The children of a body are sorted by the size of their orbits. The
elements of a child describe the motion of its subsystem's barycentre about the barycentre of the parent and the
subsystems of all children further in; the mass that fixes Kepler's third law is the sum of both. So a planet orbits
its star and the inner planets, the Earth and the Moon circle their barycentre, and a circumbinary planet whose parent
is the primary orbits both stars. Only the bodies given count.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from universe.domain.units_and_dates import read_number
from uraniborg.kernel.errors import InvalidInput

Bodies = Mapping[str, Mapping[str, Any]]

ROOT: Final = -1
"""The parent of a body that orbits nothing."""


@dataclass(frozen=True, slots=True)
class JacobiHierarchy:
    """Bodies by index, with the centre and the mass of each orbit."""

    ids: tuple[str, ...]
    parents: tuple[int, ...]
    masses: tuple[float, ...]
    """In solar masses."""
    children: tuple[tuple[int, ...], ...]
    """The bodies that orbit each body, innermost first."""
    subsystem_masses: tuple[float, ...]
    """The mass of each body together with all bodies below it."""
    orbited_masses: tuple[float, ...]
    """The mass in Kepler's third law of each orbit: the mass inside and the subsystem's own; 0 for a root."""
    order: tuple[int, ...]
    """All bodies, each after its parent."""

    def list_roots(self) -> tuple[int, ...]:
        """Return the bodies that orbit nothing."""
        return tuple(index for index, parent in enumerate(self.parents) if parent == ROOT)

    def compute_barycentre_weights(self) -> list[tuple[dict[int, float], dict[int, float]]]:
        """Return for each body the weights of its subsystem's barycentre and of the centre it orbits, by index.

        The centre of a root is empty. A barycentre without mass is the place of its first body.
        """
        own: list[dict[int, float]] = [{} for _ in self.ids]
        centres: list[dict[int, float]] = [{} for _ in self.ids]
        for parent in reversed(self.order):
            inside, mass = {parent: 1.0}, self.masses[parent]
            for child in self.children[parent]:
                centres[child] = dict(inside)
                share = self.subsystem_masses[child]
                fraction = share / (mass + share) if share > 0 else 0.0
                inside = {index: weight * (1 - fraction) for index, weight in inside.items()}
                inside.update((index, weight * fraction) for index, weight in own[child].items())
                mass += share
            own[parent] = inside
        return list(zip(own, centres, strict=True))


def build_hierarchy(stars: Bodies, ids: Iterable[str]) -> JacobiHierarchy:
    """Return the hierarchy of the bodies `ids`. A body whose parent is not among them orbits nothing.

    A ring of parents is cut at the first of its bodies, which then orbits nothing.
    """
    chosen = tuple(ids)
    index_of = {body_id: index for index, body_id in enumerate(chosen)}
    parents = tuple(index_of.get(_get_parent_or_empty(stars[body_id]), ROOT) for body_id in chosen)
    return build_hierarchy_from_indices(
        chosen,
        parents,
        [_read_mass_or_zero(stars[body_id]) for body_id in chosen],
        [make_orbit_sort_key(stars[body_id]) for body_id in chosen],
    )


def build_hierarchy_from_indices(
    ids: tuple[str, ...], parents: Sequence[int], masses: Sequence[float], sizes: Sequence[tuple[float, float]]
) -> JacobiHierarchy:
    """Return the hierarchy of bodies from the indices of their parents, their masses and the sizes of their orbits."""
    parents = _cut_cycles(parents)
    children: list[list[int]] = [[] for _ in ids]
    for index in sorted(range(len(ids)), key=lambda index: sizes[index]):
        if parents[index] != ROOT:
            children[parents[index]].append(index)
    order = [index for index, parent in enumerate(parents) if parent == ROOT]
    for index in order:
        order.extend(children[index])
    subsystems = list(masses)
    for index in reversed(order):
        if parents[index] != ROOT:
            subsystems[parents[index]] += subsystems[index]
    orbited = [0.0] * len(ids)
    for parent, listed in enumerate(children):
        inside = masses[parent]
        for child in listed:
            inside += subsystems[child]
            orbited[child] = inside
    return JacobiHierarchy(
        ids, tuple(parents), tuple(masses), tuple(map(tuple, children)), tuple(subsystems), tuple(orbited), tuple(order)
    )


def compute_orbited_mass(stars: Bodies, body_id: str) -> float:
    """Return the mass in Kepler's third law of this body's orbit, in solar masses; 0 for a body without a parent.

    Bodies with a `kepler` block count: the parent, its children further in, and all bodies below these.
    """
    parent = _get_parent_or_empty(stars[body_id])
    if parent not in stars:
        return 0.0
    family = _list_body_and_descendants(stars, parent)
    return build_hierarchy(stars, family).orbited_masses[family.index(body_id)] if body_id in family else 0.0


def list_orbited_bodies(stars: Bodies, body_id: str) -> list[str]:
    """Return the bodies whose masses `compute_orbited_mass` adds; none for a body without a parent or an orbit."""
    parent = _get_parent_or_empty(stars[body_id])
    family = _list_body_and_descendants(stars, parent) if parent in stars else []
    if body_id not in family:
        return []
    own, centre = build_hierarchy(stars, family).compute_barycentre_weights()[family.index(body_id)]
    return [family[index] for index in {**centre, **own}]


def compute_orbited_masses(stars: Bodies) -> dict[str, float]:
    """Return `compute_orbited_mass` of every body that has a `kepler` block or no parent, with one sort."""
    ids = [body_id for body_id, body in stars.items() if body.get("kepler") or _get_parent_or_empty(body) not in stars]
    grouping = build_hierarchy(stars, ids)
    return dict(zip(grouping.ids, grouping.orbited_masses, strict=True))


def make_orbit_sort_key(body: Mapping[str, Any]) -> tuple[float, float]:
    """Return a key that sorts orbits outwards: by semi-major axis, then open orbits by periapsis distance."""
    block = body.get("kepler")
    fields: Mapping[str, Any] = cast("Mapping[str, Any]", block) if isinstance(block, Mapping) else {}
    eccentricity, axis, nearest = (
        _read_number_or_zero(fields, name) for name in ("eccentricity", "semiMajorAxis", "q")
    )
    if eccentricity >= 1:
        return math.inf, nearest or axis * (1 - eccentricity)
    return axis or nearest / (1 - eccentricity), 0.0


def _cut_cycles(parents: Sequence[int]) -> list[int]:
    """Return the parents with every ring cut at the first of its bodies."""
    cut = list(parents)
    ends_at_root = [parent == ROOT for parent in parents]
    for start in range(len(cut)):
        walk: dict[int, None] = {}
        index = start
        while not ends_at_root[index] and index not in walk:
            walk[index] = None
            index = cut[index]
        if index in walk and not ends_at_root[index]:
            cut[min(list(walk)[list(walk).index(index) :])] = ROOT
        for passed in walk:
            ends_at_root[passed] = True
    return cut


def _list_body_and_descendants(stars: Bodies, root: str) -> list[str]:
    below: dict[str, list[str]] = {}
    for body_id, body in stars.items():
        if body.get("kepler") and (parent := _get_parent_or_empty(body)):
            below.setdefault(parent, []).append(body_id)
    family = {root: None}
    for parent in (listed := [root]):
        fresh = [child for child in below.get(parent, ()) if child not in family]
        family.update(dict.fromkeys(fresh))
        listed.extend(fresh)
    return list(family)


def _get_parent_or_empty(body: Mapping[str, Any]) -> str:
    parent = body.get("parentId")
    return parent if isinstance(parent, str) else ""


def _read_mass_or_zero(body: Mapping[str, Any]) -> float:
    return max(_read_number_or_zero(body, "mass"), 0.0)


def _read_number_or_zero(fields: Mapping[str, Any], name: str) -> float:
    try:
        return read_number(fields, name, 0.0)
    except InvalidInput:
        return 0.0
