"""The planets go where JPL's ephemeris DE421 has them ten years later (Folkner, Williams & Boggs 2009)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.nbody.integration.methods import integrate
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import G

VECTORS = Path(__file__).parents[5] / "shared" / "data" / "universe" / "de421_vectors.json"
IDS = ("sun", "mercury", "venus", "earth", "moon", "mars", "jupiter", "saturn", "uranus", "neptune", "pluto")
PARENTS = (-1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0)


@pytest.fixture(scope="module")
def ephemeris() -> dict[str, Any]:
    if not VECTORS.exists():
        pytest.skip("the vectors of DE421 are not here")
    return json.loads(VECTORS.read_text())


def state(ephemeris: dict[str, Any], epoch: str, kind: str) -> Floats:
    return np.array([ephemeris["epochs"][epoch][body][kind] for body in IDS])


def at_j2000(ephemeris: dict[str, Any]) -> InitialConditions:
    masses = np.array([ephemeris["gm_au3_per_day2"][body] for body in IDS]) / G
    x, v = (state(ephemeris, "2451545.0", kind) for kind in ("position", "velocity"))
    relative, orbited = np.zeros((len(IDS), len(IDS))), np.zeros(len(IDS))
    for body, parent in enumerate(PARENTS[1:], start=1):
        relative[body, body], relative[body, parent] = 1.0, -1.0
        orbited[body] = masses[body] + masses[parent]
    x, v = x - masses @ x / masses.sum(), v - masses @ v / masses.sum()
    return InitialConditions(IDS, IDS, masses, x, v, np.full(len(IDS), np.nan), relative, orbited, PARENTS, ())


def seen_from_the_sun(positions: Floats, masses: Floats) -> Floats:
    """Return the planets, with the barycentre of Earth and Moon for the Earth."""
    planets = positions - positions[0]
    planets[3] = masses[3:5] @ planets[3:5] / masses[3:5].sum()
    return np.delete(planets, [0, 4], axis=0)


@pytest.mark.parametrize(("relativity", "mercury", "others"), [(False, 10.0, 2.0), (True, 0.1, 0.1)])
def test_planets_are_where_de421_has_them_after_ten_years(
    ephemeris: dict[str, Any], relativity: bool, mercury: float, others: float
) -> None:
    start = at_j2000(ephemeris)
    days = 2455197.5 - 2451545.0
    central = 0 if relativity else None
    *_, last = integrate(start.masses, start.positions, start.velocities, days, relativistic_body=central)
    ours = seen_from_the_sun(last.last_positions.T.copy(), start.masses)
    theirs = seen_from_the_sun(state(ephemeris, "2455197.5", "position"), start.masses)
    off = np.degrees(np.linalg.norm(ours - theirs, axis=1) / np.linalg.norm(theirs, axis=1)) * 3600
    assert off[0] < mercury
    assert off[1:].max() < others
    assert (off[0] > 5) != relativity
