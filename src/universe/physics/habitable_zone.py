"""The habitable zone of R. K. Kopparapu et al. 2014 (ApJL 787, L29): the starlight at its limits, and their distances.

S = S0 + a T + b T^2 + c T^3 + d T^4 with T = Teff - 5780 K, in units of the sunlight at Earth; the fit holds from
2600 K to 7200 K.
"""

import math
from dataclasses import dataclass
from typing import Final

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


@dataclass(frozen=True, slots=True)
class HabitableZone:
    """Limits by name: the starlight there in units of the sunlight at Earth, and the distance in AU."""

    starlight: dict[str, float]
    distances: dict[str, float]
    temperature: float
    """That the limits are of, in kelvins: the star's, or the lowest the paper covers."""
    note: str | None
    """How the limits differ from what the paper supports."""

    def place(self, insolation: float) -> str:
        """Return where a planet with this starlight is: too hot, inside, at the optimistic edges, or too cold."""
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
            f"The star has {temperature:g} K, and the fit of Kopparapu et al. 2014 ends at {COOLEST:g} K: "
            f"the limits are those of {COOLEST:g} K, not of this star."
        )
    used = max(temperature, COOLEST)
    starlight = {name: compute_starlight_limit(name, used) for name in LIMITS}
    distances = {name: math.sqrt(luminosity / value) for name, value in starlight.items()}
    return HabitableZone(starlight, distances, used, note)
