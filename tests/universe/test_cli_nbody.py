"""`universe nbody`: replies, summaries, files and failures."""

import ast
import csv
import errno
import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.universe.command_line import RunUniverse
from tests.universe.domain.samples import add_star
from tests.universe.test_cli import HOSTILE

REPLY: Final = {
    "id", "version", "time", "epochJulianDate", "days", "daysAsked", "stoppedBy", "method", "step", "shortestStep",
    "steps", "relativity", "frame", "bodies", "start", "end", "error", "errors", "trustworthy", "energyDrift",
    "angularMomentumDrift", "verdict", "orbits", "pairs", "resonances", "encounters", "encounterCount", "collisions",
    "ejections", "chaos", "amd",
}  # fmt: skip


def orbit(axis: float, **elements: float) -> dict[str, Any]:
    return {"units": "astronomical", "semiMajorAxis": axis, "eccentricity": 0, "meanAnomaly": 0, **elements}


@pytest.fixture
def system(run_universe: RunUniverse) -> RunUniverse:
    """With a universe `u` of a star with two planets, and `heavy`, its branch in which the outer one is heavier."""
    assert run_universe("new", "--id", "u", "--name", "Hven").code == 0
    sent = [
        add_star("sun", name="Sun", mass=1),
        add_star("ven", "sun", name="Ven", mass=1e-6, kepler=orbit(1)),
        add_star("jut", "sun", name="Jut", mass=1e-4, kepler=orbit(2, meanAnomaly=100)),
    ]
    assert run_universe("send", "u", json.dumps(sent)).code == 0
    return run_universe


def test_the_reply_is_flat_and_anyone_can_check_it(system: RunUniverse) -> None:
    done = system("nbody", "u", "--days", "50", "--json")
    printed = done.json
    assert (done.code, done.err) == (0, "")
    assert printed.keys() == REPLY
    assert (printed["id"], printed["version"], printed["days"], printed["method"]) == ("u", 3, 50, "gauss")
    assert (
        printed["bodies"]
        == list(printed["start"])
        == list(printed["end"])
        == list(printed["error"])
        == ["sun", "ven", "jut"]
    )
    for state in (*printed["start"].values(), *printed["end"].values()):
        assert (state.keys(), len(state["position"]), len(state["velocity"])) == (
            {"mass", "position", "velocity"},
            3,
            3,
        )
    assert printed["start"]["ven"]["mass"] == 1e-6
    assert all(0 < one["degrees"] < 1e-6 and 0 < one["au"] < 1e-8 for one in printed["error"].values())
    assert printed["errors"].keys() == {"arithmetic", "start", "physics"}
    assert printed["trustworthy"] is True
    assert printed["orbits"].keys() == {"ven", "jut"}
    assert printed["step"] == pytest.approx(50 / printed["steps"])
    assert system("history", "u", "--json").json["entries"][-1]["version"] == 3


def test_the_summary_begins_with_the_verdict_and_fits_a_terminal(system: RunUniverse) -> None:
    done = system("nbody", "u", "--years", "1")
    lines = done.out.splitlines()
    verdict = system("nbody", "u", "--days", "365.25", "--json").json["verdict"]
    assert (done.code, done.err) == (0, "")
    assert lines[0] == "u version 3: 3 bodies, 365.25 days, gauss, " + lines[0].rpartition(", ")[2]
    assert " ".join(lines[2:]).startswith(verdict)
    assert max(map(len, lines)) <= 80
    for text in ("body", "period (d)", "Ven Jut", "Chaos", "arithmetic:", "start:", "missing physics:", "conserved:"):
        assert text in done.out


def test_bodies_are_chosen_by_id_or_name(system: RunUniverse) -> None:
    printed = system("nbody", "u", "--days", "1", "--body", "SUN", "--body", "Jut", "--json").json
    assert printed["bodies"] == ["sun", "jut"]
    refused = system("nbody", "u", "--body", "sunn", "--json")
    assert (refused.code, refused.error["code"]) == (3, "not_found")
    assert "sun" in refused.error["hint"]


