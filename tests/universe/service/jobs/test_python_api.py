"""Measurements in Python and notebooks."""

from typing import Any

import pytest
from defusedxml import ElementTree

from universe import find_transits, load_system, measure_velocities, run_nbody
from universe.domain.nbody.initial_conditions import make_initial_conditions
from universe.domain.nbody.runs import run_nbody as integrate
from universe.errors import MalformedRequest
from universe.service.jobs.measurement import MAX_TRAJECTORY, Measurement, make_trajectory

list_transits: Any = find_transits
list_velocities: Any = measure_velocities

STATE = load_system("trappist-1")


@pytest.fixture(scope="module")
def run() -> Measurement:
    return run_nbody(STATE, days=2, bodies=["trappist-1", "b", "c"])


def test_a_run_has_a_reply_a_summary_and_a_trajectory(run: Measurement) -> None:
    reply: Any = run.reply
    assert run.title == "TRAPPIST-1"
    assert reply["bodies"] == ["trappist-1", "trappist-1-b", "trappist-1-c"]
    assert run.summary.get("verdict") == reply["verdict"]
    assert run.trajectory is not None
    assert len(run.trajectory.states) == 4 * 6 * 3 * run.trajectory.layout["count"]


def test_a_notebook_shows_the_summary_and_the_chart(run: Measurement) -> None:
    assert run._repr_svg_() == run.render_svg()  # pyright: ignore[reportPrivateUsage]
    assert ElementTree.fromstring(run.render_svg()).tag.endswith("svg")
    page = run._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert run.summary["headline"] in page
    assert "<svg" in page


def test_names_of_bodies_cannot_add_markup_to_a_notebook() -> None:
    bodies = {**STATE["stars"], "trappist-1": {**STATE["stars"]["trappist-1"], "name": "<img src=x onerror=alert(1)>"}}
    page = list_velocities({**STATE, "stars": bodies}, days=2, samples=3)._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "<img" not in page
    assert "&lt;img" in page


def test_transits_and_velocities_take_their_options() -> None:
    assert [*list_transits(STATE, days=4, bodies=["b"], kepler=True).reply["planets"]] == ["trappist-1-b"]
    assert list_velocities(STATE, days=2, samples=7).reply["samples"]["times"].__len__() == 7


@pytest.mark.parametrize("options", [{"method": "euler"}, {"days": float("inf")}, {"max_seconds": 0}])
def test_options_that_are_not_allowed_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(MalformedRequest):
        run_nbody(STATE, **options)


def test_a_long_trajectory_is_thinned_evenly_to_its_limit() -> None:
    start = make_initial_conditions(STATE, ["trappist-1", "trappist-1-h"])
    done = integrate(start, 1.0, samples=MAX_TRAJECTORY)
    made = make_trajectory(done, 0.0)
    assert made.layout["count"] == MAX_TRAJECTORY // 2
    assert made.layout["stepDays"] == pytest.approx(2 / (MAX_TRAJECTORY - 1))
