"""The documented check intervals and connection limits of a shelf."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from paper_library.service import live_shelf as live_module
from paper_library.service.build.builder import build_shelf
from paper_library.service.live_shelf import LiveShelf
from paper_library.store.shelf import Shelf

SOON_S = 20


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bounds")
    (folder / "a.bib").write_text("@misc{k, title={Deep Fish of the North}}")
    build_shelf([folder / "a.bib"], folder / "shelf")
    return folder / "shelf"


class Watched:
    """A live shelf with a fake clock that runs its threads at once."""

    def __init__(self, shelf: Path, patch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        self._refreshed = 0
        patch.setattr(live_module, "time", SimpleNamespace(monotonic=lambda: self.now))
        patch.setattr(live_module, "threading", SimpleNamespace(Lock=threading.Lock, Thread=self._thread))
        self.live = LiveShelf(shelf)

    def _thread(self, target: Callable[[], object], **_: object) -> SimpleNamespace:
        self._refreshed += 1
        return SimpleNamespace(start=target)

    def reopens_on_get(self) -> bool:
        """Get the shelf, and return True if its folder was opened again."""
        before = self._refreshed
        self.live.get_current()
        return self._refreshed > before


def test_a_folder_is_checked_at_most_four_times_a_second(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(shelf, monkeypatch)
    (shelf / "manifest.json").touch()
    watched.now += 0.25
    assert not watched.reopens_on_get()
    watched.now += 0.01
    assert watched.reopens_on_get()


def test_after_a_failed_opening_the_next_check_is_two_seconds_later(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(shelf, monkeypatch)
    manifest = shelf / "manifest.json"
    whole = manifest.read_bytes()
    manifest.write_bytes(b"{")
    try:
        watched.now += 1
        assert watched.reopens_on_get()
        assert watched.live.problem is not None
        watched.now += 2.2
        assert not watched.reopens_on_get()
        watched.now += 0.1
        assert watched.reopens_on_get()
    finally:
        manifest.write_bytes(whole)


def test_sixteen_connections_are_shared_and_the_main_thread_has_its_own(shelf: Path) -> None:
    opened = Shelf.open(shelf)
    together = threading.Barrier(40)

    def mine(_: int) -> int:
        together.wait(SOON_S)
        return id(opened.get_connection())

    with ThreadPoolExecutor(40) as threads:
        others = set(threads.map(mine, range(40)))
    assert len(others) == 15
    assert id(opened.get_connection()) not in others
    opened.close()
