"""Papers of a shelf in the formats of reference managers."""

# pyright: reportArgumentType=false

# rispy ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import json
from typing import Any, cast

import pytest
import rispy

from paper_library.domain.citations import format_citations, make_reference

PAPER: dict[str, Any] = {
    "paper_id": "a" * 32,
    "title": "A Jupiter-mass companion\nto a solar-type star",
    "authors": ["Michel Mayor", "Didier Queloz", "The ELODIE Team"],
    "year": 1995,
    "venue": "Nature",
    "abstract": "A search.",
    "identifiers": {"doi": "10.1038/378355a0", "bibkey": "mayor1995", "url": "https://example.org/a b", "pmid": "7"},
    "keywords": ["exoplanets"],
    "kind": "article",
    "language": "en",
}


def write_format(format_name: str, **facts: Any) -> Any:
    text = format_citations([({**PAPER, **facts}, "")], format_name)
    if format_name == "csl-json":
        (item,) = json.loads(text)
        return item
    (record,) = cast("list[dict[str, Any]]", rispy.loads(text))
    return record


def test_csl_json_has_every_known_field() -> None:
    item = write_format("csl-json", volume="378", issue="6555", pages="355-359", publisher="Macmillan")
    assert item == {
        "id": "mayor1995",
        "citation-key": "mayor1995",
        "type": "article-journal",
        "title": "A Jupiter-mass companion to a solar-type star",
        "author": [
            {"family": "Mayor", "given": "Michel"},
            {"family": "Queloz", "given": "Didier"},
            {"literal": "The ELODIE Team"},
        ],
        "issued": {"date-parts": [[1995]]},
        "container-title": "Nature",
        "volume": "378",
        "issue": "6555",
        "page": "355-359",
        "publisher": "Macmillan",
        "DOI": "10.1038/378355a0",
        "URL": "https://example.org/a%20b",
        "PMID": "7",
        "language": "en",
        "abstract": "A search.",
    }


def test_ris_has_every_known_field() -> None:
    record = write_format("ris", volume="378", issue="6555", pages="355–359")
    assert record["type_of_reference"] == "JOUR"
    assert record["authors"] == ["Mayor, Michel", "Queloz, Didier", "The ELODIE Team"]
    assert (record["volume"], record["number"]) == ("378", "6555")
    assert (record["start_page"], record["end_page"]) == ("355", "359")
    assert record["doi"] == "10.1038/378355a0"


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({}, "article"),
        ({"kind": "inproceedings"}, "conference"),
        ({"kind": "PhDThesis"}, "thesis"),
        ({"kind": "techreport"}, "report"),
        ({"kind": "misc"}, "article"),
        ({"kind": "misc", "venue": ""}, "other"),
        ({"kind": "", "venue": "", "identifiers": {"arxiv": "2301.04242"}}, "preprint"),
    ],
)
def test_the_kind_comes_from_the_entry_type_or_else_from_venue_and_arxiv_id(facts: dict[str, Any], kind: str) -> None:
    assert make_reference({**PAPER, **facts}).kind == kind


def test_an_existing_entry_is_copied_and_a_missing_one_is_generated() -> None:
    text = format_citations([(PAPER, "@article{mayor1995,\n  title = {Mine}\n}\n"), (PAPER, "")], "bibtex")
    assert text.startswith("@article{mayor1995,\n  title = {Mine}\n}\n\n@article{mayor1995,")
    assert text.endswith("}\n")


def test_a_retraction_is_a_note_in_every_format() -> None:
    notices = [{"status": "retracted", "date": "2022-05-01", "notice_doi": "10.5555/notice.1"}]
    text = "Retracted 2022-05-01 (notice doi:10.5555/notice.1)"
    assert write_format("csl-json", notices=notices)["note"] == text
    assert write_format("ris", notices=notices)["notes"] == [text]
    assert f"note = {{{text}}}" in format_citations([({**PAPER, "notices": notices}, "")], "bibtex")


@pytest.mark.parametrize("format_name", ["ris", "csl-json"])
def test_hostile_metadata_stays_inside_its_record(format_name: str) -> None:
    record = write_format(
        format_name, title="x\nER  - \nTY  - BOOK\n", authors=["A\nB", ""], year=None, abstract="\x00"
    )
    assert record["title"] == "x ER - TY - BOOK"
