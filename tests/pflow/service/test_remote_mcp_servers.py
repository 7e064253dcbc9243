"""MCP servers: configuration and sync."""

import json
import multiprocessing
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from pflow.errors import LibraryUnwritable
from pflow.service.remote_mcp_servers import (
    SyncResult,
    add_server,
    get_server,
    read_servers,
    remove_server,
    sync_servers,
)
from pflow.store.mcp_server_entries import InvalidServer, ServerExists, UnknownServer, resolve_server_address
from pflow.store.node_registry import Registry
from tests.pflow import tool_server
from tests.pflow.tool_command import tool_command
from uraniborg.kernel.logging import redact
from uraniborg.kernel.mcp import make_stateless_app
from uraniborg.kernel.mcp.remote_server import HttpServer, StdioServer
from uraniborg.kernel.mcp.testing import serve_app

TOOLS: dict[str, Any] = {"command": sys.executable, "args": [tool_server.__file__]}
BROKEN: dict[str, Any] = {"command": "no-such-command-anywhere"}
TYPES = [f"mcp-tools-{name}" for name in ("add", "count", "leave", "lose", "say", "show_variable")]


def list_types(home: Path) -> list[str]:
    return [kind for kind in Registry(home).list_types() if kind.startswith("mcp-")]


def read_config(home: Path) -> dict[str, Any]:
    return json.loads((home / "mcp-servers.json").read_text())


def test_an_added_server_is_listed_and_a_removed_one_is_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert read_servers(home) == ({}, [])
    add_server(home, "files", {"command": "uvx", "args": ["mcp-files"], "env": {"TOKEN": "${T}"}})
    add_server(home, "web", {"url": "https://example.org/mcp"})
    known, problems = read_servers(home)
    assert [(one.name, one.display_address) for one in known.values()] == [
        ("files", "uvx mcp-files"),
        ("web", "https://example.org/mcp"),
    ]
    assert problems == []
    remove_server(home, "files")
    assert list(read_servers(home)[0]) == ["web"]
    with pytest.raises(UnknownServer) as caught:
        remove_server(home, "files")
    assert caught.value.ids["available"] == ["web"]


def test_other_content_of_the_file_stays_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "mcp-servers.json"
    add_server(tmp_path, "new", TOOLS)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text(json.dumps({"other": 1, "mcpServers": {"a": {"command": "x", "disabled": True}}}))
    add_server(tmp_path, "b", TOOLS)
    assert read_config(tmp_path) == {"other": 1, "mcpServers": {"a": {"command": "x", "disabled": True}, "b": TOOLS}}


def test_a_home_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LibraryUnwritable, match=r"mcp-servers\.json cannot be written: Not a directory"):
        add_server(tmp_path / "file" / "home", "a", TOOLS)


def test_a_name_that_is_taken_is_refused_unless_it_may_be_replaced(tmp_path: Path) -> None:
    add_server(tmp_path, "a", TOOLS)
    with pytest.raises(ServerExists):
        add_server(tmp_path, "a", BROKEN)
    assert get_server(tmp_path, "a").plain == TOOLS
    add_server(tmp_path, "a", BROKEN, replace=True)
    assert get_server(tmp_path, "a").plain == BROKEN


@pytest.mark.parametrize(
    ("name", "config", "expected"),
    [
        ("a/b", TOOLS, "a name is up to 50 letters"),
        ("", TOOLS, "a name is up to 50 letters"),
        ("-a", TOOLS, "a name is up to 50 letters"),
        ("a" * 51, TOOLS, "a name is up to 50 letters"),
        ("a", {}, "either a `command` or a `url`"),
        ("a", {"command": "x", "url": "https://y"}, "either a `command` or a `url`"),
        ("a", {"command": ["x"]}, "either a `command` or a `url`"),
        ("a", {"url": "ftp://y"}, "must begin with http"),
        ("a", {"url": 3}, "either a `command` or a `url`"),
        ("a", {"type": "sse", "url": "https://y"}, "`type` must be stdio or http"),
        ("a", {"command": "x", "args": "y"}, "`args` must be a list of texts"),
        ("a", {"command": "x", "args": [1]}, "`args` must be a list of texts"),
        ("a", {"command": "x", "env": {"A": 1}}, "`env` must be an object of texts"),
        ("a", {"url": "https://y", "headers": []}, "`headers` must be an object of texts"),
        ("a", {"command": "x", "cwd": 3}, "`cwd` must be text"),
    ],
)
def test_an_invalid_server_is_refused_and_nothing_is_written(
    tmp_path: Path, name: str, config: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InvalidServer, match=expected.replace("(", r"\(")):
        add_server(tmp_path, name, config)
    assert not (tmp_path / "mcp-servers.json").exists()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{", "is not JSON"),
        ("[]", "does not have an object `mcpServers`"),
        ('{"mcpServers": []}', "does not have an object"),
    ],
)
def test_a_file_that_cannot_be_parsed_is_reported_and_never_overwritten(
    tmp_path: Path, content: str, expected: str
) -> None:
    file = tmp_path / "mcp-servers.json"
    file.write_text(content)
    known, problems = read_servers(tmp_path)
    assert known == {}
    assert expected in problems[0].problem
    with pytest.raises(InvalidServer, match=expected):
        add_server(tmp_path, "a", TOOLS)
    assert file.read_text() == content


