"""Run one search in a task: it waits at its checkpoints, and stores every step."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Final

from paper_search.errors import (
    CheckpointBusy,
    InvalidDecision,
    NoPendingCheckpoint,
    SessionComplete,
    SessionFailed,
    SessionInterrupted,
)
from paper_search.models import PaperCollection, SourceReport
from paper_search.service.reply_parts import clip_text
from paper_search.service.sessions.checkpoint_payloads import add_to_inbox
from paper_search.service.sessions.event_loops import MCPCheckpointHandler
from paper_search.service.sessions.inbox_decisions import check_inbox_decision
from paper_search.store.session_files import SessionJournal, SessionLease, SessionStore, run_storage_call
from paper_search.store.session_state import (
    COMPLETED,
    FAILED,
    WAITING,
    WORKING,
    PendingCheckpoint,
    SessionEnd,
    SessionRequest,
    SessionState,
    list_source_reports,
)
from paper_search.workflow.checkpoints import Checkpoint, Decision
from paper_search.workflow.decisions import CheckedDecision
from paper_search.workflow.engine import SearchWorkflow
from paper_search.workflow.skill_interfaces import ProgressFacts
from uraniborg.kernel.clock import Clock
from uraniborg.kernel.errors import describe_exception, is_out_of_room
from uraniborg.kernel.logging import get_logger, redact
from uraniborg.kernel.store.change_feed import Publisher
from uraniborg.kernel.store.inbox import InboxEntry, InboxPort

Listener = Callable[["WorkflowSession"], Awaitable[None]]
"""Awaited when a session that a call waits for has made progress."""
BuildWorkflow = Callable[..., SearchWorkflow]
"""Called in a thread with the checkpoint_handler, progress_reporter and journal of a session."""

_MAX_ERROR_CHARS: Final = 2_000
_DISK_ERRORS: Final = {errno.EIO, errno.EROFS}

_log = get_logger(__name__)


class SessionPhase(Enum):
    """The phases of a session in memory."""

    OPENING = auto()
    """The session is not stored yet."""
    RESTORING = auto()
    """The search repeats its stored steps until it is back at the checkpoint where it waited."""
    WORKING = auto()
    WAITING = auto()
    """A checkpoint waits for its decision."""
    PARKED = auto()
    """The session waits at a checkpoint, and its memory is freed; it holds its lease."""
    INTERRUPTED = auto()
    """The search stopped because its steps could not be stored; it can be continued from the store."""
    NOT_OPENED = auto()
    """The session could not be stored."""
    COMPLETED = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class SessionServices:
    """The store, inbox and clock of the sessions of one process."""

    store: SessionStore
    inbox: InboxPort
    clock: Clock
    on_waiting: Callable[[], None]
    """Called when a session has started to wait for a decision."""
    feed: Publisher


@dataclass(eq=False)
class WorkflowSession:
    """A search that this process runs, or has run. The session is the checkpoint handler of its search."""

    session_id: str
    query: str
    _handler: MCPCheckpointHandler = field(default_factory=MCPCheckpointHandler)
    _task: asyncio.Task[None] | None = None
    result: PaperCollection | None = None
    error: str | None = None
    is_complete: bool = False
    """Whether the search has ended, with a result or with an error."""
    phase: SessionPhase = SessionPhase.OPENING
    interruption: SessionInterrupted | None = None
    """The reason of the phases INTERRUPTED and NOT_OPENED."""
    lease: SessionLease | None = None
    last_used: datetime = field(default_factory=lambda: datetime.now(UTC))
    events: int = 0
    """The number of progress events so far."""
    callers: int = 0
    """The number of calls that wait for the session."""
    preparation_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a decision is prepared, so that concurrent decisions keep their order."""
    decision_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the call whose decision is carried out."""
    _services: SessionServices | None = None
    _request: SessionRequest | None = None
    _pending: PendingCheckpoint | None = None
    """The last checkpoint of the search."""
    _parked_at: str | None = None
    """The id of the checkpoint at which the session was parked."""
    _sources: list[str] = field(default_factory=list[str])
    """The sources that an edited strategy may name."""
    _decisions_taken: int = 0
    _ended: SessionEnd | None = None
    _search_phase: str = WORKING
    _round: int = 0
    _reports: list[SourceReport] = field(default_factory=list[SourceReport])
    _sources_asked: int = 0
    _next_event: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def pending(self) -> PendingCheckpoint | None:
        """The checkpoint that waits for a decision, or None."""
        return self._pending if self.phase is SessionPhase.WAITING else None

    @property
    def pending_id(self) -> str | None:
        """The id of the checkpoint that waits for a decision, also in a parked session."""
        if self.phase is SessionPhase.PARKED:
            return self._parked_at
        return self.pending.checkpoint.checkpoint_id if self.pending else None

    @property
    def is_readable(self) -> bool:
        """Whether the memory holds the state: not while the session is opened, restored, parked or interrupted."""
        return self.phase in (
            SessionPhase.WORKING,
            SessionPhase.WAITING,
            SessionPhase.COMPLETED,
            SessionPhase.FAILED,
        )

    @property
    def is_idle(self) -> bool:
        """Whether nothing happens in the session until the next call."""
        is_running = self.phase in (SessionPhase.OPENING, SessionPhase.RESTORING, SessionPhase.WORKING)
        return not (is_running or self.callers or self.decision_lock.locked())

    def start(
        self,
        services: SessionServices,
        request: SessionRequest,
        build: BuildWorkflow,
        *,
        stored: SessionState | None = None,
    ) -> None:
        """Run the search in a task: from its `stored` state, which needs a lease, or from the beginning."""
        self._services, self._request = services, request
        self.phase = SessionPhase.OPENING
        if stored is not None:
            self.phase = SessionPhase.RESTORING if stored.pending else SessionPhase.WORKING
            self._decisions_taken, self._round = stored.iteration, stored.round
        self._handler = MCPCheckpointHandler(self._set_waiting_and_notify)
        self._task = asyncio.create_task(self._run_search(services, request, build), name=self.session_id)

    def get_state(self) -> SessionState:
        assert self._request is not None
        return SessionState(
            self.session_id,
            self.query,
            self._request.at,
            self._request.max_rounds,
            phase=self._search_phase,
            iteration=self._decisions_taken,
            round=self._ended.rounds if self._ended else self._round,
            pending=self.pending,
            ended=self._ended,
            sources=self._reports,
            sources_asked=self._sources_asked,
            is_offline=self._request.is_offline,
            actor=self._request.actor,
        )

    async def wait_until_passed(self, checkpoint_id: str | None, timeout_s: float, on_progress: Listener) -> None:
        """Wait until the session has ended or waits at another checkpoint than this one, or until the timeout.

        `on_progress` is awaited on every event.
        """
        try:
            async with asyncio.timeout(timeout_s):
                while not (self.interruption or self.get_state().has_passed_checkpoint(checkpoint_id)):
                    event = self._next_event
                    await on_progress(self)
                    await event.wait()
        except TimeoutError:
            return

    def accept_decision(self, decision: CheckedDecision) -> None:
        """Continue the search with the decision, if its checkpoint is the pending one."""
        pending = self.pending
        if pending is None or pending.checkpoint.checkpoint_id != decision.checkpoint_id:
            return
        self.phase = SessionPhase.WORKING
        self._decisions_taken = pending.checkpoint.iteration + 1
        self._handler.set_decision(decision)

    async def accept_entry_or_reopen(self, entry: InboxEntry) -> None:
        """Continue the search with the decision of an inbox entry, if its checkpoint is the pending one.

        A decision that does not fit its checkpoint is removed from the inbox, so that it can be decided again.
        """
        pending, services = self.pending, self._services
        is_decided = entry.state == "decided"
        if pending is None or services is None or not is_decided or pending.checkpoint.checkpoint_id != entry.id:
            return
        if (decision := _check_entry_or_none(entry, pending)) is not None:
            self.accept_decision(decision)
        else:
            await run_storage_call(self.session_id, lambda: services.inbox.reopen(entry.id))

    async def park(self) -> None:
        """Free the memory of an idle session. A waiting session holds its lease; `start` restores it."""
        if self.phase is SessionPhase.WAITING:
            self._parked_at, self.phase = self.pending_id, SessionPhase.PARKED
            lease, self.lease = self.lease, None
            await self.stop()
            self.lease, self.interruption, self.phase = lease, None, SessionPhase.PARKED
        self._task, self._pending, self.result = None, None, None
        self._handler = MCPCheckpointHandler()

    async def stop(self) -> None:
        """Cancel the task and release the lease. Stored steps stay."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._release_lease()

    def _release_lease(self) -> None:
        lease, self.lease = self.lease, None
        if lease is not None:
            lease.release()

    async def _run_search(self, services: SessionServices, request: SessionRequest, build: BuildWorkflow) -> None:
        journal = SessionJournal(services.store, self.session_id)
        try:
            if self.phase is SessionPhase.OPENING:
                await run_storage_call(
                    self.session_id, lambda: self._store_request_and_acquire_lease(services.store, request)
                )
                self.phase = SessionPhase.WORKING
            workflow = await asyncio.to_thread(
                build, checkpoint_handler=self, progress_reporter=self._record_progress, journal=journal
            )
            self._sources = workflow.available_sources
            result = await workflow.run(self.query, run_id=self.session_id)
            result.metadata.actor = request.actor
            ended = SessionEnd.from_result(result, services.clock.now())
            await journal.write("result", result)
            await journal.write("ended", ended)
            self.result = result
            self._set_end(ended)
        except SessionInterrupted as interruption:
            _log.warning("session interrupted", session_id=self.session_id, reason=interruption.message)
            self._set_interruption(interruption)
        except asyncio.CancelledError:
            self._set_interruption(SessionInterrupted(self.session_id, "it was stopped."))
            raise
        except Exception as exc:
            if is_out_of_room(exc) or (isinstance(exc, OSError) and exc.errno in _DISK_ERRORS):
                _log.exception("session interrupted", exc=exc, session_id=self.session_id)
                self._set_interruption(SessionInterrupted(self.session_id, f"{exc.strerror}."))
            else:
                await self._store_failure(exc, journal, services.clock.now())
        finally:
            self._release_lease()
            self._notify_callers()

    def _store_request_and_acquire_lease(self, store: SessionStore, request: SessionRequest) -> None:
        store.write(self.session_id, "session", request.model_dump_json(), create_session=True)
        self.lease = store.acquire_lease(self.session_id)

    def _set_interruption(self, interruption: SessionInterrupted) -> None:
        is_stored = self.phase is not SessionPhase.OPENING
        self.phase = SessionPhase.INTERRUPTED if is_stored else SessionPhase.NOT_OPENED
        self.interruption = interruption

    async def _store_failure(self, exc: Exception, journal: SessionJournal, now: datetime) -> None:
        _log.exception("search failed", exc=exc, session_id=self.session_id)
        error = clip_text(redact(describe_exception(exc)), _MAX_ERROR_CHARS)
        ended = SessionEnd(at=now, error=error, rounds=self._round, sources=self._reports)
        try:
            await journal.write("ended", ended)
        except SessionInterrupted as interruption:
            self._set_interruption(interruption)
            return
        self.error = ended.error
        self._set_end(ended)

    def _set_end(self, ended: SessionEnd) -> None:
        has_failed = ended.error is not None
        self._ended = ended
        self._reports = ended.sources
        self._search_phase = FAILED if has_failed else COMPLETED
        self.phase = SessionPhase.FAILED if has_failed else SessionPhase.COMPLETED
        self.is_complete = True

    async def handle(self, checkpoint: Checkpoint) -> Decision:
        """Store the checkpoint, add it to the inbox, and return its decision once there is one."""
        services, request = self._services, self._request
        assert services is not None
        assert request is not None
        if checkpoint.payload.collection is not None:
            checkpoint.payload.collection.metadata.actor = request.actor
        pending = PendingCheckpoint(checkpoint=checkpoint, sources=self._sources)
        journal = SessionJournal(services.store, self.session_id)
        await journal.write(f"checkpoint-{checkpoint.iteration}", pending)
        self._pending = pending
        self._reports = list_source_reports(checkpoint)
        decision = await self._add_to_inbox_and_find_decision(pending, services) or await self._handler.handle(
            checkpoint
        )
        self._decisions_taken = checkpoint.iteration + 1
        if self.phase is SessionPhase.WAITING:
            self.phase = SessionPhase.WORKING
        return decision

    async def _add_to_inbox_and_find_decision(
        self, pending: PendingCheckpoint, services: SessionServices
    ) -> Decision | None:
        """Add the checkpoint to the inbox; return the decision if the inbox already holds a valid one."""
        inbox = services.inbox
        entry = await run_storage_call(
            self.session_id, lambda: add_to_inbox(inbox, services.store, self.query, pending)
        )
        if entry.state != "decided":
            return None
        if (decision := _check_entry_or_none(entry, pending)) is None:
            await run_storage_call(self.session_id, lambda: inbox.reopen(entry.id))
        return decision

    def _set_waiting_and_notify(self) -> None:
        assert self._pending is not None
        assert self._services is not None
        self.phase = SessionPhase.WAITING
        self._decisions_taken = self._pending.checkpoint.iteration
        self._notify_callers()
        self._services.on_waiting()

    def _record_progress(self, phase: str, facts: ProgressFacts) -> None:
        if phase == "source_finished" and "report" in facts:
            report = SourceReport.model_validate(facts["report"])
            self._reports = [*self._reports, report]
            self._announce_source(report)
        elif phase != COMPLETED:  # the session is complete once its result is stored
            self._search_phase = phase
            self._round = facts.get("iteration", self._round)
        if phase in ("query_building", "searching"):
            self._reports, self._sources_asked = [], len(facts.get("sources", ()))
        self._notify_callers()

    def _announce_source(self, report: SourceReport) -> None:
        assert self._services is not None
        self._services.feed.publish(
            "source",
            self.session_id,
            name=report.name,
            status=report.status,
            returned=report.returned,
            reason=clip_text(report.reason, 200),
        )

    def _notify_callers(self) -> None:
        """Wake all calls that wait for the session, and announce its phase to other processes."""
        if self._services is not None:
            state = self.get_state()
            self._services.feed.publish(
                "session",
                self.session_id,
                phase=WAITING if state.pending else state.phase,
                round=state.round,
                checkpoint_id=state.checkpoint_id,
                checkpoint_kind=state.pending.checkpoint.kind.value if state.pending else None,
            )
        self.events += 1
        event, self._next_event = self._next_event, asyncio.Event()
        event.set()


def get_pending_or_raise(session: WorkflowSession | None, state: SessionState) -> PendingCheckpoint:
    """Return the checkpoint that can be decided now. Raise the error that explains why there is none."""
    if state.ended is not None:
        if state.ended.error is not None:
            raise SessionFailed(state.session_id, state.ended.error)
        raise SessionComplete(state.session_id)
    # The store shows only that there was a decision, not whether another process still carries it out.
    is_decided_elsewhere = session is None and state.pending is None and state.iteration > 0
    if is_decided_elsewhere or (session is not None and session.decision_lock.locked()):
        raise CheckpointBusy(state.session_id, state.checkpoint_id)
    if state.pending is None:
        raise NoPendingCheckpoint(state.session_id, state.phase)
    return state.pending


def _check_entry_or_none(entry: InboxEntry, pending: PendingCheckpoint) -> CheckedDecision | None:
    """Return the checked decision of an inbox entry, or None if it does not fit the checkpoint."""
    assert entry.decision is not None
    try:
        return check_inbox_decision(entry.decision, pending, entry.door, entry.actor)
    except InvalidDecision as refusal:
        _log.warning("a decision in the inbox is invalid", checkpoint_id=entry.id, reason=refusal.message)
        return None
