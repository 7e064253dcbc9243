"""A shelf is replaced while it is in use: new requests use the new shelf, running ones finish on the old."""

import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paper_library.service.library import Library
from paper_library.service.live_shelf import LiveShelf
from paper_library.store.assets import AssetReader
from tests.paper_library.operations.shelves import DAMAGES, build_readable_shelf, build_titled_shelf, flip_bit

SOON = 20.0


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    build_titled_shelf(tmp_path / "shelf", "Old star", "Old comet")
    return tmp_path / "shelf"


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON
    pause = threading.Event()
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        pause.wait(0.02)


def search_titles(library: Library, query: str = "") -> list[str]:
    return [hit["title"] for hit in library.search(query)["results"]]


def run_in_new_thread(ask: Callable[[], list[str]]) -> list[str]:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(ask).result(SOON)


def test_a_replaced_shelf_is_seen_without_a_restart(shelf: Path) -> None:
    library = Library.open(shelf)
    old = library.build_id
    build_titled_shelf(shelf, "New star", "New comet")
    wait_until(lambda: library.build_id != old)
    assert search_titles(library, "star") == ["New star"]
    assert library.live.problem is None


def test_a_reader_that_holds_the_old_shelf_finishes_on_it(shelf: Path) -> None:
    live = LiveShelf(shelf)
    held = live.get_current()
    build_titled_shelf(shelf, "New star")
    live.reopen_if_replaced()
    assert [row.title for row in held.read_rows([0, 1])] == ["Old comet", "Old star"]
    assert live.get_current().manifest.papers == 1


def test_a_thread_new_to_the_old_shelf_reads_the_old_database_after_a_replacement(shelf: Path) -> None:
    held = LiveShelf(shelf).get_current()
    build_titled_shelf(shelf, "New star", "New comet")
    assert run_in_new_thread(lambda: [row.title for row in held.read_rows([0, 1])]) == ["Old comet", "Old star"]


def test_new_threads_do_not_read_a_damaged_replacement(shelf: Path) -> None:
    library = Library.open(shelf)
    other = shelf.with_name("other")
    build_titled_shelf(other, "New star", "New comet")
    flip_bit(other / "shelf.db", 70_000)
    shutil.rmtree(shelf)
    other.rename(shelf)
    library.live.reopen_if_replaced()
    assert library.live.problem is not None
    assert run_in_new_thread(lambda: search_titles(library, "star")) == ["Old star"]


@pytest.mark.parametrize(("harm", "code"), [DAMAGES[name] for name in ("missing", "newer schema", "without index")])
def test_the_old_shelf_stays_in_use_when_the_new_one_cannot_be_opened(shelf: Path, harm: object, code: str) -> None:
    assert callable(harm)
    library = Library.open(shelf)
    assert search_titles(library, "star") == ["Old star"]
    old = library.build_id
    build_titled_shelf(shelf, "New star")
    harm(shelf)
    library.live.reopen_if_replaced()
    assert library.live.problem is not None
    assert library.live.problem.code == code
    assert library.build_id == old
    assert search_titles(library, "star") == ["Old star"]


def test_a_repaired_shelf_is_opened(shelf: Path) -> None:
    library = Library.open(shelf)
    build_titled_shelf(shelf, "New star")
    (shelf / "manifest.json").unlink()
    library.live.reopen_if_replaced()
    assert library.live.problem is not None
    shutil.rmtree(shelf)
    build_titled_shelf(shelf, "Newer star")
    library.live.reopen_if_replaced()
    assert library.live.problem is None
    assert search_titles(library) == ["Newer star"]


def test_a_shelf_whose_manifest_is_copied_first_is_opened_when_it_is_complete(shelf: Path) -> None:
    library = Library.open(shelf)
    other = shelf.with_name("other")
    build_titled_shelf(other, "New star")
    shutil.rmtree(shelf)
    shelf.mkdir()
    shutil.copy2(other / "manifest.json", shelf)
    library.live.reopen_if_replaced()
    assert library.live.problem is not None
    shutil.copytree(other, shelf, dirs_exist_ok=True, copy_function=_copy_if_missing)
    library.live.reopen_if_replaced()
    assert search_titles(library) == ["New star"]


def _copy_if_missing(source: str, target: str) -> None:
    if not Path(target).exists():
        shutil.copy2(source, target)


def test_an_asset_removed_with_the_old_shelf_is_read_from_the_new_one(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    build_readable_shelf(shelf)
    library = Library(LiveShelf(shelf), AssetReader())
    (paper,) = library.find_ids_by_title("On comets")
    held = library.live.get_current()
    build_readable_shelf(shelf, "# Comets\n\nThey come back.\n")
    assert library.source(paper) == "# Comets\n\nThey come back."
    assert library.live.get_current() is not held


def test_after_many_replacements_the_last_shelf_is_open(shelf: Path) -> None:
    library = Library.open(shelf)
    for number in range(5):
        build_titled_shelf(shelf, f"Star {number}")
        search_titles(library)
    wait_until(lambda: search_titles(library) == ["Star 4"])
