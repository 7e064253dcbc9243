"""One thread that writes: what waits when it is free is written in one transaction."""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from uraniborg.kernel.sqlite import DatabaseUnusable, transaction

Work = Callable[[sqlite3.Connection], Any]
_MOST: Final = 512
"""How many pieces of work go into one transaction."""


class _Piece(NamedTuple):
    work: Work
    future: asyncio.Future[Any]


class GroupWriter:
    """Runs work on the connection, many pieces to a commit. A piece that raises leaves nothing; the others stay."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        loop: asyncio.AbstractEventLoop,
        *,
        before: Callable[[], None],
        after: Callable[[list[Any]], None],
    ) -> None:
        """Call `before`, which may raise, before each transaction, and `after` with its values after it."""
        self._connection = connection
        self._before = before
        self._after = after
        self._loop = loop
        self._queue: queue.SimpleQueue[_Piece | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="universe-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work) -> asyncio.Future[Any]:
        """Its result, once it is on disk. Raises what the work raises, or DatabaseUnusable."""
        future = self._loop.create_future()
        self._queue.put(_Piece(work, future))
        return future

    def close(self) -> None:
        """Finish what waits and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            pieces = [first]
            ending = False
            while len(pieces) < _MOST:
                try:
                    piece = self._queue.get_nowait()
                except queue.Empty:
                    break
                if piece is None:
                    ending = True
                    break
                pieces.append(piece)
            self._write(pieces)
            if ending:
                return

    def _write(self, pieces: list[_Piece]) -> None:
        outcomes: list[tuple[asyncio.Future[Any], Any, BaseException | None]] = []
        try:
            self._before()
            with transaction(self._connection):
                if len(pieces) == 1:
                    outcomes = [(pieces[0].future, pieces[0].work(self._connection), None)]
                else:
                    outcomes = [(piece.future, *_attempt(self._connection, piece.work)) for piece in pieces]
        except Exception as exc:
            outcomes = [(piece.future, None, exc) for piece in pieces]
        self._tell(outcomes)
        self._after([value for _, value, exc in outcomes if exc is None])

    def _tell(self, outcomes: list[tuple[asyncio.Future[Any], Any, BaseException | None]]) -> None:
        def settle() -> None:
            for future, value, exc in outcomes:
                if future.done():
                    continue
                if exc is None:
                    future.set_result(value)
                else:
                    future.set_exception(exc)

        # A loop that has ended has nobody waiting on it.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(settle)


def _attempt(connection: sqlite3.Connection, work: Work) -> tuple[Any, BaseException | None]:
    connection.execute("SAVEPOINT piece")
    try:
        value = work(connection)
    except Exception as exc:
        if isinstance(exc, DatabaseUnusable) or (isinstance(exc, sqlite3.Error) and not _is_its_own(exc)):
            raise  # the whole transaction is in doubt
        connection.execute("ROLLBACK TO piece")
        connection.execute("RELEASE piece")
        return None, exc
    connection.execute("RELEASE piece")
    return value, None


def _is_its_own(exc: sqlite3.Error) -> bool:
    """Whether this piece alone is at fault."""
    return isinstance(exc, (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError))
