"""Two managers, like two processes, with one session: one runs it, both decide, one decision is applied."""

# pyright: reportPrivateUsage=false

import asyncio
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from paper_search.errors import (
    CheckpointBusy,
    CheckpointNotFound,
    InvalidDecision,
    NoPapersYet,
    SessionComplete,
    SessionInterrupted,
    SessionNotComplete,
    SessionNotFound,
)
from paper_search.store.session_files import SessionFiles
from tests.paper_search.service.sessions.helpers import (
    APPROVE,
    REJECT,
    REVIEW,
    STRATEGY,
    TIMEOUT_S,
    DataFolder,
    Engine,
    GatedFolder,
    list_stored_decisions,
    make_edit,
    open_session,
    run_in_background,
    wait_for_checkpoint,
    wait_for_end,
    wait_until,
)
from tests.requirements import requirement
from uraniborg.kernel.store.inbox import Inbox, InboxDecision, InboxEntry


async def test_the_process_with_the_lease_runs_the_session_and_others_may_read_and_decide(
    data_folder: DataFolder,
) -> None:
    other_engine = Engine()
    async with data_folder.open_manager() as holder, data_folder.open_manager(build=other_engine) as other:
        reply = await open_session(holder)
        session_id = reply["session_id"]
        assert await other.get_state(session_id) == reply
        reply: Any = await other.decide(session_id, APPROVE, door="console")
        assert (reply["checkpoint_kind"], reply["iteration"]) == (REVIEW, 1)
        assert await wait_for_checkpoint(holder, session_id) == reply
        assert await other.get_papers(session_id) == await holder.get_papers(session_id)
        reply = await other.decide(session_id, APPROVE, door="console")
        assert reply["is_complete"]
        async with asyncio.timeout(10):  # the running process may briefly lag behind the stored state
            while not (await holder.get_state(session_id))["is_complete"]:  # noqa: ASYNC110 - no event
                await asyncio.sleep(0)
        assert await holder.get_state(session_id) == reply
        assert await other.get_result(session_id) == await holder.get_result(session_id)
        assert other.get(session_id) is None
    assert (data_folder.engine.asked, other_engine.ran) == ([1], [])
    with closing(data_folder.inbox()) as inbox:
        assert inbox.get(f"{session_id}:0:{STRATEGY}").door == "console"


async def test_a_waiting_call_returns_the_decision_of_another_process(gated: GatedFolder) -> None:
    async with gated.data_folder.open_manager() as holder, gated.data_folder.open_manager() as other:
        reply = await open_session(holder)
        async with run_in_background(other.decide(reply["session_id"], APPROVE, door="console")) as deciding:
            await gated.wait_for_search()
            repeated = holder.decide(reply["session_id"], REJECT, checkpoint_id=reply["checkpoint_id"])
            async with run_in_background(repeated) as asking:
                gated.gate.set()
                later_reply = await wait_for_end(asking)
                assert later_reply["already_decided"]["door"] == "console"
                assert later_reply["checkpoint_kind"] == (await wait_for_end(deciding))["checkpoint_kind"] == REVIEW
    assert gated.data_folder.engine.asked == [1]


@pytest.mark.parametrize("runs_decided", [True, False])
async def test_a_server_that_runs_decided_sessions_continues_one_that_no_process_runs(
    data_folder: DataFolder, runs_decided: bool
) -> None:
    async with data_folder.open_manager() as first:
        session_id = (await open_session(first))["session_id"]
        earlier = (await open_session(first))["session_id"]
    with closing(data_folder.inbox()) as inbox:
        inbox.decide(f"{earlier}:0:{STRATEGY}", InboxDecision(action="approve"), "terminal")
        async with data_folder.open_manager() as server:
            if runs_decided:
                await server.run_sessions_decided_from_now_on()
            else:
                await server.park_idle()  # which starts nothing
            inbox.decide(f"{session_id}:0:{STRATEGY}", InboxDecision(action="approve"), "terminal")
            if runs_decided:
                await wait_until(lambda: f"{session_id}:1:{REVIEW}" in {entry.id for entry in inbox.pending()})
            else:
                await asyncio.sleep(0.3)
            assert server.get(earlier) is None
            assert (server.get(session_id) is not None) == runs_decided


