"""Columns of the table of bodies: names, datatypes and units, in CSV and VOTable."""

from typing import Final

TEXT: Final = "unicodeChar"
NUMBER: Final = "double"

COLUMNS: Final[dict[str, tuple[str, str]]] = {
    "id": (TEXT, ""),
    "name": (TEXT, ""),
    "type": (TEXT, ""),
    "parent": (TEXT, ""),
    "color": (TEXT, ""),
    "mass_solar": (NUMBER, "solMass"),
    "mass_is": (TEXT, ""),
    "radius_km": (NUMBER, "km"),
    "period_days": (NUMBER, "d"),
    "semi_major_axis_au": (NUMBER, "AU"),
    "derived": (TEXT, ""),
    "osculating_period_days": (NUMBER, "d"),
    "periapsis_distance_au": (NUMBER, "AU"),
    "eccentricity": (NUMBER, ""),
    "inclination_deg": (NUMBER, "deg"),
    "node_deg": (NUMBER, "deg"),
    "omega_deg": (NUMBER, "deg"),
    "mean_anomaly_deg": (NUMBER, "deg"),
    "epoch_days": (NUMBER, "d"),
    "epoch_jd": (NUMBER, "d"),
    "time_days": (NUMBER, "d"),
    "teff_k": (NUMBER, "K"),
    "luminosity_solar": (NUMBER, "solLum"),
    "unknown": (TEXT, ""),
    "display_magnification": (NUMBER, ""),
    "physical_json": (TEXT, ""),
    "state_vector_json": (TEXT, ""),
    "sources_json": (TEXT, ""),
}
"""The exported columns, each with its datatype and unit."""
SOURCE: Final = "source"
"""A column for people: the publication of all values of the row, if `sources_json` is empty. Not exported."""
ALTERNATIVES: Final[dict[str, tuple[str, str]]] = {
    "mass_earth": ("mass_solar", "earth_mass"),
    "mass_jupiter": ("mass_solar", "jupiter_mass"),
    "mass_kg": ("mass_solar", "kg"),
    "radius_earth": ("radius_km", "earth_radius"),
    "radius_jupiter": ("radius_km", "jupiter_radius"),
    "radius_solar": ("radius_km", "solar_radius"),
    "period_years": ("period_days", "year"),
    "semi_major_axis_km": ("semi_major_axis_au", "km"),
}
"""Columns that stand for another one, in another unit."""
TARGET_UNITS: Final = {
    "mass_solar": "solar_mass",
    "radius_km": "km",
    "period_days": "day",
    "semi_major_axis_au": "au",
}
UNIT_NAMES: Final[dict[str, str]] = {
    "solmass": "solar_mass",
    "msun": "solar_mass",
    "earthmass": "earth_mass",
    "geomass": "earth_mass",
    "mearth": "earth_mass",
    "jupitermass": "jupiter_mass",
    "jovmass": "jupiter_mass",
    "mjup": "jupiter_mass",
    "kg": "kg",
    "km": "km",
    "m": "m",
    "au": "au",
    "solrad": "solar_radius",
    "rsun": "solar_radius",
    "earthrad": "earth_radius",
    "rearth": "earth_radius",
    "jupiterrad": "jupiter_radius",
    "rjup": "jupiter_radius",
    "d": "day",
    "day": "day",
    "days": "day",
    "s": "s",
    "yr": "year",
    "year": "year",
    "a": "year",
}
"""Units of VOTables by their spelling in lower case without spaces."""
KEPLER: Final = {
    "period": "period_days",
    "semiMajorAxis": "semi_major_axis_au",
    "osculatingPeriod": "osculating_period_days",
    "q": "periapsis_distance_au",
    "eccentricity": "eccentricity",
    "inclination": "inclination_deg",
    "longitudeOfAscendingNode": "node_deg",
    "argumentOfPeriapsis": "omega_deg",
    "meanAnomaly": "mean_anomaly_deg",
    "epoch": "epoch_days",
}
"""The columns of the elements of a `kepler` block."""
PHYSICAL: Final = {
    "massIs": "mass_is",
    "epochJulianDate": "epoch_jd",
    "teffKelvin": "teff_k",
    "luminositySolar": "luminosity_solar",
    "displayMagnification": "display_magnification",
}
"""The columns of fields of the `physical` block; the others are in `physical_json`."""
