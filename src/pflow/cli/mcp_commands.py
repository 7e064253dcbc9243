"""MCP: serving workflows to agents, and other servers whose tools workflows may use."""

import re
import sys
from typing import Annotated, Any, Final

import typer

from pflow.cli.app import HELP_OPTIONS, Json, app, service
from pflow.cli.printing import BOLD, CYAN, DIM, GREEN, RED, YELLOW, Page, Painted, Piece, print_json, say
from uraniborg.kernel.cli import UsageError
from uraniborg.kernel.logging import redact
from uraniborg.kernel.text import plural

_SCHEME: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://")
_HOST_AND_PORT: Final = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):\d+(?:/|$)")
_SCHEMES: Final = ("http", "https")
_LITERAL: Final = (
    "The address holds a secret, which is now stored in mcp-servers.json. Write ${VARIABLE} in its place, and set the "
    "variable in the environment."
)

group = typer.Typer(
    help="Serve workflows to agents, and use the tools of MCP servers as nodes.",
    no_args_is_help=True,
    context_settings=HELP_OPTIONS,
)
app.add_typer(group, name="mcp")


@group.command()
def serve() -> None:
    """Serve workflows to an agent, over stdin and stdout."""
    from pflow.mcp_server import main

    main()


@group.command()
def add(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What to call the server: its tools become nodes mcp-NAME-TOOL.")
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL | -- COMMAND ARG", help="Its address (http:// or https://), or its command."),
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="Its address, such as '${BASE}/mcp'; https://… needs no option.")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="A variable for the command, such as 'TOKEN=${TOKEN}'; repeatable."),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="A header for the address, such as 'Authorization=Bearer ${T}'."),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="In the place of the one that has this name.")] = False,
    json: Json = False,
) -> None:
    """Add an MCP server, whose tools become nodes.

    A command inherits PATH, HOME and the like, and no key or token; it gets what --env gives it. `${VAR}` is
    looked up in the environment when the server is used, and not stored.

    For example: pflow mcp add files -- npx -y @modelcontextprotocol/server-filesystem .

    For example: pflow mcp add library http://127.0.0.1:8421/mcp
    """
    from pflow.mcp_config import has_literal_secret
    from pflow.mcp_servers import add_server

    if command and not url and _HOST_AND_PORT.match(command[0]):
        raise UsageError("The address has no scheme.", hint=f"pflow mcp add {name} http://{command[0]}")
    plain = _described(command or [], url, env or [], header or [])
    config = add_server(service().home, name, plain, replace=replace)
    warnings = [_LITERAL] if has_literal_secret(plain.get("url", "")) else []
    if json:
        print_json(redact({"name": name, "where": config.where, "warnings": warnings}))
        return
    for warning in warnings:
        say("warning", YELLOW, warning)
    page = Page()
    page.line(Painted(GREEN, "✓ "), "Added ", Painted(BOLD, name), Painted(DIM, f"  {config.where}"))
    page.line(Painted(DIM, f"  Learn its tools: pflow mcp sync {name}"))


def _described(command: list[str], url: str | None, env: list[str], headers: list[str]) -> dict[str, Any]:
    """As the file has it. Raises UsageError."""
    if command and not url and (scheme := _SCHEME.match(command[0])):
        url, command = _address(scheme[1].lower(), command), []
    if bool(command) == bool(url):
        raise UsageError(
            "Give either a command or an address.",
            hint="pflow mcp add NAME -- COMMAND ARG... | pflow mcp add NAME URL",
        )
    if url:
        if env:
            raise UsageError("--env is for a command.", hint="For an address, use --header.")
        return {"type": "http", "url": url, **({"headers": _pairs("--header", headers)} if headers else {})}
    if headers:
        raise UsageError("--header is for an address.", hint="For a command, use --env.")
    return {"command": command[0], "args": command[1:], **({"env": _pairs("--env", env)} if env else {})}


