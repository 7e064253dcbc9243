"""The library as nodes of workflows."""

# pyright: reportArgumentType=false, reportTypedDictNotRequiredAccess=false

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest

from paper_library.api import workflow_nodes
from paper_library.errors import (
    NothingToShelve,
    OutOfBounds,
    PaperNotFound,
    ShelfExists,
    ShelfNotFound,
    SourceNotAvailable,
)
from paper_library.service.library import Library
from paper_library.service.shelf_catalog import find_known_shelf
from pflow.domain.node_interface import parse_interface
from tests.paper_library.operations.shelves import build_readable_shelf, write_bibliography
from uraniborg.kernel.errors import InvalidInput, UraniborgError

INTERFACES = {
    plain["type"]: plain
    for plain in json.loads(Path(workflow_nodes.__file__).with_suffix(".json").read_text())["nodes"]
}
NOVA = {"id": "x1", "title": "On the new star", "authors": ["Tycho Brahe"], "year": 1573, "doi": "10.1000/nova"}
COMET = {
    "id": "x2",
    "title": "On the great comet",
    "authors": ["Sophie Brahe", "Tycho Brahe"],
    "year": 1577,
    "venue": None,
    "doi": None,
    "relevance_score": 0.9,
    "abstract": "Its tail was long.",
    "identifiers": {"arxiv": "1577.01234"},
    "sources": ["arxiv"],
}


@dataclass(frozen=True)
class Context:
    folder: Path


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("URANIBORG_LIBRARY__SHELF", raising=False)
    monkeypatch.chdir(tmp_path)
    return Context(tmp_path)


@pytest.fixture
def shelf(context: Context) -> Path:
    build_readable_shelf(context.folder / "shelf")
    return context.folder / "shelf"


@pytest.mark.parametrize("kind", ["library-search", "library-read", "library-rows", "library-add"])
def test_every_interface_is_valid_and_names_a_function_and_known_parameters(kind: str) -> None:
    interface = parse_interface(INTERFACES[kind], source="entry-point")
    module, _, name = interface.run.partition(":")
    function = getattr(import_module(module), name)
    assert callable(function)
    assert not iscoroutinefunction(function), "it blocks, so it has to run in a thread"
    assert interface.example.keys() <= interface.params.keys()
    assert interface.effect == ("idempotent" if kind == "library-add" else "pure")


def test_the_nodes_work_without_pflow() -> None:
    message = (
        "import sys, paper_library.api.workflow_nodes; "
        "print([name for name in sys.modules if name.startswith('pflow')])"
    )
    done = subprocess.run([sys.executable, "-c", message], capture_output=True, text=True, timeout=50, check=True)
    assert done.stdout.strip() == "[]"


def test_a_search_finds_the_papers_of_the_named_shelf(context: Context, shelf: Path) -> None:
    found = workflow_nodes.search_shelf({"query": "comets", "shelf": "shelf"}, context)
    assert (found["total"], found["next_offset"]) == (1, None)
    assert found["results"][0]["title"] == "On comets"
    declared = parse_interface(INTERFACES["library-search"], source="entry-point").outputs
    assert found.keys() == declared.keys()
    structure = declared["results"].structure
    assert structure is not None
    assert structure.keys() <= found["results"][0].keys()
    page = workflow_nodes.search_shelf({"query": "", "shelf": str(shelf), "limit": 2, "sort": "title_asc"}, context)
    assert ([hit["title"] for hit in page["results"]], page["total"], page["next_offset"]) == (
        ["Instruments of astronomy", "On comets"],
        3,
        2,
    )


