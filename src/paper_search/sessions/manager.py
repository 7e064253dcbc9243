"""All sessions of one process: opened, found, decided, brought back from disk, let go of, deleted."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final, TypeVar

from pydantic import ValidationError

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
from paper_search.sessions.handler import running_loop
from paper_search.sessions.journal import read_step
from paper_search.sessions.session import Ground, Listener, WorkflowSession, put_question
from paper_search.sessions.state import PART, Asked, SessionState, Waiting, stored_state
from paper_search.sessions.store import Held, SessionFiles, SessionStore
from paper_search.sessions.workflows import Workflows
from paper_search.workflow.checkpoints import Decision, ResultPayload
from paper_search.workflow.engine import SearchWorkflow
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.inbox import AlreadyDecided, DecisionNotFound, Entry, Inbox, InboxPort
from uraniborg.kernel.inbox import Decision as InboxDecision
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.sqlite import DatabaseUnusable

T = TypeVar("T")

DOOR: Final = "agent"
"""By which door the decisions of a manager come, unless told otherwise."""
_LOOK_S: Final = 0.05
"""How often it looks for what other processes have decided or done."""
_AFTER_TROUBLE_S: Final = 1.0
_LAY_ASIDE_S: Final = 60.0
_HOUSEKEEPING_S: Final = 60.0
_EXPIRY_ROUNDS: Final = 1_440
"""Once a day it looks for sessions that nobody uses any more."""

_log = get_logger(__name__)


async def _untold(_session: WorkflowSession) -> None:
    """For callers who want no news."""


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
        self._configure = configure
        self._workflows = Workflows()
        self._build = build or self._workflows
        self._sessions: dict[str, WorkflowSession] = {}
        self._lock = threading.Lock()
        self._loading = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._chores: list[asyncio.Task[None]] = []
        self._new_questions = False
        self._farewells: set[asyncio.Task[None]] = set()

    def create(self, query: str, config: AppConfig) -> str:
        """Open a session, start its search in the background, and return its id. Raises InvalidQuery.

        It is on disk once it has come to its first checkpoint or its end.
        """
        asked = Asked.of(checked_query(query), config, self._ground.clock.now())
        session_id = new_id()
        self._call_here(lambda: self._run(session_id, asked, config))
        return session_id

    def get(self, session_id: str) -> WorkflowSession | None:
        """The session if it is in memory; it is never brought back from disk for this."""
        with self._lock:
            return self._sessions.get(session_id)

    async def decide(
        self,
        session_id: str,
        decision: Decision,
        *,
        checkpoint_id: str | None = None,
        door: str = DOOR,
        tell: Listener = _untold,
    ) -> dict[str, Any]:
        """Take the decision for the pending checkpoint, once, and return the state it leads to.

        With the id of a checkpoint that was decided before, nothing is decided again: the reply tells what was decided
        then, and where the session stands. Raises SessionNotFound, SessionComplete, SessionFailed, NoPendingCheckpoint,
        CheckpointBusy, CheckpointNotFound, InvalidDecision or SessionInterrupted; the checkpoint stays pending then.
        """
        return await self._here(self._decide(session_id, decision, checkpoint_id, door, tell))

    def cleanup(self, session_id: str) -> None:
        """Cancel the session if it runs, and delete it for good. Blocks while it deletes."""
        session = self.get(session_id)
        if session is not None:
            self._drop(session)
            if self._home() is running_loop():
                self._farewells.add(farewell := asyncio.create_task(self._deleted_after(session)))
                farewell.add_done_callback(self._farewells.discard)
            else:
                asyncio.run_coroutine_threadsafe(session.stop(), self._home()).result()
        self._delete(session_id)

    async def start(self, query: str, config: AppConfig, *, tell: Listener = _untold) -> dict[str, Any]:
        """Open a session and return its state at its first checkpoint, or at its end.

        Raises InvalidQuery, UnknownDomain, UnknownSource or InvalidInput; no session is opened then.
        """
        return await self._here(self._start(query, config, tell))

    async def state(self, session_id: str) -> dict[str, Any]:
        """Where the session stands, also when it failed. Raises SessionNotFound."""
        return await self._here(self._state(session_id))

    async def result(self, session_id: str) -> PaperCollection:
        """The papers of a complete session. Raises SessionNotFound, SessionNotComplete or SessionFailed."""
        return await self._here(self._result(session_id))

    async def papers(self, session_id: str, offset: int = 0) -> dict[str, Any]:
        """A page of the papers under review, or of the result. Raises SessionNotFound, NoPapersYet or SessionFailed."""
        return await self._here(self._papers(session_id, offset))

    async def unload_idle(self) -> None:
        """Let go of the sessions nobody has asked about for as long as the settings say."""
        await self._here(self._unload_idle())

    async def lay_aside_idle(self) -> None:
        """Free the memory of the sessions nobody has asked about for a minute. They are still here and wait."""
        await self._here(self._lay_aside_idle())

    async def expire(self) -> None:
        """Delete the sessions that nobody has used for as long as the settings say, unless somebody runs them."""
        await self._here(self._expire())

    async def aclose(self) -> None:
        """Stop all sessions where they are, so that they can be continued, and let go of everything."""
        await self._here(self._close())

    async def _unload_idle(self) -> None:
        for session in self._idle(self._settings.idle_s):
            self._drop(session)
            await session.stop()

    async def _lay_aside_idle(self) -> None:
        for session in self._idle(_LAY_ASIDE_S):
            async with self._loading:
                if session.is_idle and session.interruption is None and session.aside is None:
                    await session.lay_aside()

    async def _expire(self) -> None:
        horizon = self._ground.clock.now() - timedelta(days=self._settings.retention_days)
        for session_id in await asyncio.to_thread(self._ground.store.unused_since, horizon):
            if self.get(session_id) is None:
                await asyncio.to_thread(self._delete_if_free, session_id)

    async def _close(self) -> None:
        chores, self._chores = self._chores, []
        for chore in chores:
            chore.cancel()
        await asyncio.gather(*chores, return_exceptions=True)
        with self._lock:
            sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.stop()
        await asyncio.gather(*self._farewells)
        await self._workflows.aclose()
        await asyncio.to_thread(self._ground.inbox.close)

    async def _start(self, query: str, config: AppConfig, tell: Listener) -> dict[str, Any]:
        checked_query(query)
        await asyncio.to_thread(self._build, config)  # what cannot be built is refused before there is a session
        session = self._sessions[self.create(query, config)]
        try:
            await self._watched(session, None, self._settings.reply_within_s, tell)
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
        session, state = await self._present(session_id)
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
        _, state = await self._present(session_id)
        return views.reply(state, self._ground.clock.now())

    async def _result(self, session_id: str) -> PaperCollection:
        session, state = await self._present(session_id)
        if state.ended is None:
            raise SessionNotComplete(session_id, state.phase)
        if state.ended.error is not None:
            raise SessionFailed(session_id, state.ended.error)
        if session is not None and session.result is not None:
            return session.result
        return await asyncio.to_thread(self._stored_result, session_id)

    async def _papers(self, session_id: str, offset: int) -> dict[str, Any]:
        _, state = await self._present(session_id)
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
        pause_s = _LOOK_S
        while True:
            session, state = await self._present(session_id)
            if session is not None:
                await self._watched(session, past, deadline - now(), tell)
                return session.state()
            if state.has_left(past) or now() >= deadline:
                return state
            await asyncio.sleep(pause_s)
            pause_s = min(1.0, pause_s * 1.2)  # a search that takes long need not be looked at that often

    async def _watched(self, session: WorkflowSession, past: str | None, within_s: float, tell: Listener) -> None:
        session.in_use += 1
        try:
            await session.wait(past, within_s, tell)
        finally:
            session.in_use -= 1
            session.last_used = self._ground.clock.now()
        if session.interruption is not None:
            self._drop(session)
            raise session.interruption

    async def _present(self, session_id: str) -> tuple[WorkflowSession | None, SessionState]:
        """The session if this process runs or ran it, brought back from disk if nobody does, and its state."""
        session = self.get(session_id)
        if session is None or session.interruption or session.aside:
            async with self._loading:
                session = await self._loaded(session_id)
        if session is None:
            return None, await asyncio.to_thread(self._stored_state, session_id)
        session.last_used = self._ground.clock.now()
        if session.is_coming_back:
            await self._watched(session, None, self._settings.reply_within_s, _untold)
        return session, session.state()

    async def _loaded(self, session_id: str) -> WorkflowSession | None:
        """The session, run by this process from now on; None when another process runs it, or nobody need."""
        session = self.get(session_id)
        if session is not None and session.aside:
            return await self._resumed(session)
        if session is not None and session.interruption is None:
            return session
        lease = await asyncio.to_thread(self._ground.store.lease, session_id)
        if lease is None:
            return None
        session = None
        try:
            state = await asyncio.to_thread(self._stored_state, session_id)
            if state.ended is not None:
                return None
            asked, config = await asyncio.to_thread(self._as_asked, session_id)
            session = self._run(session_id, asked, config, lease, state)
        finally:
            if session is None:
                lease.release()
        return session

    async def _resumed(self, session: WorkflowSession) -> WorkflowSession:
        """The session that was laid aside, on its way to where it was."""
        state = await asyncio.to_thread(self._stored_state, session.session_id)
        asked, config = await asyncio.to_thread(self._as_asked, session.session_id)
        session.start(self._ground, asked, partial(self._build, config), stored=state)
        return session

    def _run(
        self,
        session_id: str,
        asked: Asked,
        config: AppConfig,
        lease: Held | None = None,
        stored: SessionState | None = None,
    ) -> WorkflowSession:
        self._take_up_chores()
        session = WorkflowSession(session_id, asked.query, lease=lease, last_used=self._ground.clock.now())
        session.start(self._ground, asked, partial(self._build, config), stored=stored)
        with self._lock:
            self._sessions[session_id] = session
        return session

    def _idle(self, seconds: float) -> list[WorkflowSession]:
        horizon = self._ground.clock.now() - timedelta(seconds=seconds)
        with self._lock:
            return [session for session in self._sessions.values() if session.is_idle and session.last_used <= horizon]

    def _drop(self, session: WorkflowSession) -> None:
        with self._lock:
            if self._sessions.get(session.session_id) is session:
                del self._sessions[session.session_id]

    def _stored_state(self, session_id: str) -> SessionState:
        return stored_state(self._ground.store, self._ground.inbox, session_id)

    def _stored_result(self, session_id: str) -> PaperCollection:
        return read_step(self._ground.store, session_id, "result", PaperCollection)

    def _as_asked(self, session_id: str) -> tuple[Asked, AppConfig]:
        asked = read_step(self._ground.store, session_id, "session", Asked)
        try:
            return asked, asked.with_keys_of(self._configure())
        except ValidationError:
            raise SessionInterrupted(
                session_id, "it was opened with settings that this version does not know."
            ) from None

    async def _deleted_after(self, session: WorkflowSession) -> None:
        """Delete what the session wrote while it was being stopped."""
        await session.stop()
        await asyncio.to_thread(self._delete, session.session_id)

    def _delete(self, session_id: str) -> None:
        self._ground.inbox.forget(PART, session_id)
        with suppress(SessionNotFound):
            self._ground.store.delete(session_id)

    def _delete_if_free(self, session_id: str) -> None:
        try:
            lease = self._ground.store.lease(session_id)
        except SessionNotFound:  # it was begun, and never came to be
            self._delete(session_id)
            return
        if lease is not None:
            self._delete(session_id)
            lease.release()

    def _take_up_chores(self) -> None:
        if not self._chores:
            self._chores = [asyncio.create_task(chore()) for chore in (self._look_for_decisions, self._keep_house)]

    def _note_question(self) -> None:
        self._new_questions = True

    async def _look_for_decisions(self) -> None:
        """Hand decisions that other processes wrote into the inbox to the sessions that wait for them."""
        seen = None
        while True:
            await asyncio.sleep(_LOOK_S)
            if not self._sessions:
                continue
            try:
                revision = await asyncio.to_thread(self._ground.inbox.revision)
                if revision != seen or self._new_questions:
                    self._new_questions = False
                    await self._hand_over_decisions()
                    seen = revision
            except Exception as exc:
                _log.exception("decisions cannot be looked for", exc=exc)
                self._new_questions = True
                await asyncio.sleep(_AFTER_TROUBLE_S)

    async def _hand_over_decisions(self) -> None:
        with self._lock:
            waiting = {asked: session for session in self._sessions.values() if (asked := session.asks)}
        for entry in await asyncio.to_thread(self._ground.inbox.settled, list(waiting)):
            session = waiting[entry.id]
            try:
                if session.aside:
                    await self._present(session.session_id)
                else:
                    await session.settle(entry, self._ground)
            except UraniborgError as error:
                _log.warning("a session cannot go on", session_id=session.session_id, reason=error.message)
        for gone in await asyncio.to_thread(self._ground.inbox.missing, list(waiting)):
            self._drop(waiting[gone])  # another process has deleted it
            await waiting[gone].stop()

    async def _keep_house(self) -> None:
        rounds = 0
        while True:
            try:
                if rounds % _EXPIRY_ROUNDS == 0:
                    await self.expire()
                await self.unload_idle()
                await self.lay_aside_idle()
            except Exception as exc:
                _log.exception("sessions cannot be tidied up", exc=exc)
            rounds += 1
            await asyncio.sleep(_HOUSEKEEPING_S)

    async def _here(self, work: Coroutine[Any, Any, T]) -> T:
        """Await the work in the loop that runs the sessions, whichever loop asks."""
        loop = self._home()
        if loop is asyncio.get_running_loop():
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))

    def _call_here(self, work: Callable[[], object]) -> None:
        """The same for what need not be awaited."""
        loop = self._home()
        if loop is running_loop():
            work()
            return

        async def called() -> None:
            work()

        asyncio.run_coroutine_threadsafe(called(), loop).result()

    def _home(self) -> asyncio.AbstractEventLoop:
        """The loop that runs the sessions: the first that asked. Raises RuntimeError when there is none yet."""
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                self._loop, self._chores, self._loading = asyncio.get_running_loop(), [], asyncio.Lock()
                self._workflows.forget_network()
            return self._loop


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
