"""The commands `import`, `export` and `diff`, and `new` with settings."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.universe.command_line import RunUniverse
from tests.universe.domain.exchange.archive_tables import PLANET, make_archive_csv
from tests.universe.domain.exchange.test_horizons import MARS


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "ps.csv"
    other = {**PLANET, "pl_name": "Stjerneborg b", "hostname": "Stjerneborg"}
    path.write_bytes(make_archive_csv(PLANET, other, {**PLANET, "pl_name": "Hven-1 c", "pl_orbper": None}))
    return path


def test_a_table_is_imported_with_a_report(run_universe: RunUniverse, table: Path) -> None:
    done = run_universe("import", table, "--id", "both")
    assert done.code == 0
    assert "Created both: Hven-1 and 1 more systems, 4 bodies." in done.out
    assert "1 row skipped" in done.out
    assert "Hven-1 c: pl_orbper and pl_orbsmax are empty" in " ".join(done.out.split())
    assert "Note: pl_orblper was read as the argument of periapsis of the star" in " ".join(done.out.split())
    assert run_universe("nbody", "both", "--days", "5", "--body", "hven-1", "--body", "hven-1-b", "--json").code == 0
    each = run_universe("import", table, "--each", "--json").json
    assert [one["bodies"] for one in each["universes"]] == [2, 2]
    assert "Would import 2 systems" in run_universe("import", table, "--dry-run").out
    assert len(run_universe("list", "--json").json["universes"]) == 3


def test_the_origin_of_an_imported_value_is_its_cell(run_universe: RunUniverse, table: Path) -> None:
    run_universe("import", table, "--id", "both")
    origin = run_universe("cite", "both", "--body", "hven-1-b", "--field", "kepler.period", "--json").json
    (source,) = origin["sources"]
    assert source["title"] == "Doe et al. 2020"
    assert source["location"]["row"] == ["Hven-1 b", "10.0"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--omega-of", "moon"], "usage"),
        (["--units", "parsec"], "usage"),
        (["--format", "fits"], "usage"),
        (["--format", "vectors"], "import_refused"),
        (["--each", "--id", "x"], "invalid_argument"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    run_universe: RunUniverse, table: Path, arguments: list[str], code: str
) -> None:
    assert run_universe("import", table, *arguments, "--json").error["code"] == code


def test_a_huge_file_is_refused_before_it_is_read(run_universe: RunUniverse, tmp_path: Path) -> None:
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as stream:
        stream.truncate(1_000_000_000)
    assert "1,000,000,000 bytes" in run_universe("import", huge, "--json").error["message"]
    assert run_universe("import", tmp_path / "none.csv", "--json").error["code"] == "input_not_found"


def test_an_export_has_the_format_of_its_file_name(run_universe: RunUniverse, tmp_path: Path) -> None:
    run_universe("new", "--from", "trappist-1", "--id", "t1")
    for name, start in (
        ("bodies.csv", "# Universe 't1', version 1: 8 of 8 bodies"),
        ("bodies.vot", "<?xml"),
        ("check.py", "#!/usr/bin/env python3"),
        ("saved.json", "{"),
        ("other", "{"),
    ):
        assert run_universe("export", "t1", "-o", name).code == 0
        assert (tmp_path / name).read_text().startswith(start)
    assert run_universe("export", "t1", "-f", "rebound-csv").out.startswith("# start of an N-body run")
    assert run_universe("export", "t1", "-f", "fits", "--json").error["code"] == "usage"
    for name in ("bodies.csv", "bodies.vot"):
        assert run_universe("import", name, "--json").json["universes"][0]["bodies"] == 8


def test_versions_and_universes_are_compared(run_universe: RunUniverse) -> None:
    run_universe("new", "--from", "trappist-1", "--id", "t1")
    run_universe("send", "t1", json.dumps({"type": "updateStar", "id": "trappist-1-h", "payload": {"mass": 0.25}}))
    run_universe("new", "--from", "trappist-1", "--id", "t2")
    shown = run_universe("diff", "t1", "--from", "1").out
    assert "t1 version 1 → t1 version 2" in shown
    assert "~ trappist-1-h mass: 9" in shown
    assert "→ 0.25" in shown
    compared = run_universe("diff", "t2", "--with", "t1", "--json").json
    assert compared["differences"]["stars"]["changedCount"] == 1
    assert "They are equal." in run_universe("diff", "t2", "--with", "t1", "--from", "1").out


def test_a_seed_takes_settings(run_universe: RunUniverse) -> None:
    made = run_universe("new", "--from", "seed:classic:1", "--set", "maxSystems=1", "--set", "scaleMode=toy", "--json")
    assert made.json["bodies"] < 60
    assert run_universe("new", "--set", "maxSystems=1", "--json").error["code"] == "usage"
    assert run_universe("new", "--from", "seed:classic:1", "--set", "x", "--json").error["code"] == "usage"
    assert (
        "maxSystems" in run_universe("new", "--from", "seed:classic:1", "--set", "maxSystem=1", "--json").error["hint"]
    )


def read_bodies(run_universe: RunUniverse, table: Path, *options: str) -> dict[str, Any]:
    (made,) = run_universe("import", table, *options, "--json").json["universes"]
    return run_universe("show", made["id"], "--json").json["stars"]


def test_omega_of_the_planet_turns_its_orbit_by_half_a_circle(run_universe: RunUniverse, tmp_path: Path) -> None:
    table = tmp_path / "ps.csv"
    table.write_bytes(make_archive_csv(PLANET))
    first = read_bodies(run_universe, table)["hven-1-b"]["kepler"]["argumentOfPeriapsis"]
    of_star = read_bodies(run_universe, table, "--omega-of", "star")["hven-1-b"]["kepler"]["argumentOfPeriapsis"]
    of_planet = read_bodies(run_universe, table, "--omega-of", "planet")["hven-1-b"]["kepler"]["argumentOfPeriapsis"]
    assert (first, (of_planet - of_star) % 360) == (of_star, 180)


def test_a_planet_of_two_stars_is_built_about_their_barycentre_if_asked(
    run_universe: RunUniverse, tmp_path: Path
) -> None:
    table = tmp_path / "ps.csv"
    table.write_bytes(make_archive_csv({**PLANET, "cb_flag": 1, "pl_orbsmax": 0.7, "pl_orbper": 228.8}))
    for options in ((), ("--circumbinary", "refuse")):
        assert run_universe("import", table, *options, "--json").error["code"] == "import_refused"
    stars = read_bodies(run_universe, table, "--circumbinary", "barycentre")
    assert stars["hven-1-b"]["parentId"] == "hven-1-barycentre"
    assert "circumbinary" in run_universe("import", table, "--circumbinary", "none", "--json").error["message"]


@pytest.mark.parametrize("units", ["au-day", "au-year", "au-yr2pi"])
def test_states_are_read_in_the_units_that_are_named(run_universe: RunUniverse, tmp_path: Path, units: str) -> None:
    speed = 0.0172 * {"au-day": 1, "au-year": 365.25, "au-yr2pi": 365.25 / (2 * math.pi)}[units]
    table = tmp_path / "states.csv"
    table.write_text(f"name,m,x,y,z,vx,vy,vz\nSun,1,0,0,0,0,0,0\nEarth,3e-6,1,0,0,0,{speed},0\n")
    period = read_bodies(run_universe, table, "--units", units)["earth"]["kepler"]["period"]
    assert period == pytest.approx(365.25, rel=1e-3)
    assert run_universe("import", table, "--json").error["code"] == "import_refused"


def test_an_answer_of_horizons_in_json_is_imported_whatever_its_file_is_called(
    run_universe: RunUniverse, tmp_path: Path
) -> None:
    answer = {"signature": {"source": "NASA/JPL Horizons API", "version": "1.2"}, "result": MARS.decode()}
    for name in ("mars.json", "mars.txt"):
        (tmp_path / name).write_text(json.dumps(answer))
        report = run_universe("import", name, "--json").json
        assert (report["import"]["format"], report["universes"][0]["bodies"]) == ("horizons", 2)
