"""Tests of the checkpoint handler, which holds a search until a decision is set, as specified."""

# pyright: reportPrivateUsage=false
# The two events are part of the contract although their names are private.

import asyncio
import inspect
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from paper_search.service.sessions import MCPCheckpointHandler
from paper_search.workflow import Checkpoint, CheckpointHandler, Decision, DecisionAction
from tests.paper_search.service.sessions.helpers import (
    APPROVE,
    REJECT,
    TIMEOUT_S,
    run_in_background,
    wait_for_end,
    wait_until,
)
from tests.paper_search.workflow.samples import make_review_checkpoint, make_strategy_checkpoint
from tests.requirements import requirement


@asynccontextmanager
async def hold_search(
    handler: MCPCheckpointHandler, checkpoint: Checkpoint | None = None
) -> AsyncGenerator[asyncio.Task[Decision]]:
    """Run a search that waits at the checkpoint; cancel it at the end of the block."""
    async with run_in_background(handler.handle(checkpoint or make_strategy_checkpoint())) as search:
        await wait_until(lambda: handler.has_pending_checkpoint)
        yield search


@requirement("PS-REQ-12", "PS-C9")
async def test_the_handler_implements_the_protocol_with_two_events() -> None:
    handler = MCPCheckpointHandler()
    assert isinstance(handler, CheckpointHandler)
    assert inspect.iscoroutinefunction(handler.handle)
    assert not inspect.iscoroutinefunction(handler.set_decision)
    assert isinstance(handler._checkpoint_ready, asyncio.Event)
    assert isinstance(handler._decision_ready, asyncio.Event)
    assert handler._checkpoint_ready is not handler._decision_ready


@requirement("PS-REQ-12")
async def test_the_events_are_set_and_cleared_as_specified() -> None:
    handler = MCPCheckpointHandler()
    events = handler._checkpoint_ready, handler._decision_ready
    assert [event.is_set() for event in events] == [False, False]
    async with hold_search(handler) as first:
        assert [event.is_set() for event in events] == [True, False]
        handler.set_decision(APPROVE)
        assert [event.is_set() for event in events] == [True, True], "the decision is provided, not yet consumed"
        await wait_for_end(first)
        assert [event.is_set() for event in events] == [False, True], "consumed, and no other checkpoint has come"
    async with hold_search(handler, make_review_checkpoint()):
        assert [event.is_set() for event in events] == [True, False], "the next checkpoint starts over"


@requirement("PS-REQ-12")
async def test_a_search_waits_for_its_decision_and_receives_the_same_object() -> None:
    handler = MCPCheckpointHandler()
    decision = Decision(action=DecisionAction.EDIT, revised_data={"sources": ["alpha"]}, note="only this one")
    async with hold_search(handler) as waiting:
        done, _ = await asyncio.wait([waiting], timeout=0.02)
        assert not done
        handler.set_decision(decision)
        assert await wait_for_end(waiting) is decision


@requirement("PS-REQ-12")
async def test_a_checkpoint_is_pending_until_the_search_has_consumed_its_decision() -> None:
    handler = MCPCheckpointHandler()
    assert handler.current_checkpoint is None
    assert not handler.has_pending_checkpoint
    checkpoint = make_review_checkpoint("Icy moons")
    async with hold_search(handler, checkpoint) as waiting:
        assert handler.current_checkpoint is checkpoint
        handler.set_decision(APPROVE)
        assert handler.has_pending_checkpoint is handler._checkpoint_ready.is_set() is True
        await wait_for_end(waiting)
        assert handler.has_pending_checkpoint is handler._checkpoint_ready.is_set() is False
        assert handler.current_checkpoint is checkpoint


async def test_the_listener_is_called_once_a_checkpoint_can_be_decided() -> None:
    calls: list[tuple[Checkpoint | None, bool]] = []
    handler = MCPCheckpointHandler(lambda: calls.append((handler.current_checkpoint, handler.has_pending_checkpoint)))
    checkpoints = [make_strategy_checkpoint(), make_review_checkpoint()]
    for checkpoint in checkpoints:
        async with hold_search(handler, checkpoint) as waiting:
            handler.set_decision(APPROVE)
            await wait_for_end(waiting)
    assert calls == [(checkpoint, True) for checkpoint in checkpoints]


@requirement("PS-REQ-12")
async def test_a_decision_set_before_a_checkpoint_is_stored_and_the_next_checkpoint_still_waits() -> None:
    handler = MCPCheckpointHandler()
    handler.set_decision(APPROVE)
    assert handler._decision is APPROVE
    assert handler._decision_ready.is_set()
    async with hold_search(handler) as waiting:
        assert not handler._decision_ready.is_set(), "cleared when the next checkpoint arrives"
        done, _ = await asyncio.wait([waiting], timeout=0.02)
        assert not done
        handler.set_decision(REJECT)
        assert await wait_for_end(waiting) is REJECT
    handler.set_decision(APPROVE)
    assert handler._decision is APPROVE


@requirement("PS-REQ-12")
async def test_the_last_of_two_decisions_set_before_the_search_wakes_is_returned() -> None:
    handler = MCPCheckpointHandler()
    async with hold_search(handler) as waiting:
        handler.set_decision(REJECT)
        handler.set_decision(APPROVE)
        assert await wait_for_end(waiting) is APPROVE


async def test_a_decision_from_another_thread_wakes_the_search() -> None:
    handler = MCPCheckpointHandler()
    async with hold_search(handler) as waiting:
        await asyncio.to_thread(handler.set_decision, APPROVE)
        assert await wait_for_end(waiting) is APPROVE


async def test_a_search_that_is_ended_at_its_checkpoint_leaves_nothing_pending() -> None:
    handler = MCPCheckpointHandler()
    async with hold_search(handler) as waiting:
        waiting.cancel()
        await asyncio.wait([waiting])
        assert not handler.has_pending_checkpoint


async def test_many_checkpoints_in_a_row_each_get_their_own_decision() -> None:
    handler = MCPCheckpointHandler()
    decisions = [Decision(action=action, note=str(number)) for number in range(10) for action in DecisionAction]

    async def search() -> list[Decision]:
        return [await handler.handle(make_strategy_checkpoint()) for _ in decisions]

    searching = asyncio.create_task(search())
    for decision in decisions:
        await wait_until(lambda: handler.has_pending_checkpoint and not handler._decision_ready.is_set())
        handler.set_decision(decision)
    async with asyncio.timeout(TIMEOUT_S):
        assert await searching == decisions
