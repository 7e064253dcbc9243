"""The demo's universe: the system that the papers are about, changed by an agent over MCP and a person over REST."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
from pydantic import SecretStr
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from universe.app import make_app
from universe.config import UniverseConfig
from universe.nbody.reports import format_run_headline, run_and_report
from universe.provenance.bibliography import collect_cited_sources, format_bibtex
from universe.universe_files import write_orbit_picture
from uraniborg.kernel.files import write_atomic
from uraniborg.kernel.mcp.testing import connect_http_client, get_json, serve_app
from uraniborg.kernel.text import plural

_ID: Final = "trappist-1"
_BY_AGENT: Final[list[dict[str, Any]]] = [
    {"type": "tick", "dt": 12.35},
    {"type": "updateStar", "id": "trappist-1-e", "payload": {"color": "#7fb8a8"}},
]
_BY_PERSON: Final[list[dict[str, Any]]] = [{"type": "tick"}, {"type": "removeStar", "id": "trappist-1-i"}]
_WAIT_S: Final = 20


async def run_and_show_universe(console: Console, output: Path) -> None:
    """Serve the system on a free port, change it from both sides, and leave a picture and a bibliography."""
    console.print(Group(Text("A universe of the same system", "bold")))
    async with (
        serve_app(make_app(UniverseConfig(db=SecretStr("memory:")))) as url,
        httpx.AsyncClient(base_url=url) as rest,
    ):
        made = await rest.post("/universes", json={"name": "TRAPPIST-1", "id": _ID, "from": _ID})
        bodies = made.raise_for_status().json()["state"]["stars"]
        console.print(f"  TRAPPIST-1: {len(bodies)} bodies with values from {_describe_origins(bodies)}\n")
        async with _listen_to_events(url) as heard, connect_http_client(f"{url}/mcp") as agent:
            for command in _BY_AGENT:
                call = {"universeId": _ID, "command": command, "return": "events"}
                _print_command(
                    console, "agent, by MCP", command, get_json(await agent.call_tool("send_universe_command", call))
                )
            for command in _BY_PERSON:
                answer = await rest.post(f"/universes/{_ID}/commands?return=events", json=command)
                _print_command(console, "you, by REST", command, answer.json())
            async with asyncio.timeout(_WAIT_S):
                events = [await heard.get() for _ in range(3)]
        order = ", ".join(f"{one['version']} {one['command']['type']}" for one in events)
        console.print(Text.assemble(("  the stream      ", "dim"), order, (", the same for all listeners", "dim")))
        state = (await rest.get(f"/universes/{_ID}")).json()["state"]
    _write_results(console, state, output)


def _describe_origins(bodies: dict[str, Any]) -> str:
    """Return how many papers, and how many computations of ours, the values are from."""
    computed = {one["id"]: bool(one.get("computed")) for body in bodies.values() for one in body["sources"]}
    own = sum(computed.values())
    papers = plural(len(computed) - own, "paper")
    return f"{papers} and {plural(own, 'computation')} of ours" if own else papers


def _write_results(console: Console, state: dict[str, Any], output: Path) -> None:
    run = run_and_report(state, 30, universe_id=_ID, version=0)
    line = Table.grid()
    line.add_row(Text("  n-body          ", "dim"), format_run_headline(run.reply))
    console.print(line)
    console.print()
    write_orbit_picture(state, output / "trappist-1.png", title="TRAPPIST-1", t=None, scale="auto")
    write_atomic(output / "trappist-1.bib", format_bibtex(collect_cited_sources(state["stars"])))


@asynccontextmanager
async def _listen_to_events(url: str) -> AsyncGenerator[asyncio.Queue[dict[str, Any]]]:
    """Yield a queue of the events of the stream from now on."""
    heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    begun = asyncio.Event()

    async def listen() -> None:
        async with (
            httpx.AsyncClient(base_url=url, timeout=_WAIT_S) as client,
            client.stream("GET", f"/universes/{_ID}/events") as stream,
        ):
            async for line in stream.aiter_lines():
                begun.set()
                if line.startswith("data: "):
                    heard.put_nowait(json.loads(line.removeprefix("data: ")))

    listening = asyncio.create_task(listen())
    try:
        async with asyncio.timeout(_WAIT_S):
            await begun.wait()
        yield heard
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


def _describe_elapsed_days(command: dict[str, Any]) -> str:
    days = command.get("dt", 1)
    return f"{days:g} {'day' if days == 1 else 'days'} passed"


def _print_command(console: Console, who: str, command: dict[str, Any], answer: dict[str, Any]) -> None:
    if "error" in answer:
        outcome = Text(f"✘ {answer['error']['message']}", "yellow")
    else:
        events = ", ".join(event["type"] for event in answer["events"]) or _describe_elapsed_days(command)
        outcome = Text(f"✔ version {answer['version']}: {events}", "green")
    lines = Table.grid()
    lines.add_column(width=18)
    lines.add_row(Text(f"  {who}", "dim"), Text(json.dumps(command), "cyan"))
    lines.add_row("", outcome)
    console.print(lines)
