"""Units and constants: astronomical units, and the conversion of other units.

Astronomical bodies measure lengths in AU, times in days (one simulation second is one day) and masses in solar masses.
Angles of bodies and arguments are in degrees.
"""

import math
from typing import Final

from uraniborg.kernel.errors import InvalidInput

GAUSS_K: Final = 0.01720209895
"""The Gaussian gravitational constant, in AU^1.5 per day and per root of a solar mass."""

G: Final = GAUSS_K**2
"""The constant of gravitation in AU^3 / (solar mass * day^2)."""

AU_IN_METRES: Final = 149_597_870_700.0
"""By definition (IAU 2012 Resolution B2)."""

DAY_IN_SECONDS: Final = 86_400.0
YEAR_IN_DAYS: Final = 365.25
"""The Julian year."""

_GM_SUN: Final = 1.327_124_4e20
_GM_EARTH: Final = 3.986_004e14
_GM_JUPITER: Final = 1.266_865_3e17
# The three above are nominal values of IAU 2015 Resolution B3, in m^3/s^2; the constant of gravitation is CODATA 2018.
_G_SI: Final = 6.674_30e-11

SOLAR_MASS_IN_KG: Final = _GM_SUN / _G_SI
EARTH_MASS: Final = _GM_EARTH / _GM_SUN
"""In solar masses."""
JUPITER_MASS: Final = _GM_JUPITER / _GM_SUN
"""In solar masses."""

_UNITS: Final[dict[str, dict[str, float]]] = {
    "length": {
        "au": 1.0,
        "m": 1 / AU_IN_METRES,
        "km": 1e3 / AU_IN_METRES,
        "solar_radius": 6.957e8 / AU_IN_METRES,
        "jupiter_radius": 7.1492e7 / AU_IN_METRES,
        "earth_radius": 6.3781e6 / AU_IN_METRES,
    },
    "time": {"day": 1.0, "s": 1 / DAY_IN_SECONDS, "year": YEAR_IN_DAYS},
    "mass": {
        "solar_mass": 1.0,
        "jupiter_mass": JUPITER_MASS,
        "earth_mass": EARTH_MASS,
        "kg": 1 / SOLAR_MASS_IN_KG,
    },
}
"""For each quantity, the value of each unit in astronomical units."""


def convert_unit(value: float, unit: str, to: str) -> float:
    """Convert `value` to another unit of the same quantity.

    Raise InvalidInput if the units measure different quantities.
    """
    for units in _UNITS.values():
        if unit in units and to in units:
            return value * (units[unit] / units[to])
    raise InvalidInput(
        f"There is no conversion from '{unit}' to '{to}'.",
        hint="Use two units of the same quantity.",
        argument="unit",
        allowed={quantity: list(units) for quantity, units in _UNITS.items()},
    )


def compute_period(semi_major_axis: float, total_mass: float) -> float:
    """Return the period in days of two bodies with this total mass, by Kepler's third law."""
    axis = _check_positive("semi_major_axis", semi_major_axis)
    return 2 * math.pi * axis * math.sqrt(axis / _compute_gm(total_mass))


def compute_semi_major_axis(period: float, total_mass: float) -> float:
    """Return the semi-major axis in AU of an orbit with this period in days, by Kepler's third law."""
    radian = _check_positive("period", period) / (2 * math.pi)
    return math.cbrt(_compute_gm(total_mass) * radian * radian)


def _compute_gm(total_mass: float) -> float:
    return G * _check_positive("total_mass", total_mass)


def _check_positive(argument: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise InvalidInput(
            f"{argument} is {value}, but must be a positive finite number.",
            hint="An orbit needs a size, a period and an attracting mass above zero.",
            argument=argument,
            allowed="> 0",
        )
    return value
