"""The binary of orbits, decoded as documented, gives the positions of the orrery from 1800 to 2200."""

import math
from typing import Any

import numpy as np
import orjson
import pytest

from universe.domain.orbits.element_buffers import (
    CONIC,
    EXACT,
    HEADER,
    KEPLER,
    LINE,
    NO_POSITION,
    ON_CPU,
    RECORD,
    encode_elements,
)
from universe.domain.orbits.kepler_equation import compute_stumpff_functions, solve_kepler, solve_universal_anomaly
from universe.domain.orbits.orrery import Orrery
from universe.domain.systems.catalogue import load_system

YEAR = 365.25
HALLEY = {
    "semiMajorAxis": 17.83,
    "eccentricity": 0.967,
    "inclination": 162.3,
    "units": "astronomical",
    "period": 27509.0,
}
OTHERS: dict[str, dict[str, Any]] = {
    "hyperbola": {"q": 2.0, "eccentricity": 1.2, "units": "astronomical", "period": 900.0},
    "sungrazer": {"semiMajorAxis": 50.0, "eccentricity": 0.9999, "units": "astronomical", "period": 129000.0},
    "fast": {"semiMajorAxis": 0.001, "eccentricity": 0.2, "period": 0.01},
    "fast from another epoch": {"semiMajorAxis": 0.001, "eccentricity": 0.2, "period": 0.01, "epoch": 0.0123},
}


def decode_positions(binary: bytes, time: float) -> dict[str, Any]:
    """Return the positions in the binary at a time."""
    _, layout, count, exact_count, _, id_bytes, size, _, origin, tick = HEADER.unpack_from(binary)
    assert (layout, size, HEADER.size) == (1, 64, 64)
    records: Any = np.frombuffer(binary, RECORD, count, HEADER.size)
    exact = np.frombuffer(binary, EXACT, exact_count, HEADER.size + records.nbytes)
    ids = orjson.loads(binary[-id_bytes:])
    ticks = math.floor((time - origin) / tick)
    rest = (time - origin) / tick - ticks
    fixed: Any = (records["motion"] * np.uint64(ticks)) >> np.uint64(32)
    at_tick: Any = ((fixed + records["phase"]) % 2**32) / 2**32
    step: Any = records["motion"] / 2**64  # less than half a turn in a tick, also backwards
    turns: Any = at_tick + (step - (records["motion"] >= 2**63)) * rest
    mean: Any = (turns - turns.round()) * 2 * math.pi
    e: Any = 1 - records["one_minus_e"].astype(np.float64)
    is_kepler: Any = (records["flags"] & KEPLER) > 0
    anomaly = np.where(is_kepler, solve_kepler(mean, np.where(is_kepler, e, 0.0)), mean)
    along = records["one_minus_e"] - 2 * np.sin(anomaly / 2) ** 2
    along = np.where(is_kepler, along, np.cos(anomaly))
    local = records["p"] * along[:, None] + records["q"] * np.sin(anomaly)[:, None] + records["centre"]
    for row in exact:
        local[row["index"]] = compute_exactly(int(row["kind"]), row["values"].tolist(), time)
        assert records["flags"][row["index"]] & ON_CPU
    local = np.where((records["flags"] & NO_POSITION)[:, None] > 0, math.nan, local)
    world: dict[str, Any] = {}
    for index, key in enumerate(ids):
        place, total = index, np.zeros(3)
        while place >= 0:
            total = total + local[place]
            place = int(records["parent"][place])
        world[key] = total
    return world


def compute_exactly(kind: int, values: list[float], time: float) -> Any:
    if kind == LINE:
        return np.array(values[:3]) + time * np.array(values[3:6])
    if kind == CONIC:
        q, e, root_mu, passage, period = values[:5]
        elapsed = time - passage
        elapsed -= period * round(elapsed / period) if period else 0
        s = solve_universal_anomaly(np.array([q]), np.array([e]), np.array([root_mu * elapsed]))
        _, c1, c2, _ = compute_stumpff_functions(s * s * (1 - e) / q)
        return (q - s * s * c2) * np.array(values[5:8]) + s * c1 * np.array(values[8:11])
    turns = values[0] * time + values[1]
    e = values[11]
    anomaly = float(solve_kepler(np.array([(turns - round(turns)) * 2 * math.pi]), np.array([e]))[0])
    first, second, centre = (np.array(values[start : start + 3]) for start in (2, 5, 8))
    return (math.cos(anomaly) - e) * first + math.sin(anomaly) * second + centre


@pytest.mark.parametrize("system", ["solar-system", "trappist-1"])
def test_decoded_positions_are_those_of_the_orrery_from_1800_to_2200(system: str) -> None:
    stars = load_system(system)["stars"]
    root = next(key for key, body in stars.items() if body["parentId"] is None)
    planet = next(key for key, body in stars.items() if body["parentId"] == root)
    for key, block in OTHERS.items():
        stars[key] = {"parentId": root, "kepler": block, "mass": 0.0, "radius": 1e-6}
    stars["ellipse"] = {"parentId": planet, "orbitalDistance": 2.0, "eccentricity": 0.3, "orbitalSpeed": -77.0}
    stars["ellipse"] |= {"orbitOffsetX": 0.5, "orbitRotX": 20.0, "orbitalPhase": 33.0}
    stars["rogue"] = {"parentId": None, "isRoguePlanet": True, "orbitalDistance": 0}
    stars["rogue"]["roguePlanet"] = {
        "initialPosition": {"x": 1, "y": 2, "z": 3},
        "velocity": {"x": 1e-4, "y": 0, "z": 0},
    }
    stars["nowhere"] = {"parentId": planet, "kepler": {"semiMajorAxis": -1.0}}
    orrery = Orrery(stars)
    binary = encode_elements(orrery, [body.get("radius") for body in stars.values()], version=7, time=1.5)
    for years in np.linspace(-200, 200, 41).tolist():
        time = years * YEAR + 0.123
        decoded, expected = decode_positions(binary, time), orrery.compute_positions(time)
        for key, row in zip(orrery.ids, expected, strict=True):
            if key == "nowhere":
                assert np.isnan(decoded[key]).all()
            else:
                assert np.abs(decoded[key] - row).max() <= 2e-6 * max(1.0, np.abs(row).max()), (key, time)


def test_replaced_orbits_are_in_the_binary() -> None:
    stars = {
        f"b{number}": {"parentId": None, "orbitalDistance": 1.0 + number, "orbitalSpeed": 5.0} for number in range(9)
    }
    changed = {**stars, "b3": {"parentId": "b1", "kepler": {"q": 2.0, "eccentricity": 1.5, "period": 50.0}}}
    orrery = Orrery(stars).update(stars, changed, ["b3"])
    decoded = decode_positions(encode_elements(orrery, [None] * 9, version=1, time=0.0), 40.0)
    np.testing.assert_allclose(list(decoded.values()), orrery.compute_positions(40.0), atol=1e-5)
