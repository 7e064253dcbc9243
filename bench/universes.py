"""What the benchmarks of universes share: a universe of many bodies, a place for files, commands."""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def body(number: int) -> dict[str, Any]:
    return {
        "id": f"body-{number}",
        "name": f"Body {number}",
        "mass": 1.0 + number * 0.001,
        "radius": 0.5,
        "color": "#4A90E2",
        "children": [],
        "parentId": None if number == 0 else "body-0",
        "orbitalDistance": 5.0 + number * 0.01,
        "orbitalSpeed": 1.5,
        "orbitalPhase": number % 360,
        "bodyType": "planet",
        "semiMajorAxis": 5.0 + number * 0.01,
        "eccentricity": 0.1,
        "orbitRotX": 2.5,
        "orbitRotY": 0.5,
    }


def state(bodies: int) -> dict[str, Any]:
    """Return the state of a star with planets, `bodies` in all."""
    stars = {f"body-{number}": body(number) for number in range(bodies)}
    stars["body-0"]["children"] = [key for key in stars if key != "body-0"]
    return {"stars": stars, "rootIds": ["body-0"]}


def change(number: int, bodies: int) -> dict[str, Any]:
    return {"type": "updateStar", "id": f"body-{number % bodies}", "payload": {"mass": float(number)}}


@contextmanager
def folder() -> Generator[Path]:
    path = Path(tempfile.mkdtemp(prefix="universe-bench-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def planetary_systems(bodies: int) -> dict[str, Any]:
    """Return the state of stars with nine planets each on Kepler orbits, `bodies` in all, with cited values."""
    stars: dict[str, Any] = {}
    for number in range(bodies):
        star = f"body-{number - number % 10}"
        stars[f"body-{number}"] = _make_cited_body(number, star if number % 10 else None)
    for number in range(0, bodies, 10):
        stars[f"body-{number}"]["children"] = [f"body-{child}" for child in range(number + 1, min(number + 10, bodies))]
    return {"stars": stars, "rootIds": [f"body-{number}" for number in range(0, bodies, 10)]}


def _make_cited_body(number: int, parent: str | None) -> dict[str, Any]:
    cited = {
        "id": "doi:10.26133/NEA12",
        "title": "NASA Exoplanet Archive: Planetary Systems Composite Parameters",
        "authors": ["NASA Exoplanet Science Institute"],
        "year": 2026,
        "fields": ["mass", "kepler.period"] if parent else ["mass"],
    }
    orbit = {
        "units": "astronomical",
        "semiMajorAxis": 0.1 + number % 10,
        "eccentricity": 0.05 * (number % 10),
        "inclination": number % 7,
        "longitudeOfAscendingNode": number % 360,
        "argumentOfPeriapsis": number % 180,
        "meanAnomaly": number % 360,
        "period": 365.25 * (0.1 + number % 10) ** 1.5,
    }
    plain = body(number) | {"parentId": parent, "sources": [cited]}
    return plain | ({"kepler": orbit} if parent else {"orbitalDistance": 0})
