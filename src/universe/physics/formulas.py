"""Formulas of planets and stars, in the units their names state."""

import math
from typing import Final

from universe.orbits.units import AU_IN_METRES, DAY_IN_SECONDS, SOLAR_MASS_IN_KG, G, convert

SOLAR_TEMPERATURE: Final = 5772.0
"""In kelvins (IAU 2015 Resolution B3)."""
_G_SI: Final = G * AU_IN_METRES**3 / DAY_IN_SECONDS**2 / SOLAR_MASS_IN_KG


def compute_luminosity(radius_solar: float, temperature: float) -> float:
    """Return the luminosity in solar ones: L = R^2 T^4 in solar units, the definition of the effective temperature."""
    return radius_solar**2 * (temperature / SOLAR_TEMPERATURE) ** 4


def compute_effective_temperature(radius_solar: float, luminosity_solar: float) -> float:
    """Return the effective temperature in kelvins, by the same definition."""
    return SOLAR_TEMPERATURE * math.sqrt(math.sqrt(luminosity_solar) / radius_solar)


def compute_insolation(luminosity_solar: float, axis_au: float, eccentricity: float) -> float:
    """Return the mean starlight on an orbit in units of the sunlight at 1 AU: S = L / (a^2 sqrt(1 - e^2))."""
    return luminosity_solar / (axis_au**2 * math.sqrt((1 - eccentricity) * (1 + eccentricity)))


def compute_equilibrium_temperature(temperature: float, radius_solar: float, axis_au: float, albedo: float) -> float:
    """Return Teq = Teff sqrt(R / 2a) (1 - A)^(1/4) in kelvins, for heat that spreads over the whole planet."""
    radius = convert(radius_solar, "solar_radius", "au")
    return temperature * math.sqrt(radius / (2 * axis_au)) * (1 - albedo) ** 0.25


def compute_hill_radius(axis_au: float, eccentricity: float, mass: float, inner_mass: float) -> float:
    """Return r = a (1 - e) (m / 3M)^(1/3) in AU, from masses in the same unit."""
    return axis_au * (1 - eccentricity) * math.cbrt(mass / (3 * inner_mass))


def compute_mean_density(mass_solar: float, radius_km: float) -> float:
    """Return the mean density in g/cm^3."""
    return mass_solar * SOLAR_MASS_IN_KG / (4 / 3 * math.pi * (radius_km * 1e3) ** 3) / 1e3


def compute_surface_gravity(mass_solar: float, radius_km: float) -> float:
    """Return g = G m / r^2 in m/s^2."""
    return _G_SI * mass_solar * SOLAR_MASS_IN_KG / (radius_km * 1e3) ** 2


def compute_escape_speed(mass_solar: float, radius_km: float) -> float:
    """Return v = sqrt(2 G m / r) in km/s."""
    return math.sqrt(2 * _G_SI * mass_solar * SOLAR_MASS_IN_KG / (radius_km * 1e3)) / 1e3
