"""Sessions that are idle for a minute free their memory and answer as before."""

import asyncio
from contextlib import closing

from tests.paper_search.service.sessions.helpers import (
    APPROVE,
    REJECT,
    REVIEW,
    DataFolder,
    complete_session,
    open_review,
    open_session,
    wait_until,
)
from uraniborg.kernel.store.inbox import InboxDecision


async def test_a_parked_session_has_no_task_and_no_papers_and_answers_as_before(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_review(manager)
        session = manager.get(reply["session_id"])
        assert session is not None
        await manager.park_idle()
        assert session.pending is not None, "it has not been idle for a minute"
        data_folder.clock.advance(seconds=60)
        await manager.park_idle()
        assert (session.pending, session.pending_id) == (None, reply["checkpoint_id"])
        assert manager.get(reply["session_id"]) is session
        elapsed = {"elapsed_s": 60.0}
        assert await manager.get_state(reply["session_id"]) == {**reply, **elapsed}
        assert await manager.get_papers(reply["session_id"])
        assert data_folder.engine.asked == [1], "nothing is fetched again"


async def test_a_parked_session_continues_with_a_decision_of_this_process(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_review(manager)
        data_folder.clock.advance(minutes=2)
        await manager.park_idle()
        after = await manager.decide(reply["session_id"], REJECT, checkpoint_id=reply["checkpoint_id"])
        assert (after["iteration"], after["round"]) == (2, 1)


async def test_a_parked_session_continues_with_a_decision_of_another_process(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_session(manager)
        session = manager.get(reply["session_id"])
        assert session is not None
        data_folder.clock.advance(minutes=2)
        await manager.park_idle()
        with closing(data_folder.inbox()) as inbox:
            await asyncio.to_thread(inbox.decide, reply["checkpoint_id"], InboxDecision(action="approve"), "console")
        await wait_until(lambda: session.pending is not None and session.get_state().iteration == 1)
        assert (await manager.get_state(reply["session_id"])).get("checkpoint_kind") == REVIEW


async def test_other_processes_cannot_run_a_parked_session_but_can_decide(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as holder, data_folder.open_manager() as other:
        reply = await open_session(holder)
        data_folder.clock.advance(minutes=2)
        await holder.park_idle()
        assert (await other.get_state(reply["session_id"])).get("checkpoint_id") == reply["checkpoint_id"]
        assert other.get(reply["session_id"]) is None
        assert (await other.decide(reply["session_id"], APPROVE)).get("checkpoint_kind") == REVIEW
        assert other.get(reply["session_id"]) is None


async def test_after_half_an_hour_a_parked_session_is_unloaded_and_other_processes_can_run_it(
    data_folder: DataFolder,
) -> None:
    async with data_folder.open_manager() as holder, data_folder.open_manager() as other:
        reply = await open_session(holder)
        data_folder.clock.advance(minutes=2)
        await holder.park_idle()
        data_folder.clock.advance(minutes=28)
        await holder.unload_idle()
        assert holder.get(reply["session_id"]) is None
        await other.get_state(reply["session_id"])
        assert other.get(reply["session_id"]) is not None


async def test_a_complete_parked_session_reads_its_papers_from_disk(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as manager:
        reply = await complete_session(manager)
        session_id = reply["session_id"]
        before = await manager.get_result(session_id)
        data_folder.clock.advance(minutes=2)
        await manager.park_idle()
        session = manager.get(session_id)
        assert session is not None
        assert session.result is None
        assert await manager.get_result(session_id) == before
        assert await manager.get_state(session_id) == reply


async def test_many_concurrent_calls_restore_a_parked_session_once(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_review(manager)
        data_folder.clock.advance(minutes=2)
        await manager.park_idle()
        built = len(data_folder.engine.configs)
        replies = await asyncio.gather(*(manager.get_state(reply["session_id"]) for _ in range(20)))
        assert {other.get("checkpoint_id") for other in replies} == {reply["checkpoint_id"]}
        assert len(data_folder.engine.configs) == built + 1


async def test_a_session_can_be_parked_and_restored_repeatedly(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_review(manager)
        for _ in range(3):
            data_folder.clock.advance(minutes=2)
            await manager.park_idle()
            assert (await manager.get_state(reply["session_id"])).get("checkpoint_id") == reply["checkpoint_id"]
        assert (await manager.decide(reply["session_id"], APPROVE))["is_complete"]


async def test_a_session_that_is_deleted_while_parked_is_not_found(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_session(manager)
        data_folder.clock.advance(minutes=2)
        await manager.park_idle()
        await asyncio.to_thread(manager.cleanup, reply["session_id"])
        assert manager.get(reply["session_id"]) is None
        assert data_folder.list_files(reply["session_id"]) == []
