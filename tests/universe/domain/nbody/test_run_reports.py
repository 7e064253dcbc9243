"""Reports of runs: replies, summaries, pictures and the physics that is missing."""

import copy
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from universe.cli.run_summary import summarise_comparison, summarise_run
from universe.domain.names_and_numbers import format_days_and_years, format_range
from universe.domain.nbody.analysis import compare_run_analyses, compute_run_orbit_history
from universe.domain.nbody.run_charts import KINDS, make_run_chart
from universe.domain.nbody.run_reports import (
    RunReport,
    estimate_largest_periapsis_shift,
    format_run_headline,
    run_and_report,
)
from universe.domain.plotting import Drawing, render_png, render_svg
from universe.domain.plotting.drawing import Dots, Label
from universe.service.initial_states import load_or_generate_state

headline: Any = format_run_headline
make_report: Any = run_and_report
compare: Any = compare_run_analyses
Reported: Any = RunReport


@pytest.fixture(scope="module")
def report() -> RunReport:
    """Return a report on the four outer planets of TRAPPIST-1 over 200 days."""
    ids = ["trappist-1", *(f"trappist-1-{letter}" for letter in "efgh")]
    return make_report(load_or_generate_state("trappist-1"), 200, universe_id="t", version=7, ids=ids)


def texts(drawing: Drawing) -> list[str]:
    return [mark.text for mark in drawing.marks if isinstance(mark, Label)]


def drawn(report: Any, *kinds: str) -> Drawing:
    chart = make_run_chart(report.reply, report.run, report.motion, title="TRAPPIST-1", kinds=kinds or KINDS)
    return chart.draw()


def test_a_reply_is_plain_json_without_nan(report: Any) -> None:
    assert json.loads(json.dumps(report.reply, allow_nan=False)) == report.reply


def test_a_headline_is_one_short_line(report: Any) -> None:
    assert headline(report.reply).startswith("200 days: nothing collided or left; integration good to ")
    assert headline({**report.reply, "collisions": [{}], "ejections": []}).startswith("200 days: 1 collided, 0 left;")
    assert headline({**report.reply, "trustworthy": False}).startswith("not trustworthy after 200 days: ")


def test_an_unknown_error_is_not_called_zero(report: Any) -> None:
    unknown = {**report.reply, "error": {"a": {"au": None, "degrees": None}}}
    assert headline(unknown).endswith("error of the integration unknown")
    assert headline({**unknown, "trustworthy": False}).endswith("integration with an unknown error")
    assert any("error unknown" in text for text in texts(drawn(replace(report, reply=unknown), "distances")))


