"""A name leads to the library, then to drafts; what is not found is told with what there is."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from pflow.errors import InvalidWorkflow, SecurityError, WorkflowNotFound
from pflow.library.lookup import find_workflow
from pflow.library.manager import StoredWorkflow, WorkflowManager
from pflow.library.promotion import save_to_library
from tests.pflow.library.homes import IR, draft, put, raw, saved
from tests.requirements import requirement

OTHER: dict[str, Any] = {"nodes": [{"id": "other", "type": "echo"}]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of each test."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def local(project: Path, name: str, content: Any = IR) -> Path:
    return put(project, f".pflow/workflows/{name}.json", content)


def refused(home: Path, name: str) -> WorkflowNotFound:
    with pytest.raises(FileNotFoundError) as caught:  # as the specification names it
        find_workflow(home, name)
    missing = caught.value
    assert isinstance(missing, WorkflowNotFound)
    assert (missing.type, str(missing), missing.errno) == ("FileNotFoundError", missing.message, None)
    return missing


@requirement("PF-R8")
def test_the_library_comes_first_and_says_that_a_draft_has_the_same_name(home: Path) -> None:
    saved(home, "x")
    assert find_workflow(home, "x").warnings == ()
    draft(home, "x", OTHER)
    found = find_workflow(home, "x")
    assert (found.stored.source, found.stored.ir) == ("library", IR)
    (warning,) = found.warnings
    assert "draft of the same name" in warning
    assert "workflows/drafts/x.json" in warning


@requirement("PF-R9")
def test_a_draft_is_found_when_the_library_has_none(home: Path) -> None:
    draft(home, "x")
    found = find_workflow(home, "x")
    assert (found.stored.source, found.stored.path) == ("draft", "workflows/drafts/x.json")
    assert found.warnings == ()


@requirement("PF-R9")
def test_a_raw_file_in_the_library_is_found_as_a_draft_after_the_drafts(home: Path) -> None:
    raw(home, "x", OTHER)
    found = find_workflow(home, "x")
    assert (found.stored.source, found.stored.path, found.warnings) == ("draft", "workflows/x.json", ())
    draft(home, "x")
    found = find_workflow(home, "x")
    assert found.stored.path == "workflows/drafts/x.json"
    assert "workflows/x.json" in found.warnings[0]


def test_the_projects_own_workflows_are_found_last_and_as_drafts(home: Path, project: Path) -> None:
    file = local(project, "x", OTHER)
    before = file.stat()
    found = find_workflow(home, "x")
    assert (found.stored.source, found.stored.path, found.warnings) == ("draft", ".pflow/workflows/x.json", ())
    assert find_workflow(home, "x", project).stored == found.stored
    raw(home, "x")
    assert find_workflow(home, "x").stored.ir == IR
    assert ".pflow/workflows/x.json" in find_workflow(home, "x").warnings[0]
    assert file.stat() == before
    assert os.listdir(project / ".pflow") == ["workflows"]


def test_another_folder_than_the_working_one_may_be_given(home: Path, project: Path, tmp_path: Path) -> None:
    local(project, "x")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(WorkflowNotFound):
        find_workflow(home, "x", tmp_path / "elsewhere")


def test_a_home_in_the_working_folder_is_not_taken_for_a_project(project: Path) -> None:
    home = project / ".pflow"
    saved(home, "x")
    assert find_workflow(home, "x").warnings == ()
    raw(home, "y")
    assert find_workflow(home, "y").warnings == ()


def test_a_working_folder_that_is_gone_is_no_hindrance(home: Path, project: Path) -> None:
    draft(home, "x")
    project.rmdir()
    assert find_workflow(home, "x").stored.source == "draft"


@requirement("PF-E3")
def test_what_is_not_found_is_told_with_what_there_is_nearest_first(home: Path, project: Path) -> None:
    saved(home, "pr-analyzer")
    saved(home, "weather")
    draft(home, "pr-analyser-draft")
    raw(home, "loose")
    local(project, "projects-own")
    error = refused(home, "pr-analyzr")
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


def test_at_most_twenty_are_told_and_the_nearest_is_among_them(home: Path) -> None:
    for number in range(50):
        saved(home, f"report-{number:02}")
    saved(home, "zebra-counter")
    error = refused(home, "zebra-countr")
    assert len(error.ids["available"]) == 20
    assert error.ids["available"][0] == "zebra-counter"


def test_an_empty_home_has_nothing_to_offer_but_says_where_to_begin(home: Path) -> None:
    error = refused(home, "x")
    assert (error.ids["available"], error.ids["nearest"]) == ([], None)
    assert "workflows/drafts/x.json" in error.hint


def test_broken_files_are_not_offered_and_do_not_hide_the_rest(home: Path) -> None:
    saved(home, "good")
    raw(home, "broken", "{")
    assert refused(home, "other").ids["available"] == ["good"]


@requirement("PF-E8")
@pytest.mark.parametrize("put_broken", [raw, draft])
def test_a_broken_file_is_a_validation_error_and_not_passed_over(home: Path, put_broken: Any) -> None:
    put_broken(home, "x", '{"nodes": [')
    with pytest.raises(InvalidWorkflow) as caught:
        find_workflow(home, "x")
    assert caught.value.type == "validation_error"


@requirement("PF-R16", "PF-E1", "PF-E2")
@pytest.mark.parametrize("name", ["../etc", "/etc/passwd", "~", "a\0b", "x⁄y"])
def test_what_is_no_name_is_a_security_error(home: Path, name: str) -> None:
    with pytest.raises(SecurityError):
        find_workflow(home, name)
    assert not home.exists()


@requirement("PF-R16")
def test_links_that_lead_out_are_not_followed_from_any_place(home: Path, project: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"nodes": []}')
    for number, folder in enumerate((home / "workflows", home / "workflows/drafts", project / ".pflow/workflows")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"link-{number}.json").symlink_to(secret)
        with pytest.raises(SecurityError):
            find_workflow(home, f"link-{number}")


@requirement("PF-R16")
def test_a_projects_folder_that_leads_out_of_the_project_is_not_looked_into(
    home: Path, project: Path, tmp_path: Path
) -> None:
    put(tmp_path, "outside/x.json")
    (project / ".pflow").mkdir()
    (project / ".pflow" / "workflows").symlink_to(tmp_path / "outside")
    error = refused(home, "x")
    assert error.ids["searched"] == ["workflows/x.json", "workflows/drafts/x.json"]
    assert error.ids["available"] == []


def test_a_link_beside_a_saved_workflow_does_not_stop_it_from_being_found(home: Path) -> None:
    saved(home, "x")
    (home / "workflows" / "drafts").mkdir()
    (home / "workflows" / "drafts" / "x.json").symlink_to("/etc/hostname")
    assert find_workflow(home, "x").stored.source == "library"


def test_a_draft_that_is_saved_while_it_is_looked_for_is_found_all_the_same(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft(home, "x")
    load = WorkflowManager.load
    moved = threading.Event()

    def load_and_move(manager: WorkflowManager, name: str) -> StoredWorkflow:
        try:
            return load(manager, name)
        finally:
            if not moved.is_set():
                moved.set()
                save_to_library(home, "x", "x", "")

    monkeypatch.setattr(WorkflowManager, "load", load_and_move)
    assert find_workflow(home, "x").stored.source == "library"
