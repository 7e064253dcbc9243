"""Convert orbits as papers state them to elements in AU, days and degrees at one instant, and rotate frames.

A paper states an orbit in one of six ways:
- secular: elements at J2000 and how much they change in a century, on the ecliptic
- osculating: elements at an instant of their own, on the ecliptic
- synchronous: a moon that keeps one face to its planet, so that the pole and prime meridian of the moon give its orbit
- transit: when the planet passes in front of its star, the tilt against the sky, and whose periapsis omega is of
- visual: an orbit seen on the sky, with the instant of its periapsis
- conjunction: when the planet is nearest to us, by the star's motion alone; the tilt is unknown

All frames are right-handed with z as the pole. The scene's frame has the reference plane of its system as the (x, y)
plane; y and z are exchanged only in `compute_scene_orbit_fields`, because Y is up in the scene.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from universe.domain.systems.shipped_data import Facts
from universe.domain.units_and_dates import CENTURY, J2000, compute_semi_major_axis, convert_unit

Vector = NDArray[np.float64]
Rotation = NDArray[np.float64]
"""A matrix whose product with a direction in one frame is that direction in another."""

_OBLIQUITY: Final = 84381.448 / 3600
"""Of the ecliptic of J2000 to the equator, in degrees (IAU 1976), as the elements of the planets take it."""


def compute_plane_vectors(inclination: float, node: float, periapsis: float) -> tuple[Vector, Vector]:
    """Return unit vectors of an orbit from its angles in degrees: to the periapsis, and 90 degrees ahead."""
    orbit = _make_z_rotation(node) @ _make_x_rotation(inclination) @ _make_z_rotation(periapsis)
    return orbit[:, 0], orbit[:, 1]


def compute_orbit_angles(to_periapsis: Vector, to_side: Vector) -> tuple[float, float, float]:
    """Return inclination, longitude of the node and argument of the periapsis in degrees.

    The node of a flat orbit is 0.
    """
    x, y, z = np.cross(to_periapsis, to_side)
    sine = math.hypot(x, y)
    node = math.atan2(x, -y) if sine > 1e-12 else 0.0
    to_node = np.array([math.cos(node), math.sin(node), 0.0])
    periapsis = math.atan2(-(to_side @ to_node), to_periapsis @ to_node)
    return math.degrees(math.atan2(sine, z)), math.degrees(node) % 360, math.degrees(periapsis) % 360


def rotate_orbit_angles(
    frame: Rotation, inclination: float, node: float, periapsis: float
) -> tuple[float, float, float]:
    """Return the angles of an orbit in the new frame from its angles in the old frame."""
    to_periapsis, to_side = compute_plane_vectors(inclination, node, periapsis)
    return compute_orbit_angles(frame @ to_periapsis, frame @ to_side)


def make_sky_rotation(inclination: float, node: float) -> Rotation:
    """Return the rotation from the plane of the sky to the plane with this inclination and node."""
    return _make_x_rotation(-inclination) @ _make_z_rotation(-node)


def make_equator_rotation(pole_ra: float, pole_dec: float) -> Rotation:
    """Return the rotation from a body's equator, counted from its node on the Earth's, to the ecliptic of J2000."""
    return _make_x_rotation(-_OBLIQUITY) @ _make_z_rotation(pole_ra + 90) @ _make_x_rotation(90 - pole_dec)


def _make_x_rotation(degrees: float) -> Rotation:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[1.0, 0.0, 0.0], [0.0, cos, -sin], [0.0, sin, cos]])


def _make_z_rotation(degrees: float) -> Rotation:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


@dataclass(frozen=True, slots=True)
class ConvertedOrbit:
    """An orbit in AU, days and degrees. None marks an element that no paper states; it is computed as 0."""

    semi_major_axis: float
    eccentricity: float | None
    period: float
    mean_anomaly: float
    plane: tuple[float, float] | None
    """Inclination and longitude of the ascending node."""
    periapsis: float | None
    """The argument of the periapsis."""
    osculating_period: float | None = None
    """The period at the instant, where `period` is a mean over years."""


@dataclass(frozen=True, slots=True)
class ConversionTarget:
    """The target of a conversion: the date, the frame, and the orbited mass."""

    julian_date: float
    sky: Rotation
    orbited_mass: float


def compute_stated_period(facts: Facts) -> float:
    """Return the period of an orbit in days, in any form, as a key that sorts orbits outwards."""
    if "periodDays" in facts:
        return facts["periodDays"]
    rate, days = (
        (facts["meanLongitudeDeg"][1], CENTURY) if "meanLongitudeDeg" in facts else (facts["meridianDeg"][1], 1.0)
    )
    return 360 * days / abs(rate)


def convert_stated_orbit(facts: Facts, target: ConversionTarget) -> ConvertedOrbit:
    """Return the orbit that `facts` state, with its mean anomaly at the date of `target`."""
    return _KINDS[facts["kind"]](facts, target)


def _convert_secular_orbit(facts: Facts, target: ConversionTarget) -> ConvertedOrbit:
    centuries = (target.julian_date - J2000) / CENTURY
    eccentricity, tilt, longitude, periapsis, node = (
        _extrapolate_value(facts[name], centuries)
        for name in (
            "eccentricity",
            "inclinationDeg",
            "meanLongitudeDeg",
            "longitudeOfPeriapsisDeg",
            "longitudeOfNodeDeg",
        )
    )
    if tilt < 0:  # the plane of the Earth's orbit has passed through the ecliptic of J2000
        tilt, node = -tilt, node + 180
    return ConvertedOrbit(
        _read_semi_major_axis(facts, centuries),
        eccentricity,
        # The periapsis is fixed from here on, so the period is that of the longitude, not of the anomaly.
        360 * CENTURY / facts["meanLongitudeDeg"][1],
        (longitude - periapsis) % 360,
        (tilt, node % 360),
        (periapsis - node) % 360,
    )


def _convert_osculating_orbit(facts: Facts, target: ConversionTarget) -> ConvertedOrbit:
    turns = (target.julian_date - facts["epochJd"]) / facts["periodDays"]
    return ConvertedOrbit(
        facts["semiMajorAxisAu"],
        facts["eccentricity"],
        facts["periodDays"],
        (facts["meanAnomalyDeg"] + 360 * turns) % 360,
        (facts["inclinationDeg"], facts["nodeDeg"]),
        facts["argumentOfPeriapsisDeg"],
    )


def _convert_synchronous_orbit(facts: Facts, target: ConversionTarget) -> ConvertedOrbit:
    days = target.julian_date - J2000
    centuries = days / CENTURY
    pole_ra, pole_dec = (
        _extrapolate_value(facts["poleRaDeg"], centuries),
        _extrapolate_value(facts["poleDecDeg"], centuries),
    )
    meridian = _extrapolate_value(facts["meridianDeg"], days)
    if wobble := facts.get("wobble"):
        argument = math.radians(_extrapolate_value(wobble["argumentDeg"], centuries))
        pole_ra += _sum_series(wobble["poleRaSines"], math.sin, argument)
        pole_dec += _sum_series(wobble["poleDecCosines"], math.cos, argument)
        meridian += _sum_series(wobble["meridianSines"], math.sin, argument)
    # The prime meridian looks at the planet, so the moon is on the other side; the period is of the meridian's rate.
    behind, rate = meridian + 180, facts["meridianDeg"][1]
    tilt, longitude = (0.0, behind) if rate > 0 else (180.0, -behind)
    inclination, node, from_node = rotate_orbit_angles(make_equator_rotation(pole_ra, pole_dec), tilt, 0.0, 0.0)
    return ConvertedOrbit(
        _read_semi_major_axis(facts, 0.0),
        facts["eccentricity"],
        360 / abs(rate),
        (longitude + from_node) % 360,
        (inclination, node),
        None,
    )


def _convert_transit_orbit(facts: Facts, target: ConversionTarget) -> ConvertedOrbit:
    tilt, mean_period = facts["skyInclinationDeg"], facts["periodDays"]
    period = facts.get("osculatingPeriodDays", mean_period)
    along, across = facts.get("eCosOmega"), facts.get("eSinOmega")
    inclination, node, from_node = rotate_orbit_angles(target.sky, tilt, 0.0, 0.0)
    if along is None or across is None:
        eccentricity, periapsis, on_sky = facts.get("eccentricity"), None, -from_node
    else:
        eccentricity = math.hypot(along, across)
        on_sky = math.degrees(math.atan2(across, along)) + _OMEGA_SHIFTS[facts["omegaOf"]]
        periapsis = (from_node + on_sky) % 360
    turns = (target.julian_date - facts["transitJd"]) / period
    return ConvertedOrbit(
        compute_semi_major_axis(period, target.orbited_mass),
        eccentricity,
        mean_period,
        (compute_mean_anomaly(90 - on_sky, eccentricity or 0.0) + 360 * turns) % 360,
        (inclination, node),
        periapsis,
        facts.get("osculatingPeriodDays"),
    )


def _convert_visual_orbit(facts: Facts, target: ConversionTarget) -> ConvertedOrbit:
    sky = facts["skyInclinationDeg"], facts["skyNodeDeg"], facts["argumentOfPeriapsisDeg"]
    inclination, node, periapsis = rotate_orbit_angles(target.sky, *sky)
    return ConvertedOrbit(
        facts.get("semiMajorAxisAu") or facts["semiMajorAxisArcsec"] / facts["parallaxArcsec"],
        facts["eccentricity"],
        facts["periodDays"],
        360 * (target.julian_date - facts["periapsisJd"]) / facts["periodDays"] % 360,
        (inclination, node),
        periapsis,
    )


def _convert_conjunction_orbit(facts: Facts, target: ConversionTarget) -> ConvertedOrbit:
    turns = (target.julian_date - facts["conjunctionJd"]) / facts["periodDays"]
    return ConvertedOrbit(
        compute_semi_major_axis(facts["periodDays"], target.orbited_mass),
        facts["eccentricity"],
        facts["periodDays"],
        (facts["earthLongitudeDeg"] + 360 * turns) % 360,
        None,
        None,
    )


_OMEGA_SHIFTS: Final = {"planet-away": 180.0, "planet-towards": 0.0, "star": 0.0}
"""Degrees to add to the argument of periapsis of a source so that a planet transits a quarter turn after its node.

