"""The MCP servers whose tools workflows may use: how each is reached, and what each was last seen to offer.

`mcp-servers.json` of the pflow home has the shape that other programs use, too:

    {"mcpServers": {"files": {"command": "uvx", "args": ["mcp-files"], "env": {"TOKEN": "${FILES_TOKEN}"}},
                    "web": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${WEB_TOKEN}"}}}}

`${VAR}` and `${VAR:-default}` stand for variables of the environment, and are looked up when a server is connected to.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from pflow.errors import LibraryUnwritable
from pflow.mcp_config import InvalidServer, ServerConfig, ServerExists, UnknownServer, address, checked
from pflow.registry.discovery import TOOLS_FILE
from pflow.registry.node_files import Problem
from uraniborg.kernel.clock import SystemClock, iso
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.files import locked, make_private, make_private_folder, write_atomic

if TYPE_CHECKING:
    from uraniborg.kernel.mcp.client import RemoteServer

FILE: Final = "mcp-servers.json"
_LOCK: Final = ".mcp-servers.lock"
_LOCK_S: Final = 20.0
_AT_ONCE: Final = 8
_NAMED: Final = 20
_ENDED: Final = re.compile(r"is not there; (?:BrokenResourceError|ClosedResourceError|Connection closed)")
"""How a connection calls it that the process on its other end is gone."""
_MAY_LACK: Final = "Start its command by hand to see why; of the environment it gets only what its `env` gives."


@dataclass(frozen=True, slots=True)
class Synced:
    """What became of a server: how many tools it has now, and why they are the ones of before if they are."""

    name: str
    tools: int
    problem: str = ""
    hint: str = ""
    left_out: int = 0
    """How many more it lists whose descriptions cannot be understood."""


def read_servers(home: Path) -> tuple[dict[str, ServerConfig], list[Problem]]:
    """The servers by name, and what is wrong with the rest of the file."""
    try:
        told = _servers(home)
    except InvalidServer as wrong:
        return {}, [Problem(FILE, wrong.message, wrong.hint)]
    known: dict[str, ServerConfig] = {}
    problems: list[Problem] = []
    for name, plain in told.items():
        try:
            known[name] = checked(name, plain)
        except InvalidServer as wrong:
            problems.append(Problem(FILE, wrong.message, wrong.hint))
    return known, problems


def server(home: Path, name: str) -> ServerConfig:
    """The server of this name. Raises UnknownServer, or InvalidServer if that is what it is."""
    told = _servers(home)
    if name not in told:
        from pflow.ir.diagnostics import nearest

        meant = nearest(name, sorted(told))
        others = f"There are: {', '.join(sorted(told)[:_NAMED])}." if told else "`pflow mcp add` adds one."
        raise UnknownServer(
            f"There is no MCP server '{name}'.",
            hint=f"Did you mean '{meant}'?" if meant else others,
            server=name,
            available=sorted(told),
        )
    return checked(name, told[name])


def add_server(home: Path, name: str, plain: Mapping[str, Any], *, replace: bool = False) -> ServerConfig:
    """Write down how a server is reached. Raises InvalidServer, or ServerExists unless it may be replaced."""
    config = checked(name, dict(plain))
    try:
        make_private_folder(home)
    except OSError as wrong:
        raise LibraryUnwritable(FILE, wrong) from None
    with locked(home / _LOCK, _LOCK_S):
        told = _file(home)
        servers = told.setdefault("mcpServers", {})
        if name in servers and not replace:
            raise ServerExists(
                f"There is an MCP server '{name}' already.",
                hint="Choose another name, or put it in the place of that one with --replace.",
                server=name,
            )
        servers[name] = dict(plain)
        _write_privately(home / FILE, told)
    return config


def remove_server(home: Path, name: str) -> None:
    """Forget a server and its tools. Raises UnknownServer."""
    if name not in _servers(home):
        server(home, name)
    with locked(home / _LOCK, _LOCK_S):
        told = _file(home)
        told.get("mcpServers", {}).pop(name, None)
        _write_privately(home / FILE, told)
        tools = _tools(home)
        if tools.pop(name, None) is not None:
            _write_tools(home, tools)


async def connected(home: Path, name: str) -> "RemoteServer":
    """A connection to the server of this name. Raises UnknownServer, InvalidServer or what connecting raises."""
    config = server(home, name)
    from uraniborg.kernel.mcp.client import RemoteServer, ServerUnavailable  # slow to import

    try:
        return await RemoteServer.open(address(config), name=name, timeout_s=config.timeout_s)
    except ServerUnavailable as lost:
        told = _ENDED.sub("ended before it was ready", lost.message)
        if told == lost.message or "command" not in config.plain:
            raise
        raise ServerUnavailable(told, hint=_MAY_LACK, **lost.ids) from None


async def sync(home: Path, names: Iterable[str] | None = None) -> list[Synced]:
    """Ask servers (all, unless some are named) for their tools, and keep what they list.

    A server that fails keeps the tools it had, and its problem is told. Raises UnknownServer for a name that is none,
    and InvalidServer if the file of servers cannot be read.
    """
    wanted = sorted(_servers(home)) if names is None else [server(home, name).name for name in names]
    limit = asyncio.Semaphore(_AT_ONCE)
    answers = await asyncio.gather(*(_listed(home, name, limit) for name in wanted))
    listed = {name: answer for name, answer in zip(wanted, answers, strict=True) if isinstance(answer, dict)}
    tools = await asyncio.to_thread(_kept, home, listed)
    return [_told(name, answer, tools.get(name, {})) for name, answer in zip(wanted, answers, strict=True)]


def _told(name: str, answer: dict[str, Any] | UraniborgError, kept: Mapping[str, Any]) -> Synced:
    count = len(kept.get("nodes", ()))
    if isinstance(answer, UraniborgError):
        return Synced(name, count, answer.message, answer.hint)
    return Synced(name, count, left_out=answer["left_out"])


async def _listed(home: Path, name: str, limit: asyncio.Semaphore) -> dict[str, Any] | UraniborgError:
    """What a server offers, or why that is not known."""
    async with limit:
        try:
            connection = await connected(home, name)
        except UraniborgError as wrong:
            return wrong
        try:
            tools = await connection.list_tools()
        except UraniborgError as wrong:
            return wrong
        finally:
            await connection.close()
    nodes = [node for tool in tools if (node := _node(name, tool, connection.server_version))]
    return {
        "version": connection.server_version,
        "synced_at": iso(SystemClock().now()),
        "left_out": len(tools) - len(nodes),
        "nodes": nodes,
    }


def _node(server_name: str, tool: Mapping[str, Any], version: str) -> dict[str, Any] | None:
    """The interface of a tool; None for one whose description cannot be read, or not be written."""
    from pflow.registry.mcp_tools import tool_interface

    try:
        node = tool_interface(server_name, tool, version=version)
        orjson.dumps({"servers": {server_name: {"nodes": [node]}}})
    except (ValueError, TypeError, RecursionError):
        return None
    return node


def _kept(home: Path, listed: Mapping[str, Any]) -> dict[str, Any]:
    """All tools that are known now. Those of servers that were removed are not."""
    if not home.is_dir():
        return {}
    with locked(home / _LOCK, _LOCK_S):
        configured = _servers(home)
        tools = {name: found for name, found in {**_tools(home), **listed}.items() if name in configured}
        _write_tools(home, tools)
    return tools


def _servers(home: Path) -> dict[str, Any]:
    return _file(home).setdefault("mcpServers", {})


def _file(home: Path) -> dict[str, Any]:
    make_private(home / FILE)
    try:
        data = (home / FILE).read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as wrong:
        raise InvalidServer(f"{FILE} cannot be read: {wrong.strerror}.", hint="Look at its permissions.") from None
    try:
        told: Any = orjson.loads(data.strip() or b"{}")
    except ValueError as wrong:
        raise InvalidServer(f"{FILE} is not JSON: {wrong}.", hint="Correct it by hand; nothing was changed.") from None
    if not isinstance(told, dict) or not isinstance(cast("dict[str, Any]", told).get("mcpServers", {}), dict):
        raise InvalidServer(
            f"{FILE} holds no object `mcpServers`.", hint='It should be {"mcpServers": {"NAME": {"command": …}}}.'
        )
    return cast("dict[str, Any]", told)


def _tools(home: Path) -> dict[str, Any]:
    try:
        told = orjson.loads((home / TOOLS_FILE).read_bytes())
        return {name: found for name, found in told["servers"].items() if isinstance(found, dict)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write_tools(home: Path, tools: Mapping[str, Any]) -> None:
    plain = {"servers": dict(sorted(tools.items()))}
    write_atomic(home / TOOLS_FILE, orjson.dumps(plain, option=orjson.OPT_INDENT_2) + b"\n")


def _write_privately(path: Path, plain: Mapping[str, Any]) -> None:
    write_atomic(path, orjson.dumps(plain, option=orjson.OPT_INDENT_2) + b"\n")
