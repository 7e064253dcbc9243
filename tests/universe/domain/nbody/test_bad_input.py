"""Invalid input of N-body runs ends with a clear error at once and leaves no partial file."""

import errno
import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from tests.universe.command_line import RunUniverse
from tests.universe.domain.nbody.truths import read_truth
from tests.universe.domain.samples import EMPTY_STATE, a_body
from universe.domain.nbody.initial_conditions import make_initial_conditions
from universe.domain.nbody.limits import check_work_and_choose_step
from universe.domain.nbody.runs import run_nbody
from uraniborg.kernel.errors import InvalidInput, NotFound

EARTH: Final = {"units": "astronomical", "semiMajorAxis": 1.0, "eccentricity": 0.0167, "meanAnomaly": 30}
TEN_THOUSAND_YEARS: Final = "3652500"
Json = dict[str, Any]


def plain(**changes: Json) -> Json:
    """Return a state of a star with two planets and a test particle, with fields changed."""
    bodies = {
        "sun": a_body("sun", mass=1.0, orbitalDistance=0.0),
        "earth": a_body("earth", "sun", mass=3e-6, kepler=EARTH),
        "mars": a_body("mars", "sun", mass=3e-7, kepler={**EARTH, "semiMajorAxis": 1.5}),
        "rock": a_body("rock", "sun", mass=0.0, kepler={**EARTH, "semiMajorAxis": 2.5}),
    }
    stars = {key: {**body, **changes.get(key, {})} for key, body in bodies.items()}
    stars["sun"]["children"] = [key for key in stars if key != "sun"]
    return {**EMPTY_STATE, "stars": stars, "rootIds": ["sun"]}


@pytest.fixture
def imported(run_universe: RunUniverse, tmp_path: Path) -> Callable[[Json], str]:
    """Return a function that makes a universe of a state, as a user would who writes one by hand."""

    def make(state: Json) -> str:
        (tmp_path / "state.json").write_text(json.dumps(state))
        done = run_universe("import", "state.json", "--json")
        assert done.code == 0, done.out
        return json.loads(done.out)["id"]

    return make


BAD_STATES: Final = {
    "no mass at all": (
        plain(sun={"mass": 0.0}, earth={"mass": 0.0}, mars={"mass": 0.0}),
        {"mass"},
    ),
    "orphan": (plain(earth={"parentId": "nowhere"}), {"earth", "nowhere"}),
    "coincident": (plain(mars={"parentId": None, "kepler": None}), {"sun", "mars"}),
    "empty": (EMPTY_STATE, set[str]()),
}


@pytest.mark.parametrize("what", BAD_STATES)
def test_bodies_that_cannot_be_integrated_are_named(
    imported: Callable[[Json], str], run_universe: RunUniverse, what: str
) -> None:
    state, words = BAD_STATES[what]
    done = run_universe("nbody", imported(state), "--days", "10", "--json")
    assert done.code == 2
    text = f"{done.error['message']} {done.error['hint']}"
    assert not {word for word in words if word not in text}, text


def test_a_negative_mass_is_refused_by_the_state_and_by_the_start(run_universe: RunUniverse, tmp_path: Path) -> None:
    state = plain(earth={"mass": -1.0})
    (tmp_path / "state.json").write_text(json.dumps(state))
    done = run_universe("import", "state.json", "--json")
    assert (done.code, done.error["path"]) == (2, "stars.earth.mass")
    with pytest.raises(InvalidInput, match=r"earth.*mass"):
        make_initial_conditions(state)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ["mass", "semiMajorAxis", "meanAnomaly", "eccentricity"])
