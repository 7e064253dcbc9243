"""Fifty clients of the event stream, each on a connection of its own, receive a thousand changes of another process.

Every client must receive every change once and in order.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import httpx
from console_server import ConsoleServer, make_environment, run_console_server

CLIENTS: Final = 50
CHANGES: Final = 1_000
WRITER: Final = """
import sys, time
from uraniborg.kernel.store.change_feed import ChangeFeed

feed = ChangeFeed()
for number in range(int(sys.argv[1])):
    feed.publish("bench", str(number))
    time.sleep(0.001)
print(time.monotonic())
"""


async def receive_changes(server: ConsoleServer, count: int, ready: asyncio.Semaphore) -> tuple[list[str], float]:
    """Return the subjects of the changes in the order in which they arrived, and when the last one did."""
    found: list[str] = []
    async with (
        httpx.AsyncClient(base_url=server.url, headers=server.headers, timeout=120) as api,
        api.stream("GET", "/api/events") as response,
    ):
        is_bench = False
        async for line in response.aiter_lines():
            if line.startswith("retry:"):
                ready.release()
            elif line.startswith("event:"):
                is_bench = line == "event: bench"
            elif is_bench and line.startswith("data:"):
                found.append(line.split('"subject":"')[1].split('"')[0])
                if len(found) == count:
                    break
    return found, time.monotonic()


async def measure(server: ConsoleServer, clients: int, changes: int) -> tuple[int, float]:
    """Return how many clients received everything in order, and how long after the last write the last one did."""
    ready = asyncio.Semaphore(0)
    tasks = [asyncio.create_task(receive_changes(server, changes, ready)) for _ in range(clients)]
    for _ in range(clients):
        await ready.acquire()
    await asyncio.sleep(0.5)  # a stream starts at the end of the feed, once it has been opened
    command = [sys.executable, "-c", WRITER, str(changes)]
    written = await asyncio.to_thread(subprocess.check_output, command, env=server.env, text=True)
    received = await asyncio.gather(*tasks)
    expected = [str(number) for number in range(changes)]
    last = max(at for _, at in received)
    return sum(found == expected for found, _ in received), last - float(written)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="five clients and a hundred changes")
    clients, changes = (5, 100) if parser.parse_args().quick else (CLIENTS, CHANGES)
    with tempfile.TemporaryDirectory() as folder, run_console_server(make_environment(Path(folder))) as server:
        complete, delay = asyncio.run(measure(server, clients, changes))
    print(f"{complete} of {clients} clients received {changes:,} changes once and in order  (limit: all)")
    print(f"  the last one {delay * 1_000:.0f} ms after the last change was written")
    assert complete == clients


if __name__ == "__main__":
    main()
