"""Saving moves a draft to the library, completely, and overwrites nothing."""

import errno
import os
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
from pflow.service import workflow_texts as saving
from pflow.service.workflow_texts import move_draft_to_library
from pflow.store.workflow_library import WorkflowManager, find_workflow
from tests.pflow.store.homes import (
    IR,
    read_all_files,
    read_json,
    write_draft,
    write_raw_draft,
    write_saved,
    write_workflow_file,
)
from tests.requirements import requirement
from uraniborg.kernel.store.files import Locked, hold_lock

OTHER: dict[str, Any] = {"nodes": [{"id": "other", "type": "echo"}]}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "home"


@requirement("PF-R14", "PF-R15")
@pytest.mark.parametrize("final", ["x", "y"])
def test_a_draft_is_in_the_library_and_no_draft_any_more(home: Path, final: str) -> None:
    write_draft(home, "x")
    path = move_draft_to_library(home, "x", final, "Greets people.").path
    assert path == home / "workflows" / f"{final}.json"
    assert set(read_all_files(home)) == {f"workflows/{final}.json"}
    stored = WorkflowManager.for_library(home).load(final)
    assert (stored.ir, stored.description, read_json(path)["name"]) == (IR, "Greets people.", final)
    assert find_workflow(home, final).warnings == ()


def test_a_wrapped_draft_gets_the_name_and_description_it_is_saved_with(home: Path) -> None:
    write_draft(home, "x", {"name": "old", "description": "Old.", "ir": IR})
    move_draft_to_library(home, "x", "y", "New.")
    stored = WorkflowManager.for_library(home).load("y")
    assert (stored.ir, stored.description, read_json(home / "workflows/y.json")["name"]) == (IR, "New.", "y")


def test_a_raw_file_in_the_library_saved_under_its_own_name_is_wrapped_in_place(home: Path) -> None:
    write_raw_draft(home, "x")
    move_draft_to_library(home, "x", "x", "Greets people.")
    assert set(read_all_files(home)) == {"workflows/x.json"}
    stored = WorkflowManager.for_library(home).load("x")
    assert (stored.ir, stored.description, stored.source) == (IR, "Greets people.", "library")


def test_a_raw_file_in_the_library_saved_under_another_name_is_moved(home: Path) -> None:
    write_raw_draft(home, "x")
    move_draft_to_library(home, "x", "y", "")
    assert set(read_all_files(home)) == {"workflows/y.json"}
    assert find_workflow(home, "y").stored.source == "library"


def test_a_projects_own_draft_is_saved_and_left_where_it_is(home: Path, tmp_path: Path) -> None:
    file = write_workflow_file(tmp_path / "project", ".pflow/workflows/x.json")
    outcome = move_draft_to_library(home, "x", "x", "")
    assert outcome.warnings == (
        "The draft stays at .pflow/workflows/x.json: pflow does not change files in a project's folder. "
        "Delete it unless you want both workflows.",
    )
    assert read_json(file) == IR
    assert find_workflow(home, "x").stored.source == "library"
    assert ".pflow/workflows/x.json" in find_workflow(home, "x").warnings[0]


@requirement("PF-R13", "PF-E3")
def test_a_missing_draft_cannot_be_saved_and_the_others_are_listed(home: Path) -> None:
    write_draft(home, "greeter")
    write_saved(home, "weather")
    before = read_all_files(home)
    with pytest.raises(WorkflowNotFound) as caught:
        move_draft_to_library(home, "greetr", "final", "")
    assert caught.value.type == "FileNotFoundError"
    assert caught.value.ids["available"] == ["greeter", "weather"]
    assert caught.value.ids["searched"] == ["workflows/drafts/greetr.json", "workflows/greetr.json"]
    assert read_all_files(home) == before


