import asyncio
from datetime import UTC, datetime

import pytest

from paper_search.errors import NonRetryableError, NotRecordedError
from paper_search.models import ParsedIntent, RawPaper, SearchStrategy
from paper_search.sources.interfaces import Request, Response, SearchSource, Transport
from paper_search.testing import FakeSource, FakeTransport, FrozenClock, ScriptedDecisions, ScriptExhausted
from paper_search.workflow.checkpoints import (
    Checkpoint,
    CheckpointHandler,
    CheckpointKind,
    Decision,
    DecisionAction,
    StrategyPayload,
)
from uraniborg.kernel.errors import InvalidInput

STRATEGY = SearchStrategy(queries=[], sources=[])


def checkpoint() -> Checkpoint:
    intent = ParsedIntent.model_validate({"topic": "x", "concepts": [], "intent_type": "survey"})
    payload = StrategyPayload(intent=intent, strategy=STRATEGY)
    return Checkpoint(kind=CheckpointKind.STRATEGY_CONFIRMATION, payload=payload)


async def test_a_fake_source_returns_its_papers_and_stores_the_strategies() -> None:
    source = FakeSource("fake", [RawPaper(title="A", source="fake")])
    assert isinstance(source, SearchSource)
    (paper,) = await source.search_advanced(STRATEGY)
    paper.title = "changed by the one who asked"
    assert [again.title for again in await source.search_advanced(STRATEGY)] == ["A"]
    assert source.asked == [STRATEGY, STRATEGY]


async def test_a_fake_source_raises_its_error() -> None:
    with pytest.raises(NonRetryableError, match="no"):
        await FakeSource("fake", error=NonRetryableError("no")).search_advanced(STRATEGY)


async def test_a_fake_source_waits_at_its_gate() -> None:
    gate = asyncio.Event()
    task = asyncio.create_task(FakeSource("fake", gate=gate).search_advanced(STRATEGY))
    await asyncio.sleep(0)
    assert not task.done()
    gate.set()
    assert await asyncio.wait_for(task, 5) == []


async def test_scripted_decisions_are_returned_in_order_and_checkpoints_stored() -> None:
    edit = Decision(action=DecisionAction.EDIT, revised_data={"x": 1}, note="narrower")
    script = ScriptedDecisions(["approve", edit, DecisionAction.REJECT])
    assert isinstance(script, CheckpointHandler)
    first = checkpoint()
    assert (await script.handle(first)).action is DecisionAction.APPROVE
    assert await script.handle(checkpoint()) is edit
    assert script.left == 1
    assert (await script.handle(checkpoint())).action is DecisionAction.REJECT
    assert script.seen[0] is first
    assert (script.left, len(script.seen)) == (0, 3)


async def test_a_script_at_its_end_raises_an_error_that_names_the_checkpoint() -> None:
    script = ScriptedDecisions(["approve"])
    await script.handle(checkpoint())
    with pytest.raises(ScriptExhausted, match=r"1 decisions.*checkpoint 2 \(strategy_confirmation\)"):
        await script.handle(checkpoint())


def test_an_action_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput, match="action"):
        ScriptedDecisions(["approve", "maybe"])


async def test_a_fake_transport_answers_by_the_longest_fitting_address() -> None:
    transport: Transport = FakeTransport(
        {"https://a.example": Response(200, b"short"), "https://a.example/works": Response(200, b"long")}
    )
    assert (await transport.send(Request("a", "https://a.example/works/1"))).body == b"long"
    assert (await transport.send(Request("a", "https://a.example/"))).body == b"short"


async def test_a_fake_transport_returns_several_answers_in_turn_and_repeats_the_last() -> None:
    transport = FakeTransport(
        {"https://a.example": [NonRetryableError("first"), Response(200, b"1"), Response(200, b"2")]}
    )
    request = Request("a", "https://a.example")
    with pytest.raises(NonRetryableError, match="first"):
        await transport.send(request)
    assert [(await transport.send(request)).body for _ in range(3)] == [b"1", b"2", b"2"]
    assert transport.requests == [request] * 4


async def test_a_fake_transport_lists_its_answers_in_the_error() -> None:
    transport = FakeTransport({"https://a.example": Response(200, b""), "https://none.example": []})
    with pytest.raises(NotRecordedError) as caught:
        await transport.send(Request("b", "https://b.example"))
    assert "https://a.example" in caught.value.hint
    with pytest.raises(NotRecordedError):
        await transport.send(Request("b", "https://none.example"))
    await transport.aclose()
    assert transport.closed


def test_a_frozen_clock_does_not_move() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert FrozenClock(at).now() == FrozenClock(at).now() == at
