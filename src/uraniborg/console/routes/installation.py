"""Routes for the installation: connections, last calls of tools, settings, locations and checks."""

import asyncio
import json
import shlex
import sys
from asyncio.subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import Body, Path, Query

from uraniborg.console.api import Sender, make_router
from uraniborg.console.services import Services
from uraniborg.installation.folders_and_settings import (
    CHANGEABLE,
    change_setting,
    list_location_facts,
    list_setting_facts,
)
from uraniborg.installation.replies import (
    CallList,
    CheckList,
    ConnectionList,
    LocationList,
    PartAddress,
    SettingFacts,
    SettingList,
    SourceList,
)
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.deciders import PERSON_SETTING, check_program_may_change
from uraniborg.kernel.errors import Unavailable, UraniborgError
from uraniborg.kernel.store.tool_call_log import list_calls

if TYPE_CHECKING:
    from uraniborg.servers.process import PartServer

_DOCTOR_S: Final = 120.0


class DoctorUnavailable(Unavailable):
    code = "doctor_unavailable"


router = make_router("installation")


@router.get("/api/connections", summary="List connections")
async def list_connections(services: Services, actor: Sender) -> ConnectionList:
    """Return the addresses of this server, the clients of agents with lines to copy, and the sources of papers."""
    return await asyncio.to_thread(_list_connections, services.parts, actor)


@router.get("/api/calls", summary="List the last calls of tools")
async def list_tool_calls(
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    tool: Annotated[str | None, Query(max_length=100, description="Only calls of this tool.")] = None,
    about: Annotated[str | None, Query(max_length=1_000, description="Only calls about this universe.")] = None,
    failed: Annotated[bool, Query(description="Only calls with an error.")] = False,
) -> CallList:
    """Return the last calls of all MCP servers in all processes, without arguments, the latest first."""
    calls = await asyncio.to_thread(list_calls, limit, tool=tool, about=about, has_failed=failed)
    return {"calls": calls}


@router.get("/api/settings", summary="List the settings")
async def list_settings() -> SettingList:
    """Return every setting with its origin. Secrets are masked."""
    rows = await asyncio.to_thread(list_setting_facts)
    return {"settings": [{**row, "changeable": row["setting"] in CHANGEABLE} for row in rows]}


@router.put("/api/settings/{name}", summary="Change a setting")
async def update_setting(
    actor: Sender,
    name: Annotated[str, Path(max_length=100)],
    value: Annotated[Any, Body(embed=True, description="The value; null removes the setting from the file.")],
) -> SettingFacts:
    """Write a setting that is `changeable` to the settings file. Servers that run read most of them at a start."""
    if name == PERSON_SETTING and not actor.is_person:
        await asyncio.to_thread(check_program_may_change)
    facts = await asyncio.to_thread(change_setting, name, value, actor)
    return {**facts, "changeable": True}


@router.get("/api/paths", summary="List files and folders")
async def list_paths() -> LocationList:
    """Return where everything is, as `uraniborg paths` does."""
    return {"paths": await asyncio.to_thread(list_location_facts)}


@router.get("/api/doctor", summary="Check the installation")
async def check_installation() -> CheckList:
    """Run the checks of `uraniborg doctor`. They read all stored data, so that they can take seconds."""
    return await _run_doctor()


async def _run_doctor() -> CheckList:
    """Return the checks of a `doctor` in a process of its own.

    The checks open the files of databases. A process that closes a file releases all of its locks on it, so that this
    server would lose those of its own connections, and another program could delete a log that the server writes to.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "uraniborg", "doctor", "--json", stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )
    try:
        output, problem = await asyncio.wait_for(process.communicate(), _DOCTOR_S)
    except TimeoutError:
        raise DoctorUnavailable(
            f"The checks did not end within {_DOCTOR_S:.0f} s.", hint="Run `uraniborg doctor` in a terminal."
        ) from None
    finally:
        if process.returncode is None:
            process.kill()
    try:
        return json.loads(output)
    except ValueError:
        last = problem.decode(errors="replace").strip().rpartition("\n")[2]
        raise DoctorUnavailable(
            f"The checks failed: {last[:300]}", hint="Run `uraniborg doctor` in a terminal."
        ) from None


def _describe_part(part: "PartServer") -> PartAddress:
    from uraniborg.connect.server_entries import format_address_command

    known = part.to_json()
    line = format_address_command(part.name, known["mcp"]) if known["mcp"] and known["running"] else None
    return {**known, "command": line}


def _list_connections(parts: "list[PartServer]", actor: Actor) -> ConnectionList:
    """Return the parts, servers, clients and sources, with credentials for `actor` to copy. Blocks."""
    from uraniborg.connect.clients import list_clients
    from uraniborg.connect.command import describe_client, format_entries
    from uraniborg.connect.server_entries import (
        HttpServerEntry,
        add_credentials,
        find_program,
        format_claude_command,
        list_servers,
    )

    described = [_describe_part(part) for part in parts]
    try:
        servers = list_servers()
        program = shlex.quote(find_program("uraniborg"))  # a page does not know the folder of the reader's terminal
    except UraniborgError as exc:
        return {"parts": described, "servers": [], "clients": [], "problem": exc.message, **_list_sources()}
    return {
        "parts": described,
        "servers": [
            {
                "name": server.name,
                "transport": "http" if isinstance(server, HttpServerEntry) else "stdio",
                "command": list(server.start)
                if isinstance(server, HttpServerEntry)
                else [server.command, *server.arguments],
                "url": server.url if isinstance(server, HttpServerEntry) else None,
                "line": format_claude_command(server),
            }
            for server in add_credentials(servers, "claude-code", actor)
        ],
        "clients": [
            {
                **describe_client(client),
                "command": f"{program} connect {client.name}",
                "entry": format_entries(client, servers, actor=actor),
                "reload_hint": client.reload_hint,
            }
            for client in list_clients()
        ],
        **_list_sources(),
    }


def _list_sources() -> SourceList:
    from paper_search.config import load_config
    from paper_search.domain.source_descriptions import get_source_label
    from paper_search.sources.registry import KNOWN, is_enabled, list_source_names

    config = load_config()
    return {
        "offline": config.offline,
        "sources": [
            {
                "name": name,
                "enabled": is_enabled(name, config),
                "needs_key": name in KNOWN and KNOWN[name].needs_key,
                "has_key": bool((given := config.sources.get(name)) and given.api_key.get_secret_value()),
                "label": get_source_label(name),
                "key_variable": KNOWN[name].key_variable if name in KNOWN else "",
            }
            for name in list_source_names()
        ],
    }