@requirement("PF-R13")
def test_a_saved_workflow_is_not_a_draft(home: Path) -> None:
    write_saved(home, "x")
    with pytest.raises(WorkflowNotFound):
        move_draft_to_library(home, "x", "y", "")
    with pytest.raises(WorkflowNotFound, match="Workflow not found: 'x'") as caught:
        move_draft_to_library(home, "x", "x", "")
    assert caught.value.hint == "It is already saved in the library, and not a draft."
    assert set(read_all_files(home)) == {"workflows/x.json"}


def test_nothing_is_created_if_there_is_nothing_to_save(home: Path) -> None:
    with pytest.raises(WorkflowNotFound):
        move_draft_to_library(home, "x", "x", "")
    assert not (home / "workflows").exists()


@requirement("PF-E5")
@pytest.mark.parametrize("occupied_by", [write_saved, write_raw_draft])
def test_a_final_name_that_is_taken_is_refused_and_nothing_is_touched(
    home: Path, occupied_by: Callable[[Path, str], Path]
) -> None:
    write_draft(home, "x", OTHER)
    write_draft(home, "taken", OTHER)
    occupied_by(home, "taken")
    before = {path: (content, (home / path).stat().st_mtime_ns) for path, content in read_all_files(home).items()}
    for name in ("x", "taken"):
        with pytest.raises(WorkflowExists) as caught:
            move_draft_to_library(home, name, "taken", "")
        assert caught.value.type == "already_exists"
    assert {
        path: (content, (home / path).stat().st_mtime_ns) for path, content in read_all_files(home).items()
    } == before


def test_a_raw_file_is_not_replaced_by_one_of_another_name(home: Path) -> None:
    write_raw_draft(home, "x", OTHER)
    write_raw_draft(home, "y")
    with pytest.raises(WorkflowExists):
        move_draft_to_library(home, "x", "y", "")
    assert read_json(home / "workflows/y.json") == IR


@requirement("PF-R16", "PF-E1", "PF-E2")
@pytest.mark.parametrize("bad", ["../x", "/etc/passwd", "~", "", "a\0", "x／y"])
def test_neither_name_may_lead_anywhere(home: Path, bad: str) -> None:
    write_draft(home, "x")
    for names in ((bad, "y"), ("x", bad)):
        with pytest.raises(SecurityError):
            move_draft_to_library(home, *names, "")
    assert set(read_all_files(home)) == {"workflows/drafts/x.json"}


@requirement("PF-R16")
def test_links_that_lead_out_are_neither_saved_nor_saved_to(home: Path, tmp_path: Path) -> None:
    secret = write_workflow_file(tmp_path, "secret.json")
    write_draft(home, "x")
    (home / "workflows/drafts/link.json").symlink_to(secret)
    (home / "workflows/target.json").symlink_to(tmp_path / "made.json")
    for names in (("link", "y"), ("x", "target")):
        with pytest.raises(SecurityError):
            move_draft_to_library(home, *names, "")
    assert not (tmp_path / "made.json").exists()
    assert not (home / "workflows/y.json").exists()
    assert read_json(home / "workflows/drafts/x.json") == read_json(secret)


def test_a_description_that_is_too_long_is_refused_and_the_draft_stays(home: Path) -> None:
    write_draft(home, "x")
    with pytest.raises(InvalidInputs):
        move_draft_to_library(home, "x", "y", "d" * 501)
    assert set(read_all_files(home)) == {"workflows/drafts/x.json"}


@requirement("PF-E8")
def test_a_broken_draft_is_a_validation_error_and_stays(home: Path) -> None:
    write_draft(home, "x", '{"nodes": [], "nodes": []}')
    with pytest.raises(InvalidWorkflow):
        move_draft_to_library(home, "x", "y", "")
    assert set(read_all_files(home)) == {"workflows/drafts/x.json"}


