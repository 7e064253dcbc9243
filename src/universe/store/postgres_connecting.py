"""Connections to PostgreSQL that keep what they are told, wait for nothing for ever, and give no password away."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from importlib import import_module
from typing import Any, Final, Protocol
from urllib.parse import unquote

from universe.errors import MalformedRequest, StoreUnavailable
from uraniborg.kernel.errors import MissingExtra
from uraniborg.kernel.logging import register_secret

try:
    asyncpg: Any = import_module("asyncpg")
except ModuleNotFoundError as missing:
    if missing.name != "asyncpg":
        raise
    raise MissingExtra("postgres", "Keeping universes in PostgreSQL") from missing

_MOST_CONNECTIONS: Final = 10
_PASSWORDS: Final = (r"//[^/?#:@]*:([^@]*)@", r"//[^/?#:@]*:(.*)@", r"[?&](?:ssl)?password=([^&]*)")
"""The second pattern is for a password that was not encoded as it should, and so is cut in the wrong place."""

_REASONS: Final = {
    "08": "the connection was lost",
    "25": "it can only be read at present",
    "28": "it refuses this user or this password",
    "3D": "there is no database of this name",
    "3F": "there is no schema to keep tables in",
    "40": "others changed the same things at once",
    "42501": "this user may not do that",
    "42P01": "its tables are gone",
    "53": "it has run out of connections, memory or disk",
    "54": "it was given more than it can take at once",
    "55": "others hold what is needed",
    "57": "it is starting or stopping, or took too long",
    "58": "its disk fails",
    "XX": "it reports damage to itself",
}
"""What outside our power makes the server refuse, by the code it gives or the class of the code."""


class Connection(Protocol):
    """What is used here of a connection of asyncpg, which has no types of its own."""

    async def execute(self, sql: str, *values: Any) -> str: ...

    async def fetch(self, sql: str, *values: Any) -> list[Any]: ...

    async def fetchval(self, sql: str, *values: Any) -> Any: ...

    def transaction(self) -> AbstractAsyncContextManager[None]: ...

    async def add_listener(self, channel: str, callback: Callable[..., None]) -> None: ...

    def add_termination_listener(self, callback: Callable[..., None]) -> None: ...

    def terminate(self) -> None: ...


class Database:
    """The database at an address. Nothing waits for it longer than `patience_s`, two or three times in a row."""

    def __init__(self, dsn: str, patience_s: float) -> None:
        for password in (found for pattern in _PASSWORDS for found in re.findall(pattern, dsn)):
            register_secret(password)
            register_secret(unquote(password))
        self._patience_s = patience_s
        self._arguments: dict[str, Any] = {
            "dsn": dsn,
            "timeout": patience_s,
            "command_timeout": patience_s,
            "server_settings": {
                "application_name": "universe",
                "default_transaction_isolation": "read committed",
                "idle_in_transaction_session_timeout": str(int(patience_s * 1000)),
                "statement_timeout": str(int(patience_s * 1000)),
                "synchronous_commit": "on",
            },
        }
        self._pool: Any = None

    async def open(self) -> None:
        """Prepares for connections, and makes none yet."""
        # Nothing is changed about a connection that would have to be undone before the next takes it.
        self._pool = await asyncpg.create_pool(
            **self._arguments, min_size=0, max_size=_MOST_CONNECTIONS, reset=_nothing_to_reset
        )

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            with said_in_our_words():
                async with asyncio.timeout(self._patience_s):
                    await pool.close()
        except StoreUnavailable:
            pool.terminate()

    async def connect(self) -> Connection:
        """A connection of one's own. Raises StoreUnavailable, or MalformedRequest for an address that is none."""
        with said_in_our_words(), _malformed_address():
            return await asyncpg.connect(**self._arguments)

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        """One of those that are shared; what fails in the block fails in our words. Raises as `connect` does."""
        if self._pool is None:
            raise StoreUnavailable("The store is closed.", hint="Open it first.")
        with said_in_our_words():
            with _malformed_address():
                connection = await self._pool.acquire(timeout=self._patience_s)
            try:
                yield connection
            finally:
                await self._pool.release(connection, timeout=self._patience_s)


@contextmanager
def said_in_our_words() -> Generator[None]:
    """What is outside our power raises StoreUnavailable; our own mistakes stay what they are."""
    try:
        yield
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError) as exc:
        reason = _reason(exc)
        if reason is None:
            raise
        raise StoreUnavailable(
            f"The PostgreSQL database cannot be used: {reason}.",
            hint="Check that the server runs, and the user, the password and the database in its address.",
        ) from exc


def _reason(exc: Exception) -> str | None:
    if isinstance(exc, asyncpg.PostgresError):
        code = str(getattr(exc, "sqlstate", None) or "")
        return _REASONS.get(code) or _REASONS.get(code[:2])
    if isinstance(exc, ValueError):  # a value that the driver could not encode
        return None
    if isinstance(exc, TimeoutError):
        return "it did not answer in time"
    return "it cannot be reached" if isinstance(exc, OSError) else "the connection was lost"


@contextmanager
def _malformed_address() -> Generator[None]:
    try:
        yield
    except ValueError:
        # The text of the exception, and so the exception, may hold a part of the password.
        raise MalformedRequest(
            "This is no address of a PostgreSQL database.",
            hint="Use postgresql://user:password@host:port/name, with %-codes for special characters.",
        ) from None


async def _nothing_to_reset(_connection: Connection) -> None: ...
