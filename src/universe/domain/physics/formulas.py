"""Formulas of planets and stars, the papers they are from, and the replies about physical quantities.

Formulas are in the units that their names state. The habitable zone is that of R. K. Kopparapu et al. 2014 (ApJL 787,
L29): S = S0 + a T + b T^2 + c T^3 + d T^4 with T = Teff - 5780 K, in units of the sunlight at Earth; the fit holds from
2600 K to 7200 K.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from universe.domain.units_and_dates import AU_IN_METRES, DAY_IN_SECONDS, SOLAR_MASS_IN_KG, G, convert_unit


class Quantity(TypedDict):
    """A quantity, its formula and the paper that it is from; without a value, what is missing."""

    value: float | str | None
    unit: str
    formula: str | None
    paper: str | None
    unknown: NotRequired[str | None]


class MassAndRadiusKinds(TypedDict):
    """What a mass and a radius are, where they were not measured."""

    massIs: NotRequired[str]
    radiusIs: NotRequired[str]


class BodyQuantities(MassAndRadiusKinds):
    """The quantities of a body."""

    name: str
    star: Annotated[str | None, Field(description="The id of the star that lights it.")]
    semiMajorAxis: float | None
    quantities: dict[str, Quantity]


class ZoneLimit(TypedDict):
    """A limit of a habitable zone."""

    starlight: float
    au: float


class Zone(TypedDict):
    """The habitable zone of a star; without limits, the note says why."""

    limits: dict[str, ZoneLimit] | None
    temperature: NotRequired[float]
    note: str | None
    paper: NotRequired[str]


class PublishedPaper(TypedDict):
    """A paper that formulas are from."""

    title: str
    authors: list[str]
    year: int
    venue: str
    doi: NotRequired[str]
    arxiv: NotRequired[str]


class FormulaPaper(PublishedPaper):
    """The paper of a formula, and the quantities that use it."""

    id: str
    fields: list[str]


class ZoneReport(TypedDict):
    """The habitable zones of the stars."""

    zones: dict[str, Zone]
    notes: list[str]
    sources: list[FormulaPaper]


class PhysicsReport(ZoneReport):
    """The quantities of all bodies, and the habitable zones."""

    bodies: dict[str, BodyQuantities]


class Physics(ZoneReport):
    """The physical quantities of a universe; without `bodies` only the habitable zones."""

    id: str
    version: int
    bodies: NotRequired[dict[str, BodyQuantities]]


SOLAR_TEMPERATURE: Final = 5772.0
"""In kelvins (IAU 2015 Resolution B3)."""
_G_SI: Final = G * AU_IN_METRES**3 / DAY_IN_SECONDS**2 / SOLAR_MASS_IN_KG
COOLEST: Final = 2600.0
HOTTEST: Final = 7200.0
_REFERENCE: Final = 5780.0
LIMITS: Final[dict[str, tuple[float, float, float, float, float]]] = {
    "recentVenus": (1.776, 2.136e-4, 2.533e-8, -1.332e-11, -3.097e-15),
    "runawayGreenhouse": (1.107, 1.332e-4, 1.580e-8, -8.308e-12, -1.931e-15),
    "maximumGreenhouse": (0.356, 6.171e-5, 1.698e-9, -3.198e-12, -5.575e-16),
    "earlyMars": (0.320, 5.547e-5, 1.526e-9, -2.874e-12, -5.011e-16),
}
"""From the star outwards; for a planet of one Earth mass."""
PAPERS: Final[dict[str, PublishedPaper]] = {
    "kopparapu2014": {
        "title": "Habitable Zones around Main-sequence Stars: Dependence on Planetary Mass",
        "authors": [
            "Kopparapu, Ravi Kumar",
            "Ramirez, Ramses M.",
            "SchottelKotte, James",
            "Kasting, James F.",
            "Domagal-Goldman, Shawn",
            "Eymet, Vincent",
        ],
        "year": 2014,
        "venue": "The Astrophysical Journal Letters 787, L29",
        "doi": "10.1088/2041-8205/787/2/L29",
        "arxiv": "1404.5292",
    },
    "mendez2017": {
        "title": "The Equilibrium Temperature of Planets in Elliptical Orbits",
        "authors": ["Méndez, Abel", "Rivera-Valentín, Edgard G."],
        "year": 2017,
        "venue": "The Astrophysical Journal Letters 837, L1",
        "arxiv": "1702.07314",
    },
    "prsa2016": {
        "title": "Nominal Values for Selected Solar and Planetary Quantities: IAU 2015 Resolution B3",
        "authors": ["Prša, Andrej", "Harmanec, Petr", "Torres, Guillermo", "others"],
        "year": 2016,
        "venue": "The Astronomical Journal 152, 41",
        "doi": "10.3847/0004-6256/152/2/41",
        "arxiv": "1605.09788",
    },
    "hamilton1992": {
        "title": "Orbital stability zones about asteroids: II. The destabilizing effects of eccentric orbits and of "
        "solar radiation",
        "authors": ["Hamilton, Douglas P.", "Burns, Joseph A."],
        "year": 1992,
        "venue": "Icarus 96, 43",
        "doi": "10.1016/0019-1035(92)90005-R",
    },
    "winn2010": {
        "title": "Exoplanet Transits and Occultations",
        "authors": ["Winn, Joshua N."],
        "year": 2010,
        "venue": "Exoplanets, ed. S. Seager, University of Arizona Press, 55",
        "arxiv": "1001.2010",
    },
    "lovis2010": {
        "title": "Radial Velocity Techniques for Exoplanets",
        "authors": ["Lovis, Christophe", "Fischer, Debra A."],
        "year": 2010,
        "venue": "Exoplanets, ed. S. Seager, University of Arizona Press, 27",
    },
}


def compute_luminosity(radius_solar: float, temperature: float) -> float:
    """Return the luminosity in solar luminosities: L = R^2 T^4 in solar units."""
    return radius_solar**2 * (temperature / SOLAR_TEMPERATURE) ** 4


def compute_effective_temperature(radius_solar: float, luminosity_solar: float) -> float:
    """Return the effective temperature in kelvins, from L = R^2 T^4 in solar units."""
    return SOLAR_TEMPERATURE * math.sqrt(math.sqrt(luminosity_solar) / radius_solar)


def compute_insolation(luminosity_solar: float, axis_au: float, eccentricity: float) -> float:
    """Return the mean starlight on an orbit in units of the sunlight at 1 AU: S = L / (a^2 sqrt(1 - e^2))."""
    return luminosity_solar / (axis_au**2 * math.sqrt((1 - eccentricity) * (1 + eccentricity)))


def compute_equilibrium_temperature(temperature: float, radius_solar: float, axis_au: float, albedo: float) -> float:
    """Return Teq = Teff sqrt(R / 2a) (1 - A)^(1/4) in kelvins, for heat that spreads over the whole planet."""
    radius = convert_unit(radius_solar, "solar_radius", "au")
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


@dataclass(frozen=True, slots=True)
class HabitableZone:
    """Limits by name: the starlight there in units of the sunlight at Earth, and the distance in AU."""

    starlight: dict[str, float]
    distances: dict[str, float]
    temperature: float
    """The temperature of the limits in kelvins: that of the star, or the lowest in the paper."""
    note: str | None
    """A note if the star is outside the range of the paper."""

    def classify_insolation(self, insolation: float) -> str:
        """Return the class of this starlight: too hot, inside, at the optimistic edges, or too cold."""
        if insolation > self.starlight["recentVenus"]:
            return "too hot"
        if insolation < self.starlight["earlyMars"]:
            return "too cold"
        is_conservative = self.starlight["maximumGreenhouse"] <= insolation <= self.starlight["runawayGreenhouse"]
        return "inside" if is_conservative else "optimistic edge"


def compute_starlight_limit(limit: str, temperature: float) -> float:
    """Return the starlight at a limit, in units of the sunlight at Earth, for an effective temperature in kelvins."""
    t = temperature - _REFERENCE
    return sum(coefficient * t**power for power, coefficient in enumerate(LIMITS[limit]))


def compute_habitable_zone(temperature: float, luminosity: float) -> HabitableZone | None:
    """Return the zone of a star from kelvins and solar luminosities; None for a star hotter than the paper covers.

    A star that is cooler has the limits of 2600 K, and the note says so.
    """
    if temperature > HOTTEST:
        return None
    note = None
    if temperature < COOLEST:
        note = (
            f"The star has {temperature:g} K; its habitable zone was computed for {COOLEST:g} K, the lower limit of "
            "the formula of Kopparapu et al. 2014."
        )
    used = max(temperature, COOLEST)
    starlight = {name: compute_starlight_limit(name, used) for name in LIMITS}
    distances = {name: math.sqrt(luminosity / value) for name, value in starlight.items()}
    return HabitableZone(starlight, distances, used, note)


def collect_papers(paper_quantity_pairs: Iterable[tuple[str, str]]) -> list[FormulaPaper]:
    """Return the papers of pairs of a paper's id and a quantity, each once, with the quantities as its fields."""
    fields: dict[str, dict[str, None]] = {}
    for paper, quantity in paper_quantity_pairs:
        fields.setdefault(paper, {})[quantity] = None
    return [{"id": paper, **PAPERS[paper], "fields": list(named)} for paper, named in fields.items()]
