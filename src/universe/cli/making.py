"""Making universes, and deleting them."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from universe.cli.shared import (
    Db,
    Json,
    UniverseId,
    Version,
    app,
    date_of,
    print_json,
    print_line,
    run_with,
)
from uraniborg.kernel.commands import UsageError


@app.command()
def new(
    origin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="ORIGIN",
            help="solar-system, trappist-1, kepler-90, alpha-centauri, or seed:PRESET:SEED; empty if left out.",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="What to call it.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="Its id; one is made if left out.")] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="For the Solar System: 2026-11-15 (UTC), JD2461000.5 (TDB), or today."),
    ] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Make a universe: empty, from a real system, or grown from a seed.

    Examples:

    - `universe new --from trappist-1 --id t1`
    - `universe new --from solar-system --at 2026-11-15 --id sol`
    - `universe new --from seed:classic:42`
    """
    from universe.origins import name_of, state_from
    from universe.reporting import tell_made
    from universe.service.replies import record_facts
    from universe.service.universes import UniverseService
    from universe.systems.time_scales import describe_inexact_conversion

    if at is not None and origin is None:
        raise UsageError("--at needs --from.", hint="A date belongs to the Solar System: --from solar-system.")
    moment = date_of(at)
    state = None if origin is None else state_from(origin, at=moment)
    if isinstance(moment, datetime) and (caution := describe_inexact_conversion(moment)):
        sys.stderr.write(f"Caution: {caution}\n")

    async def make(service: UniverseService) -> dict[str, Any]:
        record = await service.create(name or name_of(origin), state, universe_id=id_)
        return {**record_facts(record), "bodies": len(state["stars"]) if state else 0}

    made = run_with(db, make, makes=True)
    print_json(made) if json else tell_made(made)


@app.command(name="import")
def import_universe(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="What `export` wrote, or a bare state as JSON.")],
    name: Annotated[str | None, typer.Option(help="What to call it.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="Its id; one is made if left out.")] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Make a universe of a file.

    Examples:

    - `universe import saved.json --id copy`
    """
    from universe.exchange import read_document
    from universe.reporting import tell_made
    from universe.service.replies import record_facts
    from universe.service.universes import UniverseService

    document = read_document(source)

    async def make(service: UniverseService) -> dict[str, Any]:
        record = await service.create(name or document.name or source.stem, document.state, universe_id=id_)
        return {**record_facts(record), "bodies": len(document.state.get("stars") or {})}

    made = run_with(db, make, makes=True)
    print_json(made) if json else tell_made(made)


@app.command()
def branch(
    universe_id: UniverseId,
    version: Version = None,
    name: Annotated[str | None, typer.Option(help="What to call the new universe.")] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Make a new universe that begins as this one is, or was.

    Examples:

    - `universe branch t1 --version 1 --name "What if"`
    """
    from universe.reporting import tell_made
    from universe.service.replies import record_facts
    from universe.service.universes import UniverseService

    async def make(service: UniverseService) -> dict[str, Any]:
        record = await service.branch(universe_id, version=version, name=name)
        seen = await service.look(record.id)
        return {**record_facts(record), "bodies": len(seen.replica.state.stars)}

    made = run_with(db, make)
    print_json(made) if json else tell_made(made)


@app.command()
def delete(
    universe_id: UniverseId,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    db: Db = None,
    json: Json = False,
) -> None:
    """Delete a universe and its whole log. This cannot be undone.

    Examples:

    - `universe delete t1 --yes`
    """
    from universe.service.universes import UniverseService

    if not yes:
        if json or not sys.stdin.isatty():
            raise UsageError("Deleting cannot be undone.", hint=f"Delete it with: universe delete {universe_id} --yes")
        typer.confirm(f"Delete {universe_id} and everything that was done to it?", abort=True)

    async def remove(service: UniverseService) -> None:
        await service.delete(universe_id)

    run_with(db, remove)
    print_json({"deleted": universe_id}) if json else print_line(f"Deleted {universe_id}.")
