"""`pflow mcp` and `pflow serve`: serve workflows to agents, and use the tools of other MCP servers."""

import re
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pflow.cli.app import app, open_service_with_usable_home
from uraniborg.kernel.actors import get_terminal_actor
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.logging import redact
from uraniborg.kernel.terminal.command_runner import UsageError
from uraniborg.kernel.terminal.output_streams import print_json
from uraniborg.kernel.terminal.page import Page, print_stderr_message
from uraniborg.kernel.terminal.styled_text import BOLD, CYAN, DIM, GREEN, RED, YELLOW, Piece, StyledText
from uraniborg.kernel.terminal.typer_app import CommandLine, JsonOption, Quiet

if TYPE_CHECKING:
    from pflow.service.workflow_replies import ListedServer, ServerList
    from pflow.store.mcp_server_entries import ServerEntry

_SCHEME: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://")
_HOST_AND_PORT: Final = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):\d+(?:/|$)")
_SCHEMES: Final = ("http", "https")
_LITERAL: Final = (
    "The address contains a secret, which is now stored in mcp-servers.json. Replace it by ${VARIABLE}, and set the "
    "variable in the environment."
)

group = CommandLine(
    """Serve workflows to agents, and use the tools of MCP servers as nodes.

    Examples:
    - `pflow mcp add library http://127.0.0.1:8421/mcp`
    - `pflow mcp sync library`
    """
)
app.add_typer(group, name="mcp")


@app.command(name="serve")
@group.command(name="serve")
def serve_workflows() -> None:
    """Serve workflows to an agent, over stdin and stdout.

    Examples:
    - `claude mcp add pflow -- pflow mcp serve`
    """
    from pflow.mcp_server import main

    main()


@group.command(name="add")
def add_mcp_server(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the server: its tools become nodes mcp-NAME-TOOL.")
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL|COMMAND", help="Its address (http:// or https://), or -- and its command."),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Its address, such as '${BASE}/mcp'; https://… works without this option."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="A variable for the command, such as 'TOKEN=${TOKEN}'; repeatable."),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="A header for the address, such as 'Authorization=Bearer ${T}'; repeatable."
        ),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the server of this name.")] = False,
    json: JsonOption = False,
) -> None:
    """Add an MCP server, whose tools become nodes.

    A command inherits PATH, HOME and similar variables, but no key or token; add others with --env. `${VAR}` is looked
    up in the environment when the server is used, and not stored.

    Examples:
    - `pflow mcp add files -- npx @modelcontextprotocol/server-filesystem .`
    - `pflow mcp add library http://127.0.0.1:8421/mcp`
    """
    from pflow.service.remote_mcp_servers import add_server
    from pflow.store.mcp_server_entries import has_literal_secret

    if command and not url and _HOST_AND_PORT.match(command[0]):
        raise UsageError("The address has no scheme.", hint=f"pflow mcp add {name} http://{command[0]}")
    plain = _make_server_entry(command or [], url, env or [], header or [])
    config = add_server(open_service_with_usable_home().home, name, plain, replace=replace, actor=get_terminal_actor())
    warnings = [_LITERAL] if has_literal_secret(plain.get("url", "")) else []
    if json:
        print_json(redact({"name": name, "where": config.display_address, "warnings": warnings}))
        return
    for warning in warnings:
        print_stderr_message("warning", YELLOW, warning)
    page = Page()
    page.write_line(
        StyledText(GREEN, "✓ "), "Added ", StyledText(BOLD, name), StyledText(DIM, f"  {config.display_address}")
    )
    page.write_line(StyledText(DIM, f"  Fetch its tools: pflow mcp sync {name}"))


def _make_server_entry(command: list[str], url: str | None, env: list[str], headers: list[str]) -> "ServerEntry":
    """Return the entry of a server in `mcp-servers.json`. Raise UsageError."""
    if command and not url and (scheme := _SCHEME.match(command[0])):
        url, command = _parse_server_url(scheme[1].lower(), command), []
    if bool(command) == bool(url):
        raise UsageError(
            "Give either a command or an address.",
            hint="pflow mcp add NAME -- COMMAND ARG... | pflow mcp add NAME URL",
        )
    if url:
        if env:
            raise UsageError("--env is for a command.", hint="For an address, use --header.")
        server: ServerEntry = {"type": "http", "url": url}
        if headers:
            server["headers"] = _parse_key_value_pairs("--header", headers)
        return server
    if headers:
        raise UsageError("--header is for an address.", hint="For a command, use --env.")
    program: ServerEntry = {"command": command[0], "args": command[1:]}
    if env:
        program["env"] = _parse_key_value_pairs("--env", env)
    return program


