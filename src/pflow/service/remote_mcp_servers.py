"""Manage the MCP servers whose tools workflows may use: their addresses, and their tools at the last sync.

`mcp-servers.json` of the pflow home has the same shape as in other programs:

    {"mcpServers": {"files": {"command": "uvx", "args": ["mcp-files"], "env": {"TOKEN": "${FILES_TOKEN}"}},
                    "web": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${WEB_TOKEN}"}}}}

`${VAR}` and `${VAR:-default}` are variables of the environment, which are looked up when pflow connects to a server.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

import orjson

from pflow.errors import LibraryUnwritable
from pflow.service.history import ChangeRecord
from pflow.store.mcp_server_entries import (
    InvalidServer,
    ServerConfig,
    ServerEntry,
    ServerExists,
    UnknownServer,
    parse_server_entry,
    resolve_server_address,
)
from pflow.store.node_discovery import TOOLS_FILE
from pflow.store.node_files import NodeFileProblem
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.clock import SystemClock, format_iso
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.store.files import hold_lock, make_private, make_private_folder, write_atomic

if TYPE_CHECKING:
    from pflow.domain.node_interface import NodeDeclaration
    from uraniborg.kernel.json_values import Json, JsonObject
    from uraniborg.kernel.mcp.remote_server import RemoteServer

FILE: Final = "mcp-servers.json"
_LOCK: Final = ".mcp-servers.lock"
_LOCK_S: Final = 20.0
_AT_ONCE: Final = 8
_NAMED: Final = 20
_ENDED: Final = re.compile(r"is not running; (?:BrokenResourceError|ClosedResourceError|Connection closed)")
"""The error texts of a connection whose process has ended."""
_MAY_LACK: Final = "Start the command by hand to see the reason. It inherits only the variables in its `env`."


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The outcome of a sync: the number of tools, and the problem if they are those of the last sync."""

    name: str
    tools: int
    problem: str = ""
    hint: str = ""
    left_out: int = 0
    """The number of further tools whose descriptions cannot be parsed."""


class FetchedTools(TypedDict):
    """The tools of a server at the last sync, as node types."""

    version: str
    synced_at: str
    left_out: int
    nodes: "list[NodeDeclaration]"


class _ConfigFile(TypedDict):
    mcpServers: "dict[str, Json | ServerEntry]"


def read_servers(home: Path) -> tuple[dict[str, ServerConfig], list[NodeFileProblem]]:
    """Return the servers by name, and the problems of invalid entries."""
    try:
        entries = _read_server_entries(home)
    except InvalidServer as error:
        return {}, [NodeFileProblem(FILE, error.message, error.hint)]
    known: dict[str, ServerConfig] = {}
    problems: list[NodeFileProblem] = []
    for name, plain in entries.items():
        try:
            known[name] = parse_server_entry(name, plain)
        except InvalidServer as error:
            problems.append(NodeFileProblem(FILE, error.message, error.hint))
    return known, problems


def get_server(home: Path, name: str) -> ServerConfig:
    """Return the server of this name. Raise UnknownServer or InvalidServer."""
    entries = _read_server_entries(home)
    if name not in entries:
        from uraniborg.kernel.language.messages import find_nearest_name

        nearest = find_nearest_name(name, sorted(entries))
        others = f"There are: {', '.join(sorted(entries)[:_NAMED])}." if entries else "`pflow mcp add` adds one."
        raise UnknownServer(
            f"There is no MCP server '{name}'.",
            hint=f"Did you mean '{nearest}'?" if nearest else others,
            server=name,
            available=sorted(entries),
        )
    return parse_server_entry(name, entries[name])


def add_server(
    home: Path, name: str, entry: "JsonObject | ServerEntry", *, replace: bool = False, actor: Actor | None = None
) -> ServerConfig:
    """Add a server to `mcp-servers.json`. Raise InvalidServer, or ServerExists unless `replace`."""
    config = parse_server_entry(name, entry)
    try:
        make_private_folder(home)
    except OSError as error:
        raise LibraryUnwritable(FILE, error) from None
    with hold_lock(home / _LOCK, _LOCK_S):
        document = _read_config_file(home)
        servers = document["mcpServers"]
        if name in servers and not replace:
            raise ServerExists(
                f"The MCP server '{name}' already exists.",
                hint="Choose another name, or replace it with --replace.",
                server=name,
            )
        servers[name] = entry
        ChangeRecord(home).add("connect", name, actor)
        _write_json(home / FILE, document)
    return config


def remove_server(home: Path, name: str, actor: Actor | None = None) -> None:
    """Remove a server and its tools. Raise UnknownServer."""
    if name not in _read_server_entries(home):
        get_server(home, name)
    with hold_lock(home / _LOCK, _LOCK_S):
        document = _read_config_file(home)
        document["mcpServers"].pop(name, None)
        ChangeRecord(home).add("disconnect", name, actor)
        _write_json(home / FILE, document)
        tools = _read_tools(home)
        if tools.pop(name, None) is not None:
            _write_tools(home, tools)


