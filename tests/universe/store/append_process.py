"""A process that appends to a universe and prints each version after it was acknowledged.

    python -m tests.universe.store.append_process ADDRESS UNIVERSE WRITER TIMES BATCH

Each line is the first and the last version of the entries of one append. TIMES 0 means until the process is ended.
"""

import asyncio
import sys

import orjson

from universe.store.factory import make_store
from universe.store.interface import StoredEntry, Superseded

AT = "2026-01-02T03:04:06.000Z"


async def append(address: str, universe_id: str, writer: str, times: int, batch: int) -> None:
    store = make_store(address)
    await store.open()
    done, version = 0, 0
    while not times or done < times:
        bodies = [orjson.dumps({"writer": writer, "append": done, "part": part}) for part in range(batch)]
        entries = [
            StoredEntry.make_with_digest(universe_id, version + 1 + part, "command", body, b"[]", AT)
            for part, body in enumerate(bodies)
        ]
        try:
            await store.append(universe_id, version, entries)
        except Superseded as late:
            version = late.version
            continue
        print(version + 1, version + batch, flush=True)
        done, version = done + 1, version + batch
    await store.close()


if __name__ == "__main__":
    _, where, which, who, how_often, how_many = sys.argv
    asyncio.run(append(where, which, who, int(how_often), int(how_many)))
