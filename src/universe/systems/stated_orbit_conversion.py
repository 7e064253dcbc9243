"""Convert orbits as papers state them to elements in AU, days and degrees at one instant.

A paper states an orbit in one of six ways:
- secular: elements at J2000 and how much they change in a century, on the ecliptic
- osculating: elements at an instant of their own, on the ecliptic
- synchronous: a moon that keeps one face to its planet, so that the pole and prime meridian of the moon give its orbit
- transit: when the planet passes in front of its star, the tilt against the sky, and whose periapsis omega is of
- visual: an orbit seen on the sky, with the instant of its periapsis
- conjunction: when the planet is nearest to us, by the star's motion alone; the tilt is unknown
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from universe.orbits.units import compute_semi_major_axis, convert_unit
from universe.systems.frames import Rotation, make_equator_rotation, rotate_orbit_angles
from universe.systems.julian_dates import CENTURY, J2000
from universe.systems.shipped_data import Facts


@dataclass(frozen=True, slots=True)
class Orbit:
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


def convert_stated_orbit(facts: Facts, target: ConversionTarget) -> Orbit:
    """Return the orbit that `facts` state, with its mean anomaly at the date of `target`."""
    return _KINDS[facts["kind"]](facts, target)


def _convert_secular_orbit(facts: Facts, target: ConversionTarget) -> Orbit:
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
    return Orbit(
        _read_semi_major_axis(facts, centuries),
        eccentricity,
        # The periapsis is fixed from here on, so the period is that of the longitude, not of the anomaly.
        360 * CENTURY / facts["meanLongitudeDeg"][1],
        (longitude - periapsis) % 360,
        (tilt, node % 360),
        (periapsis - node) % 360,
    )


def _convert_osculating_orbit(facts: Facts, target: ConversionTarget) -> Orbit:
    turns = (target.julian_date - facts["epochJd"]) / facts["periodDays"]
    return Orbit(
        facts["semiMajorAxisAu"],
        facts["eccentricity"],
        facts["periodDays"],
        (facts["meanAnomalyDeg"] + 360 * turns) % 360,
        (facts["inclinationDeg"], facts["nodeDeg"]),
        facts["argumentOfPeriapsisDeg"],
    )


def _convert_synchronous_orbit(facts: Facts, target: ConversionTarget) -> Orbit:
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
    return Orbit(
        _read_semi_major_axis(facts, 0.0),
        facts["eccentricity"],
        360 / abs(rate),
        (longitude + from_node) % 360,
        (inclination, node),
        None,
    )


def _convert_transit_orbit(facts: Facts, target: ConversionTarget) -> Orbit:
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
    return Orbit(
        compute_semi_major_axis(period, target.orbited_mass),
        eccentricity,
        mean_period,
        (compute_mean_anomaly(90 - on_sky, eccentricity or 0.0) + 360 * turns) % 360,
        (inclination, node),
        periapsis,
        facts.get("osculatingPeriodDays"),
    )


def _convert_visual_orbit(facts: Facts, target: ConversionTarget) -> Orbit:
    sky = facts["skyInclinationDeg"], facts["skyNodeDeg"], facts["argumentOfPeriapsisDeg"]
    inclination, node, periapsis = rotate_orbit_angles(target.sky, *sky)
    return Orbit(
        facts.get("semiMajorAxisAu") or facts["semiMajorAxisArcsec"] / facts["parallaxArcsec"],
        facts["eccentricity"],
        facts["periodDays"],
        360 * (target.julian_date - facts["periapsisJd"]) / facts["periodDays"] % 360,
        (inclination, node),
        periapsis,
    )


def _convert_conjunction_orbit(facts: Facts, target: ConversionTarget) -> Orbit:
    turns = (target.julian_date - facts["conjunctionJd"]) / facts["periodDays"]
    return Orbit(
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


_KINDS: Final[dict[str, Callable[[Facts, ConversionTarget], Orbit]]] = {
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
