"""The unix sockets of `uraniborg serve`: agents use them as they use the ports, with their credentials."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.installed_programs import find_program
from tests.paper_library.operations.command_runs import wait_until
from tests.uraniborg.console.processes import ServerProcess, make_environment, run_installed_server, run_server
from uraniborg.connect.client_file import read_address_and_token, read_entries
from uraniborg.connect.clients import list_clients
from uraniborg.kernel.mcp.testing import connect_http_client, get_json
from uraniborg.recordings import QUERY
from uraniborg.servers.credentials import AgentCredentials
from uraniborg.servers.unix_sockets import is_listening

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no unix sockets in Python"),
]
NAMES = ("paper-search", "paper-library", "universe")


@pytest.fixture(scope="module")
def short_folder() -> Generator[Path]:
    """Return a folder with a path that is short enough for sockets in it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def server(short_folder: Path) -> Generator[ServerProcess]:
    (short_folder / "home").mkdir()
    with run_server(short_folder / "home") as running:
        yield running


def find_path(server: ServerProcess, name: str) -> Path:
    assert server.parts[name]["socket_problem"] is None
    return Path(server.parts[name]["socket"])


async def wait_until_closed(path: Path) -> None:
    await asyncio.to_thread(wait_until, lambda: not is_listening(path))


@asynccontextmanager
async def connect_at_socket(socket: str, token: str, path: str = "/mcp") -> AsyncGenerator[ClientSession]:
    """Yield an initialized client of the MCP endpoint with this path at a unix socket."""
    headers, transport = {"Authorization": f"Bearer {token}"}, httpx.AsyncHTTPTransport(uds=socket)
    async with (
        httpx.AsyncClient(headers=headers, transport=transport, timeout=60) as http,
        streamable_http_client(f"http://localhost{path}", http_client=http) as (read, write, _),
        ClientSession(read, write) as client,
    ):
        await client.initialize()
        yield client


async def list_tools(server: ServerProcess, name: str) -> set[str]:
    socket, token = str(find_path(server, name)), server.get_mcp(name)[1]
    async with connect_at_socket(socket, token) as agent:
        return {tool.name for tool in (await agent.list_tools()).tools}


def post(server: ServerProcess, name: str, token: str, host: str = "localhost") -> httpx.Response:
    """Return the answer to a request for the tools at the socket of a server."""
    headers = {"Host": host, "Accept": "application/json, text/event-stream", "X-Request-Id": "request-of-a-test"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(find_path(server, name))), timeout=60) as http:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        return http.post("http://localhost/mcp", headers=headers, json=body)


@pytest.mark.parametrize("name", NAMES)
async def test_an_agent_with_its_credential_uses_the_tools_at_the_socket(server: ServerProcess, name: str) -> None:
    socket, token = str(find_path(server, name)), server.get_mcp(name)[1]
    async with connect_at_socket(socket, token) as agent:
        tools = {tool.name for tool in (await agent.list_tools()).tools}
        if name == "paper-search":
            asked = get_json(await agent.call_tool("search_papers", {"query": QUERY}))
            with server.make_client() as api:
                (entry,) = [
                    one for one in api.get("/api/inbox").json()["entries"] if one["subject"] == asked["session_id"]
                ]
            assert entry["id"] == asked["checkpoint_id"]
    async with connect_http_client(server.parts[name]["mcp"], token=token) as agent:
        assert {tool.name for tool in (await agent.list_tools()).tools} == tools


async def test_an_agent_at_a_socket_is_recorded_with_its_credential(server: ServerProcess) -> None:
    socket, token = str(find_path(server, "paper-search")), server.get_mcp("paper-search")[1]
    async with connect_at_socket(socket, token) as agent:
        asked = get_json(await agent.call_tool("search_papers", {"query": QUERY}))
        await agent.call_tool("decide", {"session_id": asked["session_id"], "action": "approve"})
    with server.make_client() as api:
        actor = api.get(f"/api/inbox/{asked['checkpoint_id']}").json()["actor"]
    assert (actor["kind"], actor["authenticated"]) == ("agent", "credential")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("token", ["", "wrong", "{key}", "{of another server}", "{revoked}"])
def test_every_socket_asks_for_a_credential(server: ServerProcess, name: str, token: str) -> None:
    others = {"paper-search": "universe", "paper-library": "universe", "universe": "paper-library"}
    if token == "{key}":
        token = server.sign_in("Sophie")
    elif token == "{of another server}":
        token = server.get_mcp(others[name])[1]
    elif token == "{revoked}":
        credentials = AgentCredentials(Path(server.env["URANIBORG_HOME"]) / "data" / "console" / "agents.json")
        token = credentials.make_token("revoked-agent", name)
        credentials.revoke("revoked-agent")
    answer = post(server, name, token)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not_authorized")
    assert answer.headers["x-request-id"] == "request-of-a-test"


