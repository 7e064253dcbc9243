"""All that can be asked of the sessions of one process: opening, looking, deciding, exporting, deleting."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, Final

from paper_search.config import AppConfig, SessionsConfig, load_config
from paper_search.errors import (
    CheckpointBusy,
    CheckpointNotFound,
    NoPapersYet,
    NoPendingCheckpoint,
    SessionComplete,
    SessionFailed,
    SessionInterrupted,
    SessionNotComplete,
    SessionNotFound,
    SessionNotOpened,
)
from paper_search.limits import checked_query
from paper_search.models import PaperCollection
from paper_search.sessions import views
from paper_search.sessions.answers import from_inbox, to_inbox
from paper_search.sessions.chores import LOOK_S, Chores
from paper_search.sessions.home import Home
from paper_search.sessions.running import RunningSessions, untold
from paper_search.sessions.session import Ground, Listener, WorkflowSession, put_question
from paper_search.sessions.state import PART, Asked, SessionState, Waiting, summarize_session
from paper_search.sessions.store import SessionFiles, SessionStore
from paper_search.sessions.workflows import Workflows
from paper_search.workflow.checkpoints import Checkpoint, Decision, ResultPayload
from paper_search.workflow.engine import SearchWorkflow
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.inbox import AlreadyDecided, DecisionNotFound, Entry, Inbox, InboxPort
from uraniborg.kernel.inbox import Decision as InboxDecision
from uraniborg.kernel.logging import printable
from uraniborg.kernel.sqlite import DatabaseUnusable

SESSIONS_LISTED: Final = 50
"""How many sessions a list holds at most."""
DOOR: Final = "agent"
"""By which door the decisions of a manager come, unless told otherwise."""


class SessionManager:
    """Keeps the sessions of one event loop; its methods may be called from any thread and any loop.

    Sessions live in `store` and their checkpoints in `inbox`: by default in the data folder, where other processes
    share them. Whoever holds a session's lease runs it; everybody may decide.
    """

    def __init__(
        self,
        *,
        settings: SessionsConfig | None = None,
        store: SessionStore | None = None,
        inbox: InboxPort | None = None,
        clock: Clock | None = None,
        configure: Callable[[], AppConfig] = load_config,
        build: Callable[..., SearchWorkflow] | None = None,
    ) -> None:
        self._settings = settings or SessionsConfig()
        self._ground = Ground(store or SessionFiles(), inbox or Inbox(), clock or SystemClock(), self._note_question)
        self._workflows = Workflows()
        self._sessions = RunningSessions(self._ground, self._settings, configure, build or self._workflows)
        self._chores = Chores(self._sessions, self._ground)
        self._home = Home(on_move=self._move)
        self._farewells: set[asyncio.Task[None]] = set()

    def create(self, query: str, config: AppConfig) -> str:
        """Open a session, start its search in the background, and return its id. Raises InvalidQuery.

        It is on disk once it has come to its first checkpoint or its end.
        """
        asked = Asked.of(checked_query(query), config, self._ground.clock.now())
        session_id = new_id()
        self._home.call(lambda: self._begin(session_id, asked, config))
        return session_id

    def get(self, session_id: str) -> WorkflowSession | None:
        """The session if it is in memory; it is never brought back from disk for this."""
        return self._sessions.get(session_id)

    async def decide(
        self,
        session_id: str,
        decision: Decision,
        *,
        checkpoint_id: str | None = None,
        door: str = DOOR,
        tell: Listener = untold,
    ) -> dict[str, Any]:
        """Take the decision for the pending checkpoint, once, and return the state it leads to.

        With the id of a checkpoint that was decided before, nothing is decided again: the reply tells what was decided
        then, and where the session stands. Raises SessionNotFound, SessionComplete, SessionFailed, NoPendingCheckpoint,
        CheckpointBusy, CheckpointNotFound, InvalidDecision or SessionInterrupted; the checkpoint stays pending then.
        """
        return await self._home.run(self._decide(session_id, decision, checkpoint_id, door, tell))

    def cleanup(self, session_id: str) -> None:
        """Cancel the session if it runs, and delete it for good. Blocks while it deletes."""
        session = self.get(session_id)
        if session is not None:
            self._sessions.drop(session)
            if self._home.is_here:
                self._farewells.add(farewell := asyncio.create_task(self._deleted_after(session)))
                farewell.add_done_callback(self._farewells.discard)
            else:
                self._home.run_and_wait(session.stop())
        self._sessions.delete(session_id)

    async def start(self, query: str, config: AppConfig, *, tell: Listener = untold) -> dict[str, Any]:
        """Open a session and return its state at its first checkpoint, or at its end.

        Raises InvalidQuery, UnknownDomain, UnknownSource or InvalidInput; no session is opened then.
        """
        return await self._home.run(self._start(query, config, tell))

    async def state(self, session_id: str) -> dict[str, Any]:
        """Where the session stands, also when it failed. Raises SessionNotFound."""
        return await self._home.run(self._state(session_id))

    async def result(self, session_id: str) -> PaperCollection:
        """The papers of a complete session. Raises SessionNotFound, SessionNotComplete or SessionFailed."""
        return await self._home.run(self._result(session_id))

    async def papers(self, session_id: str, offset: int = 0) -> dict[str, Any]:
        """A page of the papers under review, or of the result. Raises SessionNotFound, NoPapersYet or SessionFailed."""
        return await self._home.run(self._papers(session_id, offset))

    async def resolve(self, beginning: str) -> str:
        """Return the id of the one session that begins so. Raises SessionNotFound or InvalidInput."""
        names = await asyncio.to_thread(self._ground.store.last_used)
        found = [name for name in names if beginning and name.startswith(beginning)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise SessionNotFound(beginning)
        raise InvalidInput(
            f"{len(found)} sessions begin with '{printable(beginning[:32])}'.",
            hint=f"Give more of the id: {', '.join(found[:5])}.",
            allowed=found[:10],
        )

    async def checkpoint(self, session_id: str) -> Checkpoint | None:
        """Return the pending checkpoint with all it holds, or None. Raises SessionNotFound or SessionInterrupted."""
        _, state = await self._home.run(self._find(session_id))
        return state.waiting.checkpoint if state.waiting else None

    async def sessions(self, limit: int = SESSIONS_LISTED) -> dict[str, Any]:
        """Return the summaries of the sessions used last, at most `limit`, and how many there are in all."""
        return await asyncio.to_thread(self._list_sessions, limit)

    async def unload_idle(self) -> None:
        """Let go of the sessions nobody has asked about for as long as the settings say."""
        await self._home.run(self._sessions.unload_idle())

    async def lay_aside_idle(self) -> None:
        """Free the memory of the sessions nobody has asked about for a minute. They are still here and wait."""
        await self._home.run(self._sessions.lay_aside_idle())

    async def expire(self) -> None:
        """Delete the sessions that nobody has used for as long as the settings say, unless somebody runs them."""
        await self._home.run(self._sessions.expire())

    async def aclose(self) -> None:
        """Stop all sessions where they are, so that they can be continued, and let go of everything."""
        await self._home.run(self._close())

    async def _close(self) -> None:
        await self._chores.stop()
        await self._sessions.stop_all()
        await asyncio.gather(*self._farewells)
        await self._workflows.aclose()
        await asyncio.to_thread(self._ground.inbox.close)

    def _list_sessions(self, limit: int) -> dict[str, Any]:
        store, inbox = self._ground.store, self._ground.inbox
        used = store.last_used()
        listed: list[dict[str, Any]] = []
        for session_id, last_used in list(used.items())[:limit]:
            with suppress(SessionNotFound):  # another process has deleted it
                try:
                    summary = summarize_session(store, inbox, session_id, last_used)
                    listed.append(views.session_line(summary))
                except (SessionInterrupted, DatabaseUnusable) as problem:
                    listed.append({"session_id": session_id, "phase": "unreadable", "error": problem.message})
        return {"sessions": listed, "total": len(used)}

    def _begin(self, session_id: str, asked: Asked, config: AppConfig) -> None:
        self._chores.take_up()
        self._sessions.begin(session_id, asked, config)

    def _note_question(self) -> None:
        self._chores.note_question()

    def _move(self) -> None:
        self._sessions.move()
        self._chores.move()
        self._workflows.forget_network()

    async def _deleted_after(self, session: WorkflowSession) -> None:
        """Delete what the session wrote while it was being stopped."""
        await session.stop()
        await asyncio.to_thread(self._sessions.delete, session.session_id)

    async def _find(self, session_id: str) -> tuple[WorkflowSession | None, SessionState]:
        self._chores.take_up()
        return await self._sessions.find(session_id)

    async def _start(self, query: str, config: AppConfig, tell: Listener) -> dict[str, Any]:
        # What cannot be searched is refused before there is a session.
        checked_query(query)
        await asyncio.to_thread(self._sessions.check, config)
        session = self.get(self.create(query, config))
        assert session is not None
        try:
            await self._sessions.watch(session, None, self._settings.reply_within_s, tell)
        except SessionInterrupted as interruption:
            if session.is_kept:
                raise
            with suppress(UraniborgError):
                await asyncio.to_thread(self._ground.store.delete, session.session_id)
            raise SessionNotOpened(interruption) from interruption
        return self._told(session.state())

    async def _decide(
        self, session_id: str, decision: Decision, checkpoint_id: str | None, door: str, tell: Listener
    ) -> dict[str, Any]:
        session, state = await self._find(session_id)
        if checkpoint_id is not None and checkpoint_id != state.checkpoint_id:
            return await self._repeated(session_id, checkpoint_id, decision, tell)
        waiting = _decidable(session, state)
        given = to_inbox(decision)
        from_inbox(given, waiting)
        pending = waiting.checkpoint.checkpoint_id
        with _deciding(session):
            # Once it is on its way to the disk it is carried through, whether or not the caller still waits.
            if await asyncio.shield(asyncio.ensure_future(self._take(session, state, waiting, given, door))):
                return self._told(await self._after(session_id, pending, tell))
        if checkpoint_id is None:
            raise CheckpointBusy(session_id, pending)
        return await self._repeated(session_id, checkpoint_id, decision, tell)

    async def _take(
        self, session: WorkflowSession | None, state: SessionState, waiting: Waiting, given: InboxDecision, door: str
    ) -> bool:
        """Write the decision down and go on with what then stands there. False when another one came first."""
        try:
            entry, came_first = await asyncio.to_thread(self._write_down, state, waiting, given, door)
        except DatabaseUnusable as error:
            raise SessionInterrupted(state.session_id, error.message) from error
        if session is not None:
            await session.settle(entry, self._ground)
        return came_first

    def _write_down(self, state: SessionState, waiting: Waiting, given: InboxDecision, door: str) -> tuple[Entry, bool]:
        inbox, checkpoint_id = self._ground.inbox, waiting.checkpoint.checkpoint_id
        if inbox.missing([checkpoint_id]):
            self._ground.store.steps(state.session_id)  # raises SessionNotFound when another process has deleted it
            put_question(inbox, state.query, waiting)
        try:
            return inbox.decide(checkpoint_id, given, door), True
        except AlreadyDecided:
            return inbox.get(checkpoint_id), False

    async def _repeated(
        self, session_id: str, checkpoint_id: str, decision: Decision, tell: Listener
    ) -> dict[str, Any]:
        """The outcome of a checkpoint that was decided before."""
        try:
            entry = await asyncio.to_thread(self._ground.inbox.get, checkpoint_id)
        except DecisionNotFound:
            raise CheckpointNotFound(session_id, checkpoint_id) from None
        if (entry.part, entry.subject) != (PART, session_id):
            raise CheckpointNotFound(session_id, checkpoint_id)
        state = await self._after(session_id, checkpoint_id, tell)
        if entry.decision is None:
            raise NoPendingCheckpoint(session_id, state.phase)
        return self._told(state, entry, to_inbox(decision))

    async def _state(self, session_id: str) -> dict[str, Any]:
        _, state = await self._find(session_id)
        return views.reply(state, self._ground.clock.now())

    async def _result(self, session_id: str) -> PaperCollection:
        session, state = await self._find(session_id)
        if state.ended is None:
            raise SessionNotComplete(session_id, state.phase)
        if state.ended.error is not None:
            raise SessionFailed(session_id, state.ended.error)
        if session is not None and session.result is not None:
            return session.result
        return await asyncio.to_thread(self._sessions.stored_result, session_id)

    async def _papers(self, session_id: str, offset: int) -> dict[str, Any]:
        _, state = await self._find(session_id)
        if state.ended is not None:
            collection = await self._result(session_id)
        elif state.waiting and isinstance(payload := state.waiting.checkpoint.payload, ResultPayload):
            collection = payload.collection
        else:
            raise NoPapersYet(session_id)
        return views.papers_page(session_id, collection, offset)

    def _told(
        self, state: SessionState, repeated: Entry | None = None, given: InboxDecision | None = None
    ) -> dict[str, Any]:
        if state.ended is not None and state.ended.error is not None:
            raise SessionFailed(state.session_id, state.ended.error)
        return views.reply(state, self._ground.clock.now(), repeated, given)

    async def _after(self, session_id: str, past: str | None, tell: Listener) -> SessionState:
        """The state once the checkpoint `past` is behind, whoever runs the session; or the present one in the end."""
        now = asyncio.get_running_loop().time
        deadline = now() + self._settings.reply_within_s
        pause_s = LOOK_S
        while True:
            session, state = await self._find(session_id)
            if session is not None:
                await self._sessions.watch(session, past, deadline - now(), tell)
                return session.state()
            if state.has_left(past) or now() >= deadline:
                return state
            await asyncio.sleep(pause_s)
            pause_s = min(1.0, pause_s * 1.2)  # a search that takes long need not be looked at that often


def _decidable(session: WorkflowSession | None, state: SessionState) -> Waiting:
    """What can be decided now. Raises what keeps it from being decided."""
    if state.ended is not None:
        if state.ended.error is not None:
            raise SessionFailed(state.session_id, state.ended.error)
        raise SessionComplete(state.session_id)
    # Of what another process does we know only that there was a decision.
    decided_elsewhere = session is None and state.waiting is None and state.iteration > 0
    if decided_elsewhere or (session is not None and session.deciding):
        raise CheckpointBusy(state.session_id, state.checkpoint_id)
    if state.waiting is None:
        raise NoPendingCheckpoint(state.session_id, state.phase)
    return state.waiting


@contextmanager
def _deciding(session: WorkflowSession | None) -> Generator[None]:
    """Marks the session as having a decision carried out."""
    if session is None:
        yield
        return
    session.deciding = True
    try:
        yield
    finally:
        session.deciding = False
