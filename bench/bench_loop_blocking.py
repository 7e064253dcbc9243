"""How long the event loop of `uraniborg serve` is blocked while searches, reviews, lists, runs and streams go on.

A task in the server wakes every 2 ms and records by how much it is late. The lateness includes the time that the
operating system gives to other processes; the part of it in which the server itself used the CPU is the part that the
server can be blamed for. Both must stay under 50 ms.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import httpx
from console_server import QUERY, ConsoleServer, install_sources, make_environment, run_console_server

LIMIT_MS: Final = 50.0
PAPERS: Final = 2_000
STREAMS: Final = 10
MONITORED: Final = """
import asyncio, json, os, sys, time

from uraniborg.servers.command import run_serve
from uraniborg.servers.process import PartServers

PERIOD_S = 0.002


async def watch_loop(worst):
    while True:
        began, used = time.monotonic(), time.process_time()
        await asyncio.sleep(PERIOD_S)
        late = time.monotonic() - began - PERIOD_S
        worst.append((late, min(late, time.process_time() - used)))


run = PartServers.run


async def run_watched(self, on_ready, stopping):
    worst = []

    def start_to_watch():
        self.watching = asyncio.create_task(watch_loop(worst))
        on_ready()

    await run(self, start_to_watch, stopping)
    self.watching.cancel()
    with open(os.environ["LATENESS"], "w") as file:
        json.dump(sorted(worst, reverse=True)[:100], file)


PartServers.run = run_watched
run_serve(0, open_browser=False, as_json=True)
"""
"""The server as `uraniborg serve` runs it, with a task that records how late its event loop is."""
WORKFLOW: Final[dict[str, Any]] = {
    "nodes": [{"id": f"n{number}", "type": "echo", "params": {"message": "x"}} for number in range(20)],
}


async def decide(api: httpx.AsyncClient, path: str, action: str) -> dict[str, Any]:
    """Decide, and return the state once the session waits again or is complete."""
    reply = (await api.post(f"{path}/decide", json={"action": action})).raise_for_status().json()
    while not (reply["has_pending_checkpoint"] or reply["is_complete"]):
        await asyncio.sleep(0.2)
        reply = (await api.get(path)).raise_for_status().json()
    return reply


async def search_and_review(api: httpx.AsyncClient, rounds: int) -> None:
    """Search, list and mark papers, search again, and export the result in many formats."""
    reply = (await api.post("/api/searches", json={"query": QUERY, "max_results": 1_000})).raise_for_status().json()
    path = f"/api/searches/{reply['session_id']}"
    for number in range(rounds):
        if number:
            await decide(api, path, "reject")
        await decide(api, path, "approve")
        for sort in ("rank", "title", "year", "status"):
            listed = await api.get(f"{path}/papers", params={"sort": sort, "limit": 500, "q": "ocean"})
            papers = listed.raise_for_status().json()["papers"]
        marks = dict.fromkeys((paper["id"] for paper in papers), "include")
        (await api.put(f"{path}/marks", json={"decisions": marks})).raise_for_status()
    await decide(api, path, "approve")
    for name in ("json", "bibtex", "markdown", "prisma-json", "prisma-svg", "csl-json"):
        (await api.get(f"{path}/export", params={"format": name})).raise_for_status()


async def read_lists(api: httpx.AsyncClient, done: asyncio.Event) -> int:
    count = 0
    while not done.is_set():
        for path in ("/api/inbox", "/api/searches", "/api/runs", "/api/workflows", "/api/openapi.json"):
            (await api.get(path)).raise_for_status()
            count += 1
    return count


async def run_workflows(api: httpx.AsyncClient, done: asyncio.Event) -> None:
    (await api.put("/api/drafts/many", json={"document": WORKFLOW})).raise_for_status()
    while not done.is_set():
        (await api.post("/api/runs", json={"name": "many", "fresh": True})).raise_for_status()
        await asyncio.sleep(0.5)


async def follow_stream(server: ConsoleServer) -> None:
    async with (
        httpx.AsyncClient(base_url=server.url, headers=server.headers, timeout=None) as api,
        api.stream("GET", "/api/events") as response,
    ):
        async for _ in response.aiter_lines():
            pass


async def put_load(server: ConsoleServer, searches: int) -> int:
    done = asyncio.Event()
    async with server.make_async_client() as api, asyncio.TaskGroup() as group:
        streams = [group.create_task(follow_stream(server)) for _ in range(STREAMS)]
        reading = group.create_task(read_lists(api, done))
        runs = group.create_task(run_workflows(api, done))
        await asyncio.gather(*(search_and_review(api, 2) for _ in range(searches)))
        done.set()
        await asyncio.wait([reading, runs])
        for stream in streams:
            stream.cancel()
    return reading.result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one search of 200 papers")
    quick = parser.parse_args().quick
    papers, searches = (200, 1) if quick else (PAPERS, 2)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        env = make_environment(home, **install_sources(home / "site", papers), LATENESS=str(home / "lateness.json"))
        with run_console_server(env, [sys.executable, "-c", MONITORED]) as server:
            requests = asyncio.run(put_load(server, searches))
        worst = json.loads((home / "lateness.json").read_text())
    late, own = max(one[0] for one in worst) * 1_000, max(one[1] for one in worst) * 1_000
    cores = os.cpu_count()
    print(f"{searches} searches of {papers:,} papers, {requests} lists, {STREAMS} streams and runs, on {cores} cores")
    print(f"  worst lateness of the event loop      {late:6.1f} ms  (limit {LIMIT_MS:.0f} ms)")
    print(f"  of it, while the server used the CPU  {own:6.1f} ms  (limit {LIMIT_MS:.0f} ms)")
    print(f"  next ones: {', '.join(f'{one[0] * 1000:.0f}' for one in sorted(worst, reverse=True)[1:10])} ms")


if __name__ == "__main__":
    main()
