"""Exports of a paper search are read back without loss."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from paper_library.domain.entries import Entry
from paper_search.export.formats import export_bibtex, export_csl_json, export_json, export_ris
from paper_search.models import Paper, PaperCollection, PaperTag, WorkType
from tests.paper_library.service.build.readers.files import select_entries, write_and_read
from tests.paper_search.export.samples import collection, collections, composed, paper
from uraniborg.kernel.bibliography.plain_text import clean_line

FORMATS = {"a.bib": export_bibtex, "a.ris": export_ris, "a.json": export_csl_json, "b.json": export_json}
PAPERS = [
    paper("Perovskite & C++: 50% of {x}", "Lei Wang", "Jan van Dyke", "ATLAS Collaboration", year=2020, venue="ICLR"),
    paper(r"10^6 K ~ 50% of {C} & \alpha", "Emmy Noether", year=2021, venue=r"10^6 K ~ 50% of {C} & \alpha"),
    paper("Über Größe — “α”", "Jürgen Müller", year=1999, venue="Annalen", doi="10.1234/abc_def(1)"),
    paper("A thesis", "Ada Lovelace", year=2001, venue="University of London", work_type=WorkType.THESIS),
    paper("A report", "Ada Lovelace", year=2001, venue="NASA", work_type=WorkType.REPORT),
    paper("A book", "Ada Lovelace", year=2001, venue="Lecture Notes", work_type=WorkType.BOOK),
    paper("A talk", "Ada Lovelace", year=2001, venue="Proc. X", work_type=WorkType.CONFERENCE),
    paper("Nobody's work", year=2002),
]

without_deadline = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)


@pytest.mark.parametrize("name", FORMATS)
def test_titles_authors_years_venues_and_dois_are_read_back(tmp_path: Path, name: str) -> None:
    found = select_entries(write_and_read(tmp_path, name, FORMATS[name](collection(*PAPERS))))
    assert [_select_facts(entry) for entry in found] == [_select_expected_facts(paper) for paper in PAPERS]


def test_the_json_export_has_identifiers_tags_abstracts_and_bibtex(tmp_path: Path) -> None:
    original = paper(
        "T",
        "Ada Lovelace",
        abstract="An abstract.",
        bibtex="@misc{t}",
        language="en",
        tags=[PaperTag.REVIEW],
        sources=["crossref"],
        identifiers={"arxiv": "2301.00001", "pmid": "7"},
        full_text_url="https://example.org",
        citation_key="lovelace_nd_t",
    )
    (entry,) = select_entries(write_and_read(tmp_path, "a.json", export_json(collection(original))))
    assert (entry.abstract, entry.bibtex, entry.language, entry.tags) == ("An abstract.", "@misc{t}", "en", ["review"])
    assert entry.identifiers == {
        "arxiv": "2301.00001",
        "pmid": "7",
        "url": "https://example.org",
        "id": "p_1",
        "bibkey": "lovelace_nd_t",
    }
    assert entry.source == ""


@without_deadline
@given(collections)
def test_bibtex_of_any_collection_is_read_back_entry_by_entry(tmp_path: Path, made: PaperCollection) -> None:
    found = write_and_read(tmp_path, "a.bib", export_bibtex(made))
    titled = [paper for paper in made.papers if clean_line(composed(paper.title))]
    assert [entry.title for entry in select_entries(found)] == [clean_line(composed(paper.title)) for paper in titled]
    assert [entry.year for entry in select_entries(found)] == [paper.year for paper in titled]
    assert [entry.identifiers.get("doi") for entry in select_entries(found)] == [paper.doi for paper in titled]


def _select_facts(entry: Entry) -> tuple[str, list[str], int | None, str, str | None]:
    return entry.title, entry.authors, entry.year, entry.venue, entry.identifiers.get("doi")


def _select_expected_facts(paper: Paper) -> tuple[str, list[str], int | None, str, str | None]:
    return paper.title, [author.name for author in paper.authors], paper.year, paper.venue or "", paper.doi
