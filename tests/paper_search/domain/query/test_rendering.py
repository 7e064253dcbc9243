"""Tests of rendered boolean queries, which always parse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.query.query_texts import format_query, normalise_query, parse_phrase
from paper_search.domain.strategies.plain_words import parse_query
from uraniborg.kernel.language.boolean_query import join_all, join_any


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("ice", "ice"),
        ("black ice", "black AND ice"),
        ('"black ice" AND (road OR street) NOT car', '"black ice" AND (road OR street) AND NOT car'),
        ('(("black ice"', '"black ice"'),
        ("“black ice” OR snow)", '"black ice" OR snow'),
        ("AND OR NOT", ""),
        ("NOT ice", ""),
        ("", ""),
    ],
)
def test_a_query_in_another_form_is_normalised(query: str, expected: str) -> None:
    assert normalise_query(query) == expected


def test_text_becomes_one_phrase_that_no_character_can_break() -> None:
    phrase = parse_phrase('a "quoted) (thing AND more')
    assert phrase is not None
    assert format_query(phrase) == '"a quoted thing AND more"'
    assert parse_query(format_query(phrase)) == phrase
    assert parse_phrase(' "() ') is None


def test_empty_conditions_are_dropped() -> None:
    assert join_any([None]) is None
    assert join_all([None], [parse_phrase("x")]) is None
    assert join_all([parse_phrase("a"), None, parse_phrase("a")]) == parse_phrase("a")


@given(st.text(max_size=60))
def test_normalising_twice_changes_nothing(query: str) -> None:
    once = normalise_query(query)
    assert normalise_query(once) == once
    assert once.count("(") == once.count(")")
    assert once.count('"') % 2 == 0
