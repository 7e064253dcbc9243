"""A folder of workflows: complete files, checked names, and nothing overwritten."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pflow.errors import (
    InvalidInputs,
    InvalidWorkflow,
    LibraryUnwritable,
    SecurityError,
    WorkflowExists,
    WorkflowNotFound,
)
from pflow.store.workflow_library import WorkflowManager
from tests.pflow.store.homes import IR, read_all_files, read_json, write_draft, write_raw_draft, write_saved
from tests.requirements import requirement

CALLS: dict[str, Callable[[WorkflowManager, str], Any]] = {
    "load": lambda manager, name: manager.load(name),
    "save": lambda manager, name: manager.save(name, IR, ""),
    "exists": lambda manager, name: manager.exists(name),
    "delete": lambda manager, name: manager.delete(name),
    "get_path": lambda manager, name: manager.get_path(name),
    "display_path": lambda manager, name: manager.display_path(name),
}


@requirement("PF-R16", "PF-E1", "PF-E2")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "~root", "a\0", "drafts/x", "x∕y", ""])
def test_every_method_refuses_an_invalid_name(tmp_path: Path, call: str, name: str) -> None:
    (tmp_path / "secret.json").write_text("{}")
    for manager in (WorkflowManager.for_library(tmp_path / "home"), WorkflowManager.for_drafts(tmp_path / "home")):
        with pytest.raises(SecurityError):
            CALLS[call](manager, name)
    assert not (tmp_path / "home").exists()


@requirement("PF-R16")
@pytest.mark.parametrize("call", ["load", "save", "exists", "delete", "get_path"])
def test_every_method_refuses_a_link_that_leads_out(tmp_path: Path, call: str) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text('{"ir": {}}')
    home = tmp_path / "home"
    (home / "workflows").mkdir(parents=True)
    (home / "workflows" / "x.json").symlink_to(outside)
    with pytest.raises(SecurityError):
        CALLS[call](WorkflowManager.for_library(home), "x")
    assert outside.read_text() == '{"ir": {}}'
    assert (home / "workflows" / "x.json").is_symlink()


def test_a_saved_workflow_is_loaded(tmp_path: Path) -> None:
    manager = WorkflowManager.for_library(tmp_path)
    path = manager.save("greeter", IR, "Greets people.")
    assert path == tmp_path / "workflows" / "greeter.json" == manager.get_path("greeter")
    stored = manager.load("greeter")
    assert (stored.name, stored.description, stored.ir, stored.source) == ("greeter", "Greets people.", IR, "library")
    assert stored.path == "workflows/greeter.json"
    assert stored.created_at == stored.updated_at
    assert read_json(path).keys() == {"name", "description", "ir", "created_at", "updated_at", "version"}
    assert set(read_all_files(tmp_path)) == {"workflows/greeter.json"}


@requirement("PF-M1")
def test_drafts_have_a_manager_of_their_own(tmp_path: Path) -> None:
    write_draft(tmp_path, "greeter")
    drafts = WorkflowManager.for_drafts(tmp_path)
    stored = drafts.load("greeter")
    assert (stored.ir, stored.source, stored.path) == (IR, "draft", "workflows/drafts/greeter.json")
    assert stored.created_at is None
    drafts.save("other", IR, "Wrapped, and still a draft.")
    assert drafts.load("other").source == "draft"
    assert not WorkflowManager.for_library(tmp_path).exists("greeter")


def test_a_raw_file_in_the_library_is_a_draft_and_not_of_the_library(tmp_path: Path) -> None:
    write_raw_draft(tmp_path, "loose")
    write_saved(tmp_path, "greeter")
    library, loose = WorkflowManager.for_library(tmp_path), WorkflowManager.for_raw_drafts(tmp_path)
    with pytest.raises(WorkflowNotFound):
        library.load("loose")
    with pytest.raises(WorkflowNotFound):
        library.delete("loose")
    assert (library.exists("loose"), loose.exists("loose")) == (False, True)
    assert loose.load("loose").source == "draft"
    with pytest.raises(WorkflowNotFound):
        loose.load("greeter")
    # Whichever lists first and fills the index, both see their own.
    for manager in (loose, library, loose):
        assert [one.name for one in manager.list_all()] == (["loose"] if manager is loose else ["greeter"])


@pytest.mark.parametrize("there", ["wrapped", "raw", "broken", "folder", "dangling"])
@requirement("PF-E5")
def test_saving_under_a_name_that_is_taken_changes_nothing(tmp_path: Path, there: str) -> None:
    library = WorkflowManager.for_library(tmp_path)
    makers: dict[str, Callable[[], object]] = {
        "wrapped": lambda: write_saved(tmp_path, "x"),
        "raw": lambda: write_raw_draft(tmp_path, "x"),
        "broken": lambda: write_raw_draft(tmp_path, "x", "{"),
        "folder": lambda: (tmp_path / "workflows" / "x.json").mkdir(parents=True),
        "dangling": lambda: ((tmp_path / "workflows").mkdir(), (tmp_path / "workflows/x.json").symlink_to("y.json")),
    }
    makers[there]()
    before = read_all_files(tmp_path)
    with pytest.raises(WorkflowExists) as caught:
        library.save("x", IR, "")
    assert caught.value.type == "already_exists"
    assert "workflows/x.json" in caught.value.message
    assert str(tmp_path) not in str(caught.value.body())
    assert read_all_files(tmp_path) == before
    assert os.listdir(tmp_path / "workflows") == ["x.json"]


def test_a_description_that_is_too_long_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputs):
        WorkflowManager.for_library(tmp_path).save("x", IR, "d" * 501)
    assert os.listdir(tmp_path) == []


def test_saving_syncs_the_file_and_links_it_before_it_syncs_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, link = os.fsync, os.link

    def noted_fsync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def noted_link(source: Path, target: Path) -> None:
        steps.append("link")
        assert source.parent == target.parent
        link(source, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "link", noted_link)
    WorkflowManager.for_library(tmp_path).save("x", IR, "")
    assert steps == ["file", "link", "folder"]


@pytest.mark.parametrize("failing", [0, 1], ids=["the file", "the folder"])
def test_a_full_disk_leaves_no_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    calls = 0

    def full(_: int) -> None:
        nonlocal calls
        calls += 1
        if calls > failing:
            raise OSError(errno.ENOSPC, "No space left on device")

    write_saved(tmp_path, "other")
    before = read_all_files(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LibraryUnwritable) as caught:
        WorkflowManager.for_library(tmp_path).save("x", IR, "")
    assert calls == failing + 1
    assert "No space left on device" in caught.value.message
    assert str(tmp_path) not in str(caught.value.body())
    assert read_all_files(tmp_path) == before


def test_a_home_that_cannot_be_created_is_reported_without_its_path(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(LibraryUnwritable) as caught:
        WorkflowManager.for_library(tmp_path / "home").save("x", IR, "")
    assert str(tmp_path) not in str(caught.value.body())


def test_a_deleted_workflow_is_gone_and_cannot_be_deleted_again(tmp_path: Path) -> None:
    write_saved(tmp_path, "x")
    manager = WorkflowManager.for_library(tmp_path)
    assert manager.exists("x")
    manager.delete("x")
    assert not manager.exists("x")
    with pytest.raises(WorkflowNotFound) as caught:
        manager.delete("x")
    assert caught.value.type == "FileNotFoundError"
    assert caught.value.ids["searched"] == ["workflows/x.json"]


@requirement("PF-E8")
def test_a_broken_file_exists_cannot_be_loaded_and_can_be_deleted(tmp_path: Path) -> None:
    write_raw_draft(tmp_path, "x", '{"nodes": [}')
    manager = WorkflowManager.for_library(tmp_path)
    assert manager.exists("x")
    with pytest.raises(InvalidWorkflow) as caught:
        manager.load("x")
    assert caught.value.ids["path"] == "workflows/x.json"
    assert (caught.value.ids["line"], caught.value.ids["column"]) == (1, 12)
    manager.delete("x")
    assert read_all_files(tmp_path) == {}


def test_a_read_only_folder_is_read_and_neither_written_nor_deleted_from(tmp_path: Path) -> None:
    write_draft(tmp_path, "x")
    manager = WorkflowManager(tmp_path / "workflows" / "drafts", "draft", root=tmp_path, is_read_only=True)
    assert manager.load("x").ir == IR
    for change in ("save", "delete"):
        with pytest.raises(SecurityError):
            CALLS[change](manager, "x")
    assert set(read_all_files(tmp_path)) == {"workflows/drafts/x.json"}


@requirement("PF-R4", "PF-R5", "PF-M1")
def test_the_library_lists_all_and_searches_by_pattern(tmp_path: Path) -> None:
    write_saved(tmp_path, "test-report", "Sums the day up.")
    write_saved(tmp_path, "Daily-Report", "A TEST of the whole.")
    write_saved(tmp_path, "greeter")
    write_draft(tmp_path, "test-draft")
    manager = WorkflowManager.for_library(tmp_path)
    assert [one.name for one in manager.list_all()] == ["Daily-Report", "greeter", "test-report"]
    assert [one.name for one in manager.search(None)] == ["Daily-Report", "greeter", "test-report"]
    assert [one.name for one in manager.search("test")] == ["Daily-Report", "test-report"]
    assert [one.name for one in manager.search("*-REPORT")] == ["Daily-Report", "test-report"]
    assert manager.search("nothing like it") == []


def test_a_manager_of_any_folder_lists_without_an_index(tmp_path: Path) -> None:
    write_draft(tmp_path, "x")
    manager = WorkflowManager(tmp_path / "workflows" / "drafts", "draft")
    assert [one.path for one in manager.list_all()] == ["drafts/x.json"]
    assert os.listdir(tmp_path) == ["workflows"]
