"""Apply decisions of other processes to sessions, and free memory and disk, in the background."""

import asyncio
from typing import Final

from paper_search.service.sessions.session import SessionPhase, SessionServices
from paper_search.service.sessions.session_registry import SessionRegistry
from paper_search.store.session_state import PART
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.store.inbox_entries import Position

POLL_S: Final = 0.05
"""The interval at which the work of other processes is polled."""
_ERROR_PAUSE_S: Final = 1.0
_CLEANUP_INTERVAL_S: Final = 60.0
_EXPIRY_INTERVAL: Final = 1_440
"""Expired sessions are deleted once in this many cleanups: once a day."""

_MAX_DECIDED: Final = 1_000
"""The maximum number of sessions that a look at the inbox starts to run."""

_log = get_logger(__name__)


class BackgroundTasks:
    """The background tasks of one event loop."""

    def __init__(self, sessions: SessionRegistry, services: SessionServices) -> None:
        self._sessions = sessions
        self._services = services
        self._tasks: list[asyncio.Task[None]] = []
        self._has_new_checkpoint = False
        self._decided_until: Position | None = None

    def start(self) -> None:
        """Start the tasks, unless they run."""
        if not self._tasks:
            self._tasks = [asyncio.create_task(work()) for work in (self._poll_decisions, self._clean_up_periodically)]

    def reset_for_new_loop(self) -> None:
        """Prepare for another event loop."""
        self._tasks = []

    def request_decision_poll(self) -> None:
        """Look for decisions again: one may have been stored before its session started to wait."""
        self._has_new_checkpoint = True

    async def run_sessions_decided_from_now_on(self) -> None:
        """Also run every stored session that is decided from now on and that no process runs."""
        latest = await asyncio.to_thread(self._services.inbox.list_entries, "decided", PART, limit=1)
        self._decided_until = latest.next or 0
        self.start()

    async def stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _poll_decisions(self) -> None:
        seen = None
        while True:
            await asyncio.sleep(POLL_S)
            if not self._sessions.list_all() and self._decided_until is None:
                continue
            try:
                revision = await asyncio.to_thread(self._services.inbox.revision)
                if revision != seen or self._has_new_checkpoint:
                    self._has_new_checkpoint = False
                    await self._apply_decisions()
                    await self._run_decided_sessions()
                    seen = revision
            except Exception as exc:
                _log.exception("decisions cannot be read from the inbox", exc=exc)
                self._has_new_checkpoint = True
                await asyncio.sleep(_ERROR_PAUSE_S)

    async def _apply_decisions(self) -> None:
        """Pass decisions from the inbox to their sessions, and stop sessions that another process has deleted."""
        inbox = self._services.inbox
        waiting = {pending: session for session in self._sessions.list_all() if (pending := session.pending_id)}
        for entry in await asyncio.to_thread(inbox.settled, list(waiting)):
            session = waiting[entry.id]
            try:
                if session.phase is SessionPhase.PARKED:
                    await self._sessions.find_or_restore_session(session.session_id)
                else:
                    await session.accept_entry_or_reopen(entry)
            except UraniborgError as error:
                _log.warning("a session cannot continue", session_id=session.session_id, reason=error.message)
        for deleted in await asyncio.to_thread(inbox.missing, list(waiting)):
            await self._sessions.drop_deleted(waiting[deleted])

    async def _run_decided_sessions(self) -> None:
        """Run the sessions that were decided since the last look, unless a process runs them or they are complete."""
        if self._decided_until is None:
            return
        latest = await asyncio.to_thread(self._services.inbox.list_entries, "decided", PART, limit=1)
        decided = await asyncio.to_thread(
            self._services.inbox.list_entries, "decided", PART, limit=_MAX_DECIDED, after=self._decided_until
        )
        self._decided_until = latest.next or 0
        for session_id in {entry.subject for entry in decided.entries}:
            try:
                await self._sessions.restore_unless_leased(session_id)
            except UraniborgError as error:
                _log.warning("a decided session cannot run", session_id=session_id, reason=error.message)

    async def _clean_up_periodically(self) -> None:
        count = 0
        while True:
            try:
                if count % _EXPIRY_INTERVAL == 0:
                    await self._sessions.delete_expired()
                await self._sessions.unload_idle()
                await self._sessions.park_idle()
            except Exception as exc:
                _log.exception("sessions cannot be cleaned up", exc=exc)
            count += 1
            await asyncio.sleep(_CLEANUP_INTERVAL_S)
