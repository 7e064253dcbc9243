"""Tests of directions in feedback and of the limits they change."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.intent.feedback_directions import Direction, compute_limit_changes, read_directions
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints

TODAY = date(2024, 6, 15)
WIDER, NARROWER, MORE, FEWER, NEWER, OLDER = Direction

PHRASES: dict[str, list[Direction]] = {
    "wider": [WIDER],
    "Broader!": [WIDER],
    "make it a bit wider": [WIDER],
    "cast a wider net": [WIDER],
    "please search more broadly": [WIDER],
    "too narrow": [WIDER],
    "less strict please": [WIDER],
    "the query is too specific": [WIDER],
    "expand the search": [WIDER],
    "loosen the criteria": [WIDER],
    "narrower": [NARROWER],
    "too broad": [NARROWER],
    "the results are too general": [NARROWER],
    "narrow it down": [NARROWER],
    "more specific": [NARROWER],
    "tighten the query": [NARROWER],
    "more": [MORE],
    "more papers": [MORE],
    "show me more": [MORE],
    "more of these, please": [MORE],
    "too few results": [MORE],
    "not enough papers": [MORE],
    "a longer list": [MORE],
    "a few more papers": [MORE],
    "fewer": [FEWER],
    "less": [FEWER],
    "fewer results": [FEWER],
    "too many papers": [FEWER],
    "newer": [NEWER],
    "newer papers on sea ice": [NEWER],
    "more recent work": [NEWER],
    "these are too old": [NEWER],
    "no older papers": [NEWER],
    "skip the older ones": [NEWER],
    "older": [OLDER],
    "older papers too": [OLDER],
    "too recent": [OLDER],
    "wider and newer": [NEWER, WIDER],
    "not wider, just newer": [NEWER],
}
TOPICS = [
    "older adults",
    "wider binaries",
    "broader impacts of citizen science",
    "more on JWST",
    "more moons",
    "more papers on JWST",
    "not enough on evaluation",
    "fewer stars",
    "less theory",
    "too many surveys",
    "no more reviews",
    "nothing more",
    "more like these please",
    "do not make it wider",
    "never narrower",
    "no newer than 2019",
    "older than ten years",
    "",
]


@pytest.mark.parametrize(("text", "directions"), PHRASES.items())
def test_words_about_the_search_are_directions(text: str, directions: list[Direction]) -> None:
    assert read_directions(text)[0] == directions


@pytest.mark.parametrize("text", TOPICS)
def test_words_about_the_subject_are_not_directions(text: str) -> None:
    assert read_directions(text)[0] == []


def test_the_rest_of_the_text_is_returned() -> None:
    directions, rest = read_directions("a wider range of hosts, but no reviews")
    assert directions == [WIDER]
    assert rest.split() == ["hosts,", "but", "no", "reviews"]


@pytest.mark.parametrize(
    ("direction", "limits", "changes"),
    [
        (NEWER, {}, {"year_from": 2019}),
        (NEWER, {"year_from": 2010}, {"year_from": 2017}),
        (NEWER, {"year_from": 2023}, {"year_from": 2024}),
        (NEWER, {"year_from": 2024}, {"year_from": 2024}),
        (OLDER, {}, {}),
        (OLDER, {"year_from": 2022}, {"year_from": 2017}),
        (OLDER, {"year_from": 2010}, {"year_from": 1996}),
        (MORE, {"max_results": 40}, {"max_results": 80}),
        (MORE, {"max_results": MAX_RESULTS_CAP}, {"max_results": MAX_RESULTS_CAP}),
        (FEWER, {"max_results": 41}, {"max_results": 20}),
        (FEWER, {"max_results": 1}, {"max_results": 1}),
        (WIDER, {"max_results": 40, "year_from": 2010}, {}),
        (NARROWER, {"max_results": 40, "year_from": 2010}, {}),
    ],
)
def test_a_direction_changes_the_limits_that_it_is_about(
    direction: Direction, limits: dict[str, int], changes: dict[str, int]
) -> None:
    found, notes = compute_limit_changes([direction], SearchConstraints.model_validate(limits), TODAY)
    assert found == changes
    assert bool(notes) == (direction not in (WIDER, NARROWER))


@given(st.text(max_size=300))
def test_any_text_is_read_to_the_end(text: str) -> None:
    directions, rest = read_directions(text)
    assert len(directions) == len(set(directions))
    assert read_directions(rest)[1] == rest
