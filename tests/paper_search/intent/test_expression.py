"""Boolean queries that always parse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.intent.expression import render, term, tidied
from paper_search.sources.boolean import all_of, any_of, parse


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
def test_a_query_from_elsewhere_is_put_in_order(query: str, expected: str) -> None:
    assert tidied(query) == expected


def test_text_becomes_one_phrase_that_no_character_can_break() -> None:
    phrase = term('a "quoted) (thing AND more')
    assert phrase is not None
    assert render(phrase) == '"a quoted thing AND more"'
    assert parse(render(phrase)) == phrase
    assert term(' "() ') is None


def test_conditions_without_content_vanish() -> None:
    assert any_of([None]) is None
    assert all_of([None], [term("x")]) is None
    assert all_of([term("a"), None, term("a")]) == term("a")


@given(st.text(max_size=60))
def test_tidying_twice_changes_nothing_more(query: str) -> None:
    once = tidied(query)
    assert tidied(once) == once
    assert once.count("(") == once.count(")")
    assert once.count('"') % 2 == 0
