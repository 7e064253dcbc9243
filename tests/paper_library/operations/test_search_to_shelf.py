"""A shelf built from a search keeps all its fields: sources, relevance, decisions and retractions."""

# pyright: reportTypedDictNotRequiredAccess=false

import json
from pathlib import Path
from typing import Any

import pytest

from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_search.export import export_bibtex, export_csl_json, export_json, export_ris
from paper_search.models import Author, Paper, PaperCollection, SourceRecord, WorkType
from tests.paper_library.operations.command_runs import call_command
from tests.paper_search.export.samples import collection

RETRACTION = {
    "status": "retracted",
    "source": "crossref",
    "date": "2010-02-06",
    "notice_doi": "10.1016/s0140-6736(10)60175-4",
}
CORRECTION = {"status": "corrected", "source": "pubmed", "date": "2004-03-06", "label": "Lancet 363:750"}
DECISIONS = [{"status": "exclude", "reason": "Retracted.", "reviewer": "ada", "at": "2026-01-02T03:04:05Z"}]


def make_search() -> PaperCollection:
    return collection(
        Paper(
            id="p_1",
            title="Ileal hyperplasia in children",
            authors=[Author(name="Ada Lovelace"), Author(name="Tycho Brahe")],
            year=1998,
            venue="The Lancet",
            volume="351",
            issue="9103",
            pages="637-641",
            publisher="Elsevier",
            language="en",
            work_type=WorkType.ARTICLE,
            doi="10.1016/s0140-6736(97)11096-0",
            abstract="We studied children. They were few.",
            citation_count=1500,
            relevance_score=0.75,
            relevance_reason="matches children",
            source="crossref",
            sources=["crossref", "pubmed"],
            identifiers={"doi": "10.1016/s0140-6736(97)11096-0", "pmid": "9500320", "openalex": "W1"},
            provenance={"title": "crossref", "abstract": "pubmed", "volume": "crossref"},
            records=[
                SourceRecord(source="crossref", record_id="10.1016/x"),
                SourceRecord(source="pubmed", record_id="9500320", reason="same DOI"),
            ],
        )
    )


def export_search(papers: PaperCollection, **more: Any) -> str:
    """Return the JSON of a search, with the fields of newer searches for the first paper."""
    document = json.loads(export_json(papers))
    document["papers"][0] |= more
    return json.dumps(document)


def build_library(tmp_path: Path, name: str, text: str) -> Library:
    (tmp_path / name).write_text(text, encoding="utf-8")
    build_shelf([tmp_path / name], tmp_path / "shelf")
    return Library.open(tmp_path / "shelf")


@pytest.fixture
def retracted(tmp_path: Path) -> Library:
    more = {"retraction": RETRACTION, "notices": [CORRECTION, RETRACTION], "status": "exclude", "decisions": DECISIONS}
    return build_library(
        tmp_path, "found.json", export_search(make_search(), **more, citation_key="lovelace_1998_ileal")
    )


def test_every_field_of_a_search_is_in_the_metadata(retracted: Library) -> None:
    paper_metadata, paper = retracted.metadata("pmid:9500320"), json.loads(export_json(make_search()))["papers"][0]
    for name in (
        "title",
        "year",
        "venue",
        "volume",
        "issue",
        "pages",
        "publisher",
        "language",
        "work_type",
        "abstract",
    ):
        assert paper_metadata[name] == paper[name], name
    for name in ("citation_count", "relevance_score", "relevance_reason", "sources", "records", "provenance"):
        assert paper_metadata[name] == paper[name], name
    assert paper_metadata["authors"] == ["Ada Lovelace", "Tycho Brahe"]
    assert paper_metadata["identifiers"] == {**paper["identifiers"], "id": "p_1", "bibkey": "lovelace_1998_ileal"}
    assert (paper_metadata["status"], paper_metadata["decisions"]) == ("exclude", DECISIONS)


def test_a_retraction_is_in_the_metadata_with_all_notices(retracted: Library) -> None:
    paper_metadata = retracted.metadata("lovelace_1998_ileal")
    assert paper_metadata["retraction"] == RETRACTION
    assert paper_metadata["notices"] == [RETRACTION, CORRECTION]


