import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.universe.domain.nbody.analysis.motions import planets, trappist_1
from universe.domain.nbody.analysis import analyse_run, compare_run_analyses
from universe.domain.nbody.initial_conditions import make_initial_conditions
from universe.domain.nbody.integration.collisions_and_encounters import Collision
from universe.domain.nbody.runs import Run, RunSamples, run_nbody

analyse: Any = analyse_run
compare: Any = compare_run_analyses

KEYS = ["verdict", "orbits", "pairs", "resonances", "ejections", "chaos", "amd"]


@cache
def trappist_run() -> Run:
    return run_nbody(trappist_1(), 40.0)


def test_answers_have_all_keys_and_are_plain_json() -> None:
    found = analyse(trappist_run())
    assert list(found) == KEYS
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert list(found["orbits"]) == list(trappist_run().start.ids[1:])
    for orbit in found["orbits"].values():
        for element in ("semiMajorAxis", "eccentricity", "inclination"):
            assert orbit[element]["min"] <= orbit[element]["mean"] <= orbit[element]["max"]
    assert len(found["pairs"]) == 21


def test_pairs_come_neighbours_first_with_ratio_and_closest_approach() -> None:
    pairs = analyse(trappist_run())["pairs"]
    assert [pair["outer"][-1] for pair in pairs[:6]] == list("cdefgh")
    assert pairs[0]["periodRatio"] == pytest.approx(1.60296, abs=5e-4)  # Agol et al. 2021
    fg = pairs[4]["closest"]
    assert fg["hillRadii"] == pytest.approx(6.9, abs=0.1)
    assert 0 <= fg["day"] <= 40


def test_stars_have_distances_and_no_hill_radii() -> None:
    state = planets([10.0, 300.0], mass=0.0)
    state["stars"]["p0"]["mass"] = 0.4
    pair = analyse(run_nbody(make_initial_conditions(state), 30.0))["pairs"][0]
    assert pair["closest"]["au"] > 0
    assert pair["closest"]["hillRadii"] is None


def test_the_verdict_of_a_short_run_claims_no_resonance() -> None:
    verdict = analyse(trappist_run())["verdict"]
    assert "librated" not in verdict
    assert "During the 40 days of this run" in verdict
    assert "says nothing about longer times" in verdict
    assert "the masses and orbits it starts from and the physics that is left out are not included" in verdict


def test_the_verdict_of_an_untrustworthy_run_reports_that_first_and_claims_nothing_of_phases() -> None:
    bad = replace(trappist_run(), trustworthy=False, worst_error_degrees=np.full(8, 12.0))
    found = analyse(bad)
    assert found["verdict"].startswith("This run is not trustworthy: ")
    for word in ("librat", "Hill", "collided", "closest"):
        assert word not in found["verdict"]
    assert {one["behaviour"] for one in found["resonances"] if one["centre"] is not None} == set()


def test_a_verdict_names_the_duration_of_the_run_and_not_of_its_samples() -> None:
    stopped = replace(trappist_run(), days=40.3)
    assert analyse(stopped)["verdict"].startswith("During the 40.3 days of this run (27 orbits of ")


def test_two_runs_that_meet_other_collisions_are_reported() -> None:
    bad = replace(trappist_run(), trustworthy=False)
    assert "met other collisions" in analyse(bad)["verdict"]


def test_unknown_angles_of_the_start_limit_the_verdict() -> None:
    note = "The argument of periapsis of Io is unknown: a periapsis at the node is assumed."
    start = replace(trappist_run().start, notes=(note,))
    verdict = analyse(replace(trappist_run(), start=start))["verdict"]
    assert note in verdict
    assert "those of an assumed system" in verdict


@pytest.mark.parametrize(("ratio", "phrase"), [(2.3, "never meet"), (1.1, "fewer than the 3.46")])
def test_the_hill_criterion_is_for_two_planets(ratio: float, phrase: str) -> None:
    # B. Gladman, Icarus 106, 247 (1993): 2 sqrt(3) mutual Hill radii.
    two = run_nbody(make_initial_conditions(planets([10.0, 10 * ratio], mass=1e-5, eccentricity=0.0, phase=180.0)), 5.0)
    assert phrase in analyse(two)["verdict"]
    three = run_nbody(
        make_initial_conditions(planets([10.0, 10 * ratio, 80.0], mass=1e-5, eccentricity=0.0, phase=180.0)), 5.0
    )
    assert phrase not in analyse(three)["verdict"]