def test_two_universes_versions_or_branches_are_compared(system: RunUniverse) -> None:
    branch = system("branch", "u", "--name", "heavy", "--json").json["id"]
    change = {"type": "updateStar", "id": "jut", "payload": {"mass": 1e-3}}
    assert system("send", branch, json.dumps(change)).code == 0
    assert system("send", "u", json.dumps(change)).code == 0
    run = ("nbody", "u", "--version", "3", "--days", "20")
    by_version, by_branch, by_both = (system(*run, "--compare", other, "--json").json for other in ("4", branch, "u@4"))
    for printed in (by_version, by_branch, by_both):
        assert printed.keys() == REPLY | {"comparison"}
        assert (printed["version"], printed["start"]["jut"]["mass"]) == (3, 1e-4)
        assert printed["comparison"]["with"]["start"]["jut"]["mass"] == 1e-3
        assert printed["comparison"]["differences"]["verdict"]
    assert by_version["comparison"]["with"]["end"] == by_both["comparison"]["with"]["end"]
    shown = system(*run, "--compare", "4")
    assert shown.code == 0
    assert shown.out.splitlines()[1].startswith("u version 4: 3 bodies")
    assert max(map(len, shown.out.splitlines())) <= 80
    assert system(*run, "--compare", "nobody", "--json").error["code"] == "universe_not_found"
    assert system(*run, "--compare", "9", "--json").error["code"] == "version_not_found"
    assert system(*run, "--compare", "u@9", "--json").error["code"] == "version_not_found"


def test_the_start_and_pictures_are_written_to_files(system: RunUniverse, tmp_path: Path) -> None:
    files = ["--write-rebound", "run.py", "--write-csv", "start.csv", "--plot", "run.png", "--plot", "run.SVG"]
    done = system("nbody", "u", "--days", "100", *files)
    assert done.code == 0
    assert done.out.splitlines()[-4:] == [f"Written: {name}" for name in ("run.py", "start.csv", "run.png", "run.SVG")]
    printed = system("nbody", "u", "--days", "100", "--json").json
    ast.parse((tmp_path / "run.py").read_text())
    rows = [line for line in (tmp_path / "start.csv").read_text().splitlines() if not line.startswith("#")]
    for row in csv.DictReader(rows):
        assert [float(row[key]) for key in "xyz"] == printed["start"][row["id"]]["position"]
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    assert "eccentricity" in (tmp_path / "run.SVG").read_text()
    assert system("nbody", "u", "--years", "3", "--plot", "d.svg", "--plot-what", "distances").code == 0
    drawn = (tmp_path / "d.svg").read_text()
    assert "mutual Hill radii" in drawn
    assert "eccentricity" not in drawn
    assert system("nbody", "u", "--days", "1", "--plot", "none.svg", "--plot-what", "distances").code == 0
    assert "Nothing to draw." in (tmp_path / "none.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "argument"),
    [
        (["--days", "1", "--years", "1"], 2, None),
        (["--plot", "run.gif"], 2, None),
        (["--plot", "run.png", "--plot-what", "moods"], 2, None),
        (["--plot-what", "angles"], 2, None),
        (["--plot", "nowhere/run.png"], 5, None),
        (["--write-csv", "nowhere/start.csv"], 5, None),
        (["--days", "nan"], 2, "days"),
        (["--days", "inf"], 2, "days"),
        (["--years", "1e12"], 2, "days"),
        (["--method", "euler"], 2, "method"),
        (["--on-collision", "bounce"], 2, "on_collision"),
        (["--step", "1"], 2, "step"),
        (["--method", "leapfrog", "--step", "100"], 2, "step"),
        (["--method", "leapfrog", "--step", "-1"], 2, "step"),
        (["--method", "leapfrog", "--relativity"], 2, "method"),
        (["--body", "ven", "--body", "ven"], 2, "ids"),
        (["--days", "1e6", "--max-seconds", "0"], 2, "days"),
    ],
    ids=str,
)
def test_invalid_options_are_refused_before_or_during_the_run(
    system: RunUniverse, tmp_path: Path, arguments: list[str], code: int, argument: str | None
) -> None:
    done = system("nbody", "u", *arguments, "--json")
    assert done.code == code
    assert done.error.get("argument") == argument
    assert done.error["hint"]
    assert not list(tmp_path.glob("run.*"))


def test_a_run_that_cannot_be_trusted_exits_with_4(run_universe: RunUniverse) -> None:
    run_universe("new", "--id", "u")
    comet = add_star("comet", "sun", mass=1e-9, kepler=orbit(1, eccentricity=0.97, meanAnomaly=180))
    assert run_universe("send", "u", json.dumps([add_star("sun", mass=1), comet])).code == 0
    run = ("nbody", "u", "--days", "365", "--step", "18", "--method", "leapfrog")
    shown, printed = run_universe(*run), run_universe(*run, "--json")
    assert (shown.code, printed.code, printed.json["trustworthy"]) == (4, 4, False)
    assert "NOT TRUSTWORTHY" in shown.out
    assert "not trustworthy" in printed.json["verdict"]