def test_the_retraction_of_the_metadata_has_no_label_and_its_notice_has(tmp_path: Path) -> None:
    labelled = {**RETRACTION, "label": "Lancet 375"}
    library = build_library(tmp_path, "found.json", export_search(make_search(), notices=[labelled]))
    paper_metadata = library.metadata("pmid:9500320")
    assert (paper_metadata["retraction"], paper_metadata["notices"]) == (RETRACTION, [labelled])


def test_a_search_result_reports_that_a_paper_is_retracted_and_filters_by_it(retracted: Library) -> None:
    (hit,) = retracted.search("children")["results"]
    assert hit["retracted"] is True
    assert retracted.search("is:retracted")["total"] == 1
    assert retracted.search("children -is:retracted")["total"] == retracted.search("-is:retracted")["total"] == 0
    assert retracted.search_by_keyword("x")["results"] == []


def test_a_paper_that_is_only_corrected_is_not_retracted(tmp_path: Path) -> None:
    library = build_library(tmp_path, "found.json", export_search(make_search(), retraction=None, notices=[CORRECTION]))
    (hit,) = library.search("children -is:retracted")["results"]
    assert "retracted" not in hit
    assert library.metadata(hit["paper_id"])["retraction"] is None


def test_show_and_bibtex_report_that_a_paper_is_retracted(
    retracted: Library, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = call_command(capsys, "show", tmp_path / "shelf", "lovelace")
    assert "Retracted 2010-02-06 (notice doi:10.1016/s0140-6736(10)60175-4, source crossref)" in shown.out
    assert "volume 351 · issue 9103 · pages 637-641 · Elsevier" in shown.out
    assert "note = {Retracted 2010-02-06" in retracted.bibtex("lovelace_1998_ileal")
    assert "retracted" in call_command(capsys, "search", tmp_path / "shelf", "children").out


def test_a_retraction_is_reported_in_the_entry_that_its_owner_wrote_too(tmp_path: Path) -> None:
    for note in ("", "  note = {Read twice},\n"):
        bibtex = f"@article{{own, title={{Ileal hyperplasia in children}},\n{note}  year=1998}}"
        library = build_library(
            tmp_path, "found.json", export_search(make_search(), retraction=RETRACTION, bibtex=bibtex)
        )
        entry = library.bibtex("10.1016/s0140-6736(97)11096-0")
        assert f"{'addendum' if note else 'note'} = {{Retracted 2010-02-06" in entry
        assert note.strip() in entry


@pytest.mark.parametrize(
    ("name", "export"), [("a.bib", export_bibtex), ("a.ris", export_ris), ("a.json", export_csl_json)]
)
def test_every_format_has_volume_issue_pages_and_publisher(tmp_path: Path, name: str, export: Any) -> None:
    paper_metadata = build_library(tmp_path, name, export(make_search())).metadata("10.1016/s0140-6736(97)11096-0")
    assert [paper_metadata[field] for field in ("volume", "issue", "pages", "publisher")] == [
        "351",
        "9103",
        "637-641",
        "Elsevier",
    ]


def test_a_retraction_is_read_back_from_a_bibtex_note(retracted: Library, tmp_path: Path) -> None:
    library = build_library(tmp_path, "back.bib", retracted.bibtex("lovelace_1998_ileal"))
    assert library.metadata("lovelace_1998_ileal")["retraction"] == RETRACTION


def test_the_provenance_of_a_replaced_value_is_removed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "found.json").write_text(export_search(make_search()), encoding="utf-8")
    fields = "doi={10.1016/s0140-6736(97)11096-0}, volume={351}, year={1999}"
    better = f"@article{{own, title={{Ileal hyperplasia, corrected}}, {fields}}}"
    (tmp_path / "in" / "own.bib").write_text(better, encoding="utf-8")
    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    paper_metadata = Library.open(tmp_path / "shelf").metadata("own")
    assert paper_metadata["title"] == "Ileal hyperplasia, corrected"
    assert paper_metadata["provenance"] == {"abstract": "pubmed", "volume": "crossref"}
    assert [paper_metadata[name] for name in ("issue", "pages")] == ["", ""]
