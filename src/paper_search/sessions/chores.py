"""What is done in the background: handing over decisions taken elsewhere, and keeping memory and disk tidy."""

import asyncio
from typing import Final

from paper_search.sessions.running import RunningSessions
from paper_search.sessions.session import Ground
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import get_logger

LOOK_S: Final = 0.05
"""How often we look for what other processes have decided or done."""
_AFTER_TROUBLE_S: Final = 1.0
_HOUSEKEEPING_S: Final = 60.0
_EXPIRY_ROUNDS: Final = 1_440
"""Once a day we look for sessions that nobody uses any more."""

_log = get_logger(__name__)


class Chores:
    """The background tasks of one event loop."""

    def __init__(self, sessions: RunningSessions, ground: Ground) -> None:
        self._sessions = sessions
        self._ground = ground
        self._tasks: list[asyncio.Task[None]] = []
        self._new_questions = False

    def take_up(self) -> None:
        """Begin, unless they are being done."""
        if not self._tasks:
            self._tasks = [asyncio.create_task(chore()) for chore in (self._look_for_decisions, self._keep_house)]

    def move(self) -> None:
        """For when the event loop has become another one."""
        self._tasks = []

    def note_question(self) -> None:
        """A session has begun to wait: what was decided before it did may have been overlooked."""
        self._new_questions = True

    async def stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look_for_decisions(self) -> None:
        seen = None
        while True:
            await asyncio.sleep(LOOK_S)
            if not self._sessions.all():
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
        inbox = self._ground.inbox
        waiting = {asked: session for session in self._sessions.all() if (asked := session.asks)}
        for entry in await asyncio.to_thread(inbox.settled, list(waiting)):
            session = waiting[entry.id]
            try:
                if session.aside:
                    await self._sessions.find(session.session_id)
                else:
                    await session.settle(entry, self._ground)
            except UraniborgError as error:
                _log.warning("a session cannot go on", session_id=session.session_id, reason=error.message)
        for gone in await asyncio.to_thread(inbox.missing, list(waiting)):
            self._sessions.drop(waiting[gone])  # another process has deleted it
            await waiting[gone].stop()

    async def _keep_house(self) -> None:
        rounds = 0
        while True:
            try:
                if rounds % _EXPIRY_ROUNDS == 0:
                    await self._sessions.expire()
                await self._sessions.unload_idle()
                await self._sessions.lay_aside_idle()
            except Exception as exc:
                _log.exception("sessions cannot be tidied up", exc=exc)
            rounds += 1
            await asyncio.sleep(_HOUSEKEEPING_S)
