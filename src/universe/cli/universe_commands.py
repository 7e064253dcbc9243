"""`universe serve`, `new`, `import`, `branch` and `delete`."""

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from universe.cli.common import (
    Db,
    UniverseId,
    Version,
    app,
    parse_date,
    run_with_service,
    run_with_universe,
)
from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.terminal.command_runner import UsageError
from uraniborg.kernel.terminal.output_streams import print_json
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.typer_app import AllowedHosts, AllowedOrigins, Host, JsonOption, Token, Yes

if TYPE_CHECKING:
    from universe.service.replies import NewUniverse
    from universe.service.universes import UniverseService


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
    json: JsonOption = False,
) -> None:
    """Serve all universes: REST, event streams, and MCP at /mcp.

    Examples:
    - `universe serve`
    - `universe serve --port 8080 --db universes.db`
    - `universe serve --host 0.0.0.0 --token "$TOKEN"`
    """
    from universe.api.server import serve_universes

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
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of a seed, such as maxSystems=3 or scaleMode=toy; repeatable.",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="For the Solar System: 2026-11-15 (UTC), JD2461000.5 (TDB), or today."),
    ] = None,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """Create a universe: empty, from a real system, or generated from a seed.

    Examples:
    - `universe new --from trappist-1 --id t1`
    - `universe new --from solar-system --at 2026-11-15 --id sol`
    - `universe new --from seed:classic:42`
    - `universe new --from seed:solarLike:7 --set maxSystems=1`
    """
    from universe.cli.universe_reports import print_new_universe
    from universe.domain.units_and_dates import describe_inexact_conversion
    from universe.service.initial_states import get_default_universe_name, load_or_generate_state
    from universe.service.replies import NewUniverse
    from universe.service.reply_encoding import describe_record
    from universe.service.universes import UniverseService

    if at is not None and origin is None:
        raise UsageError(
            "--at needs --from.", hint="Dates are for the Solar System: --from solar-system --at 2026-11-15."
        )
    moment = parse_date(at)
    settings = _parse_settings(set_)
    if settings and origin is None:
        raise UsageError(
            "--set needs --from.", hint="Settings are for seeds: --from seed:classic:42 --set maxSystems=3."
        )
    state = None if origin is None else load_or_generate_state(origin, at=moment, settings=settings)
    if isinstance(moment, datetime) and (caution := describe_inexact_conversion(moment)):
        Page(sys.stderr).write_message("Caution: ", caution)

    async def create(service: UniverseService) -> NewUniverse:
        record = await service.create(name or get_default_universe_name(origin), state, universe_id=id_)
        return {**describe_record(record), "bodies": len(state["stars"]) if state else 0}

    created = run_with_service(db, create, may_create=True)
    print_json(created) if json else print_new_universe(created)


def _parse_settings(given: list[str] | None) -> JsonObject:
    """Return settings given as KEY=VALUE; a value is JSON, or else a text. Raise UsageError."""
    settings: JsonObject = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--set must be KEY=VALUE, got '{text[:40]}'.", hint="For example --set maxSystems=3.")
        try:
            settings[name] = parse_json(value)
        except ValueError:
            settings[name] = value
    return settings


