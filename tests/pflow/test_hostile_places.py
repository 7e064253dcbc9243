"""Hostile environments: full disks, broken files, changed clocks, unusable homes and concurrent processes.

None of them leaves a partially written file, and the caller gets an error about each failed operation.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pflow.service.engine import run_reporter
from tests.pflow.hostile import (
    GOOD,
    SHORT,
    SOON_S,
    check_refusal,
    echo,
    execute,
    list_leftovers,
    make_service,
    measure_reply,
    run_in_child,
)
from tests.pflow.mcp.sample_workflows import chain, count_runs, shell_node
from tests.pflow.service.engine.counting_home import Home, node, until
from tests.pflow.store.homes import read_all_files, write_draft, write_workflow_file
from tests.requirements import requirement
from uraniborg.kernel import clock

without_powers = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a superuser do without its powers")


# A disk that is full.


@requirement("PF-R14")
def test_a_full_disk_during_a_save_is_reported_and_leaves_only_the_draft(home: Path) -> None:
    write_draft(home, "x", GOOD)
    before = read_all_files(home)
    (reply,), _ = run_in_child(home, ("save_to_library", "x", "y", "Greets."), room=0)
    check_refusal(reply, "library_unwritable", "workflows/y.json", "Nothing was changed")
    assert read_all_files(home) == before
    assert list_leftovers(home) == []


@pytest.mark.parametrize("room", [0, 400, 2_000, 200_000])
def test_a_full_disk_during_a_run_is_reported_and_repeats_no_recorded_effect(home: Path, room: int) -> None:
    tally = home.parent / "tally"
    write_draft(
        home,
        "x",
        chain(
            echo("a", "x" * 3_000),
            shell_node("b", f"echo ran >> '{tally}'"),
            echo("c", "${b.exit_code}"),
            shell_node("d", "test -e room"),
        ),
    )
    (reply,), _ = run_in_child(home, ("execute", "x"), room=room)
    assert not reply["success"]
    assert list_leftovers(home) == []
    is_short = any("File too large" in one or "disk" in one for one in reply["warnings"])
    assert is_short is (room < 200_000), reply["warnings"]
    before = count_runs(tally)
    (home.parent / "room").touch()
    again = execute(home)
    assert again["success"], again["error"]
    if reply["checkpoint"]["resumable"]:
        assert "b" in again["reused_nodes"]
    assert count_runs(tally) == before + ("b" not in again["reused_nodes"])


def test_a_full_disk_prevents_the_file_of_a_long_output_and_the_reply_reports_it(home: Path) -> None:
    write_draft(home, "x", {"nodes": [echo("a", "${v}${v}")]})
    (reply,), _ = run_in_child(home, ("execute", "x", {"v": "x" * 200_000}), room=100_000)
    assert reply["success"]
    assert reply["outputs"]["a"]["file"] is None
    assert measure_reply(reply) < SHORT


def test_a_full_disk_leaves_no_half_of_a_long_output(home: Path) -> None:
    write_draft(home, "x", {"nodes": [echo("a", "${v}${v}")]})
    run_in_child(home, ("execute", "x", {"v": "x" * 200_000}), room=100_000)
    assert not [path for path in (home / "spool").rglob("*") if path.is_file()]


# Two at once.

AT_ONCE = """
import json, sys, time
from pathlib import Path
from pflow.config import Settings
from pflow.errors import PflowError
from pflow.service.operations import Service

home, number = Path(sys.argv[1]), sys.argv[2]
service = Service(Settings(home=home), folder=home.parent)
service.browse_components()
(home.parent / f"ready-{number}").touch()
deadline = time.monotonic() + 40
while not (home.parent / "go").exists() and time.monotonic() < deadline:
    pass
try:
    print(json.dumps(service.texts.save_to_library(f"draft-{number}", "same", f"By {number}.")))
except PflowError as exc:
    print(json.dumps(exc.body()))