def test_one_server_that_is_described_wrongly_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "mcp-servers.json").write_text(json.dumps({"mcpServers": {"bad": 3, "good": TOOLS}}))
    known, problems = read_servers(tmp_path)
    assert list(known) == ["good"]
    assert "The MCP server 'bad' cannot be used" in str(problems[0])
    with pytest.raises(InvalidServer):
        get_server(tmp_path, "bad")


def test_variables_are_replaced_everywhere_and_missing_ones_are_named(tmp_path: Path) -> None:
    env = {"WHO": "me", "API_TOKEN": "sk-looked-up-1", "EMPTY": ""}
    config = add_server(
        tmp_path,
        "a",
        {
            "command": "${WHO}-run",
            "args": ["--for=${WHO}", "${EMPTY:-x}", "${EMPTY}", "${NONE:-y}", "${NONE:-}", "$WHO"],
            "env": {"KEY": "Bearer ${API_TOKEN}"},
            "cwd": "/srv/${WHO}",
        },
    )
    args = ("--for=me", "x", "", "y", "", "$WHO")
    assert resolve_server_address(config, env) == StdioServer(
        "me-run", args, {"KEY": "Bearer sk-looked-up-1"}, "/srv/me"
    )
    assert "sk-looked-up-1" not in redact("it said sk-looked-up-1")
    with pytest.raises(InvalidServer, match="needs the environment variable API_TOKEN") as caught:
        resolve_server_address(config, {"WHO": "me", "EMPTY": ""})
    assert caught.value.ids["variable"] == "API_TOKEN"


def test_an_address_does_not_show_its_headers(tmp_path: Path) -> None:
    config = add_server(
        tmp_path,
        "a",
        {"url": "${BASE}/mcp", "headers": {"Authorization": "Bearer sk-in-the-file", "Accept-Language": "en"}},
    )
    found = resolve_server_address(config, {"BASE": "https://example.org"})
    assert found == HttpServer(
        "https://example.org/mcp", {"Authorization": "Bearer sk-in-the-file", "Accept-Language": "en"}
    )
    assert "sk-in-the-file" not in repr(found)
    assert "sk-in-the-file" not in redact("a line with sk-in-the-file in it")
    assert config.display_address == "${BASE}/mcp"
    keyed = add_server(tmp_path, "b", {"command": None, "url": "https://me:sk-word@example.org/mcp?api_key=sk-query"})
    assert "sk-" not in keyed.display_address
    assert "example.org/mcp" in keyed.display_address


async def test_syncing_makes_node_types_of_the_tools_of_all_servers(tmp_path: Path) -> None:
    async with serve_app(make_stateless_app(tool_server.tool_server())) as url:
        add_server(tmp_path, "tools", TOOLS)
        add_server(tmp_path, "web", {"url": f"{url}/mcp"})
        assert await sync_servers(tmp_path) == [SyncResult("tools", 6), SyncResult("web", 6)]
    assert list_types(tmp_path) == TYPES + [kind.replace("tools", "web") for kind in TYPES]
    assert Registry(tmp_path).problems == []


async def test_a_failing_server_is_reported_with_its_earlier_tools_and_the_others_are_listed(tmp_path: Path) -> None:
    add_server(tmp_path, "tools", tool_command())
    await sync_servers(tmp_path)
    add_server(tmp_path, "tools", BROKEN, replace=True)
    add_server(tmp_path, "also", tool_command())
    found = {one.name: one for one in await sync_servers(tmp_path)}
    assert found["also"] == SyncResult("also", 6)
    assert found["tools"].tools == 6
    assert "MCP server 'tools' is not running" in found["tools"].problem
    assert set(TYPES) < set(list_types(tmp_path))


async def test_only_the_servers_that_are_named_are_asked(tmp_path: Path) -> None:
    add_server(tmp_path, "tools", tool_command())
    add_server(tmp_path, "broken", BROKEN)
    assert await sync_servers(tmp_path, ["tools"]) == [SyncResult("tools", 6)]
    with pytest.raises(UnknownServer):
        await sync_servers(tmp_path, ["nobody"])


async def test_removing_a_server_removes_its_tools(tmp_path: Path) -> None:
    add_server(tmp_path, "tools", tool_command())
    await sync_servers(tmp_path)
    remove_server(tmp_path, "tools")
    assert list_types(tmp_path) == []


async def test_the_tools_of_a_server_removed_from_the_file_by_hand_are_removed(tmp_path: Path) -> None:
    add_server(tmp_path, "tools", tool_command())
    await sync_servers(tmp_path)
    (tmp_path / "mcp-servers.json").write_text("")
    assert await sync_servers(tmp_path) == []
    assert list_types(tmp_path) == []


async def test_a_damaged_list_of_tools_is_rewritten(tmp_path: Path) -> None:
    add_server(tmp_path, "tools", tool_command())
    (tmp_path / "mcp-tools.json").write_text('{"servers": [')
    assert Registry(tmp_path).problems[0].where == "mcp-tools.json"
    await sync_servers(tmp_path)
    assert list_types(tmp_path) == TYPES
    assert Registry(tmp_path).problems == []


async def test_syncing_without_servers_does_nothing(tmp_path: Path) -> None:
    assert await sync_servers(tmp_path / "nowhere") == []
    assert not (tmp_path / "nowhere").exists()


def add_many(home: str, number: int) -> None:
    for turn in range(10):
        add_server(Path(home), f"s{number}-{turn}", TOOLS)


def test_processes_that_add_servers_concurrently_lose_none(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.starmap_async(add_many, [(str(tmp_path), number) for number in range(2)]).get(50)
    assert len(read_servers(tmp_path)[0]) == 20
