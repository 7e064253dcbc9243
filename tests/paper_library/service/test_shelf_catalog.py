"""Every shelf of the installation is listed once, wherever it was built."""

import os
from pathlib import Path

import pytest

from paper_library.service.shelf_catalog import find_known_shelf, list_known_shelves, remember_shelf
from paper_library.store.layout import MANIFEST
from uraniborg.kernel.store.files import make_private_folder

BUILT = "data/library/built-shelves.json"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("URANIBORG_LIBRARY__SHELF", raising=False)
    return tmp_path / "home"


def make_shelf(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / MANIFEST).write_text("{}")
    return path


def list_paths() -> list[Path]:
    return [shelf.path for shelf in list_known_shelves()]


@pytest.mark.usefixtures("home")
def test_a_shelf_that_is_served_through_a_link_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = make_shelf(tmp_path / "disk" / "astronomy")
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    served = tmp_path / "link" / "astronomy"
    monkeypatch.setenv("URANIBORG_LIBRARY__SHELF", str(served))
    remember_shelf(served)
    remember_shelf(shelf)
    (known,) = list_known_shelves()
    assert (known.path, known.is_served) == (served, True)


def test_a_sample_shelf_in_a_data_folder_behind_a_link_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = make_shelf(tmp_path / "home" / "data" / "library" / "sample-shelf")
    (tmp_path / "link").symlink_to(tmp_path / "home")
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "link"))
    remember_shelf(sample)
    (known,) = list_known_shelves()
    assert (known.is_served, known.describe()["is_sample"]) == (True, True)


def test_the_last_hundred_shelves_that_still_exist_are_remembered(home: Path, tmp_path: Path) -> None:
    shelves = [make_shelf(tmp_path / f"shelf{number}") for number in range(102)]
    for shelf in shelves:
        remember_shelf(shelf)
    assert list_paths() == shelves[2:]
    (shelves[50] / MANIFEST).unlink()
    assert list_paths() == [shelf for shelf in shelves[2:] if shelf != shelves[50]]
    remember_shelf(shelves[0])
    assert list_paths()[-1] == shelves[0]
    assert (home / BUILT).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", ["", "{", "{}", '["a", 1, null]', "null", "\udcff"])
def test_a_damaged_list_is_replaced(home: Path, tmp_path: Path, content: str) -> None:
    make_private_folder((home / BUILT).parent)
    (home / BUILT).write_text(content, errors="surrogateescape")
    assert list_known_shelves() == []
    shelf = make_shelf(tmp_path / "mine")
    remember_shelf(shelf)
    assert find_known_shelf("mine").path == shelf


@pytest.mark.usefixtures("home")
def test_a_path_that_is_not_utf_8_or_a_link_to_itself_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    remember_shelf(tmp_path / "loop")
    remember_shelf(make_shelf(tmp_path / os.fsdecode(b"caf\xe9")))
    assert list_known_shelves() == []


def test_a_list_that_cannot_be_written_does_not_stop_a_build(home: Path, tmp_path: Path) -> None:
    (home / BUILT).mkdir(parents=True)
    remember_shelf(make_shelf(tmp_path / "mine"))
    assert list_known_shelves() == []
