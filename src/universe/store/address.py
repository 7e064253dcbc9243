"""From the address of a database to the store that keeps universes there."""

from pathlib import Path

from universe.errors import MalformedRequest
from universe.store.port import Store

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

        return PostgresStore(address)
    raise MalformedRequest(f"There is no store at an address that begins with '{scheme[:20]}'.", hint=_HINT)
