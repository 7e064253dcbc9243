"""`paper-library export` writes a shelf as BibTeX, RIS, CSL-JSON and JSON, and a shelf built from them is the same."""

# pyright: reportReturnType=false

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from paper_library.errors import OutOfBounds
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.store.shelf import Shelf
from tests.paper_library.operations.command_runs import call_command, run_process
from tests.paper_library.service.build.readers.files import select_entries, write_and_read

BIB = """
@string{sea = {Journal of the Sea}}
@article{fish2019, title={Deep {Fish} of the North}, author={Lovelace, Ada and G{\\"o}del, Kurt}, year={2019},
  journal={Sea}, volume={3}, number={4}, pages={1--9}, doi={10.1000/XYZ}, pmid={123}, keywords={cold, wet}}
@misc{same, title={Notes}}
@misc{same, title={Wholly other things}}
@article{old, title={Of comets}, author={Brahe, Tycho}, year={1577}, note={Read it}, abstract={They have tails.}}
"""
MORE: list[dict[str, Any]] = [
    {"title": "Perovskite I", "authors": ["Lei Wang"], "year": 2023, "abstract": "Cells."},
    {"title": "Perovskite II", "authors": ["Lei Wang"], "year": 2023, "work_type": "preprint", "status": "include"},
    {"title": "Notes", "id": "7", "retraction": {"status": "retracted", "source": "crossref", "date": "2010-02-06"}},
    {"title": "Notes", "id": "8", "sources": ["pubmed"], "provenance": {"title": "pubmed"}},
    {"title": "Émile & {braces} 100% of \\ it", "authors": ["ATLAS Collaboration", "Foo and Bar"], "language": "fr"},
]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a shelf with ids that do not all follow from the current metadata."""
    folder = tmp_path_factory.mktemp("export")
    (folder / "in").mkdir()
    (folder / "in" / "refs.bib").write_text(BIB.replace("doi={10.1000/XYZ}, ", ""), encoding="utf-8")
    (folder / "in" / "found.json").write_text(json.dumps(MORE), encoding="utf-8")
    (folder / "in" / "text.md").write_text("---\ntitle: A text\nauthors: [Sophie Brahe]\n---\nIt is long.\n")
    build_shelf([folder / "in"], folder / "shelf")
    (folder / "in" / "refs.bib").write_text(BIB, encoding="utf-8")
    build_shelf([folder / "in"], folder / "shelf")
    return folder / "shelf"


def read_papers(shelf: Path) -> dict[str, dict[str, Any]]:
    opened = Shelf.open(shelf)
    try:
        return {(metadata := opened.read_metadata(no))["paper_id"]: metadata for no in range(opened.manifest.papers)}
    finally:
        opened.close()


def export_text(shelf: Path, format_name: str, query: str = "") -> str:
    library = Library.open(shelf)
    try:
        return "".join(library.export(query, format_name))
    finally:
        library.close()


@pytest.mark.parametrize(("format_name", "name"), [("bibtex", "back.bib"), ("json", "back.json")])
def test_a_shelf_built_from_its_export_has_the_same_papers_ids_and_keys(
    shelf: Path, tmp_path: Path, format_name: str, name: str
) -> None:
    (tmp_path / name).write_text(export_text(shelf, format_name), encoding="utf-8")
    report = build_shelf([tmp_path / name], tmp_path / "shelf")
    before, after = read_papers(shelf), read_papers(tmp_path / "shelf")
    assert (report.merged, report.broken, report.skipped) == (0, 0, 0)
    for field in ("title", "citation_key", "year", "authors", "retraction"):
        assert {one: metadata[field] for one, metadata in after.items()} == {
            one: metadata[field] for one, metadata in before.items()
        }
    if format_name == "bibtex":
        assert export_text(tmp_path / "shelf", format_name) == export_text(shelf, format_name)


def test_all_fields_except_texts_are_read_back_from_json(shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "back.json").write_text(export_text(shelf, "json"), encoding="utf-8")
    build_shelf([tmp_path / "back.json"], tmp_path / "shelf")
    before, after = read_papers(shelf), read_papers(tmp_path / "shelf")
    for paper_id, metadata in before.items():
        about_texts = ("outline", "has_source", "source_chars", "has_bibtex", "identifiers")
        assert {name: value for name, value in after[paper_id].items() if name not in about_texts} == {
            name: value for name, value in metadata.items() if name not in about_texts
        }
        assert after[paper_id]["identifiers"].items() >= metadata["identifiers"].items()


def test_every_paper_has_a_key_of_its_own_and_is_found_by_it(shelf: Path) -> None:
    known = read_papers(shelf)
    keys = {paper_metadata["citation_key"]: paper_id for paper_id, paper_metadata in known.items()}
    assert set(keys) == {
        *("fish2019", "same", "same_a", "old", "wang_2023_perovskite", "wang_2023_perovskite_a"),
        *("unknown_nd_notes", "unknown_nd_notes_a", "brahe_nd_a"),
        *(key for key in keys if key.endswith("_emile")),
    }
    library = Library.open(shelf)
    assert {key: library.metadata(key)["paper_id"] for key in keys} == keys
    assert all(library.bibtex(key).lstrip().split("{", 1)[1].startswith(f"{key},") for key in keys)
    library.close()


def test_ris_and_csl_json_have_every_paper_under_its_key(shelf: Path, tmp_path: Path) -> None:
    keys = [metadata["citation_key"] for metadata in read_papers(shelf).values()]
    items = json.loads(export_text(shelf, "csl-json"))
    assert [item["id"] for item in items] == keys
    ris = export_text(shelf, "ris")
    assert [line[6:] for line in ris.splitlines() if line.startswith("ID  - ")] == keys
    assert len(select_entries(write_and_read(tmp_path, "a.ris", ris))) == len(keys)
    fish = next(item for item in items if item["id"] == "fish2019")
    assert (fish["volume"], fish["issue"], fish["page"], fish["DOI"]) == ("3", "4", "1-9", "10.1000/xyz")


@pytest.mark.parametrize("format_name", ["csl-json", "ris"])
def test_a_retraction_is_in_every_format(shelf: Path, tmp_path: Path, format_name: str) -> None:
    name = {"csl-json": "back.json", "ris": "back.ris"}[format_name]
    (tmp_path / name).write_text(export_text(shelf, format_name, "is:retracted"), encoding="utf-8")
    build_shelf([tmp_path / name], tmp_path / "shelf")
    ((metadata),) = read_papers(tmp_path / "shelf").values()
    assert metadata["retraction"] == {"status": "retracted", "source": "crossref", "date": "2010-02-06"}


def test_a_query_limits_the_export_and_keeps_shelf_order(shelf: Path) -> None:
    every = [one["paper_id"] for one in json.loads(export_text(shelf, "json"))["papers"]]
    some = [one["paper_id"] for one in json.loads(export_text(shelf, "json", "perovskite OR comets"))["papers"]]
    assert len(some) == 3
    assert some == [one for one in every if one in some]
    assert every == list(read_papers(shelf))
    assert export_text(shelf, "bibtex", "nothing of the kind") == ""
    assert json.loads(export_text(shelf, "csl-json", "nothing of the kind")) == []


def test_a_format_that_does_not_exist_is_refused(shelf: Path) -> None:
    with pytest.raises(OutOfBounds, match="bibtex, ris, csl-json, json"):
        Library.open(shelf).export("", "endnote")


def test_a_query_that_finds_too_much_is_refused(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paper_library.service.export._MOST_FOUND", 1)
    with pytest.raises(OutOfBounds, match="at most 1 papers, not 2"):
        Library.open(shelf).export("perovskite", "json")


def test_the_command_writes_to_stdout_and_to_a_file(shelf: Path, tmp_path: Path) -> None:
    printed = run_process("export", shelf, "-f", "json", cwd=tmp_path)
    assert (printed.code, printed.err) == (0, "")
    assert len(printed.json["papers"]) == len(read_papers(shelf))
    for arguments in (["-o", "out.bib"], ["--output", "less.bib", "--json", "--", "-perovskite"]):
        assert run_process("export", shelf, *arguments, cwd=tmp_path).code == 0
    assert (tmp_path / "out.bib").read_text(encoding="utf-8") == export_text(shelf, "bibtex")
    assert (tmp_path / "less.bib").read_text(encoding="utf-8") == export_text(shelf, "bibtex", "-perovskite")
    assert run_process("export", shelf, "comets", "--json", cwd=tmp_path).json["papers"][0]["citation_key"] == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["less.bib", "out.bib"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["-f", "endnote"], "invalid_argument"),
        (["-f", "ris", "--json"], "invalid_argument"),
        (["-o", "nowhere/out.bib", "--json"], "output_unwritable"),
        (["x" * 600], "invalid_argument"),
    ],
)
def test_invalid_exports_are_refused(
    shelf: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = call_command(capsys, "export", shelf, *arguments)
    assert refused.code == {"output_unwritable": 5}.get(code, 2)
    assert "hint: " in refused.err or json.loads(refused.out)["error"]["code"] == code


def test_a_large_shelf_is_written_without_being_held_in_memory(tmp_path: Path) -> None:
    lines = (json.dumps({"title": f"Paper {at} of many", "abstract": "word " * 400}) for at in range(3_000))
    (tmp_path / "many.jsonl").write_text("\n".join(lines))
    build_shelf([tmp_path / "many.jsonl"], tmp_path / "shelf")
    library = Library.open(tmp_path / "shelf")
    for format_name in ("json", "ris"):
        next(iter(library.export("", format_name)))  # imports what is imported late
        tracemalloc.start()
        written = sum(map(len, library.export("", format_name)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert written > 6_000_000
        assert peak < 2_000_000
