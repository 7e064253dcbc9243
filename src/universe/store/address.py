"""From the address of a database to the store that keeps universes there."""

from pathlib import Path
from urllib.parse import urlsplit

from universe.errors import MalformedRequest
from universe.store.port import Store
from uraniborg.kernel.ids import content_id
from uraniborg.kernel.settings import data_dir

_HINT = "Use sqlite:///path/to/file.db, postgresql://user@host/name, or memory:."


def store_at(address: str) -> Store:
    """Raises MalformedRequest for what is no such address, MissingExtra if PostgreSQL's driver is not installed."""
    scheme, colon, rest = address.partition(":")
    if scheme == "memory" and colon:
        from universe.store.memory import MemoryStore

        return MemoryStore()
    if scheme == "sqlite" and rest.startswith("///") and len(rest) > 3:
        from universe.store.sqlite import SqliteStore

        return SqliteStore(Path(rest[3:]).expanduser())
    if scheme in ("postgresql", "postgres") and rest.startswith("//"):
        from universe.store.postgres import PostgresStore

        return PostgresStore(address, marks=_marks_of(address))
    raise MalformedRequest(f"There is no store at an address that begins with '{scheme[:20]}'.", hint=_HINT)


def _marks_of(address: str) -> Path:
    """Return the file on this machine for the marks of a PostgreSQL database, the same for every user name."""
    parts = urlsplit(address)
    query = "&".join(sorted(one for one in parts.query.split("&") if "password" not in one))
    name = content_id(parts.netloc.rpartition("@")[2], parts.path, query)
    return data_dir() / "universe" / f"postgresql-{name}.mark"
