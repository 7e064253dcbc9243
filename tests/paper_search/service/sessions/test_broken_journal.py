"""Damaged, locked, read-only and newer files, and a full disk: errors are clear, and sessions continue later."""

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.paper_search.service.sessions.fast_server import LOCK_TIMEOUT, WITHOUT_ROOT
from tests.paper_search.service.sessions.processes import (
    COMMAND,
    TIMEOUT_S,
    Answer,
    Server,
    eventually,
    get_inbox_path,
    get_journal_path,
    get_sessions_folder,
    read_decisions,
    read_steps,
    serving,
)

REVIEW = "result_review"
UNUSABLE = ("database_unusable", "session_interrupted", "database_newer", "session_not_found", "session_not_opened")
"""The error codes for storage problems: neither bad input nor an internal error."""

Damage = Callable[[Path], None]


def truncate_to(part: Callable[[int], int]) -> Damage:
    def truncate(path: Path) -> None:
        os.truncate(path, part(path.stat().st_size))

    return truncate


def overwrite_from(start: int) -> Damage:
    def overwrite(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(start)
            file.write(b"\xa5garbage" * ((path.stat().st_size - start) // 8))

    return overwrite


def replace_by_image(path: Path) -> None:
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(5_000))


def drop_tables(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            connection.execute(f"DROP TABLE {table}")


def set_newer_version(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO migrations VALUES ('of the year 2040')")


DAMAGES: dict[str, Damage] = {
    "half of it is gone": truncate_to(lambda size: size // 2),
    "all of it is gone": truncate_to(lambda _: 0),
    "100 bytes are left": truncate_to(lambda _: 100),
    "it is garbage": overwrite_from(0),
    "all but its first page is garbage": overwrite_from(4096),
    "it is a picture": replace_by_image,
    "its tables are gone": drop_tables,
    "it is of a newer version": set_newer_version,
}
STEPS = ("session", "checkpoint-0", "intent")
NONSENSE = ("", "{}", "null", "[1]", '{"half": ', '"\\ud800"')
BEYOND_DETECTION = ("all of it is gone", "its tables are gone")
"""Damages that leave an empty inbox, which is filled again from the journals."""


def open_sessions(home: Path, count: int) -> list[dict[str, Any]]:
    """Open sessions that wait at their first checkpoint, and stop the server."""
    with serving(home) as server:
        states = [server.search() for _ in range(count)]
        assert server.close() == 0
    return states


class SessionPool:
    """A server with many waiting sessions that are not loaded; each test takes another one."""

    def __init__(self, server: Server, waiting: list[dict[str, Any]], complete: dict[str, str]) -> None:
        self.server = server
        self.home = server.home
        self.waiting = waiting
        self.complete = complete
        """The papers of complete sessions by session id."""
        self._well = waiting.pop()

    def take_waiting(self) -> tuple[str, dict[str, Any], Path]:
        """Return the id, the state and the journal of an unused session."""
        state = self.waiting.pop()
        return state["session_id"], state, get_journal_path(self.home, state["session_id"])

    def take_complete(self) -> tuple[str, str, Path]:
        session_id, papers = self.complete.popitem()
        return session_id, papers, get_journal_path(self.home, session_id)

    def check_others(self) -> None:
        """Check that another session is unchanged, a new one can be opened, and the log has no failure."""
        state = self.server.state(self._well["session_id"])
        assert state["checkpoint"] == self._well["checkpoint"]
        assert self.server.search("moons")["has_pending_checkpoint"]
        self.server.check_log()


@pytest.fixture(scope="module")
def session_pool(tmp_path_factory: pytest.TempPathFactory) -> Generator[SessionPool]:
    home = tmp_path_factory.mktemp("pool")
    waiting = open_sessions(home, 1 + len(DAMAGES) + len(NONSENSE) * len(STEPS))
    with serving(home) as server:
        complete: dict[str, str] = {}
        for _ in DAMAGES:
            session_id = server.search()["session_id"]
            complete[session_id] = finish(server, session_id)
        assert server.close() == 0
    with serving(home) as server:
        yield SessionPool(server, waiting, complete)


@pytest.fixture(scope="module")
def two_waiting(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    home = tmp_path_factory.mktemp("template")
    return home, open_sessions(home, 2)


@pytest.fixture
def stopped_sessions(home: Path, two_waiting: tuple[Path, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Two sessions in `home` that wait at their first checkpoint, with no server running."""
    shutil.copytree(two_waiting[0], home)
    return two_waiting[1]


def approve(server: Server, session_id: str, iteration: int) -> Answer:
    """Approve the checkpoint with this number; the call may be repeated."""
    kind = REVIEW if iteration else "strategy_confirmation"
    checkpoint_id = f"{session_id}:{iteration}:{kind}"
    return server.call("decide", session_id=session_id, action="approve", checkpoint_id=checkpoint_id)


def finish(server: Server, session_id: str) -> str:
    """Approve all remaining checkpoints and return the exported papers."""
    while not server.state_once(session_id, lambda state: state["has_pending_checkpoint"] or state["is_complete"])[
        "is_complete"
    ]:
        assert not server.call("decide", session_id=session_id, action="approve").is_error
    return server.call("export_results", session_id=session_id, format="json").text


def collect_replies(server: Server, session_id: str) -> Generator[Answer]:
    """Yield the answer of every tool that takes a session."""
    yield server.call("get_session", session_id=session_id)
    yield server.call("decide", session_id=session_id, action="approve")
    yield approve(server, session_id, 0)
    yield server.call("export_results", session_id=session_id)
    yield server.ask("resources/read", {"uri": f"paper-search://sessions/{session_id}/papers"})()


class FileCopy:
    """A copy of a database with its journal files."""

    def __init__(self, path: Path, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._path = path
        for file in path.parent.glob(f"{path.name}*"):
            shutil.copy(file, folder)

    def restore(self) -> None:
        for file in self._path.parent.glob(f"{self._path.name}*"):
            file.unlink()
        for file in self._folder.iterdir():
            shutil.copy(file, self._path.parent)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_journal_is_reported_and_affects_no_other_session(
    session_pool: SessionPool, tmp_path: Path, damage: Damage
) -> None:
    session_id, waiting, journal = session_pool.take_waiting()
    copy = FileCopy(journal, tmp_path / "copy")
    damage(journal)
    for answer in collect_replies(session_pool.server, session_id):
        answer.check_error(UNUSABLE, session_id).check_no_leaks(session_pool.home)
    session_pool.check_others()

    copy.restore()
    again = session_pool.server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
    assert again["checkpoint"] == waiting["checkpoint"]
    finish(session_pool.server, session_id)
    assert read_decisions(journal) == ["approve", "approve"]


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_no_decision_is_lost_to_a_journal_that_is_damaged_while_the_session_waits(
    session_pool: SessionPool, tmp_path: Path, damage: Damage
) -> None:
    session_id = session_pool.server.search()["session_id"]
    journal = get_journal_path(session_pool.home, session_id)
    copy = FileCopy(journal, tmp_path / "copy")
    damage(journal)
    approve(session_pool.server, session_id, 0).check_error(UNUSABLE, session_id).check_no_leaks(session_pool.home)
    session_pool.check_others()

    copy.restore()
    state = session_pool.server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
    assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
    again = approve(session_pool.server, session_id, 0).state
    assert again["already_decided"]["action"] == "approve"
    assert again["iteration"] == 1
    finish(session_pool.server, session_id)
    assert read_decisions(journal) == ["approve", "approve"]


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_the_papers_of_a_complete_session_can_be_read_after_its_journal_is_restored(
    session_pool: SessionPool, tmp_path: Path, damage: Damage
) -> None:
    session_id, papers, journal = session_pool.take_complete()
    copy = FileCopy(journal, tmp_path / "copy")
    damage(journal)
    answer = session_pool.server.call("export_results", session_id=session_id, format="json")
    answer.check_error(UNUSABLE, session_id).check_no_leaks(session_pool.home)
    session_pool.check_others()
    copy.restore()
    assert session_pool.server.call("export_results", session_id=session_id, format="json").text == papers


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("value", NONSENSE)
def test_a_journal_with_invalid_content_is_reported(session_pool: SessionPool, step: str, value: str) -> None:
    session_id, _, journal = session_pool.take_waiting()
    with closing(sqlite3.connect(journal, isolation_level=None)) as connection:
        connection.execute("UPDATE steps SET value = ? WHERE step = ?", (value, step))
    for answer in (
        session_pool.server.call("get_session", session_id=session_id),
        approve(session_pool.server, session_id, 0),
    ):
        answer.check_error(UNUSABLE, session_id).check_no_leaks(session_pool.home)
    session_pool.check_others()


FATAL_TO_AN_INBOX = {name: damage for name, damage in DAMAGES.items() if name not in BEYOND_DETECTION}


@pytest.mark.parametrize("damage", FATAL_TO_AN_INBOX.values(), ids=FATAL_TO_AN_INBOX.keys())
def test_a_damaged_inbox_is_reported_and_sessions_continue_once_it_is_restored(
    home: Path, stopped_sessions: list[dict[str, Any]], tmp_path: Path, damage: Damage
) -> None:
    waiting, other = stopped_sessions
    session_id = waiting["session_id"]
    copy = FileCopy(get_inbox_path(home), tmp_path / "copy")
    damage(get_inbox_path(home))
    with serving(home) as server:
        answer = server.call("get_session", session_id=session_id)
        answer.check_error(UNUSABLE, "inbox.db").check_no_leaks(home)
        approve(server, session_id, 0).check_error(UNUSABLE, "inbox.db").check_no_leaks(home)
        server.call("search_papers", query="moons").check_error(UNUSABLE, "inbox.db").check_no_leaks(home)
        server.check_log()
        copy.restore()
        state = server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
        assert state["checkpoint"] == waiting["checkpoint"]
        finish(server, session_id)
        finish(server, other["session_id"])


@pytest.mark.parametrize("name", ["it is garbage", "it is of a newer version"])
def test_sessions_continue_after_a_damaged_inbox_is_deleted(
    home: Path, stopped_sessions: list[dict[str, Any]], name: str
) -> None:
    waiting, other = stopped_sessions
    session_id = waiting["session_id"]
    DAMAGES[name](get_inbox_path(home))
    with serving(home) as server:
        server.call("get_session", session_id=session_id).check_error(UNUSABLE)
        for file in get_inbox_path(home).parent.glob("inbox.db*"):
            file.unlink()
        state = server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
        assert state["checkpoint"] == waiting["checkpoint"]
        finish(server, session_id)
        finish(server, other["session_id"])


@pytest.mark.parametrize("name", BEYOND_DETECTION)
def test_an_empty_inbox_is_filled_again_from_the_journals(
    home: Path, stopped_sessions: list[dict[str, Any]], name: str
) -> None:
    waiting, other = stopped_sessions
    DAMAGES[name](get_inbox_path(home))
    with serving(home) as server:
        session_id = waiting["session_id"]
        state = server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
        assert state["checkpoint"] == waiting["checkpoint"]
        finish(server, session_id)
        decided = approve(server, other["session_id"], 0).state
        assert (decided["checkpoint_kind"], decided["iteration"]) == (REVIEW, 1)
        finish(server, other["session_id"])


def overwrite_files(files: dict[Path, bytes]) -> None:
    """Overwrite the files in place, also while a process has them open."""
    for file, content in files.items():
        with file.open("r+b") as stream:
            stream.write(b"\xa5" * len(content))


def read_inbox_files(home: Path) -> dict[Path, bytes]:
    """Return the content of the files of the inbox."""
    return {file: file.read_bytes() for file in sorted(get_inbox_path(home).parent.glob("inbox.db*"))}


def test_a_server_receives_decisions_again_after_the_inbox_could_not_be_read(home: Path) -> None:
    with serving(home) as server:
        session_id = server.search()["session_id"]
        files = read_inbox_files(home)
        overwrite_files(files)
        server.call("decide", session_id=session_id, action="approve").check_error(UNUSABLE)
        assert server.state(session_id)["has_pending_checkpoint"]
        eventually(lambda: "paper_search.service.sessions.background_tasks" in server.log)
        for file, content in files.items():
            file.write_bytes(content)
        with serving(home) as other_server:
            assert approve(other_server, session_id, 0).state["iteration"] == 1
        state = server.state_once(session_id, lambda state: state["iteration"] == 1)
        assert state["checkpoint_kind"] == REVIEW
        finish(server, session_id)
        assert read_decisions(get_journal_path(home, session_id)) == ["approve", "approve"]


@pytest.mark.parametrize("put_back", [True, False], ids=["put back", "thrown away"])
def test_a_running_server_uses_the_file_that_replaces_a_damaged_inbox(home: Path, put_back: bool) -> None:
    with serving(home) as server:
        session_id = server.search()["session_id"]
        files = read_inbox_files(home)
        overwrite_files(files)
        approve(server, session_id, 0).check_error(UNUSABLE).check_no_leaks(home)
        for file, content in files.items():
            file.unlink(missing_ok=True)
            if put_back:
                file.write_bytes(content)
        state = approve(server, session_id, 0).state
        assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
        finish(server, session_id)
        assert read_decisions(get_journal_path(home, session_id)) == ["approve", "approve"]


IMPATIENT = {LOCK_TIMEOUT: "0.5"}
"""A short lock timeout, for servers that meet a locked file."""
HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
if sys.argv[2] == "readers too":
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
connection.execute("BEGIN EXCLUSIVE")
connection.execute("CREATE TABLE held (something)")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
connection.close()
"""


@contextmanager
def lock_in_another_process(path: Path, against: str = "writers") -> Generator[Callable[[], None]]:
    """Lock the database in another process until the block ends or the yielded function is called."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path), against], stdin=pipe, stdout=pipe) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"

        def release() -> None:
            if holder.poll() is None:
                holder.communicate(b"enough\n", timeout=TIMEOUT_S)

        try:
            yield release
        finally:
            release()


@pytest.mark.parametrize("which", ["journal", "inbox"])
def test_a_file_locked_for_long_is_reported_and_the_session_continues_later(home: Path, which: str) -> None:
    with serving(home, env=IMPATIENT) as server:
        session_id = server.search()["session_id"]
        path = get_journal_path(home, session_id) if which == "journal" else get_inbox_path(home)
        with lock_in_another_process(path):
            answer = approve(server, session_id, 0)
            answer.check_error(UNUSABLE, "locked", path.stem).check_no_leaks(home)
        state = approve(server, session_id, 0).state
        assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
        finish(server, session_id)
        assert read_decisions(get_journal_path(home, session_id)) == ["approve", "approve"]


@pytest.mark.parametrize("which", ["journal", "inbox"])
def test_a_file_locked_for_a_moment_is_waited_for(home: Path, which: str) -> None:
    with serving(home) as server:
        session_id = server.search()["session_id"]
        path = get_journal_path(home, session_id) if which == "journal" else get_inbox_path(home)
        with lock_in_another_process(path) as release:
            decision = server.begin("decide", session_id=session_id, action="approve")
            assert server.ask("tools/list", {}).future.result(TIMEOUT_S)
            threading.Timer(0.3, release).start()
            assert decision().state["iteration"] == 1
        finish(server, session_id)


@pytest.mark.parametrize("which", ["journal", "inbox"])
def test_an_unreadable_file_is_reported_and_the_session_continues_once_it_is_readable(
    home: Path, stopped_sessions: list[dict[str, Any]], which: str
) -> None:
    waiting, _ = stopped_sessions
    session_id = waiting["session_id"]
    path = get_journal_path(home, session_id) if which == "journal" else get_inbox_path(home)
    with serving(home, env=IMPATIENT) as server:
        with lock_in_another_process(path, "readers too"):
            answer = server.call("get_session", session_id=session_id)
            answer.check_error(UNUSABLE, "locked", path.name).check_no_leaks(home)
        state = server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
        assert state["checkpoint"] == waiting["checkpoint"]
        finish(server, session_id)


def make_environment_without_root() -> dict[str, str]:
    """Return the environment of a server that obeys file permissions even as root."""
    if os.geteuid() != 0:
        return {}
    if sys.platform != "linux":
        pytest.skip("root may write anywhere here, and that right cannot be taken away")
    return {WITHOUT_ROOT: "yes"}


def forbid_writing(path: Path) -> None:
    for each in [path, *path.rglob("*")] if path.is_dir() else [path]:
        each.chmod(0o555 if each.is_dir() else 0o444)


def allow_writing(path: Path) -> None:
    path.chmod(0o755)
    for each in path.rglob("*"):
        each.chmod(0o755 if each.is_dir() else 0o644)


READ_ONLY: dict[str, Callable[[Path, str], Path]] = {
    "the journal": get_journal_path,
    "the inbox": lambda home, _: get_inbox_path(home),
    "the folder of the sessions": lambda home, _: get_sessions_folder(home),
    "the data folder": lambda home, _: home / "data",
}


@pytest.mark.parametrize("place", READ_ONLY.values(), ids=READ_ONLY.keys())
def test_a_read_only_file_is_reported_and_the_session_continues_once_it_is_writable(
    home: Path, stopped_sessions: list[dict[str, Any]], place: Callable[[Path, str], Path]
) -> None:
    env = make_environment_without_root()
    session_id = stopped_sessions[0]["session_id"]
    forbid_writing(place(home, session_id))
    try:
        with serving(home, env=env) as server:
            for answer in collect_replies(server, session_id):
                answer.check_error(UNUSABLE).check_no_leaks(home)
            server.check_log()
            allow_writing(home / "data")
            # An earlier call may still be about to fail.
            answers = (approve(server, session_id, 0) for _ in range(50))
            state = next(answer for answer in answers if not answer.is_error).state
            assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
            finish(server, session_id)
    finally:
        allow_writing(home / "data")
    assert read_decisions(get_journal_path(home, session_id)) == ["approve", "approve"]


@pytest.mark.parametrize("place", READ_ONLY.values(), ids=READ_ONLY.keys())
def test_no_decision_is_lost_when_writing_is_forbidden_while_the_session_waits(
    home: Path, place: Callable[[Path, str], Path]
) -> None:
    env = make_environment_without_root()
    with serving(home, env=env) as server:
        session_id = server.search()["session_id"]
        forbid_writing(place(home, session_id))
        try:
            first = approve(server, session_id, 0)
            if first.is_error:
                first.check_error(UNUSABLE).check_no_leaks(home)
            for answer in collect_replies(server, session_id):
                if answer.is_error:
                    answer.check_error((*UNUSABLE, "session_not_complete", "no_papers_yet", "no_pending_checkpoint"))
            server.check_log()
        finally:
            allow_writing(home / "data")
        state = server.state_once(session_id, lambda state: state["iteration"] >= 1)
        assert "error" not in state
        finish(server, session_id)
        decided = read_decisions(get_journal_path(home, session_id))
    assert set(decided) == {"approve"}
    assert len(decided) == 2


@pytest.mark.parametrize("place", ["the sessions", "the data folder", "everything"])
def test_a_file_in_place_of_the_folder_is_reported_as_a_disk_error(home: Path, place: str) -> None:
    paths = {"the sessions": get_sessions_folder(home), "the data folder": home / "data", "everything": home / "x"}
    path = paths[place]
    path.parent.mkdir(parents=True)
    path.write_text("in the way")
    with serving(home, env={"URANIBORG_HOME": str(path)} if place == "everything" else {}) as server:
        server.call("search_papers", query="moons").check_error(UNUSABLE).check_no_leaks(home)
        server.call("get_session", session_id="f" * 32).check_error(UNUSABLE).check_no_leaks(home)
        server.check_log()


def limit_file_size(server: Server, size: int) -> None:
    """Simulate a full disk: no file of the process can grow beyond this size."""
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.parametrize("size", [0, 20_000, 60_000])
def test_nothing_is_lost_when_the_disk_is_full_for_a_while(home: Path, size: int) -> None:
    with serving(home) as server:
        session_id = server.search()["session_id"]
        limit_file_size(server, size)
        errors = [
            answer
            for answer in (
                approve(server, session_id, 0),
                server.call("get_session", session_id=session_id),
                server.call("search_papers", query="moons"),
                approve(server, session_id, 1),
            )
            if answer.is_error
        ]
        assert errors
        for error in errors:
            error.check_error((*UNUSABLE, "no_pending_checkpoint", "checkpoint_not_found")).check_no_leaks(home)
        server.check_log()

        limit_file_size(server, resource.RLIM_INFINITY)
        state = approve(server, session_id, 0).state
        assert state["iteration"] >= 1
        papers = finish(server, session_id)
        finish(server, server.search()["session_id"])
        server.kill()
    decided = read_decisions(get_journal_path(home, session_id))
    assert decided == ["approve", "approve"]
    with serving(home) as server:
        assert server.call("export_results", session_id=session_id, format="json").text == papers


def test_sessions_of_a_server_killed_on_a_full_disk_continue(home: Path) -> None:
    with serving(home) as server:
        session_id = server.search()["session_id"]
        limit_file_size(server, 45_000)
        answered = [approve(server, session_id, number) for number in range(2)]
        server.kill()
    taken = sum(not answer.is_error for answer in answered)
    with serving(home) as server:
        state = server.state_once(session_id, lambda state: state["has_pending_checkpoint"] or state["is_complete"])
        assert state["iteration"] >= taken
        finish(server, session_id)
        assert read_decisions(get_journal_path(home, session_id)) == ["approve", "approve"]


@contextmanager
def mount_small_disk(home: Path, size: str) -> Generator[tuple[str, ...]]:
    """Yield a command that serves from a private disk of this size."""
    script = f'mount -t tmpfs -o size={size} tmpfs "$URANIBORG_HOME" && exec "$0"'
    command = ("unshare", "--mount", "sh", "-c", script)
    home.mkdir()
    trial = {**os.environ, "URANIBORG_HOME": str(home)}
    if os.geteuid() != 0 or subprocess.run([*command, "true"], env=trial, check=False, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield (*command, COMMAND)


def fill_disk(path: Path) -> None:
    """Write to the file until the disk is full."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4_096)):
            pass


def test_nothing_is_lost_when_a_small_disk_has_no_space_left(home: Path, tmp_path: Path) -> None:
    with mount_small_disk(home, "4m") as command, serving(home, command=command) as server:
        seen = Path(f"/proc/{server.process.pid}/root{home}")
        session_id = server.search()["session_id"]
        filler = seen / "filler"
        fill_disk(filler)
        errors = [approve(server, session_id, 0), server.call("search_papers", query="moons")]
        for error in errors:
            error.check_error(UNUSABLE).check_no_leaks(home)
        filler.unlink()
        state = approve(server, session_id, 0).state
        assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
        finish(server, session_id)
        shutil.copytree(seen / "data", tmp_path / "seen" / "data")
    assert read_decisions(get_journal_path(tmp_path / "seen", session_id)) == ["approve", "approve"]


def test_a_journal_deleted_under_a_waiting_session_is_reported(home: Path) -> None:
    with serving(home) as server:
        gone, well = server.search()["session_id"], server.search()["session_id"]
        for file in get_sessions_folder(home).glob(f"{gone}*"):
            file.unlink()
        approve(server, gone, 0).check_error(UNUSABLE, gone).check_no_leaks(home)
        server.call("get_session", session_id=gone).check_error("session_not_found", "Session not found", gone)
        assert not get_journal_path(home, gone).exists()
        finish(server, well)
        server.check_log()


def test_other_files_in_the_folder_of_the_sessions_are_not_changed(home: Path) -> None:
    folder = get_sessions_folder(home)
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    (folder / "other.db").write_text("not a database")
    (folder / f"{'e' * 32}.db").mkdir()
    with serving(home) as server:
        for session_id in ("other", "notes.txt", "e" * 32):
            server.call("get_session", session_id=session_id).check_error("session_not_found")
        finish(server, server.search()["session_id"])
        eventually(lambda: len(list(folder.glob("*.db"))) == 3)
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "other.db").read_text() == "not a database"


def test_every_step_is_in_the_journal_before_its_reply(home: Path) -> None:
    with serving(home) as server:
        session_id = server.search()["session_id"]
        assert "checkpoint-0" in read_steps(get_journal_path(home, session_id))
        approve(server, session_id, 0)
        assert {"decision-0", "round-0/search", "checkpoint-1"} <= read_steps(get_journal_path(home, session_id)).keys()
        approve(server, session_id, 1)
        assert {"decision-1", "result", "ended"} <= read_steps(get_journal_path(home, session_id)).keys()
