"""Small systems with known transits and velocities."""

from typing import Any

from universe.domain.units_and_dates import convert_unit


def one_planet(
    *,
    star_mass: float = 1.0,
    mass: float = 0.0,
    period: float = 10.0,
    eccentricity: float = 0.0,
    tilt: float = 90.0,
    periapsis: float = 90.0,
    star_radius: float | None = 1.0,
    radius: float | None = 0.1,
    towards: list[float] | None = None,
) -> dict[str, Any]:
    """Return a star and a planet whose plane has this tilt against the plane of the sky, seen from +z.

    Radii are in solar radii. The planet is at its periapsis at time 0, which is in front of the star for 90 degrees.
    """
    towards = [0.0, 0.0, 1.0] if towards is None else towards
    physical: dict[str, Any] = {"towardsObserver": towards} if towards else {}
    return {
        "stars": {
            "star": {
                "id": "star",
                "name": "Star",
                "bodyType": "star",
                "mass": star_mass,
                "parentId": None,
                "physical": {**physical, **_km(star_radius)},
            },
            "planet": {
                "id": "planet",
                "name": "Planet",
                "bodyType": "planet",
                "mass": mass,
                "parentId": "star",
                "physical": _km(radius),
                "kepler": {
                    "units": "astronomical",
                    "derived": "semiMajorAxis",
                    "semiMajorAxis": 1.0,
                    "period": period,
                    "eccentricity": eccentricity,
                    "inclination": tilt,
                    "longitudeOfAscendingNode": 0.0,
                    "argumentOfPeriapsis": periapsis,
                    "meanAnomaly": 0.0,
                    "epoch": 0.0,
                },
            },
        },
        "time": 0,
    }


def _km(radius: float | None) -> dict[str, float]:
    return {} if radius is None else {"radiusKm": convert_unit(radius, "solar_radius", "km")}
