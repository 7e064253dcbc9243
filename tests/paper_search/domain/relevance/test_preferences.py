"""Tests of preferences: papers that meet them rise, and no paper falls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.relevance.bm25 import FAIR, boost_for_preferences
from paper_search.models import RawPaper
from tests.paper_search.domain.relevance.sample_papers import (
    list_scores,
    make_authors,
    make_intent,
    make_paper,
    score_pool,
)

PLAIN = make_paper("Sea ice in winter", "We measure sea ice.", year=2012)
OFF_TOPIC = make_paper("Amber trade", "Albedo of amber.", year=2022, language="de", venue="Nature")


def score_with_preferences(*preferences: str) -> list[float]:
    wanted = make_intent("sea ice", "sea ice", preferences=list(preferences))
    return list_scores([PLAIN, CANDIDATES[preferences[0]], OFF_TOPIC], wanted)


CANDIDATES: dict[str, RawPaper] = {
    "albedo": make_paper("Sea ice in winter", "We measure sea ice albedo.", year=2012),
    "published in 2020 or later": make_paper("Sea ice in winter", "We measure sea ice.", year=2021),
    "written in German": make_paper("Sea ice in winter", "We measure sea ice.", year=2012, language="de"),
    "Nature": make_paper("Sea ice in winter", "We measure sea ice.", year=2012, venue="Nature"),
    "Jane Doe": make_paper("Sea ice in winter", "We measure sea ice.", year=2012, authors=make_authors("J. Doe")),
}


@pytest.mark.parametrize("preference", list(CANDIDATES))
def test_a_paper_that_meets_a_preference_ranks_before_an_equal_one(preference: str) -> None:
    plain, preferred, _ = score_with_preferences(preference)
    assert preferred > plain + 0.05
    (reason,) = (
        one.relevance_reason
        for one in score_pool([CANDIDATES[preference]], make_intent("sea ice", "sea ice", preferences=[preference]))
    )
    assert f"preferred: {preference}" in reason


def test_a_negative_preference_is_met_by_papers_without_the_term() -> None:
    wanted = make_intent("sea ice", "sea ice", preferences=["not albedo"])
    without, with_it = list_scores([PLAIN, CANDIDATES["albedo"]], wanted)
    assert without > with_it


def test_a_preference_does_not_raise_an_irrelevant_paper_over_the_threshold() -> None:
    wanted = make_intent(
        "sea ice thickness", "sea ice", "thickness", preferences=["albedo", "written in German", "Nature"]
    )
    assert list_scores([OFF_TOPIC, PLAIN], wanted)[0] < FAIR


def test_a_preference_lowers_no_score() -> None:
    papers = [PLAIN, CANDIDATES["albedo"], OFF_TOPIC]
    before = list_scores(papers, make_intent("sea ice", "sea ice"))
    after = list_scores(papers, make_intent("sea ice", "sea ice", preferences=["albedo"]))
    assert all(new >= old for new, old in zip(after, before, strict=True))


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 3))
def test_the_preference_boost_keeps_bounds_order_and_the_threshold(one: float, other: float, met: int) -> None:
    low, high = sorted((one, other))
    assert low <= boost_for_preferences(low, met, 3) <= 1
    assert boost_for_preferences(low, met, 3) <= boost_for_preferences(high, met, 3) + 1e-9
    assert (boost_for_preferences(low, met, 3) >= FAIR) == (low >= FAIR)


def test_a_paper_requested_by_its_identifier_scores_1() -> None:
    papers = [make_paper("Amber trade", None, doi="10.5555/a"), make_paper("Sea ice")]
    assert list_scores(papers, make_intent("10.5555/a", "10.5555/a"))[0] == 1.0
