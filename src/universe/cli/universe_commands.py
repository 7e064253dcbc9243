"""The commands `serve`, `new`, `import`, `branch` and `delete`."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from universe.cli.common import (
    Db,
    UniverseId,
    Version,
    app,
    parse_date,
    print_json,
    print_line,
    run_with_service,
    run_with_universe,
)
from uraniborg.kernel.cli import UsageError
from uraniborg.kernel.command_line import AllowedHosts, AllowedOrigins, Host, Json, Token, Yes


@app.command()
def serve(
    db: Db = None,
    host: Host = None,
    port: Annotated[
        int | None, typer.Option(metavar="N", help="The port; 0 chooses a free one. Default: 3001.")
    ] = None,
    token: Token = None,
    allow_origin: AllowedOrigins = None,
    allow_host: AllowedHosts = None,
    insecure: Annotated[
        bool | None,
        typer.Option(
            "--insecure", help="Allow access from other machines without a token: everyone may change universes."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Serve all universes: REST, event streams, and MCP at /mcp.

    Examples:
    - `universe serve`
    - `universe serve --port 8080 --db universes.db`
    - `universe serve --host 0.0.0.0 --token "$TOKEN"`
    """
    from universe.server import serve_universes

    options = {
        "db": db,
        "host": host,
        "port": port,
        "token": token,
        "allow_origins": allow_origin,
        "allow_hosts": allow_host,
        "insecure": insecure,
    }
    serve_universes({name: value for name, value in options.items() if value is not None}, as_json=json)


@app.command()
def new(
    origin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="ORIGIN",
            help="solar-system, trappist-1, kepler-90, alpha-centauri, or seed:PRESET:SEED. Default: empty.",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The name of the universe.")] = None,
    id_: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The id of the universe. Default: a new id.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="For the Solar System: 2026-11-15 (UTC), JD2461000.5 (TDB), or today."),
    ] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Create a universe: empty, from a real system, or generated from a seed.

    Examples:
    - `universe new --from trappist-1 --id t1`
    - `universe new --from solar-system --at 2026-11-15 --id sol`
    - `universe new --from seed:classic:42`
    """
    from universe.initial_states import get_default_universe_name, load_or_generate_state
    from universe.service.replies import describe_record
    from universe.service.universes import UniverseService
    from universe.systems.julian_dates import describe_inexact_conversion
    from universe.terminal.universe_reports import print_new_universe

    if at is not None and origin is None:
        raise UsageError(
            "--at needs --from.", hint="Dates are for the Solar System: --from solar-system --at 2026-11-15."
        )
    moment = parse_date(at)
    state = None if origin is None else load_or_generate_state(origin, at=moment)
    if isinstance(moment, datetime) and (caution := describe_inexact_conversion(moment)):
        sys.stderr.write(f"Caution: {caution}\n")

    async def create(service: UniverseService) -> dict[str, Any]:
        record = await service.create(name or get_default_universe_name(origin), state, universe_id=id_)
        return {**describe_record(record), "bodies": len(state["stars"]) if state else 0}

    created = run_with_service(db, create, may_create=True)
    print_json(created) if json else print_new_universe(created)


@app.command(name="import")
def import_universe(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `export` wrote, or a state as JSON.")],
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The name of the universe.")] = None,
    id_: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The id of the universe. Default: a new id.")
    ] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Create a universe from a file.

    Examples:
    - `universe import saved.json --id copy`
    """
    from universe.service.replies import describe_record
    from universe.service.universes import UniverseService
    from universe.terminal.universe_reports import print_new_universe
    from universe.universe_files import read_universe_file

    document = read_universe_file(source)

    async def create(service: UniverseService) -> dict[str, Any]:
        record = await service.create(name or document.name or source.stem, document.state, universe_id=id_)
        return {**describe_record(record), "bodies": len(document.state.get("stars") or {})}

    created = run_with_service(db, create, may_create=True)
    print_json(created) if json else print_new_universe(created)


@app.command()
def branch(
    universe_id: UniverseId,
    version: Version = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The name of the new universe.")] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Create a universe with the state of another one, now or at a version.

    Examples:
    - `universe branch t1 --version 1 --name "What if"`
    """
    from universe.service.replies import describe_record
    from universe.service.universes import UniverseService
    from universe.terminal.universe_reports import print_new_universe

    async def create(service: UniverseService, full_id: str) -> dict[str, Any]:
        record = await service.branch(full_id, version=version, name=name)
        view = await service.view(record.id)
        return {**describe_record(record), "bodies": len(view.replica.state.stars)}

    created = run_with_universe(db, universe_id, create)
    print_json(created) if json else print_new_universe(created)


@app.command()
def delete(
    universe_id: UniverseId,
    yes: Yes = False,
    db: Db = None,
    json: Json = False,
) -> None:
    """Delete a universe and its whole log. This cannot be undone.

    Examples:
    - `universe delete t1 --yes`
    """
    from universe.service.universes import UniverseService
    from universe.store.interface import Record
    from uraniborg.kernel.logging import make_printable

    async def find(service: UniverseService, full_id: str) -> Record:
        return await service.read_record(full_id)

    found = run_with_universe(db, universe_id, find)
    if not yes:
        if json or not sys.stdin.isatty():
            raise UsageError("A deletion cannot be undone.", hint=f"Confirm it: universe delete {found.id} --yes")
        question = f"Delete {found.id} ({make_printable(found.name[:60], keep='')}) and its whole history?"
        if not typer.confirm(question, err=True):
            raise UsageError("The universe was not deleted.", hint="Confirm the question, or use --yes.")

    async def remove(service: UniverseService) -> None:
        await service.delete(found.id)

    run_with_service(db, remove)
    print_json({"deleted": found.id}) if json else print_line(f"Deleted {found.id}.")
