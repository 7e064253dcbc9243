"""The compatible rule gives what the recorded positions say, and holds for what was not recorded."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.orbits.uniform_ellipses import (
    compute_local_position,
    compute_orbit_path,
    compute_rogue_position,
    compute_rogue_trajectory,
)
from uraniborg.kernel.errors import InvalidInput

Points = list[tuple[float, float, float]]


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> dict[str, Any]:
    return json.loads((shared_data / "universe" / "orbits.json").read_text(encoding="utf-8"))


def worst_difference(found: Points, expected: list[list[float]], size: float) -> float:
    """Return the largest distance between corresponding points, relative to this size."""
    assert len(found) == len(expected)
    return max(math.dist(*pair) for pair in zip(found, expected, strict=True)) / (size or 1.0)


def size_of(points: list[list[float]]) -> float:
    return max(math.hypot(*point) for point in points)


def test_every_recorded_position_is_reproduced(recorded: dict[str, Any]) -> None:
    assert len(recorded["orbits"]) == 500
    for orbit in recorded["orbits"]:
        for sample in orbit["samples"]:
            found = [compute_local_position(orbit["params"], sample["t"])]
            assert worst_difference(found, [sample["p"]], size_of([sample["p"]])) < 1e-8, orbit["id"]


def test_every_recorded_path_is_reproduced(recorded: dict[str, Any]) -> None:
    for path in recorded["paths"]:
        found = compute_orbit_path(path["params"], path["segments"])
        assert worst_difference(found, path["points"], size_of(path["points"])) < 1e-8


def test_every_recorded_rogue_position_is_reproduced(recorded: dict[str, Any]) -> None:
    assert len(recorded["rogues"]) == 150
    for rogue in recorded["rogues"]:
        for sample in rogue["samples"]:
            found = [compute_rogue_position(rogue["meta"], sample["t"])]
            assert worst_difference(found, [sample["p"]], size_of([sample["p"]])) < 1e-8, rogue["id"]


def test_every_recorded_trajectory_is_reproduced(recorded: dict[str, Any]) -> None:
    for one in recorded["trajectories"]:
        options = one["options"]
        past, future = compute_rogue_trajectory(
            one["meta"],
            one["currentTime"],
            options["sampleCount"],
            past_window=options.get("pastWindow"),
            future_window=options.get("futureWindow"),
        )
        for found, expected in ((past, one["past"]), (future, one["future"])):
            assert worst_difference(found, expected, size_of(expected)) < 1e-8


NUMBERS = st.floats(-1e3, 1e3, allow_subnormal=False)


@given(
    fields=st.fixed_dictionaries(
        {"orbitalDistance": NUMBERS, "orbitalSpeed": NUMBERS, "orbitalPhase": NUMBERS},
        optional=dict.fromkeys(("semiMajorAxis", "orbitOffsetY", "orbitRotX", "orbitRotY", "orbitRotZ"), NUMBERS),
    ),
    t=NUMBERS,
)
def test_null_counts_as_absent_for_every_optional_field(fields: dict[str, float], t: float) -> None:
    optional = ("semiMajorAxis", "eccentricity", "orbitOffsetX", "orbitOffsetY", "orbitOffsetZ", "orbitRotX")
    with_nulls = {**dict.fromkeys((*optional, "orbitRotY", "orbitRotZ")), **fields}
    assert compute_local_position(with_nulls, t) == compute_local_position(fields, t)
    assert compute_orbit_path(with_nulls, 8) == compute_orbit_path(fields, 8)


def test_the_path_of_an_orbit_is_where_the_body_is_when_it_gets_there() -> None:
    body = {"orbitalDistance": 3, "orbitalSpeed": 90, "orbitalPhase": 0, "eccentricity": 0.5, "orbitRotX": 30}
    for at, corner in enumerate(compute_orbit_path(body, 4)):
        assert compute_local_position(body, at) == pytest.approx(corner, abs=1e-12)


@pytest.mark.parametrize("eccentricity", [1.0000001, 2, -1.5])
def test_more_than_a_whole_eccentricity_gives_not_a_number_instead_of_an_error(eccentricity: float) -> None:
    body = {"orbitalDistance": 5, "orbitalSpeed": 1, "orbitalPhase": 0, "eccentricity": eccentricity}
    assert all(math.isnan(value) for value in compute_local_position(body, 1.0))


def test_an_angle_beyond_all_numbers_gives_not_a_number_instead_of_an_error() -> None:
    body = {"orbitalDistance": 5, "orbitalSpeed": 1e300, "orbitalPhase": 0}
    assert all(math.isnan(value) for value in compute_local_position(body, 1e300))


@pytest.mark.parametrize("value", ["5", True, math.nan, math.inf, 10**400, [1]])
def test_a_number_that_is_not_finite_is_refused_with_its_field(value: object) -> None:
    with pytest.raises(InvalidInput, match="orbitalSpeed"):
        compute_local_position({"orbitalDistance": 5, "orbitalSpeed": value}, 1.0)


@pytest.mark.parametrize("segments", [0, -3])
def test_a_path_without_segments_is_refused(segments: int) -> None:
    with pytest.raises(InvalidInput, match="segments") as refused:
        compute_orbit_path({"orbitalDistance": 1}, segments)
    assert refused.value.ids["allowed"] == ">= 1"


@pytest.mark.parametrize("start", [None, 5, {"x": 1, "y": 2}])
def test_a_rogue_planet_without_a_start_is_refused(start: object) -> None:
    with pytest.raises(InvalidInput, match="initialPosition"):
        compute_rogue_position({"initialPosition": start, "velocity": {"x": 0, "y": 0, "z": 0}}, 1.0)


def test_a_trajectory_takes_its_windows_from_the_planet_where_none_are_given() -> None:
    meta = {
        "initialPosition": {"x": 0, "y": 0, "z": 0},
        "velocity": {"x": 1, "y": 0, "z": 0},
        "trajectoryPastWindow": 10,
        "trajectoryFutureWindow": 20,
    }
    past, future = compute_rogue_trajectory(meta, 50, 2)
    assert [x for x, _, _ in past] == [40, 45, 50]
    assert [x for x, _, _ in future] == [60, 70]
    past, future = compute_rogue_trajectory(meta, 50, 1, past_window=50, future_window=1)
    assert ([x for x, _, _ in past], [x for x, _, _ in future]) == ([0, 50], [51])


def test_a_curved_path_that_takes_no_time_gives_not_a_number() -> None:
    still = {"x": 0, "y": 0, "z": 0}
    meta = {"initialPosition": still, "velocity": still, "pathCurvature": 1, "pathPeriod": 0}
    assert all(math.isnan(value) for value in compute_rogue_position(meta, 1.0))