A source states the argument of the planet, with the axis of the line of sight pointing away from us or towards us, or
that of the star's own orbit.
"""


_KINDS: Final[dict[str, Callable[[Facts, ConversionTarget], ConvertedOrbit]]] = {
    "secular": _convert_secular_orbit,
    "osculating": _convert_osculating_orbit,
    "synchronous": _convert_synchronous_orbit,
    "transit": _convert_transit_orbit,
    "visual": _convert_visual_orbit,
    "conjunction": _convert_conjunction_orbit,
}


def _extrapolate_value(value_and_rate: Sequence[float], elapsed: float) -> float:
    return value_and_rate[0] + value_and_rate[1] * elapsed


def _sum_series(amplitudes: Sequence[float], wave: Callable[[float], float], argument: float) -> float:
    return sum(amplitude * wave(times * argument) for times, amplitude in enumerate(amplitudes, start=1))


def _read_semi_major_axis(facts: Facts, centuries: float) -> float:
    """Return the semi-major axis in AU, stated in AU or km, alone or with its rate."""
    unit = "au" if "semiMajorAxisAu" in facts else "km"
    stated = facts["semiMajorAxisAu" if unit == "au" else "semiMajorAxisKm"]
    return convert_unit(
        stated if isinstance(stated, (int, float)) else _extrapolate_value(stated, centuries), unit, "au"
    )


def compute_mean_anomaly(true_anomaly: float, eccentricity: float) -> float:
    """Return the mean anomaly of a closed orbit in degrees, from the true anomaly in degrees."""
    half = math.radians(true_anomaly) / 2
    side, along = math.sqrt(1 - eccentricity) * math.sin(half), math.sqrt(1 + eccentricity) * math.cos(half)
    eccentric = 2 * math.atan2(side, along)
    return math.degrees(eccentric - eccentricity * math.sin(eccentric))
