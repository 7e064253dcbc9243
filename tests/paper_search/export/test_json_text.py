"""Tests of the JSON export: it contains the whole collection."""

import json
import re

import pytest
from hypothesis import given

from paper_search.citation_keys import add_citation_keys
from paper_search.export import export_bibtex, export_csl_json, export_json, export_ris
from paper_search.models import PaperCollection
from tests.paper_search.export.samples import (
    CORRECTION,
    FLAG,
    RETRACTION,
    collection,
    collections,
    paper,
    untimed,
)
from tests.requirements import requirement


@requirement("PS-C4", "PS-X1")
@pytest.mark.parametrize("indent", [0, 2, 4])
def test_json_is_the_model_dump_with_the_requested_indent(indent: int) -> None:
    made = collection(paper("Cells", "Ada Brook", year=2020))
    assert export_json(made, indent=indent) == made.model_dump_json(indent=indent)


@requirement("PS-X1")
def test_the_default_indent_is_two() -> None:
    made = collection(paper())
    assert export_json(made) == made.model_dump_json(indent=2)


@requirement("PS-X1")
def test_an_empty_collection_gives_valid_json_with_an_empty_papers_array() -> None:
    assert json.loads(export_json(collection()))["papers"] == []


@requirement("PS-X1")
@untimed
@given(collections)
def test_reading_the_json_gives_the_same_collection(made: PaperCollection) -> None:
    assert PaperCollection.model_validate_json(export_json(made)) == made


def test_lone_surrogates_become_replacement_characters_and_other_text_stays() -> None:
    made = collection(paper("Zellen", "Ada Br\ud800ook", year=2020, venue="\udfff"))
    made.facets.by_year = {2020: 1}
    text = export_json(made)
    text.encode("utf-8")
    read = PaperCollection.model_validate_json(text)
    assert read.papers[0].authors[0].name == "Ada Br\ufffdook"
    assert read.papers[0].venue == "\ufffd"
    assert (read.metadata, read.facets) == (made.metadata, made.facets)


@untimed
@given(collections)
def test_the_keys_in_the_json_are_those_of_the_other_formats(made: PaperCollection) -> None:
    made = made.model_copy(update={"papers": add_citation_keys(made.papers)})
    keys = [written["citation_key"] for written in json.loads(export_json(made))["papers"]]
    assert keys == [item["id"] for item in json.loads(export_csl_json(made))]
    assert keys == re.findall(r"^@[a-z]+\{([^,]+),$", export_bibtex(made), re.MULTILINE)
    assert keys == re.findall(r"^ID  - (.+)$", export_ris(made), re.MULTILINE)


def test_a_retraction_is_an_object_with_four_keys_or_null_and_every_notice_is_listed() -> None:
    retracted, sound = paper(notices=[CORRECTION, RETRACTION, FLAG]), paper("Other")
    first, second = json.loads(export_json(collection(retracted, sound)))["papers"]
    assert first["retraction"] == {
        "status": "retracted", "source": "crossref", "date": "2010-02-06", "notice_doi": "10.1000/r_2",
    }  # fmt: skip
    assert [notice["source"] for notice in first["notices"]] == ["crossref", "crossref", "openalex"]
    assert (second["retraction"], second["notices"]) == (None, [])
