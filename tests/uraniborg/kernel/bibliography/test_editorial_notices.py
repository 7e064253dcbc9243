"""Notices about papers are read from JSON and BibTeX notes, described in one line, and read back from it."""

# pyright: reportArgumentType=false

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.kernel.bibliography.editorial_notices import (
    RETRACTIONS,
    describe_notices,
    find_retraction,
    merge_notices,
    parse_notices_of_note,
    read_notices,
)

LANCET = {
    "status": "retracted",
    "source": "crossref",
    "date": "2010-02-06",
    "notice_doi": "10.1016/s0140-6736(10)60175-4",
}
PARTIAL = {"status": "corrected", "source": "crossref", "date": "2004-03-06"}


@pytest.mark.parametrize(
    ("value", "statuses"),
    [
        (LANCET, ["retracted"]),
        ([PARTIAL, LANCET], ["corrected", "retracted"]),
        (True, ["retracted"]),
        (False, []),
        (None, []),
        ("withdrawn", ["withdrawn"]),
        ({"type": "Expression-of-Concern"}, ["concern"]),
        ({"status": "Partial Retraction"}, ["partially_retracted"]),
        ({"status": {}}, []),
        ({"status": ""}, []),
        ({}, []),
        (7, []),
        ([["retracted"], "removed"], ["removed"]),
    ],
)
def test_notices_are_read_leniently(value: Any, statuses: list[str]) -> None:
    assert [notice["status"] for notice in read_notices(value)] == statuses


def test_the_most_serious_notice_with_a_doi_is_the_retraction() -> None:
    openalex = {"status": "retracted", "source": "openalex"}
    labelled = {**LANCET, "label": "Lancet 375"}
    assert find_retraction([PARTIAL, openalex, labelled]) == labelled
    assert find_retraction([openalex]) == openalex
    later = {**openalex, "date": "2011-01-01"}
    assert find_retraction([LANCET, later]) == find_retraction([later, LANCET]) == LANCET
    again = {**LANCET, "date": "2012", "notice_doi": "10.1016/s0140-6736(12)1"}
    assert find_retraction([again, LANCET, later]) == find_retraction([later, LANCET, again]) == again
    assert find_retraction([{**again, "status": "withdrawn"}, openalex]) == openalex
    assert find_retraction([PARTIAL, {"status": "concern", "source": "pubmed"}, {"status": "odd"}]) is None
    assert {"retracted", "withdrawn", "removed", "partially_retracted"} == RETRACTIONS


def test_a_repeated_notice_is_merged_and_the_most_serious_comes_first() -> None:
    assert merge_notices([PARTIAL, LANCET, {**LANCET, "source": "pubmed"}]) == [LANCET, PARTIAL]


def test_a_described_notice_is_read_back() -> None:
    line = describe_notices([PARTIAL, LANCET])
    assert line == (
        "Retracted 2010-02-06 (notice doi:10.1016/s0140-6736(10)60175-4, source crossref); "
        "corrected 2004-03-06 (source crossref)"
    )
    assert parse_notices_of_note(line) == [LANCET, PARTIAL]


def test_a_correction_alone_is_not_described() -> None:
    assert describe_notices([PARTIAL]) == describe_notices([]) == ""


@pytest.mark.parametrize(
    "note", ["", "Accepted for publication", "retracted papers are listed", "In press; corrected proof"]
)
def test_other_notes_contain_no_notice(note: str) -> None:
    assert parse_notices_of_note(note) == []


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("status"), inner),
    )
)
def test_no_value_makes_reading_fail(value: Any) -> None:
    for notice in read_notices(value):
        assert notice["status"]
        assert isinstance(describe_notices([notice]), str)
