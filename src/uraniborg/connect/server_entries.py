"""Describe the four MCP servers of this installation as clients start or reach them."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.store.files import display_path
from uraniborg.servers.credentials import AgentCredentials
from uraniborg.servers.unix_sockets import find_socket, format_socket_url


@dataclass(frozen=True)
class StdioServerEntry:
    """A server that the client starts."""

    name: str
    command: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class HttpServerEntry:
    """A server that a person starts and the client reaches at an address."""

    name: str
    url: str
    start: tuple[str, ...]
    """The program that starts it, and its arguments."""
    purpose: str
    token: str = field(default="", repr=False)
    """The token that the server asks for."""
    is_open: bool = False
    """Whether the settings let everyone call the server."""


Server = StdioServerEntry | HttpServerEntry


def list_servers() -> list[Server]:
    """Return the servers in the order of the documentation. Raise Unavailable if a program is not installed."""
    return [
        StdioServerEntry("paper-search", find_program("paper-search-mcp")),
        make_pflow_server(),
        *list_http_servers(),
    ]


def list_http_servers() -> list[HttpServerEntry]:
    """Return the servers at addresses, with the tokens of their settings."""
    from paper_library.config import load_config as load_library_config
    from universe.config import load_config as load_universe_config

    library, universe = load_library_config(), load_universe_config()
    return [
        HttpServerEntry(
            *("paper-library", format_mcp_url(library.host, library.port), ("paper-library", "serve")),
            *(_describe_served_shelf(library.shelf), library.get_plain_token() or "", library.insecure),
        ),
        HttpServerEntry(
            *("universe", format_mcp_url(universe.host, universe.port), ("universe", "serve")),
            *("all your universes", universe.get_plain_token() or "", universe.insecure),
        ),
    ]


def add_credentials(servers: Sequence[Server], client: str, actor: Actor | None = None) -> list[Server]:
    """Return the servers with the credential of this client at each address whose settings have no token.

    `actor` is who gets them, by default the program that runs this process. Raise OSError or Locked if the secret of
    credentials cannot be read or created.
    """
    credentials = AgentCredentials()
    return [
        replace(server, token=server.token or credentials.make_token(client, server.name, actor))
        if isinstance(server, HttpServerEntry)
        else server
        for server in servers
    ]


def replace_ports_by_sockets(servers: Sequence[Server]) -> list[Server]:
    """Return the servers with the addresses of the sockets of `uraniborg serve`. Raise SocketUnusable."""
    return [
        replace(server, url=format_socket_url(find_socket(server.name)), start=("uraniborg", "serve"))
        if isinstance(server, HttpServerEntry)
        else server
        for server in servers
    ]


def make_pflow_server() -> StdioServerEntry:
    """Return the server of workflows. Raise Unavailable if its program is not installed."""
    return StdioServerEntry("pflow", find_program("pflow"), ("mcp", "serve"))


def _describe_served_shelf(shelf: Path | None) -> str:
    default = "the sample papers" if shelf is None else f"the shelf {display_path(shelf)}"
    return f"{default}, or the shelf whose folder you add"


def format_mcp_url(host: str, port: int) -> str:
    """Return the address of `/mcp` on a server; one that listens on all interfaces is reached on loopback."""
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - compared, not listened on
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/mcp"


def find_program(name: str) -> str:
    """Return the absolute path of a program of this installation. Raise Unavailable if it is not installed."""
    beside = Path(sys.executable).parent / (f"{name}.exe" if os.name == "nt" else name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise Unavailable(
            f"The program {name} is not installed beside {sys.executable}.",
            hint="Install it with `pip install 'uraniborg[mcp]'`.",
        )
    return os.path.abspath(found)  # not resolved: links of pipx stay valid after an upgrade


def format_program_path(name: str) -> str:
    """Return a program of this installation for any terminal: its absolute path, or the Python that runs its module."""
    try:
        return shlex.quote(find_program(name))
    except Unavailable:
        return f"{shlex.quote(sys.executable)} -m {name.replace('-', '_')}"


def format_program(name: str) -> str:
    """Return a program of this installation as a person types it: its name, or its path if PATH finds another or none.

    Without an installed program, return the Python that runs its module.
    """
    try:
        path = find_program(name)
    except Unavailable:
        return format_program_path(name)
    found = shutil.which(name)
    if found is not None and os.path.samefile(found, path):
        return name
    inside = Path(path)
    shown = inside.relative_to(Path.cwd()) if inside.is_relative_to(Path.cwd()) else inside
    return shlex.quote(str(shown))


def format_claude_command(server: Server) -> str:
    """Return the shell command that adds a server to Claude Code."""
    if isinstance(server, HttpServerEntry):
        header = ["--header", f"Authorization: Bearer {server.token}"] if server.token else []
        return shlex.join(["claude", "mcp", "add", "--transport", "http", server.name, server.url, *header])
    return shlex.join(["claude", "mcp", "add", server.name, "--", server.command, *server.arguments])


def format_address_command(name: str, url: str) -> str:
    """Return the shell command that adds a server of `uraniborg serve` to Claude Code, with its credential."""
    (server,) = add_credentials([HttpServerEntry(name, url, (), "")], "claude-code")
    return format_claude_command(server)


def make_stdio_bridge(server: HttpServerEntry) -> StdioServerEntry:
    """Return the server that a client which only starts programs uses to reach an address."""
    return StdioServerEntry(server.name, find_program("uraniborg"), ("bridge", server.url))