def test_bodies_that_touch_stop_the_run_or_merge(run_universe: RunUniverse) -> None:
    run_universe("new", "--id", "u")
    comet = add_star("comet", "sun", mass=1e-9, kepler=orbit(1, eccentricity=0.999, meanAnomaly=180))
    sun = add_star("sun", name="Sun", mass=1, physical={"radiusKm": 695_700})
    assert run_universe("send", "u", json.dumps([sun, comet])).code == 0
    stopped = run_universe("nbody", "u", "--days", "300", "--json").json
    assert (stopped["stoppedBy"], stopped["daysAsked"]) == ("collision", 300)
    assert stopped["days"] == pytest.approx(stopped["collisions"][0]["day"])
    assert stopped["days"] < 300
    shown = run_universe("nbody", "u", "--days", "300", "--plot", "end.svg").out
    assert "ended the run" in shown
    assert "collide" in shown
    merged = run_universe("nbody", "u", "--days", "300", "--on-collision", "merge", "--json").json
    assert (merged["days"], merged["end"]["comet"], merged["end"]["sun"]["mass"]) == (300, None, 1 + 1e-9)
    assert merged["collisions"][0]["survivor"] == "sun"
    assert run_universe("nbody", "u", "--days", "300", "--on-collision", "merge", "--plot", "end.svg").code == 0


def test_hostile_names_command_no_terminal_and_forge_no_line(run_universe: RunUniverse, tmp_path: Path) -> None:
    run_universe("new", "--id", "u", "--name", HOSTILE)
    sent = [add_star("sun", name=HOSTILE, mass=1), add_star("ven", "sun", name=HOSTILE, mass=1e-6, kepler=orbit(1))]
    assert run_universe("send", "u", json.dumps(sent)).code == 0
    done = run_universe(
        "nbody", "u", "--days", "400", "--plot", "run.svg", "--write-rebound", "run.py", "--compare", "u"
    )
    assert done.code == 0
    for text in (done.out + done.err, run_universe("nbody", "u", "--days", "1").out):
        assert not set("\x1b\x07\r") & set(text)
        assert not [line for line in text.splitlines() if line.lstrip().startswith("★ forged")]
    assert (tmp_path / "run.py").read_text().isascii()


def test_an_interrupt_ends_a_long_run_without_traces(system: RunUniverse, tmp_path: Path) -> None:
    names = {name: value for name, value in os.environ.items() if not name.startswith("URANIBORG_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "universe", "nbody", "u", "--years", "2000", "--plot", "run.png"],
        cwd=tmp_path,
        env={**names, "URANIBORG_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    assert "u: " in process.stderr.readline()  # the first line of progress
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert not (tmp_path / "run.png").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_links_and_pipes_are_written_to_and_not_replaced(system: RunUniverse, tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to("table.csv")
    assert system("nbody", "u", "--days", "1", "--write-csv", str(tmp_path / "link.csv")).code == 0
    assert (tmp_path / "link.csv").is_symlink()
    os.mkfifo(tmp_path / "pipe.csv")
    reader = os.open(tmp_path / "pipe.csv", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert system("nbody", "u", "--days", "1", "--write-csv", str(tmp_path / "pipe.csv")).code == 0
        assert os.read(reader, 100_000) == (tmp_path / "table.csv").read_bytes()
    finally:
        os.close(reader)
    assert (tmp_path / "pipe.csv").is_fifo()


@pytest.mark.parametrize("option", ["--write-rebound", "--write-csv", "--plot"])
def test_a_full_disk_is_reported(system: RunUniverse, monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("uraniborg.kernel.store.files.write_atomic", fail)
    done = system("nbody", "u", "--days", "1", option, "file.svg", "--json")
    assert (done.code, done.error["code"]) == (5, "output_unwritable")
    assert "No space left on device" in done.error["message"]
    assert done.error["path"] == "file.svg"


def test_relativity_is_added_if_asked_and_turns_the_orbits_a_little(system: RunUniverse) -> None:
    newton, einstein = (
        system("nbody", "u", "--days", "300", *options, "--json").json for options in ((), ("--relativity",))
    )
    assert (newton["relativity"], einstein["relativity"]) == (False, True)
    apart = math.dist(newton["end"]["ven"]["position"], einstein["end"]["ven"]["position"])
    assert 1e-8 < apart < 1e-5
    assert "General relativity counts" in " ".join(system("nbody", "u", "--days", "3", "--relativity").out.split())
