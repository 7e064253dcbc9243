"""The log of runs: killed processes, damaged files and clock changes."""

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pflow.domain.run_events import NodeStatus
from pflow.errors import RunNotFound
from pflow.store import run_log, run_log_file, run_log_rows
from pflow.store.run_log import Ending, RunLog
from pflow.store.run_log_rows import ItemRow, NodeRow
from tests.requirements import requirement
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import register_secret
from uraniborg.kernel.store.sqlite import DatabaseNewer, DatabaseUnusable, connect

NOON = "2024-05-01T12:00:00.000000Z"
LATER = "2024-05-01T12:00:01.000000Z"
NEVER_RAN = {
    "execution_count": 0,
    "success_count": 0,
    "failure_count": 0,
    "last_execution_timestamp": None,
    "last_execution_success": None,
    "last_duration_ms": None,
    "average_duration_ms": None,
    "last_error": None,
    "last_failed_node": None,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "runs.db"


@pytest.fixture
def log(path: Path) -> Iterator[RunLog]:
    opened = RunLog(path)
    yield opened
    opened.close()


def log_run(
    log: RunLog, run_id: str, status: Ending = "success", *, workflow: str = "w", ms: float = 10, **more: Any
) -> None:
    log.record_run_start(run_id, workflow, "library", NOON, {})
    log.record_run_end(run_id, status, LATER, ms, **more)


def make_row(seq: int, status: NodeStatus = "completed", **more: Any) -> NodeRow:
    return NodeRow(seq, f"n{seq}", "echo", status, "default", NOON, 1.5, **more)


def list_ids(log: RunLog, workflow: str | None = None) -> list[str]:
    return [run["id"] for run in log.list_runs(workflow, limit=10_000)]


def list_damaged_files(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir() if "damaged" in file.name)


def test_a_workflow_that_never_ran_has_empty_statistics_and_asking_makes_no_file(log: RunLog, path: Path) -> None:
    assert log.compute_statistics("w") == NEVER_RAN
    assert (log.count_runs(), log.list_runs(), log.find_last_failure("w"), log.delete_old_runs()) == ({}, [], None, 0)
    log.rename_workflow("w", "v")
    assert not path.parent.exists()


@requirement("PF-T7")
def test_statistics_count_runs_successes_and_failures(log: RunLog) -> None:
    log_run(log, "r1", ms=10)
    log_run(log, "r2", "failed", ms=30, failed_node="fetch", error={"type": "execution_error", "message": "no answer"})
    log_run(log, "r3", ms=20)
    log_run(log, "other", workflow="another", ms=500)
    assert log.compute_statistics("w") == {
        "execution_count": 3,
        "success_count": 2,
        "failure_count": 1,
        "last_execution_timestamp": NOON,
        "last_execution_success": True,
        "last_duration_ms": 20,
        "average_duration_ms": 20,
        "last_error": "no answer",
        "last_failed_node": "fetch",
    }
    assert log.count_runs() == {"w": 3, "another": 1}


@pytest.mark.parametrize("status", ["cancelled", "waiting"])
def test_a_run_without_an_outcome_is_an_execution_and_neither_success_nor_failure(log: RunLog, status: Ending) -> None:
    log_run(log, "r1", ms=10)
    log_run(log, "r2", status, ms=9_000)
    report = log.compute_statistics("w")
    assert (report["execution_count"], report["success_count"], report["failure_count"]) == (2, 1, 0)
    assert (report["average_duration_ms"], report["last_duration_ms"], report["last_execution_success"]) == (
        10,
        9_000,
        False,
    )


def test_the_last_execution_is_the_last_that_has_ended(log: RunLog) -> None:
    log.record_run_start("r1", "w", "library", NOON, {})
    assert log.compute_statistics("w") == {**NEVER_RAN, "execution_count": 1}
    log_run(log, "r2", ms=7)
    log.record_run_start("r3", "w", "library", LATER, {})
    assert log.compute_statistics("w")["last_duration_ms"] == 7


def test_a_run_is_remembered_with_its_nodes_in_order(log: RunLog) -> None:
    actor = Actor(kind="agent", name="claude-code 2.0", authenticated="account")
    log.record_run_start("r1", "w", "draft", NOON, {"who": "world"}, resumed_from="r0", door="mcp", actor=actor)
    log.record_nodes("r1", [make_row(2, "failed", error={"message": "no"}), make_row(1, note="from memory")])
    log.record_nodes("r1", [make_row(3, "skipped")])
    log.record_run_end(
        "r1", "failed", LATER, 12.25, "n2", {"message": "no"}, reused=1, outputs={"a": [1, None]}, warnings=["Slow."]
    )
    run = log.get_run("r1")
    nodes: Any = run.pop("nodes")
    assert run == {
        "id": "r1",
        "workflow": "w",
        "source": "draft",
        "status": "failed",
        "started_at": NOON,
        "ended_at": LATER,
        "duration_ms": 12.25,
        "failed_node": "n2",
        "error": {"message": "no"},
        "reused": 1,
        "resumed_from": "r0",
        "inputs": {"who": "world"},
        "outputs": {"a": [1, None]},
        "warnings": ["Slow."],
        "starter": {"door": "mcp", "name": "claude-code 2.0"},
        "actor": actor.model_dump(),
    }
    assert [(one["seq"], one["node"], one["status"], one["error"], one["note"]) for one in nodes] == [
        (1, "n1", "completed", None, "from memory"),
        (2, "n2", "failed", {"message": "no"}, None),
        (3, "n3", "skipped", None, None),
    ]
    assert log.find_last_failure("w") == run
    json.dumps(log.get_run("r1"))


def test_the_run_that_resumed_a_failed_run_is_found_however_many_runs_followed(log: RunLog) -> None:
    log_run(log, "failed", "failed")
    log_run(log, "done", "success")
    for number, earlier in enumerate(["failed", *[None] * 50, "done"]):
        log.record_run_start(f"later-{number}", "w", "library", NOON, {}, resumed_from=earlier)
    assert log.find_later_run("failed") == "later-0"
    assert [log.find_later_run(one) for one in ("done", "later-1", "unknown")] == [None, None, None]


def test_the_last_to_begin_comes_first_though_the_clock_went_back(log: RunLog) -> None:
    for run_id, started_at in (("r1", LATER), ("r2", NOON), ("r3", "1999-12-31T23:59:59.000000Z")):
        log.record_run_start(run_id, "w", "library", started_at, {})
    log.record_run_start("r4", "v", "library", NOON, {})
    assert list_ids(log) == ["r4", "r3", "r2", "r1"]
    assert list_ids(log, "w") == ["r3", "r2", "r1"]
    assert [run["id"] for run in log.list_runs("w", limit=2)] == ["r3", "r2"]
    assert log.list_runs(limit=0) == log.list_runs(limit=-1) == []


def test_the_beginning_of_an_id_is_enough_where_only_one_run_has_it(log: RunLog) -> None:
    for run_id in ("abc1", "abc2", "abc", "xyz"):
        log_run(log, run_id)
    assert log.get_run("x")["id"] == "xyz"
    assert log.get_run("abc")["id"] == "abc"
    with pytest.raises(RunNotFound, match="Several runs begin with 'ab'") as caught:
        log.get_run("ab")
    assert caught.value.ids["available"] == ["abc1", "abc2", "abc"]
    assert "more" in caught.value.hint


@pytest.mark.parametrize("unknown", ["q", "", "%", "ABC", "abc12", "a\x1b[31m", "q" * 10_000])
def test_a_missing_run_is_an_error_with_a_hint(log: RunLog, unknown: str) -> None:
    log_run(log, "abc1")
    with pytest.raises(RunNotFound, match="There is no run") as caught:
        log.get_run(unknown)
    assert "pflow history" in caught.value.hint
    assert caught.value.body()["error"]["code"] == "run_not_found"
    assert "\x1b" not in caught.value.message
    assert len(caught.value.message) < 300


def test_a_run_that_was_not_started_cannot_be_continued(log: RunLog) -> None:
    log_run(log, "r1")
    with pytest.raises(RunNotFound):
        log.record_nodes("r2", [make_row(1)])
    with pytest.raises(RunNotFound):
        log.record_run_end("r2", "success", LATER, 1)
    with pytest.raises(UraniborgError):
        log.record_run_start("r1", "w", "library", NOON, {})
    assert log.count_runs() == {"w": 1}


def test_a_run_ends_once(log: RunLog) -> None:
    log_run(log, "r1", ms=10)
    log.record_run_end("r1", "failed", LATER, 99)
    assert log.get_run("r1")["status"] == "success"
    assert log.compute_statistics("w")["failure_count"] == 0


BEGUN_AND_KILLED = """
import os, signal, sys
from pathlib import Path
from pflow.store.run_log import RunLog
from pflow.store.run_log_rows import NodeRow

log = RunLog(Path(sys.argv[1]))
log.record_run_start("killed", "w", "library", "2024-05-01T12:00:00.000000Z", {})
log.record_nodes("killed", [NodeRow(1, "first", "echo", "completed")])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_run_whose_process_was_killed_is_interrupted_and_its_nodes_stay(log: RunLog, path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", BEGUN_AND_KILLED, str(path)], check=False, timeout=30)
    assert done.returncode == -signal.SIGKILL
    run: Any = log.get_run("killed")
    assert (run["status"], [one["node"] for one in run["nodes"]]) == ("interrupted", ["first"])
    assert run["error"]["message"] == "The run was interrupted: its process has ended."
    report = log.compute_statistics("w")
    assert (report["execution_count"], report["failure_count"], report["last_execution_success"]) == (1, 0, False)
    assert (report["last_execution_timestamp"], report["last_duration_ms"]) == (NOON, None)


def test_a_run_of_this_process_is_running(log: RunLog) -> None:
    log.record_run_start("r1", "w", "library", NOON, {})
    assert log.get_run("r1")["status"] == log.list_runs()[0]["status"] == "running"


def test_a_later_process_with_the_same_id_is_not_mistaken_for_the_one_that_ran(log: RunLog) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("this system does not tell when a process began")
    log.record_run_start("r1", "w", "library", NOON, {})
    with log.file.open_or_reuse_connection() as connection:
        connection.execute("UPDATE runs SET birth = birth - 1")
    assert log.get_run("r1")["status"] == "interrupted"


def test_without_a_word_on_when_processes_began_their_numbers_decide(
    log: RunLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_pid: int) -> str:
        return ""

    monkeypatch.setattr(run_log, "read_process_start_time", unknown)
    monkeypatch.setattr(run_log_rows, "read_process_start_time", unknown)
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait(timeout=30)
    log.record_run_start("r1", "w", "library", NOON, {})
    log.record_run_start("r2", "w", "library", NOON, {}, pid=gone.pid)
    log.record_run_start("r3", "w", "library", NOON, {}, pid=2**62)
    assert [run["status"] for run in log.list_runs()] == ["running", "interrupted", "running"]


def test_statistics_and_runs_move_to_the_new_name_and_are_added_to_existing_ones(log: RunLog) -> None:
    log_run(log, "r1", ms=10, workflow="draft")
    log_run(log, "r2", "failed", ms=20, workflow="draft", error={"message": "no"})
    log_run(log, "r3", ms=60, workflow="final")
    log.record_run_start("r4", "draft", "draft", NOON, {})
    log.rename_workflow("draft", "final")
    log.rename_workflow("final", "final")
    log.record_run_end("r4", "success", LATER, 30)
    report = log.compute_statistics("final")
    assert (report["execution_count"], report["success_count"], report["failure_count"]) == (4, 3, 1)
    assert (report["average_duration_ms"], report["last_duration_ms"], report["last_error"]) == (30, 30, "no")
    assert list_ids(log, "final") == ["r4", "r3", "r2", "r1"]
    assert log.compute_statistics("draft") == NEVER_RAN
    assert log.count_runs() == {"final": 4}


def test_pruning_deletes_old_runs_but_no_statistics(log: RunLog) -> None:
    log_run(log, "failed", "failed", error={"message": "no"})
    log.record_run_start("running", "w", "library", NOON, {})
    for number in range(250):
        log_run(log, f"r{number}")
    log.record_nodes("r0", [make_row(1)])
    log_run(log, "kept", workflow="v")
    before = log.compute_statistics("w")
    assert log.delete_old_runs(keep=3) == 247
    assert list_ids(log, "w") == ["r249", "r248", "r247", "running", "failed"]
    assert list_ids(log, "v") == ["kept"]
    assert log.compute_statistics("w") == before
    with log.file.open_or_reuse_connection() as connection:
        assert connection.execute("SELECT count(*) FROM nodes").fetchone() == (0,)
    assert log.delete_old_runs(keep=3) == 0


def test_the_log_is_bounded(log: RunLog) -> None:
    for number in range(1_100):
        log_run(log, f"r{number}")
    assert len(list_ids(log)) == 1_000
    assert log.count_runs() == {"w": 1_100}


RUN_MANY = """
import sys
from pathlib import Path
from pflow.store.run_log import RunLog
from pflow.store.run_log_rows import NodeRow

for number in range(25):
    log = RunLog(Path(sys.argv[1]))
    run_id = f"{sys.argv[2]}-{number}"
    log.record_run_start(run_id, "w", "library", "2024-05-01T12:00:00.000000Z", {})
    log.record_nodes(run_id, [NodeRow(seq, f"n{seq}", "echo", "completed") for seq in range(20)])
    log.record_run_end(run_id, "success" if number % 5 else "failed", "2024-05-01T12:00:01.000000Z", 10)
    log.close()
"""


@requirement("PF-E6")
def test_processes_that_begin_at_once_lose_nothing(log: RunLog, path: Path) -> None:
    processes = [subprocess.Popen([sys.executable, "-c", RUN_MANY, str(path), str(one)]) for one in range(4)]
    assert [process.wait(timeout=50) for process in processes] == [0, 0, 0, 0]
    report = log.compute_statistics("w")
    assert (report["execution_count"], report["success_count"], report["failure_count"]) == (100, 80, 20)
    assert len({len(log.get_run(run_id)["nodes"]) for run_id in list_ids(log)} | {20}) == 1
    assert log.notice is None


@pytest.mark.parametrize("shared", [True, False])
def test_threads_share_a_log_or_have_their_own_and_lose_nothing(log: RunLog, path: Path, shared: bool) -> None:
    failures: list[BaseException] = []

    def work(one: int) -> None:
        mine = log if shared else RunLog(path)
        try:
            for number in range(10):
                run_id = f"{one}-{number}"
                mine.record_run_start(run_id, "w", "library", NOON, {})
                mine.record_nodes(run_id, [make_row(seq) for seq in range(5)])
                mine.record_run_end(run_id, "success", LATER, 1)
        except BaseException as exc:
            failures.append(exc)
        finally:
            mine.close()

    threads = [threading.Thread(target=work, args=(one,)) for one in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=50)
    assert failures == []
    assert log.compute_statistics("w")["success_count"] == 80


def test_only_the_owner_may_read_the_log(path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(RunLog(path)) as log:
            log.record_run_start("r1", "w", "library", NOON, {})
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == {"runs.db": 0o600, "runs.db-wal": 0o600, "runs.db-shm": 0o600}


@requirement("PF-N4")
def test_an_unmasked_secret_does_not_reach_the_file(log: RunLog, path: Path) -> None:
    register_secret("zanzibar-4711")
    log.record_run_start("r1", "w", "library", NOON, {"api_key": "by-its-name", "text": "see zanzibar-4711"})
    report = {"message": "https://x/?token=in-a-url", "outputs": {"password": "by-its-name"}}
    log.record_nodes("r1", [make_row(1, "failed", error=report, note="zanzibar-4711")._replace(action="zanzibar-4711")])
    log.record_run_end("r1", "failed", LATER, 1, "n1", report, outputs={"a": ["zanzibar-4711"]})
    written = b"".join(file.read_bytes() for file in path.parent.iterdir())
    for secret in (b"zanzibar", b"by-its-name", b"in-a-url"):
        assert secret not in written
    assert b"***" in written


@pytest.mark.parametrize(
    ("given_value", "kept"),
    [
        ({"path": "a\udce9"}, {"path": "a\ufffd"}),
        ({"n": float("nan")}, {"n": None}),
        ({"big": 10**30}, {"big": 10**30}),
        ({"path": Path("a/b")}, {"path": "a/b"}),
        ({1: {2: "x"}}, {"1": {"2": "x"}}),
        ({"nul": "\x00"}, {"nul": "\x00"}),
    ],
)
def test_unusual_values_are_stored_as_json(log: RunLog, given_value: Any, kept: Any) -> None:
    log.record_run_start("r1", "w", "library", NOON, given_value)
    log.record_nodes("r1", [NodeRow(1, "n", "t", "failed", "a", error=given_value, note="x")])
    log.record_run_end("r1", "failed", LATER, 1, "n", given_value, outputs=given_value)
    run = log.get_run("r1")
    assert run["inputs"] == run["outputs"] == run["error"] == run["nodes"][0]["error"] == kept
    assert log.compute_statistics("w")["execution_count"] == 1


def test_of_huge_values_the_beginning_is_stored(log: RunLog) -> None:
    deep: Any = "x"
    for _ in range(10_000):
        deep = [deep]
    log.record_run_start("r1", "w", "library", NOON, {"text": "a" * 1_000_000, "deep": deep})
    kept: Any = log.get_run("r1")["inputs"]
    assert kept["characters"] > 1_000_000
    assert kept["beginning"].startswith('{"text": "aaaa')
    assert len(json.dumps(kept)) < 2_000


def write_garbage(path: Path) -> None:
    path.write_bytes(b"no database " * 1_000)


def truncate_file(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def break_page(path: Path, table: str = "runs") -> None:
    """Damage the first page of a table, which is detected only when the table is read."""
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def write_other_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (title TEXT)")


def drop_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE tallies")


HARMS: list[Callable[[Path], None]] = [write_garbage, truncate_file, break_page, write_other_database, drop_table]


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_log_is_renamed_replaced_and_reported(path: Path, harm: Callable[[Path], None]) -> None:
    with closing(RunLog(path)) as log:
        for number in range(200):
            log_run(log, f"r{number}")
    harm(path)
    damaged = path.read_bytes()
    with closing(RunLog(path)) as log:
        log_run(log, "new")
        assert list_ids(log) == ["new"]
        assert log.notice is not None
        assert "runs.db.damaged-1" in log.notice
    aside = path.with_name("runs.db.damaged-1").read_bytes()
    assert aside == damaged or (harm is write_other_database and b"title TEXT" in aside)
    with closing(RunLog(path)) as log:
        assert log.count_runs() == {"w": 1}
        assert log.notice is None
    write_garbage(path)
    with closing(RunLog(path)) as log:
        assert log.count_runs() == {}
        assert log.notice is not None
        assert "runs.db.damaged-2" in log.notice


def test_damage_during_a_run_also_renames_the_other_files_of_sqlite(path: Path) -> None:
    with closing(RunLog(path)) as log, closing(RunLog(path)) as other:
        log_run(log, "r1")
        with log.file.open_or_reuse_connection() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        break_page(path, "nodes")
        other.record_run_start("r2", "w", "library", NOON, {})
        log.record_run_start("r3", "w", "library", NOON, {})
        with pytest.raises(RunNotFound):
            log.record_nodes("r3", [make_row(1)])
        assert log.notice is not None
        assert list_damaged_files(path) == ["runs.db.damaged-1", "runs.db.damaged-1-shm", "runs.db.damaged-1-wal"]
        log_run(log, "r4")
        other.record_run_end("r2", "success", LATER, 1)
        assert list_ids(log) == ["r4"]


def test_damage_that_another_process_has_dealt_with_is_not_dealt_with_again(path: Path) -> None:
    with closing(RunLog(path)) as late, closing(RunLog(path)) as early:
        log_run(late, "r1")
        late.close()
        write_garbage(path)
        log_run(early, "r2")
        error = DatabaseUnusable("It is malformed.")
        error.__cause__ = sqlite3.OperationalError("no such table: runs")
        assert late.file.rename_file_if_damaged(error)
        assert late.notice is None
        assert list_ids(late) == ["r2"]
    assert list_damaged_files(path) == ["runs.db.damaged-1"]


def test_a_damaged_log_that_cannot_be_moved_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_path: Path, _to: Path) -> Path:
        raise PermissionError(13, "no")

    path.parent.mkdir()
    write_garbage(path)
    monkeypatch.setattr(Path, "rename", refused)
    with closing(RunLog(path)) as log, pytest.raises(DatabaseUnusable):
        log.record_run_start("r1", "w", "library", NOON, {})


def test_a_log_of_a_newer_version_stays_unchanged(path: Path) -> None:
    with closing(RunLog(path)) as log:
        log_run(log, "r1")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO migrations VALUES ('from the future')")
        connection.commit()
    with closing(RunLog(path)) as log, pytest.raises(DatabaseNewer):
        log.record_run_start("r2", "w", "library", NOON, {})
    assert list_damaged_files(path) == []


def test_a_run_continues_after_a_newer_version_has_added_columns_and_tables(log: RunLog, path: Path) -> None:
    log.record_run_start("one", "flow", "draft", NOON, {"x": 1})
    with closing(sqlite3.connect(path)) as newer, newer:
        for table in ("runs", "nodes", "tallies", "graphs", "items"):
            newer.execute(f"ALTER TABLE {table} ADD COLUMN later TEXT")
        newer.execute("INSERT INTO migrations VALUES ('from the future')")
    log.record_nodes("one", [NodeRow(1, "a", "echo", "completed")], [ItemRow("a", 0, "completed", 1.0)])
    log.record_run_end("one", "success", LATER, 5)
    run = log.get_run("one")
    assert (run["status"], [one["node"] for one in run["nodes"]]) == ("success", ["a"])
    assert log.list_items("one", "a")["counts"] == {"completed": 1}
    assert log.compute_statistics("flow")["success_count"] == 1
    assert log.notice is None


def test_a_log_that_a_newer_version_changed_is_not_taken_for_a_damaged_one(log: RunLog, path: Path) -> None:
    log.record_run_start("one", "flow", "draft", NOON, {})
    with closing(sqlite3.connect(path)) as newer, newer:
        newer.execute("ALTER TABLE nodes RENAME COLUMN note TO remark")
        newer.execute("INSERT INTO migrations VALUES ('from the future')")
    with pytest.raises(DatabaseUnusable):
        log.record_nodes("one", [NodeRow(1, "a", "echo", "completed")])
    assert list_damaged_files(path) == []


def test_a_log_that_cannot_be_made_is_an_error_of_the_family(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with closing(RunLog(tmp_path / "home" / "runs.db")) as log, pytest.raises(DatabaseUnusable):
        log.record_run_start("r1", "w", "library", NOON, {})


def test_a_log_on_a_read_only_disk_can_be_read_and_refuses_to_be_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(RunLog(path)) as log:
        log_run(log, "r1")

    def not_writable(_path: object, _mode: int) -> bool:
        return False

    monkeypatch.setattr(os, "access", not_writable)
    with closing(RunLog(path)) as log:
        assert list_ids(log) == ["r1"]
        assert log.compute_statistics("w")["success_count"] == 1
        with pytest.raises(DatabaseUnusable, match="readonly"):
            log.record_run_start("r2", "w", "library", NOON, {})
        assert list_ids(log) == ["r1"]
    assert list_damaged_files(path) == []


def test_a_full_disk_leaves_no_partial_write_and_earlier_rows_stay(log: RunLog) -> None:
    log.record_run_start("r1", "w", "library", NOON, {})
    with log.file.open_or_reuse_connection() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(DatabaseUnusable, match="full"):
        log.record_nodes("r1", [make_row(seq, note="x" * 1_000) for seq in range(100)])
    assert (log.get_run("r1")["nodes"], log.notice) == ([], None)
    log.record_nodes("r1", [make_row(1)])
    assert len(log.get_run("r1")["nodes"]) == 1


def test_a_log_locked_by_another_process_is_waited_for_up_to_a_limit(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_log_file, "connect", partial(connect, busy_timeout_s=0.01))
    with closing(RunLog(path)) as log, closing(connect(path)) as other:
        log_run(log, "r1")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseUnusable, match="locked"):
            log.record_run_start("r2", "w", "library", NOON, {})
        assert list_ids(log) == ["r1"]
        other.execute("ROLLBACK")
        log_run(log, "r2")
        assert list_ids(log) == ["r2", "r1"]
    assert list_damaged_files(path) == []


@settings(max_examples=40)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("run"), st.sampled_from("abc"), st.sampled_from(get_args(Ending)), st.integers(0, 500)),
            st.tuples(st.just("rename"), st.sampled_from("abc"), st.sampled_from("abc"), st.just(0)),
            st.tuples(st.just("prune"), st.just("a"), st.just("a"), st.integers(0, 4)),
        ),
        max_size=25,
    )
)
def test_statistics_are_those_of_all_runs_through_renaming_and_pruning(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, Any, int]]
) -> None:
    remembered: list[list[Any]] = []
    with closing(RunLog(tmp_path_factory.mktemp("log") / "runs.db")) as log:
        for number, (kind, name, other, amount) in enumerate(steps):
            if kind == "run":
                log_run(log, f"r{number}", other, workflow=name, ms=amount)
                remembered.append([name, other, amount])
            elif kind == "rename":
                log.rename_workflow(name, other)
                remembered = [[other if run[0] == name else run[0], *run[1:]] for run in remembered]
            else:
                log.delete_old_runs(keep=amount)
        for name in "abc":
            outcomes = [run[2] for run in remembered if run[0] == name and run[1] in ("success", "failed")]
            report = log.compute_statistics(name)
            assert report["execution_count"] == sum(run[0] == name for run in remembered)
            assert report["success_count"] == sum(run[:2] == [name, "success"] for run in remembered)
            assert report["failure_count"] == sum(run[:2] == [name, "failed"] for run in remembered)
            assert report["average_duration_ms"] == (round(sum(outcomes) / len(outcomes), 3) if outcomes else None)


def test_the_log_loads_nothing_heavy() -> None:
    heavy = "{'pydantic', 'rich', 'typer', 'httpx', 'mcp', 'platformdirs', 'filelock', 'structlog'}"
    code = f"import sys, pflow.store.run_log; sys.exit(', '.join({heavy} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")


def test_only_a_run_that_is_logged_as_a_success_has_succeeded(log: RunLog, path: Path) -> None:
    assert not log.has_succeeded("run_0")
    for number, status in enumerate(get_args(Ending)):
        log_run(log, f"run_{number}", status)
    log.record_run_start("run_9", "w", "draft", NOON, {})
    assert [log.has_succeeded(f"run_{number}") for number in range(10)] == [
        number < len(get_args(Ending)) and get_args(Ending)[number] == "success" for number in range(10)
    ]
    assert not log.has_succeeded("run")


def test_a_log_that_cannot_be_read_calls_no_run_a_success(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is not a database" * 100)
    with closing(RunLog(path)) as log:
        assert not log.has_succeeded("run_0")


def test_how_a_run_ended_is_on_disk_when_it_is_logged(log: RunLog, monkeypatch: pytest.MonkeyPatch) -> None:
    levels: list[int] = []
    transaction = run_log.transaction

    def noted(connection: sqlite3.Connection) -> Any:
        levels.append(connection.execute("PRAGMA synchronous").fetchone()[0])
        return transaction(connection)

    monkeypatch.setattr(run_log, "transaction", noted)
    log_run(log, "run_0")
    full = 2
    assert levels[-1] == full