@requirement("PF-R14")
@pytest.mark.parametrize("failing", range(4))
@pytest.mark.parametrize("put_draft", [write_draft, write_raw_draft])
@pytest.mark.parametrize("final", ["x", "y"])
def test_a_full_disk_changes_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, put_draft: Callable[[Path, str], Path], final: str, failing: int
) -> None:
    """Full from the nth call on that asks the disk to keep something."""
    put_draft(home, "x")
    write_saved(home, "other")
    before = read_all_files(home)
    calls = 0

    def filling(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > failing:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(*arguments)

        return call

    for name in ("fsync", "link", "replace"):
        monkeypatch.setattr(os, name, filling(getattr(os, name)))
    # In its place a draft is saved by the second call; else the third makes sure of it, and the fourth of its removal.
    if failing >= (2 if put_draft is write_raw_draft and final == "x" else 3):
        move_draft_to_library(home, "x", final, "")
        assert set(read_all_files(home)) == {f"workflows/{final}.json", "workflows/other.json"}
        assert find_workflow(home, final).stored.source == "library"
        return
    with pytest.raises(LibraryUnwritable) as caught:
        move_draft_to_library(home, "x", final, "")
    assert "No space left on device" in caught.value.message
    assert str(home) not in str(caught.value.body())
    assert read_all_files(home) == before


def test_no_space_for_the_lock_file_is_reported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_draft(home, "x")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(saving, "hold_lock", full)
    with pytest.raises(LibraryUnwritable):
        move_draft_to_library(home, "x", "y", "")
    assert set(read_all_files(home)) == {"workflows/drafts/x.json"}


def test_a_save_waits_for_another_only_so_long(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_draft(home, "x")
    monkeypatch.setattr(saving, "_PATIENCE_S", 0.0)
    with hold_lock(home / "workflows" / ".saving.lock", 0), pytest.raises(Locked):
        move_draft_to_library(home, "x", "y", "")
    assert set(read_all_files(home)) == {"workflows/drafts/x.json"}


def test_a_draft_that_was_edited_during_the_save_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_draft(home, "x")
    link = os.link

    def link_and_edit(source: Path, target: Path) -> None:
        link(source, target)
        write_draft(home, "x", OTHER)

    monkeypatch.setattr(os, "link", link_and_edit)
    outcome = move_draft_to_library(home, "x", "y", "")
    assert "workflows/drafts/x.json: it was edited while it was saved." in outcome.warnings[0]
    assert WorkflowManager.for_library(home).load("y").ir == IR
    assert WorkflowManager.for_drafts(home).load("x").ir == OTHER


def test_a_draft_that_was_broken_while_it_was_saved_stays_with_a_warning(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_draft(home, "x")
    link = os.link

    def link_and_edit(source: Path, target: Path) -> None:
        link(source, target)
        write_draft(home, "x", "{")

    monkeypatch.setattr(os, "link", link_and_edit)
    outcome = move_draft_to_library(home, "x", "y", "")
    assert "workflows/drafts/x.json: it differs from the saved workflow." in outcome.warnings[0]
    assert WorkflowManager.for_library(home).load("y").ir == IR


def test_a_draft_that_was_removed_during_the_save_gives_no_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_draft(home, "x")
    link = os.link

    def link_and_remove(source: Path, target: Path) -> None:
        link(source, target)
        file.unlink()

    monkeypatch.setattr(os, "link", link_and_remove)
    assert move_draft_to_library(home, "x", "y", "").warnings == ()
    assert set(read_all_files(home)) == {"workflows/y.json"}


def test_a_draft_that_cannot_be_removed_is_saved_all_the_same(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_draft(home, "x")
    unlink = os.unlink

    def keep(path: Any, **more: Any) -> None:
        if Path(path) == file:
            raise PermissionError(errno.EACCES, "Permission denied")
        unlink(path, **more)

    monkeypatch.setattr(os, "unlink", keep)
    outcome = move_draft_to_library(home, "x", "x", "")
    assert "workflows/drafts/x.json: it cannot be removed (Permission denied)." in outcome.warnings[0]
    found = find_workflow(home, "x")
    assert (found.stored.source, len(found.warnings)) == ("library", 1)