"""


@requirement("PF-E5")
def test_of_processes_that_save_under_the_same_name_one_wins_and_the_other_drafts_stay(home: Path) -> None:
    numbers = range(3)
    for number in numbers:
        write_draft(home, f"draft-{number}", {"nodes": [echo("a", number)]})
    argv = [[sys.executable, "-c", AT_ONCE, str(home), str(number)] for number in numbers]
    running = [subprocess.Popen(one, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for one in argv]
    try:
        until(lambda: all((home.parent / f"ready-{number}").exists() for number in numbers))
        (home.parent / "go").touch()
        output = [json.loads(one.communicate(timeout=SOON_S)[0]) for one in running]
    finally:
        for one in running:
            one.kill()
            one.communicate()
    (winner,) = (number for number in numbers if "error" not in output[number])
    for number in {*numbers} - {winner}:
        error = output[number]["error"]
        assert (error["code"], error["type"]) == ("already_exists", "already_exists")
        assert error["hint"]
    kept = read_all_files(home)
    drafts = {f"workflows/drafts/draft-{number}.json" for number in {*numbers} - {winner}}
    assert kept.keys() == {"workflows/same.json", *drafts}
    saved = json.loads(kept["workflows/same.json"])
    assert (saved["description"], saved["ir"]["nodes"][0]["params"]) == (f"By {winner}.", {"message": winner})


@requirement("PF-E6")
def test_two_processes_that_run_the_same_draft_are_isolated_and_resume_it_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    ir = chain(node("a", "effect", echo="${who}"), node("b", echo="${a.echo}"), node("c", "effect"))
    ir["outputs"] = {"who": {"source": "${b.echo}"}}
    home.order("wait-b", "fail-c")
    both = [home.process(ir, {"who": who}) for who in ("Tycho", "Sophie")]
    until(lambda: home.runs()["b"] == 2)
    home.clear_orders("wait-b")
    replies = [one.reply() for one in both]
    assert [reply["checkpoint"]["completed_nodes"] for reply in replies] == [["a", "b"]] * 2
    assert len({reply["run_id"] for reply in replies}) == 2
    home.clear_orders()
    home.order("wait-c")
    again = [home.process(ir, {"who": "Tycho"}) for _ in both]
    until(lambda: len(list(home.checkpoints.glob("flow.*.journal"))) == 2 and home.runs()["c"] == 3)
    home.clear_orders()
    assert [one.reply()["outputs"] for one in again] == [{"who": "Tycho"}] * 2
    assert home.runs("done") == {"a": 2, "b": 2, "c": 1}


# What is broken on disk.

BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "half": lambda data: data[: len(data) // 2],
    "noise": lambda data: bytes((byte * 7 + 13) % 256 for byte in data),
    "zeros": lambda data: bytes(len(data)),
    "another": lambda _: b'{"a": 1}',
    "list": lambda _: b"[]",
    "text": lambda _: b"hello" * 1_000,
}


def build_failing_workflow(home: Path) -> dict[str, Any]:
    """Return a workflow that adds a line to `tally`, and fails until the file `well` exists."""
    return chain(
        shell_node("a", f"echo ran >> '{home.parent}/tally'"), shell_node("b", f"test -e '{home.parent}/well'")
    )


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_checkpoint_is_renamed_and_reported_and_every_node_runs(home: Path, how: str) -> None:
    assert execute(home, build_failing_workflow(home))["checkpoint"]["resumable"]
    path = home / "checkpoints" / "x.json"
    path.write_bytes(BROKEN[how](path.read_bytes()))
    (home.parent / "well").touch()
    reply = execute(home)
    assert reply["success"]
    assert any("could not be read and was renamed to" in one for one in reply["warnings"]), reply["warnings"]
    assert reply["reused_nodes"] == []
    assert count_runs(home.parent / "tally") == 2
    assert not path.exists()
    assert path.with_suffix(".damaged").exists()


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_log_of_runs_is_renamed_reported_and_replaced(home: Path, how: str) -> None:
    assert execute(home, GOOD)["warnings"] == []
    log = home / "runs.db"
    log.write_bytes(BROKEN[how](log.read_bytes()))
    reply = execute(home)
    assert reply["success"]
    assert any("log of runs was damaged" in one and "runs.db.damaged-1" in one for one in reply["warnings"])
    assert execute(home)["warnings"] == []
    assert make_service(home).describe_workflow("x")["statistics"]["execution_count"] == 2


def test_a_broken_log_of_runs_is_reported_by_readers_too(home: Path) -> None:
    execute(home, GOOD)
    (home / "runs.db").write_bytes(b"hello" * 1_000)
    assert "damaged" in json.dumps(make_service(home).describe_workflow("x"))


@pytest.mark.parametrize("how", [*BROKEN, "empty"])
def test_a_broken_cache_of_the_registry_is_rebuilt_and_reported(home: Path, how: str) -> None:
    fresh = make_service(home).browse_components("shell")
    cache = home / "cache" / "registry.json"
    whole = cache.read_bytes()
    cache.write_bytes(BROKEN[how](whole) if how in BROKEN else b"")
    rebuilt = make_service(home).browse_components("shell")
    assert any("registry" in one and "rebuilt" in one for one in rebuilt.pop("problems"))
    assert rebuilt == fresh
    assert cache.read_bytes() == whole
    assert "problems" not in make_service(home).browse_components("shell")


def test_a_broken_index_of_the_library_changes_nothing(home: Path) -> None:
    write_draft(home, "x", GOOD)
    make_service(home).texts.save_to_library("x", "kept", "Greets.")
    listed = make_service(home).list_library()
    assert listed
    for broken in BROKEN.values():
        write_workflow_file(home, "cache/library.json", broken(b'{"files": {}}' * 10))
        assert make_service(home).list_library() == listed


# A clock that jumps.


class EarlierClock(datetime):
    """A clock that is ten years behind."""

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return datetime.now(tz) - timedelta(days=3650)


def test_a_clock_that_goes_backwards_loses_neither_checkpoint_nor_order_nor_time(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert execute(home, build_failing_workflow(home))["checkpoint"]["resumable"]
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 3650 * 86_400)
    monkeypatch.setattr(run_reporter, "datetime", EarlierClock)
    monkeypatch.setattr(clock, "datetime", EarlierClock)
    (home.parent / "well").touch()
    reply = execute(home)
    assert reply["success"]
    assert reply["reused_nodes"] == ["a"]
    assert reply["duration_ms"] >= 0
    figures: Any = make_service(home).describe_workflow("x")["statistics"]
    assert figures["last_execution_success"] is True
    assert figures["average_duration_ms"] >= 0
    log = make_service(home).history.open_log()
    last, first = log.list_runs("x")
    log.close()
    assert (last["status"], first["status"]) == ("success", "failed")
    assert last["started_at"] < first["started_at"]
    assert make_service(home).texts.save_to_library("x", "kept", "Greets.")["success"]


def test_a_checkpoint_that_expired_by_the_clock_is_ignored_and_reported(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute(home, build_failing_workflow(home))
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 25 * 3_600)
    reply = execute(home)
    assert reply["reused_nodes"] == []
    assert any("has expired" in one for one in reply["warnings"])


# Homes that are none.


def call_operations(home: Path, *, as_anybody: bool = False) -> dict[str, Any]:
    """Return the replies of all five operations."""
    calls = [
        ("execute", "x"),
        ("describe_workflow", "x"),
        ("list_library",),
        ("browse_components", "echo"),
        ("save_to_library", "x", "y", "Greets."),
    ]
    replies, _ = run_in_child(home, *calls, as_anybody=as_anybody)
    return dict(zip([call[0] for call in calls], replies, strict=True))


def call_operations_with_modes(home: Path, modes: dict[str, int]) -> dict[str, Any]:
    """Return the same while files of the home have these permissions, for a user without other rights."""
    before = {name: (home / name).stat().st_mode for name in modes}
    for name, mode in modes.items():
        (home / name).chmod(mode)
    try:
        return call_operations(home, as_anybody=True)
    finally:
        for name, mode in reversed(before.items()):
            (home / name).chmod(mode)


@without_powers
def test_a_read_only_home_runs_workflows_and_reports_what_cannot_be_stored(home: Path) -> None:
    write_draft(home, "x", GOOD)
    output = call_operations_with_modes(home, {"workflows/drafts": 0o555, "workflows": 0o555, "": 0o555})
    for words in ("cannot be resumed", "not in the log"):
        assert any(words in one for one in output["execute"]["warnings"]), output["execute"]
    assert output["execute"]["success"]
    assert output["describe_workflow"]["statistics"]["execution_count"] == 0
    assert "echo" in [one["type"] for one in output["browse_components"]["nodes"]]
    check_refusal(output["save_to_library"], "library_unwritable", "Permission denied")
    assert read_all_files(home).keys() == {"workflows/drafts/x.json"}


@without_powers
@pytest.mark.parametrize("what", ["workflows", "workflows/drafts/x.json"])
def test_unreadable_workflows_are_reported_as_such(home: Path, what: str) -> None:
    write_draft(home, "x", GOOD)
    output = call_operations_with_modes(home, {what: 0})
    for tool in ("execute", "describe_workflow", "save_to_library"):
        check_refusal(output[tool], "invalid_workflow", "x.json", "Permission denied")
    assert output["list_library"] == []
    assert execute(home)["success"]


@without_powers
def test_an_unreadable_home_is_reported_by_every_operation(home: Path) -> None:
    write_draft(home, "x", GOOD)
    output = call_operations_with_modes(home, {"": 0})
    check_refusal(output["execute"], "invalid_workflow", "Permission denied")
    assert output["list_library"] == []
    assert output["browse_components"]["nodes"]


def test_a_home_that_is_a_file_runs_no_workflow_and_stays_unchanged(home: Path) -> None:
    home.write_text("mine")
    output = call_operations(home)
    for tool in ("execute", "describe_workflow", "save_to_library"):
        assert output[tool]["error"]["hint"]
    assert output["browse_components"]["problems"]
    assert home.read_text() == "mine"


def test_a_home_that_is_a_file_is_reported_as_such(home: Path) -> None:
    home.write_text("mine")
    error = call_operations(home)["execute"]["error"]
    assert "folder" in error["message"] + error["hint"]
