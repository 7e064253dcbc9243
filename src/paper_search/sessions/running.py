"""The sessions that this process runs: begun, brought back from disk, laid aside, let go of, deleted."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Final

from pydantic import ValidationError

from paper_search.config import AppConfig, SessionsConfig
from paper_search.errors import SessionInterrupted, SessionNotFound
from paper_search.models import PaperCollection
from paper_search.sessions.journal import read_step
from paper_search.sessions.session import Ground, Listener, WorkflowSession
from paper_search.sessions.state import PART, Asked, SessionState, stored_state
from paper_search.sessions.store import Held
from paper_search.workflow.engine import SearchWorkflow

_LAY_ASIDE_S: Final = 60.0


async def untold(_session: WorkflowSession) -> None:
    """For callers who want no news."""


class RunningSessions:
    """All of it in one event loop, but for `get`, `all`, `drop` and `delete`, which any thread may call.

    `configure` gives the present settings, for their keys, and `build` the workflow for a config.
    """

    def __init__(
        self,
        ground: Ground,
        settings: SessionsConfig,
        configure: Callable[[], AppConfig],
        build: Callable[..., SearchWorkflow],
    ) -> None:
        self._ground = ground
        self._settings = settings
        self._configure = configure
        self._build = build
        self._sessions: dict[str, WorkflowSession] = {}
        self._lock = threading.Lock()
        self._loading = asyncio.Lock()

    def move(self) -> None:
        """For when the event loop has become another one."""
        self._loading = asyncio.Lock()

    def get(self, session_id: str) -> WorkflowSession | None:
        with self._lock:
            return self._sessions.get(session_id)

    def all(self) -> list[WorkflowSession]:
        with self._lock:
            return list(self._sessions.values())

    def drop(self, session: WorkflowSession) -> None:
        """Forget that it is here; it may still have to be stopped."""
        with self._lock:
            if self._sessions.get(session.session_id) is session:
                del self._sessions[session.session_id]

    def check(self, config: AppConfig) -> None:
        """Raises what keeps a search from being built. May read the disk."""
        self._build(config)

    def begin(
        self,
        session_id: str,
        asked: Asked,
        config: AppConfig,
        lease: Held | None = None,
        stored: SessionState | None = None,
    ) -> WorkflowSession:
        """Run a new session; or one from where it is stored, with its lease."""
        session = WorkflowSession(session_id, asked.query, lease=lease, last_used=self._ground.clock.now())
        session.start(self._ground, asked, partial(self._build, config), stored=stored)
        with self._lock:
            self._sessions[session_id] = session
        return session

    async def find(self, session_id: str) -> tuple[WorkflowSession | None, SessionState]:
        """The session if this process runs or ran it, brought back from disk if nobody does, and its state.

        Raises SessionNotFound or SessionInterrupted.
        """
        session = self.get(session_id)
        if session is None or session.interruption or session.aside:
            async with self._loading:
                session = await self._loaded(session_id)
        if session is None:
            return None, await asyncio.to_thread(self._stored_state, session_id)
        session.last_used = self._ground.clock.now()
        if session.is_coming_back:
            await self.watch(session, None, self._settings.reply_within_s)
        return session, session.state()

    async def watch(self, session: WorkflowSession, past: str | None, within_s: float, tell: Listener = untold) -> None:
        """Until it has left the checkpoint `past` behind, or time is up. Raises SessionInterrupted."""
        session.in_use += 1
        try:
            await session.wait(past, within_s, tell)
        finally:
            session.in_use -= 1
            session.last_used = self._ground.clock.now()
        if session.interruption is not None:
            self.drop(session)
            raise session.interruption

    def stored_result(self, session_id: str) -> PaperCollection:
        return read_step(self._ground.store, session_id, "result", PaperCollection)

    async def unload_idle(self) -> None:
        for session in self._idle(self._settings.idle_s):
            self.drop(session)
            await session.stop()

    async def lay_aside_idle(self) -> None:
        for session in self._idle(_LAY_ASIDE_S):
            async with self._loading:
                if session.is_idle and session.interruption is None and session.aside is None:
                    await session.lay_aside()

    async def expire(self) -> None:
        horizon = self._ground.clock.now() - timedelta(days=self._settings.retention_days)
        for session_id in await asyncio.to_thread(self._ground.store.unused_since, horizon):
            if self.get(session_id) is None:
                await asyncio.to_thread(self._delete_if_free, session_id)

    async def stop_all(self) -> None:
        with self._lock:
            sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.stop()

    def delete(self, session_id: str) -> None:
        """Delete it from the disk; the inbox first, so that nothing is asked for a session that is gone."""
        self._ground.inbox.forget(PART, session_id)
        with suppress(SessionNotFound):
            self._ground.store.delete(session_id)

    async def _loaded(self, session_id: str) -> WorkflowSession | None:
        """The session, run by this process from now on; None when another process runs it, or nobody need."""
        session = self.get(session_id)
        if session is not None and session.aside:
            state = await asyncio.to_thread(self._stored_state, session_id)
            asked, config = await asyncio.to_thread(self._as_asked, session_id)
            session.start(self._ground, asked, partial(self._build, config), stored=state)
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
            session = self.begin(session_id, asked, config, lease, state)
        finally:
            if session is None:
                lease.release()
        return session

    def _idle(self, seconds: float) -> list[WorkflowSession]:
        horizon = self._ground.clock.now() - timedelta(seconds=seconds)
        return [session for session in self.all() if session.is_idle and session.last_used <= horizon]

    def _stored_state(self, session_id: str) -> SessionState:
        return stored_state(self._ground.store, self._ground.inbox, session_id)

    def _as_asked(self, session_id: str) -> tuple[Asked, AppConfig]:
        asked = read_step(self._ground.store, session_id, "session", Asked)
        try:
            return asked, asked.with_keys_of(self._configure())
        except ValidationError:
            raise SessionInterrupted(
                session_id, "it was opened with settings that this version does not know."
            ) from None

    def _delete_if_free(self, session_id: str) -> None:
        try:
            lease = self._ground.store.lease(session_id)
        except SessionNotFound:  # it was begun, and never came to be
            self.delete(session_id)
            return
        if lease is not None:
            self.delete(session_id)
            lease.release()
