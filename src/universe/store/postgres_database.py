"""Connect to PostgreSQL, migrate its tables, and report its errors without passwords."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import Context
from importlib import import_module
from typing import Any, Final, Protocol
from urllib.parse import unquote

from universe.errors import MalformedRequest, StoreUnavailable
from universe.store.interface import make_closed_error
from uraniborg.kernel.errors import MissingExtra
from uraniborg.kernel.logging import register_secret
from uraniborg.kernel.store.sqlite import DatabaseNewer

try:
    asyncpg: Any = import_module("asyncpg")
except ModuleNotFoundError as missing:
    if missing.name != "asyncpg":
        raise
    raise MissingExtra("postgres", "Storing universes in PostgreSQL") from missing

_MAX_CONNECTIONS: Final = 10
_PASSWORDS: Final = (r"//[^/?#:@]*:([^@]*)@", r"//[^/?#:@]*:(.*)@", r"[?&](?:ssl)?password=([^&]*)")
"""The second pattern finds a password with an @ that is not percent-encoded."""

_REASONS: Final = {
    "08": "the connection was lost",
    "25": "it is read-only at present",
    "28": "it refuses this user or this password",
    "3D": "there is no database of this name",
    "3F": "there is no schema for its tables",
    "40": "other clients changed the same rows at the same time",
    "42501": "this user does not have the permission",
    "42P01": "its tables do not exist",
    "53": "it has run out of connections, memory or disk",
    "54": "the request exceeds its limits",
    "55": "other clients hold a lock that is needed",
    "57": "it is starting or stopping, or took too long",
    "58": "its disk fails",
    "XX": "it reports damage to itself",
}
"""Reasons for failures of the server, by its SQLSTATE code or the class of the code."""
_LOCK: Final = 0x756E6976657273
"""The advisory lock of the process that creates the tables; an arbitrary number."""

# Ids sort by their code points, as everywhere else. A serial distinguishes universes that had the same id.
# Idempotency keys may be longer than an index allows, hence their digests.
MIGRATIONS: Final = [
    (
        "0001 universes",
        """
        CREATE TABLE universes (
          id text COLLATE "C" PRIMARY KEY, name text NOT NULL, version bigint NOT NULL,
          created_at text COLLATE "C" NOT NULL, updated_at text NOT NULL,
          serial bigint GENERATED ALWAYS AS IDENTITY
        );
        CREATE INDEX universes_by_age ON universes (created_at DESC, id DESC);
        CREATE TABLE universe_log (
          universe_id text COLLATE "C" NOT NULL REFERENCES universes (id) ON DELETE CASCADE,
          version bigint NOT NULL, kind text NOT NULL, body bytea NOT NULL, events bytea NOT NULL,
          at text NOT NULL, digest bytea NOT NULL, PRIMARY KEY (universe_id, version)
        );
        CREATE TABLE universe_snapshots (
          universe_id text COLLATE "C" NOT NULL REFERENCES universes (id) ON DELETE CASCADE,
          version bigint NOT NULL, state bytea NOT NULL, digest bytea NOT NULL, PRIMARY KEY (universe_id, version)
        );
        CREATE TABLE universe_keys (
          universe_id text COLLATE "C" NOT NULL REFERENCES universes (id) ON DELETE CASCADE,
          key_digest bytea NOT NULL, request bytea NOT NULL, first bigint NOT NULL, last bigint NOT NULL,
          PRIMARY KEY (universe_id, key_digest)
        );
        """,
    ),
    ("0002 authors", "ALTER TABLE universe_log ADD COLUMN author text"),
    (
        "0003 references",  # also of releases that read log entries of the kind `reference` and compressed states
        """
        CREATE TABLE universe_branches (
          universe_id text COLLATE "C" PRIMARY KEY REFERENCES universes (id) ON DELETE CASCADE,
          source_id text COLLATE "C" NOT NULL REFERENCES universes (id)
        );
        CREATE INDEX universe_branches_by_source ON universe_branches (source_id);
        """,
    ),
    ("0004 citations", "SELECT 1"),  # releases without this migration cannot read states with a list of citations
    (
        "0005 actors",  # releases without this migration take entries with an identity for damaged
        """
        ALTER TABLE universe_log ADD COLUMN identity text;
        ALTER TABLE universes ADD COLUMN created_by text, ADD COLUMN renamed_by text;
        CREATE TABLE universe_deletions (
          universe_id text COLLATE "C" NOT NULL, created_at text COLLATE "C" NOT NULL, name text NOT NULL,
          version bigint NOT NULL, deleted_at text COLLATE "C" NOT NULL, deleted_by text NOT NULL,
          PRIMARY KEY (universe_id, created_at)
        );
        CREATE INDEX universe_deletions_by_age ON universe_deletions (deleted_at DESC);
        """,
    ),
]


class PostgresConnection(Protocol):
    """The methods used of an asyncpg connection, which is not typed."""

    async def execute(self, sql: str, *values: Any) -> str: ...

    async def fetch(self, sql: str, *values: Any) -> list[Any]: ...

    async def fetchval(self, sql: str, *values: Any) -> Any: ...

    def transaction(self) -> AbstractAsyncContextManager[None]: ...

    async def add_listener(self, channel: str, callback: Callable[..., None]) -> None: ...

    def add_termination_listener(self, callback: Callable[..., None]) -> None: ...

    def terminate(self) -> None: ...


class Database:
    """A PostgreSQL database. Each connection attempt and each statement fails after `timeout_s` seconds."""

    def __init__(self, dsn: str, timeout_s: float) -> None:
        for password in (found for pattern in _PASSWORDS for found in re.findall(pattern, dsn)):
            register_secret(password)
            register_secret(unquote(password))
        self._patience_s = timeout_s
        self._arguments: dict[str, Any] = {
            "dsn": dsn,
            "timeout": timeout_s,
            "command_timeout": timeout_s,
            "server_settings": {
                "application_name": "universe",
                "default_transaction_isolation": "read committed",
                "idle_in_transaction_session_timeout": str(int(timeout_s * 1000)),
                "statement_timeout": str(int(timeout_s * 1000)),
                "synchronous_commit": "on",
            },
        }
        self._pool: Any = None

    async def open(self) -> None:
        """Create the pool, without any connection yet."""
        # Statements here never change a connection, so it needs no reset before its next use.
        self._pool = await asyncpg.create_pool(
            **self._arguments,
            min_size=0,
            max_size=_MAX_CONNECTIONS,
            # A timer keeps the context, and so the session, of the request that started it.
            max_inactive_connection_lifetime=0,
            max_cached_statement_lifetime=0,
            connect=_connect_in_own_context,
            reset=_skip_reset,
        )

    async def close(self) -> None:
        """Close the pool; terminate its connections if that takes too long."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            with translate_server_errors():
                async with asyncio.timeout(self._patience_s):
                    await pool.close()
        except StoreUnavailable:
            pool.terminate()

    async def open_unpooled_connection(self) -> PostgresConnection:
        """Return a new connection outside the pool. Raise StoreUnavailable or MalformedRequest."""
        with translate_server_errors(), _translate_address_errors():
            return await asyncpg.connect(**self._arguments)

    @asynccontextmanager
    async def borrow_connection(self) -> AsyncGenerator[PostgresConnection]:
        """Lend a pooled connection; errors in the block are translated. Raise StoreUnavailable or MalformedRequest."""
        if self._pool is None:
            raise make_closed_error()
        with translate_server_errors():
            with _translate_address_errors():
                connection = await self._pool.acquire(timeout=self._patience_s)
            try:
                yield connection
            finally:
                await self._pool.release(connection, timeout=self._patience_s)


