"""How often a shelf is looked at, and how many connections it holds, by the numbers that are stated."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paper_library.build.building import build_shelf
from paper_library.store import live as live_module
from paper_library.store.live import LiveShelf
from paper_library.store.shelf import Shelf

SOON_S = 20


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bounds")
    (folder / "a.bib").write_text("@misc{k, title={Deep Fish of the North}}")
    build_shelf([folder / "a.bib"], folder / "shelf")
    return folder / "shelf"


class Watched:
    """A live shelf on a clock of its own; `opened` counts how often its folder was opened anew."""

    def __init__(self, shelf: Path, patch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        self.opened = 0
        self._done = threading.Event()
        patch.setattr(live_module.time, "monotonic", lambda: self.now)
        self.live = LiveShelf(shelf)
        refresh = self.live.refresh

        def counted() -> Shelf:
            self.opened += 1
            try:
                return refresh()
            finally:
                self._done.set()

        patch.setattr(self.live, "refresh", counted)

    def look(self, *, is_refreshed: bool) -> None:
        """Ask for the shelf, and wait until it was opened anew if it is to be."""
        self._done.clear()
        self.live.current()
        assert self._done.wait(SOON_S if is_refreshed else 0) is is_refreshed


def test_a_folder_is_looked_at_four_times_a_second_at_most(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(shelf, monkeypatch)
    (shelf / "manifest.json").touch()
    watched.now += 0.25
    watched.look(is_refreshed=False)
    watched.now += 0.01
    watched.look(is_refreshed=True)
    assert watched.opened == 1


def test_after_a_shelf_that_cannot_be_opened_two_seconds_pass_before_the_next_look(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(shelf, monkeypatch)
    manifest = shelf / "manifest.json"
    whole = manifest.read_bytes()
    manifest.write_bytes(b"{")
    try:
        watched.now += 1
        watched.look(is_refreshed=True)
        assert watched.live.problem is not None
        watched.now += 2.2
        watched.look(is_refreshed=False)
        watched.now += 0.1
        watched.look(is_refreshed=True)
    finally:
        manifest.write_bytes(whole)
    assert watched.opened == 2


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