@pytest.mark.parametrize("name", NAMES)
def test_a_request_at_a_socket_names_this_machine_as_its_host(server: ServerProcess, name: str) -> None:
    token = server.get_mcp(name)[1]
    for host in ("localhost", "localhost:80", "127.0.0.1"):
        answer = post(server, name, token, host)
        assert answer.status_code != 421
        assert answer.status_code != 401
    refused = post(server, name, token, "attacker.example")
    assert (refused.status_code, refused.json()["error"]["code"]) == (421, "host_not_allowed")


def test_a_clean_end_removes_the_sockets(short_folder: Path) -> None:
    home = short_folder / "clean"
    home.mkdir()
    with run_server(home) as server:
        paths = [find_path(server, name) for name in NAMES]
        assert all(path.is_socket() for path in paths)
    assert [path.name for path in paths[0].parent.iterdir() if path.suffix == ".sock"] == []


async def test_a_killed_server_starts_again_at_its_sockets(short_folder: Path) -> None:
    home = short_folder / "killed"
    home.mkdir()
    with run_server(home) as first:
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        await wait_until_closed(find_path(first, "paper-search"))  # its process ends a moment later
        assert find_path(first, "universe").is_socket()
    with run_server(home) as second:
        for name in NAMES:
            assert find_path(second, name) == find_path(first, name)
            assert await list_tools(second, name)


async def test_a_search_worker_that_was_killed_listens_at_its_socket_again(short_folder: Path) -> None:
    home = short_folder / "worker"
    home.mkdir()
    with run_installed_server(home) as server:
        path, pid = find_path(server, "paper-search"), server.process.pid
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
        await wait_until_closed(path)
        assert path.is_socket()
        await asyncio.to_thread(wait_until, lambda: is_listening(path))
        assert await list_tools(server, "paper-search")


async def test_a_second_server_of_the_same_data_leaves_the_sockets_to_the_first(short_folder: Path) -> None:
    home = short_folder / "two"
    home.mkdir()
    with run_server(home) as first:
        with run_server(home) as second:
            for name in NAMES:
                assert second.parts[name]["running"]
                assert second.parts[name]["socket"] is None
                assert "Another server listens at " in second.parts[name]["socket_problem"]
        for name in NAMES:
            assert await list_tools(first, name)


def test_a_path_that_is_too_long_is_reported_and_the_ports_work(tmp_path: Path) -> None:
    home = tmp_path / ("x" * 120)
    home.mkdir()
    with run_server(home) as server, server.make_client() as api:
        for name in NAMES:
            part = server.parts[name]
            assert (part["running"], part["socket"]) == (True, None)
            assert re.search(r"has \d+ bytes, and this system allows 10[37]", part["socket_problem"])
            assert "URANIBORG_HOME" in part["socket_problem"]
        listed = {part["name"]: part for part in api.get("/api/connections").json()["parts"]}
        assert listed["universe"]["socket_problem"] == server.parts["universe"]["socket_problem"]


def test_a_server_that_does_not_start_leaves_no_socket(short_folder: Path) -> None:
    home = short_folder / "failed"
    home.mkdir()
    with run_server(home, URANIBORG_LIBRARY__SHELF=str(home / "missing")) as server:
        part = server.parts["paper-library"]
        assert (part["running"], part["socket"], part["socket_problem"]) == (False, None, None)
        assert sorted(path.name for path in find_path(server, "universe").parent.glob("*.sock")) == [
            "paper-search.sock",
            "universe.sock",
        ]


async def test_the_entries_that_connect_writes_reach_the_servers(server: ServerProcess) -> None:
    command = [find_program("uraniborg"), "connect", "vscode", "--socket", "--yes"]
    await asyncio.to_thread(subprocess.run, command, env=server.env, check=True, capture_output=True, timeout=60)
    client = next(one for one in list_clients(env={}, home=Path(server.env["HOME"])) if one.name == "vscode")
    entries = read_entries(client)
    for name in ("paper-library", "universe"):
        address, token = read_address_and_token(entries[name])
        url = urlsplit(address)
        async with connect_at_socket(unquote(url.path), token, url.fragment) as one:
            assert (await one.list_tools()).tools
    search = entries["paper-search"]
    assert isinstance(search, dict)
    assert search["type"] == "stdio"


def test_the_sockets_are_printed_at_the_start(short_folder: Path) -> None:
    home = short_folder / "printed"
    home.mkdir()
    command = [find_program("uraniborg"), "serve", "--port", "0"]
    with subprocess.Popen(command, env=make_environment(home), cwd=home, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        printed = ""
        while "Press Ctrl-C" not in printed:
            line = process.stderr.readline()
            assert line, printed
            printed += line
        process.send_signal(signal.SIGINT)
        process.stderr.read()
    assert "uraniborg connect vscode --socket" in printed
    for name in NAMES:
        assert re.search(rf"{name} +{re.escape(str(home))}/uraniborg/data/sockets/{name}\.sock\n", printed)
