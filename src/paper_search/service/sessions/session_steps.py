"""Take decisions of sessions once, and wait for the states that they lead to."""

import asyncio
from contextlib import AsyncExitStack

from paper_search.config import SessionsConfig
from paper_search.errors import (
    CheckpointBusy,
    CheckpointNotFound,
    NoPendingCheckpoint,
    SessionFailed,
    SessionInterrupted,
    SessionNotFound,
)
from paper_search.service.session_replies import SessionReply
from paper_search.service.sessions.background_tasks import POLL_S, BackgroundTasks
from paper_search.service.sessions.checkpoint_decisions import CheckpointDecisions, Decider, PreparedDecision
from paper_search.service.sessions.inbox_decisions import to_inbox_decision
from paper_search.service.sessions.reply_builder import build_reply
from paper_search.service.sessions.session import Listener, SessionServices, WorkflowSession, get_pending_or_raise
from paper_search.service.sessions.session_registry import SessionRegistry
from paper_search.store.session_state import PART, PendingCheckpoint, SessionState
from paper_search.workflow.checkpoints import Decision
from uraniborg.kernel.store.inbox import AlreadyDecided, DecisionNotFound, InboxDecision, InboxEntry
from uraniborg.kernel.store.sqlite import DatabaseUnusable


class SessionSteps:
    """Takes the decisions of sessions, in the loop of a manager, and waits for what follows."""

    def __init__(
        self,
        services: SessionServices,
        settings: SessionsConfig,
        sessions: SessionRegistry,
        background: BackgroundTasks,
        decisions: CheckpointDecisions,
    ) -> None:
        self._services = services
        self._settings = settings
        self._sessions = sessions
        self._background = background
        self._decisions = decisions

    async def decide(
        self,
        session_id: str,
        decision: Decision,
        checkpoint_id: str | None,
        decider: Decider,
        on_progress: Listener,
        timeout_s: float | None,
    ) -> SessionReply:
        """Apply a decision as `SessionManager.decide` does, in the loop of the sessions."""
        self._background.start()
        session, state = await self._sessions.find_or_restore_session(session_id)
        if checkpoint_id is not None and checkpoint_id != state.checkpoint_id:
            return await self._report_earlier_decision(state, checkpoint_id, decision, on_progress)
        pending = get_pending_or_raise(session, state)
        given = to_inbox_decision(decision)
        async with AsyncExitStack() as lock:
            if session is None:
                prepared = await asyncio.to_thread(self._decisions.prepare, pending, given, decider)
            else:
                async with session.preparation_lock:
                    prepared = await asyncio.to_thread(self._decisions.prepare, pending, given, decider)
                    try:
                        get_pending_or_raise(session, session.get_state())
                    except NoPendingCheckpoint:
                        if checkpoint_id is None:
                            raise
                        return await self._report_earlier_decision(state, checkpoint_id, decision, on_progress)
                    await lock.enter_async_context(session.decision_lock)
            # A decision that is being stored is carried out even if the caller no longer waits.
            work = self._store_and_apply_decision(session, state, pending, prepared, decider)
            if await asyncio.shield(asyncio.ensure_future(work)):
                return self.build_reply_or_raise(
                    await self.wait_until_passed(session_id, prepared.checked.checkpoint_id, on_progress, timeout_s)
                )
        if checkpoint_id is None:
            raise CheckpointBusy(session_id, prepared.checked.checkpoint_id)
        return await self._report_earlier_decision(state, checkpoint_id, decision, on_progress)

    async def find_or_restore_session(self, session_id: str) -> tuple[WorkflowSession | None, SessionState]:
        """Return the session, if this process runs it, and its state. Raise SessionNotFound or SessionInterrupted."""
        self._background.start()
        await self._sessions.drop_if_deleted(session_id)
        return await self._sessions.find_or_restore_session(session_id)

    async def wait_until_passed(
        self, session_id: str, checkpoint_id: str | None, on_progress: Listener, timeout_s: float | None = None
    ) -> SessionState:
        """Return the state once the session has passed the checkpoint, in any process, or after the timeout.

        Without `timeout_s` the timeout is that of replies.
        """
        now = asyncio.get_running_loop().time
        deadline = now() + (self._settings.reply_within_s if timeout_s is None else timeout_s)
        pause_s = POLL_S
        while True:
            session, state = await self.find_or_restore_session(session_id)
            if session is not None:
                await self._sessions.wait_until_passed(session, checkpoint_id, deadline - now(), on_progress)
                return session.get_state()
            if state.has_passed_checkpoint(checkpoint_id) or now() >= deadline:
                return state
            await asyncio.sleep(pause_s)
            pause_s = min(1.0, pause_s * 1.2)  # poll a long search less often

    def build_reply_or_raise(
        self, state: SessionState, decided_entry: InboxEntry | None = None, sent_decision: InboxDecision | None = None
    ) -> SessionReply:
        """Return the reply for the state. Raise SessionFailed if the search failed."""
        if state.ended is not None and state.ended.error is not None:
            raise SessionFailed(state.session_id, state.ended.error)
        return build_reply(state, self._services.clock.now(), decided_entry, sent_decision)

    async def _store_and_apply_decision(
        self,
        session: WorkflowSession | None,
        state: SessionState,
        pending: PendingCheckpoint,
        prepared: PreparedDecision,
        decider: Decider,
    ) -> bool:
        """Store the decision and continue the session; return False, and continue with the other, if one came first."""
        try:
            entry, is_first = await asyncio.to_thread(self._take_decision, state, pending, prepared, decider)
        except DatabaseUnusable as error:
            raise SessionInterrupted(state.session_id, error.message) from error
        if session is not None and is_first:
            session.accept_decision(prepared.checked)
        elif session is not None:
            await session.accept_entry_or_reopen(entry)
        return is_first

    def _take_decision(
        self, state: SessionState, pending: PendingCheckpoint, prepared: PreparedDecision, decider: Decider
    ) -> tuple[InboxEntry, bool]:
        """Store the decision in the inbox; return the entry, and whether this decision was the first."""
        try:
            return self._decisions.store_decision(state.query, pending, prepared, decider), True
        except AlreadyDecided:
            return self._services.inbox.get(prepared.checked.checkpoint_id), False
        except DecisionNotFound:  # another process has deleted the session
            raise SessionNotFound(state.session_id) from None

    async def _report_earlier_decision(
        self, state: SessionState, checkpoint_id: str, decision: Decision, on_progress: Listener
    ) -> SessionReply:
        """Return the decision that was taken before at this checkpoint, and the state that it led to."""
        session_id = state.session_id
        try:
            entry = await asyncio.to_thread(self._services.inbox.get, checkpoint_id)
        except DecisionNotFound:
            raise CheckpointNotFound(session_id, checkpoint_id, state.checkpoint_id) from None
        if (entry.part, entry.subject) != (PART, session_id):
            raise CheckpointNotFound(session_id, checkpoint_id, state.checkpoint_id)
        state = await self.wait_until_passed(session_id, checkpoint_id, on_progress)
        if entry.decision is None:
            raise NoPendingCheckpoint(session_id, state.phase)
        return self.build_reply_or_raise(state, entry, to_inbox_decision(decision))
