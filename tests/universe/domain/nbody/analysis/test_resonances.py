from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.universe.domain.nbody.analysis.motions import (
    compute_history,
    compute_kepler_history,
    neptune_and_pluto,
    planets,
    solar_system,
    trappist_1,
)
from universe.domain.nbody.analysis import analyse_run
from universe.domain.nbody.analysis.resonances import (
    CIRCULATES,
    LIBRATES,
    PAIR,
    TRIPLE,
    UNCLEAR,
    Resonance,
    compute_angle_series,
    find_resonances,
)
from universe.domain.nbody.initial_conditions import make_initial_conditions
from universe.domain.nbody.osculating_orbits import OrbitHistory
from universe.domain.nbody.runs import run_nbody

# The five angles of TRAPPIST-1 and the numbers before the longitudes: R. Luger et al., "A seven-planet resonant chain
# in TRAPPIST-1", Nature Astronomy 1, 0129 (2017), with (p, q) = (2, 3), (1, 2), (2, 3), (1, 2), (1, 1).
CHAIN = {"bcd": (2, -5, 3), "cde": (1, -3, 2), "def": (2, -5, 3), "efg": (1, -3, 2), "fgh": (1, -2, 1)}
# Means and largest swings in degrees over four years from the elements of E. Agol et al., PSJ 2, 1 (2021), computed
# with IAS15 of REBOUND (H. Rein and D. S. Spiegel, MNRAS 446, 1424, 2015).
FOUR_YEARS = {"bcd": (166.0, 12.3), "cde": (52.7, 6.0), "def": (208.3, 9.4), "efg": (280.5, 4.6), "fgh": (178.2, 1.7)}
YEAR = 365.25
pytestmark = pytest.mark.timeout(900)  # ten years of TRAPPIST-1 take seconds of a processor, and more of a busy one


@cache
def ten_years_of_trappist_1() -> OrbitHistory:
    return compute_history(trappist_1(), 10 * YEAR, 4001)


def laplace(found: list[Resonance], of: OrbitHistory) -> dict[str, Resonance]:
    """Return the triples of TRAPPIST-1 by the letters of their planets."""
    triples = [one for one in found if one.angle.kind == TRIPLE]
    return {"".join(of.ids[body][-1] for body in one.angle.bodies): one for one in triples}


def first_part(of: OrbitHistory, part: float) -> OrbitHistory:
    """Return the beginning of a motion."""
    return of.select_samples(slice(round((len(of.times) - 1) * part) + 1))


def test_all_five_laplace_angles_of_trappist_1_librate_over_ten_years() -> None:
    of = ten_years_of_trappist_1()
    found = laplace(find_resonances(of), of)
    assert {key: one.angle.longitudes for key, one in found.items()} == CHAIN
    assert {one.behaviour.behaviour for one in found.values()} == {LIBRATES}


def test_laplace_angles_of_trappist_1_have_the_known_means_and_swings_over_four_years() -> None:
    of = first_part(ten_years_of_trappist_1(), 0.4)
    found = laplace(find_resonances(of), of)
    for key, (mean, swing) in FOUR_YEARS.items():
        assert found[key].behaviour.centre == pytest.approx(mean, abs=1.0)
        assert found[key].behaviour.half_range == pytest.approx(swing, abs=1.0)


def test_few_samples_of_trappist_1_give_the_same_behaviour() -> None:
    of = ten_years_of_trappist_1()
    sparse = laplace(find_resonances(of.select_samples(slice(None, None, 20))), of)
    for key, one in laplace(find_resonances(of), of).items():
        assert sparse[key].behaviour.behaviour == one.behaviour.behaviour
        assert sparse[key].behaviour.centre == pytest.approx(one.behaviour.centre, abs=0.5)


def test_pairs_of_trappist_1_are_near_the_known_ratios() -> None:
    of = ten_years_of_trappist_1()
    pairs = {one.angle.bodies: one.angle.ratio for one in find_resonances(of) if one.angle.kind == PAIR}
    neighbours = [pairs[body, body + 1] for body in range(1, 7)]
    assert neighbours == ["8:5", "5:3", "3:2", "3:2", "4:3", "3:2"]  # Luger et al. 2017


def test_an_angle_of_a_reply_is_drawn_with_its_classification() -> None:
    of = ten_years_of_trappist_1()
    one = laplace(find_resonances(of), of)["cde"]
    drawn = compute_angle_series(of, one.to_plain(of))
    assert drawn.mean() == pytest.approx(one.behaviour.centre, abs=1e-3)
    assert one.to_plain(of)["angle"] == "λ(trappist-1-c) - 3 λ(trappist-1-d) + 2 λ(trappist-1-e)"


def test_a_short_run_of_trappist_1_leaves_resonances_unclear() -> None:
    of = first_part(ten_years_of_trappist_1(), 0.02)  # 73 days, 4 orbits of h
    found = find_resonances(of)
    assert LIBRATES not in {one.behaviour.behaviour for one in found}
    assert laplace(found, of)["fgh"].behaviour.behaviour == UNCLEAR


def test_a_longitude_that_is_not_known_leaves_its_angles_unclear() -> None:
    of = ten_years_of_trappist_1()
    errors = np.zeros(8)
    errors[7] = 30.0
    found = laplace(find_resonances(of, errors), of)
    assert found["fgh"].behaviour.behaviour == UNCLEAR
    assert found["bcd"].behaviour.behaviour == LIBRATES


