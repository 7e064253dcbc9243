"""Transit times against published ones, and the geometry of transits."""

import math
from typing import Any, Final

import numpy as np
import pytest

from tests.universe.domain.nbody.measured_systems import one_planet
from universe.domain import systems
from universe.domain.nbody.initial_conditions import make_initial_conditions
from universe.domain.nbody.motion_pieces import integrate_main_motion
from universe.domain.nbody.observed_systems import find_line_of_sight
from universe.domain.nbody.transits import find_conjunctions, fit_linear_ephemeris, measure_transit_times
from universe.domain.units_and_dates import convert_unit
from uraniborg.kernel.errors import InvalidInput

measure_times: Any = measure_transit_times

LAST: Final = {
    "b": 2458718.572281,
    "c": 2458716.513300,
    "d": 2458714.931677,
    "e": 2458715.591807,
    "f": 2458711.723146,
    "g": 2458715.412937,
    "h": 2458713.536461,
}
"""The last transits within 4 years in the forecast of Agol et al. 2021 (PSJ 2, 1), in BJD (TDB)."""
HALF_RANGES: Final = {"b": 3.4, "c": 5.3, "d": 31, "e": 31, "f": 54, "g": 37, "h": 45}
"""Minutes about the best line over these 4 years."""


def test_transits_of_trappist_1_over_four_years_are_those_of_agol_et_al_2021() -> None:
    state = systems.load_system("trappist-1")
    start = make_initial_conditions(state)
    sight = find_line_of_sight(state["stars"], "trappist-1")
    found = find_conjunctions(integrate_main_motion(start, 1461), sight, [(planet, 0) for planet in range(1, 8)])
    epoch = state["stars"]["trappist-1"]["physical"]["epochJulianDate"]
    for letter, conjunctions in zip(LAST, found, strict=True):
        days = [one.day for one in conjunctions]
        nearest = min(days, key=lambda day: abs(epoch + day - LAST[letter]))
        assert abs(epoch + nearest - LAST[letter]) * 1440 < 0.5, letter
        line = fit_linear_ephemeris(range(len(days)), days)
        late = 1440 * (np.array(days) - line.first - line.period * np.arange(len(days)))
        assert (late.max() - late.min()) / 2 == pytest.approx(HALF_RANGES[letter], rel=0.02), letter


def test_durations_of_trappist_1_are_those_of_circles_seen_at_the_same_impact_parameters() -> None:
    state = systems.load_system("trappist-1")
    reply = measure_times(state, days=40)
    planets = list(reply["planets"].values())
    star = state["stars"]["trappist-1"]["physical"]["radiusKm"]
    for body_id, one in reply["planets"].items():
        body = state["stars"][body_id]
        axis = convert_unit(body["kepler"]["semiMajorAxis"], "au", "km")
        # J. N. Winn, "Exoplanet Transits and Occultations" (2010): the time from first to fourth contact on a circle.
        chord = math.sqrt((1 + body["physical"]["radiusKm"] / star) ** 2 - one["impactParameter"] ** 2)
        minutes = 1440 * body["kepler"]["period"] / math.pi * math.asin(chord * star / axis)
        assert one["durationMinutes"] == pytest.approx(minutes, rel=0.011)  # eccentricities are below 0.01
    assert {one["status"] for one in planets} == {"transits"}
    assert reply["timeScale"] == "BJD (TDB)"
    assert all(0 < one["errorSeconds"] < 1e-3 for one in planets)
    assert [len(one["transits"]) for one in planets] == [26, 17, 10, 6, 4, 3, 2]
    assert planets[-1]["ttvHalfRangeMinutes"] is None


def test_a_transit_of_a_hot_jupiter_lasts_three_hours() -> None:
    # Like HD 209458 b: P 3.52474859 d, M 1.119, R 1.155, Rp 1.359 RJ, i 86.71; b = a cos i / R = 0.507.
    radius = convert_unit(1.359, "jupiter_radius", "solar_radius")
    state = one_planet(star_mass=1.119, period=3.52474859, tilt=86.71, star_radius=1.155, radius=radius)
    planet = measure_times(state, days=20)["planets"]["planet"]
    assert planet["impactParameter"] == pytest.approx(0.507, abs=0.005)
    assert planet["durationMinutes"] == pytest.approx(184, abs=3)


@pytest.mark.parametrize("use_kepler_orbits", [False, True])
def test_transits_of_a_circle_are_one_period_apart_and_occultations_are_not_counted(use_kepler_orbits: bool) -> None:
    state = one_planet(period=10.0, tilt=90.0, periapsis=0.0)
    reply = measure_times(state, days=100, use_kepler_orbits=use_kepler_orbits)
    times = [one["time"] for one in reply["planets"]["planet"]["transits"]]
    assert times == pytest.approx([2.5 + 10 * turn for turn in range(10)], abs=1e-8)
    assert reply["timeScale"] == "days since time 0"
    assert reply["planets"]["planet"]["ttvHalfRangeMinutes"] == pytest.approx(0, abs=1e-5)
    assert (reply["planets"]["planet"]["errorSeconds"] is None) is use_kepler_orbits


