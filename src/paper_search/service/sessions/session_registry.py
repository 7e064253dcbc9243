"""Hold the sessions of this process: open, restore, park, unload and delete them; find them by the id people write."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from pydantic import ValidationError

from paper_search.config import AppConfig, SessionsConfig
from paper_search.errors import SessionInterrupted, SessionNotFound
from paper_search.models import PaperCollection
from paper_search.service.sessions.session import Listener, SessionPhase, SessionServices, WorkflowSession
from paper_search.store.session_files import SessionLease, StepCache, read_step
from paper_search.store.session_state import PART, SessionRequest, SessionState, read_session_state
from paper_search.workflow.engine import SearchWorkflow
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.ids import match_id_prefix
from uraniborg.kernel.language.messages import find_nearest_ids
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.store.audit_log import record_change

_PARK_AFTER_S: Final = 60.0


async def ignore_progress(_session: WorkflowSession) -> None:
    """Do nothing: for callers that do not report progress."""


class SessionRegistry:
    """The sessions of one event loop. Any thread may call `get`, `list_all`, `remove` and `delete`.

    `configure` returns the present settings, for their keys, and `build` the workflow for a config.
    """

    def __init__(
        self,
        services: SessionServices,
        settings: SessionsConfig,
        configure: Callable[[], AppConfig],
        build: Callable[..., SearchWorkflow],
    ) -> None:
        self._services = services
        self._settings = settings
        self._configure = configure
        self._build = build
        self._steps = StepCache(services.store)
        self._sessions: dict[str, WorkflowSession] = {}
        self._lock = threading.Lock()
        self._load_lock = asyncio.Lock()

    def reset_for_new_loop(self) -> None:
        """Prepare for another event loop."""
        self._load_lock = asyncio.Lock()

    def get(self, session_id: str) -> WorkflowSession | None:
        """Return the session if it is in memory, or None."""
        with self._lock:
            return self._sessions.get(session_id)

    def list_all(self) -> list[WorkflowSession]:
        """Return all sessions in memory."""
        with self._lock:
            return list(self._sessions.values())

    def remove(self, session: WorkflowSession) -> None:
        """Remove the session from memory without stopping it."""
        with self._lock:
            if self._sessions.get(session.session_id) is session:
                del self._sessions[session.session_id]

    async def drop_deleted(self, session: WorkflowSession) -> None:
        """Remove a session from memory, and stop it: another process has deleted it from the store."""
        self.remove(session)
        await session.stop()

    async def drop_if_deleted(self, session_id: str) -> None:
        """Remove a waiting session from memory if another process has deleted it from the store."""
        session = self.get(session_id)
        if session is None or session.pending_id is None:
            return
        if not await asyncio.to_thread(self._services.store.has_session, session_id):
            await self.drop_deleted(session)

    def check_config(self, config: AppConfig) -> None:
        """Raise the error of a config that no search can be built for. May read the disk."""
        self._build(config)

    def open_session(
        self,
        session_id: str,
        request: SessionRequest,
        config: AppConfig,
        lease: SessionLease | None = None,
        stored: SessionState | None = None,
    ) -> WorkflowSession:
        """Run a new session, or with its lease a stored one."""
        session = WorkflowSession(session_id, request.query, lease=lease, last_used=self._services.clock.now())
        session.start(self._services, request, partial(self._build, config), stored=stored)
        with self._lock:
            self._sessions[session_id] = session
        return session

    async def find_or_restore_session(self, session_id: str) -> tuple[WorkflowSession | None, SessionState]:
        """Return the session and its state; a stored session that no process runs is restored.

        The session is None if another process runs it, or if it is complete and not in memory. Raise SessionNotFound or
        SessionInterrupted.
        """
        session = self.get(session_id)
        if session is None or session.interruption or session.phase is SessionPhase.PARKED:
            session = await self.restore_unless_leased(session_id)
        if session is None:
            return None, await asyncio.to_thread(self.read_state, session_id)
        session.last_used = self._services.clock.now()
        if session.phase is SessionPhase.RESTORING:
            await self.wait_until_passed(session, None, self._settings.reply_within_s)
        return session, session.get_state()

    async def restore_unless_leased(self, session_id: str) -> WorkflowSession | None:
        """Return the session, run by this process; None if another process runs it, or if it is complete."""
        async with self._load_lock:
            return await self._get_or_restore_session(session_id)

    async def wait_until_passed(
        self,
        session: WorkflowSession,
        checkpoint_id: str | None,
        timeout_s: float,
        on_progress: Listener = ignore_progress,
    ) -> None:
        """Wait until the session has passed the checkpoint, or until the timeout. Raise SessionInterrupted."""
        session.callers += 1
        try:
            await session.wait_until_passed(checkpoint_id, timeout_s, on_progress)
        finally:
            session.callers -= 1
            session.last_used = self._services.clock.now()
        if session.interruption is not None:
            self.remove(session)
            raise session.interruption

    def read_result(self, session_id: str) -> PaperCollection:
        """Return the stored result of a complete session, which the caller must not change."""
        return self._steps.read(session_id, "result", PaperCollection)

    def read_state(self, session_id: str) -> SessionState:
        """Return the stored state of a session, which the caller must not change."""
        return read_session_state(self._services.store, self._services.inbox, session_id, self._steps)

    async def unload_idle(self) -> None:
        """Remove the sessions from memory that were not used for `idle_s` seconds."""
        for session in self._list_idle(self._settings.idle_s):
            self.remove(session)
            await session.stop()

    async def park_idle(self) -> None:
        """Free the memory of the sessions that were not used for a minute."""
        for session in self._list_idle(_PARK_AFTER_S):
            async with self._load_lock:
                if session.is_idle and session.interruption is None and session.phase is not SessionPhase.PARKED:
                    await session.park()

    async def delete_expired(self, actor: Actor | None = None) -> None:
        """Delete the stored sessions that were not used for `retention_days`, unless a process runs them.

        `actor` is who asks for it, by default the program that runs this process.
        """
        horizon = self._services.clock.now() - timedelta(days=self._settings.retention_days)
        for session_id in await asyncio.to_thread(self._services.store.list_unused_since, horizon):
            async with self._load_lock:  # a call that is restoring the session counts as its use
                if self.get(session_id) is None:
                    await asyncio.to_thread(self._delete_if_unused, session_id, horizon, actor)

    async def stop_all(self) -> None:
        """Stop all sessions and remove them from memory."""
        with self._lock:
            sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.stop()

    def delete(self, session_id: str) -> bool:
        """Delete the session from the inbox, from the store, and what was added to the inbox in between.

        Return False if it was not stored. A process that is killed meanwhile leaves no entry without a session.
        """
        self._services.inbox.forget(PART, session_id)
        is_stored = False
        with suppress(SessionNotFound):
            is_stored = self._services.store.has_session(session_id)
            self._services.store.delete(session_id)
        self._services.inbox.forget(PART, session_id)
        self._services.feed.publish("session", session_id, phase="deleted")
        return is_stored

    async def _get_or_restore_session(self, session_id: str) -> WorkflowSession | None:
        session = self.get(session_id)
        if session is not None and session.phase is SessionPhase.PARKED:
            state = await asyncio.to_thread(self.read_state, session_id)
            request, config = await asyncio.to_thread(self._read_request_and_config, session_id)
            session.start(self._services, request, partial(self._build, config), stored=state)
        if session is not None and session.interruption is None:
            return session
        lease = await asyncio.to_thread(self._services.store.acquire_lease, session_id)
        if lease is None:
            return None
        session = None
        try:
            state = await asyncio.to_thread(self.read_state, session_id)
            if state.ended is not None:
                return None
            request, config = await asyncio.to_thread(self._read_request_and_config, session_id)
            session = self.open_session(session_id, request, config, lease, state)
        finally:
            if session is None:
                lease.release()
        return session

    def _list_idle(self, seconds: float) -> list[WorkflowSession]:
        horizon = self._services.clock.now() - timedelta(seconds=seconds)
        return [session for session in self.list_all() if session.is_idle and session.last_used <= horizon]

    def _read_request_and_config(self, session_id: str) -> tuple[SessionRequest, AppConfig]:
        """Return the stored request, and its config with the present keys."""
        request = read_step(self._services.store, session_id, "session", SessionRequest)
        try:
            return request, request.restore_config(self._configure())
        except ValidationError:
            raise SessionInterrupted(
                session_id, "it was opened with settings that this version does not know."
            ) from None

    def _delete_if_unused(self, session_id: str, horizon: datetime, actor: Actor | None) -> None:
        """Delete the session unless a process holds its lease or has used it since `horizon`."""
        try:
            lease = self._services.store.acquire_lease_if_unused(session_id, horizon)
        except SessionNotFound:  # only an unfinished file was written
            self.delete(session_id)
            return
        if lease is not None:
            self.delete(session_id)
            lease.release()
            days = f"not used for {self._settings.retention_days:g} days"
            record_change("session deleted", session_id, actor, reason=days)


_SESSION_ID: Final = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])", re.IGNORECASE)
_ID_PREFIX: Final = re.compile(r"[0-9a-f]{8,31}", re.IGNORECASE)
_ONLY_ID: Final = re.compile(r"\s*(?:paper-search://sessions/)?([0-9a-f]{32})(?::\d+:\w+|/\S*)?\s*", re.IGNORECASE)


def find_session_id(text: str) -> str | None:
    """Return the session id in `text`, such as an address or a checkpoint id, or None."""
    found = _SESSION_ID.search(text)
    return found[0].lower() if found else None


def match_only_id(text: str) -> str | None:
    """Return the session id if the text is nothing else, or its address or checkpoint id; otherwise None."""
    found = _ONLY_ID.fullmatch(text)
    return found[1].lower() if found else None


def find_id_prefix(text: str) -> str | None:
    """Return the text without quotes and dots if it can be the beginning of an id, or None."""
    prefix = text.strip(" \"'.…").lower()
    return prefix if _ID_PREFIX.fullmatch(prefix) else None


def choose_session_id(prefix: str, names: Iterable[str]) -> str:
    """Return `prefix` if it is one of the ids in `names`, or else the one id that begins with it.

    Raise SessionNotFound if there is none, and InvalidInput if there are several.
    """
    names = list(names)
    found = match_id_prefix(prefix, names)
    if len(found) == 1:
        return found[0]
    if not found:
        raise SessionNotFound(prefix, find_nearest_ids(prefix, names))
    raise InvalidInput(
        f"{len(found)} sessions begin with '{make_printable(prefix[:32])}'.",
        hint=f"Give more of the id: {', '.join(found[:5])}.",
        allowed=found[:10],
    )
