"""Who built a shelf and who wrote a note is stored with it; shelves and notes of earlier versions name nobody."""

# pyright: reportTypedDictNotRequiredAccess=false

from pathlib import Path
from typing import NamedTuple

import pytest

from paper_library.api.workflow_nodes import add_papers
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.store.layout import BUILT_BY, read_builder
from paper_library.store.paper_notes import PaperNotes
from uraniborg.kernel.actors import Actor, get_process_actor

ADA = Actor(kind="person", name="Ada", authenticated="account")
AGENT = Actor(kind="agent", name="assistant 1.0", authenticated="credential")


class NodeContext(NamedTuple):
    """The part of the context of a node that additions use."""

    folder: Path
    actor: Actor


@pytest.fixture
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    path = tmp_path / "refs.bib"
    path.write_text("@article{a, title={Tides of moons}, doi={10.1000/1}, year={2020}}\n")
    return path


def test_a_shelf_and_its_report_state_who_built_it(papers: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    report = build_shelf([papers], shelf, actor=ADA)
    assert report.as_dict()["actor"] == ADA.model_dump()
    assert Library.open(shelf).stats()["built_by"] == ADA.model_dump()


def test_a_build_that_changes_nothing_keeps_its_builder(papers: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    build_shelf([papers], shelf, actor=ADA)
    build_shelf([papers], shelf, actor=AGENT)
    assert read_builder(shelf) == ADA
    papers.write_text(papers.read_text().replace("Tides", "Tides and orbits"))
    build_shelf([papers], shelf, actor=AGENT)
    assert read_builder(shelf) == AGENT


def test_a_shelf_of_an_earlier_version_names_no_builder(papers: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    build_shelf([papers], shelf)
    assert read_builder(shelf) == get_process_actor()
    (shelf / BUILT_BY).unlink()
    assert Library.open(shelf).stats()["built_by"] is None


def test_papers_that_a_run_adds_are_added_by_who_started_the_run(papers: Path, tmp_path: Path) -> None:
    add_papers({"files": str(papers), "shelf": "shelf"}, NodeContext(tmp_path, AGENT))
    assert read_builder(tmp_path / "shelf") == AGENT


def test_a_note_has_its_actor_and_keeps_the_revision_of_earlier_versions(tmp_path: Path) -> None:
    notes = PaperNotes(tmp_path / "shelf")
    written = notes.write_note("p_1", "read again", [], by="Ada", actor=ADA)
    assert PaperNotes(tmp_path / "shelf").read_note("p_1") == written
    assert written.as_dict()["actor"] == ADA.model_dump()
    assert written.revision == written._replace(actor=None).revision
