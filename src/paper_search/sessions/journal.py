"""The engine's journal, kept in a session store."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from paper_search.errors import SessionInterrupted
from paper_search.sessions.store import SessionStore
from uraniborg.kernel.errors import UraniborgError

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class StoredJournal:
    """Remembers the steps of one session. What the store cannot do raises SessionInterrupted."""

    def __init__(self, store: SessionStore, session_id: str) -> None:
        self._store = store
        self._session_id = session_id
        self._known: set[str] | None = None

    async def get_or_run(self, step: str, kind: type[M], make: Callable[[], Awaitable[M]]) -> M:
        if self._known is None:
            self._known = set(await kept(self._session_id, lambda: self._store.steps(self._session_id)))
        if step in self._known:
            return await kept(self._session_id, lambda: self._read(step, kind))
        made = await make()
        await self.keep(step, made)
        return made

    async def keep(self, step: str, value: BaseModel) -> None:
        """Write the step down, unless it was before."""
        await kept(self._session_id, lambda: self._store.write(self._session_id, step, value.model_dump_json()))
        if self._known is not None:
            self._known.add(step)

    def _read(self, step: str, kind: type[M]) -> M:
        return read_step(self._store, self._session_id, step, kind)


def read_step(store: SessionStore, session_id: str, step: str, kind: type[M]) -> M:
    """What the step gave. Raises SessionInterrupted when the journal does not hold it as it should."""
    try:
        return kind.model_validate_json(store.read(session_id, step) or "")
    except ValidationError:
        raise SessionInterrupted(session_id, f"its journal is damaged, or of another version, at '{step}'.") from None


async def kept(session_id: str, work: Callable[[], T]) -> T:
    """What `work` with the store or the inbox gives, in a thread. What fails there interrupts the session.

    Whoever is cancelled meanwhile waits for the thread all the same: nothing is written behind a lease that was let go.
    """
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise
    except SessionInterrupted:
        raise
    except UraniborgError as error:
        raise SessionInterrupted(session_id, error.message) from error
    except OSError as error:
        raise SessionInterrupted(session_id, f"{error.strerror or 'the disk failed'}.") from error
