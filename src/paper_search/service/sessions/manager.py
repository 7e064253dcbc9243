"""Open sessions, take decisions, and return states, papers and results."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from paper_search.config import AppConfig, SessionsConfig, load_config
from paper_search.domain.review_models import AGENT
from paper_search.errors import (
    InvalidQuery,
    NoPapersYet,
    SessionFailed,
    SessionInterrupted,
    SessionNotComplete,
    SessionNotFound,
    SessionNotOpened,
)
from paper_search.models import PaperCollection
from paper_search.service.checkpoint_replies import PapersPage
from paper_search.service.review.paper_pages import build_papers_page, build_query_page, build_removed_page
from paper_search.service.session_replies import (
    ExportPage,
    ExportSummary,
    QueryPage,
    RemovedPage,
    SessionEntries,
    SessionEntry,
    SessionReply,
)
from paper_search.service.sessions.background_tasks import BackgroundTasks
from paper_search.service.sessions.checkpoint_decisions import CheckpointDecisions, Decider
from paper_search.service.sessions.event_loops import LoopRunner, WorkflowFactory
from paper_search.service.sessions.reply_builder import (
    MOST_PAPERS,
    build_export_page,
    build_export_summary,
    build_list_entry,
    build_reply,
)
from paper_search.service.sessions.session import Listener, SessionPhase, SessionServices, WorkflowSession
from paper_search.service.sessions.session_registry import (
    SessionRegistry,
    choose_session_id,
    find_id_prefix,
    find_session_id,
    ignore_progress,
    match_only_id,
)
from paper_search.service.sessions.session_steps import SessionSteps
from paper_search.store.saved_marks import MarkStore
from paper_search.store.session_files import SessionFiles, SessionStore
from paper_search.store.session_state import SessionRequest, SessionState, summarize_session
from paper_search.workflow.checkpoints import Checkpoint, Decision, StrategyPayload
from paper_search.workflow.engine import SearchWorkflow
from paper_search.workflow.input_checks import check_query
from uraniborg.kernel.actors import Actor, get_process_actor
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.kernel.store.batched_change_feed import QueuedChangeFeed
from uraniborg.kernel.store.change_feed import Publisher
from uraniborg.kernel.store.inbox import Inbox, InboxPort
from uraniborg.kernel.store.sqlite import DatabaseUnusable

MAX_LISTED_SESSIONS: Final = 50
"""The default of the maximum number of sessions in a list."""
DEFAULT_DOOR: Final = AGENT
"""The default name of the interface through which a decision comes."""


class SessionManager:
    """The sessions of one process. All methods may be called from any thread and any event loop.

    Sessions are in `store` and their checkpoints in `inbox`, by default in the data folder, which processes share. The
    process that holds the lease of a session runs it; every process may decide.
    """

    def __init__(
        self,
        *,
        settings: SessionsConfig | None = None,
        store: SessionStore | None = None,
        inbox: InboxPort | None = None,
        marks: MarkStore | None = None,
        feed: Publisher | None = None,
        clock: Clock | None = None,
        configure: Callable[[], AppConfig] = load_config,
        build: Callable[..., SearchWorkflow] | None = None,
        require_person: bool = False,
    ) -> None:
        """Use these parts in place of the default ones. With `require_person`, refuse the decisions of agents."""
        self._settings = settings or SessionsConfig()
        self._feed = feed or QueuedChangeFeed()
        self._services = SessionServices(
            store or SessionFiles(), inbox or Inbox(), clock or SystemClock(), self._request_decision_poll, self._feed
        )
        self.marks: Final = marks or MarkStore()
        """The marks of unfinished reviews."""
        decisions = CheckpointDecisions(
            self._services.store, self._services.inbox, self.marks, require_person=require_person
        )
        self._workflows = WorkflowFactory()
        self._sessions = SessionRegistry(self._services, self._settings, configure, build or self._workflows.build)
        self._background = BackgroundTasks(self._sessions, self._services)
        self._steps = SessionSteps(self._services, self._settings, self._sessions, self._background, decisions)
        self._loop = LoopRunner(on_change=self._reset_for_new_loop)
        self._deletions: set[asyncio.Task[None]] = set()

    @property
    def inbox(self) -> InboxPort:
        """The inbox of the checkpoints."""
        return self._services.inbox

    @property
    def store(self) -> SessionStore:
        """The store of the sessions."""
        return self._services.store

    @property
    def reply_within_s(self) -> float:
        """The time within which a call replies, in seconds."""
        return self._settings.reply_within_s

    def create(self, query: str, config: AppConfig, *, actor: Actor | None = None) -> str:
        """Open a session, start its search in the background, and return its id. Raise InvalidQuery.

        `actor` is who starts it, by default the program that runs this process. The session is stored once it waits at
        its first checkpoint or has ended.
        """
        starter = actor or get_process_actor()
        request = SessionRequest.from_config(check_query(query), config, self._services.clock.now(), starter)
        session_id = new_id()
        self._loop.call_function(lambda: self._start_session(session_id, request, config))
        return session_id

    def get(self, session_id: str) -> WorkflowSession | None:
        """Return the session if it is in memory, or None; stored sessions are not loaded."""
        return self._sessions.get(session_id)

    async def decide(
        self,
        session_id: str,
        decision: Decision,
        *,
        checkpoint_id: str | None = None,
        door: str = DEFAULT_DOOR,
        actor: Actor | None = None,
        reviewer: str | None = None,
        on_progress: Listener = ignore_progress,
        reply_within_s: float | None = None,
    ) -> SessionReply:
        """Apply the decision to the pending checkpoint, once, and return the state that it leads to.

        At a review the stored marks, merges and splits of all reviewers are part of the decision; those of `reviewer`
        are the decider's own. `door` is the interface through which the decision came, and `actor` who decided. Reply
        after `reply_within_s` seconds, by default those of the settings.
        With the id of a checkpoint that was decided before, nothing is decided: the reply states the earlier decision
        and the present state. Raise SessionNotFound, SessionComplete, SessionFailed, NoPendingCheckpoint,
        CheckpointBusy, CheckpointNotFound, PersonRequired, InvalidDecision or SessionInterrupted; the checkpoint stays
        pending then. An approval whose note asks for something raises NoteAsksForChange, once.
        """
        session_id = await self._read_session_id(session_id)
        checkpoint_id = checkpoint_id and make_encodable(checkpoint_id)
        return await self._loop.run(
            self._steps.decide(
                session_id, decision, checkpoint_id, Decider(door, actor, reviewer), on_progress, reply_within_s
            )
        )

    def cleanup(self, session_id: str, *, actor: Actor | None = None) -> None:
        """Cancel the session if it runs, and delete it permanently. Blocks while it deletes.

        Nothing of the session is left: the log of changes states which `actor` deleted it.
        """
        session_id = make_encodable(session_id)
        session = self.get(session_id)
        if session is not None:
            self._sessions.remove(session)
            if self._loop.is_current_loop:
                self._deletions.add(deletion := asyncio.create_task(self._stop_and_delete(session)))
                deletion.add_done_callback(self._deletions.discard)
            else:
                self._loop.run_and_wait(session.stop())
        if self._sessions.delete(session_id) or session is not None:
            record_change("session deleted", session_id, actor)

    async def start(
        self,
        query: str,
        config: AppConfig,
        *,
        on_progress: Listener = ignore_progress,
        actor: Actor | None = None,
    ) -> SessionReply:
        """Open a session and return its state at its first checkpoint, or at its end.

        `actor` is who starts it, by default the program that runs this process. Raise InvalidQuery, UnknownDomain,
        UnknownSource or InvalidInput; no session is opened then.
        """
        return await self._loop.run(self._open_session_and_wait(query, config, on_progress, actor))

    async def wait_until_passed(
        self, session_id: str, checkpoint_id: str, timeout_s: float, *, on_progress: Listener = ignore_progress
    ) -> SessionReply:
        """Return the state of a session that has passed this checkpoint, or the present one after the timeout.

        Raise SessionNotFound, SessionFailed or SessionInterrupted.
        """
        state = await self._loop.run(self._steps.wait_until_passed(session_id, checkpoint_id, on_progress, timeout_s))
        return self._steps.build_reply_or_raise(state)

    async def get_state(self, session_id: str) -> SessionReply:
        """Return the state of the session, also of a failed one. Raise SessionNotFound."""
        return await self._loop.run(self._get_state(await self._read_session_id(session_id)))

    async def get_result(self, session_id: str) -> PaperCollection:
        """Return the papers of a complete session. Raise SessionNotFound, SessionNotComplete or SessionFailed."""
        return await self._loop.run(self._get_result(await self._read_session_id(session_id)))

    async def get_papers(self, session_id: str, offset: int = 0) -> PapersPage:
        """Return a page of the papers under review, or of the result.

        Raise SessionNotFound, NoPapersYet or SessionFailed.
        """
        session_id = await self._read_session_id(session_id)
        await self._loop.run(self._steps.find_or_restore_session(session_id))
        return build_papers_page(session_id, await self.get_collection(session_id), offset)

    async def get_removed_papers(self, session_id: str, offset: int = 0) -> RemovedPage:
        """Return a page of the screened papers that are not in the result. Raise as `get_papers`."""
        session_id = await self._read_session_id(session_id)
        await self._loop.run(self._steps.find_or_restore_session(session_id))
        return build_removed_page(session_id, await self.get_collection(session_id), offset)

    async def get_export_page(self, session_id: str, offset: int = 0) -> ExportPage:
        """Return a page of the JSON export of a complete session. Raise as `get_result`."""
        session_id = await self._read_session_id(session_id)
        return await asyncio.to_thread(build_export_page, session_id, await self.get_result(session_id), offset)

    async def get_export_summary(self, session_id: str) -> ExportSummary | None:
        """Return the summary of a JSON export that is too long for one reply; otherwise None. Raise as `get_result`."""
        session_id = await self._read_session_id(session_id)
        collection = await self.get_result(session_id)
        return build_export_summary(session_id, collection) if len(collection.papers) > MOST_PAPERS else None

    async def get_queries(self, session_id: str, offset: int = 0) -> QueryPage:
        """Return a page of the queries of the pending strategy, or of the last one searched. Raise as `get_papers`."""
        session_id = await self._read_session_id(session_id)
        await self._loop.run(self._steps.find_or_restore_session(session_id))
        state = await self.peek_state(session_id)
        if state.pending and isinstance(payload := state.pending.checkpoint.payload, StrategyPayload):
            return build_query_page(session_id, payload.strategy, offset)
        collection = await self.get_collection(session_id)
        return build_query_page(session_id, collection.metadata.search_strategy, offset)

    async def get_collection(self, session_id: str) -> PaperCollection:
        """Return the papers under review or so far, or the result: do not change them. Raise as `get_papers`."""
        return await self._loop.run(self._get_collection(await self._read_session_id(session_id)))

    async def peek_state(self, session_id: str) -> SessionState:
        """Return the state of the session, which the caller must not change; a session that nobody runs stays so.

        Raise SessionNotFound or SessionInterrupted.
        """
        return await self._loop.run(self._peek_state(await self._read_session_id(session_id)))

    async def resolve_id_prefix(self, prefix: str) -> str:
        """Return `prefix` if it is the id of a session, or else the one id that begins with it.

        Raise SessionNotFound or InvalidInput.
        """
        names = await asyncio.to_thread(self._services.store.list_last_uses)
        return choose_session_id(prefix, names)

    async def _read_session_id(self, text: str) -> str:
        """Return the session id in `text`, also in an address or a checkpoint id, or the one id that starts with it.

        Raise SessionNotFound with the nearest ids, or InvalidInput.
        """
        found = find_session_id(text)
        given = found or find_id_prefix(text) or text
        try:
            if found and (self.get(found) or await asyncio.to_thread(self._services.store.has_session, found)):
                return found
            return await self.resolve_id_prefix(given)
        except OSError:
            return given  # the session is read next, which describes the problem of the disk

    async def run_sessions_decided_from_now_on(self) -> None:
        """Run every stored session here that is decided from now on, unless another process runs it."""
        await self._loop.run(self._background.run_sessions_decided_from_now_on())

    async def get_pending_checkpoint(self, session_id: str) -> Checkpoint | None:
        """Return the pending checkpoint, or None. Raise SessionNotFound or SessionInterrupted."""
        _, state = await self._loop.run(self._steps.find_or_restore_session(session_id))
        return state.pending.checkpoint if state.pending else None

    async def list_sessions(self, limit: int = MAX_LISTED_SESSIONS) -> SessionEntries:
        """Return the summaries of the sessions used last, at most `limit`, and the number of all sessions."""
        return await asyncio.to_thread(self._list_sessions, limit)

    async def unload_idle(self) -> None:
        """Remove the sessions from memory that were not used for `idle_s` seconds."""
        await self._loop.run(self._sessions.unload_idle())

    async def park_idle(self) -> None:
        """Free the memory of the sessions that were not used for a minute. They still wait for their decisions."""
        await self._loop.run(self._sessions.park_idle())

    async def delete_expired(self, *, actor: Actor | None = None) -> None:
        """Delete the stored sessions that were not used for `retention_days`, unless a process runs them.

        `actor` is who asks for it, by default the program that runs this process; the log of changes states it.
        """
        await self._loop.run(self._sessions.delete_expired(actor))

    async def aclose(self) -> None:
        """Stop all sessions, which can be continued later, and close the inbox and the network."""
        await self._loop.run(self._close_all())

    async def _close_all(self) -> None:
        await self._background.stop()
        await self._sessions.stop_all()
        await asyncio.gather(*self._deletions)
        await self._workflows.aclose()
        await asyncio.to_thread(self._services.inbox.close)
        await asyncio.to_thread(self._feed.close)

    def _list_sessions(self, limit: int) -> SessionEntries:
        store, inbox = self._services.store, self._services.inbox
        uses = store.list_last_uses()
        listed: list[SessionEntry] = []
        for session_id, last_used in list(uses.items())[:limit]:
            with suppress(SessionNotFound):  # another process has deleted it
                try:
                    listed.append(build_list_entry(summarize_session(store, inbox, session_id, last_used)))
                except (SessionInterrupted, DatabaseUnusable) as problem:
                    listed.append({"session_id": session_id, "phase": "unreadable", "error": problem.message})
        return {"sessions": listed, "total": len(uses)}

    def _start_session(self, session_id: str, request: SessionRequest, config: AppConfig) -> None:
        self._background.start()
        self._sessions.open_session(session_id, request, config)

    def _request_decision_poll(self) -> None:
        self._background.request_decision_poll()

    def _reset_for_new_loop(self) -> None:
        self._sessions.reset_for_new_loop()
        self._background.reset_for_new_loop()
        self._workflows.forget_network()

    async def _stop_and_delete(self, session: WorkflowSession) -> None:
        """Stop the session, and delete the steps that it stored meanwhile."""
        await session.stop()
        await asyncio.to_thread(self._sessions.delete, session.session_id)

    async def _open_session_and_wait(
        self, query: str, config: AppConfig, on_progress: Listener, actor: Actor | None
    ) -> SessionReply:
        # A search that cannot run is refused before there is a session.
        check_query(query)
        if (named := match_only_id(query)) and await asyncio.to_thread(self._services.store.has_session, named):
            raise InvalidQuery(
                "The query is the id of a session, not words to search for.",
                hint=f"Call get_session with the session_id {named}.",
                session_id=named,
            )
        await asyncio.to_thread(self._sessions.check_config, config)
        session = self.get(self.create(query, config, actor=actor))
        assert session is not None
        try:
            await self._sessions.wait_until_passed(session, None, self._settings.reply_within_s, on_progress)
        except SessionInterrupted as interruption:
            if session.phase is not SessionPhase.NOT_OPENED:
                raise
            with suppress(UraniborgError):
                await asyncio.to_thread(self._services.store.delete, session.session_id)
            raise SessionNotOpened(interruption) from interruption
        return self._steps.build_reply_or_raise(session.get_state())

    async def _get_state(self, session_id: str) -> SessionReply:
        _, state = await self._steps.find_or_restore_session(session_id)
        return build_reply(state, self._services.clock.now())

    async def _get_result(self, session_id: str) -> PaperCollection:
        session, state = await self._steps.find_or_restore_session(session_id)
        if state.ended is None:
            raise SessionNotComplete(session_id, state.phase)
        if state.ended.error is not None:
            raise SessionFailed(session_id, state.ended.error)
        if session is not None and session.result is not None:
            return session.result
        return await asyncio.to_thread(self._sessions.read_result, session_id)

    async def _peek_state(self, session_id: str) -> SessionState:
        session = self.get(session_id)
        if session is not None and session.is_readable:
            return session.get_state()
        return await asyncio.to_thread(self._sessions.read_state, session_id)

    async def _get_collection(self, session_id: str) -> PaperCollection:
        """Return the papers under review, or those of the rounds before the pending strategy, or the result."""
        state = await self._peek_state(session_id)
        if state.ended is not None:
            return await self._get_result(session_id)
        if state.pending and (collection := state.pending.checkpoint.payload.collection):
            return collection
        raise NoPapersYet(session_id)
