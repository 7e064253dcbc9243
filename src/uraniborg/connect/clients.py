"""The MCP clients that can be configured: the file of each, its format, and the shape of an entry."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from uraniborg.connect.server_entries import HttpServerEntry, Server, StdioServerEntry, make_stdio_bridge
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import find_nearest_name

Entry: TypeAlias = JsonObject
"""An entry in the file of a client, of which each has members of its own."""
AUTHORIZATION: Final = "Authorization"
HEADER_KEYS: Final = ("headers", "http_headers")
"""The members that hold the headers of an address."""


class UnknownClient(InvalidInput):
    code = "unknown_client"


@dataclass(frozen=True)
class KnownClient:
    """A client and its configuration file."""

    name: str
    title: str
    file: Path
    format: Literal["json", "toml"]
    """`json` may have comments and trailing commas."""
    key: str
    """The member that holds the servers by name."""
    make_entry: Callable[[Server], Entry]
    reload_hint: str
    """How the client learns about the new servers."""
    program: str
    """The command that starts the client."""
    knows_sockets: bool = False
    """Whether its versions of today reach a server at a unix socket."""

    @property
    def is_installed(self) -> bool:
        """Return True if the client's file, folder or program exists."""
        has_folder = self.file.parent.is_dir() and self.file.parent != Path.home()
        return self.file.exists() or has_folder or shutil.which(self.program) is not None


def find_client(name: str) -> KnownClient:
    """Return the client with this name. Raise UnknownClient."""
    clients = list_clients()
    wanted = name.strip().lower().replace("_", "-").replace(" ", "-")
    for client in clients:
        if client.name == wanted:
            return client
    names = [client.name for client in clients]
    nearest = find_nearest_name(wanted, names)
    raise UnknownClient(
        f"There is no client '{name}'.",
        hint=(f"Did you mean {nearest}? " if nearest else "")
        + f"Known: {', '.join(names)}. `uraniborg connect --print` prints an entry for any other client.",
    )


def list_clients(
    *, env: Mapping[str, str] | None = None, home: Path | None = None, platform: str = sys.platform
) -> list[KnownClient]:
    """Return all known clients with the paths that they use on this platform."""
    env = os.environ if env is None else env
    home = home or Path.home()
    config = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    roaming = Path(env.get("APPDATA") or home / "AppData" / "Roaming")
    support = home / "Library" / "Application Support"
    application_data = {"darwin": support, "win32": roaming}.get(platform, config)
    codex = Path(env.get("CODEX_HOME") or home / ".codex")
    claude = Path(env["CLAUDE_CONFIG_DIR"]) if env.get("CLAUDE_CONFIG_DIR") else home
    zed = {"win32": roaming / "Zed", "darwin": home / ".config" / "zed"}.get(platform, config / "zed")
    opencode = config / "opencode"
    return [
        KnownClient(
            *("claude-code", "Claude Code", claude / ".claude.json", "json", "mcpServers", make_typed_entry),
            "Start a new session of Claude Code; /mcp lists the servers.",
            "claude",
        ),
        KnownClient(
            *("claude-desktop", "Claude Desktop", application_data / "Claude" / "claude_desktop_config.json", "json"),
            *("mcpServers", make_stdio_entry, "Quit Claude Desktop and start it again.", "claude-desktop"),
        ),
        KnownClient(
            *("cursor", "Cursor", home / ".cursor" / "mcp.json", "json", "mcpServers", make_url_entry),
            "Enable the servers in Cursor's settings, under MCP.",
            "cursor",
        ),
        KnownClient(
            *("vscode", "Visual Studio Code", application_data / "Code" / "User" / "mcp.json", "json", "servers"),
            *(make_typed_entry, "Run the command `MCP: List Servers` in Visual Studio Code.", "code"),
            knows_sockets=True,
        ),
        KnownClient(
            *("codex", "Codex", codex / "config.toml", "toml", "mcp_servers", make_codex_entry),
            "Start a new session of Codex; /mcp lists the servers.",
            "codex",
        ),
        KnownClient(
            *("gemini", "Gemini CLI", home / ".gemini" / "settings.json", "json", "mcpServers", make_gemini_entry),
            "Start Gemini CLI again, in a folder that it trusts; /mcp lists the servers.",
            "gemini",
        ),
        KnownClient(
            *("zed", "Zed", zed / "settings.json", "json", "context_servers", make_url_entry),
            "Zed reads its settings again at once.",
            "zed",
        ),
        KnownClient(
            *("windsurf", "Windsurf", home / ".codeium" / "windsurf" / "mcp_config.json", "json", "mcpServers"),
            *(make_windsurf_entry, "Refresh the list of MCP servers in Windsurf.", "windsurf"),
        ),
        KnownClient(
            *("opencode", "opencode", _find_existing(opencode / "opencode.jsonc", opencode / "opencode.json"), "json"),
            *("mcp", make_opencode_entry, "Start opencode again.", "opencode"),
        ),
    ]


def _find_existing(*files: Path) -> Path:
    """Return the first of these files that exists, or the last."""
    return next((file for file in files if file.exists()), files[-1])


def make_stdio_entry(server: Server) -> Entry:
    """Return an entry for clients that only start programs; addresses are reached through our bridge."""
    started = make_stdio_bridge(server) if isinstance(server, HttpServerEntry) else server
    return {"command": started.command, "args": list(started.arguments)}


def make_url_entry(server: Server) -> Entry:
    """Return an entry in which the address is `url`."""
    return make_stdio_entry(server) if isinstance(server, StdioServerEntry) else _make_address("url", server)


def make_codex_entry(server: Server) -> Entry:
    """Return an entry in which the headers are `http_headers`."""
    entry = make_url_entry(server)
    return {"http_headers" if key == "headers" else key: value for key, value in entry.items()}


def make_typed_entry(server: Server) -> Entry:
    """Return an entry with its transport in `type`."""
    transport = "stdio" if isinstance(server, StdioServerEntry) else "http"
    return {"type": transport, **make_url_entry(server)}


def make_gemini_entry(server: Server) -> Entry:
    """Return an entry in which the address is `httpUrl`."""
    return make_stdio_entry(server) if isinstance(server, StdioServerEntry) else _make_address("httpUrl", server)


def make_windsurf_entry(server: Server) -> Entry:
    """Return an entry in which the address is `serverUrl`."""
    return make_stdio_entry(server) if isinstance(server, StdioServerEntry) else _make_address("serverUrl", server)


def make_opencode_entry(server: Server) -> Entry:
    if isinstance(server, StdioServerEntry):
        return {"type": "local", "command": [server.command, *server.arguments], "enabled": True}
    return {"type": "remote", **_make_address("url", server), "enabled": True}


def _make_address(key: str, server: HttpServerEntry) -> Entry:
    """Return the address under this key, and the header that carries the token."""
    headers: Entry = {"headers": {AUTHORIZATION: f"Bearer {server.token}"}} if server.token else {}
    return {key: server.url, **headers}


DEFAULT_KEY: Final = "mcpServers"
"""The member that most clients use."""
