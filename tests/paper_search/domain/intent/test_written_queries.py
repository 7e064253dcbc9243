"""Tests of typed queries: they run as typed, feedback adds to them, and "wider" and "narrower" read their blocks."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.field_profiles import get_domain
from paper_search.domain.intent.intent_reader import read_intent
from paper_search.domain.intent.strategy_planner import plan_strategy
from paper_search.domain.intent.typed_queries import build_search_query, split_exclusions
from paper_search.domain.intent.vocabulary import Vocabulary
from paper_search.domain.query.query_texts import normalise_query
from paper_search.domain.strategies.plain_words import parse_query
from paper_search.models import QueryBuilderInput, SearchStrategy, UserFeedback
from uraniborg.kernel.language.boolean_query import Node

TODAY = date(2026, 6, 15)
VOCABULARY = Vocabulary(get_domain("general").synonyms)


def parse_tree(query: str) -> Node:
    node = parse_query(query)
    assert node is not None
    return node


def plan_rounds(query: str, *feedback: str) -> list[SearchStrategy]:
    """Return the plan of the first round and of one more round for each feedback."""
    intent = read_intent(query, VOCABULARY, TODAY)
    assert intent.typed_query
    plans: list[SearchStrategy] = []
    said = [UserFeedback(free_text_feedback=text) for text in feedback]
    for number in range(len(feedback) + 1):
        plan = plan_strategy(
            QueryBuilderInput(
                intent=intent,
                previous_strategies=plans,
                user_feedback=said[number - 1] if number else None,
                earlier_feedback=said[: max(0, number - 1)],
            ),
            VOCABULARY,
            ["crossref"],
            TODAY,
        )
        plans = [*plans, plan]
    return plans


def list_boolean(plan: SearchStrategy) -> list[str]:
    return [query.boolean_query for query in plan.queries if query.boolean_query]


def list_active(plan: SearchStrategy) -> list[str]:
    return [block.name for block in plan.blocks if block.active]


def test_a_typed_query_runs_as_typed_until_feedback_asks_for_a_change() -> None:
    first, second = plan_rounds('"sea ice" AND albedo NOT hail', "")
    assert list_boolean(first) == list_boolean(second) == ['"sea ice" AND albedo NOT hail']
    assert first.blocks == second.blocks == []


@pytest.mark.parametrize(
    ("query", "looser", "dropped"),
    [
        ("cryovolcanism AND climate", ["cryovolcanism"], "climate"),
        ('glacier AND (climate OR weather) AND "black carbon"', ['glacier AND "black carbon"'], "climate"),
        ("cryovolcanism AND climate AND NOT hail", ["cryovolcanism AND NOT hail"], "climate"),
    ],
)
def test_wider_drops_the_least_specific_condition_and_keeps_the_typed_query_first(
    query: str, looser: list[str], dropped: str
) -> None:
    _, plan = plan_rounds(query, "wider")
    assert list_boolean(plan)[0] == query
    assert list_boolean(plan)[1:2] == looser
    assert f"Loosened: “{dropped}” is no longer required." in plan.notes


def test_wider_twice_drops_another_condition_and_the_typed_query_still_runs() -> None:
    *_, second, third = plan_rounds("cryovolcanism AND climate AND glacier", "wider", "even wider")
    assert list_active(second) == ["cryovolcanism", "glacier"]
    assert list_active(third) == ["cryovolcanism"]
    assert list_boolean(third) == ["cryovolcanism AND climate AND glacier", "cryovolcanism"]


def test_every_query_keeps_the_exclusions_that_were_typed_together() -> None:
    _, plan = plan_rounds("cryovolcanism AND climate NOT (hail AND rain)", "wider")
    for text in list_boolean(plan):
        assert split_exclusions(parse_tree(text))[1] == (parse_tree("hail AND rain"),)


def test_a_single_condition_cannot_be_dropped_so_the_limits_change() -> None:
    _, plan = plan_rounds("cryovolcanism OR geysers since 2020", "wider")
    assert list_boolean(plan) == ["cryovolcanism OR geysers"]
    assert plan.filters.year_from == 2015
    assert "The query cannot be changed further, so year_from is now 2015." in plan.notes


def test_narrower_drops_the_alternatives() -> None:
    _, plan = plan_rounds("(ice OR snow) AND (road OR street) AND NOT hail", "narrower")
    assert list_boolean(plan) == ["ice AND road AND NOT hail"]
    assert {"Removed: “snow” from “ice”.", "Removed: “street” from “road”."} <= set(plan.notes)
    _, unchanged = plan_rounds("ice AND snow", "narrower")
    assert list_boolean(unchanged) == ["ice AND snow"]
    assert "The query cannot be changed further, so max_results is now 50." in unchanged.notes


def test_narrower_takes_back_what_wider_dropped() -> None:
    _, wider, plan = plan_rounds('"sea ice" AND albedo', "wider", "narrower")
    assert len(list_boolean(wider)) == 2
    assert list_boolean(plan) == ['"sea ice" AND albedo']
    assert [note for note in plan.notes if note.startswith("Tightened: ")]


def test_a_looser_strategy_keeps_its_field_tags_and_exclusions_and_later_feedback_builds_on_it() -> None:
    typed = '("heart failure"[tiab] OR "cardiac failure"[tiab]) AND exercise[mh] NOT animals[mh]'
    *_, wider, plan = plan_rounds(typed, "wider", "add dyspnoea")
    looser = '("heart failure"[tiab] OR "cardiac failure"[tiab]) NOT animals[mh]'
    assert list_boolean(wider) == [typed, looser]
    assert list_boolean(plan)[:2] == [typed, looser]
    assert "dyspnoea" in list_boolean(plan)[2]
    assert "Added: “dyspnoea” (asked for in the feedback)." in plan.notes


def test_wanted_and_refused_words_are_added_to_typed_queries() -> None:
    _, plan = plan_rounds("(ice AND snow) OR hail", "add albedo, no reviews")
    assert list_boolean(plan) == [
        "((ice AND snow) OR hail) AND NOT (reviews OR review)",
        "((ice AND snow) OR hail) AND albedo AND NOT (reviews OR review)",
    ]
    assert plan.queries[0].keywords == ["ice", "snow", "hail"]
    _, refused = plan_rounds("ice AND snow", "exclude snow")
    assert list_boolean(refused) == ["ice AND snow"]
    assert "“snow” is part of the search terms and cannot be excluded." in refused.notes


@given(st.text(max_size=60))
def test_any_query_with_a_further_exclusion_parses_and_keeps_its_own(query: str) -> None:
    if (node := parse_query(query)) is None:
        return
    hail = parse_tree("hail")
    text = build_search_query(node, [hail]).boolean_query
    assert normalise_query(text) == text
    own = split_exclusions(parse_tree(normalise_query(query)))[1]
    assert set(split_exclusions(parse_tree(text))[1]) == {*own, hail}
