"""How many commands a second the service takes, each on disk before it is answered.

Claims: with 64 clients on one universe at least a quarter of what raw sqlite3 appends in groups of 64 of the same
entries, and with one client at least a third of raw single appends; synchronous=FULL on both sides. The service also
checks and reduces each command, keeps the state, and answers 64 tasks one by one; the peer only inserts.
"""

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Any, Final

import uvloop
from universes import change, folder, state

from universe.service.universes import UniverseService
from universe.store.port import Entry
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.running import settle

BODIES: Final = 100
CLIENTS: Final = 64
EACH: Final = 200
ALONE: Final = 2_000
ROUNDS: Final = 5


async def service_rates(path: Path) -> tuple[float, float, list[Entry]]:
    async with UniverseService(SqliteStore(path)).running() as service:
        made = await service.create("bench", state(BODIES))

        async def client(count: int) -> None:
            for number in range(count):
                await service.send(made.id, change(number, BODIES))

        await client(200)
        started = time.perf_counter()
        await client(ALONE)
        alone = ALONE / (time.perf_counter() - started)
        started = time.perf_counter()
        await asyncio.gather(*(client(EACH) for _ in range(CLIENTS)))
        together = CLIENTS * EACH / (time.perf_counter() - started)
        return alone, together, await service.history(made.id, after=1, limit=CLIENTS * EACH)


def raw_rates(path: Path, entries: list[Entry]) -> tuple[float, float]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(
        "CREATE TABLE log (universe_id TEXT, version INTEGER, kind TEXT, body BLOB, events BLOB, at TEXT, digest BLOB, "
        "PRIMARY KEY (universe_id, version)) WITHOUT ROWID"
    )
    insert = "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)"

    def row(entry: Entry, universe: str) -> tuple[Any, ...]:
        return universe, entry.version, entry.kind, entry.body, entry.events, entry.at, entry.digest

    started = time.perf_counter()
    for entry in entries[:ALONE]:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(insert, row(entry, "alone"))
        connection.execute("COMMIT")
    alone = ALONE / (time.perf_counter() - started)
    started = time.perf_counter()
    for first in range(0, len(entries), CLIENTS):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(insert, [row(entry, "together") for entry in entries[first : first + CLIENTS]])
        connection.execute("COMMIT")
    together = len(entries) / (time.perf_counter() - started)
    connection.close()
    return alone, together


def main() -> None:
    settle()  # as the server does when it starts
    shares: list[tuple[float, float]] = []
    for number in range(ROUNDS):
        with folder() as path:
            alone, together, entries = uvloop.run(service_rates(path / "ours.db"))
            raw_alone, raw_together = raw_rates(path / "raw.db", entries)
        shares.append((alone / raw_alone, together / raw_together))
        print(
            f"  round {number + 1}: one client {alone:,.0f} of {raw_alone:,.0f} raw ({shares[-1][0]:.2f}); "
            f"{CLIENTS} clients {together:,.0f} of {raw_together:,.0f} raw ({shares[-1][1]:.2f})"
        )
    one, many = (sorted(values)[ROUNDS // 2] for values in zip(*shares, strict=True))
    print(f"  one client: {one:.2f} of raw single appends (claim 0.33)")
    print(f"  {CLIENTS} clients: {many:.2f} of raw group commits (claim 0.25)")


if __name__ == "__main__":
    main()
