"""Recompute the values of a body that follow from others when these change, or mark them as out of date."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple, cast

from universe.domain.entities import Entity
from universe.domain.orbits.jacobi_hierarchy import compute_orbited_masses
from universe.domain.state import find_roots, get_derived_element_name
from universe.domain.units_and_dates import SOLAR_MASS_IN_KG, convert_unit

Bodies = Mapping[str, Entity]
Causes = dict[str, str]
"""For each field that was recomputed or is out of date: the field whose change is the cause."""

_NEAR: Final = 1e-9
"""Two numbers this near each other, relative to their size, are the same value in two fields."""
_ROUNDS: Final = 8
_PLANE: Final = ("kepler.inclination", "kepler.longitudeOfAscendingNode", "kepler.argumentOfPeriapsis")
_SHAPE: Final = ("kepler.semiMajorAxis", "kepler.eccentricity", *_PLANE)
_OUT_OF_DATE: Final[dict[str, tuple[str, ...]]] = {
    "orbitalPhase": ("kepler.meanAnomaly", "kepler.eccentricity", "kepler.epoch"),
    **{f"orbitRot{axis}": _PLANE for axis in "XYZ"},
    **{f"orbitOffset{axis}": _SHAPE for axis in "XYZ"},
}
"""Fields of the simple orbit that are not recomputed, with the elements that they depend on."""


def get_field_value(body: Mapping[str, Any], field: str) -> Any:
    """Return the value of a field, which may be inside blocks (`kepler.period`); None if it is absent."""
    value: Any = body
    for name in field.split("."):
        value = cast("Entity", value).get(name) if isinstance(value, Mapping) else None
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _compute_radius_km(radius: float, body: Entity) -> float | None:
    magnification = get_field_value(body, "physical.displayMagnification")
    scale = 1 if magnification is None else magnification
    return convert_unit(radius / scale, "au", "km") if _is_number(scale) and scale else None


_RULES: Final[tuple[tuple[str, str, Callable[[float, Entity], float | None]], ...]] = (
    ("physical.massKg", "mass", lambda mass, _: mass * SOLAR_MASS_IN_KG),
    ("physical.radiusKm", "radius", _compute_radius_km),
    ("orbitalDistance", "kepler.semiMajorAxis", lambda axis, _: axis),
    ("semiMajorAxis", "kepler.semiMajorAxis", lambda axis, _: axis),
    ("eccentricity", "kepler.eccentricity", lambda eccentricity, _: eccentricity),
    ("orbitalSpeed", "kepler.period", lambda period, _: 360 / period if period else None),
)
"""Fields that are recomputed, the basis of each, and its function."""


class DerivedBody(NamedTuple):
    """A body with updated derived values, and the causes of the fields that changed or are out of date."""

    body: Entity
    causes: Causes


def is_same_value(one: Any, other: Any) -> bool:
    """Return True if two JSON values are equal; 1 and 1.0 are, 1 and true are not."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def recompute_derived_fields(old: Entity, new: Entity) -> DerivedBody:
    """Return the body with values recomputed from changed ones, unless they were set too."""
    causes: Causes = {}
    body = new
    for field, basis, compute in _RULES:
        given, before, now = get_field_value(new, field), get_field_value(old, basis), get_field_value(new, basis)
        if (
            given is None
            or now is None
            or is_same_value(before, now)
            or not is_same_value(get_field_value(old, field), given)
        ):
            continue
        followed = _compute_finite_number_or_none(compute, before, old)
        if followed is None or not _is_near(followed, given):
            continue
        causes[field] = basis
        if (computed := _compute_finite_number_or_none(compute, now, new)) is not None:
            body = _copy_with_field_value(body, field, computed)
    for field, bases in _OUT_OF_DATE.items():
        if get_field_value(new, field) is None or not is_same_value(
            get_field_value(old, field), get_field_value(new, field)
        ):
            continue
        stale = [
            basis for basis in bases if not is_same_value(get_field_value(old, basis), get_field_value(new, basis))
        ]
        if stale and new.get("kepler"):
            causes[field] = stale[0]
    return DerivedBody(body, causes)


def drop_stale_state_vector_and_period(old: Entity, new: Entity) -> Entity:
    """Return the body without the state vector and osculating period of its previous orbit."""
    before, now = _get_kepler_block_or_empty(old), _get_kepler_block_or_empty(new)
    body = new
    has_new_orbit = before != now or old.get("parentId") != new.get("parentId")
    if (
        has_new_orbit
        and new.get("stateVector") is not None
        and is_same_value(old.get("stateVector"), new["stateVector"])
    ):
        body = {name: value for name, value in body.items() if name != "stateVector"}
    is_stale = any(not is_same_value(before.get(name), now.get(name)) for name in ("period", "semiMajorAxis"))
    osculating = now.get("osculatingPeriod")
    if is_stale and osculating is not None and is_same_value(before.get("osculatingPeriod"), osculating):
        kepler: Entity = {name: value for name, value in now.items() if name != "osculatingPeriod"}
        return {**body, "kepler": kepler}
    return body


