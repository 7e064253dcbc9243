"""The index fields of a paper."""

from pathlib import Path
from typing import Any

import pytest

from paper_library.store import index as fields
from paper_library.store.index import create_index, make_document_fields, open_index

LISTS: dict[str, list[str]] = {"author": ["Kurt Gödel"], "keyword": ["Deep Sea"], "institution": [], "tag": ["wet"]}


def make_test_document(**changes: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "no": 3,
        "title": "Fishes of C++",
        "abstract": "They were swimming.",
        "year": None,
        "venue": "Sea",
        "lists": LISTS,
        "identifiers": ["10.1000/XYZ", "Smith 2020"],
        "texts": [],
        "facets": {"author": [1], "keyword": [], "institution": [], "tag": [2], "venue": [3]},
    }
    return make_document_fields(**{**facts, **changes})


def test_the_text_about_a_paper_is_indexed_stemmed_and_as_written() -> None:
    document = make_test_document()
    assert document[fields.TITLE] == "fish c++"
    assert document[fields.ABOUT] == "fish c++ swim deep sea wet"
    assert document[fields.EXACT] == "fishes of c++ they were swimming deep sea wet"
    assert document[fields.AUTHOR] == ["kurt godel"]
    assert document[fields.IDENTIFIER] == "10.1000/xyz smith2020"


def test_a_document_without_year_and_text_has_year_zero_and_no_full_text() -> None:
    document = make_test_document()
    assert document[fields.YEAR] == 0
    assert fields.FULL not in document
    assert make_test_document(texts=["Whole fishes."])[fields.FULL] == ["whole fish"]


def test_empty_facets_are_left_out() -> None:
    document = make_test_document()
    assert (document[fields.FACETS["author"]], document[fields.FACETS["tag"]]) == ([1], [2])
    assert fields.FACETS["keyword"] not in document


def test_an_index_is_opened_as_it_was_created(tmp_path: Path) -> None:
    create_index(tmp_path)
    assert open_index(tmp_path).searcher().num_docs == 0


def test_opening_a_folder_without_an_index_fails(tmp_path: Path) -> None:
    with pytest.raises((ValueError, OSError)):
        open_index(tmp_path)
