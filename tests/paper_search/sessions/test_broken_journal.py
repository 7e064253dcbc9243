"""Files that are damaged, locked, read-only, too new, on a full disk: what is said, and that sessions go on after."""

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

from tests.paper_search.sessions.hurried import ORDINARY, PATIENCE
from tests.paper_search.sessions.processes import (
    COMMAND,
    SOON,
    Answer,
    Server,
    decisions_in,
    eventually,
    inbox_of,
    journal_of,
    serving,
    sessions_folder,
    steps_in,
)

REVIEW = "result_review"
UNUSABLE = ("database_unusable", "session_interrupted", "database_newer", "session_not_found", "session_not_opened")
"""The codes that put the blame where it belongs: not on the caller, and not on a mistake of ours."""

Damage = Callable[[Path], None]


def keep_the_first(part: Callable[[int], int]) -> Damage:
    def truncate(path: Path) -> None:
        os.truncate(path, part(path.stat().st_size))

    return truncate


def overwrite_from(start: int) -> Damage:
    def overwrite(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(start)
            file.write(b"\xa5garbage" * ((path.stat().st_size - start) // 8))

    return overwrite


def replace_by_a_picture(path: Path) -> None:
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(5_000))


def forget_its_tables(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            connection.execute(f"DROP TABLE {table}")


def claim_to_be_newer(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO migrations VALUES ('of the year 2040')")


DAMAGES: dict[str, Damage] = {
    "half of it is gone": keep_the_first(lambda size: size // 2),
    "all of it is gone": keep_the_first(lambda _: 0),
    "100 bytes are left": keep_the_first(lambda _: 100),
    "it is garbage": overwrite_from(0),
    "all but its first page is garbage": overwrite_from(4096),
    "it is a picture": replace_by_a_picture,
    "its tables are gone": forget_its_tables,
    "it is of a newer version": claim_to_be_newer,
}
STEPS = ("session", "checkpoint-0", "intent")
NONSENSE = ("", "{}", "null", "[1]", '{"half": ', '"\\ud800"')
BEYOND_DETECTION = ("all of it is gone", "its tables are gone")
"""What leaves an inbox that is merely empty, to be filled again from the journals."""


def waiting_sessions(home: Path, count: int) -> list[dict[str, Any]]:
    """Sessions that wait at their first checkpoint, with no server running."""
    with serving(home) as server:
        states = [server.search() for _ in range(count)]
        assert server.close() == 0
    return states


class Pool:
    """A server on many sessions that wait, of which it has loaded none; each test takes one that is its own."""

    def __init__(self, server: Server, waiting: list[dict[str, Any]], complete: dict[str, str]) -> None:
        self.server = server
        self.home = server.home
        self.waiting = waiting
        self.complete = complete
        """The papers of sessions that are complete, by their ids."""
        self._well = waiting.pop()

    def take(self) -> tuple[str, dict[str, Any], Path]:
        """A session: its id, its state, its journal."""
        state = self.waiting.pop()
        return state["session_id"], state, journal_of(self.home, state["session_id"])

    def take_complete(self) -> tuple[str, str, Path]:
        session_id, papers = self.complete.popitem()
        return session_id, papers, journal_of(self.home, session_id)

    def is_unharmed(self) -> None:
        """Another session stands where it stood, new ones can be opened, and nothing went wrong inside."""
        state = self.server.state(self._well["session_id"])
        assert state["checkpoint"] == self._well["checkpoint"]
        assert self.server.search("moons")["has_pending_checkpoint"]
        self.server.was_never_surprised()


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Generator[Pool]:
    home = tmp_path_factory.mktemp("pool")
    waiting = waiting_sessions(home, 1 + len(DAMAGES) + len(NONSENSE) * len(STEPS))
    with serving(home) as server:
        complete: dict[str, str] = {}
        for _ in DAMAGES:
            session_id = server.search()["session_id"]
            complete[session_id] = finish(server, session_id)
        assert server.close() == 0
    with serving(home) as server:
        yield Pool(server, waiting, complete)


@pytest.fixture(scope="module")
def two_waiting(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    home = tmp_path_factory.mktemp("template")
    return home, waiting_sessions(home, 2)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def at_rest(home: Path, two_waiting: tuple[Path, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Two sessions in `home` that wait at their first checkpoint, with no server running."""
    shutil.copytree(two_waiting[0], home)
    return two_waiting[1]


def approve(server: Server, session_id: str, iteration: int) -> Answer:
    """Approve the session's checkpoint of this number, once or again."""
    kind = REVIEW if iteration else "strategy_confirmation"
    checkpoint_id = f"{session_id}:{iteration}:{kind}"
    return server.call("decide", session_id=session_id, action="approve", checkpoint_id=checkpoint_id)


def finish(server: Server, session_id: str) -> str:
    """Approve whatever the session asks from here on, and return its papers."""
    while not server.state_once(session_id, lambda state: state["has_pending_checkpoint"] or state["is_complete"])[
        "is_complete"
    ]:
        assert not server.call("decide", session_id=session_id, action="approve").is_error
    return server.call("export_results", session_id=session_id, format="json").text


def collect_replies(server: Server, session_id: str) -> Generator[Answer]:
    """The answers of every tool that takes a session."""
    yield server.call("get_session", session_id=session_id)
    yield server.call("decide", session_id=session_id, action="approve")
    yield approve(server, session_id, 0)
    yield server.call("export_results", session_id=session_id)
    yield server.ask("resources/read", {"uri": f"paper-search://sessions/{session_id}/papers"})()


class Copy:
    """A database as it was: with what SQLite keeps beside it."""

    def __init__(self, path: Path, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._path = path
        for file in path.parent.glob(f"{path.name}*"):
            shutil.copy(file, folder)

    def put_back(self) -> None:
        for file in self._path.parent.glob(f"{self._path.name}*"):
            file.unlink()
        for file in self._folder.iterdir():
            shutil.copy(file, self._path.parent)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_journal_is_reported_and_affects_no_other_session(pool: Pool, tmp_path: Path, damage: Damage) -> None:
    session_id, waiting, journal = pool.take()
    copy = Copy(journal, tmp_path / "copy")
    damage(journal)
    for answer in collect_replies(pool.server, session_id):
        answer.is_clear(UNUSABLE, session_id).leaks_nothing(pool.home)
    pool.is_unharmed()

    copy.put_back()
    again = pool.server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
    assert again["checkpoint"] == waiting["checkpoint"]
    finish(pool.server, session_id)
    assert decisions_in(journal) == ["approve", "approve"]


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_no_decision_is_lost_to_a_journal_that_is_damaged_while_the_session_waits(
    pool: Pool, tmp_path: Path, damage: Damage
) -> None:
    session_id = pool.server.search()["session_id"]
    journal = journal_of(pool.home, session_id)
    copy = Copy(journal, tmp_path / "copy")
    damage(journal)
    approve(pool.server, session_id, 0).is_clear(UNUSABLE, session_id).leaks_nothing(pool.home)
    pool.is_unharmed()

    copy.put_back()
    state = pool.server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
    assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
    again = approve(pool.server, session_id, 0).state
    assert again["already_decided"]["action"] == "approve"
    assert again["iteration"] == 1
    finish(pool.server, session_id)
    assert decisions_in(journal) == ["approve", "approve"]


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_the_papers_of_a_complete_session_can_be_read_after_its_journal_is_restored(
    pool: Pool, tmp_path: Path, damage: Damage
) -> None:
    session_id, papers, journal = pool.take_complete()
    copy = Copy(journal, tmp_path / "copy")
    damage(journal)
    answer = pool.server.call("export_results", session_id=session_id, format="json")
    answer.is_clear(UNUSABLE, session_id).leaks_nothing(pool.home)
    pool.is_unharmed()
    copy.put_back()
    assert pool.server.call("export_results", session_id=session_id, format="json").text == papers


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("value", NONSENSE)
def test_a_journal_with_invalid_content_is_reported(pool: Pool, step: str, value: str) -> None:
    session_id, _, journal = pool.take()
    with closing(sqlite3.connect(journal, isolation_level=None)) as connection:
        connection.execute("UPDATE steps SET value = ? WHERE step = ?", (value, step))
    for answer in (pool.server.call("get_session", session_id=session_id), approve(pool.server, session_id, 0)):
        answer.is_clear(UNUSABLE, session_id).leaks_nothing(pool.home)
    pool.is_unharmed()


FATAL_TO_AN_INBOX = {name: damage for name, damage in DAMAGES.items() if name not in BEYOND_DETECTION}


@pytest.mark.parametrize("damage", FATAL_TO_AN_INBOX.values(), ids=FATAL_TO_AN_INBOX.keys())
def test_a_damaged_inbox_is_reported_and_sessions_continue_once_it_is_restored(
    home: Path, at_rest: list[dict[str, Any]], tmp_path: Path, damage: Damage
) -> None:
    waiting, other = at_rest
    session_id = waiting["session_id"]
    copy = Copy(inbox_of(home), tmp_path / "copy")
    damage(inbox_of(home))
    with serving(home) as server:
        answer = server.call("get_session", session_id=session_id)
        answer.is_clear(UNUSABLE, "inbox.db").leaks_nothing(home)
        approve(server, session_id, 0).is_clear(UNUSABLE, "inbox.db").leaks_nothing(home)
        server.call("search_papers", query="moons").is_clear(UNUSABLE, "inbox.db").leaks_nothing(home)
        server.was_never_surprised()
        copy.put_back()
        state = server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
        assert state["checkpoint"] == waiting["checkpoint"]
        finish(server, session_id)
        finish(server, other["session_id"])


@pytest.mark.parametrize("name", ["it is garbage", "it is of a newer version"])
def test_sessions_continue_after_a_damaged_inbox_is_deleted(
    home: Path, at_rest: list[dict[str, Any]], name: str
) -> None:
    waiting, other = at_rest
    session_id = waiting["session_id"]
    DAMAGES[name](inbox_of(home))
    with serving(home) as server:
        server.call("get_session", session_id=session_id).is_clear(UNUSABLE)
        for file in inbox_of(home).parent.glob("inbox.db*"):
            file.unlink()
        state = server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
        assert state["checkpoint"] == waiting["checkpoint"]
        finish(server, session_id)
        finish(server, other["session_id"])


@pytest.mark.parametrize("name", BEYOND_DETECTION)
def test_an_empty_inbox_is_filled_again_from_the_journals(home: Path, at_rest: list[dict[str, Any]], name: str) -> None:
    waiting, other = at_rest
    DAMAGES[name](inbox_of(home))
    with serving(home) as server:
        session_id = waiting["session_id"]
        state = server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
        assert state["checkpoint"] == waiting["checkpoint"]
        finish(server, session_id)
        decided = approve(server, other["session_id"], 0).state
        assert (decided["checkpoint_kind"], decided["iteration"]) == (REVIEW, 1)
        finish(server, other["session_id"])


def ruin(files: dict[Path, bytes]) -> None:
    """Overwrite the files where they are, under whoever has them open."""
    for file, content in files.items():
        with file.open("r+b") as stream:
            stream.write(b"\xa5" * len(content))


def inbox_files(home: Path) -> dict[Path, bytes]:
    """The files of the inbox, and what is in them."""
    return {file: file.read_bytes() for file in sorted(inbox_of(home).parent.glob("inbox.db*"))}


def test_a_server_receives_decisions_again_after_the_inbox_could_not_be_read(home: Path) -> None:
    with serving(home) as server:
        session_id = server.search()["session_id"]
        files = inbox_files(home)
        ruin(files)
        server.call("decide", session_id=session_id, action="approve").is_clear(UNUSABLE)
        assert server.state(session_id)["has_pending_checkpoint"]
        eventually(lambda: "paper_search.sessions.background" in server.log)
        for file, content in files.items():
            file.write_bytes(content)
        with serving(home) as elsewhere:
            assert approve(elsewhere, session_id, 0).state["iteration"] == 1
        state = server.state_once(session_id, lambda state: state["iteration"] == 1)
        assert state["checkpoint_kind"] == REVIEW
        finish(server, session_id)
        assert decisions_in(journal_of(home, session_id)) == ["approve", "approve"]


@pytest.mark.parametrize("put_back", [True, False], ids=["put back", "thrown away"])
def test_a_running_server_uses_the_file_that_replaces_a_damaged_inbox(home: Path, put_back: bool) -> None:
    with serving(home) as server:
        session_id = server.search()["session_id"]
        files = inbox_files(home)
        ruin(files)
        approve(server, session_id, 0).is_clear(UNUSABLE).leaks_nothing(home)
        for file, content in files.items():
            file.unlink(missing_ok=True)
            if put_back:
                file.write_bytes(content)
        state = approve(server, session_id, 0).state
        assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
        finish(server, session_id)
        assert decisions_in(journal_of(home, session_id)) == ["approve", "approve"]


IMPATIENT = {PATIENCE: "0.5"}
"""For servers that meet what is held for as long as they wait, however long that is."""
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
def held_by_another_process(path: Path, against: str = "writers") -> Generator[Callable[[], None]]:
    """The database locked by another process, until the block ends or what it gives is called."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path), against], stdin=pipe, stdout=pipe) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"

        def let_go() -> None:
            if holder.poll() is None:
                holder.communicate(b"enough\n", timeout=SOON)

        try:
            yield let_go
        finally:
            let_go()


@pytest.mark.parametrize("which", ["journal", "inbox"])
def test_a_file_locked_for_long_is_reported_and_the_session_continues_later(home: Path, which: str) -> None:
    with serving(home, env=IMPATIENT) as server:
        session_id = server.search()["session_id"]
        path = journal_of(home, session_id) if which == "journal" else inbox_of(home)
        with held_by_another_process(path):
            answer = approve(server, session_id, 0)
            answer.is_clear(UNUSABLE, "locked", path.stem).leaks_nothing(home)
        state = approve(server, session_id, 0).state
        assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
        finish(server, session_id)
        assert decisions_in(journal_of(home, session_id)) == ["approve", "approve"]


@pytest.mark.parametrize("which", ["journal", "inbox"])
def test_a_file_locked_for_a_moment_is_waited_for(home: Path, which: str) -> None:
    with serving(home) as server:
        session_id = server.search()["session_id"]
        path = journal_of(home, session_id) if which == "journal" else inbox_of(home)
        with held_by_another_process(path) as let_go:
            decision = server.begin("decide", session_id=session_id, action="approve")
            assert server.ask("tools/list", {}).future.result(SOON)
            threading.Timer(0.3, let_go).start()
            assert decision().state["iteration"] == 1
        finish(server, session_id)


@pytest.mark.parametrize("which", ["journal", "inbox"])
def test_an_unreadable_file_is_reported_and_the_session_continues_once_it_is_readable(
    home: Path, at_rest: list[dict[str, Any]], which: str
) -> None:
    waiting, _ = at_rest
    session_id = waiting["session_id"]
    path = journal_of(home, session_id) if which == "journal" else inbox_of(home)
    with serving(home, env=IMPATIENT) as server:
        with held_by_another_process(path, "readers too"):
            answer = server.call("get_session", session_id=session_id)
            answer.is_clear(UNUSABLE, "locked", path.name).leaks_nothing(home)
        state = server.state_once(session_id, lambda state: state["has_pending_checkpoint"])
        assert state["checkpoint"] == waiting["checkpoint"]
        finish(server, session_id)


def bound_by_permissions() -> dict[str, str]:
    """What makes a server that may not write where permissions forbid it, which root otherwise may."""
    if os.geteuid() != 0:
        return {}
    if sys.platform != "linux":
        pytest.skip("root may write anywhere here, and that right cannot be taken away")
    return {ORDINARY: "yes"}


def forbid_writing(path: Path) -> None:
    for each in [path, *path.rglob("*")] if path.is_dir() else [path]:
        each.chmod(0o555 if each.is_dir() else 0o444)


def allow_writing(path: Path) -> None:
    path.chmod(0o755)
    for each in path.rglob("*"):
        each.chmod(0o755 if each.is_dir() else 0o644)


READ_ONLY: dict[str, Callable[[Path, str], Path]] = {
    "the journal": journal_of,
    "the inbox": lambda home, _: inbox_of(home),
    "the folder of the sessions": lambda home, _: sessions_folder(home),
    "the data folder": lambda home, _: home / "data",
}


@pytest.mark.parametrize("place", READ_ONLY.values(), ids=READ_ONLY.keys())
def test_a_read_only_file_is_reported_and_the_session_continues_once_it_is_writable(
    home: Path, at_rest: list[dict[str, Any]], place: Callable[[Path, str], Path]
) -> None:
    env = bound_by_permissions()
    session_id = at_rest[0]["session_id"]
    forbid_writing(place(home, session_id))
    try:
        with serving(home, env=env) as server:
            for answer in collect_replies(server, session_id):
                answer.is_clear(UNUSABLE).leaks_nothing(home)
            server.was_never_surprised()
            allow_writing(home / "data")
            # What was asked while it could not be written may still be on its way to fail.
            answers = (approve(server, session_id, 0) for _ in range(50))
            state = next(answer for answer in answers if not answer.is_error).state
            assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
            finish(server, session_id)
    finally:
        allow_writing(home / "data")
    assert decisions_in(journal_of(home, session_id)) == ["approve", "approve"]


@pytest.mark.parametrize("place", READ_ONLY.values(), ids=READ_ONLY.keys())
def test_no_decision_is_lost_when_writing_is_forbidden_while_the_session_waits(
    home: Path, place: Callable[[Path, str], Path]
) -> None:
    env = bound_by_permissions()
    with serving(home, env=env) as server:
        session_id = server.search()["session_id"]
        forbid_writing(place(home, session_id))
        try:
            first = approve(server, session_id, 0)
            if first.is_error:
                first.is_clear(UNUSABLE).leaks_nothing(home)
            for answer in collect_replies(server, session_id):
                if answer.is_error:
                    answer.is_clear((*UNUSABLE, "session_not_complete", "no_papers_yet", "no_pending_checkpoint"))
            server.was_never_surprised()
        finally:
            allow_writing(home / "data")
        state = server.state_once(session_id, lambda state: state["iteration"] >= 1)
        assert "error" not in state
        finish(server, session_id)
        decided = decisions_in(journal_of(home, session_id))
    assert set(decided) == {"approve"}
    assert len(decided) == 2


@pytest.mark.parametrize("place", ["the sessions", "the data folder", "everything"])
def test_a_file_in_place_of_the_folder_is_reported_as_a_disk_error(home: Path, place: str) -> None:
    paths = {"the sessions": sessions_folder(home), "the data folder": home / "data", "everything": home / "x"}
    path = paths[place]
    path.parent.mkdir(parents=True)
    path.write_text("in the way")
    with serving(home, env={"URANIBORG_HOME": str(path)} if place == "everything" else {}) as server:
        server.call("search_papers", query="moons").is_clear(UNUSABLE).leaks_nothing(home)
        server.call("get_session", session_id="f" * 32).is_clear(UNUSABLE).leaks_nothing(home)
        server.was_never_surprised()


def limit_file_size(server: Server, size: int) -> None:
    """What a full disk does to a process, from now on: no file of it grows beyond this."""
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
            error.is_clear((*UNUSABLE, "no_pending_checkpoint", "checkpoint_not_found")).leaks_nothing(home)
        server.was_never_surprised()

        limit_file_size(server, resource.RLIM_INFINITY)
        state = approve(server, session_id, 0).state
        assert state["iteration"] >= 1
        papers = finish(server, session_id)
        finish(server, server.search()["session_id"])
        server.kill()
    decided = decisions_in(journal_of(home, session_id))
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
        assert decisions_in(journal_of(home, session_id)) == ["approve", "approve"]


@contextmanager
def small_disk(home: Path, size: str) -> Generator[tuple[str, ...]]:
    """A command that serves from a disk of this size, which only that process sees and which goes with it."""
    script = f'mount -t tmpfs -o size={size} tmpfs "$URANIBORG_HOME" && exec "$0"'
    command = ("unshare", "--mount", "sh", "-c", script)
    home.mkdir()
    trial = {**os.environ, "URANIBORG_HOME": str(home)}
    if os.geteuid() != 0 or subprocess.run([*command, "true"], env=trial, check=False, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield (*command, COMMAND)


def fill(path: Path) -> None:
    """Write to it until the disk is full."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4_096)):
            pass


def test_nothing_is_lost_when_a_small_disk_has_no_space_left(home: Path, tmp_path: Path) -> None:
    with small_disk(home, "4m") as command, serving(home, command=command) as server:
        seen = Path(f"/proc/{server.process.pid}/root{home}")
        session_id = server.search()["session_id"]
        filler = seen / "filler"
        fill(filler)
        errors = [approve(server, session_id, 0), server.call("search_papers", query="moons")]
        for error in errors:
            error.is_clear(UNUSABLE).leaks_nothing(home)
        filler.unlink()
        state = approve(server, session_id, 0).state
        assert (state["checkpoint_kind"], state["iteration"]) == (REVIEW, 1)
        finish(server, session_id)
        shutil.copytree(seen / "data", tmp_path / "seen" / "data")
    assert decisions_in(journal_of(tmp_path / "seen", session_id)) == ["approve", "approve"]


def test_a_journal_deleted_under_a_waiting_session_is_reported(home: Path) -> None:
    with serving(home) as server:
        gone, well = server.search()["session_id"], server.search()["session_id"]
        for file in sessions_folder(home).glob(f"{gone}*"):
            file.unlink()
        approve(server, gone, 0).is_clear(UNUSABLE, gone).leaks_nothing(home)
        server.call("get_session", session_id=gone).is_clear("session_not_found", "Session not found", gone)
        assert not journal_of(home, gone).exists()
        finish(server, well)
        server.was_never_surprised()


def test_other_files_in_the_folder_of_the_sessions_are_not_changed(home: Path) -> None:
    folder = sessions_folder(home)
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    (folder / "other.db").write_text("not a database")
    (folder / f"{'e' * 32}.db").mkdir()
    with serving(home) as server:
        for session_id in ("other", "notes.txt", "e" * 32):
            server.call("get_session", session_id=session_id).is_clear("session_not_found")
        finish(server, server.search()["session_id"])
        eventually(lambda: len(list(folder.glob("*.db"))) == 3)
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "other.db").read_text() == "not a database"


def test_every_step_is_in_the_journal_before_its_reply(home: Path) -> None:
    with serving(home) as server:
        session_id = server.search()["session_id"]
        assert "checkpoint-0" in steps_in(journal_of(home, session_id))
        approve(server, session_id, 0)
        assert {"decision-0", "round-0/search", "checkpoint-1"} <= steps_in(journal_of(home, session_id)).keys()
        approve(server, session_id, 1)
        assert {"decision-1", "result", "ended"} <= steps_in(journal_of(home, session_id)).keys()
