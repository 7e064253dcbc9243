"""The API, the MCP servers and the commands of one installation, to compare their results."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, cast

import httpx

from tests.installed_programs import Program, find_program
from tests.uraniborg.console.processes import ServerProcess
from uraniborg.kernel.mcp.testing import ClientSession, connect_http_client, connect_stdio_client, get_json
from uraniborg.recordings import QUERY

VOLATILE: Final = {
    "session_id",
    "elapsed_s",
    "checkpoint_id",
    "id",
    "papers_uri",
    "request_id",
    "run_id",
    "duration_ms",
}
"""Fields that differ between two sessions or two moments."""


@dataclass
class Surfaces:
    """The interfaces of one installation: all processes share the data of the server."""

    server: ServerProcess
    api: httpx.AsyncClient
    search: Any
    flow: Any
    library: Any
    universe: Any

    async def get(self, path: str, **params: Any) -> Any:
        return (await self.api.get(path, params=params)).raise_for_status().json()

    async def post(self, path: str, body: Any = None) -> Any:
        return (await self.api.post(path, json=body or {})).raise_for_status().json()

    async def call(self, client: Any, tool: str, **arguments: Any) -> Any:
        return get_json(await client.call_tool(tool, arguments))

    async def run(self, *arguments: str) -> Any:
        """Return the JSON that the command `uraniborg` prints."""
        home = Path(self.server.env["HOME"])
        done = await asyncio.to_thread(Program("uraniborg").run, *arguments, "--json", env=self.server.env, cwd=home)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    async def start_search(self) -> str:
        return (await self.post("/api/searches", {"query": QUERY}))["session_id"]

    async def complete_search(self) -> str:
        session_id = await self.start_search()
        await self.post(f"/api/searches/{session_id}/decide", {"action": "approve"})
        assert (await self.post(f"/api/searches/{session_id}/decide", {"action": "approve"}))["is_complete"]
        return session_id

    async def write_draft(self, name: str, document: dict[str, Any]) -> None:
        (await self.api.put(f"/api/drafts/{name}", json={"document": document})).raise_for_status()


Check = Callable[[Surfaces], Awaitable[None]]


def strip(value: Any) -> Any:
    """Return the value without volatile fields."""
    if isinstance(value, dict):
        return {name: strip(one) for name, one in cast("dict[str, Any]", value).items() if name not in VOLATILE}
    return [strip(one) for one in cast("list[Any]", value)] if isinstance(value, list) else value


def pick(whole: Any, part: Any) -> Any:
    """Return the fields of `whole` that `part` has, at every level. The API declares fields that others leave out."""
    if isinstance(whole, dict) and isinstance(part, dict):
        fields = cast("dict[str, Any]", whole)
        return {name: pick(fields.get(name), one) for name, one in cast("dict[str, Any]", part).items()}
    if isinstance(whole, list) and isinstance(part, list):
        pairs = zip_longest(cast("list[Any]", whole), cast("list[Any]", part))
        return [pick(one, other) for one, other in pairs]
    return cast("Any", whole)


def assert_contains(whole: dict[str, Any], part: dict[str, Any]) -> None:
    """Check that the reply of the API has every field of the other reply, with the same value."""
    whole, part = strip(whole), strip(part)
    assert pick(whole, part) == part


def connect_agent(server: ServerProcess, name: str) -> AbstractAsyncContextManager[ClientSession]:
    """Return an agent with its credential at the MCP server of a part."""
    address, token = server.get_mcp(name)
    return connect_http_client(address, token=token)


@asynccontextmanager
async def open_surfaces(server: ServerProcess) -> AsyncGenerator[Surfaces]:
    environment = {**server.env, "URANIBORG_PAPER_SEARCH__REPLAY_DIR": ""}
    async with (
        server.make_async_client() as api,
        connect_stdio_client(find_program("python"), ["-m", "paper_search.mcp_server"], env=environment) as search,
        connect_stdio_client(find_program("python"), ["-m", "pflow", "mcp", "serve"], env=environment) as flow,
        connect_agent(server, "paper-library") as library,
        connect_agent(server, "universe") as universe,
    ):
        yield Surfaces(server, api, search, flow, library, universe)