class InboxThatDecides(Inbox):
    """An inbox in which another process approves the checkpoint of `subject` before the session waits.

    Until the session waits, the manager has polled for decisions at least twice.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.armed = False
        self._looked = threading.Semaphore(0)

    def put(self, entry_id: str, part: str, kind: str, subject: str, payload: Any) -> InboxEntry:
        entry = super().put(entry_id, part, kind, subject, payload)
        if self.armed:
            self.armed = False
            with closing(Inbox(self._path)) as other_engine:
                other_engine.decide(entry_id, InboxDecision(action="approve"), "console")
            while self._looked.acquire(blocking=False):
                pass
            for _ in range(2):
                assert self._looked.acquire(timeout=TIMEOUT_S)
        return entry

    def revision(self) -> tuple[int, int]:
        revision = super().revision()
        self._looked.release()
        return revision


async def test_a_decision_stored_as_soon_as_the_checkpoint_exists_is_applied(data_folder: DataFolder) -> None:
    inbox = InboxThatDecides(data_folder.folder / "inbox.db")
    async with data_folder.open_manager(inbox=inbox) as manager:
        await open_session(manager)
        inbox.armed = True
        session_id = (await open_session(manager))["session_id"]
        session = manager.get(session_id)
        assert session is not None
        await wait_until(lambda: session.get_state().iteration == 1, within_s=3)
        assert (await wait_for_checkpoint(manager, session_id))["checkpoint_kind"] == REVIEW


async def test_both_processes_refuse_invalid_decisions_and_store_nothing(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as holder, data_folder.open_manager() as other:
        reply = await open_session(holder)
        session_id = reply["session_id"]
        with pytest.raises(InvalidDecision):
            await other.decide(session_id, make_edit({"sources": ["nowhere"]}))
        with pytest.raises(CheckpointNotFound):
            await other.decide(session_id, APPROVE, checkpoint_id="unheard of")
        with pytest.raises(SessionNotComplete):
            await other.get_result(session_id)
        with pytest.raises(NoPapersYet):
            await other.get_papers(session_id)
        assert await holder.get_state(session_id) == await other.get_state(session_id) == reply
        await holder.decide(session_id, APPROVE)
        await holder.decide(session_id, APPROVE)
        with pytest.raises(SessionComplete):
            await other.decide(session_id, APPROVE)


@requirement("PS-E8")
@pytest.mark.parametrize("attempt", range(6))
async def test_of_two_processes_that_decide_at_once_one_wins_and_the_other_is_refused(
    data_folder: DataFolder, attempt: int
) -> None:
    async with data_folder.open_manager() as holder, data_folder.open_manager() as other:
        reply = await open_session(holder)
        session_id = reply["session_id"]
        await other.get_state(session_id)
        doors = [holder, other] if attempt % 2 else [other, holder]
        outcomes = await asyncio.gather(
            doors[0].decide(session_id, REJECT, door="first"),
            doors[1].decide(session_id, APPROVE, door="second"),
            return_exceptions=True,
        )
        with closing(data_folder.inbox()) as inbox:
            winner = inbox.get(reply["checkpoint_id"]).door
        won, lost = outcomes if winner == "first" else reversed(outcomes)
        assert isinstance(won, dict)
        assert won["iteration"] == 1
        assert won.get("checkpoint_kind") == (STRATEGY if winner == "first" else REVIEW)
        if isinstance(lost, dict):
            # This decision came after the first was carried out and applies to the next checkpoint.
            assert lost["iteration"] == 2
        else:
            assert isinstance(lost, CheckpointBusy)
            assert "checkpoint already being processed" in lost.message
            assert await holder.get_state(session_id) == won


@requirement("PS-E8")
async def test_decisions_are_refused_while_another_process_carries_one_out(gated: GatedFolder) -> None:
    async with gated.data_folder.open_manager() as holder, gated.data_folder.open_manager() as other:
        reply = await open_session(holder)
        session_id = reply["session_id"]
        async with run_in_background(holder.decide(session_id, APPROVE)) as deciding:
            await gated.wait_for_search()
            with pytest.raises(CheckpointBusy, match="checkpoint already being processed"):
                await other.decide(session_id, REJECT)
            gated.gate.set()
            assert (await wait_for_end(deciding))["iteration"] == 1


async def test_of_two_processes_with_the_same_checkpoint_id_both_get_the_new_state(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as holder, data_folder.open_manager() as other:
        reply = await open_session(holder)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        one, two = await asyncio.gather(
            holder.decide(session_id, APPROVE, checkpoint_id=given),
            other.decide(session_id, APPROVE, checkpoint_id=given),
        )
        assert ("already_decided" in one) is not ("already_decided" in two)
        for later_reply in (one, two):
            later_reply.pop("already_decided", None)
        assert one == two
        assert one.get("checkpoint_kind") == REVIEW
    assert data_folder.engine.asked == [1]


async def test_when_one_process_closes_the_other_runs_its_sessions(data_folder: DataFolder) -> None:
    other_engine = Engine()
    async with data_folder.open_manager(build=other_engine) as other:
        async with data_folder.open_manager() as holder:
            reply = await open_session(holder)
            session_id = reply["session_id"]
            assert await other.get_state(session_id) == reply
            assert other.get(session_id) is None
        assert await other.get_state(session_id) == reply
        assert other.get(session_id) is not None
        assert (await other.decide(session_id, APPROVE)).get("checkpoint_kind") == REVIEW
    assert (data_folder.engine.asked, other_engine.asked) == ([0], [1])
    assert other_engine.ran == ["dedup"], "the intent was in the journal"


async def test_a_call_that_waits_for_another_process_runs_the_session_when_that_process_ends(
    gated: GatedFolder,
) -> None:
    other_engine = Engine()
    async with gated.data_folder.open_manager(build=other_engine) as other:
        holder = gated.data_folder.create_manager()
        reply = await open_session(holder)
        await other.get_state(reply["session_id"])
        async with run_in_background(other.decide(reply["session_id"], APPROVE)) as deciding:
            await gated.wait_for_search()
            await holder.aclose()
            later_reply = await wait_for_end(deciding)
        assert (later_reply["checkpoint_kind"], later_reply["iteration"]) == (REVIEW, 1)
    assert other_engine.asked == [1]
    assert list_stored_decisions(gated.data_folder, reply["session_id"]) == ["decision-0"]


async def test_a_session_deleted_by_another_process_cannot_be_decided_here(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as holder, data_folder.open_manager() as other:
        session_id = (await open_session(holder))["session_id"]
        await asyncio.to_thread(other.cleanup, session_id)
        for door in (holder, other):
            with pytest.raises(SessionNotFound):
                await door.decide(session_id, APPROVE)
    assert data_folder.list_files(session_id) == []


async def test_a_session_deleted_by_another_process_is_removed_from_memory(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as holder, data_folder.open_manager() as other:
        session_id = (await open_session(holder))["session_id"]
        await asyncio.to_thread(other.cleanup, session_id)
        await wait_until(lambda: holder.get(session_id) is None, within_s=3)
        with pytest.raises(SessionNotFound):
            await holder.get_state(session_id)


async def test_a_session_deleted_by_another_process_is_unknown_here_at_once(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as holder, data_folder.open_manager() as other:
        session_id = (await open_session(holder))["session_id"]
        other.cleanup(session_id)  # on this thread: the holder has no time to poll the inbox
        with pytest.raises(SessionNotFound):
            await holder.get_state(session_id)
        assert holder.get(session_id) is None


class DeletesDuringCall(Inbox):
    """An inbox that calls `delete` before it adds a question or stores a decision."""

    delete: Callable[[], None] | None = None
    method = ""

    def put(self, *args: Any, **kwargs: Any) -> InboxEntry:
        self._delete_before("put")
        return super().put(*args, **kwargs)

    def decide(self, *args: Any, **kwargs: Any) -> InboxEntry:
        self._delete_before("decide")
        return super().decide(*args, **kwargs)

    def _delete_before(self, method: str) -> None:
        if method == self.method and (delete := self.delete) is not None:
            self.delete = None
            delete()


def list_entries(data_folder: DataFolder) -> list[str]:
    with closing(data_folder.inbox()) as inbox:
        return [f"{entry.id} {entry.state}" for entry in inbox.list_entries().entries]


@pytest.mark.parametrize("method", ["put", "decide"])
async def test_a_decision_on_a_session_that_is_deleted_meanwhile_is_refused_and_leaves_nothing(
    data_folder: DataFolder, method: str
) -> None:
    with closing(DeletesDuringCall(data_folder.folder / "inbox.db", data_folder.clock)) as inbox:
        async with data_folder.open_manager(inbox=inbox) as holder, data_folder.open_manager() as other:
            session_id = (await open_session(holder))["session_id"]
            inbox.forget("paper_search", session_id)  # as a process does that deletes the session
            inbox.method, inbox.delete = method, lambda: other.cleanup(session_id)
            with pytest.raises(SessionNotFound):
                await holder.decide(session_id, APPROVE)
            assert list_entries(data_folder) == []
    assert data_folder.list_files(session_id) == []


async def test_a_decision_in_the_middle_of_a_deletion_is_deleted_with_its_session(data_folder: DataFolder) -> None:
    class DecidesDuringDelete(SessionFiles):
        def delete(self, session_id: str) -> None:
            asyncio.run_coroutine_threadsafe(decide(session_id), loop).result(TIMEOUT_S)
            super().delete(session_id)

    async def decide(session_id: str) -> None:
        with suppress(SessionNotFound):
            await holder.decide(session_id, APPROVE)

    loop = asyncio.get_running_loop()
    store = DecidesDuringDelete(data_folder.folder / "sessions")
    async with data_folder.open_manager() as holder, data_folder.open_manager(store=store) as other:
        session_id = (await open_session(holder))["session_id"]
        await asyncio.to_thread(other.cleanup, session_id)
        assert list_entries(data_folder) == []
        with pytest.raises(SessionNotFound):
            await holder.decide(session_id, APPROVE)
        assert list_entries(data_folder) == []


async def test_a_search_whose_session_is_deleted_leaves_no_question(data_folder: DataFolder) -> None:
    with closing(DeletesDuringCall(data_folder.folder / "inbox.db", data_folder.clock)) as inbox:
        async with data_folder.open_manager(inbox=inbox) as holder, data_folder.open_manager() as other:
            session_id = (await open_session(holder))["session_id"]
            inbox.method, inbox.delete = "put", lambda: other.cleanup(session_id)
            with pytest.raises((SessionNotFound, SessionInterrupted)):
                await holder.decide(session_id, APPROVE)
            assert list_entries(data_folder) == []
