"""Queries that people type run as typed: as the question, and as an edit of the plan."""

import pytest

from paper_search.errors import InvalidDecision, InvalidQuery
from paper_search.testing import FakeSource, ScriptedDecisions, ScriptExhausted
from paper_search.workflow import StrategyPayload
from paper_search.workflow.step_journal import MemoryJournal
from tests.paper_search.workflow.runs import APPROVE, MOONS, QUERY, REJECT, get_strategy, make_edit, make_workflow

TYPED = "(moons[tiab]  OR “icy satellites”) AND tid* NOT (Io OR rings)"


def list_texts(source: FakeSource, search: int) -> list[str]:
    return [query.boolean_query for query in source.asked[search].queries]


async def test_an_edited_query_reaches_the_sources_as_typed_in_this_and_in_later_rounds() -> None:
    source = FakeSource("alpha", MOONS)
    edit = make_edit(queries=[{"keywords": ["moons"], "boolean_query": TYPED}])
    handler = ScriptedDecisions([edit, REJECT, APPROVE, APPROVE])
    await make_workflow(handler, [source]).run(QUERY)
    assert list_texts(source, 0) == [TYPED]
    assert list_texts(source, 1)[0] == TYPED


async def test_a_typed_question_has_one_query_and_one_note_on_how_it_was_read() -> None:
    source = FakeSource("alpha", MOONS)
    handler = ScriptedDecisions([APPROVE, APPROVE])
    await make_workflow(handler, [source]).run("icy moons AND (tides OR heating) since 2015")
    payload = handler.seen[0].payload
    assert isinstance(payload, StrategyPayload)
    assert payload.intent.typed_query == "icy moons AND (tides OR heating)"
    notes = [*payload.intent.notes, *get_strategy(handler, 0).notes]
    assert [note for note in notes if "quer" in note] == ["The query was typed and is searched unchanged."]
    assert any("since 2015" in note for note in notes)
    assert get_strategy(handler, 0).filters.year_from == 2015
    assert list_texts(source, 0) == ["icy moons AND (tides OR heating)"]
    assert get_strategy(handler, 0).blocks == []


async def test_a_typed_question_with_an_error_is_refused_before_any_work() -> None:
    source = FakeSource("alpha", MOONS)
    with pytest.raises(InvalidQuery, match="character 7"):
        await make_workflow(None, [source]).run("moons (tides AND heating")
    assert source.asked == []


async def test_a_broken_edit_is_not_stored_so_the_run_can_be_continued() -> None:
    journal = MemoryJournal()
    broken = make_edit(queries=[{"keywords": [], "boolean_query": "moons AND"}])
    with pytest.raises(InvalidDecision, match="nothing after"):
        await make_workflow(ScriptedDecisions([broken]), journal=journal).run(QUERY, run_id="r")
    result = await make_workflow(ScriptedDecisions([APPROVE, APPROVE]), journal=journal).run(QUERY, run_id="r")
    assert len(result.papers) == 3


async def test_a_run_of_an_earlier_version_with_broken_queries_can_be_continued() -> None:
    journal = MemoryJournal()
    fine = make_edit(queries=[{"keywords": [], "boolean_query": "moons AND tides"}])
    with pytest.raises(ScriptExhausted):
        await make_workflow(ScriptedDecisions([fine]), journal=journal).run("moons AND tides", run_id="r")
    step = journal.entries["decision-0"]
    assert "moons AND tides" in step
    journal.entries["decision-0"] = step.replace("moons AND tides", "moons AND (tides")
    result = await make_workflow(ScriptedDecisions([APPROVE]), journal=journal).run("moons AND (tides", run_id="r")
    assert len(result.papers) == 3
