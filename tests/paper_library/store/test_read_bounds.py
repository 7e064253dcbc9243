"""How often a shelf is looked at, and how many connections it holds, by the numbers that are stated."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from paper_library.build.builder import build_shelf
from paper_library.store import live_shelf as live_module
from paper_library.store.live_shelf import LiveShelf
from paper_library.store.shelf import Shelf

SOON_S = 20


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bounds")
    (folder / "a.bib").write_text("@misc{k, title={Deep Fish of the North}}")
    build_shelf([folder / "a.bib"], folder / "shelf")
    return folder / "shelf"


class Watched:
    """A live shelf on a clock of its own, which does at once what it would do in a thread."""

    def __init__(self, shelf: Path, patch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        self._refreshed = 0
        patch.setattr(live_module, "time", SimpleNamespace(monotonic=lambda: self.now))
        patch.setattr(live_module, "threading", SimpleNamespace(Lock=threading.Lock, Thread=self._thread))
        self.live = LiveShelf(shelf)

    def _thread(self, target: Callable[[], object], **_: object) -> SimpleNamespace:
        self._refreshed += 1
        return SimpleNamespace(start=target)

    def is_opened_anew(self) -> bool:
        """Ask for the shelf, and return True if its folder was opened again for that."""
        before = self._refreshed
        self.live.current()
        return self._refreshed > before


def test_a_folder_is_looked_at_four_times_a_second_at_most(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(shelf, monkeypatch)
    (shelf / "manifest.json").touch()
    watched.now += 0.25
    assert not watched.is_opened_anew()
    watched.now += 0.01
    assert watched.is_opened_anew()


def test_after_a_shelf_that_cannot_be_opened_two_seconds_pass_before_the_next_look(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(shelf, monkeypatch)
    manifest = shelf / "manifest.json"
    whole = manifest.read_bytes()
    manifest.write_bytes(b"{")
    try:
        watched.now += 1
        assert watched.is_opened_anew()
        assert watched.live.problem is not None
        watched.now += 2.2
        assert not watched.is_opened_anew()
        watched.now += 0.1
        assert watched.is_opened_anew()
    finally:
        manifest.write_bytes(whole)


def test_sixteen_connections_are_shared_and_the_main_thread_has_one_to_itself(shelf: Path) -> None:
    opened = Shelf.open(shelf)
    together = threading.Barrier(40)

    def mine(_: int) -> int:
        together.wait(SOON_S)
        return id(opened.connection())

    with ThreadPoolExecutor(40) as threads:
        others = set(threads.map(mine, range(40)))
    assert len(others) == 15
    assert id(opened.connection()) not in others
    opened.close()
