"""How many commands a second the service takes, each on disk before it is answered.

Claims: with 64 clients on one universe at least a quarter of what 64 clients append of the same entries through one
writing task that commits in groups, with nothing but sqlite3; and with one client at least a third of raw single
appends; synchronous=FULL on both sides. The service also checks and reduces each command, keeps the state, and writes
beside the loop; the peer only inserts, on the loop. For comparison a bare loop of groups of 64, without any client, is
shown too.

A busy machine makes both sides wait for the disk, and the ratios larger than they are: compare them in a quiet one.
"""

import asyncio
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvloop
from ratios import record_ratio
from universes import change, folder, state

from universe.service.universes import UniverseService
from universe.store.interface import StoredEntry
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.http.uvicorn_server import tune_garbage_collection

BODIES: Final = 100
CLIENTS: Final = 64
EACH: Final = 50
ALONE: Final = 400
TURNS: Final = 10
ROUNDS: Final = 5


class Raw:
    """The same entries in a table of the same shape, and nothing else."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute(
            "CREATE TABLE log (universe_id TEXT, version INTEGER, kind TEXT, body BLOB, events BLOB, at TEXT, "
            "digest BLOB, author TEXT, identity TEXT, PRIMARY KEY (universe_id, version)) WITHOUT ROWID"
        )

    def write(self, universe: str, entries: list[StoredEntry]) -> None:
        universe = f"uni_{universe.zfill(32)}"  # as long as our ids
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(
            "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(universe, *one) for one in entries],
        )
        self._connection.execute("COMMIT")

    def alone(self, entries: list[StoredEntry]) -> None:
        for entry in entries:
            self.write("alone", [entry])

    def in_groups(self, entries: list[StoredEntry]) -> None:
        for first in range(0, len(entries), CLIENTS):
            self.write("groups", entries[first : first + CLIENTS])

    async def by_clients(self, entries: list[StoredEntry]) -> None:
        """Each client waits for its entry before it brings the next; what waits is written together."""
        loop = asyncio.get_running_loop()
        waiting: list[tuple[StoredEntry, asyncio.Future[None]]] = []
        brought = asyncio.Event()

        async def writer() -> None:
            while True:
                await brought.wait()
                brought.clear()
                group = waiting.copy()
                waiting.clear()
                self.write("clients", [entry for entry, _ in group])
                for _, future in group:
                    future.set_result(None)

        async def client(mine: list[StoredEntry]) -> None:
            for entry in mine:
                future = loop.create_future()
                waiting.append((entry, future))
                brought.set()
                await future

        writing = asyncio.create_task(writer())
        await asyncio.gather(*(client(entries[first::CLIENTS]) for first in range(CLIENTS)))
        writing.cancel()


@dataclass
class Times:
    """Seconds, summed over turns that follow each other: a machine that slows down slows down all of them."""

    alone: float = 0.0
    raw_alone: float = 0.0
    together: float = 0.0
    raw_clients: float = 0.0
    raw_groups: float = 0.0

    @contextmanager
    def adding_to(self, name: str) -> Generator[None]:
        started = time.perf_counter()
        yield
        setattr(self, name, getattr(self, name) + time.perf_counter() - started)


async def measured(path: Path) -> Times:
    times = Times()
    raw = Raw(path / "raw.db")
    async with UniverseService(SqliteStore(path / "ours.db")).running() as service:
        made = await service.create("bench", state(BODIES))
        sent = 1

        async def client(count: int) -> None:
            for number in range(count):
                await service.send(made.id, change(number, BODIES))

        async def just_written(count: int) -> list[StoredEntry]:
            nonlocal sent
            sent += count
            return await service.read_history(made.id, after=sent - count, limit=count)

        await client(200)
        await just_written(200)
        for _ in range(TURNS):
            with times.adding_to("alone"):
                await client(ALONE)
            entries = await just_written(ALONE)
            with times.adding_to("raw_alone"):
                raw.alone(entries)
            with times.adding_to("together"):
                await asyncio.gather(*(client(EACH) for _ in range(CLIENTS)))
            entries = await just_written(CLIENTS * EACH)
            with times.adding_to("raw_clients"):
                await raw.by_clients(entries)
            with times.adding_to("raw_groups"):
                raw.in_groups(entries)
    return times


def main() -> None:
    tune_garbage_collection()  # as the server does when it starts
    shares: list[tuple[float, float, float]] = []
    for number in range(1, ROUNDS + 1):
        with folder() as path:
            times = uvloop.run(measured(path))
        shares.append(
            (times.raw_alone / times.alone, times.raw_clients / times.together, times.raw_groups / times.together)
        )
        print(
            f"  round {number}: one client {TURNS * ALONE / times.alone:,.0f} a second ({shares[-1][0]:.2f} of raw); "
            f"{CLIENTS} clients {TURNS * CLIENTS * EACH / times.together:,.0f} a second ({shares[-1][1]:.2f} of raw, "
            f"{shares[-1][2]:.2f} of raw without clients)"
        )
    one, many, bare = (sorted(values)[ROUNDS // 2] for values in zip(*shares, strict=True))
    print(f"  one client: {one:.2f} of raw single appends (claim 0.33)")
    print(f"  {CLIENTS} clients: {many:.2f} of raw group commits by {CLIENTS} clients (claim 0.25)")
    print(f"  {CLIENTS} clients: {bare:.2f} of a bare loop of group commits")
    record_ratio("one client to raw single appends", one)
    record_ratio(f"{CLIENTS} clients to raw group commits", many)


if __name__ == "__main__":
    main()
