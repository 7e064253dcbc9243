"""The database is lost and comes back: 503 meanwhile, and no change is lost."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.universe.api.rest.rest_server import create_universe, get_error, read_state, run_server, send_command
from tests.universe.domain.samples import add_star
from universe.store import sqlite as sqlite_module
from uraniborg.kernel.store.sqlite import connect_or_read


@pytest.fixture
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_module, "connect_or_read", partial(connect_or_read, busy_timeout_s=0.05))


@contextmanager
def taken(folder: Path) -> Generator[None]:
    holder = sqlite3.connect(folder / "universes.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        holder.execute("ROLLBACK")
        holder.close()


@pytest.mark.usefixtures("short_timeouts")
def test_while_the_database_is_away_changes_are_503_and_afterwards_they_work(tmp_path: Path) -> None:
    with run_server(tmp_path) as rest:
        universe = create_universe(rest, id="u")
        send_command(rest, universe, add_star("before"))
        with taken(tmp_path):
            for answer in (
                rest.get("/health"),
                rest.post("/universes/u/commands", json=add_star("during")),
                rest.post("/universes/u/undo"),
                rest.put("/universes/u", json={"state": {}}),
                rest.put("/universes/u", json={"name": "x"}),
                rest.post("/universes/u/branch", json={}),
                rest.post("/universes", json={"name": "x"}),
                rest.delete("/universes/u"),
            ):
                reply = get_error(answer, 503, "store_unavailable")
                assert str(tmp_path) not in str(reply)
            assert list(read_state(rest, "u")["stars"]) == ["before"]
        assert rest.get("/health").status_code == 200
        assert send_command(rest, universe, add_star("after"))["version"] == 2
        assert list(read_state(rest, "u")["stars"]) == ["before", "after"]


def test_a_damaged_entry_is_named_and_the_rest_can_be_read_and_branched(tmp_path: Path) -> None:
    with run_server(tmp_path) as rest:
        create_universe(rest, id="u")
        send_command(rest, "u", [add_star(f"s{n}") for n in range(1, 6)])
    with sqlite3.connect(tmp_path / "universes.db") as connection:
        connection.execute("UPDATE log SET events = ? WHERE version = 3", (b'[{"type":"starAdded","id":"s4"}]',))
    connection.close()
    with run_server(tmp_path) as rest:
        for answer in (
            rest.get("/universes/u"),
            rest.post("/universes/u/commands", json={"type": "tick"}),
            rest.get("/universes/u/positions"),
            rest.get("/universes/u/events"),
            rest.get("/universes/u", params={"version": 4}),
        ):
            reply = get_error(answer, 503, "log_damaged")
            assert (reply["sequence"], reply["universeId"]) == (3, "u")
        assert list(rest.get("/universes/u", params={"version": 2}).json()["state"]["stars"]) == ["s1", "s2"]
        branch: httpx.Response = rest.post("/universes/u/branch", json={"version": 2})
        assert branch.status_code == 201
        entries = rest.get("/universes/u/history").json()["entries"]
        assert [entry["version"] for entry in entries if entry.get("damaged")] == [3]
        assert entries[3]["command"] == add_star("s4")
        assert rest.get("/universes").json()["universes"][1]["id"] == "u"
