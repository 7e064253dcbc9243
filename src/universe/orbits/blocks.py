"""The `kepler` block of a body, read and checked: the elements of an orbit whose focus is the parent."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from universe.orbits.kepler import Elements
from universe.orbits.numbers import number
from universe.orbits.units import orbital_period
from uraniborg.kernel.errors import InvalidInput

Bodies = Mapping[str, Mapping[str, Any]]

SCENE: Final = "scene"
ASTRONOMICAL: Final = "astronomical"


@dataclass(frozen=True, slots=True)
class KeplerOrbit:
    """One body's elements, every default filled in. Angles are degrees; lengths and times are of `units`."""

    units: str
    semi_major_axis: float
    eccentricity: float
    inclination: float
    longitude_of_ascending_node: float
    argument_of_periapsis: float
    mean_anomaly: float
    epoch: float
    period: float


def elements_of(stars: Bodies, ids: Iterable[str]) -> Elements:
    """The elements of bodies that have a `kepler` block, in the order of `ids`.

    Raises InvalidInput naming the body and the field where a block does not describe an ellipse.
    """
    return elements([kepler_orbit(stars, body_id) for body_id in ids])


def elements(orbits: Iterable[KeplerOrbit]) -> Elements:
    """Many orbits as arrays."""
    listed = list(orbits)
    return Elements(
        [one.semi_major_axis for one in listed],
        [one.eccentricity for one in listed],
        period=[one.period for one in listed],
        inclination=[one.inclination for one in listed],
        longitude_of_ascending_node=[one.longitude_of_ascending_node for one in listed],
        argument_of_periapsis=[one.argument_of_periapsis for one in listed],
        mean_anomaly=[one.mean_anomaly for one in listed],
        epoch=[one.epoch for one in listed],
    )


def kepler_orbit(stars: Bodies, body_id: str) -> KeplerOrbit:
    """The orbit that the `kepler` block of one body describes. Raises InvalidInput as `elements_of` does."""
    body = stars[body_id]
    block = body.get("kepler")
    if not isinstance(block, Mapping):
        raise _refusal(body_id, "kepler", "there is no such block", "an object with the orbital elements")
    fields = cast("Mapping[str, Any]", block)
    units = fields.get("units")
    if units not in (None, SCENE, ASTRONOMICAL):
        raise _refusal(body_id, "kepler.units", "it is not a known system of units", f"'{SCENE}' or '{ASTRONOMICAL}'")
    try:
        axis = number(fields, "semiMajorAxis")
        eccentricity = number(fields, "eccentricity", 0.0)
        tilt, node, periapsis, mean = (number(fields, name, 0.0) for name in _ANGLES)
        epoch, period = number(fields, "epoch", 0.0), number(fields, "period")
    except InvalidInput as exc:
        raise _refusal(body_id, f"kepler.{exc.ids['argument']}", "it is not a number", "a finite number") from None
    if axis is None or axis <= 0:
        raise _refusal(body_id, "kepler.semiMajorAxis", "an orbit needs a size", "a number above 0")
    if not 0 <= eccentricity < 1:
        raise _refusal(body_id, "kepler.eccentricity", f"{eccentricity} is not of an ellipse", "0 <= eccentricity < 1")
    if period is None:
        period = _period_by_mass(stars, body_id, axis, units or SCENE)
    if not 0 < period < math.inf:
        raise _refusal(body_id, "kepler.period", "an orbit takes time", "a number above 0")
    return KeplerOrbit(units or SCENE, axis, eccentricity, tilt, node, periapsis, mean, epoch, period)


_ANGLES: Final = ("inclination", "longitudeOfAscendingNode", "argumentOfPeriapsis", "meanAnomaly")


def _period_by_mass(stars: Bodies, body_id: str, axis: float, units: str) -> float:
    if units == SCENE:
        raise _refusal(
            body_id, "kepler.period", "in scene units it is needed", "a number of simulation seconds above 0"
        )
    body = stars[body_id]
    parent_id = body.get("parentId")
    parent = stars.get(parent_id) if isinstance(parent_id, str) else None
    try:
        total = number(body, "mass", 0.0) + (number(parent, "mass", 0.0) if parent else 0.0)
    except InvalidInput:
        total = 0.0
    if not 0 < total < math.inf:
        raise _refusal(
            body_id, "kepler.period", "it is absent and the masses do not give it", "days, or masses in solar masses"
        )
    return orbital_period(axis, total)


def _refusal(body_id: str, field: str, problem: str, allowed: str) -> InvalidInput:
    return InvalidInput(
        f"Body '{body_id}' has no Kepler orbit because of '{field}': {problem}.",
        hint=f"Set {field} to {allowed}, or remove the block to follow the compatible rule.",
        id=body_id,
        argument=field,
        allowed=allowed,
    )
