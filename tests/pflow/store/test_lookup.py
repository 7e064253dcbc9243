"""Lookup of a name in the library and the drafts, and the error for a missing one."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from pflow.errors import InvalidWorkflow, SecurityError, WorkflowNotFound
from pflow.service.workflow_texts import move_draft_to_library
from pflow.store.workflow_library import StoredWorkflow, WorkflowManager, find_workflow
from tests.pflow.store.homes import IR, write_draft, write_raw_draft, write_saved, write_workflow_file
from tests.requirements import requirement

OTHER: dict[str, Any] = {"nodes": [{"id": "other", "type": "echo"}]}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder of the test."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def write_project_draft(project: Path, name: str, content: Any = IR) -> Path:
    return write_workflow_file(project, f".pflow/workflows/{name}.json", content)


def expect_not_found(home: Path, name: str) -> WorkflowNotFound:
    with pytest.raises(FileNotFoundError) as caught:  # as the specification names it
        find_workflow(home, name)
    missing = caught.value
    assert isinstance(missing, WorkflowNotFound)
    assert (missing.type, str(missing), missing.errno) == ("FileNotFoundError", missing.message, None)
    return missing


@requirement("PF-R8")
def test_the_library_wins_with_a_warning_about_the_draft_of_the_same_name(home: Path) -> None:
    write_saved(home, "x")
    assert find_workflow(home, "x").warnings == ()
    write_draft(home, "x", OTHER)
    found = find_workflow(home, "x")
    assert (found.stored.source, found.stored.ir) == ("library", IR)
    (warning,) = found.warnings
    assert "draft of the same name" in warning
    assert "workflows/drafts/x.json" in warning


@requirement("PF-R9")
def test_a_draft_is_found_if_the_library_does_not_have_the_name(home: Path) -> None:
    write_draft(home, "x")
    found = find_workflow(home, "x")
    assert (found.stored.source, found.stored.path) == ("draft", "workflows/drafts/x.json")
    assert found.warnings == ()


@requirement("PF-R9")
def test_a_raw_file_in_the_library_is_found_as_a_draft_after_the_drafts(home: Path) -> None:
    write_raw_draft(home, "x", OTHER)
    found = find_workflow(home, "x")
    assert (found.stored.source, found.stored.path, found.warnings) == ("draft", "workflows/x.json", ())
    write_draft(home, "x")
    found = find_workflow(home, "x")
    assert found.stored.path == "workflows/drafts/x.json"
    assert "workflows/x.json" in found.warnings[0]


def test_the_projects_own_workflows_are_found_last_and_as_drafts(home: Path, project: Path) -> None:
    file = write_project_draft(project, "x", OTHER)
    before = file.stat()
    found = find_workflow(home, "x")
    assert (found.stored.source, found.stored.path, found.warnings) == ("draft", ".pflow/workflows/x.json", ())
    assert find_workflow(home, "x", project).stored == found.stored
    write_raw_draft(home, "x")
    assert find_workflow(home, "x").stored.ir == IR
    assert ".pflow/workflows/x.json" in find_workflow(home, "x").warnings[0]
    assert file.stat() == before
    assert os.listdir(project / ".pflow") == ["workflows"]


def test_another_folder_than_the_working_one_may_be_given(home: Path, project: Path, tmp_path: Path) -> None:
    write_project_draft(project, "x")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(WorkflowNotFound):
        find_workflow(home, "x", tmp_path / "elsewhere")


def test_a_home_in_the_working_folder_is_not_taken_for_a_project(project: Path) -> None:
    home = project / ".pflow"
    write_saved(home, "x")
    assert find_workflow(home, "x").warnings == ()
    write_raw_draft(home, "y")
    assert find_workflow(home, "y").warnings == ()


def test_a_deleted_working_folder_is_not_an_error(home: Path, project: Path) -> None:
    write_draft(home, "x")
    project.rmdir()
    assert find_workflow(home, "x").stored.source == "draft"


@requirement("PF-E3")
def test_a_missing_workflow_is_reported_with_the_nearest_names_first(home: Path, project: Path) -> None:
    write_saved(home, "pr-analyzer")
    write_saved(home, "weather")
    write_draft(home, "pr-analyser-draft")
    write_raw_draft(home, "loose")
    write_project_draft(project, "projects-own")
    error = expect_not_found(home, "pr-analyzr")
    available = error.ids["available"]
    assert available[0] == "pr-analyzer"
    assert set(available) == {"pr-analyzer", "pr-analyser-draft", "weather", "loose", "projects-own"}
    assert error.ids["nearest"] == "pr-analyzer"
    assert "pr-analyzer" in error.hint
    assert error.ids["searched"] == [
        "workflows/pr-analyzr.json",
        "workflows/drafts/pr-analyzr.json",
        ".pflow/workflows/pr-analyzr.json",
    ]
    assert str(home.parent) not in str(error.body())


def test_at_most_twenty_names_are_listed_and_the_nearest_is_among_them(home: Path) -> None:
    for number in range(50):
        write_saved(home, f"report-{number:02}")
    write_saved(home, "zebra-counter")
    error = expect_not_found(home, "zebra-countr")
    assert len(error.ids["available"]) == 20
    assert error.ids["available"][0] == "zebra-counter"


def test_an_empty_home_lists_no_names_but_a_hint(home: Path) -> None:
    error = expect_not_found(home, "x")
    assert (error.ids["available"], error.ids["nearest"]) == ([], None)
    assert "workflows/drafts/x.json" in error.hint


def test_broken_files_are_not_offered_and_do_not_hide_the_rest(home: Path) -> None:
    write_saved(home, "good")
    write_raw_draft(home, "broken", "{")
    assert expect_not_found(home, "other").ids["available"] == ["good"]


@requirement("PF-E8")
@pytest.mark.parametrize("put_broken", [write_raw_draft, write_draft])
def test_a_broken_file_is_a_validation_error_and_not_skipped(home: Path, put_broken: Any) -> None:
    put_broken(home, "x", '{"nodes": [')
    with pytest.raises(InvalidWorkflow) as caught:
        find_workflow(home, "x")
    assert caught.value.type == "validation_error"


@requirement("PF-R16", "PF-E1", "PF-E2")
@pytest.mark.parametrize("name", ["../etc", "/etc/passwd", "~", "a\0b", "x⁄y"])
def test_an_invalid_name_is_a_security_error(home: Path, name: str) -> None:
    with pytest.raises(SecurityError):
        find_workflow(home, name)
    assert not home.exists()


@requirement("PF-R16")
def test_links_out_of_the_folder_are_not_followed(home: Path, project: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"nodes": []}')
    for number, folder in enumerate((home / "workflows", home / "workflows/drafts", project / ".pflow/workflows")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"link-{number}.json").symlink_to(secret)
        with pytest.raises(SecurityError):
            find_workflow(home, f"link-{number}")


@requirement("PF-R16")
def test_a_project_folder_that_links_out_of_the_project_is_not_searched(
    home: Path, project: Path, tmp_path: Path
) -> None:
    write_workflow_file(tmp_path, "outside/x.json")
    (project / ".pflow").mkdir()
    (project / ".pflow" / "workflows").symlink_to(tmp_path / "outside")
    error = expect_not_found(home, "x")
    assert error.ids["searched"] == ["workflows/x.json", "workflows/drafts/x.json"]
    assert error.ids["available"] == []


def test_a_link_beside_a_saved_workflow_does_not_stop_it_from_being_found(home: Path) -> None:
    write_saved(home, "x")
    (home / "workflows" / "drafts").mkdir()
    (home / "workflows" / "drafts" / "x.json").symlink_to("/etc/hostname")
    assert find_workflow(home, "x").stored.source == "library"


def test_a_draft_that_is_saved_during_the_lookup_is_found(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_draft(home, "x")
    load = WorkflowManager.load
    moved = threading.Event()

    def load_and_move(manager: WorkflowManager, name: str) -> StoredWorkflow:
        try:
            return load(manager, name)
        finally:
            if not moved.is_set():
                moved.set()
                move_draft_to_library(home, "x", "x", "")

    monkeypatch.setattr(WorkflowManager, "load", load_and_move)
    assert find_workflow(home, "x").stored.source == "library"
