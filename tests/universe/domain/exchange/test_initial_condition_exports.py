"""The start of a run for other programs."""

import ast
import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from universe.domain.exchange.exports import render_rebound_script, render_start_csv
from universe.domain.nbody.initial_conditions import InitialConditions, make_initial_conditions
from universe.domain.nbody.integration.methods import integrate
from universe.service.initial_states import load_or_generate_state

HOSTILE = '星"),\n]; import os; os.abort() #\'\'\'"""\\\r\u2028\u202e{x}%s,=1+1'


@pytest.fixture(scope="module")
def start() -> InitialConditions:
    return make_initial_conditions(load_or_generate_state("trappist-1"))


def script_of(start: InitialConditions, universe_id: str = "t", days: float = 3.0) -> str:
    return render_rebound_script(start, days=days, universe_id=universe_id, version=2, time=0.5, relativity=False)


def constants(script: str) -> dict[str, Any]:
    """Return the constants that the script assigns, without running it."""
    found: dict[str, Any] = {}
    for line in ast.parse(script).body:
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name) and line.targets[0].id.isupper():
            found[line.targets[0].id] = ast.literal_eval(line.value)
    return found


def test_the_script_holds_the_start_to_the_bit(start: InitialConditions) -> None:
    found = constants(script_of(start))
    assert [(row[0], row[1]) for row in found["BODIES"]] == list(zip(start.ids, start.names, strict=True))
    assert [row[2] for row in found["BODIES"]] == start.masses.tolist()
    assert (np.array([row[3] for row in found["BODIES"]]) == start.positions).all()
    assert (np.array([row[4] for row in found["BODIES"]]) == start.velocities).all()
    assert (found["UNIVERSE"], found["VERSION"], found["TIME"], found["DAYS"]) == ("t", 2, 0.5, 3.0)


def test_hostile_names_are_data_in_the_script(start: InitialConditions) -> None:
    hostile = replace(start, ids=(HOSTILE, *start.ids[1:]), names=(HOSTILE, *start.names[1:]))
    script = script_of(hostile, universe_id=HOSTILE)
    assert script.isascii()
    assert len(script.splitlines()) == len(script_of(start).splitlines())
    assert [type(line) for line in ast.parse(script).body] == [type(line) for line in ast.parse(script_of(start)).body]
    found = constants(script)
    assert (found["BODIES"][0][0], found["BODIES"][0][1], found["UNIVERSE"]) == (HOSTILE, HOSTILE, HOSTILE)


@pytest.mark.parametrize("days", [3.0, -3.0])
def test_rebound_ends_where_this_program_does(start: InitialConditions, tmp_path: Path, days: float) -> None:
    pytest.importorskip("rebound")
    script = tmp_path / "run.py"
    script.write_text(script_of(start, days=days))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=True)
    end = json.loads(done.stdout)["end"]
    *_, last = integrate(start.masses, start.positions, start.velocities, days)
    assert list(end) == list(start.ids)
    assert np.array([one["position"] for one in end.values()]) == pytest.approx(last.last_positions.T, abs=1e-12)
    assert np.array([one["velocity"] for one in end.values()]) == pytest.approx(last.last_velocities.T, abs=1e-12)


def test_a_script_without_relativity_notes_it(start: InitialConditions) -> None:
    with_ = render_rebound_script(start, days=1, universe_id="t", version=0, time=0, relativity=True)
    assert "relativity" in (ast.get_docstring(ast.parse(with_)) or "")
    assert "relativity" not in script_of(start)


def test_the_table_holds_the_exact_start_for_any_names(start: InitialConditions) -> None:
    hostile = replace(start, ids=(HOSTILE, *start.ids[1:]), names=(HOSTILE, *start.names[1:]))
    text = render_start_csv(hostile, universe_id=HOSTILE, version=2, time=0.5)
    head, body = text.split("\nid,", 1)
    assert all(line.startswith("# ") and line.isascii() for line in head.split("\n"))
    rows = list(csv.DictReader(io.StringIO("id," + body, newline="")))
    assert [row["id"] for row in rows] == list(hostile.ids)
    assert [row["name"] for row in rows] == list(hostile.names)
    assert [float(row["mass"]) for row in rows] == start.masses.tolist()
    assert (np.array([[float(row[key]) for key in ("x", "y", "z")] for row in rows]) == start.positions).all()
    assert (np.array([[float(row[key]) for key in ("vx", "vy", "vz")] for row in rows]) == start.velocities).all()