async def connect_to_server(home: Path, name: str) -> "RemoteServer":
    """Return a connection to the server. Raise UnknownServer, InvalidServer or ServerUnavailable."""
    config = get_server(home, name)
    from uraniborg.kernel.mcp.remote_server import RemoteServer, ServerUnavailable  # slow to import

    try:
        return await RemoteServer.open(resolve_server_address(config), name=name, timeout_s=config.timeout_s)
    except ServerUnavailable as lost:
        message = _ENDED.sub("ended before it was ready", lost.message)
        if message == lost.message or "command" not in config.plain:
            raise
        raise ServerUnavailable(message, hint=_MAY_LACK, **lost.ids) from None


async def sync_servers(home: Path, names: Iterable[str] | None = None) -> list[SyncResult]:
    """Ask servers, by default all, for their tools and store the lists.

    A server that fails keeps its earlier tools, and its problem is reported. Raise UnknownServer for an unknown name,
    and InvalidServer if the file of servers cannot be read.
    """
    wanted = sorted(_read_server_entries(home)) if names is None else [get_server(home, name).name for name in names]
    limit = asyncio.Semaphore(_AT_ONCE)
    answers = await asyncio.gather(*(_fetch_tools(home, name, limit) for name in wanted))
    listed = {name: answer for name, answer in zip(wanted, answers, strict=True) if isinstance(answer, dict)}
    tools = await asyncio.to_thread(_merge_and_store_tools, home, listed)
    return [_make_sync_result(name, answer, tools.get(name)) for name, answer in zip(wanted, answers, strict=True)]


def _make_sync_result(name: str, answer: FetchedTools | UraniborgError, stored: FetchedTools | None) -> SyncResult:
    count = len(stored.get("nodes", ())) if stored else 0
    if isinstance(answer, UraniborgError):
        return SyncResult(name, count, answer.message, answer.hint)
    return SyncResult(name, count, left_out=answer["left_out"])


async def _fetch_tools(home: Path, name: str, limit: asyncio.Semaphore) -> FetchedTools | UraniborgError:
    async with limit:
        try:
            connection = await connect_to_server(home, name)
        except UraniborgError as error:
            return error
        try:
            tools = await connection.list_tools()
        except UraniborgError as error:
            return error
        finally:
            await connection.close()
    nodes = [node for tool in tools if (node := _make_tool_node(name, tool, connection.server_version))]
    return {
        "version": connection.server_version,
        "synced_at": format_iso(SystemClock().now()),
        "left_out": len(tools) - len(nodes),
        "nodes": nodes,
    }


def _make_tool_node(server_name: str, tool: "Mapping[str, Json]", version: str) -> "NodeDeclaration | None":
    """Return the interface of a tool, or None if its description cannot be parsed or stored."""
    from pflow.domain.mcp_tool_interfaces import make_tool_declaration

    try:
        node = make_tool_declaration(server_name, tool, version=version)
        orjson.dumps({"servers": {server_name: {"nodes": [node]}}})
    except (ValueError, TypeError, RecursionError):
        return None
    return node


def _merge_and_store_tools(home: Path, fetched_tools: Mapping[str, FetchedTools]) -> dict[str, FetchedTools]:
    """Store the tools of these servers, drop those of removed servers, and return the tools of all servers."""
    if not home.is_dir():
        return {}
    with hold_lock(home / _LOCK, _LOCK_S):
        configured = _read_server_entries(home)
        tools = {name: found for name, found in {**_read_tools(home), **fetched_tools}.items() if name in configured}
        _write_tools(home, tools)
    return tools


def _read_server_entries(home: Path) -> "dict[str, Json | ServerEntry]":
    return _read_config_file(home)["mcpServers"]


def _read_config_file(home: Path) -> _ConfigFile:
    """Return the file of servers. Its `mcpServers` are there, also if the file has none."""
    make_private(home / FILE)
    try:
        data = (home / FILE).read_bytes()
    except FileNotFoundError:
        return {"mcpServers": {}}
    except OSError as error:
        raise InvalidServer(f"{FILE} cannot be read: {error.strerror}.", hint="Check its permissions.") from None
    try:
        document: Any = orjson.loads(data.strip() or b"{}")
    except ValueError as error:
        raise InvalidServer(f"{FILE} is not JSON: {error}.", hint="Correct it by hand; nothing was changed.") from None
    if not isinstance(document, dict) or not isinstance(cast("JsonObject", document).get("mcpServers", {}), dict):
        raise InvalidServer(
            f"{FILE} does not have an object `mcpServers`.",
            hint='It should be {"mcpServers": {"NAME": {"command": …}}}.',
        )
    document = cast("_ConfigFile", document)
    document.setdefault("mcpServers", {})
    return document


def _read_tools(home: Path) -> dict[str, FetchedTools]:
    try:
        document = orjson.loads((home / TOOLS_FILE).read_bytes())
        found: Any = [(name, tools) for name, tools in document["servers"].items() if isinstance(tools, dict)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return dict(found)


def _write_tools(home: Path, tools: Mapping[str, FetchedTools]) -> None:
    plain = {"servers": dict(sorted(tools.items()))}
    write_atomic(home / TOOLS_FILE, orjson.dumps(plain, option=orjson.OPT_INDENT_2) + b"\n")


def _write_json(path: Path, plain: Mapping[str, object]) -> None:
    write_atomic(path, orjson.dumps(plain, option=orjson.OPT_INDENT_2) + b"\n")
