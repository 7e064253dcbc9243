"""The tables that hold universes in PostgreSQL, and how a database comes to have them."""

from typing import Final

from universe.errors import StoreUnavailable
from universe.store.postgres_connecting import Connection
from uraniborg.kernel.sqlite import DatabaseNewer

_LOCK: Final = 0x756E6976657273
"""Held by whoever makes the tables; the number has no meaning."""

# Ids sort by their code points, as everywhere else. A serial tells a universe from a later one with the same id.
# Idempotency keys may be longer than what an index takes, hence their digests.
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
]


async def migrate(connection: Connection) -> None:
    """Run the migrations this database has not had, all or none. Any number of processes may do so at once.

    Raises DatabaseNewer when it has had one that is not known here, StoreUnavailable when it cannot hold every text.
    """
    if await connection.fetchval("SHOW server_encoding") != "UTF8":
        raise StoreUnavailable(
            "The PostgreSQL database does not keep text as UTF-8.",
            hint="Make one that does: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.",
        )
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        # Who may not make tables may still use those that are there.
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
