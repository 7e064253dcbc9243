"""The command line for a new user: every help has examples, and every error a remedy."""

import json

import pytest

from tests.universe import test_cli
from tests.universe.command_line import RunUniverse
from universe.cli import app
from universe.domain.names_and_numbers import format_days_and_years
from universe.domain.plotting import Panel, Series, draw_chart
from universe.domain.plotting.drawing import Label, Polyline

made = test_cli.made
COMMANDS = sorted(str(one.name or one.callback.__name__) for one in app.registered_commands if one.callback)


@pytest.mark.parametrize("command", [one for one in COMMANDS if one != "serve"])
def test_the_help_of_a_command_has_an_example_of_it(run_universe: RunUniverse, command: str) -> None:
    name = command.removesuffix("_universe").replace("list_universes", "list")
    printed = " ".join(run_universe(name, "--help").out.split())
    assert f"Examples: universe {name}" in printed


@pytest.mark.parametrize("command", ["nbody", "transits", "rv"])
@pytest.mark.parametrize(("origin", "problem"), [(None, "has no bodies"), ("seed:classic:42", "has a kepler block")])
def test_a_universe_without_true_orbits_names_one_that_has_them(
    run_universe: RunUniverse,
    command: str,
    origin: str | None,
    problem: str,
) -> None:
    assert run_universe("new", "--id", "u", *(["--from", origin] if origin else [])).code == 0
    failed = run_universe(command, "u", "--days", "1", "--json")
    assert failed.code == 2
    assert problem in failed.error["message"]
    assert "universe new --from trappist-1" in failed.error["hint"]


def test_a_usage_error_names_the_help_of_its_command(run_universe: RunUniverse) -> None:
    assert run_universe("show", "--json").error["hint"] == "See `universe show --help`."
    assert run_universe("dance", "--json").error["hint"] == "See `universe --help`."


def test_cite_and_nbody_take_the_same_short_names(run_universe: RunUniverse) -> None:
    run_universe("new", "--from", "trappist-1", "--id", "t")
    assert run_universe("cite", "t", "--body", "e", "--field", "mass", "--json").json["body"] == "trappist-1-e"
    assert run_universe("cite", "t", "--body", "TRAPPIST-1 E", "--json").json["body"] == "trappist-1-e"
    assert run_universe("cite", "t", "--body", "", "--json").code != 0


def test_a_misspelled_field_is_accepted_with_a_warning(made: RunUniverse) -> None:
    sent = made("send", "u", json.dumps({"type": "updateStar", "id": "sun", "payload": {"mas": 3}}))
    assert sent.code == 0
    assert "mas" in sent.out
    assert "mass" in sent.out.split("mas", 1)[1]


def test_a_recomputed_value_is_named_in_full(run_universe: RunUniverse) -> None:
    run_universe("new", "--from", "trappist-1", "--id", "t")
    sent = run_universe(
        "send", "t", '{"type": "updateStar", "id": "trappist-1-e", "payload": {"mass": 3e-6}, "reason": "why"}'
    )
    printed = " ".join(sent.out.split())
    assert "recomputed kepler.semiMajorAxis from kepler.osculatingPeriod and the masses." in printed
    assert max(map(len, sent.out.splitlines())) <= 80
    assert ": why" in run_universe("history", "t").out


def test_tables_and_sources_fit_80_columns(run_universe: RunUniverse) -> None:
    run_universe("new", "--from", "trappist-1", "--id", "t")
    for arguments in (
        ("show", "t", "--physics"),
        ("show", "t"),
        ("transits", "t", "--days", "10"),
        ("rv", "t", "--days", "3"),
        ("cite", "t", "--body", "e", "--field", "mass"),
        ("history", "t"),
    ):
        assert max(map(len, run_universe(*arguments).out.splitlines())) <= 80, arguments


def test_one_body_is_not_bodies(run_universe: RunUniverse) -> None:
    run_universe("new", "--from", "solar-system", "--id", "sol")
    assert "mass 1 solar mass, at" in run_universe("show", "sol", "--depth", "1").out


def test_a_short_run_claims_nothing_about_resonances(run_universe: RunUniverse) -> None:
    run_universe("new", "--from", "trappist-1", "--id", "t")
    verdict = run_universe("nbody", "t", "--days", "5", "--json").json["verdict"]
    assert "The run does not show whether all 5 Laplace angles librate." in verdict
    at_once = run_universe("nbody", "t", "--days", "0", "--json").json["verdict"]
    assert "resonance" not in at_once


def test_a_circle_has_the_eccentricity_0_and_long_spans_no_exponents(run_universe: RunUniverse) -> None:
    run_universe("new", "--from", "kepler-90", "--id", "k")
    printed = run_universe("nbody", "k", "--days", "2").out
    assert "  0–" in printed
    assert "e-16" not in printed.partition("Resonances")[0]
    assert format_days_and_years(3_652_500) == "3,652,500 days (10,000 years)"
    assert format_days_and_years(1) == "1 day"


def test_the_name_of_a_smooth_curve_stands_at_its_end() -> None:
    rising = Series("speed", [0.0, 1.0, 2.0] * 20 + [3.0], [0.0, 1.0, 0.0] * 20 + [9.0])
    drawing = draw_chart([Panel("velocity", [rising], y_range=(0.0, 10.0))], title="Hven", x_label="days")
    (name,) = [mark for mark in drawing.marks if isinstance(mark, Label) and mark.text == "speed"]
    (curve,) = [mark for mark in drawing.marks if isinstance(mark, Polyline) and len(mark.points) > 10]
    assert abs(name.y - curve.points[-1][1]) < 10
