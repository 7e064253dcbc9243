"""Looking at universes: lists, trees, pictures, bibliographies, verdicts."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from universe.cli.shared import (
    Db,
    Json,
    UniverseId,
    Version,
    app,
    print_json,
    print_line,
    run_with,
    state_of,
)


@app.command(name="list")
def list_universes(
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many to show.")] = 50,
    db: Db = None,
    json: Json = False,
) -> None:
    """List universes, the newest first."""
    from universe.reporting import tell_list
    from universe.service.replies import record_facts
    from universe.service.universes import UniverseService

    async def read(service: UniverseService) -> list[dict[str, Any]]:
        return [record_facts(record) for record in await service.records(limit=limit)]

    found = run_with(db, read)
    print_json({"universes": found}) if json else tell_list(found)


@app.command()
def show(
    universe_id: UniverseId,
    version: Version = None,
    depth: Annotated[int, typer.Option(min=1, help="How many levels of the tree to show.")] = 4,
    db: Db = None,
    json: Json = False,
) -> None:
    """Show a universe as a tree; with --json its whole state."""
    from universe.reporting import tell_tree

    name, at, plain = state_of(universe_id, version, db)
    print_json(plain) if json else tell_tree(name, at, plain, depth)


@app.command()
def history(
    universe_id: UniverseId,
    after: Annotated[int, typer.Option(min=0, help="Begin after this version.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many entries to show.")] = 50,
    db: Db = None,
    json: Json = False,
) -> None:
    """Show what was done to a universe."""
    from universe.reporting import tell_history
    from universe.service.replies import entry_facts
    from universe.service.universes import UniverseService

    async def read(service: UniverseService) -> list[dict[str, Any]]:
        entries = await service.history(universe_id, after=after, limit=limit)
        return [entry_facts(entry, universe_id) for entry in entries]

    entries = run_with(db, read)
    print_json({"entries": entries}) if json else tell_history(entries, after)


@app.command()
def plot(
    universe_id: UniverseId,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The picture: .png or .svg.")],
    t: Annotated[float | None, typer.Option(help="The time; the universe's own if left out.")] = None,
    scale: Annotated[str, typer.Option(help="linear, log or auto.")] = "auto",
    version: Version = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Draw the orbits seen from above."""
    from universe.drawing import draw
    from uraniborg.kernel.files import shown
    from uraniborg.kernel.logging import printable

    name, at, plain = state_of(universe_id, version, db)
    draw(plain, output, title=name, t=t, scale=scale)
    said = {"path": str(output), "version": at, "bodies": len(plain["stars"])}
    print_json(said) if json else print_line(f"The orbits of {printable(name, keep='')} are in {shown(output)}.")


@app.command()
def export(
    universe_id: UniverseId,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; stdout if left out.")
    ] = None,
    version: Version = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Write a universe's state as JSON, sorted by id: the same state gives the same bytes."""
    import orjson

    from universe.exchange import FORMAT, write_output
    from uraniborg.kernel.files import shown

    name, at, plain = state_of(universe_id, version, db)
    document = {"format": FORMAT, "name": name, "version": at, "state": plain}
    written = orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if output is None:
        sys.stdout.write(written.decode())
        return
    write_output(output, written)
    print_json({"path": str(output), "version": at}) if json else print_line(f"Version {at} is in {shown(output)}.")


@app.command()
def cite(universe_id: UniverseId, version: Version = None, db: Db = None, json: Json = False) -> None:
    """Print the bibliography of a universe: BibTeX of the sources its bodies name."""
    from universe.citing import bibtex, sources_of

    _, _, plain = state_of(universe_id, version, db)
    sources = sources_of(plain["stars"])
    if json:
        print_json({"sources": sources, "bibtex": bibtex(sources)})
    elif sources:
        print_line(bibtex(sources).rstrip())
    else:
        sys.stderr.write("No body of this universe names a source.\n")


@app.command()
def verify(
    universe_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One universe; all if left out.")] = None,
    url: Annotated[str | None, typer.Option(help="Compare with what the server at this address serves, too.")] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept logs that end early, after an older copy was put back on purpose.")
    ] = False,
    db: Db = None,
    json: Json = False,
) -> int:
    """Replay logs from the first entry and compare with snapshots, marks and servers. Exits with 4 if they differ."""
    from universe.reporting import tell_verdicts
    from universe.service.universes import UniverseService
    from universe.store.checking import Verdict
    from universe.verifying import accept_logs, verify_all

    async def check(service: UniverseService) -> list[Verdict]:
        if accept:
            await accept_logs(service, universe_id)
        return await verify_all(service, universe_id, url, quiet=json)

    verdicts = run_with(db, check)
    print_json({"universes": [one.as_dict() for one in verdicts]}) if json else tell_verdicts(verdicts)
    return 0 if all(one.is_whole for one in verdicts) else 4


@app.command()
def commands(
    category: Annotated[str | None, typer.Argument(help="Only this category, such as star-crud.")] = None,
    json: Json = False,
) -> None:
    """Show the commands there are, with their fields."""
    from universe.domain import catalogue
    from universe.reporting import tell_commands

    chosen = [catalogue.category(category)] if category else catalogue.categories()
    print_json({"categories": chosen}) if json else tell_commands(chosen)
