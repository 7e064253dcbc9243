"""The store under the servers of tests: their own choice, or the kind that UNIVERSE_TEST_STORE names."""

import atexit
import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Final

from tests.universe.postgres_server import PostgresServer, running_postgres
from universe.store.interface import Store

KIND: Final = "UNIVERSE_TEST_STORE"


def make_chosen_store(make_default: Callable[[], Store]) -> Store:
    """Return an empty store: `sqlite` or `postgres` if the environment names it, else the default of the test."""
    kind = os.environ.get(KIND)
    if kind is None:
        return make_default()
    folder = Path(_resources().enter_context(tempfile.TemporaryDirectory(prefix="universe-store-")))
    if kind == "sqlite":
        from universe.store.sqlite import SqliteStore

        return SqliteStore(folder / "universes.db")
    from universe.store.postgres import PostgresStore

    server = _server()
    return PostgresStore(server.dsn(search_path=server.schema()), marks=folder / "universes.mark")


@cache
def _server() -> PostgresServer:
    return _resources().enter_context(running_postgres())


@cache
def _resources() -> ExitStack:
    """Return the resources that end with the process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack
