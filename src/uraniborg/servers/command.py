"""`uraniborg serve`: start the console with its API, and the MCP servers of search, library and universe."""

import asyncio
import html
import json
import sys
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from uraniborg.installation.folders_and_settings import PART_CONFIGS
from uraniborg.kernel.actors import get_terminal_actor
from uraniborg.kernel.deciders import load_decider_settings
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.http.serve_command import print_status, require_server_extra
from uraniborg.kernel.store.files import write_atomic
from uraniborg.kernel.terminal.questions import show_at_terminal

if TYPE_CHECKING:
    from uraniborg.console.workers.search_process import SearchWorkerProcess
    from uraniborg.installation.replies import ServedAddresses

from uraniborg.servers.process import PartServer, PartServers

_PORT_SETTINGS: Final = "console.search_port, library.port and universe.port"


def run_serve(port: int | None, *, open_browser: bool, new_token: bool, as_json: bool) -> None:
    """Serve all parts until interrupted. Raise the error that prevents the start of the API."""
    from uraniborg.kernel.logging import configure_logging

    configure_logging()
    for module in PART_CONFIGS.values():  # the processes of the server could not say what is wrong
        import_module(module).read_config()
    with require_server_extra("Serving the API"):
        from uraniborg.kernel.http.connection_limits import raise_file_limit
    raise_file_limit()
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(port, open_browser=open_browser, new_token=new_token, as_json=as_json))


async def _serve(port: int | None, *, open_browser: bool, new_token: bool, as_json: bool) -> None:
    from uraniborg.console.services import open_console_services
    from uraniborg.servers.apps import list_parts

    async with open_console_services() as services:
        if new_token:
            await asyncio.to_thread(services.sign_ins.replace_token, get_terminal_actor())
        served = PartServers(list_parts(services, port))
        services.parts = served.parts
        services.universe.part = served.parts[-1]
        await served.start()
        await _wait_for_search_server(services.searches, served.parts)

        def print_and_open() -> None:
            page = make_console_address(served.parts[0].url, services.sign_ins.token, services.owner)
            print_addresses(served.parts, services.sign_ins.token, page, as_json=as_json)
            if port is not None and not as_json:
                print_status(f"  --port moved the API alone. To move the others, set {_PORT_SETTINGS}.\n")
            services.sign_ins.show_credential = partial(show_console_address, served.parts[0].url, services.owner)
            if load_decider_settings().require_person:
                services.sign_ins.offer_code()
            if open_browser:
                open_in_browser(page, services.sign_ins.folder)

        await served.run(print_and_open, asyncio.Event())
    if not as_json:
        print_status("Stopped.")


async def _wait_for_search_server(worker: "SearchWorkerProcess", parts: list[PartServer]) -> None:
    """Wait for the server of the search worker, and record its address or its problem."""
    part = next(part for part in parts if part.make_app is None)
    await worker.wait_until_ready()
    part.port, part.problem, part.hint = worker.port, worker.problem, worker.hint
    part.socket, part.socket_problem = worker.socket, worker.socket_problem


def make_console_address(url: str, token: str, name: str) -> str:
    """Return the address of the console with token and name in the fragment, which reaches no log and no server."""
    return f"{url}/#{urlencode({'token': token, 'name': name})}"


def show_console_address(url: str, name: str, credential: str) -> None:
    """Show the address that signs in a person once, at the terminal alone; without a terminal, say that nobody can."""
    page = make_console_address(url, credential, name)
    if not show_at_terminal(f"\n  Sign in once, as a person who may decide:\n    {page}\n"):
        print_status("  Nobody can sign in: a person must decide, and there is no terminal to show the code.")


def open_in_browser(address: str, folder: Path) -> None:
    """Open the address by a private file that leads there: other accounts can read the arguments of a program."""
    import webbrowser

    page = folder / "open.html"
    target = html.escape(address, quote=True)
    write_atomic(
        page,
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={target}">'
        f'<title>Uraniborg</title><a href="{target}">Open the console</a></html>\n',
    )
    if not webbrowser.open(page.as_uri()):
        print_status("  There is no browser here: open the address above yourself.")


def format_events_command(url: str, token: str) -> str:
    """Return the shell command that follows all events. It runs for long, so the token is not among its arguments."""
    return f"""echo 'header = "Authorization: Bearer {token}"' | curl -N -K - {url}/api/events"""


def _list_sockets(parts: list[PartServer], width: int) -> list[str]:
    """Return lines with the socket of each part, or why it has none."""
    lines = [
        f"    {part.name:<{width}}  {part.socket or f'no socket: {part.socket_problem}'}"
        for part in parts
        if part.socket or part.socket_problem
    ]
    if any(part.socket for part in parts):
        lines.append("    For Visual Studio Code: uraniborg connect vscode --socket")
    return ["", "  Unix sockets, for this account alone:", *lines] if lines else []


def print_addresses(parts: list[PartServer], token: str, page: str, *, as_json: bool) -> None:
    """Print the addresses and the token of the API, with lines to copy."""
    from uraniborg.connect.server_entries import format_address_command, format_claude_command, make_pflow_server

    url = parts[0].url
    if as_json:
        addresses: ServedAddresses = {
            "url": url,
            "console": page,
            "token": token,
            "parts": [one.to_json() for one in parts],
        }
        sys.stdout.write(json.dumps(addresses) + "\n")
        sys.stdout.flush()
        return
    width = max(len(part.name) for part in parts)
    lines = ["", "  Open the console:", f"    {page}", ""]
    for part in parts:
        if part.problem is None:
            lines.append(f"  {part.name:<{width}}  {part.url}  {part.purpose}")
        else:
            lines += [f"  {part.name:<{width}}  does not run: {part.problem}", f"  {'':<{width}}  {part.hint or ''}"]
    lines += _list_sockets(parts, width)
    lines += ["", "  Connect an agent with its own credential: uraniborg connect CLIENT. Or, for example:"]
    lines += [
        f"    {format_address_command(part.name, f'{part.url}/mcp')}"
        for part in parts
        if part.has_mcp and part.problem is None
    ]
    with suppress(Unavailable):  # pflow has no installed program
        lines.append(f"    {format_claude_command(make_pflow_server())}")
    lines += ["", "  Follow everything that happens:"]
    lines += [f"    {format_events_command(url, token)}"]
    lines += ["", "  Press Ctrl-C to stop.", ""]
    print_status("\n".join(lines))