def _address(scheme: str, given: list[str]) -> str:
    """Return the address that stands in the place of a command. Raises UsageError."""
    if scheme not in _SCHEMES:
        raise UsageError(
            f"The address begins with {scheme}://, which pflow does not speak.",
            hint="Give the http:// or https:// address of a server with the streamable HTTP transport.",
        )
    if len(given) > 1:
        raise UsageError("An address takes no arguments.", hint="For headers, use --header 'KEY=${VARIABLE}'.")
    return f"{scheme}{given[0].strip()[len(scheme) :]}"


def _pairs(option: str, given: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for one in given:
        key, sign, value = one.partition("=")
        if not sign or not key:
            # What it is may be a secret, so it is not repeated.
            raise UsageError(f"{option} takes KEY=VALUE.", hint=f"For example: {option} 'KEY=${{VARIABLE}}'")
        pairs[key] = value
    return pairs


@group.command(name="list")
def list_servers(json: Json = False) -> None:
    """List the MCP servers."""
    from pflow.mcp_servers import read_servers

    home = service().home
    servers, problems = read_servers(home)
    counts = _tool_counts()
    found = [{"name": name, "where": one.where, "tools": counts.get(name)} for name, one in servers.items()]
    told = {"servers": found, "problems": [one.plain() for one in problems]}
    print_json(redact(told)) if json else _tell_servers(told)


def _tool_counts() -> dict[str, int]:
    """By server, from what was last synced."""
    from collections import Counter

    from pflow.registry.registry import Registry

    known = Registry(service().home).load().values()
    return Counter(one.tags[1] for one in known if one.source == "mcp" and len(one.tags) > 1)


def _tell_servers(told: dict[str, Any]) -> None:
    page = Page()
    if not told["servers"] and not told["problems"]:
        page.line("No MCP servers yet. `pflow mcp add NAME URL` or `pflow mcp add NAME -- COMMAND` adds one.")
    rows: list[list[Piece]] = []
    for one in told["servers"]:
        tools = plural(one["tools"], "tool") if one["tools"] else "not synced"
        rows.append([Painted(BOLD, one["name"]), Painted(CYAN if one["tools"] else DIM, tools), one["where"]])
    page.table(rows, indent=0)
    for problem in told["problems"]:
        page.line(Painted(YELLOW, "! "), f"{problem['where']}: {problem['problem']} {problem['hint']}")


@group.command()
def remove(name: Annotated[str, typer.Argument(metavar="NAME", help="The server.")], json: Json = False) -> None:
    """Forget an MCP server and its tools."""
    from pflow.mcp_servers import remove_server

    remove_server(service().home, name)
    print_json({"removed": name}) if json else Page().line(Painted(GREEN, "✓ "), f"Removed {name}.")


@group.command()
def sync(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Only these; all if left out.")] = None,
    json: Json = False,
) -> int:
    """Learn the tools of MCP servers.

    Exits with 5 if one does not answer; the tools it had are kept.
    """
    import asyncio

    from pflow.mcp_servers import sync as ask

    is_watched = not json and sys.stderr.isatty()
    if is_watched:
        sys.stderr.write("Asking …")
    found = asyncio.run(ask(service().home, names or None))
    if is_watched:
        sys.stderr.write("\r\x1b[2K")
    if json:
        told = [{"name": one.name, "tools": one.tools, "problem": one.problem, "hint": one.hint} for one in found]
        print_json({"servers": redact(told)})
    else:
        _tell_synced(found)
    return 5 if any(one.problem for one in found) else 0


def _tell_synced(found: list[Any]) -> None:
    page = Page()
    if not found:
        page.line("No MCP servers yet. `pflow mcp add NAME URL` or `pflow mcp add NAME -- COMMAND` adds one.")
    for one in found:
        if one.problem:
            page.line(Painted(RED, "✗ "), Painted(BOLD, one.name), f"  {one.problem}")
            page.line(Painted(DIM, f"    {one.hint}"))
            if one.tools:
                page.line(Painted(DIM, f"    {plural(one.tools, 'tool')} of before are kept."))
        else:
            page.line(Painted(GREEN, "✓ "), Painted(BOLD, one.name), f"  {plural(one.tools, 'tool')}")
