"""What `GET /universes/{id}` costs at 10,000 bodies.

Claim: within 1.5x of orjson writing a plain dictionary of the same state, for a state that is different at every
request (a command is sent before each): nothing is answered from a cache. The path is the server's own, without the
network: look up, catch up, write.
"""

import asyncio
import time
from typing import Final

import orjson
from ratios import record_ratio
from universes import change, folder, state

from universe.service.reply_encoding import encode_record_with_state
from universe.service.universes import UniverseService
from universe.store.sqlite import SqliteStore

BODIES: Final = 10_000
ROUNDS: Final = 60


async def run() -> None:
    with folder() as path:
        async with UniverseService(SqliteStore(path / "bench.db")).running() as service:
            made = await service.create("bench", state(BODIES))
            plain = orjson.loads(orjson.dumps(state(BODIES)))
            written = peer = b""
            ours: list[float] = []
            theirs: list[float] = []
            for number in range(ROUNDS):
                await service.send(made.id, change(number, BODIES))
                started = time.perf_counter()
                seen = await service.view(made.id)
                written = await encode_record_with_state(seen.record, seen.replica)
                ours.append(time.perf_counter() - started)
                plain["stars"][f"body-{number}"]["mass"] = float(number)
                started = time.perf_counter()
                peer = orjson.dumps(plain)
                theirs.append(time.perf_counter() - started)
            assert len(written) > len(peer)
            ratio = sorted(ours)[ROUNDS // 2] / sorted(theirs)[ROUNDS // 2]
            record_ratio(f"{BODIES:,} bodies: ours to orjson", ratio)
            print(
                f"  {BODIES:,} bodies, {len(written):,} bytes: {ratio:.2f}x of orjson on a plain dictionary (claim 1.5)"
            )


if __name__ == "__main__":
    asyncio.run(run())
