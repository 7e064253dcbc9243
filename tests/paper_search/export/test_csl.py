"""Tests of the CSL-JSON export: it is valid input for a citation processor."""

import json
from typing import Any

import pytest
from hypothesis import given

from paper_search.editorial_notices import NoticeStatus
from paper_search.export import citation_keys, export_csl_json
from paper_search.models import Author, PaperCollection, WorkType
from tests.paper_search.export.samples import CONCERN, RETRACTION, collection, collections, list_people, paper, untimed
from uraniborg.kernel.bibliography.plain_text import to_one_line

TYPES = {
    WorkType.ARTICLE: "article-journal",
    WorkType.CONFERENCE: "paper-conference",
    WorkType.PREPRINT: "article",
    WorkType.BOOK: "book",
    WorkType.CHAPTER: "chapter",
    WorkType.THESIS: "thesis",
    WorkType.DATASET: "dataset",
    WorkType.REPORT: "report",
    WorkType.OTHER: "document",
}
TEXT_VARIABLES = {
    "abstract", "citation-key", "container-title", "DOI", "id", "issue", "language", "note", "number", "page", "PMCID",
    "PMID", "publisher", "status", "title", "type", "URL", "volume",
}  # fmt: skip
NAME_PARTS = {"family", "given", "non-dropping-particle", "suffix", "literal"}


def read_items(made: PaperCollection) -> list[dict[str, Any]]:
    return json.loads(export_csl_json(made))


def test_an_item_carries_every_known_field() -> None:
    made = paper(
        "Perovskite solar cells",
        "Wang Lei",
        "Jan van der Berg",
        "Hill, Jr., Sam",
        "ATLAS Collaboration",
        year=2023,
        venue="Light",
        volume="12",
        issue="3",
        pages="101–110",
        publisher="Hven Press",
        doi="10.1000/a_b",
        full_text_url="https://example.org/x",
        language="en",
        abstract="Two\nlines.",
        identifiers={"arxiv": "2301.00001", "pmid": "17", "pmcid": "PMC17"},
    )
    assert read_items(collection(made)) == [
        {
            "id": "wang_2023_perovskite",
            "citation-key": "wang_2023_perovskite",
            "type": "article-journal",
            "title": "Perovskite solar cells",
            "author": [
                {"family": "Wang", "given": "Lei"},
                {"family": "Berg", "given": "Jan", "non-dropping-particle": "van der"},
                {"family": "Hill", "given": "Sam", "suffix": "Jr."},
                {"literal": "ATLAS Collaboration"},
            ],
            "issued": {"date-parts": [[2023]]},
            "container-title": "Light",
            "volume": "12",
            "issue": "3",
            "page": "101-110",
            "publisher": "Hven Press",
            "DOI": "10.1000/a_b",
            "URL": "https://example.org/x",
            "PMID": "17",
            "PMCID": "PMC17",
            "number": "arXiv:2301.00001",
            "language": "en",
            "abstract": "Two lines.",
        }
    ]


def test_an_empty_collection_gives_an_empty_array() -> None:
    assert read_items(collection()) == []


def test_missing_values_are_omitted() -> None:
    assert read_items(collection(paper(""))) == [
        {"id": "unknown_nd_untitled", "citation-key": "unknown_nd_untitled", "type": "article-journal"}
    ]


@pytest.mark.parametrize("kind", list(WorkType))
def test_every_kind_of_work_has_a_csl_type(kind: WorkType) -> None:
    assert read_items(collection(paper(work_type=kind)))[0]["type"] == TYPES[kind]


def test_letters_are_not_escaped_and_lone_surrogates_can_be_encoded() -> None:
    made = paper("Zellen für 太阳能", venue="a\ud800")
    text = export_csl_json(collection(made)).encode("utf-8").decode("utf-8")
    assert "Zellen für 太阳能" in text
    assert "a\ufffd" in text


@untimed
@given(collections)
def test_any_collection_gives_items_of_the_csl_schema(made: PaperCollection) -> None:
    written = read_items(made)
    assert [item["id"] for item in written] == citation_keys(made.papers)
    for item, original in zip(written, made.papers, strict=True):
        assert item.keys() <= TEXT_VARIABLES | {"author", "editor", "issued"}
        assert all(isinstance(item[key], str) and item[key] for key in item.keys() & TEXT_VARIABLES)
        assert item["type"] in TYPES.values()
        assert item.get("title", "") == to_one_line(original.title)
        assert item.get("DOI") == original.doi
        assert item.get("issued", {"date-parts": [[None]]})["date-parts"] == [[original.year]]
        assert item["citation-key"] == item["id"]
        names = [*item.get("author", []), *item.get("editor", [])]
        assert len(names) == len(list_people(original))
        assert not ("author" in item and "editor" in item)
        for name in names:
            assert name.keys() <= NAME_PARTS
            assert ("literal" in name) != ("family" in name)


def test_a_retraction_is_a_status_and_a_note() -> None:
    partial = RETRACTION.model_copy(update={"status": NoticeStatus.PARTIALLY_RETRACTED})
    retracted, second, concern = read_items(
        collection(paper(notices=[RETRACTION]), paper("Two", notices=[partial]), paper("Three", notices=[CONCERN]))
    )
    assert retracted["status"] == "retracted"
    assert retracted["note"] == "Retracted 2010-02-06 (notice doi:10.1000/r_2, source crossref)"
    assert second["status"] == "partially retracted"
    assert "status" not in concern
    assert concern["note"].startswith("Expression of concern")


def test_the_editors_of_a_work_without_authors_are_its_editors() -> None:
    edited, written = read_items(
        collection(paper(editors=[Author(name="Tom Reed")]), paper("Cells", "Ada", editors=[Author(name="Tom Reed")]))
    )
    assert edited["editor"] == [{"family": "Reed", "given": "Tom"}]
    assert "author" not in edited
    assert "editor" not in written
