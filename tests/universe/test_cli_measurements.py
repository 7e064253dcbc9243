"""The commands that measure: transits, rv, show --physics and cite --physics."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from universe.cli import run

Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ask:
    """Return a function that runs a command and returns its code, stdout and stderr."""
    for name in [name for name in os.environ if name.startswith("URANIBORG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def answer(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run(list(arguments))
        printed = capsys.readouterr()
        return (ended.value.code if isinstance(ended.value.code, int) else 0), printed.out, printed.err

    for origin in ("trappist-1", "solar-system"):
        assert answer("new", "--from", origin, "--id", origin)[0] == 0
    return answer


def replied(done: tuple[int, str, str]) -> dict[str, Any]:
    assert done[0] == 0, done
    return json.loads(done[1])


def test_transits_of_named_planets_are_listed_as_text_json_csv_and_a_chart(ask: Ask, tmp_path: Path) -> None:
    code, out, _ = ask("transits", "trappist-1", "--days", "30", "--body", "e", "--csv", "e.csv", "--plot", "e.svg")
    assert code == 0
    assert "TRAPPIST-1 e" in out
    assert "2457263.927397" in out
    assert "TRAPPIST-1 b" not in out
    reply = replied(ask("transits", "trappist-1", "--days", "30", "--body", "TRAPPIST-1 e", "--json"))
    assert (reply["id"], reply["version"], list(reply["planets"])) == ("trappist-1", 1, ["trappist-1-e"])
    rows = list(csv.DictReader((tmp_path / "e.csv").read_text().splitlines()))
    assert [float(row["time"]) for row in rows] == [one["time"] for one in reply["planets"]["trappist-1-e"]["transits"]]
    assert "difference from a constant period" in (tmp_path / "e.svg").read_text()


def test_radial_velocities_are_listed_as_text_json_csv_and_a_chart(ask: Ask, tmp_path: Path) -> None:
    code, out, _ = ask("rv", "trappist-1", "--days", "3", "--samples", "7", "--csv", "v.csv", "--plot", "v.png")
    assert code == 0
    assert "positive is away from us" in out
    assert "3.818" in out
    reply = replied(ask("rv", "trappist-1", "--days", "3", "--samples", "7", "--json"))
    rows = list(csv.DictReader((tmp_path / "v.csv").read_text().splitlines()))
    assert [float(row["metresPerSecond"]) for row in rows] == reply["samples"]["velocities"]
    assert (tmp_path / "v.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("command", ["transits", "rv"])
def test_notes_of_kepler_orbits_are_about_their_elements(ask: Ask, command: str) -> None:
    arguments = (command, "solar-system", "--observer", "0,0", "--days", "2", "--kepler", "--json")
    notes = " ".join(replied(ask(*arguments))["notes"])
    assert "DE421" not in notes
    assert "is accurate to 0.15 degrees: the elements are me" in notes


def test_a_universe_keeps_its_line_of_sight_and_its_starlight(ask: Ask) -> None:
    state = replied(ask("show", "trappist-1", "--json"))
    physical = state["stars"]["trappist-1"]["physical"]
    assert physical["towardsObserver"] == [0.0, 1.0, 0.0]
    assert (physical["teffKelvin"], physical["luminositySolar"]) == (2566, 0.000553)


def test_physics_are_shown_with_units_and_papers(ask: Ask) -> None:
    code, out, _ = ask("show", "trappist-1", "--physics")
    assert code == 0
    for text in ("(g/cm³)", "(AU)", "(Earth = 1)", "Kopparapu et al. 2014", "computed for 2600 K"):
        assert text in out
    reply = replied(ask("show", "trappist-1", "--physics", "--json"))
    assert reply["id"] == "trappist-1"
    assert reply["bodies"]["trappist-1-e"]["quantities"]["insolation"]["paper"] == "mendez2017"


def test_the_bibliography_includes_the_papers_of_formulas_with_physics(ask: Ask) -> None:
    assert "kopparapu2014" not in ask("cite", "trappist-1")[1]
    assert "kopparapu2014" in ask("cite", "trappist-1", "--physics")[1]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("rv", "solar-system"), 2, "does not state where its observer is"),
        (("transits", "trappist-1", "--days", "0"), 2, "days must be a finite number above 0, got 0"),
        (("transits", "trappist-1", "--days", "nan"), 2, "got nan"),
        (("rv", "trappist-1", "--days", "-5"), 2, "got -5"),
        (("transits", "trappist-1", "--days", "1e9"), 2, "too many for 8 bodies"),
        (("transits", "trappist-1", "--kepler", "--days", "1e12"), 2, "too many for the quickest of these orbits"),
        (("rv", "trappist-1", "--kepler", "--days", "1e12"), 2, "too many for the quickest of these orbits"),
        (("transits", "trappist-1", "--body", "zz"), 3, "There is no body 'zz'"),
        (("transits", "trappist-1", "--body", "trappist-1"), 2, "does not orbit a star"),
        (("transits", "nowhere"), 3, "nowhere"),
        (("rv", "trappist-1", "--observer", "north"), 2, "got 'north'"),
        (("rv", "trappist-1", "--observer", "0,91"), 2, "is not a direction"),
        (("rv", "trappist-1", "--star", "trappist-1-b"), 2, "is not a star"),
        (("rv", "trappist-1", "--samples", "1"), 2, "samples must be between 2"),
        (("transits", "trappist-1", "--plot", "x.gif"), 2, "neither PNG nor SVG"),
        # Before anything is computed: so many days would be refused then.
        (("transits", "trappist-1", "--days", "1e9", "--csv", "no/such/folder/x.csv"), 5, "could not be written"),
        (("rv", "trappist-1", "--days", "1e9", "--plot", "no/such/folder/x.png"), 5, "could not be written"),
    ],
)
def test_bad_input_is_refused_with_a_message(ask: Ask, arguments: tuple[str, ...], code: int, message: str) -> None:
    found, out, err = ask(*arguments)
    assert (found, out) == (code, "")
    assert message in err
    assert "hint:" in err


def test_a_universe_in_scene_units_has_no_physics(ask: Ask) -> None:
    assert ask("new", "--from", "seed:classic:1", "--id", "s")[0] == 0
    code, _, err = ask("show", "s", "--physics")
    assert code == 2
    assert "no body in astronomical units" in err


def test_the_velocity_of_a_named_star_is_measured(ask: Ask) -> None:
    assert ask("new", "--from", "alpha-centauri", "--id", "alpha")[0] == 0
    options = ("--days", "3", "--samples", "3", "--observer", "0,0", "--json")
    heaviest = replied(ask("rv", "alpha", *options))
    other = replied(ask("rv", "alpha", "--star", "alpha-centauri-b", *options))
    assert (heaviest["star"], other["star"]) == ("alpha-centauri-a", "alpha-centauri-b")
    assert other["samples"]["velocities"] != heaviest["samples"]["velocities"]
