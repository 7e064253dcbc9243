"""Tests of the limits of a search."""

from contextlib import suppress

import pytest

from paper_search.errors import InvalidQuery, UnsupportedQuery
from paper_search.models import MAX_RESULTS_CAP
from paper_search.workflow.input_checks import MAX_QUERY_CHARS, check_max_results, check_query
from tests.paper_search.domain.strategies.test_strategy_parser import HOSTILE
from uraniborg.kernel.errors import InvalidInput


@pytest.mark.parametrize("query", ["", " \t\n", "\x00\x00", "...", "—?"])
def test_a_query_without_a_letter_or_digit_is_empty(query: str) -> None:
    with pytest.raises(InvalidQuery, match="empty"):
        check_query(query)


@pytest.mark.parametrize("query", [None, 17, ["perovskite"], b"perovskite"])
def test_a_query_that_is_not_text_is_refused(query: object) -> None:
    with pytest.raises(InvalidQuery, match="must be text"):
        check_query(query)


def test_a_query_too_long_is_refused_with_both_lengths_and_without_its_text() -> None:
    with pytest.raises(InvalidQuery) as caught:
        check_query("secret " * 1_500)
    assert "2,000" in caught.value.message
    assert "secret" not in str(caught.value.body())


def test_a_query_of_the_maximum_length_is_accepted() -> None:
    assert len(check_query("x" * MAX_QUERY_CHARS)) == MAX_QUERY_CHARS


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("  moons ", "moons"),
        ("mo\x00ons", "moons"),
        ("月の潮汐加熱", "月の潮汐加熱"),
        ("תנודות", "תנודות"),
        ("C++", "C++"),
    ],
)
def test_a_query_is_trimmed_and_otherwise_unchanged(query: str, expected: str) -> None:
    assert check_query(query) == expected


@pytest.mark.parametrize("wanted", [0, -1, -(10**9)])
def test_max_results_below_one_is_refused(wanted: int) -> None:
    with pytest.raises(InvalidInput, match="at least 1") as caught:
        check_max_results(wanted)
    assert caught.value.ids["allowed"] == f"1..{MAX_RESULTS_CAP}"


def test_a_huge_max_results_is_capped_with_a_note() -> None:
    capped, notes = check_max_results(10**9)
    assert capped == MAX_RESULTS_CAP
    assert "1,000,000,000" in notes[0]


def test_a_valid_max_results_is_unchanged() -> None:
    assert check_max_results(42) == (42, [])


@pytest.mark.parametrize("wanted", ["10", 10.0, None, True])
def test_a_max_results_that_is_not_a_whole_number_is_refused(wanted: object) -> None:
    with pytest.raises(InvalidInput, match="whole number"):
        check_max_results(wanted)


def test_a_query_for_citations_is_refused_with_a_hint() -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        check_query("papers citing 10.5555/a please")
    assert "citing 10.5555/a" in caught.value.message
    assert "identifier alone" in caught.value.hint


@pytest.mark.parametrize("query", ["10.5555/a", "citation analysis", "papers citing Doe et al. 2010"])
def test_identifiers_and_words_about_citations_are_accepted(query: str) -> None:
    assert check_query(query) == query


@pytest.mark.parametrize(
    ("query", "start", "end", "problem"),
    [
        ("(stem AND (cancer OR", 0, 1, "not closed"),
        ("stem AND OR cancer", 5, 8, "nothing after"),
        ("title:(…) AND [x]", 6, 9, "empty"),
        ("cancer AND [x]", 11, 14, "not a known field"),
        ('"tidal stream turbines', 0, 1, "not closed"),
        ("stem OR shoot)", 13, 14, "closes nothing"),
        ("AND cancer", 0, 3, "nothing before"),
        ("cancer AND", 7, 10, "nothing after"),
        ("cancer AND ()", 11, 13, "empty"),
        ("NOT cancer", 0, 10, "only excludes"),
        ("stem OR NOT cancer", 8, 18, "only excludes"),
        ("find papers since 2015 on (stem AND cancer", 26, 27, "not closed"),
        ("since 2015: stem AND OR cancer", 17, 20, "nothing after"),
    ],
)
def test_a_typed_query_with_an_error_is_refused_at_its_position(query: str, start: int, end: int, problem: str) -> None:
    with pytest.raises(InvalidQuery, match=problem) as caught:
        check_query(query)
    assert (caught.value.ids["start"], caught.value.ids["end"]) == (start, end)
    assert f"at character {start + 1}, “{query[start:end]}" in caught.value.message
    assert caught.value.hint
    assert caught.value.ids["problems"][0]["start"] == start


@pytest.mark.parametrize(
    "query",
    [
        "tides on icy moons :)",
        "a) soil carbon b) tillage",
        "solid electrolytes (LLZO",
        "solid electrolytes) for batteries",
        'pipe flow in 5" pipes',
        "- [ ] solid electrolytes\n- [x] lithium dendrites",
        "TO BE OR NOT TO BE",
        "What do AND gates (and OR gates do?",
        "10.1038/nature21360 OR 10.1086/341477",
    ],
)
def test_plain_words_with_stray_signs_are_accepted(query: str) -> None:
    assert check_query(query) == query


def test_a_query_with_operators_or_tags_may_have_20000_characters() -> None:
    for piece in ("tidal[tiab] OR ", "tidal OR ", '"tidal heating" AND '):
        text = piece * (19_000 // len(piece)) + "moons"
        assert check_query(text) == text


@pytest.mark.parametrize("text", ["moons and tides " * 200, "moons[ti] OR " * 2_000, "moons OR " * 3_000])
def test_longer_texts_are_refused_with_both_limits(text: str) -> None:
    with pytest.raises(InvalidQuery, match="at most 2,000 are allowed in plain words, and 20,000 for a query with"):
        check_query(text)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_strategy_is_a_normal_error_or_accepted(name: str) -> None:
    with suppress(InvalidQuery):
        check_query(HOSTILE[name][:20_000])