def test_orbits_of_a_long_run_are_drawn_at_fewer_times_than_were_sampled(
    report: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("universe.domain.nbody.analysis.run_analysis._MOST_STATES", 1_000)
    motion = compute_run_orbit_history(report.run)
    assert motion.times.size < report.run.samples.times.size
    labels = texts(drawn(replace(report, motion=motion)))
    assert {"eccentricity", "Laplace angles of three bodies", "0", "50", "100", "150"} <= set(labels)


def test_the_change_of_energy_over_time_ends_at_the_one_that_is_reported(report: Any) -> None:
    changes, drift = report.run.energy_changes, report.reply["energyDrift"]
    assert changes is not None
    assert changes.shape == report.run.samples.times.shape
    assert (changes[0], changes[-1]) == (0, drift["final"])
    assert 0 < changes.max() <= drift["max"]
    assert any(text.startswith("relative change of energy, 1e-") for text in texts(drawn(report, "energy")))


def test_the_errors_of_arithmetic_start_and_physics_are_distinguished(report: Any) -> None:
    errors = report.reply["errors"]
    assert "The integration itself is accurate to " in errors["arithmetic"][0]
    assert errors["arithmetic"][0].endswith("uncertainty of the masses and orbits it starts from is not included.")
    assert errors["start"]
    assert any("General relativity is left out" in one for one in errors["physics"])
    assert any("Tides" in one for one in errors["physics"])


def test_relativity_turns_mercury_by_43_arcseconds_in_a_century() -> None:
    """Einstein 1915: 43 arcseconds a century; a = 0.3871 AU, e = 0.2056."""
    state = load_or_generate_state("solar-system")
    mercury = next(key for key, body in state["stars"].items() if body["name"] == "Mercury")
    sun = next(key for key, body in state["stars"].items() if body["name"] == "Sun")
    found = estimate_largest_periapsis_shift(
        make_report(state, 365.25, universe_id="s", version=0, ids=[sun, mercury]).motion
    )
    assert found is not None
    name, degrees = found
    assert name == "Mercury"
    assert 3600 * 100 * degrees == pytest.approx(43.0, abs=0.3)


def test_a_summary_fits_80_columns_and_names_all_bodies(report: Any) -> None:
    lines = summarise_run(report.reply, report.names)
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("t version 7: 5 bodies, 200 days, gauss, ")
    rows = {line.split()[0] for line in lines if line}
    assert set("efgh") <= rows
    assert any("λ(e) - 3λ(f) + 2λ(g)" in line for line in lines)


def test_a_summary_of_events_and_of_a_run_that_cannot_be_trusted(report: Any) -> None:
    reply = copy.deepcopy(report.reply)
    one, other = reply["bodies"][1:3]
    reply["encounters"] = [
        {"bodies": [one, other], "day": 3.5, "au": 0.001, "hillRadii": 0.7, "radii": None} for _ in range(200)
    ]
    reply["collisions"] = [{"bodies": [one, other], "day": 4, "au": 1e-4, "speed": 0.1, "survivor": one}]
    reply["ejections"] = [{"id": one, "day": 9.0, "distance": 3.0, "speed": 0.1}]
    reply.update(trustworthy=False, stoppedBy="collision", daysAsked=400.0, energyDrift=None, amd=None)
    for orbit in reply["orbits"].values():
        orbit.update(semiMajorAxis=None, meanPeriod=None)
    text = "\n".join(summarise_run(reply, report.names))
    assert "NOT TRUSTWORTHY" in text
    assert "A collision ended the run 200 days early." in text
    assert "day 3.5: e and f pass at 0.001 AU (0.7 mutual Hill radii)" in text
    assert "172 more events" in text
    assert "conserved" not in text


def test_texts_of_ranges_and_spans() -> None:
    assert format_range({"min": 0.0101, "mean": 0.02, "max": 0.0203}) == "0.0101–0.0203"
    assert format_range({"min": 1.0, "mean": 1.0, "max": 1.00001}) == "1"
    assert format_range({"min": 129.6, "mean": 130, "max": 130.2}, 2) == "130"
    assert format_range(None) == "-"
    assert format_days_and_years(3652.5) == "3,652.5 days (10 years)"
    assert format_days_and_years(-1) == "-1 day"


def test_two_runs_side_by_side_fit_80_columns(report: Any) -> None:
    other = copy.deepcopy(report.reply)
    other["version"] = 8
    other["trustworthy"] = False
    for one in other["resonances"]:
        one.update(behaviour="circulates", centre=None, halfRange=None)
    found = compare(report.reply, other, ["t version 7", "t version 8"])
    lines = summarise_comparison(report.reply, other, found, report.names)
    assert max(map(len, lines)) <= 80
    assert (lines[0][:11], lines[1][:11]) == ("t version 7", "t version 8")
    assert any("circulates" in line for line in lines)
    assert any("The second run is NOT TRUSTWORTHY" in line for line in lines)


def test_a_picture_has_the_panels_of_its_kinds(report: Any) -> None:
    every = texts(drawn(report))
    for text in ("eccentricity", "Laplace angles of three bodies", "resonant angles of pairs", "e", "h", "e f"):
        assert text in every
    assert any("Hill radii" in text for text in every)
    assert "0 of 2 librate, 2 unclear" in every  # 200 days are too few to tell
    assert "eccentricity" not in texts(drawn(report, "angles"))
    assert texts(drawn(report, "distances"))[0] != "Nothing to draw."
    assert drawn(report, "elements").height < drawn(report).height
    assert render_png(drawn(report)).startswith(b"\x89PNG")
    assert render_svg(drawn(report)).count("<svg") == 1


def test_a_picture_has_no_passages_on_opposite_sides_of_the_star() -> None:
    """Planets that are in periapsis on opposite sides come nearer there, too, but do not pass each other."""
    state = load_or_generate_state("trappist-1")
    stars: dict[str, Any] = {"a": {"id": "a", "name": "a", "bodyType": "star", "mass": 1.0, "parentId": None}}
    for key, axis, periapsis in (("b", 0.1, 0), ("c", 0.1215, 180)):
        kepler = {"units": "astronomical", "semiMajorAxis": axis, "eccentricity": 0.05}
        kepler["argumentOfPeriapsis"] = periapsis
        stars[key] = {"id": key, "name": key, "bodyType": "planet", "mass": 1e-6, "parentId": "a", "kepler": kepler}
    found = make_report({**state, "stars": stars}, 100, universe_id="t", version=1)
    labels = texts(drawn(found, "distances"))
    assert "30" in labels
    assert "200" not in labels  # mutual Hill radii, the distance on opposite sides


def test_open_orbits_are_drawn_and_do_not_count_as_ejections() -> None:
    state = load_or_generate_state("trappist-1")
    stars: dict[str, Any] = {"a": {"id": "a", "name": "a", "bodyType": "star", "mass": 1.0, "parentId": None}}
    for key, eccentricity in (("parabola", 1), ("hyperbola", 1.2)):
        kepler = {"units": "astronomical", "q": 0.5 * eccentricity, "eccentricity": eccentricity}
        stars[key] = {"id": key, "name": key, "bodyType": "planet", "mass": 0.0, "parentId": "a", "kepler": kepler}
    found = make_report({**state, "stars": stars, "time": 100.0}, 1000, universe_id="t", version=1)
    assert "none left and parabola and hyperbola were unbound from the start" in found.reply["verdict"]
    assert found.reply["ejections"] == []
    labels = texts(drawn(found, "elements"))
    assert {"parabola", "hyperbola"} <= set(labels)
    assert "semi-major axis, change from the mean, %" not in labels


def test_a_verdict_counts_one_orbit_in_the_singular() -> None:
    found = make_report(
        load_or_generate_state("trappist-1"), 1.6, universe_id="t", version=1, ids=["trappist-1", "trappist-1-b"]
    )
    assert "(1 orbit of TRAPPIST-1 b)" in found.reply["verdict"]


def test_angles_that_swing_about_0_do_not_wrap(report: Any) -> None:
    reply: dict[str, Any] = {**report.reply, "resonances": [dict(report.reply["resonances"][0])]}
    (one,) = reply["resonances"]
    one.update(kind="laplace", behaviour="librates", bodies=one["bodies"][:1] * 2, longitudes=[1, -1], apsides=[0, 0])
    (dots,) = [
        mark for mark in drawn(Reported(reply, report.run, report.motion), "angles").marks if isinstance(mark, Dots)
    ]
    assert np.ptp([y for _, y in dots.points]) < 1


def test_a_run_of_no_days_is_reported_and_drawn() -> None:
    nothing = make_report(load_or_generate_state("trappist-1"), 0, universe_id="t", version=0)
    assert nothing.reply["start"] == nothing.reply["end"]
    assert max(map(len, summarise_run(nothing.reply, nothing.names))) <= 80
    assert drawn(nothing).height > 0
    json.dumps(nothing.reply, allow_nan=False)


def test_a_run_backwards_is_drawn_too() -> None:
    ids = ["trappist-1", "trappist-1-g", "trappist-1-h"]
    back = make_report(load_or_generate_state("trappist-1"), -100, universe_id="t", version=0, ids=ids)
    marks = [mark for mark in drawn(back).marks if isinstance(mark, Label)]
    assert "-40" in [mark.text for mark in marks]
    assert all(math.isfinite(mark.x + mark.y) for mark in marks)


def test_a_summary_of_many_bodies_with_long_names_fits_80_columns(report: Any) -> None:
    reply = copy.deepcopy(report.reply)
    names = {key: f"{key} {'x' * 30}" for key in reply["bodies"]}
    for number, orbit in enumerate(reply["orbits"].values()):
        orbit["semiMajorAxis"] = {"min": 0.00086791 * 10**number, "mean": 1.0, "max": 0.00086798 * 10**number}
        orbit["eccentricity"] = {"min": 5.55e-13, "mean": 1e-9, "max": 2.61e-8}
    lines = summarise_run(reply, names)
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if line.startswith("trappist") and line.endswith("…")]
