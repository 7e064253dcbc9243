"""Tests of marks, which change the scores of similar papers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.relevance.bm25 import MARK_STEP, adjust_for_feedback
from paper_search.domain.relevance.secondary_evidence import read_marks
from paper_search.models import Paper, RelevanceHints, Work
from tests.paper_search.domain.relevance.sample_papers import (
    list_scores,
    make_authors,
    make_intent,
    make_paper,
    score_pool,
)

WANTED = make_intent("perovskite", "perovskite")
LEAD_FREE = make_paper(
    "Lead-free perovskite", "Tin replaces lead in perovskite absorbers to avoid toxicity.", year=2021
)
TIN = make_paper("Tin perovskite absorbers", "Tin avoids the toxicity of lead in perovskite absorbers.")
LASER = make_paper("Perovskite lasers", "Optical gain and lasing in perovskite microcavities.")
POOL = [TIN, LASER]


def test_papers_similar_to_relevant_ones_rise_and_the_reason_names_it() -> None:
    hinted = score_pool(POOL, WANTED, RelevanceHints(relevant=[LEAD_FREE]))
    tin, laser = list_scores(POOL, WANTED)
    assert hinted[0].relevance_score > tin
    assert hinted[0].relevance_score - tin > hinted[1].relevance_score - laser
    assert "like papers marked relevant" in hinted[0].relevance_reason


def test_papers_similar_to_irrelevant_ones_sink() -> None:
    hinted = score_pool(POOL, WANTED, RelevanceHints(irrelevant=[LEAD_FREE]))
    tin, laser = list_scores(POOL, WANTED)
    assert hinted[0].relevance_score < tin
    assert tin - hinted[0].relevance_score > laser - hinted[1].relevance_score
    assert "like papers marked irrelevant" in hinted[0].relevance_reason


def test_marked_papers_score_1_and_0() -> None:
    hints = RelevanceHints(relevant=[LASER], irrelevant=[TIN])
    tin, laser = score_pool(POOL, WANTED, hints)
    assert (tin.relevance_score, laser.relevance_score) == (0.0, 1.0)
    assert "marked irrelevant" in tin.relevance_reason
    assert "marked relevant" in laser.relevance_reason


def test_a_marked_paper_is_recognised_after_it_was_stored_and_merged() -> None:
    stored = Work.model_validate(Paper(**LEAD_FREE.model_dump(exclude={"id"}), id="x").model_dump())
    merged = LEAD_FREE.model_copy(update={"identifiers": {"doi": "10.1000/lead"}, "doi": "10.1000/lead"})
    assert read_marks([merged, TIN], RelevanceHints(relevant=[stored])) == [True, None]


def test_papers_are_recognised_by_any_shared_identifier() -> None:
    marked = make_paper("One title", identifiers={"arxiv": "2101.00001"})
    same = make_paper("Another title", identifiers={"arxiv": "2101.00001", "doi": "10.1000/a"})
    assert read_marks([same], RelevanceHints(irrelevant=[marked])) == [False]


def test_editorials_of_different_people_are_not_one_paper() -> None:
    marked, other = (make_paper("Editorial", authors=make_authors(name), year=2020) for name in ("Ann Lee", "Bo Chen"))
    assert read_marks([other], RelevanceHints(relevant=[marked])) == [None]


def test_free_text_is_added_to_the_query() -> None:
    tin, laser = list_scores(POOL, WANTED, RelevanceHints(free_text=["lasing in microcavities"]))
    assert laser > tin


def test_similar_papers_marked_both_ways_cancel_out() -> None:
    twin = LEAD_FREE.model_copy(update={"title": "Lead-free  perovskite", "year": 2022})
    hinted = list_scores(POOL, WANTED, RelevanceHints(relevant=[LEAD_FREE], irrelevant=[twin]))
    assert hinted == pytest.approx(list_scores(POOL, WANTED))


@given(st.floats(0, 1), st.floats(-1, 1))
def test_adjusted_scores_stay_between_zero_and_one(score: float, similarity: float) -> None:
    moved = adjust_for_feedback(score, similarity)
    assert 0 <= moved <= 1
    assert abs(moved - score) <= MARK_STEP
