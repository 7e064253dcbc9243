"""Every part keeps its files for their owner alone, under any umask, and repairs what an earlier version left open."""

import os
import shutil
import stat
from collections.abc import Generator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from paper_search.sources.interfaces import Request
from paper_search.sources.transport.answer_cache import AnswerStore, CachingTransport
from paper_search.store.saved_marks import MarkStore, ReviewerMarks
from paper_search.store.session_files import SessionFiles
from tests.pflow.cli.commands import ASKING, BROKEN, Workplace
from universe.config import UniverseConfig
from universe.store.factory import make_store
from uraniborg.kernel.settings import secure_own_folder
from uraniborg.kernel.store.inbox import Inbox


def modes_below(folder: Path) -> dict[str, int]:
    """Return the modes of the folder and all within that others may use in any way."""
    found = {str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
    return {name: mode for name, mode in found.items() if mode & 0o077}


def open_up(folder: Path) -> None:
    """Give everybody what versions before gave them under the usual umask."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.fixture(params=[0o000, 0o077])
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Generator[Path]:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "house"))
    before = os.umask(request.param)
    yield tmp_path / "house"
    os.umask(before)


def test_the_inbox_is_private_and_repaired(house: Path) -> None:
    for _ in range(2):
        with closing(Inbox()) as inbox:
            inbox.pending()
            assert modes_below(house) == {}
        open_up(house)


def test_sessions_and_reviews_are_private_and_repaired(house: Path) -> None:
    session = "0" * 32
    SessionFiles().write(session, "first", "{}", create_session=True)
    MarkStore().save(session, ReviewerMarks(checkpoint_id="c"))
    assert len([path for path in house.rglob("*") if path.is_file()]) == 3  # with the lock of the marks
    assert modes_below(house) == {}
    open_up(house)
    SessionFiles().read(session, "first")
    MarkStore().save(session, ReviewerMarks(checkpoint_id="c"))
    assert modes_below(house) == {}


def test_the_cache_is_private_and_repaired(house: Path) -> None:
    request = Request(source="crossref", url="https://example.org/")
    AnswerStore(secure_own_folder("cache", "paper_search")).write_entry(request, [], kept_at=datetime.now(UTC))
    assert modes_below(house) == {}
    open_up(house)
    cache = CachingTransport(None, secure_own_folder("cache", "paper_search"), ttl_s=60)  # pyright: ignore[reportArgumentType]
    cache._delete_old_answers_and_make_rest_private()  # pyright: ignore[reportPrivateUsage]
    assert modes_below(house) == {}


async def test_universes_are_private_and_repaired(house: Path) -> None:
    for _ in range(2):
        store = make_store(UniverseConfig().database_address)
        await store.open()
        try:
            assert {path.suffix for path in house.rglob("*") if path.is_file()} >= {".db", ".db-wal", ".db-shm"}
            assert modes_below(house) == {}
        finally:
            await store.close()
        open_up(house)


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_workflows_runs_and_checkpoints_are_private_and_repaired(tmp_path: Path, umask: int) -> None:
    place = Workplace(tmp_path / "place")
    place.folder.mkdir()
    broken, asking = (place.write_file(f"{name}.json", ir) for name, ir in (("broken", BROKEN), ("asking", ASKING)))
    for turn in range(2):
        place.run_process("new", f"draft-{turn}", umask=umask)
        for flow in (broken, asking):
            assert place.run_process("run", str(flow), umask=umask).code
        names = {path.name for path in place.home.rglob("*")}
        assert {"runs.db", "checkpoints", "workflows"} <= names
        assert modes_below(place.home) == {}
        assert modes_below(place.folder / "house") == {}
        open_up(place.home)
        open_up(place.folder / "house")
        shutil.rmtree(place.home / "workflows")  # a workflow that is only read stays as it is