def test_without_a_name_the_shelf_of_the_settings_or_the_sample_is_used(
    context: Context, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert workflow_nodes.search_shelf({"query": "author:vaswani"}, context)["total"] > 0
    monkeypatch.setenv("URANIBORG_LIBRARY__SHELF", str(shelf))
    assert workflow_nodes.search_shelf({"query": "author:vaswani"}, context)["total"] == 0
    assert workflow_nodes.search_shelf({"query": "comets"}, context)["total"] == 1


@pytest.fixture
def sampled(context: Context) -> Context:
    """Return a context with a shelf `sampled` of a comet and the sample papers."""
    added = workflow_nodes.add_papers({"papers": [COMET], "sample": True, "shelf": "sampled"}, context)
    assert added["papers"] == 38
    return context


def test_rows_of_a_papers_tables_come_with_header_table_and_section(sampled: Context) -> None:
    found = workflow_nodes.list_table_rows({"paper_id": "10.3847/PSJ/abd022", "shelf": "sampled"}, sampled)
    assert found["total"] == len(found["rows"]) == 7
    row = found["rows"][3]
    assert row["header"][:2] == ["planet", "mass [M⊕]"]
    assert row["row"][:2] == ["e", "0.692 ± 0.022"]
    assert (row["section"], row["table"].startswith("values stated by Agol")) == ("Planets of TRAPPIST-1", True)
    text = Library.open(sampled.folder / "sampled").source("agol2021")
    assert text[row["offset"] :].startswith("| e | 0.692")
    declared = parse_interface(INTERFACES["library-rows"], source="entry-point").outputs
    structure = declared["rows"].structure
    assert structure is not None
    assert (found.keys(), row.keys()) == (declared.keys(), structure.keys())


@pytest.mark.parametrize(
    ("containing", "total"), [("", 7), ("mass planet", 7), ("0.692", 1), ("Mass TRAPPIST", 7), ("albedo", 0)]
)
def test_rows_are_chosen_by_words_of_the_row_or_its_table(sampled: Context, containing: str, total: int) -> None:
    params = {"paper_id": "agol2021", "shelf": "sampled", "containing": containing, "limit": 2}
    found = workflow_nodes.list_table_rows(params, sampled)
    assert (found["total"], len(found["rows"])) == (total, min(total, 2))


def test_rows_of_a_paper_without_a_text_and_a_limit_out_of_bounds_are_refused(sampled: Context) -> None:
    with pytest.raises(SourceNotAvailable):
        workflow_nodes.list_table_rows({"paper_id": "1577.01234", "shelf": "sampled"}, sampled)
    for limit in (0, 1001):
        with pytest.raises(OutOfBounds):
            workflow_nodes.list_table_rows({"paper_id": "agol2021", "shelf": "sampled", "limit": limit}, sampled)


def test_the_parts_of_a_paper_joined_are_the_whole_text(context: Context, shelf: Path) -> None:
    hit = workflow_nodes.search_shelf({"query": "comets", "shelf": "shelf"}, context)["results"][0]
    params = {"shelf": "shelf", "paper_id": hit["paper_id"]}
    only = workflow_nodes.read_paper(params, context)
    assert only.keys() == {"metadata"}
    structure = parse_interface(INTERFACES["library-read"], source="entry-point").outputs["metadata"].structure
    assert structure is not None
    assert structure.keys() <= only["metadata"].keys()
    whole = workflow_nodes.read_paper({**params, "what": "source"}, context)
    assert whole["content"] == Library.open(shelf).source(hit["paper_id"])
    assert (whole["chars"], whole["next_offset"], whole["metadata"]) == (len(whole["content"]), None, only["metadata"])
    text, offset = "", 0
    while offset is not None:
        piece = workflow_nodes.read_paper({**params, "what": "source", "offset": offset, "max_chars": 20}, context)
        text, offset = text + piece["content"], piece["next_offset"]
    assert text == whole["content"]
    assert "On comets" in workflow_nodes.read_paper({**params, "what": "bibtex"}, context)["content"]
    summary = workflow_nodes.read_paper({**params, "what": "summary", "template": "default"}, context)["content"]
    assert isinstance(json.loads(summary), dict)


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"what": "gossip"}, OutOfBounds),
        ({"what": "source", "offset": 10**6}, OutOfBounds),
        ({"what": "source", "max_chars": 0}, OutOfBounds),
        ({"paper_id": "nobody"}, PaperNotFound),
        ({"shelf": "nowhere"}, ShelfNotFound),
    ],
)
def test_invalid_reads_are_refused(
    context: Context, shelf: Path, params: dict[str, Any], kind: type[UraniborgError]
) -> None:
    paper = workflow_nodes.search_shelf({"query": "comets", "shelf": str(shelf)}, context)["results"][0]["paper_id"]
    with pytest.raises(kind) as refused:
        workflow_nodes.read_paper({"shelf": "shelf", "paper_id": paper, **params}, context)
    assert refused.value.hint


