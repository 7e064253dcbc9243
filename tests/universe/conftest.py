"""The command `universe`, and PostgreSQL where a server can be started."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.prerequisites import skip_or_fail
from tests.universe.command_line import run_universe
from tests.universe.postgres_server import NoServer, PostgresServer, running_postgres

__all__ = ["postgres_dsn", "postgres_server", "run_universe"]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for each worker, started for the first test that uses it."""
    try:
        with running_postgres() as server:
            yield server
    except NoServer as exc:
        skip_or_fail(f"no PostgreSQL server: {exc}")


@pytest.fixture
def postgres_dsn(postgres_server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of an empty database, with its marks in a folder of the test."""
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    return postgres_server.dsn(search_path=postgres_server.schema())
