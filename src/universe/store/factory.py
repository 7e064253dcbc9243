"""Choose the store for the address of a database."""

from pathlib import Path
from urllib.parse import urlsplit

from universe.errors import MalformedRequest
from universe.store.interface import (
    Store,
)
from universe.store.memory import MemoryStore
from uraniborg.kernel.ids import content_id
from uraniborg.kernel.settings import data_dir

_HINT = "Use the path of a file, sqlite:///path/to/file.db, postgresql://user@host/name, or memory:."


def make_store(address: str) -> Store:
    """Return the store for an address. Raise MalformedRequest, or MissingExtra if its driver is not installed."""
    scheme, colon, rest = address.partition(":")
    if scheme == "memory" and colon:
        return MemoryStore()
    if scheme == "sqlite" and rest.startswith("///") and len(rest) > 3:
        from universe.store.sqlite import SqliteStore

        return SqliteStore(Path(rest[3:]).expanduser())
    if scheme in ("postgresql", "postgres") and rest.startswith("//"):
        from universe.store.postgres import PostgresStore

        return PostgresStore(address, marks=_get_mark_path(address))
    raise MalformedRequest(
        f"The address of the database begins with '{scheme[:20]}', which is not supported.", hint=_HINT
    )


def _get_mark_path(address: str) -> Path:
    """Return the path of the mark file of a PostgreSQL database, the same for every user name."""
    parts = urlsplit(address)
    query = "&".join(sorted(one for one in parts.query.split("&") if "password" not in one))
    name = content_id(parts.netloc.rpartition("@")[2], parts.path, query)
    return data_dir() / "universe" / f"postgresql-{name}.mark"
