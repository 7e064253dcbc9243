"""Tests of text matches, term weights and the similarity boost."""

import pytest

from paper_search.domain.relevance.bm25 import measure_match_strengths, weigh_terms
from paper_search.domain.relevance.secondary_evidence import BEST, CONSIDERED, SHARE, boost_similar_papers
from paper_search.domain.relevance.weighted_terms import Candidate, CandidatePool, build_weighted_query
from tests.paper_search.domain.relevance.sample_papers import make_intent


def compute_strengths(topic: str, *candidates: Candidate) -> list[float]:
    pool, query = CandidatePool(candidates), build_weighted_query(make_intent(topic))
    return measure_match_strengths(pool, query, weigh_terms(pool, query.asked))


def make_candidate(title: str, body: str = "", venue: str = "") -> Candidate:
    return Candidate(title.split(), body.split(), venue.split())


def test_a_word_in_the_title_weighs_more_than_in_the_body_and_there_more_than_in_the_venue() -> None:
    title, body, venue, nowhere = compute_strengths(
        "amber",
        make_candidate("amber road", "x y z"),
        make_candidate("x road", "amber y z"),
        make_candidate("x road", "w y z", "amber"),
        make_candidate("x road", "w y z"),
    )
    assert title > body > venue > nowhere == 0


def test_repeating_a_word_helps_less_and_less() -> None:
    once, twice, often = compute_strengths(
        "amber",
        make_candidate("x", "amber b c d"),
        make_candidate("x", "amber amber c d"),
        make_candidate("x", "amber " * 4),
    )
    assert 0 < often - twice < 2 * (twice - once)
    assert often < 1


def test_the_same_word_weighs_more_in_a_short_text() -> None:
    short, long = compute_strengths("amber", make_candidate("x", "amber b"), make_candidate("x", "amber " + "b " * 60))
    assert short > long


def test_overlapping_pairs_of_neighbours_are_all_counted() -> None:
    twice, once = compute_strengths(
        "amber road", make_candidate("x", "amber road amber road"), make_candidate("x", "amber road road amber")
    )
    assert twice > once


def test_a_common_word_and_a_word_outside_titles_weigh_less() -> None:
    pool = CandidatePool(
        [make_candidate("amber road", "method study boat"), make_candidate("amber coast", "method study boat")]
    )
    weights = weigh_terms(pool, {"amber": 1, "boat": 1, "method": 1})
    assert weights["amber"] > weights["boat"] > weights["method"] > 0


@pytest.mark.parametrize("size", [1, 2, 10, 1_000])
def test_a_term_that_every_candidate_contains_has_a_weight_above_zero(size: int) -> None:
    pool = CandidatePool([make_candidate("amber", "amber road")] * size)
    assert weigh_terms(pool, {"amber": 1, "road": 1, "absent": 1})["amber"] > 0.3


def test_a_term_that_the_query_repeats_weighs_twice() -> None:
    pool = CandidatePool([make_candidate("amber road")])
    weights = weigh_terms(pool, {"amber": 2, "road": 1})
    assert weights["amber"] == 2 * weights["road"]


def test_an_empty_pool_has_no_strengths() -> None:
    assert compute_strengths("amber") == []


def test_similarity_raises_the_match_that_resembles_the_others() -> None:
    pool = CandidatePool(
        [
            make_candidate("amber trade", "baltic merchants ships coast"),
            make_candidate("amber trade", "baltic merchants harbour coast"),
            make_candidate("amber trade", "baltic ships merchants guild"),
            make_candidate("amber trade", "insect fossil gene protein"),
        ]
    )
    *typical, odd = boost_similar_papers(pool, [0.5, 0.5, 0.5, 0.5])
    assert min(typical) > odd >= 0.5


def test_the_similarity_boost_is_bounded_and_ignores_the_paper_itself() -> None:
    pool = CandidatePool(
        [
            make_candidate("amber trade", "baltic"),
            make_candidate("amber trade", "baltic"),
            make_candidate("whale", "fish"),
        ]
    )
    best, twin_of_best, alone = boost_similar_papers(pool, [0.8, 0.1, 0.4])
    assert twin_of_best == pytest.approx(0.1 + SHARE * 0.8)
    assert 0.8 < best < 0.8 + SHARE * 0.8
    assert alone == 0.4


def test_a_single_paper_no_match_and_an_empty_pool_get_no_similarity_boost() -> None:
    assert boost_similar_papers(CandidatePool([make_candidate("amber")]), [0.7]) == [0.7]
    assert boost_similar_papers(CandidatePool([make_candidate("amber"), make_candidate("amber")]), [0.0, 0.0]) == [
        0.0,
        0.0,
    ]
    assert boost_similar_papers(CandidatePool([]), []) == []


def test_equally_strong_papers_get_the_same_similarity_boost() -> None:
    same = [make_candidate("amber trade", "baltic")] * (CONSIDERED + BEST)
    assert len(set(boost_similar_papers(CandidatePool(same), [0.5] * len(same)))) == 1
