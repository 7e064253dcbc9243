"""Changing universes, and going back."""

import sys
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from universe.cli.shared import (
    Db,
    Json,
    UniverseId,
    app,
    json_of,
    print_json,
    run_with,
)

if TYPE_CHECKING:
    from universe.domain.commands import Command


@app.command()
def send(
    universe_id: UniverseId,
    command: Annotated[str, typer.Argument(metavar="JSON", help="A command, or a list of commands; - reads stdin.")],
    expected_version: Annotated[int | None, typer.Option(min=0, help="Refuse unless it is at this version.")] = None,
    key: Annotated[str | None, typer.Option(help="A command repeated with the same key is done once.")] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Send a command, or several of which all or none take effect.

    `universe commands` lists the commands with their fields.

    Examples:

    - `universe send t1 '{"type": "tick", "dt": 30}'`
    - `universe send t1 '{"type": "updateStar", "id": "trappist-1-e", "payload": {"mass": 3e-6}}'`
    """
    from universe.domain.advice import warnings_of
    from universe.reporting import tell_result
    from universe.service.replies import change_facts
    from universe.service.universes import UniverseService

    given = json_of(sys.stdin.read() if command == "-" else command)

    async def change(service: UniverseService) -> dict[str, Any]:
        result = await service.send(universe_id, given, expected_version=expected_version, key=key)
        facts = change_facts(result)
        if isinstance(given, dict) and (advice := warnings_of(result.before, cast("Command", given))):
            facts["warnings"] = [*advice, *facts.get("warnings", ())]
        return facts

    done = run_with(db, change)
    print_json(done) if json else tell_result(done)


@app.command()
def undo(universe_id: UniverseId, db: Db = None, json: Json = False) -> None:
    """Undo the last change; again, the one before it.

    Examples:

    - `universe undo t1`
    """
    from universe.reporting import tell_result
    from universe.service.universes import UniverseService

    async def change(service: UniverseService) -> dict[str, Any]:
        result = await service.undo(universe_id)
        return {"version": result.version, "events": result.events}

    done = run_with(db, change)
    print_json(done) if json else tell_result(done)


@app.command()
def restore(
    universe_id: UniverseId,
    version: Annotated[int, typer.Option(min=0, help="The version to go back to, or forward again.")],
    db: Db = None,
    json: Json = False,
) -> None:
    """Go back to a version, or forward again: nothing of the history is lost.

    Examples:

    - `universe restore t1 --version 1`
    """
    from universe.reporting import tell_result
    from universe.service.universes import UniverseService

    async def change(service: UniverseService) -> dict[str, Any]:
        result = await service.restore(universe_id, version)
        return {"version": result.version, "events": result.events}

    done = run_with(db, change)
    print_json(done) if json else tell_result(done)