def recompute_derived_elements(
    before: Bodies,
    after: Bodies,
    touched_ids: Iterable[str],
    orbit_ids: Collection[str],
    *,
    report_only_ids: Collection[str] = (),
) -> dict[str, DerivedBody]:
    """Return the bodies `orbit_ids` whose derived element depends on a changed value or mass.

    The bodies `report_only_ids` are not changed: their elements are only reported as out of date.
    """
    # Most changes concern no orbit; the orbits of a large universe take long to list.
    changed = [key for key in touched_ids if _has_changed_orbit_or_mass(before.get(key), after.get(key))]
    if not changed or not orbit_ids:
        return {}
    before, after = _keep_systems_of(changed, before, after)
    candidates = {key: after[key] for key in sorted(after) if key in orbit_ids and key in before}
    if not candidates or not any(
        _can_change_orbits(before.get(key), after.get(key), key, candidates) for key in changed
    ):
        return {}
    masses = compute_orbited_masses(before)
    bodies = dict(after)
    found: dict[str, DerivedBody] = {}
    for _ in range(_ROUNDS):  # a new size may move an orbit inside or outside of others
        earlier, found = found, {}
        masses_now = compute_orbited_masses(bodies)
        for key, body in candidates.items():
            ratio = _compute_ratio_of_positives(masses.get(key), masses_now.get(key))
            if (derived := _recompute_derived_element(before[key], body, ratio)) is not None:
                found[key] = DerivedBody(body, derived.causes) if key in report_only_ids else derived
        bodies = {**after, **{key: derived.body for key, derived in found.items()}}
        if found == earlier:
            return found
    return {key: DerivedBody(after[key], derived.causes) for key, derived in found.items()}


def _keep_systems_of(changed: Iterable[str], before: Bodies, after: Bodies) -> tuple[Bodies, Bodies]:
    """Return the bodies of the systems of the changed bodies. No orbit depends on another system."""
    roots_before, roots_after = find_roots(before), find_roots(after)
    found: set[str] = set()
    related = set(changed)
    while found != related:  # a body that was added may join systems
        found = related
        roots = [{one[key] for key in found if key in one} for one in (roots_before, roots_after)]
        related = found.union(
            (key for key, root in roots_before.items() if root in roots[0]),
            (key for key, root in roots_after.items() if root in roots[1]),
        )
    return (
        {key: before[key] for key in roots_before if key in related},
        {key: after[key] for key in roots_after if key in related},
    )


def _has_changed_orbit_or_mass(old: Entity | None, new: Entity | None) -> bool:
    old, new = old or {}, new or {}
    return any(old.get(name) != new.get(name) for name in ("mass", "parentId", "kepler"))


def _can_change_orbits(old: Entity | None, new: Entity | None, key: str, orbits: Bodies) -> bool:
    """Return True if a change of this body can change its orbit, or the central mass of one of `orbits`."""
    old, new = old or {}, new or {}
    if old.get("kepler") or new.get("kepler"):
        return True
    return any(body.get("parentId") == key for body in orbits.values())


def _recompute_derived_element(old: Entity, new: Entity, mass_ratio: float | None) -> DerivedBody | None:
    """Return the body with its element derived by Kepler's third law; None if nothing changed."""
    element = get_derived_element_name(new)
    field = f"kepler.{element}"
    (_, stated_before), (basis, stated) = (
        _find_basis_field_and_value(old, element),
        _find_basis_field_and_value(new, element),
    )
    value = get_field_value(new, field)
    if not is_same_value(get_field_value(old, field), value):
        return None
    is_stated = not is_same_value(stated_before, stated)
    if not is_stated and mass_ratio == 1:
        return None
    cause = basis if is_stated else "mass"
    change = _compute_ratio_of_positives(stated_before, stated)
    if (
        change is None
        or mass_ratio is None
        or not _is_number(value)
        or _get_kepler_block_or_empty(new).get("units") != "astronomical"
    ):
        return DerivedBody(new, {field: cause})
    if element == "semiMajorAxis":
        value = value * math.cbrt(change * change * mass_ratio)
    else:
        value = value * math.sqrt(change * change * change / mass_ratio)
    if not 0 < value < math.inf:
        return DerivedBody(new, {field: cause})
    return DerivedBody(_copy_with_field_value(new, field, value), {field: basis})


def _find_basis_field_and_value(body: Entity, element: str | None) -> tuple[str, Any]:
    """Return the field, and its value, from which Kepler's third law derives the element."""
    if element == "period":
        return "kepler.semiMajorAxis", get_field_value(body, "kepler.semiMajorAxis")
    osculating = get_field_value(body, "kepler.osculatingPeriod")
    if osculating is not None:
        return "kepler.osculatingPeriod", osculating
    return "kepler.period", get_field_value(body, "kepler.period")


def _get_kepler_block_or_empty(body: Entity) -> Entity:
    block = body.get("kepler")
    return cast("Entity", block) if isinstance(block, dict) else {}


def _compute_finite_number_or_none(
    compute: Callable[[float, Entity], float | None], basis: Any, body: Entity
) -> float | None:
    if not _is_number(basis):
        return None
    try:
        value = compute(basis, body)
    except (OverflowError, ZeroDivisionError):
        return None
    return value if value is not None and math.isfinite(value) else None


def _compute_ratio_of_positives(before: Any, now: Any) -> float | None:
    """Return `now` divided by `before`; None unless both are above 0."""
    if not (_is_number(before) and _is_number(now) and before > 0 and now > 0):
        return None
    return 1.0 if before == now else now / before


def _is_near(one: float, other: Any) -> bool:
    return _is_number(other) and math.isclose(one, other, rel_tol=_NEAR)


def _copy_with_field_value(body: Entity, field: str, value: float) -> Entity:
    block, _, inner = field.partition(".")
    if not inner:
        return {**body, block: value}
    return {**body, block: {**cast("Entity", body[block]), inner: value}}