def _parse_server_url(scheme: str, words: list[str]) -> str:
    """Return the address that was given instead of a command. Raise UsageError."""
    if scheme not in _SCHEMES:
        raise UsageError(
            f"The address begins with {scheme}://, which pflow does not support.",
            hint="Give the http:// or https:// address of a server with the streamable HTTP transport.",
        )
    if len(words) > 1:
        raise UsageError("An address does not take arguments.", hint="For headers, use --header 'KEY=${VARIABLE}'.")
    return f"{scheme}{words[0].strip()[len(scheme) :]}"


def _parse_key_value_pairs(option: str, pair_texts: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for one in pair_texts:
        key, sign, value = one.partition("=")
        if not sign or not key:
            # The value may be a secret, so the message does not repeat it.
            raise UsageError(f"{option} takes KEY=VALUE.", hint=f"For example: {option} 'KEY=${{VARIABLE}}'")
        pairs[key] = value
    return pairs


@group.command(name="list")
def print_mcp_servers(json: JsonOption = False) -> None:
    """List the MCP servers, and how many tools each has.

    Examples:
    - `pflow mcp list`
    """
    from pflow.service.remote_mcp_servers import read_servers

    home = open_service_with_usable_home().home
    servers, problems = read_servers(home)
    counts = _count_tools_by_server()
    found: list[ListedServer] = [
        {"name": name, "where": one.display_address, "tools": counts.get(name)} for name, one in servers.items()
    ]
    reply: ServerList = {"servers": found, "problems": [one.to_dict() for one in problems]}
    print_json(redact(reply)) if json else _print_servers(reply)


def _count_tools_by_server() -> dict[str, int]:
    """Return the number of tools of each server at the last sync."""
    from collections import Counter

    from pflow.store.node_registry import Registry

    known = Registry(open_service_with_usable_home().home).load().values()
    return Counter(one.tags[1] for one in known if one.source == "mcp" and len(one.tags) > 1)


def _print_servers(reply: "ServerList") -> None:
    page = Page()
    if not reply["servers"] and not reply["problems"]:
        page.write_message(
            "", "No MCP servers yet. `pflow mcp add NAME URL` or `pflow mcp add NAME -- COMMAND` adds one."
        )
    rows: list[list[Piece]] = []
    for one in reply["servers"]:
        tools = plural(one["tools"], "tool") if one["tools"] else "not synced"
        rows.append([StyledText(BOLD, one["name"]), StyledText(CYAN if one["tools"] else DIM, tools), one["where"]])
    page.write_table(rows, indent=0)
    for problem in reply["problems"]:
        page.write_message(StyledText(YELLOW, "! "), f"{problem['where']}: {problem['problem']} {problem['hint']}")


@group.command(name="remove")
def remove_mcp_server(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The server.")], json: JsonOption = False
) -> None:
    """Remove an MCP server and its tools.

    Examples:
    - `pflow mcp remove files`
    """
    from pflow.service.remote_mcp_servers import remove_server

    remove_server(open_service_with_usable_home().home, name, get_terminal_actor())
    print_json({"removed": name}) if json else Page().write_line(StyledText(GREEN, "✓ "), f"Removed {name}.")


@group.command(name="sync")
def sync_mcp_servers(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="The servers to sync. Default: all.")
    ] = None,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> int:
    """Update the list of tools of MCP servers.

    Exits with 5 if a server does not answer; its tools of the last sync remain.

    Examples:
    - `pflow mcp sync files`
    """
    import asyncio

    from pflow.service.remote_mcp_servers import sync_servers
    from uraniborg.kernel.terminal.progress import Progress

    with Progress("Fetching tools", is_quiet=quiet, as_json=json):
        found = asyncio.run(sync_servers(open_service_with_usable_home().home, names or None))
    if json:
        results = [{"name": one.name, "tools": one.tools, "problem": one.problem, "hint": one.hint} for one in found]
        print_json({"servers": redact(results)})
    else:
        _print_sync_results(found)
    return 5 if any(one.problem for one in found) else 0


def _print_sync_results(results: list[Any]) -> None:
    page = Page()
    if not results:
        page.write_message(
            "", "No MCP servers yet. `pflow mcp add NAME URL` or `pflow mcp add NAME -- COMMAND` adds one."
        )
    for one in results:
        if one.problem:
            page.write_line(StyledText(RED, "✗ "), StyledText(BOLD, one.name), f"  {one.problem}")
            page.write_line(StyledText(DIM, f"    {one.hint}"))
            if one.tools:
                page.write_line(StyledText(DIM, f"    {plural(one.tools, 'tool')} of the last sync remain."))
        else:
            page.write_line(StyledText(GREEN, "✓ "), StyledText(BOLD, one.name), f"  {plural(one.tools, 'tool')}")