def test_the_hill_criterion_is_not_for_long_ellipses_nor_after_encounters() -> None:
    long = run_nbody(make_initial_conditions(planets([10.0, 23.0], mass=1e-5, eccentricity=0.3, phase=180.0)), 5.0)
    assert "mutual Hill radii apart" not in analyse(long)["verdict"]
    met = run_nbody(make_initial_conditions(planets([10.0, 23.0], mass=1e-5, eccentricity=0.0, phase=180.0)), 5.0)
    assert "mutual Hill radii apart" not in analyse(replace(met, encounter_count=1))["verdict"]


def test_a_run_without_mean_periods_claims_nothing_of_resonances() -> None:
    verdict = analyse(run_nbody(trappist_1(), 0.0))["verdict"]
    assert "near a resonance" not in verdict
    assert "Resonances are unknown: this run gives no mean period of TRAPPIST-1 b" in verdict
    assert "and 3 more" in verdict


def test_the_remedy_for_an_untrustworthy_run_is_one_of_its_method() -> None:
    bad = replace(trappist_run(), trustworthy=False, worst_error_degrees=np.full(8, 180.0))
    verdict = analyse(bad)["verdict"]
    assert "is accurate to 180 degrees of its orbit only" in verdict
    assert verdict.endswith("A shorter run may be trustworthy.")
    assert analyse(replace(bad, method="leapfrog"))["verdict"].endswith("the method gauss may be trustworthy.")


def test_a_list_of_unclear_angles_reports_how_many_it_leaves_out() -> None:
    verdict = analyse(trappist_run())["verdict"]
    assert "; and 2 more" in verdict


def test_a_body_that_becomes_unbound_and_leaves_is_ejected() -> None:
    start = make_initial_conditions(planets([10.0, 40.0], mass=1e-6))
    calm = run_nbody(start, 100.0)
    assert analyse(calm)["ejections"] == []
    states = [calm.samples.positions.copy(), calm.samples.velocities.copy()]
    half = len(calm.samples.times) // 2
    away = calm.samples.times[half:] - calm.samples.times[half]
    states[0][half:, 2] = states[0][half, 2] + away[:, None] * 3 * states[1][half, 2]
    states[1][half:, 2] = 3 * states[1][half, 2]
    wild = replace(calm, samples=RunSamples(calm.samples.times, *states))
    found = analyse(wild)
    assert [one["id"] for one in found["ejections"]] == ["p1"]
    assert found["ejections"][0]["day"] == pytest.approx(float(calm.samples.times[half]))
    assert "Planet 1 became unbound and left" in found["verdict"]
    assert found["orbits"]["p1"]["meanPeriod"] is None


def test_orbits_outside_of_a_merger_continue_and_those_of_the_merged_body_end() -> None:
    start = make_initial_conditions(planets([10.0, 20.0, 40.0], mass=1e-6))
    calm = run_nbody(start, 100.0)
    states = [calm.samples.positions.copy(), calm.samples.velocities.copy()]
    half = len(calm.samples.times) // 2
    for one in states:
        one[half:, 2] = np.nan
    merger = Collision(("p0", "p1"), 50.0, 0.0, 0.0, "p0")
    found = analyse(replace(calm, samples=RunSamples(calm.samples.times, *states), collisions=(merger,)))
    assert found["orbits"]["p2"]["meanPeriod"] == pytest.approx(40.0, rel=1e-3)
    assert found["orbits"]["p1"]["meanPeriod"] is None
    assert found["orbits"]["p1"]["semiMajorAxis"] is not None
    assert found["ejections"] == []
    assert "1 collision happened" in found["verdict"]


