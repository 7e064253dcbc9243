"""Tests of the RIS export: rispy reads back the same papers."""

# rispy ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from typing import Any

import pytest
import rispy
from hypothesis import given

from paper_search.export import citation_keys, export_ris
from paper_search.models import Author, PaperCollection, WorkType
from tests.paper_search.export.samples import CONCERN, CORRECTION, RETRACTION, collection, collections, paper, untimed
from uraniborg.kernel.bibliography.names import split_name
from uraniborg.kernel.bibliography.plain_text import to_one_line


def read_ris(text: str) -> list[dict[str, Any]]:
    return rispy.loads(text)


def test_a_record_carries_every_known_field() -> None:
    made = paper(
        "Perovskite solar cells",
        "Wang Lei",
        "Jan van der Berg",
        "Hill, Jr., Sam",
        year=2023,
        venue="Light",
        volume="12",
        issue="3",
        pages="101-110",
        publisher="Hven Press",
        doi="10.1000/a_b",
        full_text_url="https://example.org/x",
        language="en",
        abstract="Two\nlines.",
    )
    assert read_ris(export_ris(collection(made))) == [
        {
            "type_of_reference": "JOUR",
            "id": "wang_2023_perovskite",
            "title": "Perovskite solar cells",
            "authors": ["Wang, Lei", "van der Berg, Jan", "Hill, Sam, Jr."],
            "year": "2023",
            "secondary_title": "Light",
            "volume": "12",
            "number": "3",
            "start_page": "101",
            "end_page": "110",
            "publisher": "Hven Press",
            "doi": "10.1000/a_b",
            "urls": ["https://example.org/x"],
            "language": "en",
            "abstract": "Two lines.",
        }
    ]


def test_a_record_begins_with_its_type_and_ends_with_its_end_mark() -> None:
    lines = export_ris(collection(paper("One"), paper("Two"))).split("\n")
    assert lines[0] == "TY  - JOUR"
    assert lines.count("ER  - ") == 2


def test_an_empty_collection_gives_an_empty_string() -> None:
    assert export_ris(collection()) == ""


def test_an_article_number_is_a_start_page_without_an_end() -> None:
    record = read_ris(export_ris(collection(paper(pages="e1017"))))[0]
    assert record["start_page"] == "e1017"
    assert "end_page" not in record


@pytest.mark.parametrize(
    ("kind", "ris_type"),
    [
        (None, "JOUR"),
        (WorkType.ARTICLE, "JOUR"),
        (WorkType.CONFERENCE, "CPAPER"),
        (WorkType.PREPRINT, "UNPB"),
        (WorkType.BOOK, "BOOK"),
        (WorkType.CHAPTER, "CHAP"),
        (WorkType.THESIS, "THES"),
        (WorkType.DATASET, "DATA"),
        (WorkType.REPORT, "RPRT"),
        (WorkType.OTHER, "GEN"),
    ],
)
def test_every_kind_of_work_has_a_ris_type(kind: WorkType | None, ris_type: str) -> None:
    assert read_ris(export_ris(collection(paper(work_type=kind))))[0]["type_of_reference"] == ris_type


def test_no_title_can_end_its_record() -> None:
    records = read_ris(export_ris(collection(paper("x\nER  - \nTY  - BOOK\nTI  - evil"), paper("Next"))))
    assert [record["title"] for record in records] == ["x ER - TY - BOOK TI - evil", "Next"]


@untimed
@given(collections)
def test_any_collection_survives_a_round_trip(made: PaperCollection) -> None:
    records = read_ris(export_ris(made))
    assert [record["id"] for record in records] == citation_keys(made.papers)
    for record, original in zip(records, made.papers, strict=True):
        names = [to_one_line(author.name) for author in original.authors]
        assert record.get("title", "") == to_one_line(original.title)
        assert record.get("authors", []) == [split_name(name).inverted for name in names if name]
        assert record.get("year") == (None if original.year is None else str(original.year))
        assert record.get("doi") == original.doi
        assert record.get("secondary_title", "") == to_one_line(original.venue)


def test_a_retraction_is_a_type_of_work_and_a_note() -> None:
    text = export_ris(collection(paper(notices=[RETRACTION]), paper("Two", notices=[CORRECTION])))
    assert "M3  - Retracted Publication" in text
    assert "N1  - Retracted 2010-02-06 (notice doi:10.1000/r_2, source crossref)" in text
    retracted, corrected = read_ris(text)
    assert retracted["type_of_reference"] == "JOUR"
    assert not {"type_of_work", "notes"} & corrected.keys()


def test_a_concern_is_a_note_and_not_a_type_of_work() -> None:
    record = read_ris(export_ris(collection(paper(notices=[CONCERN]))))[0]
    assert record["notes"] == ["Expression of concern 2009 (notice doi:10.1000/c, source pubmed)"]
    assert "type_of_work" not in record


def test_the_editors_of_a_work_without_authors_are_secondary_authors() -> None:
    editors = [Author(name="Tom Reed")]
    assert "A2  - Reed, Tom" in export_ris(collection(paper(editors=editors)))
    assert "A2  - " not in export_ris(collection(paper("Cells", "Ada Brook", editors=editors)))
