"""Parts that a person set stay until a person changes them, and each part has its origin."""

import json
from typing import Any

import pytest

from paper_search.models import PartOrigin, SearchConstraints, SearchQuery, SearchStrategy
from paper_search.testing import FakeSource, ScriptedDecisions, ScriptExhausted
from paper_search.workflow import Decision, DecisionAction
from paper_search.workflow.step_journal import MemoryJournal
from paper_search.workflow.strategy_origins import (
    REMOVED,
    get_query_text,
    inherit_parts,
    mark_edited_parts,
    select_person_queries,
)
from tests.paper_search.workflow.runs import (
    APPROVE,
    MOONS,
    QUERY,
    REJECT,
    get_strategy,
    make_edit,
    make_reject,
    make_workflow,
)

OWN = {"keywords": ["Europa"], "boolean_query": "Europa AND plumes"}


def make_sources() -> list[FakeSource]:
    return [FakeSource("alpha", MOONS), FakeSource("beta", MOONS), FakeSource("gamma", MOONS)]


def list_boolean_queries(strategy: SearchStrategy) -> list[str]:
    return [query.boolean_query for query in strategy.queries if query.boolean_query]


def get_origin(strategy: SearchStrategy, part: str) -> PartOrigin:
    return next(origin for origin in strategy.origins if origin.part == part)