def test_io_europa_and_ganymede_librate_about_180_degrees() -> None:
    # P.-S. de Laplace; C. F. Yoder, Nature 279, 767 (1979): the angle librates about 180 degrees in about 2071 days.
    of = compute_history(solar_system("jupiter", "io", "europa", "ganymede"), 900.0, 2000)
    triple = next(one for one in find_resonances(of) if one.angle.kind == TRIPLE)
    assert triple.angle.longitudes == (1, -3, 2)
    assert triple.behaviour.behaviour == LIBRATES
    assert triple.behaviour.centre == pytest.approx(180, abs=20)  # from mean elements, good to 4 degrees


def test_neptune_and_pluto_are_in_their_3_to_2_resonance() -> None:
    # C. J. Cohen and E. C. Hubbard, AJ 70, 10 (1965), and J. G. Williams and G. S. Benson, AJ 76, 167 (1971):
    # 3 λ(Pluto) - 2 λ(Neptune) - ϖ(Pluto) librates about 180 degrees by about 80 in about 20,000 years.
    of = compute_history(neptune_and_pluto(), 40_000 * YEAR, 1200)
    found = {one.angle.apsides: one.behaviour for one in find_resonances(of)}
    assert next(one.angle.ratio for one in find_resonances(of)) == "3:2"
    held = found[0, -1]
    assert held.behaviour == LIBRATES
    assert held.centre == pytest.approx(180, abs=5)
    assert held.half_range == pytest.approx(80, abs=5)


def test_jupiter_and_earth_are_near_no_resonance() -> None:
    of = compute_history(solar_system("sun", "earth", "jupiter"), 650 * YEAR, 1000)
    assert find_resonances(of) == []


def test_jupiter_and_saturn_are_near_5_to_2_and_not_in_it() -> None:
    # The great inequality: a turn of 5 λ(Saturn) - 2 λ(Jupiter) takes about 900 years (Laplace 1785).
    start = solar_system("sun", "jupiter", "saturn")
    found = find_resonances(compute_history(start, 1200 * YEAR, 2000))
    assert {one.angle.ratio for one in found} == {"5:2"}
    assert {one.behaviour.behaviour for one in found} == {CIRCULATES}
    short = find_resonances(compute_history(start, 400 * YEAR, 1000))
    assert {one.behaviour.behaviour for one in short} == {UNCLEAR}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(1.2, 3.5), min_size=1, max_size=3), st.floats(0, 0.3), st.floats(20, 3000), st.floats(0, 359))
def test_bodies_that_do_not_attract_each_other_never_librate(
    ratios: list[float], eccentricity: float, orbits: float, phase: float
) -> None:
    periods = [10.0 * float(np.prod(ratios[:count])) for count in range(len(ratios) + 1)]
    state = planets(periods, eccentricity=eccentricity, phase=phase)
    found = find_resonances(compute_kepler_history(state, orbits * periods[-1], 200))
    assert LIBRATES not in {one.behaviour.behaviour for one in found}


@pytest.mark.parametrize("ratios", [(1.71, 1.83), (1.42, 2.23), (2.14, 1.58)])
def test_planets_away_from_resonances_have_none(ratios: tuple[float, float]) -> None:
    periods = [10.0, 10.0 * ratios[0], 10.0 * ratios[0] * ratios[1]]
    of = compute_history(make_initial_conditions(planets(periods, mass=2e-5)), 60 * periods[-1], 1000)
    assert LIBRATES not in {one.behaviour.behaviour for one in find_resonances(of)}


@pytest.mark.soak
@pytest.mark.parametrize(("h_times", "circulating"), [(2.0, 0), (50.0, 2)])
def test_heavier_h_over_ten_years(h_times: float, circulating: int) -> None:
    of = compute_history(trappist_1(h_times), 10 * YEAR, 4001)
    heavy, light = laplace(find_resonances(of), of), laplace(find_resonances(ten_years_of_trappist_1()), of)
    behaviours = [one.behaviour.behaviour for one in heavy.values()]
    assert set(heavy) == set(CHAIN)
    assert behaviours.count(CIRCULATES) >= circulating
    if not circulating:
        assert set(behaviours) == {LIBRATES}
        swings = [(one.behaviour.half_range or 0, light[key].behaviour.half_range or 0) for key, one in heavy.items()]
        assert any(heavier > lighter + 5 for heavier, lighter in swings)


@pytest.mark.soak
def test_trappist_1_with_fifty_times_h_is_chaotic_over_thirty_years() -> None:
    found: Any = analyse_run(run_nbody(trappist_1(50.0), 30 * YEAR, seconds=3600))
    assert found["chaos"]["megno"] > 4
    assert 1 * YEAR < found["chaos"]["lyapunovDays"] < 10 * YEAR


def test_a_trojan_shares_the_orbit_of_its_planet() -> None:
    state = planets([4330.0], mass=1e-3, eccentricity=0.0)
    planet = state["stars"]["p0"]
    block = {**planet["kepler"], "eccentricity": 0.03, "meanAnomaly": planet["kepler"]["meanAnomaly"] + 70}
    state["stars"]["p1"] = {**planet, "name": "Trojan", "mass": 0.0, "kepler": block}
    found: Any = analyse_run(run_nbody(make_initial_conditions(state), 60 * 4330.0))
    (one,) = found["resonances"]
    assert (one["ratio"], one["behaviour"]) == ("1:1", "librates")
    assert min(one["centre"], 360 - one["centre"]) == pytest.approx(60, abs=5)  # L4, by Lagrange
    assert "In resonance during the span" in found["verdict"]
    assert "Gladman" not in found["verdict"]
