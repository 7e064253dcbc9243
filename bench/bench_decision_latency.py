"""How soon a decision continues what waited for it: a session of an agent, or a run of the console.

Decisions come through the API, from another process as `uraniborg decide` stores them, and through a dialog of the
agent's own client. The clock runs from before the decision is sent until the change feed announces that the session has
left its checkpoint, or that the run is active again. Claim: within 200 ms (p95).
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
from console_server import ConsoleServer, make_environment, run_console_server
from mcp import ClientSession
from mcp.shared.context import RequestContext
from mcp.types import ElicitRequestParams, ElicitResult

from uraniborg.kernel.mcp.testing import connect_stdio_client, get_json
from uraniborg.recordings import QUERY

LIMIT_MS: Final = 200.0
DECIDER: Final = """
import sys, time

from uraniborg.kernel.actors import Actor
from uraniborg.inbox_questions import check_and_decide
from uraniborg.kernel.store.inbox import Inbox, InboxDecision

tycho = Actor(kind="person", name="Tycho", authenticated="account")
inbox = Inbox()
for line in sys.stdin:
    began = time.monotonic()
    check_and_decide(inbox, line.strip(), InboxDecision(action="approve"), "terminal", tycho)
    print(began, flush=True)
"""
"""What `uraniborg decide` does after its start, which is not measured."""
APPROVAL: Final = {
    "nodes": [
        {"id": "ask", "type": "approval", "params": {"question": "Publish?"}},
        {"id": "say", "type": "echo", "params": {"message": "${ask.decision}"}},
    ],
    "edges": [{"from": "ask", "to": "say"}],
}
Event = tuple[float, str, dict[str, Any]]


@asynccontextmanager
async def open_events(server: ConsoleServer) -> AsyncGenerator[AsyncIterator[Event]]:
    """Yield the changes with the times at which they arrive."""

    async def read_events(response: httpx.Response) -> AsyncIterator[Event]:
        async for line in response.aiter_lines():
            if line.startswith("data:"):
                data = json.loads(line[5:])
                yield time.monotonic(), data["kind"], data

    async with (
        httpx.AsyncClient(base_url=server.url, headers=server.headers, timeout=120) as api,
        api.stream("GET", "/api/events") as response,
    ):
        yield read_events(response)


async def wait_for(events: AsyncIterator[Event], kind: str, *, not_phase: str = "", **facts: Any) -> Event:
    async with asyncio.timeout(60):
        async for event in events:
            if event[1] == kind and facts.items() <= event[2].items() and event[2].get("phase") != not_phase:
                return event
    raise AssertionError(kind)


async def wait_until_searched(events: AsyncIterator[Event], session_id: str) -> float:
    """Return when the session was seen to search, once it asks the next question. The two may arrive in any order."""
    at, is_asked = 0.0, False
    async with asyncio.timeout(60):
        async for arrived, kind, data in events:
            if kind == "source" and data["subject"] == session_id:
                at = at or arrived
            is_asked = is_asked or (kind == "inbox" and data["state"] == "pending" and data["about"] == session_id)
            if at and is_asked:
                return at
    raise AssertionError(session_id)


class OtherProcess:
    """A process that decides as a command does."""

    def __init__(self, env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", DECIDER], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def decide(self, entry_id: str) -> float:
        """Decide, and return when that began."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(entry_id, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def end(self) -> None:
        self._process.communicate()


class Dialogs:
    """The dialogs of the agent's client: declined, unless a decision is wanted."""

    def __init__(self) -> None:
        self.answered_at = 0.0
        self.accepts = False

    async def answer(  # only the first question of a session is answered
        self, context: RequestContext[ClientSession, Any, Any], params: ElicitRequestParams
    ) -> ElicitResult:
        del context, params
        if not self.accepts:
            return ElicitResult(action="decline")
        self.answered_at, self.accepts = time.monotonic(), False
        return ElicitResult(action="accept", content={"decision": "approve"})


async def measure_sessions(server: ConsoleServer, rounds: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"API": [], "another process": [], "client dialog": []}
    other, dialogs = OtherProcess(server.env), Dialogs()
    async with (
        connect_stdio_client(
            sys.executable, ["-m", "paper_search.mcp_server"], env=server.env, on_dialog=dialogs.answer
        ) as agent,
        open_events(server) as events,
        server.make_async_client() as api,
    ):
        for number in range(rounds + 1):
            for name, seconds in found.items():
                dialogs.accepts = name == "client dialog"
                call = asyncio.create_task(agent.call_tool("search_papers", {"query": QUERY}))
                asked = (await wait_for(events, "inbox", state="pending"))[2]
                entry_id, session_id = asked["subject"], asked["about"]
                if name == "client dialog":
                    at = await wait_until_searched(events, session_id)
                    began = dialogs.answered_at
                    await call
                else:
                    get_json(await call)
                    if name == "API":
                        began = time.monotonic()
                        await api.post(f"/api/inbox/{entry_id}/decide", json={"action": "approve"})
                    else:
                        began = await asyncio.to_thread(other.decide, entry_id)
                    at = await wait_until_searched(events, session_id)
                if number:  # the first of each loads modules
                    seconds.append(at - began)
    other.end()
    return found


async def measure_runs(server: ConsoleServer, rounds: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"API, of a run": [], "another process, of a run": []}
    other = OtherProcess(server.env)
    async with open_events(server) as events, server.make_async_client() as api:
        await api.put("/api/drafts/publish", json={"document": APPROVAL})
        for number in range(rounds + 1):
            for name, seconds in found.items():
                await api.post("/api/runs", json={"name": "publish", "fresh": True})
                entry_id = (await wait_for(events, "inbox", state="pending", part="pflow"))[2]["subject"]
                await wait_for(events, "run", workflow="publish", status="waiting")
                await asyncio.sleep(0.2)
                if name.startswith("API"):
                    began = time.monotonic()
                    await api.post(f"/api/inbox/{entry_id}/decide", json={"action": "approve"})
                else:
                    began = await asyncio.to_thread(other.decide, entry_id)
                at, *_ = await wait_for(events, "run", workflow="publish", status="running")
                await wait_for(events, "run", workflow="publish", status="success")
                if number:
                    seconds.append(at - began)
    other.end()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one decision each")
    rounds = 1 if parser.parse_args().quick else 20
    with tempfile.TemporaryDirectory() as folder, run_console_server(make_environment(Path(folder))) as server:
        found = asyncio.run(measure_sessions(server, rounds)) | asyncio.run(measure_runs(server, rounds))
    print(f"{rounds} decisions each, until what waited has continued  (limit: p95 {LIMIT_MS:.0f} ms)")
    for name, seconds in found.items():
        ordered = sorted(one * 1_000 for one in seconds)
        p50, p95 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
        print(f"  {name:<28} p50 {p50:6.0f} ms  p95 {p95:6.0f} ms  worst {ordered[-1]:6.0f} ms")


if __name__ == "__main__":
    main()