class Model:
    """A model that returns a scripted proposal and stores the requests."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self._answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    async def complete(self, system: str, user: str) -> str:
        raise AssertionError("the builder asks for JSON")

    async def complete_json(self, system: str, user: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
        self.asked.append(json.loads(user))
        return self._answers[len(self.asked) - 1]


def make_answer(name: str) -> dict[str, Any]:
    return {"blocks": [{"name": name}], "sources": ["alpha"]}


async def test_sources_filters_limits_and_queries_that_a_person_set_stay_in_every_later_round() -> None:
    edit = make_edit(queries=[OWN], sources=["beta"], filters={"year_from": 2010, "language": "en", "max_results": 7})
    handler = ScriptedDecisions(
        [edit, REJECT, APPROVE, make_reject(free_text_feedback="also geysers"), APPROVE, APPROVE]
    )
    await make_workflow(handler, make_sources()).run(QUERY)
    for index in (2, 4):
        strategy = get_strategy(handler, index)
        assert strategy.sources == ["beta"]
        assert strategy.filters == SearchConstraints(year_from=2010, language="en", max_results=7)
        assert list_boolean_queries(strategy)[0] == OWN["boolean_query"]
        for part in ("queries[0]", "sources", "year_from", "language", "max_results"):
            found = get_origin(strategy, part)
            assert (found.inherited, found.by_person) == (True, True)
            assert found.reason == "set by a person in round 1"
    last = get_strategy(handler, 4)
    assert list_boolean_queries(last)[1] == "Europa AND plumes AND geysers"
    assert not get_origin(last, "queries[1]").inherited


async def test_a_person_can_change_in_a_later_round_a_part_set_before() -> None:
    first, second = make_edit(filters={"year_from": 2010}), make_edit(filters={"year_from": None})
    handler = ScriptedDecisions([first, REJECT, second, REJECT, APPROVE, APPROVE])
    await make_workflow(handler, make_sources()).run(QUERY)
    assert get_strategy(handler, 2).filters.year_from == 2010
    assert get_strategy(handler, 4).filters.year_from is None
    found = get_origin(get_strategy(handler, 4), "year_from")
    assert (found.value, found.inherited, found.reason) == ("none", True, "set by a person in round 2")


async def test_a_limit_named_in_feedback_replaces_the_one_set_before_and_stays_in_turn() -> None:
    handler = ScriptedDecisions(
        [
            make_edit(filters={"year_from": 2010}),
            make_reject(free_text_feedback="since 2015"),
            APPROVE,
            REJECT,
            APPROVE,
            APPROVE,
        ]
    )
    await make_workflow(handler, make_sources()).run(QUERY)
    assert [get_strategy(handler, index).filters.year_from for index in (2, 4)] == [2015, 2015]
    found = get_origin(get_strategy(handler, 2), "year_from")
    assert (found.inherited, found.by_person) == (False, True)
    assert get_origin(get_strategy(handler, 4), "year_from").inherited


async def test_a_bound_that_feedback_contradicts_is_dropped_even_if_a_person_set_it() -> None:
    edit = make_edit(filters={"year_from": 2001, "year_to": 2005})
    handler = ScriptedDecisions([edit, make_reject(free_text_feedback="only since 2015"), APPROVE, APPROVE])
    await make_workflow(handler, make_sources()).run(QUERY)
    assert get_strategy(handler, 2).filters == SearchConstraints(year_from=2015)


async def test_a_query_that_a_person_removed_does_not_come_back() -> None:
    handler = ScriptedDecisions([APPROVE])
    with pytest.raises(ScriptExhausted):
        await make_workflow(handler, make_sources()).run(QUERY)
    first, *others = map(get_query_text, get_strategy(handler, 0).queries)
    assert others
    remaining = [{"keywords": ["moons"], "boolean_query": first}]
    handler = ScriptedDecisions([make_edit(queries=remaining), REJECT, APPROVE, REJECT, APPROVE, APPROVE])
    await make_workflow(handler, make_sources()).run(QUERY)
    for index in (2, 4):
        assert first in list_boolean_queries(get_strategy(handler, index))
        assert not set(others) & set(map(get_query_text, get_strategy(handler, index).queries))
    assert [found.value for found in get_strategy(handler, 4).origins if found.part == REMOVED] == others


async def test_a_rejected_strategy_leads_to_one_that_is_built_on_the_edited_one() -> None:
    edit = make_edit(queries=[OWN], sources=["gamma"])
    refused = Decision(action=DecisionAction.REJECT, note="also geysers")
    handler = ScriptedDecisions([edit, REJECT, refused, APPROVE, APPROVE])
    await make_workflow(handler, make_sources()).run(QUERY)
    rebuilt = get_strategy(handler, 3)
    assert rebuilt.sources == ["gamma"]
    assert list_boolean_queries(rebuilt)[0] == OWN["boolean_query"]
    assert "Europa AND plumes AND geysers" in list_boolean_queries(rebuilt)


async def test_rules_build_on_edited_queries_which_a_language_model_cannot_undo() -> None:
    model = Model(make_answer("moons"), make_answer("tides"))
    edit = make_edit(queries=[OWN], sources=["gamma"], filters={"year_from": 2010})
    refused = Decision(action=DecisionAction.REJECT, note="also geysers")
    handler = ScriptedDecisions([edit, REJECT, refused, APPROVE, APPROVE])
    await make_workflow(handler, make_sources(), llm=model).run(QUERY)
    for index, added in ((2, []), (3, ["Europa AND plumes AND geysers"])):
        strategy = get_strategy(handler, index)
        assert list_boolean_queries(strategy) == [OWN["boolean_query"], *added]
        assert (strategy.sources, strategy.filters.year_from) == (["gamma"], 2010)
        assert not any("language model" in note for note in strategy.notes)


async def test_a_language_model_receives_what_a_person_set_and_cannot_undo_it() -> None:
    model = Model(make_answer("moons"), make_answer("tides"))
    edit = make_edit(sources=["gamma"], filters={"year_from": 2010})
    handler = ScriptedDecisions([edit, make_reject(free_text_feedback="also geysers"), APPROVE, APPROVE])
    await make_workflow(handler, make_sources(), llm=model).run(QUERY)
    strategy = get_strategy(handler, 2)
    assert {"tides", "geysers"} <= {block.name for block in strategy.blocks}
    assert (strategy.sources, strategy.filters.year_from) == (["gamma"], 2010)
    assert get_origin(strategy, "queries[1]").reason == "written by a language model"
    assert set(model.asked[1]["set_by_person"]) == {"sources", "year_from"}
    assert model.asked[1]["feedback"] == "also geysers"


async def test_feedback_changes_a_limit_beside_a_language_model() -> None:
    model = Model(make_answer("moons"), make_answer("tides"))
    rejection = make_reject(free_text_feedback="since 2015 please")
    handler = ScriptedDecisions([make_edit(filters={"year_from": 2010}), rejection, APPROVE, APPROVE])
    await make_workflow(handler, make_sources(), llm=model).run(QUERY)
    assert get_strategy(handler, 2).filters.year_from == 2015


async def test_parts_that_no_person_set_may_change_in_each_round() -> None:
    handler = ScriptedDecisions([APPROVE, make_reject(free_text_feedback="no rings"), APPROVE, APPROVE])
    await make_workflow(handler, make_sources()).run(QUERY)
    first, second = get_strategy(handler, 0), get_strategy(handler, 2)
    assert not set(list_boolean_queries(first)) & set(list_boolean_queries(second))
    assert not any(found.by_person for found in second.origins)
    assert get_origin(second, "sources").inherited
    assert not get_origin(second, "queries[0]").inherited


async def test_words_that_feedback_refuses_are_removed_from_the_query_of_the_person() -> None:
    handler = ScriptedDecisions(
        [make_edit(queries=[OWN]), make_reject(free_text_feedback="no reviews"), APPROVE, APPROVE]
    )
    await make_workflow(handler, make_sources()).run(QUERY)
    strategy = get_strategy(handler, 2)
    assert list_boolean_queries(strategy)[0] == "Europa AND plumes AND NOT (reviews OR review)"
    assert OWN["boolean_query"] not in list_boolean_queries(strategy)
    assert get_origin(strategy, "queries[0]").by_person


async def test_wider_adds_a_looser_form_of_the_query_of_the_person_with_a_note() -> None:
    handler = ScriptedDecisions([make_edit(queries=[OWN]), make_reject(free_text_feedback="wider"), APPROVE, APPROVE])
    await make_workflow(handler, make_sources()).run(QUERY)
    strategy = get_strategy(handler, 2)
    assert list_boolean_queries(strategy) == ["Europa AND plumes", "Europa"]
    assert "Loosened: “plumes” is no longer required." in strategy.notes


async def test_the_log_shows_the_edited_strategy_with_its_origins() -> None:
    handler = ScriptedDecisions([make_edit(filters={"year_from": 2010}), APPROVE])
    result = await make_workflow(handler, make_sources()).run(QUERY)
    (log,) = result.metadata.round_logs
    found = get_origin(log.strategy, "year_from")
    assert (found.value, found.inherited, found.reason) == ("2010", False, "set by a person in round 1")


async def test_an_edit_may_send_the_whole_strategy_and_marks_only_the_changes() -> None:
    handler = ScriptedDecisions([APPROVE])
    with pytest.raises(ScriptExhausted):
        await make_workflow(handler, make_sources()).run(QUERY)
    whole = get_strategy(handler, 0).model_dump(mode="json")
    whole["filters"]["year_from"] = 2010
    handler = ScriptedDecisions([make_edit(**whole), REJECT, APPROVE, APPROVE])
    await make_workflow(handler, make_sources()).run(QUERY)
    assert [found.part for found in get_strategy(handler, 2).origins if found.by_person] == ["year_from"]


async def test_strategies_of_an_earlier_version_are_searched_as_they_were_stored() -> None:
    journal = MemoryJournal()
    script = [make_edit(filters={"year_from": 2010}), REJECT, APPROVE, APPROVE]
    with pytest.raises(ScriptExhausted):
        await make_workflow(ScriptedDecisions(script[:3]), make_sources(), journal=journal).run(QUERY, run_id="r")
    for step in ("round-0/strategy", "round-1/strategy"):
        stored = json.loads(journal.entries[step])
        del stored["origins"]
        journal.entries[step] = json.dumps(stored)
    handler = ScriptedDecisions([APPROVE])
    result = await make_workflow(handler, make_sources(), journal=journal).run(QUERY, run_id="r")
    assert [log.strategy.filters.year_from for log in result.metadata.round_logs] == [2010, 2010]
    assert get_origin(result.metadata.round_logs[1].strategy, "year_from").by_person


def make_strategy(*queries: str, **filters: Any) -> SearchStrategy:
    return SearchStrategy(
        queries=[SearchQuery(keywords=[], boolean_query=query) for query in queries],
        sources=["alpha"],
        filters=SearchConstraints(**filters),
    )


def test_an_edited_list_of_queries_is_set_by_the_person_as_a_whole() -> None:
    proposed = inherit_parts(None, make_strategy("a", "b"))
    edited = mark_edited_parts(proposed, make_strategy("a", "c"), 0)
    assert [query.boolean_query for query in select_person_queries(edited)] == ["a", "c"]
    assert select_person_queries(proposed) == []
    assert select_person_queries(None) == []


def test_a_query_that_a_person_left_as_it_was_is_kept_and_not_set_by_the_person() -> None:
    edited = mark_edited_parts(make_strategy("a", "b"), make_strategy("b", "c"), 0)
    assert [get_origin(edited, f"queries[{index}]").reason for index in (0, 1)] == [
        "kept by a person in round 1",
        "set by a person in round 1",
    ]


def test_a_removed_query_that_a_person_adds_again_is_no_longer_removed() -> None:
    edited = mark_edited_parts(inherit_parts(None, make_strategy("a", "b")), make_strategy("a"), 0)
    again = mark_edited_parts(inherit_parts(edited, make_strategy("b", "c")), make_strategy("a", "b"), 1)
    assert [found.value for found in again.origins if found.part == REMOVED] == ["c"]


def test_proposed_years_that_contradict_years_of_a_person_are_dropped() -> None:
    edited = mark_edited_parts(inherit_parts(None, make_strategy("a")), make_strategy("a", year_from=2015), 0)
    built = inherit_parts(edited, make_strategy("b", year_to=2010))
    assert (built.filters.year_from, built.filters.year_to) == (2015, None)


def test_long_queries_are_clipped_in_the_list_of_origins_only() -> None:
    long = " AND ".join(f"word{number}" for number in range(40))
    built = inherit_parts(None, make_strategy(long))
    assert built.queries[0].boolean_query == long
    assert len(get_origin(built, "queries[0]").value) == 80
