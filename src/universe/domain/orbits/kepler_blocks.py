"""Read and check the `kepler` block of a body: an orbit whose focus is the parent."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from universe.domain.orbits.jacobi_hierarchy import Bodies, compute_orbited_mass
from universe.domain.orbits.kepler import Elements
from universe.domain.units_and_dates import compute_period, read_number
from uraniborg.kernel.errors import InvalidInput

SCENE: Final = "scene"
ASTRONOMICAL: Final = "astronomical"
AXIS: Final = "semiMajorAxis"
PERIOD: Final = "period"


@dataclass(frozen=True, slots=True)
class KeplerOrbit:
    """The elements of one body, with all defaults. Angles are degrees; lengths and times are of `units`."""

    units: str
    semi_major_axis: float
    """Below 0 for a hyperbola, infinite for a parabola."""
    eccentricity: float
    inclination: float
    longitude_of_ascending_node: float
    argument_of_periapsis: float
    mean_anomaly: float
    epoch: float
    period: float
    """Of an open orbit: the period of an ellipse whose semi-major axis is as long (for a parabola, as long as q)."""
    periapsis_distance: float
    derived: str | None = None
    """The one of semi-major axis and period that follows from the other by Kepler's third law."""
    osculating_period: float | None = None
    """The period at the epoch, where `period` is a mean over years."""


def read_elements(stars: Bodies, ids: Iterable[str]) -> Elements:
    """Return the elements of bodies that have a `kepler` block, in the order of `ids`.

    Raise InvalidInput naming the body and the field where a block does not describe an orbit.
    """
    return make_elements([read_kepler_orbit(stars, body_id) for body_id in ids])


def make_elements(orbits: Iterable[KeplerOrbit]) -> Elements:
    """Return many orbits as arrays."""
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
        periapsis_distance=[one.periapsis_distance for one in listed],
    )


def read_kepler_orbit(
    stars: Bodies, body_id: str, get_orbited_mass: Callable[[str], float] | None = None
) -> KeplerOrbit:
    """Return the orbit that the `kepler` block of one body describes. Raise InvalidInput as `read_elements` does.

    A period that is not given follows from the mass orbited, which `get_orbited_mass` returns; computed if left out.
    """
    block = stars[body_id].get("kepler")
    if not isinstance(block, Mapping):
        raise _make_field_error(body_id, "kepler", "there is no such block", "an object with the orbital elements")
    fields = cast("Mapping[str, Any]", block)
    units, derived = fields.get("units"), fields.get("derived")
    if units not in (None, SCENE, ASTRONOMICAL):
        raise _make_field_error(
            body_id, "kepler.units", "it is not a known system of units", f"'{SCENE}' or '{ASTRONOMICAL}'"
        )
    if derived not in (None, AXIS, PERIOD):
        raise _make_field_error(body_id, "kepler.derived", "it is neither of the two", f"'{AXIS}' or '{PERIOD}'")
    try:
        axis, nearest = read_number(fields, AXIS), read_number(fields, "q")
        eccentricity = read_number(fields, "eccentricity", 0.0)
        tilt, node, periapsis, mean = (read_number(fields, name, 0.0) for name in _ANGLES)
        epoch, period = read_number(fields, "epoch", 0.0), read_number(fields, PERIOD)
        osculating = read_number(fields, "osculatingPeriod")
    except InvalidInput as exc:
        raise _make_field_error(
            body_id, f"kepler.{exc.ids['argument']}", "it is not a number", "a finite number"
        ) from None
    axis, nearest = _compute_axis_and_periapsis(body_id, axis, nearest, eccentricity)
    if period is None:
        period = _compute_period(
            stars, body_id, nearest if eccentricity == 1 else abs(axis), units or SCENE, get_orbited_mass
        )
    for name, days in ((PERIOD, period), ("osculatingPeriod", osculating)):
        if days is not None and not 0 < days < math.inf:
            raise _make_field_error(body_id, f"kepler.{name}", "an orbit takes time", "a number above 0")
    return KeplerOrbit(
        units or SCENE, axis, eccentricity, tilt, node, periapsis, mean, epoch, period, nearest, derived, osculating
    )


_ANGLES: Final = ("inclination", "longitudeOfAscendingNode", "argumentOfPeriapsis", "meanAnomaly")


def _compute_axis_and_periapsis(
    body_id: str, axis: float | None, nearest: float | None, eccentricity: float
) -> tuple[float, float]:
    if eccentricity < 0:
        raise _make_field_error(body_id, "kepler.eccentricity", f"{eccentricity} is below 0", "0 or more")
    if axis is not None and nearest is not None:
        raise _make_field_error(body_id, "kepler.q", "semiMajorAxis is given too", "null, or semiMajorAxis to null")
    if nearest is not None:
        if nearest <= 0:
            raise _make_field_error(body_id, "kepler.q", "an orbit needs a size", "a periapsis distance above 0")
        return (math.inf if eccentricity == 1 else nearest / (1 - eccentricity)), nearest
    if eccentricity == 1:
        raise _make_field_error(
            body_id,
            "kepler.q" if axis is None else "kepler.semiMajorAxis",
            "a parabola (eccentricity 1) has no semi-major axis, only a periapsis distance",
            "a periapsis distance above 0" if axis is None else "null and q to the periapsis distance",
        )
    if axis is None or axis * (1 - eccentricity) <= 0:
        if eccentricity < 1:
            raise _make_field_error(
                body_id, "kepler.semiMajorAxis", "an orbit needs a size", "a number above 0, or q instead"
            )
        problem = f"a hyperbola (eccentricity {eccentricity:g}) has a semi-major axis below 0"
        raise _make_field_error(body_id, "kepler.semiMajorAxis", problem, "a number below 0, or q instead")
    return axis, axis * (1 - eccentricity)


def _compute_period(
    stars: Bodies, body_id: str, axis: float, units: str, get_orbited_mass: Callable[[str], float] | None
) -> float:
    if units == SCENE:
        raise _make_field_error(
            body_id, "kepler.period", "in scene units it is needed", "a number of simulation seconds above 0"
        )
    try:
        read_number(stars.get(str(stars[body_id].get("parentId")), {}), "mass")
        total = get_orbited_mass(body_id) if get_orbited_mass else compute_orbited_mass(stars, body_id)
    except InvalidInput:
        total = 0.0
    if not 0 < total < math.inf:
        raise _make_field_error(
            body_id, "kepler.period", "it is absent and the masses do not give it", "days, or masses in solar masses"
        )
    return compute_period(axis, total)


def _make_field_error(body_id: str, field: str, problem: str, allowed: str) -> InvalidInput:
    return InvalidInput(
        f"Body '{body_id}' has no Kepler orbit because of '{field}': {problem}.",
        hint=f"Set {field} to {allowed}, or remove the block to follow the compatible rule.",
        id=body_id,
        argument=field,
        allowed=allowed,
    )
