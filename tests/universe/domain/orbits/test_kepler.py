"""Positions and velocities from elements obey Kepler's three laws and agree with rebound."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.orbits.kepler import Elements
from universe.domain.orbits.kepler_equation import BLOCK
from universe.domain.units_and_dates import GAUSS_K, G, compute_period
from uraniborg.kernel.errors import InvalidInput

ANGLES = st.floats(-720, 720, allow_subnormal=False)
ELEMENTS = st.fixed_dictionaries(
    {
        "semi_major_axis": st.floats(1e-3, 1e4),
        "eccentricity": st.floats(0, 0.99),
        "period": st.floats(0.1, 1e5),
        "inclination": ANGLES,
        "longitude_of_ascending_node": ANGLES,
        "argument_of_periapsis": ANGLES,
        "mean_anomaly": ANGLES,
        "epoch": st.floats(-1e4, 1e4),
    }
)
TURNS = st.floats(-3, 3)


def moment(elements: dict[str, float], turns: float) -> float:
    return elements["epoch"] + turns * elements["period"]


@given(elements=ELEMENTS, turns=TURNS)
def test_the_distance_stays_between_periapsis_and_apoapsis(elements: dict[str, float], turns: float) -> None:
    distance = float(np.linalg.norm(Elements(**elements).compute_positions(moment(elements, turns))))
    axis, e = elements["semi_major_axis"], elements["eccentricity"]
    assert axis * (1 - e) * (1 - 1e-12) <= distance <= axis * (1 + e) * (1 + 1e-12)


@given(elements=ELEMENTS, turns=TURNS)
def test_equal_areas_are_swept_in_equal_times(elements: dict[str, float], turns: float) -> None:
    orbit, t = Elements(**elements), moment(elements, turns)
    swept = np.linalg.norm(np.cross(orbit.compute_positions(t)[0], orbit.compute_velocities(t)[0])) / 2
    axis, e = elements["semi_major_axis"], elements["eccentricity"]
    assert swept == pytest.approx(math.pi * axis**2 * math.sqrt(1 - e * e) / elements["period"], rel=1e-11)


@given(elements=ELEMENTS, turns=TURNS)
def test_speed_and_distance_are_those_of_one_attraction(elements: dict[str, float], turns: float) -> None:
    orbit, t = Elements(**elements), moment(elements, turns)
    axis = elements["semi_major_axis"]
    attraction = 4 * math.pi**2 * axis**3 / elements["period"] ** 2
    distance = float(np.linalg.norm(orbit.compute_positions(t)))
    expected = attraction * (2 / distance - 1 / axis)
    assert float(np.sum(orbit.compute_velocities(t) ** 2)) == pytest.approx(expected, rel=1e-9)


@given(elements=ELEMENTS, turns=TURNS)
def test_a_period_closes_the_orbit(elements: dict[str, float], turns: float) -> None:
    orbit, t = Elements(**elements), moment(elements, turns)
    later = t + elements["period"]
    # What rounding did to the moment asked for, at the fastest this body goes.
    fastest = float(np.linalg.norm(orbit.compute_velocities(elements["epoch"])))
    fastest = max(fastest, 2 * math.pi * elements["semi_major_axis"] / elements["period"] * 15)
    allowed = 1e-11 * elements["semi_major_axis"] + 4 * math.ulp(max(abs(t), abs(later))) * fastest
    assert np.linalg.norm(orbit.compute_positions(later) - orbit.compute_positions(t)) <= allowed


@given(elements=ELEMENTS, turns=TURNS)
def test_the_velocity_is_the_derivative_of_the_position(elements: dict[str, float], turns: float) -> None:
    elements = {**elements, "epoch": 0.0, "eccentricity": min(elements["eccentricity"], 0.9)}
    orbit, t, step = Elements(**elements), moment(elements, turns) - elements["epoch"], elements["period"] * 1e-5
    ahead, behind = orbit.compute_positions(t + step), orbit.compute_positions(t - step)
    typical = 2 * math.pi * elements["semi_major_axis"] / elements["period"]
    assert np.linalg.norm((ahead - behind) / (2 * step) - orbit.compute_velocities(t)) < 1e-4 * typical


def test_periapsis_nodes_and_quarter_turns_are_where_the_scene_has_them() -> None:
    shape = {"semi_major_axis": 2.0, "eccentricity": 0.5, "period": 8.0}
    assert Elements(**shape).compute_positions(0.0)[0] == pytest.approx([1, 0, 0], abs=1e-15)
    assert Elements(**shape).compute_positions(4.0)[0] == pytest.approx([-3, 0, 0], abs=1e-14)
    assert Elements(**shape).compute_velocities(0.0)[0, 2] > 0
    assert Elements(**shape, argument_of_periapsis=90).compute_positions(0.0)[0] == pytest.approx([0, 0, 1], abs=1e-15)
    tilted = Elements(**shape, argument_of_periapsis=90, inclination=90).compute_positions(0.0)
    assert tilted[0] == pytest.approx([0, 1, 0], abs=1e-15)
    turned = Elements(**shape, longitude_of_ascending_node=90).compute_positions(0.0)
    assert turned[0] == pytest.approx([0, 0, 1], abs=1e-15)


def test_many_orbits_give_the_same_positions_as_each_alone() -> None:
    chance = np.random.default_rng(5)
    count = 2 * BLOCK + 3
    columns = {
        "semi_major_axis": chance.uniform(0.1, 50, count),
        "eccentricity": chance.uniform(0, 0.99, count),
        "period": chance.uniform(1, 1e4, count),
        "inclination": chance.uniform(0, 180, count),
        "epoch": chance.uniform(-100, 100, count),
    }
    together = Elements(**columns)
    out = np.full((count, 3), math.nan)
    assert together.compute_positions(77.5, out=out) is out
    speeds = together.compute_velocities(77.5)
    for place in (0, BLOCK - 1, BLOCK, 2 * BLOCK, count - 1):
        alone = Elements(**{name: column[place] for name, column in columns.items()})
        assert alone.compute_positions(77.5)[0] == pytest.approx(out[place], rel=1e-13, abs=1e-13)
        assert alone.compute_velocities(77.5)[0] == pytest.approx(speeds[place], rel=1e-13, abs=1e-13)


def test_an_epoch_far_from_zero_costs_no_precision() -> None:
    near = Elements(1.0, 0.5, period=88.0, mean_anomaly=10.0)
    far = Elements(1.0, 0.5, period=88.0, mean_anomaly=10.0, epoch=2_451_545.0)
    assert far.compute_positions(2_451_545.0 + 30.25) == pytest.approx(near.compute_positions(30.25), abs=1e-14)


def test_the_path_is_closed_and_holds_both_apsides() -> None:
    path = Elements(2.0, 0.5, period=1.0).compute_path(0, 8)
    assert path.shape == (9, 3)
    assert path[0] == pytest.approx(path[8], abs=1e-14)
    assert path[0] == pytest.approx([1, 0, 0], abs=1e-14)
    assert path[4] == pytest.approx([-3, 0, 0], abs=1e-14)


@pytest.mark.parametrize("argument", ["semi_major_axis", "period", "eccentricity", "inclination", "epoch"])
def test_elements_that_are_not_finite_are_refused_by_name(argument: str) -> None:
    elements: dict[str, Any] = {"semi_major_axis": [1.0, 1.0], "eccentricity": 0.1, "period": 1.0}
    with pytest.raises(InvalidInput) as refused:
        Elements(**{**elements, argument: [1.0, math.nan]})
    assert refused.value.ids["argument"] == argument


@pytest.mark.parametrize("argument", ["semi_major_axis", "period"])
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_an_orbit_without_size_or_time_is_refused(argument: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=argument):
        Elements(**{"semi_major_axis": 1.0, "eccentricity": 0.1, "period": 1.0, argument: value})


@pytest.mark.parametrize("t", [math.nan, math.inf])
def test_a_time_that_is_not_a_moment_is_refused(t: float) -> None:
    orbit = Elements(1.0, 0.1, period=1.0)
    with pytest.raises(InvalidInput, match="time"):
        orbit.compute_positions(t)
    with pytest.raises(InvalidInput, match="time"):
        orbit.compute_velocities(t)


def test_an_array_that_does_not_fit_is_refused_with_the_one_that_would() -> None:
    with pytest.raises(InvalidInput) as refused:
        Elements([1.0, 2.0], 0.1, period=1.0).compute_positions(0.0, out=np.empty((3, 2)))
    assert refused.value.ids["allowed"] == "float64 of shape (2, 3)"


def test_no_orbits_have_no_positions() -> None:
    assert Elements([], [], period=[]).compute_positions(0.0).shape == (0, 3)


@pytest.fixture(scope="module")
def rebound() -> Any:
    return pytest.importorskip("rebound", reason="rebound is an extra and not installed")


@given(elements=ELEMENTS)
def test_positions_and_velocities_are_those_of_rebound(rebound: Any, elements: dict[str, float]) -> None:
    axis, mass = elements["semi_major_axis"], 0.25
    tilt = abs(elements["inclination"]) % 180
    simulation = rebound.Simulation()
    simulation.G = G
    simulation.add(m=1.0)
    simulation.add(
        m=mass,
        a=axis,
        e=elements["eccentricity"],
        inc=math.radians(tilt),
        Omega=math.radians(elements["longitude_of_ascending_node"]),
        omega=math.radians(elements["argument_of_periapsis"]),
        M=math.radians(elements["mean_anomaly"]),
    )
    body = simulation.particles[1]
    ours = Elements(**{**elements, "inclination": tilt, "epoch": 0.0, "period": compute_period(axis, 1 + mass)})
    assert ours.compute_positions(0.0)[0] == pytest.approx([body.x, body.z, body.y], rel=1e-9, abs=1e-9 * axis)
    typical = GAUSS_K / math.sqrt(axis)
    assert ours.compute_velocities(0.0)[0] == pytest.approx([body.vx, body.vz, body.vy], rel=1e-9, abs=1e-9 * typical)
