"""Workflow files that any program writes or deletes are found once, also by a later process."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pflow.store.workflow_listing import DRAFTS, LIBRARY, FileChanges, WorkflowFileChange


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for folder in (LIBRARY, DRAFTS):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "hello.json").write_text("{}")
    return tmp_path


def test_nothing_is_found_if_nothing_changed_or_other_files_were_written(home: Path) -> None:
    files = FileChanges(home)
    assert files.find_changes() == []
    (home / LIBRARY / ".hello.json").write_text("{}")
    (home / LIBRARY / "notes.txt").write_text("")
    assert files.find_changes() == []


def test_a_written_and_a_deleted_file_are_found_once(home: Path) -> None:
    files = FileChanges(home)
    (home / DRAFTS / "hello.json").write_text('{"nodes": []}')
    (home / LIBRARY / "hello.json").unlink()
    assert files.find_changes() == [
        WorkflowFileChange("hello", "draft", is_deleted=False),
        WorkflowFileChange("hello", "library", is_deleted=True),
    ]
    assert files.find_changes() == []


def test_a_home_without_folders_has_no_changes_until_a_file_is_written(tmp_path: Path) -> None:
    files = FileChanges(tmp_path)
    assert files.find_changes() == []
    (tmp_path / LIBRARY).mkdir()
    (tmp_path / LIBRARY / "hello.json").write_text("{}")
    assert files.find_changes() == [WorkflowFileChange("hello", "library", is_deleted=False)]


def test_a_file_that_is_deleted_during_a_look_is_found_as_deleted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = FileChanges(home)
    scan = os.scandir

    class Scan:
        """Deletes the first file of a folder after it was listed."""

        def __init__(self, folder: Path) -> None:
            self._files = list(scan(folder))

        def __enter__(self) -> Iterator[os.DirEntry[str]]:
            for file in self._files:
                if file.is_file():
                    os.unlink(file)
            return iter(self._files)

        def __exit__(self, *_raised: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", Scan)
    assert {(change.source, change.is_deleted) for change in files.find_changes()} == {
        ("library", True),
        ("draft", True),
    }


def test_a_later_process_finds_the_changes_since_the_last_look(home: Path) -> None:
    FileChanges(home)
    (home / DRAFTS / "new.json").write_text("{}")
    (home / LIBRARY / "hello.json").unlink()
    later = FileChanges(home)
    assert later.find_changes() == [
        WorkflowFileChange("new", "draft", is_deleted=False),
        WorkflowFileChange("hello", "library", is_deleted=True),
    ]
    assert len(FileChanges(home).find_changes()) == 2, "the look was not stored, as when the process was killed"
    later.store_look()
    assert FileChanges(home).find_changes() == []


@pytest.mark.parametrize("content", ["", "{", "[1]", "null", '[["draft"]]'])
def test_a_damaged_file_of_stamps_is_replaced(home: Path, content: str) -> None:
    FileChanges(home)
    (stored,) = (home / "cache").iterdir()
    stored.write_text(content)
    assert FileChanges(home).find_changes() == []
    (home / DRAFTS / "hello.json").unlink()
    assert FileChanges(home).find_changes() == [WorkflowFileChange("hello", "draft", is_deleted=True)]


def test_a_name_that_is_not_utf_8_is_stored_and_found_again(home: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (home / DRAFTS / f"{name}.json").write_text("{}")
    FileChanges(home)
    assert FileChanges(home).find_changes() == []