def test_numbers_that_are_not_finite_are_refused(field: str, value: float) -> None:
    change: Json = {"mass": value} if field == "mass" else {"kepler": {**EARTH, field: value}}
    with pytest.raises(InvalidInput) as caught:
        make_initial_conditions(plain(earth=change))
    assert "earth" in caught.value.message
    assert field in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("field", ["masses", "positions", "velocities"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_start_that_holds_no_number_is_refused(field: str, value: float) -> None:
    start = read_truth("earth-moon").start
    broken = np.array(getattr(start, field))
    broken.flat[-1] = value
    with pytest.raises(InvalidInput):
        run_nbody(replace(start, **{field: broken}), 1.0)


def test_a_start_with_two_bodies_in_the_same_place_is_refused_by_their_names() -> None:
    start = read_truth("earth-moon").start
    positions = start.positions.copy()
    positions[2] = positions[1]
    with pytest.raises(InvalidInput) as caught:
        run_nbody(replace(start, positions=positions), 1.0)
    assert "earth" in caught.value.message
    assert "moon" in caught.value.message


@pytest.mark.parametrize("mass", [0.0, 3e-7])
def test_bodies_in_the_same_place_at_the_epoch_of_their_elements_are_refused_later_too(mass: float) -> None:
    state = {**plain(mars={"mass": mass, "kepler": EARTH}, earth={"mass": mass}), "time": 30.0}
    start = make_initial_conditions(state)
    assert any("two bodies meet" in note for note in start.notes)
    with pytest.raises(InvalidInput, match=r"same position|too close"):
        run_nbody(start, 10.0)


def test_a_test_particle_without_mass_takes_part() -> None:
    done = run_nbody(make_initial_conditions(plain()), 30.0)
    assert done.trustworthy


def test_a_body_that_does_not_exist_cannot_be_chosen(
    imported: Callable[[Json], str], run_universe: RunUniverse
) -> None:
    with pytest.raises(NotFound):
        make_initial_conditions(plain(), ["sun", "nobody"])
    done = run_universe("nbody", imported(plain()), "--body", "sun", "--body", "nobody", "--json")
    assert (done.code, done.error["code"]) == (3, "not_found")
    assert "nobody" in done.error["message"]


def test_an_empty_choice_and_a_body_named_twice_are_refused() -> None:
    for ids in ([], ["sun", "sun"]):
        with pytest.raises(InvalidInput):
            make_initial_conditions(plain(), ids)


def test_one_body_alone_has_nothing_to_answer(imported: Callable[[Json], str], run_universe: RunUniverse) -> None:
    done = run_universe("nbody", imported(plain()), "--body", "sun", "--days", "10", "--json")
    assert done.code == 2
    assert "2 to" in done.error["hint"]


@pytest.mark.parametrize("days", ["nan", "inf", "-inf", "soon", "1e300"])
def test_spans_that_no_run_has_are_refused(
    imported: Callable[[Json], str], run_universe: RunUniverse, days: str
) -> None:
    done = run_universe("nbody", imported(plain()), "--days", days, "--json")
    assert done.code == 2
    assert "days" in f"{done.error['message']} {done.error}"


@pytest.mark.parametrize("method", ["euler", "", "GAUSS★"])
def test_an_unknown_method_is_refused_with_those_there_are(
    imported: Callable[[Json], str], run_universe: RunUniverse, method: str
) -> None:
    done = run_universe("nbody", imported(plain()), "--method", method, "--json")
    assert done.code == 2
    assert "gauss" in str(done.error)
    assert "leapfrog" in str(done.error)


def test_ten_thousand_years_of_trappist_1_are_refused_at_once_with_the_span_that_is_allowed(
    run_universe: RunUniverse,
) -> None:
    run_universe("new", "--from", "trappist-1", "--id", "t")
    done = run_universe("nbody", "t", "--days", TEN_THOUSAND_YEARS, "--json")
    assert done.code == 2
    assert "days" in done.error["message"]
    allowed = str(done.error["allowed"])
    assert any(character.isdigit() for character in allowed), allowed


def test_the_span_that_a_refusal_names_is_accepted() -> None:
    start = read_truth("trappist-1").start
    with pytest.raises(InvalidInput) as caught:
        run_nbody(start, float(TEN_THOUSAND_YEARS))
    allowed = re.search(r"([0-9,.]+) days", caught.value.ids["allowed"])
    assert allowed
    longest = float(allowed[1].replace(",", ""))
    assert longest > 10 * 365.25
    check_work_and_choose_step(start, longest * 0.999, "gauss", None)
    with pytest.raises(InvalidInput):
        check_work_and_choose_step(start, longest * 1.001, "gauss", None)


INTERRUPTED: Final = """
import sys
from universe.domain.nbody.integration.trajectory_integration import Trajectory
integrate = Trajectory.integrate
def marked(self, days):
    for number, segment in enumerate(integrate(self, days)):
        if number == 3:
            sys.stderr.write("running\\n")
            sys.stderr.flush()
        yield segment
Trajectory.integrate = marked
from universe.cli import run
run(sys.argv[1:])
"""
FILES: Final = (("--write-csv", "start.csv"), ("--write-rebound", "start.py"), ("--plot", "start.png"))


def test_ctrl_c_ends_a_run_with_130_and_writes_no_file(run_universe: RunUniverse, tmp_path: Path) -> None:
    run_universe("new", "--from", "trappist-1", "--id", "t")
    files = [word for pair in FILES for word in pair]
    command = [sys.executable, "-c", INTERRUPTED, "nbody", "t", "--days", "3650", *files]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as process:
        assert process.stderr
        assert process.stderr.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err.endswith("Interrupted.\n")
    assert "Traceback" not in err
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("start")]


@pytest.mark.parametrize(("option", "name"), FILES)
def test_a_full_disk_leaves_the_old_file_and_reports_it(
    run_universe: RunUniverse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, name: str
) -> None:
    run_universe("new", "--from", "trappist-1", "--id", "t")
    target = tmp_path / name
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    done = run_universe("nbody", "t", "--days", "1", option, target, "--json")
    assert done.code == 5
    assert os.strerror(errno.ENOSPC) in done.error["message"]
    assert target.read_text() == "old"
    assert not [path for path in tmp_path.iterdir() if path.name not in ("home", name)]


@pytest.mark.parametrize(("option", "name"), FILES)
def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(
    run_universe: RunUniverse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, name: str
) -> None:
    run_universe("new", "--from", "trappist-1", "--id", "t")
    (tmp_path / "file").write_text("not a folder")

    def fail(*_: object, **__: object) -> None:
        pytest.fail("it ran")

    monkeypatch.setattr("universe.domain.nbody.run_reports.run_and_report", fail)
    done = run_universe("nbody", "t", "--days", "1", option, f"file/{name}", "--json")
    assert done.code == 5
    assert f"file/{name}" in done.error["message"]
