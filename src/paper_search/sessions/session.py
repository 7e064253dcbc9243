"""One session: a search running in a task, held at its checkpoints, kept on disk as it goes."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from paper_search.errors import InvalidDecision, SessionInterrupted
from paper_search.models import PaperCollection, SourceReport
from paper_search.sessions.answers import from_inbox
from paper_search.sessions.handler import MCPCheckpointHandler
from paper_search.sessions.journal import StoredJournal, kept
from paper_search.sessions.state import (
    COMPLETED,
    FAILED,
    PART,
    WORKING,
    Asked,
    Ended,
    SessionState,
    Waiting,
    reports_of,
)
from paper_search.sessions.store import Held, SessionStore
from paper_search.sessions.views import checkpoint_payload, clipped, question
from paper_search.workflow.checkpoints import Checkpoint, Decision
from paper_search.workflow.engine import SearchWorkflow
from uraniborg.kernel.clock import Clock
from uraniborg.kernel.errors import describe_exception, is_out_of_room
from uraniborg.kernel.inbox import Entry, InboxPort
from uraniborg.kernel.logging import get_logger, redact

Listener = Callable[["WorkflowSession"], Awaitable[None]]
BuildWorkflow = Callable[..., SearchWorkflow]
"""Called with the checkpoint_handler, progress_reporter and journal of a session, in a thread."""

_LONGEST_ERROR: Final = 2_000

_FAILING_DISK: Final = {errno.EIO, errno.EROFS}

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ground:
    """What the sessions of one process stand on."""

    store: SessionStore
    inbox: InboxPort
    clock: Clock
    on_asked: Callable[[], None]
    """Told when a session has begun to wait for a decision."""


@dataclass(eq=False)
class WorkflowSession:
    """A search that this process runs, or has run.

    `interruption` is set when the search had to stop because it could not be kept; it can be continued from the store.
    """

    session_id: str
    query: str
    _handler: MCPCheckpointHandler = field(default_factory=MCPCheckpointHandler)
    _task: asyncio.Task[None] | None = None
    result: PaperCollection | None = None
    error: str | None = None
    is_complete: bool = False
    interruption: SessionInterrupted | None = None
    lease: Held | None = None
    is_kept: bool = False
    """Whether it is on disk."""
    last_used: datetime = field(default_factory=lambda: datetime.now(UTC))
    events: int = 0
    """How much has happened so far."""
    in_use: int = 0
    """How many calls are waiting for it."""
    aside: str | None = None
    """The checkpoint at which it was laid aside, while it is."""
    deciding: bool = False
    """Whether a call is having a decision carried out."""
    _asked_at: datetime | None = None
    _max_rounds: int = 0
    _was_waiting: bool = False
    _decided: int = 0
    """How many decisions were taken before it was started, or since."""
    _answered: bool = False
    """Whether the pending checkpoint has its decision, which the search has not taken up yet."""
    _ended: Ended | None = None
    _waiting: Waiting | None = None
    _phase: str = WORKING
    _round: int = 0
    _reports: list[SourceReport] = field(default_factory=list[SourceReport])
    _sources_asked: int = 0
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self, ground: Ground, asked: Asked, build: BuildWorkflow, *, stored: SessionState | None = None) -> None:
        """Run the search in a task: from where it is `stored`, which takes a lease, or else from the beginning."""
        self._asked_at, self._max_rounds = asked.at, asked.max_rounds
        self._was_waiting = stored is not None and stored.waiting is not None
        self._decided = stored.iteration if stored else 0
        self._round = stored.round if stored else 0
        self.aside = None

        def asks() -> None:
            self._tell()
            ground.on_asked()

        self._handler = MCPCheckpointHandler(asks)
        self._task = asyncio.create_task(self._run(ground, asked, build), name=self.session_id)

    @property
    def waiting(self) -> Waiting | None:
        """The checkpoint that a decision would be taken for now, or None."""
        return self._waiting if self._handler.has_pending_checkpoint and not self._answered else None

    @property
    def asks(self) -> str | None:
        """The id of the checkpoint it waits at, also when it was laid aside there."""
        waiting = self.waiting
        return waiting.checkpoint.checkpoint_id if waiting else self.aside

    @property
    def is_coming_back(self) -> bool:
        """Whether it is on its way to the checkpoint at which it was before it left memory."""
        return self._was_waiting and not (self._handler.current_checkpoint or self._ended or self.interruption)

    @property
    def is_idle(self) -> bool:
        """Whether nothing happens in it until somebody calls."""
        at_rest = self.is_complete or self.waiting or self.aside or self.interruption
        return bool(at_rest) and not (self.in_use or self.deciding)

    def state(self) -> SessionState:
        asked_at = self._asked_at
        assert asked_at is not None
        last = self._handler.current_checkpoint
        waiting = self.waiting
        return SessionState(
            self.session_id,
            self.query,
            asked_at,
            self._max_rounds,
            phase=self._phase,
            iteration=max(self._decided, 0 if last is None else last.iteration + (0 if waiting else 1)),
            round=self._ended.rounds if self._ended else self._round,
            waiting=waiting,
            ended=self._ended,
            sources=self._reports,
            sources_asked=self._sources_asked,
        )

    async def wait(self, past: str | None, within_s: float, tell: Listener) -> None:
        """Until the session has left the checkpoint `past` behind and ended or come to another; or until time is up.

        `tell` is awaited whenever something has happened on the way.
        """
        try:
            async with asyncio.timeout(within_s):
                while not (self.interruption or self.state().has_left(past)):
                    news = self._news
                    await tell(self)
                    await news.wait()
        except TimeoutError:
            return

    async def settle(self, entry: Entry, ground: Ground) -> None:
        """Go on with the decision that the inbox holds for the pending checkpoint, if it is that.

        A decision that does not fit its checkpoint, which no door of ours lets in, is forgotten, and asked for again.
        """
        waiting = self.waiting
        if waiting is None or waiting.checkpoint.checkpoint_id != entry.id or entry.state != "decided":
            return
        if (decision := _usable(entry, waiting)) is not None:
            self._answered = True
            self._handler.set_decision(decision)
        else:
            await kept(self.session_id, lambda: ground.inbox.reopen(entry.id))

    async def lay_aside(self) -> None:
        """Free the memory of a session at rest. It keeps its lease; `start` brings it to where it was."""
        self._decided = self.state().iteration
        if (waiting := self.waiting) is not None:
            self.aside = waiting.checkpoint.checkpoint_id
            lease, self.lease = self.lease, None
            await self.stop()
            self.lease, self.interruption = lease, None
        self._task, self._waiting, self.result = None, None, None
        self._handler = MCPCheckpointHandler()

    async def stop(self) -> None:
        """End the task and let others run the session. What was kept stays."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._let_go()

    def _let_go(self) -> None:
        lease, self.lease = self.lease, None
        if lease is not None:
            lease.release()

    async def _run(self, ground: Ground, asked: Asked, build: BuildWorkflow) -> None:
        journal = StoredJournal(ground.store, self.session_id)
        try:
            if self.lease is None:
                await kept(self.session_id, lambda: self._open(ground.store, asked))
            self.is_kept = True
            handler = _Kept(self, ground, journal)
            workflow = await asyncio.to_thread(
                build, checkpoint_handler=handler, progress_reporter=self._note, journal=journal
            )
            handler.sources = workflow.available_sources
            result = await workflow.run(self.query, run_id=self.session_id)
            ended = Ended.well(result, ground.clock.now())
            await journal.keep("result", result)
            await journal.keep("ended", ended)
            self.result = result
            self._end(ended, COMPLETED)
        except SessionInterrupted as interruption:
            _log.warning("session interrupted", session_id=self.session_id, reason=interruption.message)
            self.interruption = interruption
        except asyncio.CancelledError:
            self.interruption = SessionInterrupted(self.session_id, "it was stopped.")
            raise
        except Exception as exc:
            if is_out_of_room(exc) or (isinstance(exc, OSError) and exc.errno in _FAILING_DISK):
                _log.exception("session interrupted", exc=exc, session_id=self.session_id)
                self.interruption = SessionInterrupted(self.session_id, f"{exc.strerror}.")
            else:
                await self._fail(exc, journal, ground.clock.now())
        finally:
            self._let_go()
            self._tell()

    def _open(self, store: SessionStore, asked: Asked) -> None:
        store.write(self.session_id, "session", asked.model_dump_json(), first=True)
        self.lease = store.lease(self.session_id)

    async def _fail(self, exc: Exception, journal: StoredJournal, now: datetime) -> None:
        _log.exception("search failed", exc=exc, session_id=self.session_id)
        error = clipped(redact(describe_exception(exc)), _LONGEST_ERROR)
        ended = Ended(at=now, error=error, rounds=self._round, sources=self._reports)
        try:
            await journal.keep("ended", ended)
        except SessionInterrupted as interruption:
            self.interruption = interruption
            return
        self.error = ended.error
        self._end(ended, FAILED)

    def _end(self, ended: Ended, phase: str) -> None:
        self._ended = ended
        self._reports = ended.sources
        self._phase = phase
        self.is_complete = True

    async def ask(self, checkpoint: Checkpoint, sources: list[str], ground: Ground, journal: StoredJournal) -> Decision:
        """Put the checkpoint into the inbox and wait for its decision, from whichever door it comes."""
        waiting = Waiting(checkpoint=checkpoint, sources=sources)
        await journal.keep(f"checkpoint-{checkpoint.iteration}", waiting)
        self._waiting, self._answered = waiting, False
        self._reports = reports_of(checkpoint)
        decision = await self._decided_before(waiting, ground) or await self._handler.handle(checkpoint)
        self._decided = checkpoint.iteration + 1
        return decision

    async def _decided_before(self, waiting: Waiting, ground: Ground) -> Decision | None:
        """Put the checkpoint into the inbox; the decision if it has one already."""
        entry = await kept(self.session_id, lambda: put_question(ground.inbox, self.query, waiting))
        if entry.state != "decided":
            return None
        if (decision := _usable(entry, waiting)) is None:
            self._decided = waiting.checkpoint.iteration
            await kept(self.session_id, lambda: ground.inbox.reopen(entry.id))
        return decision

    def _note(self, phase: str, facts: dict[str, Any]) -> None:
        if phase == "source_finished":
            self._reports = [*self._reports, SourceReport.model_validate(facts["report"])]
        elif phase != COMPLETED:  # which it is once its result is kept
            self._phase = phase
            self._round = facts.get("iteration", self._round)
        if phase in ("query_building", "searching"):
            self._reports, self._sources_asked = [], len(facts.get("sources", ()))
        self._tell()

    def _tell(self) -> None:
        """Wake all who wait for news."""
        self.events += 1
        news, self._news = self._news, asyncio.Event()
        news.set()


class _Kept:
    """The checkpoint handler that the engine knows: the session's, by way of the store and the inbox."""

    def __init__(self, session: WorkflowSession, ground: Ground, journal: StoredJournal) -> None:
        self._session = session
        self._ground = ground
        self._journal = journal
        self.sources: list[str] = []

    async def handle(self, checkpoint: Checkpoint) -> Decision:
        return await self._session.ask(checkpoint, self.sources, self._ground, self._journal)


def put_question(inbox: InboxPort, query: str, waiting: Waiting) -> Entry:
    """Put the checkpoint into the inbox; what stands there already stays."""
    checkpoint = waiting.checkpoint
    shown = {"query": query, "question": question(checkpoint), **checkpoint_payload(checkpoint)}
    return inbox.put(checkpoint.checkpoint_id, PART, checkpoint.kind.value, checkpoint.run_id, shown)


def _usable(entry: Entry, waiting: Waiting) -> Decision | None:
    assert entry.decision is not None
    try:
        return from_inbox(entry.decision, waiting, entry.door)
    except InvalidDecision as refusal:
        _log.warning("a decision in the inbox cannot be used", checkpoint_id=entry.id, reason=refusal.message)
        return None
