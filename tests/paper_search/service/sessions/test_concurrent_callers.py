"""Callers in other threads and event loops, and cancelled callers: no session is harmed."""

# pyright: reportPrivateUsage=false

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from paper_search.config import AppConfig
from paper_search.service.sessions import SessionManager
from paper_search.store.session_files import SessionFiles, SessionLease
from tests.paper_search.service.sessions.helpers import (
    APPROVE,
    QUERY,
    REJECT,
    REVIEW,
    STRATEGY,
    TIMEOUT_S,
    DataFolder,
    GatedFolder,
    complete_session,
    list_stored_decisions,
    make_reject,
    open_session,
    run_in_background,
    wait_for_end,
    wait_until,
)
from tests.requirements import requirement


@requirement("PS-REQ-13")
async def test_concurrent_threads_lose_no_session_and_no_decision(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    await manager.get_state((await open_session(manager))["session_id"])
    loop = asyncio.get_running_loop()
    outcomes: dict[int, tuple[str, bool]] = {}
    start = threading.Barrier(8)

    def wait_for(asking: Any) -> dict[str, Any]:
        return asyncio.run_coroutine_threadsafe(asking, loop).result(TIMEOUT_S)

    def use(number: int) -> None:
        start.wait(timeout=TIMEOUT_S)
        for turn in range(3):
            session_id = manager.create(f"tidal heating of moon number{number}x{turn}", AppConfig())
            session = manager.get(session_id)
            assert session is not None
            assert session.query.endswith(f"number{number}x{turn}")
            reply = wait_for(wait_for_first_checkpoint(manager, session_id))
            assert reply["query"] == session.query
            reply = wait_for(manager.decide(session_id, APPROVE))
            if turn == 1:
                manager.cleanup(session_id)
                assert manager.get(session_id) is None
            else:
                reply = wait_for(manager.decide(session_id, APPROVE))
            outcomes[number * 10 + turn] = session_id, reply["is_complete"]

    with ThreadPoolExecutor(8) as threads:
        async with asyncio.timeout(50):
            await asyncio.gather(*(loop.run_in_executor(threads, use, number) for number in range(8)))
    assert len(outcomes) == 24
    assert len({session_id for session_id, _ in outcomes.values()}) == 24
    for key, (session_id, is_complete) in outcomes.items():
        cleaned = key % 10 == 1
        assert is_complete is not cleaned
        assert (manager.get(session_id) is None) is cleaned
        assert bool(data_folder.list_files(session_id)) is not cleaned
    assert data_folder.engine.asked == [24]


async def wait_for_first_checkpoint(manager: SessionManager, session_id: str) -> Any:
    session = manager.get(session_id)
    assert session is not None
    await wait_until(lambda: session.pending is not None)
    return await manager.get_state(session_id)


@requirement("PS-REQ-13")
async def test_a_manager_can_be_called_from_another_event_loop(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    reply = await open_session(manager)
    session_id = reply["session_id"]

    def elsewhere() -> tuple[Any, Any]:
        return asyncio.run(manager.get_state(session_id)), asyncio.run(manager.decide(session_id, APPROVE))

    seen, decided = await asyncio.to_thread(elsewhere)
    assert seen == reply
    assert decided["checkpoint_kind"] == REVIEW
    assert await manager.get_state(session_id) == decided
    assert data_folder.engine.asked == [1]


async def test_the_event_loop_is_never_blocked(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as warm:
        await complete_session(warm)
    with blockbuster_ctx("paper_search"):
        manager, other = data_folder.create_manager(), data_folder.create_manager()
        reply = await open_session(manager)
        session_id = reply["session_id"]
        await other.get_state(session_id)
        await other.decide(session_id, make_reject(note="also Io"))
        await manager.decide(session_id, APPROVE)
        await manager.get_papers(session_id)
        data_folder.clock.advance(minutes=31)
        await manager.unload_idle()
        await manager.get_state(session_id)
        await manager.decide(session_id, APPROVE, checkpoint_id=reply["checkpoint_id"])
        await manager.decide(session_id, APPROVE)
        await manager.get_result(session_id)
        await manager.delete_expired()
        await manager.aclose()
        await other.aclose()


async def test_cancelling_a_call_ends_its_wait_and_not_the_session(gated: GatedFolder) -> None:
    async with gated.data_folder.open_manager() as manager:
        reply = await open_session(manager)
        session_id = reply["session_id"]
        async with run_in_background(manager.decide(session_id, APPROVE)) as deciding:
            await gated.wait_for_search()
            deciding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await wait_for_end(deciding)
        session = manager.get(session_id)
        assert session is not None
        assert session._task is not None
        assert not session._task.done()
        assert (await manager.get_state(session_id))["phase"] == "searching"
        gated.gate.set()
        await wait_until(lambda: session.pending is not None)
        reply: Any = await manager.get_state(session_id)
        assert (reply["checkpoint_kind"], reply["iteration"]) == (REVIEW, 1)
    assert gated.data_folder.engine.asked == [1]


async def test_cancelling_the_call_that_opens_a_session_leaves_the_session(gated: GatedFolder) -> None:
    gated.data_folder.engine.gates["intent"] = asyncio.Event()
    async with gated.data_folder.open_manager() as manager:
        async with run_in_background(open_session(manager)) as opening:
            await wait_until(lambda: bool(gated.data_folder.engine.ran))
            opening.cancel()
            await asyncio.wait([opening])
        (session,) = manager._sessions.list_all()
        gated.data_folder.engine.gates["intent"].set()
        await wait_until(lambda: session.pending is not None)
        assert (await manager.get_state(session.session_id)).get("checkpoint_kind") == STRATEGY


@pytest.mark.parametrize("steps", range(8))
async def test_a_decision_cancelled_at_any_time_is_applied_completely_or_not_at_all(
    data_folder: DataFolder, steps: int
) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_session(manager)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        async with run_in_background(manager.decide(session_id, REJECT, checkpoint_id=given)) as deciding:
            for _ in range(steps):
                await asyncio.sleep(0)
            deciding.cancel()
            await asyncio.wait([deciding])
        outcome: Any = await manager.decide(session_id, APPROVE, checkpoint_id=given)
        taken = outcome.get("already_decided", {}).get("action", "approve")
        assert outcome["checkpoint_kind"] == (STRATEGY if taken == "reject" else REVIEW)
        assert outcome["iteration"] == 1
    assert list_stored_decisions(data_folder, session_id) == ["decision-0"]


async def test_a_manager_can_be_closed_from_another_event_loop(data_folder: DataFolder) -> None:
    manager = data_folder.create_manager()
    reply = await open_session(manager)
    await asyncio.to_thread(lambda: asyncio.run(manager.aclose()))
    assert manager.get(reply["session_id"]) is None
    lease = await asyncio.to_thread(data_folder.store().acquire_lease, reply["session_id"])
    assert lease is not None
    lease.release()


async def test_a_session_stopped_while_it_is_being_opened_holds_no_lease(data_folder: DataFolder) -> None:
    class Slow(SessionFiles):
        def acquire_lease(self, session_id: str) -> SessionLease | None:
            held = super().acquire_lease(session_id)
            begun.set()
            assert go_on.wait(TIMEOUT_S)
            return held

    begun, go_on = threading.Event(), threading.Event()
    manager = data_folder.create_manager(store=Slow(data_folder.folder / "sessions"))
    session_id = manager.create(QUERY, AppConfig())
    assert await asyncio.to_thread(begun.wait, TIMEOUT_S)
    async with run_in_background(manager.aclose()) as closing_down:
        await asyncio.wait([closing_down], timeout=0.05)
        go_on.set()
        await wait_for_end(closing_down)
    lease = await asyncio.to_thread(data_folder.store().acquire_lease, session_id)
    assert lease is not None
    lease.release()
