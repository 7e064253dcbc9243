"""Tests of edits of a strategy as people and agents write them."""

from typing import Any, cast

import pytest
from pydantic import ValidationError

from paper_search.errors import InvalidDecision
from paper_search.models import ConceptBlock, SearchConstraints, SearchQuery, SearchStrategy, TermSuggestion
from paper_search.service.sessions.inbox_decisions import EDIT_EXAMPLE, complete_edit
from uraniborg.kernel.json_values import JsonObject

PROPOSED = SearchStrategy(
    queries=[SearchQuery(keywords=["moons"], boolean_query="moons")],
    sources=["alpha", "beta"],
    filters=SearchConstraints(year_from=2016, max_results=50),
)


def apply_edit(data: Any) -> SearchStrategy:
    return SearchStrategy.model_validate({**PROPOSED.model_dump(), **cast("JsonObject", complete_edit(data, PROPOSED))})


def test_a_filter_that_is_not_named_stays_as_proposed() -> None:
    assert apply_edit({"filters": {"year_to": 2020}}).filters == SearchConstraints(
        year_from=2016, year_to=2020, max_results=50
    )
    assert apply_edit({"filters": {"year_from": None}}).filters.year_from is None


@pytest.mark.parametrize(
    "data",
    [
        {"filters": {"from": 2018}},
        {"queries": [{"boolean_query": "a", "weight": 2}]},
        {"blocks": [{"name": "moons", "weight": 2}]},
    ],
)
def test_unknown_fields_are_refused_with_the_allowed_ones_and_an_example(data: dict[str, Any]) -> None:
    with pytest.raises(InvalidDecision, match=r"Unknown (filter|query|block) fields: (from|weight)") as refused:
        complete_edit(data, PROPOSED)
    assert EDIT_EXAMPLE in refused.value.hint


def test_a_query_may_be_text_and_need_not_name_its_keywords() -> None:
    queries = apply_edit({"queries": ['"icy moons" AND (tides OR NOT rings)', {"boolean_query": "Io"}]}).queries
    assert [query.keywords for query in queries] == [["icy moons", "tides", "rings"], ["Io"]]
    assert queries[0].boolean_query == '"icy moons" AND (tides OR NOT rings)'


def test_keywords_that_are_named_stay() -> None:
    (query,) = apply_edit({"queries": [{"keywords": ["tides"], "boolean_query": "Io"}]}).queries
    assert query.keywords == ["tides"]


def test_fields_of_a_block_that_are_not_named_are_those_of_the_block_or_the_suggestion_of_this_name() -> None:
    block = ConceptBlock(
        name="moons", variants=["moons", "moon"], share=0.001, word_shares={"moons": 0.001}, reason="from the question"
    )
    suggestion = TermSuggestion(term="plumes", reason="in 14 of the 20 best papers")
    proposed = PROPOSED.model_copy(update={"blocks": [block], "suggestions": [suggestion]})
    data: JsonObject = {"blocks": [{"name": "moons", "variants": ["moon"]}, {"name": "plumes"}, "tides"]}
    edited = SearchStrategy.model_validate(
        {**proposed.model_dump(), **cast("JsonObject", complete_edit(data, proposed))}
    )
    assert edited.blocks == [
        block.model_copy(update={"variants": ["moon"]}),
        ConceptBlock(name="plumes", variants=["plumes"], learned=True, reason=suggestion.reason),
        ConceptBlock(name="tides", variants=["tides"], reason="added in an edit"),
    ]


def test_one_source_may_be_sent_without_a_list_and_the_strategy_may_be_complete() -> None:
    assert apply_edit({"strategy": {"sources": "beta"}}).sources == ["beta"]


@pytest.mark.parametrize(
    "data", [None, "text", 7, [], {"queries": "x"}, {"filters": []}, {"queries": [1, None]}, {"blocks": "x"}]
)
def test_data_that_is_not_an_edit_is_refused_by_the_engine(data: Any) -> None:
    done = complete_edit(data, PROPOSED)
    assert done == data
    if isinstance(done, dict):
        with pytest.raises(ValidationError):
            apply_edit(done)
