"""How long it takes to have a universe with a long log in memory.

Claim: a universe of 10,000 bodies with 100,000 logged commands loads in under 2x the time of reading and decoding its
last snapshot alone, also where the log goes on for hundreds of commands after the snapshot.
"""

import asyncio
import time
from pathlib import Path
from typing import Final

from ratios import record_ratio
from universes import change, folder, state

from universe.domain.state import make_state_from_plain
from universe.service.universes import SNAPSHOT_EVERY, UniverseService
from universe.store.log_encoding import decode_json
from universe.store.replica import rebuild_replica
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.http.uvicorn_server import tune_garbage_collection

BODIES: Final = 10_000
COMMANDS: Final = 100_000
TAIL: Final = SNAPSHOT_EVERY - 10
ROUNDS: Final = 7


async def write(path: Path) -> str:
    async with UniverseService(SqliteStore(path)).running() as service:
        made = await service.create("bench", state(BODIES))
        for first in range(0, COMMANDS, 1_000):
            await service.send(made.id, [change(first + number, BODIES) for number in range(1_000)])
        return made.id


async def add_tail(path: Path, universe_id: str) -> None:
    async with UniverseService(SqliteStore(path), snapshot_every=10**6).running() as service:
        await service.send(universe_id, [change(number, BODIES) for number in range(TAIL)])


async def measure(path: Path, universe_id: str, label: str) -> None:
    store = SqliteStore(path)
    await store.open()
    ratios: list[float] = []
    behind = 0
    for _ in range(ROUNDS):
        started = time.perf_counter()
        snapshot = await store.find_latest_snapshot(universe_id)
        assert snapshot is not None
        state = make_state_from_plain(decode_json(snapshot.state))
        read = time.perf_counter() - started
        started = time.perf_counter()
        replica = await rebuild_replica(store, universe_id)
        loaded = time.perf_counter() - started
        assert len(state.stars) == len(replica.state.stars) == BODIES
        ratios.append(loaded / read)
        behind = replica.version - snapshot.version
    await store.close()
    print(f"  {label}: {behind} commands after the snapshot, {sorted(ratios)[ROUNDS // 2]:.2f}x of it (claim 2)")
    record_ratio(f"{label}: loading to reading the snapshot", sorted(ratios)[ROUNDS // 2])


async def run() -> None:
    tune_garbage_collection()  # as the server does when it starts; full collections would hit either side at random
    with folder() as path:
        universe_id = await write(path / "bench.db")
        await measure(path / "bench.db", universe_id, "at a snapshot")
        await add_tail(path / "bench.db", universe_id)
        await measure(path / "bench.db", universe_id, "just before the next")


if __name__ == "__main__":
    asyncio.run(run())
