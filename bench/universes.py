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
