"""`universe send`, `undo` and `restore`."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

from universe.cli.common import (
    Db,
    UniverseId,
    app,
    parse_command_json,
    run_with_universe,
)
from uraniborg.kernel.terminal.command_runner import read_text_input
from uraniborg.kernel.terminal.output_streams import print_json
from uraniborg.kernel.terminal.typer_app import JsonOption

if TYPE_CHECKING:
    from universe.domain.commands import Command


@app.command()
def send(
    universe_id: UniverseId,
    command: Annotated[str, typer.Argument(metavar="JSON", help="A command, or a list of commands; - reads stdin.")],
    expected_version: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Refuse the command unless the universe is at this version.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="An idempotency key: a command sent again with its key takes effect once."),
    ] = None,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """Send a command, or several of which all or none take effect.

    `universe commands` lists the commands with their fields.

    Examples:
    - `universe send t1 '{"type": "tick", "dt": 30}'`
    - `universe send t1 - < commands.json`
    """
    from universe.cli.universe_reports import print_change
    from universe.domain.command_results import find_command_warnings
    from universe.service.replies import ChangeSummary
    from universe.service.reply_encoding import summarize_change
    from universe.service.universes import UniverseService

    given = parse_command_json(read_text_input("-") if command == "-" else command)

    async def change(service: UniverseService, full_id: str) -> ChangeSummary:
        result = await service.send(full_id, given, expected_version=expected_version, key=key)
        facts = summarize_change(result)
        if isinstance(given, dict) and (advice := find_command_warnings(result.before, cast("Command", given))):
            facts["warnings"] = [*advice, *facts.get("warnings", ())]
        return facts

    done = run_with_universe(db, universe_id, change)
    print_json(done) if json else print_change(done)


@app.command()
def undo(universe_id: UniverseId, db: Db = None, json: JsonOption = False) -> None:
    """Undo the last change. Repeat it to undo earlier changes.

    Examples:
    - `universe undo t1`
    """
    from universe.cli.universe_reports import print_change
    from universe.service.replies import ChangeSummary
    from universe.service.universes import UniverseService

    async def change(service: UniverseService, full_id: str) -> ChangeSummary:
        result = await service.undo(full_id)
        return {"version": result.version, "events": result.events}

    done = run_with_universe(db, universe_id, change)
    print_json(done) if json else print_change(done)


@app.command()
def restore(
    universe_id: UniverseId,
    version: Annotated[int, typer.Option(metavar="N", min=0, help="The version to restore, earlier or later.")],
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """Restore the state of a version. The history keeps all changes.

    Examples:
    - `universe restore t1 --version 1`
    """
    from universe.cli.universe_reports import print_change
    from universe.service.replies import ChangeSummary
    from universe.service.universes import UniverseService

    async def change(service: UniverseService, full_id: str) -> ChangeSummary:
        result = await service.restore(full_id, version)
        return {"version": result.version, "events": result.events}

    done = run_with_universe(db, universe_id, change)
    print_json(done) if json else print_change(done)
