"""Idle sessions are unloaded, expired and cleaned-up sessions are deleted completely."""

# pyright: reportPrivateUsage=false

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from paper_search.config import AppConfig, SessionsConfig
from paper_search.errors import (
    SessionInterrupted,
    SessionNotFound,
)
from paper_search.service.sessions import SessionManager, background_tasks
from paper_search.service.sessions.inbox_answers import check_answer
from paper_search.store.session_files import SessionFiles, SessionLease
from tests.paper_search.service.sessions.helpers import (
    APPROVE,
    QUERY,
    REVIEW,
    STRATEGY,
    TIMEOUT_S,
    DataFolder,
    GatedFolder,
    complete_session,
    open_review,
    open_session,
    run_in_background,
    wait_for_end,
    wait_until,
)
from tests.requirements import requirement
from uraniborg.kernel.store.inbox import DecisionNotFound, Inbox, InboxDecision, InboxEntry


def test_by_default_a_session_is_idle_after_thirty_minutes() -> None:
    assert SessionsConfig().idle_s == 30 * 60


@requirement("PS-E6")
async def test_a_session_idle_for_thirty_minutes_is_unloaded_and_restored_by_the_next_call(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    reply = await open_session(manager)
    done = await complete_session(manager)
    data_folder.clock.advance(minutes=29, seconds=59)
    await manager.unload_idle()
    assert manager.get(reply["session_id"]) is not None
    data_folder.clock.advance(seconds=1)
    await manager.unload_idle()
    for later_reply in (reply, done):
        assert manager.get(later_reply["session_id"]) is None
        assert manager.get(later_reply["session_id"]) is None, "looking does not load"
        back = await manager.get_state(later_reply["session_id"])
        assert {**back, "elapsed_s": later_reply["elapsed_s"]} == later_reply
    assert manager.get(reply["session_id"]) is not None
    assert data_folder.engine.ran == ["intent", "intent", "dedup"]
    assert (await manager.decide(reply["session_id"], APPROVE)).get("checkpoint_kind") == REVIEW


@requirement("PS-E6")
async def test_each_call_restarts_the_thirty_minutes(data_folder: DataFolder, manager: SessionManager) -> None:
    reply = await open_session(manager)
    for _ in range(4):
        data_folder.clock.advance(minutes=20)
        await manager.unload_idle()
        assert manager.get(reply["session_id"]) is not None
        await manager.get_state(reply["session_id"])


@requirement("PS-E6")
async def test_a_session_that_works_or_is_waited_for_is_not_idle(gated: GatedFolder) -> None:
    async with gated.data_folder.open_manager() as manager:
        reply = await open_session(manager)
        session_id = reply["session_id"]
        async with run_in_background(manager.decide(session_id, APPROVE)) as deciding:
            await gated.wait_for_search()
            gated.data_folder.clock.advance(hours=5)
            await manager.unload_idle()
            assert manager.get(session_id) is not None
            deciding.cancel()
            await asyncio.wait([deciding])
            gated.data_folder.clock.advance(hours=5)
            await manager.unload_idle()
            assert manager.get(session_id) is not None, "a stage is running"
        gated.gate.set()
        session = manager.get(session_id)
        assert session is not None
        await wait_until(lambda: session.pending is not None)


@requirement("PS-E6")
async def test_the_end_of_a_call_that_waited_restarts_the_thirty_minutes(gated: GatedFolder) -> None:
    async with gated.data_folder.open_manager() as manager:
        reply = await open_session(manager)
        async with run_in_background(manager.decide(reply["session_id"], APPROVE)) as deciding:
            await gated.wait_for_search()
            gated.data_folder.clock.advance(hours=5)
            gated.gate.set()
            assert (await deciding).get("checkpoint_kind") == REVIEW
        await manager.unload_idle()
        assert manager.get(reply["session_id"]) is not None


@requirement("PS-E6")
async def test_idle_sessions_are_unloaded_in_the_background(
    data_folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_tasks, "_CLEANUP_INTERVAL_S", 0.01)
    async with data_folder.open_manager() as manager:
        reply = await open_session(manager)
        data_folder.clock.advance(minutes=31)
        await wait_until(lambda: manager.get(reply["session_id"]) is None)
        with closing(data_folder.inbox()) as inbox:
            assert inbox.get(reply["checkpoint_id"]).state == "pending"


@requirement("PS-E6")
def test_idle_sessions_are_also_unloaded_in_a_second_event_loop(
    data_folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_tasks, "_CLEANUP_INTERVAL_S", 0.01)
    manager = data_folder.create_manager()

    async def open_and_leave() -> None:
        reply = await open_session(manager)
        data_folder.clock.advance(minutes=31)
        await wait_until(lambda: manager.get(reply["session_id"]) is None)

    asyncio.run(open_and_leave())
    asyncio.run(open_and_leave())


async def test_an_unloaded_session_can_be_run_by_another_process(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    reply = await open_session(manager)
    data_folder.clock.advance(minutes=31)
    await manager.unload_idle()
    async with data_folder.open_manager() as other:
        assert (await other.decide(reply["session_id"], APPROVE)).get("checkpoint_kind") == REVIEW
        assert other.get(reply["session_id"]) is not None
        assert (await manager.get_state(reply["session_id"])).get("checkpoint_kind") == REVIEW
        assert manager.get(reply["session_id"]) is None


async def test_sessions_unused_for_the_retention_time_are_deleted(data_folder: DataFolder) -> None:
    data_folder.settings = SessionsConfig(retention_days=10)
    async with data_folder.open_manager() as manager:
        old, loaded = await complete_session(manager), await open_session(manager)
    async with data_folder.open_manager() as holder, data_folder.open_manager() as manager:
        await holder.get_state(loaded["session_id"])
        data_folder.clock.advance(days=9.9)
        await manager.delete_expired()
        assert data_folder.list_files(old["session_id"]) != []
        data_folder.clock.advance(days=0.2)
        await manager.delete_expired()
        assert data_folder.list_files(old["session_id"]) == []
        with pytest.raises(SessionNotFound):
            await manager.get_state(old["session_id"])
        with closing(data_folder.inbox()) as inbox, pytest.raises(DecisionNotFound):
            inbox.get(f"{old['session_id']}:0:{STRATEGY}")
        assert (await manager.get_state(loaded["session_id"])).get("checkpoint_kind") == STRATEGY, (
            "another process runs it"
        )
        assert (await holder.decide(loaded["session_id"], APPROVE)).get("checkpoint_kind") == REVIEW
    async with data_folder.open_manager() as manager:
        await manager.delete_expired()
        with pytest.raises(SessionNotFound):
            await manager.get_state(loaded["session_id"])


async def test_a_session_in_memory_is_never_deleted_for_its_age(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    reply = await open_session(manager)
    data_folder.clock.advance(days=1_000)
    await manager.delete_expired()
    assert (await manager.decide(reply["session_id"], APPROVE)).get("checkpoint_kind") == REVIEW


async def test_old_sessions_are_deleted_in_the_background(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as manager:
        old = await open_session(manager)
    path = data_folder.list_files(old["session_id"])[0]
    os.utime(path, (0, 0))
    async with data_folder.open_manager() as manager:
        await open_session(manager)
        await wait_until(lambda: data_folder.list_files(old["session_id"]) == [])


@requirement("PS-REQ-13", "PS-PROP-10")
@pytest.mark.parametrize("reach", [open_session, open_review, complete_session])
async def test_a_session_that_was_cleaned_up_does_not_come_back(
    data_folder: DataFolder, manager: SessionManager, reach: Callable[[SessionManager], Awaitable[dict[str, Any]]]
) -> None:
    reply, other = await reach(manager), await open_session(manager)
    session_id = reply["session_id"]
    session = manager.get(session_id)
    assert session is not None
    assert session._task is not None
    manager.cleanup(session_id)
    assert manager.get(session_id) is None
    await asyncio.wait([session._task], timeout=TIMEOUT_S)
    assert session._task.done()
    assert data_folder.list_files(session_id) == []
    with closing(data_folder.inbox()) as inbox:
        assert [entry.subject for entry in inbox.pending()] == [other["session_id"]]
        with pytest.raises(DecisionNotFound):
            inbox.get(f"{session_id}:0:{STRATEGY}")
    for call in (manager.get_state, manager.get_result, manager.get_papers, partial(manager.decide, decision=APPROVE)):
        with pytest.raises(SessionNotFound):
            await call(session_id)
    manager.cleanup(session_id)
    assert await manager.get_state(other["session_id"]) == other
    assert session_id.encode() not in b"".join(path.name.encode() for path in data_folder.folder.rglob("*"))


@requirement("PS-REQ-13")
async def test_cleaning_up_ends_the_search_and_the_call_that_waits_for_it(gated: GatedFolder) -> None:
    async with gated.data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        session = manager.get(session_id)
        assert session is not None
        assert session._task is not None
        async with run_in_background(manager.decide(session_id, APPROVE)) as deciding:
            await gated.wait_for_search()
            manager.cleanup(session_id)
            with pytest.raises((SessionNotFound, SessionInterrupted)):
                await wait_for_end(deciding)
        await asyncio.wait([session._task], timeout=TIMEOUT_S)
        assert session._task.done()
        gated.gate.set()
        assert gated.data_folder.list_files(session_id) == []


@requirement("PS-REQ-13", "PS-PROP-10")
async def test_an_unloaded_session_can_be_cleaned_up(data_folder: DataFolder, manager: SessionManager) -> None:
    reply = await open_session(manager)
    data_folder.clock.advance(minutes=31)
    await manager.unload_idle()
    manager.cleanup(reply["session_id"])
    assert manager.get(reply["session_id"]) is None
    assert data_folder.list_files(reply["session_id"]) == []
    with pytest.raises(SessionNotFound):
        await manager.get_state(reply["session_id"])


class SlowStore(SessionFiles):
    """A store that writes one step only after `go_on` is set; `writing` is set when it starts."""

    def __init__(self, folder: Path, step: str) -> None:
        super().__init__(folder)
        self._step = step
        self.writing = threading.Event()
        self.go_on = threading.Event()
        self.written = threading.Event()

    def write(self, session_id: str, step: str, value: str, *, create_session: bool = False) -> None:
        if step != self._step:
            super().write(session_id, step, value, create_session=create_session)
            return
        self.writing.set()
        assert self.go_on.wait(TIMEOUT_S)
        try:
            super().write(session_id, step, value, create_session=create_session)
        finally:
            self.written.set()


@requirement("PS-PROP-10")
@pytest.mark.parametrize(
    "step",
    [
        "session",
        "intent",
        "checkpoint-0",
    ],
)
async def test_a_session_cleaned_up_while_it_is_being_written_does_not_come_back(
    data_folder: DataFolder, step: str
) -> None:
    store = SlowStore(data_folder.folder / "sessions", step)
    async with data_folder.open_manager(store=store) as manager:
        session_id = manager.create(QUERY, AppConfig())
        assert await asyncio.to_thread(store.writing.wait, TIMEOUT_S)
        session = manager.get(session_id)
        assert session is not None
        assert session._task is not None
        async with run_in_background(asyncio.to_thread(manager.cleanup, session_id)) as cleaning:
            await asyncio.wait([cleaning], timeout=0.1)
            store.go_on.set()
            await wait_for_end(cleaning)
        assert await asyncio.to_thread(store.written.wait, TIMEOUT_S)
        await asyncio.wait([session._task], timeout=TIMEOUT_S)
        with pytest.raises(SessionNotFound):
            await manager.get_state(session_id)
    assert data_folder.list_files(session_id) == []
    with closing(data_folder.inbox()) as inbox:
        assert inbox.pending() == []


class SlowInbox(Inbox):
    """An inbox that adds an entry only after `go_on` is set; `putting` is set when it starts."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.putting = threading.Event()
        self.go_on = threading.Event()
        self.put_there = threading.Event()

    def put(self, entry_id: str, part: str, kind: str, subject: str, payload: Any) -> InboxEntry:
        self.putting.set()
        assert self.go_on.wait(TIMEOUT_S)
        try:
            return super().put(entry_id, part, kind, subject, payload)
        finally:
            self.put_there.set()


@requirement("PS-PROP-10")
async def test_a_session_cleaned_up_while_it_adds_a_checkpoint_leaves_no_inbox_entry(data_folder: DataFolder) -> None:
    slow = SlowInbox(data_folder.folder / "inbox.db")
    async with data_folder.open_manager(inbox=slow) as manager:
        session_id = manager.create(QUERY, AppConfig())
        assert await asyncio.to_thread(slow.putting.wait, TIMEOUT_S)
        session = manager.get(session_id)
        assert session is not None
        assert session._task is not None
        async with run_in_background(asyncio.to_thread(manager.cleanup, session_id)) as cleaning:
            await asyncio.wait([cleaning], timeout=0.1)
            slow.go_on.set()
            await wait_for_end(cleaning)
        assert await asyncio.to_thread(slow.put_there.wait, TIMEOUT_S)
        await asyncio.wait([session._task], timeout=TIMEOUT_S)
    assert data_folder.list_files(session_id) == []
    with closing(data_folder.inbox()) as inbox:
        assert inbox.pending() == []


async def test_a_session_is_not_unloaded_while_a_step_is_written(data_folder: DataFolder) -> None:
    store = SlowStore(data_folder.folder / "sessions", "round-0/search")
    manager = data_folder.create_manager(store=store)
    reply = await open_session(manager)
    session_id = reply["session_id"]
    async with run_in_background(manager.decide(session_id, APPROVE)):
        assert await asyncio.to_thread(store.writing.wait, TIMEOUT_S)
        async with run_in_background(manager.aclose()) as closing_down:
            await asyncio.wait([closing_down], timeout=0.2)
            lease = await asyncio.to_thread(data_folder.store().acquire_lease, session_id)
            if lease is not None:
                lease.release()
            store.go_on.set()
            await wait_for_end(closing_down)
    assert lease is None, "another process could have begun to run it"
    async with data_folder.open_manager() as another:
        repeated: Any = await another.decide(session_id, APPROVE, checkpoint_id=reply["checkpoint_id"])
        assert repeated["checkpoint_kind"] == REVIEW
    assert data_folder.engine.asked == [1], "what was journaled is not fetched again"


async def test_reading_or_deciding_a_session_renews_its_retention_time(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as manager:
        looked_at, decided, neither = [await open_session(manager) for _ in range(3)]
    long_ago = (data_folder.clock.now() - timedelta(days=100)).timestamp()
    for reply in (looked_at, decided, neither):
        os.utime(data_folder.folder / "sessions" / f"{reply['session_id']}.db", (long_ago, long_ago))
    with closing(data_folder.inbox()) as inbox:
        entry = inbox.get(decided["checkpoint_id"])
        check_answer(entry, InboxDecision(action="approve"), inbox=inbox, store=data_folder.store())
    async with data_folder.open_manager() as manager:
        await manager.get_state(looked_at["session_id"])
    async with data_folder.open_manager() as manager:
        await manager.delete_expired()
        for reply in (looked_at, decided):
            assert await manager.get_state(reply["session_id"])
        with pytest.raises(SessionNotFound):
            await manager.get_state(neither["session_id"])


class CleanupAheadOfReader(SessionFiles):
    """A store in which a caller gets a lease only after the cleanup has listed the session as unused.

    The caller then waits a moment more, in which a cleanup that does not wait for the caller deletes the session.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.listed = threading.Event()
        self.deleted = threading.Event()

    def list_unused_since(self, moment: datetime) -> list[str]:
        unused = super().list_unused_since(moment)
        self.listed.set()
        return unused

    def acquire_lease(self, session_id: str) -> SessionLease | None:
        assert self.listed.wait(TIMEOUT_S)
        self.deleted.wait(0.2)
        return super().acquire_lease(session_id)

    def delete(self, session_id: str) -> None:
        super().delete(session_id)
        self.deleted.set()


@pytest.mark.parametrize("reach", [open_session, complete_session])
async def test_a_session_that_is_being_opened_is_not_deleted_for_its_age(
    data_folder: DataFolder, reach: Callable[[SessionManager], Awaitable[dict[str, Any]]]
) -> None:
    async with data_folder.open_manager() as manager:
        reply = await reach(manager)
    os.utime(data_folder.folder / "sessions" / f"{reply['session_id']}.db", (0, 0))
    store = CleanupAheadOfReader(data_folder.folder / "sessions")
    async with data_folder.open_manager(store=store) as manager:
        state = await manager.get_state(reply["session_id"])
        assert {**state, "elapsed_s": reply["elapsed_s"]} == reply
        await manager.delete_expired()
        assert await manager.get_state(reply["session_id"]) == state


async def test_a_session_used_after_the_cleanup_listed_it_is_not_deleted(data_folder: DataFolder) -> None:
    class UsedMeanwhile(SessionFiles):
        def list_unused_since(self, moment: datetime) -> list[str]:
            unused = super().list_unused_since(moment)
            self.touch(used["session_id"])  # as another process does that reads the session
            return unused

    async with data_folder.open_manager() as manager:
        used, unused = await complete_session(manager), await complete_session(manager)
    for reply in (used, unused):
        os.utime(data_folder.folder / "sessions" / f"{reply['session_id']}.db", (0, 0))
    async with data_folder.open_manager(store=UsedMeanwhile(data_folder.folder / "sessions")) as manager:
        await manager.delete_expired()
        assert await manager.get_state(used["session_id"])
        with pytest.raises(SessionNotFound):
            await manager.get_state(unused["session_id"])
