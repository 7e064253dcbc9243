"""`uraniborg serve`: the API, and the MCP servers of search, library and universe, each on its own port."""

import asyncio
import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from uraniborg.kernel.serving import print_status, require_server_extra
from uraniborg.served_parts import ServedPart, ServedParts

if TYPE_CHECKING:
    from uraniborg.console.worker_process import SearchWorkerProcess


def run_serve(port: int | None, *, as_json: bool) -> None:
    """Serve all parts until interrupted. Raise the error that prevents the start of the API."""
    from uraniborg.kernel.logging import configure_logging

    configure_logging()
    with require_server_extra("Serving the API"):
        from uraniborg.kernel.http_connections import raise_file_limit
    raise_file_limit()
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(port, as_json=as_json))


async def _serve(port: int | None, *, as_json: bool) -> None:
    from uraniborg.console.services import open_console_services
    from uraniborg.served_apps import list_parts

    async with open_console_services() as services:
        served = ServedParts(list_parts(services, port))
        services.parts = served.parts
        await served.start()
        await _wait_for_search_server(services.searches, served.parts)
        await served.run(
            lambda: _print_addresses(served.parts, services.sign_ins.token, as_json=as_json), asyncio.Event()
        )
    if not as_json:
        print_status("Stopped.")


async def _wait_for_search_server(worker: "SearchWorkerProcess", parts: list[ServedPart]) -> None:
    """Wait for the server of the search worker, and record its address or its problem."""
    part = next(part for part in parts if part.make_app is None)
    await worker.wait_until_ready()
    part.port, part.problem, part.hint = worker.port, worker.problem, worker.hint


def _print_addresses(parts: list[ServedPart], token: str, *, as_json: bool) -> None:
    """Print the addresses and the token of the API, with lines to copy."""
    url = parts[0].url
    if as_json:
        addresses = {"url": url, "token": token, "parts": [one.to_json() for one in parts]}
        sys.stdout.write(json.dumps(addresses) + "\n")
        sys.stdout.flush()
        return
    width = max(len(part.name) for part in parts)
    lines = [""]
    for part in parts:
        if part.problem is None:
            lines.append(f"  {part.name:<{width}}  {part.url}  {part.purpose}")
        else:
            lines += [f"  {part.name:<{width}}  does not run: {part.problem}", f"  {'':<{width}}  {part.hint or ''}"]
    lines += ["", "  Connect an agent, for example:"]
    lines += [
        f"    claude mcp add --transport http {part.name} {part.url}/mcp"
        for part in parts
        if part.has_mcp and part.problem is None
    ]
    lines += ["", "  Follow everything that happens:"]
    lines += [f'    curl -N -H "Authorization: Bearer {token}" {url}/api/events']
    lines += ["", "  Press Ctrl-C to stop.", ""]
    print_status("\n".join(lines))