@pytest.mark.parametrize(("periapsis", "after"), [(0.0, 0.12), (270.0, 0.5), (180.0, 0.88)])
def test_an_eccentric_planet_transits_when_its_true_anomaly_is_90_degrees_less_omega(
    periapsis: float, after: float
) -> None:
    state = one_planet(period=10.0, eccentricity=0.4, periapsis=periapsis)
    time = measure_times(state, days=10, use_kepler_orbits=True)["planets"]["planet"]["transits"][0]["time"]
    half = math.radians(90 - periapsis) / 2
    eccentric = 2 * math.atan(math.sqrt(0.6 / 1.4) * math.tan(half))
    assert time == pytest.approx(10 * ((eccentric - 0.4 * math.sin(eccentric)) / (2 * math.pi) % 1), abs=1e-7)
    assert time / 10 == pytest.approx(after, abs=0.05)


@pytest.mark.parametrize(
    ("tilt", "status", "kinds"),
    [(90.0, "transits", {"full"}), (87.1, "grazes", {"grazing"}), (80.0, "does not transit", set[str]())],
)
def test_full_and_grazing_transits_and_misses_are_distinguished(tilt: float, status: str, kinds: set[str]) -> None:
    planet = measure_times(one_planet(tilt=tilt, periapsis=0.0), days=25)["planets"]["planet"]
    assert planet["status"] == status
    assert {one["kind"] for one in planet["transits"]} == kinds
    assert planet["conjunctions"] == 3


def test_without_the_radius_of_the_star_conjunctions_are_listed_and_nothing_is_claimed() -> None:
    planet = measure_times(one_planet(star_radius=None), days=25)["planets"]["planet"]
    assert planet["status"] == "radius of the star unknown"
    assert {one["kind"] for one in planet["transits"]} == {"unknown"}
    assert planet["durationMinutes"] is None
    assert planet["impactParameter"] is None


def test_a_planet_whose_tilt_is_unknown_is_not_reported_to_miss_its_star() -> None:
    reply = measure_times(systems.load_system("alpha-centauri"), days=12)
    assert {one["status"] for one in reply["planets"].values()} == {"tilt of the orbit unknown"}
    assert any("The tilt of Proxima Centauri d, Proxima Centauri b is unknown" in note for note in reply["notes"])


def test_time_counts_from_the_time_of_the_universe() -> None:
    early = systems.load_system("kepler-90")
    late = {**early, "time": 20.0}
    first = measure_times(early, ["kepler-90-b"], days=40, use_kepler_orbits=True)["planets"]["kepler-90-b"]["transits"]
    second = measure_times(late, ["kepler-90-b"], days=20, use_kepler_orbits=True)["planets"]["kepler-90-b"]["transits"]
    assert [one["time"] for one in second] == pytest.approx([one["time"] for one in first][-len(second) :], abs=1e-7)


@pytest.mark.parametrize("days", [0.0, -3.0, math.nan, math.inf])
def test_days_that_are_not_above_0_are_refused(days: float) -> None:
    with pytest.raises(InvalidInput, match="days must be a finite number above 0"):
        measure_times(one_planet(), days=days)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"towards": []}, "does not state where its observer is"),
        ({"towards": [0.0, 0.0, 0.0]}, "is not a direction"),
        ({"towards": ["x", 1.0, 2.0]}, "is not a direction"),
        ({"towards": [math.inf, 0.0, 0.0]}, "is not a direction"),
    ],
)
def test_a_missing_or_meaningless_line_of_sight_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        measure_times(one_planet(**change), days=10)
    assert "--observer LON,LAT" in str(caught.value.hint)


def test_an_observer_can_be_chosen() -> None:
    state = one_planet(towards=[], tilt=0.0, periapsis=0.0)
    times = [
        measure_times(state, days=10, observer=(longitude, 0.0))["planets"]["planet"]["transits"][0]["time"]
        for longitude in (90.0, 180.0)
    ]
    assert times == pytest.approx([2.5, 5.0], abs=1e-7)
    with pytest.raises(InvalidInput, match="not a direction"):
        measure_times(state, days=10, observer=(0.0, 91.0))


def test_a_universe_without_a_star_is_refused() -> None:
    state = one_planet()
    state["stars"]["star"]["bodyType"] = "planet"
    with pytest.raises(InvalidInput, match="no planet with a true orbit around a star"):
        measure_times(state, days=10)
    with pytest.raises(InvalidInput, match="does not orbit a star"):
        measure_times(state, ["planet"], days=10)
