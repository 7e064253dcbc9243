"""Tests of plans that follow feedback: what changes, and the note on each change."""

from datetime import date
from typing import Any

import pytest

from paper_search.domain.field_profiles import get_domain
from paper_search.domain.intent.intent_reader import read_intent
from paper_search.domain.intent.strategy_planner import plan_strategy
from paper_search.domain.intent.vocabulary import Vocabulary
from paper_search.domain.query.filters import is_text_excluded
from paper_search.domain.strategies.plain_words import parse_query
from paper_search.models import QueryBuilderInput, SearchStrategy, TermSuggestion, UserFeedback

TODAY = date(2026, 6, 15)
VOCABULARY = Vocabulary(get_domain("general").synonyms)
SUGGESTED = [
    TermSuggestion(term="encapsulation", reason="in 9 of 20 papers"),
    TermSuggestion(term="solar modules", reason="in 7 of 20 papers", block="perovskite degradation"),
]


def plan_after(query: str = "perovskite degradation since 2015 to 2020", **fields: Any) -> SearchStrategy:
    """Return the plan of the second round, after the feedback."""
    intent = read_intent(query, VOCABULARY, TODAY)
    first = plan_strategy(QueryBuilderInput(intent=intent), VOCABULARY, ["crossref"], TODAY)
    feedback = UserFeedback.model_validate(fields)
    given = QueryBuilderInput(intent=intent, previous_strategies=[first], user_feedback=feedback, suggestions=SUGGESTED)
    return plan_strategy(given, VOCABULARY, ["crossref"], TODAY)


def excludes(strategy: SearchStrategy, term: str) -> bool:
    nodes = [node for query in strategy.queries if (node := parse_query(query.boolean_query))]
    return bool(nodes) and all(is_text_excluded(node, term) for node in nodes)


@pytest.mark.parametrize("query", ["perovskite degradation since 2015 to 2020", '"perovskite" AND degradation'])
def test_each_exact_change_is_made_and_is_a_note(query: str) -> None:
    plan = plan_after(query, add_terms=["tandem cells"], exclude_terms=["mice"], set_years={"year_from": 2018})
    assert any("tandem" in one.boolean_query for one in plan.queries)
    assert excludes(plan, "mice")
    assert plan.filters.year_from == 2018
    for note in ("Added: “tandem cells” (asked for in the feedback).", "Excluded: “mice” (asked for in the feedback)."):
        assert note in plan.notes
    assert [note for note in plan.notes if note.startswith("Changed: first year is 2018")]


def test_dropped_limits_are_gone_and_noted() -> None:
    plan = plan_after(drop_limits=["years"])
    assert (plan.filters.year_from, plan.filters.year_to) == (None, None)
    assert {"Dropped: first year 2015.", "Dropped: last year 2020."} <= set(plan.notes)
    assert {origin.part for origin in plan.origins if origin.by_person} == {"year_from", "year_to"}
    since = plan_after("perovskite degradation since 2015", note="remove the year limit")
    assert "Dropped: first year 2015." in since.notes
    assert not [note for note in since.notes if note.startswith("The plan had no limit")]


def test_accepted_suggestions_are_in_the_plan_and_noted() -> None:
    plan = plan_after(use_suggestions=True)
    assert "solar modules" in next(block.variants for block in plan.blocks if block.name == "perovskite degradation")
    assert "encapsulation" in [block.name for block in plan.blocks if block.learned]
    assert "Added: “solar modules” to “perovskite degradation”." in plan.notes
    assert "Added: “encapsulation” (asked for in the feedback)." in plan.notes
    one = plan_after(use_suggestions=["encapsulation"])
    assert "solar modules" not in str(one.blocks)


def test_clauses_that_are_not_understood_are_a_note_and_change_nothing() -> None:
    plan = plan_after(free_text_feedback="None of these papers is about cancer. The others do not discuss children.")
    unchanged = plan_after()
    assert plan.queries == unchanged.queries
    assert plan.filters == unchanged.filters
    (note,) = [note for note in plan.notes if note.startswith("Not used: ")]
    assert "“None of these papers is about cancer”, “The others do not discuss children”" in note
    assert "exclude_terms" in note


def test_the_sentence_that_was_misread_drops_the_year_limit_and_excludes_nothing() -> None:
    plan = plan_after(note="These are not about cancer. Drop the year limit.")
    assert (plan.filters.year_from, plan.filters.year_to) == (None, None)
    assert not excludes(plan, "cancer")
    assert not excludes(plan, "year limit")


def test_exact_changes_win_over_the_text_beside_them() -> None:
    plan = plan_after(free_text_feedback="exclude tandem cells, since 2010", add_terms=["tandem cells"])
    assert not excludes(plan, "tandem cells")
    years = plan_after(free_text_feedback="since 2010", set_years={"year_from": 2018})
    assert years.filters.year_from == 2018


def test_a_change_without_an_effect_is_noted() -> None:
    plan = plan_after(add_terms=["perovskite degradation"], free_text_feedback="remove the language limit")
    assert "“perovskite degradation” is in the plan already." in plan.notes
    assert "The plan had no limit “language”." in plan.notes


def test_a_plan_of_named_works_says_that_feedback_does_not_change_it() -> None:
    plan = plan_after("10.1038/nature14539", add_terms=["mice"])
    assert [note for note in plan.notes if note.startswith("The feedback was not used")]
