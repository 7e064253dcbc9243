"""Whatever fails and wherever it shows, the error has one shape. A new surface is one more line in SURFACES."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import AnyUrl, SecretStr

from tests.installed_programs import find_program
from tests.uraniborg.kernel.mcp import sample_server as sample
from uraniborg.kernel.mcp import make_stateful_app, make_stateless_app
from uraniborg.kernel.mcp.testing import (
    ClientSession,
    McpError,
    connect_client,
    connect_http_client,
    connect_stdio_client,
    get_json,
    serve_app,
)

Surface = Callable[[], Awaitable[Any]]


async def failing_tool(client: ClientSession, name: str = "lose", /, **arguments: Any) -> Any:
    result = await client.call_tool(name, arguments or {"paper_id": "p1"})
    assert result.isError
    return get_json(result)


async def mcp_in_memory() -> Any:
    async with connect_client(sample.sample_server()) as client:
        return await failing_tool(client)


async def mcp_refused_argument() -> Any:
    async with connect_client(sample.sample_server()) as client:
        return await failing_tool(client, "echo", text=1, times=0)


async def mcp_unknown_tool() -> Any:
    async with connect_client(sample.sample_server()) as client:
        return await failing_tool(client, "unheard_of")


async def mcp_breakdown() -> Any:
    async with connect_client(sample.sample_server()) as client:
        return await failing_tool(client, "break_down", how="error")


async def mcp_missing_resource() -> Any:
    async with connect_client(sample.sample_server()) as client:
        with pytest.raises(McpError) as caught:
            await client.read_resource(AnyUrl("sample://nowhere"))
    return caught.value.error.data


async def mcp_over_stdio() -> Any:
    async with connect_stdio_client(sys.executable, [str(Path(sample.__file__))]) as client:
        return await failing_tool(client)


async def paper_search_server() -> Any:
    home = {"URANIBORG_HOME": os.environ["URANIBORG_HOME"]}
    async with connect_stdio_client(find_program("python"), ["-m", "paper_search.mcp_server"], home) as client:
        return await failing_tool(client, "get_session", session_id="7f3a")


async def mcp_over_stateless_http() -> Any:
    async with (
        serve_app(make_stateless_app(sample.sample_server())) as url,
        connect_http_client(f"{url}/mcp") as client,
    ):
        return await failing_tool(client)


async def mcp_over_stateful_http() -> Any:
    async with serve_app(make_stateful_app(sample.sample_server())) as url, connect_http_client(f"{url}/mcp") as client:
        return await failing_tool(client)


async def library_tool() -> Any:
    async with serve_app(library_app()) as url, connect_http_client(f"{url}/mcp") as client:
        return await failing_tool(client, "get_paper_metadata", paper_id="nothing of the kind")


async def library_resource() -> Any:
    async with serve_app(library_app()) as url, connect_http_client(f"{url}/mcp") as client:
        with pytest.raises(McpError) as caught:
            await client.read_resource(AnyUrl("paper://nothing/source"))
    return caught.value.error.data


def library_address(path: str, status: int) -> Surface:
    """Return a surface for a GET that the library refuses."""

    async def refused() -> Any:
        async with serve_app(library_app()) as url, httpx.AsyncClient(base_url=url) as client:
            response = await client.get(path)
        assert response.status_code == status
        return response.json()

    return refused


def library_app() -> Any:
    from paper_library.api.app import make_app
    from paper_library.config import LibraryConfig
    from paper_library.service.shelf_catalog import sample_shelf

    return make_app(LibraryConfig(shelf=sample_shelf()))


def refused_by_http(method: str, status: int, *, content: bytes = b"", **headers: str) -> Surface:
    """Return a surface for an HTTP request that the stateful endpoint refuses."""

    async def refused() -> Any:
        async with (
            serve_app(make_stateful_app(sample.sample_server())) as url,
            httpx.AsyncClient(base_url=url) as client,
        ):
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            response = await client.request(method, "/mcp", content=content, headers=sent)
        assert response.status_code == status
        return response.json()

    return refused


def command(program: str, *args: str) -> Surface:
    """Return a surface for a command that fails with --json."""

    async def failed() -> Any:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            find_program(program), *args, stdout=pipe, stderr=asyncio.subprocess.DEVNULL
        )
        stdout, _ = await process.communicate()
        assert process.returncode
        return json.loads(stdout)

    return failed


def universe_request(method: str, path: str, status: int, **request: Any) -> Surface:
    async def ask() -> Any:
        from universe.api.app import make_app
        from universe.config import UniverseConfig

        app = make_app(UniverseConfig(db=SecretStr("memory:")))
        async with serve_app(app) as url, httpx.AsyncClient(base_url=url) as client:
            (await client.post("/universes", json={"name": "u", "id": "u"})).raise_for_status()
            response = await client.request(method, path, **request)
            assert response.status_code == status
            return response.json()

    return ask


async def universe_tool() -> Any:
    from universe.api.app import make_app
    from universe.config import UniverseConfig

    async with (
        serve_app(make_app(UniverseConfig(db=SecretStr("memory:")))) as url,
        connect_http_client(f"{url}/mcp") as client,
    ):
        return await failing_tool(client, "get_universe_state", universeId="u-42")


def workflow_tool(tool: str, /, **arguments: Any) -> Surface:
    """Return a surface for a tool that fails. Other keys of the reply are beside its error."""

    async def ask() -> Any:
        home = {name: os.environ[name] for name in ("PFLOW_HOME", "URANIBORG_HOME")}
        async with connect_stdio_client(find_program("python"), ["-m", "pflow", "mcp", "serve"], home) as client:
            return _error_of_a_run(await failing_tool(client, tool, **arguments))

    return ask


def workflow_run(*args: str) -> Surface:
    async def failed() -> Any:
        return _error_of_a_run(await command("pflow", "run", *args, "--json")())

    return failed


def _error_of_a_run(reply: Any) -> Any:
    assert reply.pop("success") is False
    assert reply["error"]["type"]
    return {"error": reply["error"]}


SURFACES: dict[str, Surface] = {
    "workflows, tool": workflow_tool("describe_workflow", name="nothing"),
    "workflows, tool, name": workflow_tool("save_to_library", draft_name="../x", final_name="x", description="x"),
    "workflows, tool, run": workflow_tool("execute", name="nothing"),
    "workflows, run": workflow_run("nothing"),
    "workflows, run, usage": workflow_run("nothing", "--no-such-option"),
    "workflows, command": command("pflow", "describe", "nothing", "--json"),
    "workflows, no such run": command("pflow", "show", "run_7f3a", "--json"),
    "workflows, no such server": command("pflow", "mcp", "remove", "nothing", "--json"),
    "workflows, command, usage": command("pflow", "dance", "--json"),
    "universe, tool": universe_tool,
    "universe, no such universe": universe_request("GET", "/universes/none", 404),
    "universe, no such universe to listen to": universe_request("GET", "/universes/none/events", 404),
    "universe, refused command": universe_request(
        "POST", "/universes/u/commands", 422, json={"type": "removeStar", "id": "x"}
    ),
    "universe, malformed command": universe_request("POST", "/universes/u/commands", 400, json={"type": "warp"}),
    "universe, no JSON": universe_request(
        "POST", "/universes/u/commands", 400, content=b"{", headers={"Content-Type": "application/json"}
    ),
    "universe, bad number": universe_request(
        "POST", "/universes/u/commands", 400, content=b"[NaN]", headers={"Content-Type": "application/json"}
    ),
    "universe, media type": universe_request("POST", "/universes/u/commands", 415, content=b"{}"),
    "universe, page of another site": universe_request(
        "GET", "/universes", 403, headers={"Sec-Fetch-Site": "cross-site"}
    ),
    "universe, refused parameter": universe_request("GET", "/universes?limit=0", 400),
    "universe, version": universe_request(
        "POST", "/universes/u/commands?expectedVersion=7", 409, json={"type": "tick"}
    ),
    "universe, origin": universe_request("GET", "/universes", 403, headers={"Origin": "http://evil.example"}),
    "universe, no such address": universe_request("GET", "/nowhere", 404),
    "universe, method": universe_request("PATCH", "/universes/u", 405),
    "universe, command": command("universe", "show", "nothing", "--json"),
    "universe, command, usage": command("universe", "warp", "--json"),
    "MCP in memory": mcp_in_memory,
    "library, tool": library_tool,
    "library, resource": library_resource,
    "library, no such paper over REST": library_address("/api/v1/papers/none", 404),
    "library, refused argument over REST": library_address("/api/v1/search?limit=0", 422),
    "library, no such address": library_address("/nowhere", 404),
    "library, no such address below REST": library_address("/api/v1/nowhere", 404),
    "library, command": command("paper-library", "stats", "nowhere", "--json"),
    "MCP, refused argument": mcp_refused_argument,
    "MCP, unknown tool": mcp_unknown_tool,
    "MCP, breakdown": mcp_breakdown,
    "MCP, missing resource": mcp_missing_resource,
    "MCP over stdio": mcp_over_stdio,
    "MCP over stateless HTTP": mcp_over_stateless_http,
    "MCP over stateful HTTP": mcp_over_stateful_http,
    "HTTP, origin": refused_by_http("POST", 403, origin="http://evil.example"),
    "HTTP, method": refused_by_http("PUT", 405),
    "HTTP, version": refused_by_http("POST", 400, mcp_protocol_version="0"),
    "HTTP, session": refused_by_http("GET", 404, mcp_session_id="gone", accept="text/event-stream"),
    "HTTP, body": refused_by_http("POST", 400, content=b"{", content_type="application/json"),
    "search command": command("python", "-m", "paper_search", "--json", "--domain", "alchemy", "moons"),
    "search command, usage": command("python", "-m", "paper_search", "--json", "--no-such-option"),
    "paper search server": paper_search_server,
    "inbox command": command("uraniborg", "inbox", "7f3a", "--json"),
    "decide command": command("uraniborg", "decide", "7f3a", "approve", "--json"),
    "house command": command("uraniborg", "demo", "--json", "--output", os.devnull),
    "house command, usage": command("uraniborg", "dance", "--json"),
}


@pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES.keys())
async def test_every_error_has_the_one_shape(surface: Surface, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path))
    monkeypatch.setenv("PFLOW_HOME", str(tmp_path / "pflow"))
    body = await surface()
    assert body.keys() == {"error"}
    error = body["error"]
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", error["code"])
    assert error["message"].strip()
    assert isinstance(error["hint"], str)
    assert json.loads(json.dumps(error, allow_nan=False)) == error