@app.command(name="import")
def import_universe(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="An exported universe, a table, or several answers of JPL Horizons."),
    ],
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The name of the universe.")] = None,
    id_: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The id of the universe. Default: a new id.")
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", "-f", metavar="NAME", help="archive, bodies, vectors or horizons. Default: recognized."
        ),
    ] = None,
    each: Annotated[bool, typer.Option("--each", help="Create a universe for each system of a table.")] = False,
    omega_of: Annotated[
        str, typer.Option(metavar="NAME", help="Whose argument of periapsis a table of the archive has: star, planet.")
    ] = "star",
    circumbinary: Annotated[
        str, typer.Option(metavar="NAME", help="Planets of two stars in the archive: refuse, or barycentre.")
    ] = "refuse",
    units: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of a table of states: au-day, au-year, au-yr2pi (REBOUND, G = 1) or si."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Report what would be imported, and create nothing.")
    ] = False,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """Create a universe from a file: an export, a table of an archive, states of REBOUND, or answers of Horizons.

    The report lists the rows that were skipped, with reasons, and what was assumed.

    Examples:
    - `universe import saved.json --id copy`
    - `universe import pscomppars.csv --each`
    - `universe import ceres.txt vesta.txt --name Asteroids`
    """
    from universe.cli.universe_reports import print_new_universe
    from universe.service.universe_files import is_universe_file, read_table_file, read_universe_file

    if len(sources) == 1 and format_ is None and is_universe_file(sources[0]):
        document = read_universe_file(sources[0])
        title = name or document.name or sources[0].stem
        created = run_with_service(
            db, lambda service: _create_universe(service, title, document.state, id_), may_create=True
        )
        print_json(created) if json else print_new_universe(created)
        return
    from universe.cli.origin_and_difference_reports import print_import
    from universe.service.initial_states import create_imported_universes
    from universe.service.replies import ImportReply
    from universe.service.universes import UniverseService

    for path in sources:
        is_universe_file(path)  # refuses a file that is too large before it is read
    options = _make_import_options(format_, omega_of, circumbinary, units)
    contents = [read_table_file(path) for path in sources]

    async def create(service: UniverseService) -> ImportReply:
        return await create_imported_universes(
            service, contents, options, each=each, name=name, universe_id=id_, dry_run=dry_run
        )

    reply = run_with_service(db, create, may_create=True)
    print_json(reply) if json else print_import(reply)


async def _create_universe(
    service: "UniverseService", title: str, state: JsonObject, universe_id: str | None
) -> "NewUniverse":
    from universe.service.reply_encoding import describe_record

    record = await service.create(title, state, universe_id=universe_id)
    return {**describe_record(record), "bodies": len(stars) if isinstance(stars := state.get("stars"), dict) else 0}


def _make_import_options(format_name: str | None, omega_of: str, circumbinary: str, units: str | None) -> Any:
    """Return the options. Raise UsageError for a value that is not allowed."""
    from typing import get_args

    from universe.domain.exchange.exoplanet_archive import Circumbinary, OmegaOf
    from universe.domain.exchange.importer import FORMATS, ImportOptions
    from universe.domain.exchange.vector_table import VectorUnits

    choices = {
        "format": (format_name, FORMATS),
        "omega-of": (omega_of, get_args(OmegaOf)),
        "circumbinary": (circumbinary, get_args(Circumbinary)),
        "units": (units, get_args(VectorUnits)),
    }
    for option, (value, allowed) in choices.items():
        if value is not None and value not in allowed:
            raise UsageError(
                f"--{option} must be one of {', '.join(allowed)}, got '{value[:20]}'.",
                hint=f"For example --{option} {allowed[0]}.",
            )
    given: Any = (format_name, omega_of, circumbinary, units)
    return ImportOptions(*given)


@app.command()
def branch(
    universe_id: UniverseId,
    version: Version = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The name of the new universe.")] = None,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """Create a universe with the state of another one, now or at a version.

    Examples:
    - `universe branch t1 --version 1 --name "What if"`
    """
    from universe.cli.universe_reports import print_new_universe
    from universe.service.replies import NewUniverse
    from universe.service.reply_encoding import describe_record
    from universe.service.universes import UniverseService

    async def create(service: UniverseService, full_id: str) -> NewUniverse:
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
    json: JsonOption = False,
) -> None:
    """Delete a universe and its whole log. This cannot be undone.

    Examples:
    - `universe delete t1 --yes`
    """
    from universe.service.universes import UniverseService
    from universe.store.interface import UniverseRecord
    from uraniborg.kernel.terminal.questions import confirm

    async def find(service: UniverseService, full_id: str) -> UniverseRecord:
        return await service.read_record(full_id)

    found = run_with_universe(db, universe_id, find)
    if not yes:
        if json or not sys.stdin.isatty():
            raise UsageError("A deletion cannot be undone.", hint=f"Confirm it: universe delete {found.id} --yes")
        question = f"Delete {found.id} ({found.name[:60]!r}) and its whole history?"
        if not confirm(question):
            raise UsageError("The universe was not deleted.", hint="Confirm the question, or use --yes.")

    async def remove(service: UniverseService) -> None:
        await service.delete(found.id)

    run_with_service(db, remove)
    print_json({"deleted": found.id}) if json else Page().write_line(f"Deleted {found.id}.")