@contextmanager
def translate_server_errors() -> Generator[None]:
    """Raise StoreUnavailable for failures of the server in this block; errors of this program pass unchanged."""
    try:
        yield
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError) as exc:
        reason = _describe_server_failure(exc)
        if reason is None:
            raise
        raise StoreUnavailable(
            f"The PostgreSQL database cannot be used: {reason}.",
            hint="Check that the server runs, and the user, the password and the database in its address.",
        ) from exc


def _describe_server_failure(exc: Exception) -> str | None:
    """Return the reason of a failure of the server; None for an error of this program."""
    if isinstance(exc, asyncpg.PostgresError):
        code = str(getattr(exc, "sqlstate", None) or "")
        return _REASONS.get(code) or _REASONS.get(code[:2])
    if isinstance(exc, ValueError):  # a value that the driver could not encode
        return None
    if isinstance(exc, TimeoutError):
        return "it did not answer in time"
    return "it cannot be reached" if isinstance(exc, OSError) else "the connection was lost"


async def _connect_in_own_context(*arguments: Any, **options: Any) -> Any:
    """Return a new connection. It must not keep the context, and so the session, of the request that needed it."""
    return await asyncio.create_task(asyncpg.connect(*arguments, **options), context=Context())


@contextmanager
def _translate_address_errors() -> Generator[None]:
    try:
        yield
    except ValueError:
        # The exception is not chained because its text may hold a part of the password.
        raise MalformedRequest(
            "The address of the PostgreSQL database is malformed.",
            hint="Use postgresql://user:password@host:port/name, with %-codes for special characters.",
        ) from None


async def _skip_reset(_connection: PostgresConnection) -> None: ...


async def migrate(connection: PostgresConnection) -> None:
    """Run all migrations that this database does not have yet. Several processes may do so at once.

    Raise DatabaseNewer if it has an unknown migration, StoreUnavailable if its encoding is not UTF-8.
    """
    if await connection.fetchval("SHOW server_encoding") != "UTF8":
        raise StoreUnavailable(
            "The encoding of the PostgreSQL database is not UTF-8.",
            hint="Create one with it: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.",
        )
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        # A user without the right to create tables may still use existing tables.
        if await connection.fetchval("SELECT to_regclass('universe_migrations') IS NULL"):
            await connection.execute("CREATE TABLE universe_migrations (name text PRIMARY KEY)")
        applied = {name for (name,) in await connection.fetch("SELECT name FROM universe_migrations")}
        if unknown := applied - {name for name, _ in MIGRATIONS}:
            raise DatabaseNewer(
                "The PostgreSQL database was made by a newer version of this program.",
                hint="Install the newer version, or use another database.",
                migrations=sorted(unknown),
            )
        for name, sql in MIGRATIONS:
            if name not in applied:
                await connection.execute(sql)
                await connection.execute("INSERT INTO universe_migrations VALUES ($1)", name)