def test_papers_added_to_a_new_shelf_are_found_by_their_identifiers(context: Context) -> None:
    added = workflow_nodes.add_papers({"papers": [NOVA, COMET], "shelf": "new/shelf"}, context)
    assert added == {
        "shelf": str(context.folder / "new" / "shelf"),
        "papers": 2,
        "entries": 2,
        "merged": 0,
        "problems": [],
    }
    params = {"shelf": "new/shelf"}
    assert (
        workflow_nodes.read_paper({**params, "paper_id": "10.1000/nova"}, context)["metadata"]["title"] == NOVA["title"]
    )
    comet = workflow_nodes.read_paper({**params, "paper_id": "arXiv:1577.01234"}, context)["metadata"]
    assert (comet["authors"], comet["abstract"], comet["year"]) == (COMET["authors"], COMET["abstract"], 1577)


def test_a_shelf_that_a_node_builds_is_listed_in_the_catalog(context: Context) -> None:
    workflow_nodes.add_papers({"shelf": "papers/new", "papers": [NOVA]}, context)
    assert find_known_shelf("new").path == context.folder / "papers" / "new"


def test_adding_twice_changes_nothing_and_retains_earlier_papers(context: Context, shelf: Path) -> None:
    before = {
        hit["paper_id"] for hit in workflow_nodes.search_shelf({"query": "", "shelf": "shelf"}, context)["results"]
    }
    first = workflow_nodes.add_papers({"papers": [COMET], "shelf": "shelf"}, context)
    second = workflow_nodes.add_papers({"papers": [COMET], "shelf": "shelf"}, context)
    assert (first["papers"], second["papers"], second["merged"]) == (4, 4, 0)
    after = {
        hit["paper_id"] for hit in workflow_nodes.search_shelf({"query": "", "shelf": "shelf"}, context)["results"]
    }
    assert len(after) == 4
    assert before < after
    assert shelf.is_dir()


def test_files_are_added_and_other_files_are_reported(context: Context) -> None:
    write_bibliography(context.folder / "more.bib", "Instruments of astronomy")
    added = workflow_nodes.add_papers({"files": "more.bib", "papers": [{"no": "title"}], "shelf": "shelf"}, context)
    assert added["papers"] == 1
    assert added["problems"]


def test_papers_added_at_the_same_time_are_all_on_the_shelf(context: Context) -> None:
    papers = [{"title": f"Star number {number}", "year": 1573, "authors": ["Tycho Brahe"]} for number in range(4)]
    with ThreadPoolExecutor(4) as threads:
        adding = [
            threads.submit(workflow_nodes.add_papers, {"papers": [paper], "shelf": "shelf"}, context)
            for paper in papers
        ]
        assert sorted(one.result(50)["papers"] for one in adding) == [1, 2, 3, 4]


def test_invalid_additions_are_refused_and_change_nothing(context: Context) -> None:
    (context.folder / "taken").mkdir()
    (context.folder / "taken" / "file").write_text("mine")
    refusals: list[tuple[dict[str, Any], type[UraniborgError]]] = [
        ({"shelf": "shelf"}, InvalidInput),
        ({"papers": [NOVA]}, ShelfNotFound),
        ({"papers": [{"no": "title"}], "shelf": "shelf"}, NothingToShelve),
        ({"papers": [NOVA], "shelf": "taken"}, ShelfExists),
        ({"papers": [NOVA], "shelf": "taken/file/shelf"}, UraniborgError),
    ]
    for params, kind in refusals:
        with pytest.raises(kind) as refused:
            workflow_nodes.add_papers(params, context)
        assert refused.value.hint
    assert not (context.folder / "shelf").exists()
    assert (context.folder / "taken" / "file").read_text() == "mine"