@pytest.mark.parametrize("samples", [0, 1, 2])
def test_a_run_with_hardly_any_samples_has_answers_too(samples: int) -> None:
    found = analyse(run_nbody(make_initial_conditions(planets([10.0, 20.0], mass=1e-6)), 30.0, samples=samples))
    assert json.dumps(found, allow_nan=False)


def test_bodies_that_orbit_nothing_have_answers() -> None:
    bound = make_initial_conditions(planets([10.0], mass=1e-6))
    loose = replace(bound, relative_matrix=np.zeros((2, 2)), orbited_mass=np.zeros(2), parents=(-1, -1))
    found = analyse(run_nbody(loose, 30.0))
    assert (found["orbits"], found["resonances"], found["amd"]) == ({}, [], None)


def test_a_run_backwards_has_answers() -> None:
    found = analyse(run_nbody(make_initial_conditions(planets([10.0, 21.0], mass=1e-6)), -300.0))
    assert found["orbits"]["p0"]["meanPeriod"] == pytest.approx(10.0, rel=1e-3)
    assert "During the 300 days" in found["verdict"]


def test_a_run_does_not_differ_from_itself() -> None:
    answers = analyse(trappist_run())
    found = compare(answers, answers)
    assert not any(row["changed"] for row in found["resonances"])
    assert all(first == second for row in found["orbits"].values() for first, second in row.values())
    assert "changed" not in found["verdict"]
    assert "Neither run says anything about longer times." in found["verdict"]


def angle(behaviour: str, half_range: float | None, name: str = "λ(c) - 3 λ(d) + 2 λ(e)") -> dict[str, object]:
    return {
        "bodies": ["c", "d", "e"],
        "kind": "laplace",
        "ratio": None,
        "angle": name,
        "behaviour": behaviour,
        "centre": None if half_range is None else 45.0,
        "halfRange": half_range,
    }


def test_differences_name_the_resonance_that_broke_and_the_swing_that_widened() -> None:
    answers = analyse(trappist_run())
    other = "λ(d) - 2 λ(e) + λ(f)"
    first = {**answers, "resonances": [angle("librates", 30.0), angle("librates", 10.0, other)]}
    wider = {**answers, "resonances": [angle("librates", 37.0), angle("librates", 10.0, other)]}
    broken = {**answers, "resonances": [angle("circulates", None), angle("librates", 10.0, other)]}
    printed = compare(first, wider)["verdict"]
    assert "All 2 Laplace angles librate in both." in printed
    assert "λ(c) - 3 λ(d) + 2 λ(e) from 30 to 37 degrees" in printed
    printed = compare(first, broken)["verdict"]
    assert "1 Laplace angle changed from 'librates' to 'circulates': λ(c) - 3 λ(d) + 2 λ(e)." in printed


def test_nothing_is_claimed_about_the_difference_to_an_untrustworthy_run() -> None:
    answers = analyse(trappist_run())
    found = compare({**answers, "trustworthy": True}, {**answers, "trustworthy": False}, ("main", "heavy-h"))
    assert found["verdict"] == ("Nothing is claimed about the difference: the run is not trustworthy (heavy-h).")


def test_angles_of_bodies_that_only_one_run_has_did_not_change() -> None:
    whole = analyse(trappist_run())
    less = {
        **whole,
        "orbits": {key: one for key, one in whole["orbits"].items() if key != "trappist-1-h"},
        "resonances": [one for one in whole["resonances"] if "trappist-1-h" not in one["bodies"]],
    }
    found = compare(whole, less, ("t1", "t1-without-h"))
    assert "Only t1 has trappist-1-h: its angles are not compared." in found["verdict"]
    assert "changed from" not in found["verdict"]
    assert not any(row["changed"] for row in found["resonances"])


def test_a_parabola_has_neither_an_axis_nor_a_period() -> None:
    state = planets([10.0])
    state["stars"]["p0"]["kepler"] = {"units": "astronomical", "eccentricity": 1.0, "q": 0.5, "epoch": 3.0}
    found = analyse(run_nbody(make_initial_conditions(state), 200.0))
    orbit = found["orbits"]["p0"]
    assert (orbit["semiMajorAxis"], orbit["meanPeriod"]) == (None, None)
    assert found["ejections"] == []
