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
from uraniborg.kernel.cli import UsageError


@app.command(name="list")
def list_universes(
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many to show.")] = 50,
    db: Db = None,
    json: Json = False,
) -> None:
    """List universes, the newest first.

    Examples:

    - `universe list --limit 5`
    """
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
    physics: Annotated[
        bool, typer.Option("--physics", help="Show starlight, temperatures, habitable zones, densities and more.")
    ] = False,
    db: Db = None,
    json: Json = False,
) -> None:
    """Show a universe as a tree, with units and who set changed values; with --json its whole state.

    Examples:

    - `universe show t1 --depth 2`
    - `universe show t1 --physics`
    - `universe show t1 --version 1`
    """
    name, at, plain = state_of(universe_id, version, db)
    if physics:
        from universe.cli.measuring import show_physics

        show_physics({"id": universe_id, "version": at}, plain, json=json)
        return
    if json:
        print_json(plain)
        return
    from universe.domain.state import trusted_state
    from universe.reporting import tell_tree, with_unit
    from universe.service.dates import time_facts
    from universe.shelf_texts import shelf_texts

    facts = time_facts(trusted_state(plain))
    date = f" ({facts['date']})" if "date" in facts else ""
    tell_tree(name, at, plain, depth, f"{with_unit(plain['time'], facts['timeUnit'])}{date}", shelf_texts())


@app.command()
def history(
    universe_id: UniverseId,
    after: Annotated[int, typer.Option(min=0, help="Begin after this version.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many entries to show.")] = 50,
    db: Db = None,
    json: Json = False,
) -> None:
    """Show what was done to a universe.

    Examples:

    - `universe history t1`
    - `universe history t1 --after 10 --limit 20`
    """
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
    t: Annotated[float | None, typer.Option(help="The time, in days for real systems; now if left out.")] = None,
    scale: Annotated[str, typer.Option(help="linear, log or auto.")] = "auto",
    version: Version = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Draw the orbits seen from above.

    Examples:

    - `universe plot t1 -o orbits.png`
    - `universe plot sol -o orbits.svg --scale log --t 365`
    """
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
    """Write a universe's state as JSON, sorted by id: the same state gives the same bytes.

    Examples:

    - `universe export t1 -o saved.json`
    """
    import orjson

    from universe.domain.citations import name_universe
    from universe.exchange import FORMAT, write_output
    from uraniborg.kernel.files import shown

    name, at, plain = state_of(universe_id, version, db)
    document = {"format": FORMAT, "name": name, "version": at, "state": name_universe(plain, universe_id)}
    written = orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if output is None:
        sys.stdout.write(written.decode())
        return
    write_output(output, written)
    print_json({"path": str(output), "version": at}) if json else print_line(f"Version {at} is in {shown(output)}.")


@app.command()
def cite(
    universe_id: UniverseId,
    body: Annotated[
        str | None, typer.Option(metavar="BODY", help="Show where the values of this body (id or name) come from.")
    ] = None,
    field: Annotated[
        str | None, typer.Option(help="With --body: only this field, such as mass or kepler.period.")
    ] = None,
    shelf: Annotated[
        Path | None,
        typer.Option(help="With --body: check locations against the texts of this shelf."),
    ] = None,
    physics: Annotated[
        bool, typer.Option("--physics", help="Add the papers of what `show --physics`, `transits` and `rv` compute.")
    ] = False,
    version: Version = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Print the bibliography of a universe as BibTeX, or where a value of a body comes from.

    Examples:

    - `universe cite t1`
    - `universe cite t1 --body e`
    - `universe cite t1 --body e --field mass`
    """
    if field is not None and body is None:
        raise UsageError("--field needs --body.", hint="For example --body trappist-1-e --field mass.")
    if body is not None:
        _cite_body(universe_id, body, field, version, db, json, shelf)
        return
    from universe.bibliography import collect_sources, write_bibliography

    _, _, plain = state_of(universe_id, version, db)
    bodies = dict(plain["stars"])
    if physics:
        from universe.physics.report import computed_sources

        bodies |= computed_sources(plain)
    sources = collect_sources(bodies)
    if json:
        print_json({"sources": sources, "bibtex": write_bibliography(sources)})
    elif sources:
        print_line(write_bibliography(sources).rstrip())
    else:
        sys.stderr.write("No body of this universe names a source. Real systems do: universe new --from trappist-1\n")


def _cite_body(
    universe_id: str, body: str, field: str | None, version: int | None, db: str | None, json: bool, shelf: Path | None
) -> None:
    from universe.origin_report import tell_body, tell_origin
    from universe.service.universes import UniverseService
    from universe.shelf_texts import shelf_texts
    from universe.value_origins import statuses_of, trace

    if shelf is not None and not shelf.expanduser().is_dir():
        from uraniborg.kernel.files import shown

        raise UsageError(f"There is no folder {shown(shelf)}.", hint="Give the folder of a shelf to --shelf.")
    if field is None:
        _, _, plain = state_of(universe_id, version, db)
        statuses = statuses_of(plain["stars"], body, shelf_texts(shelf))
        print_json(statuses) if json else tell_body(statuses)
        return

    async def read(service: UniverseService) -> dict[str, Any]:
        return await trace(service, universe_id, body, field, version=version, text_of=shelf_texts(shelf))

    chain = run_with(db, read)
    print_json(chain) if json else tell_origin(chain)


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
    """Replay logs from the first entry and compare with snapshots, marks and servers. Exits with 4 if they differ.

    Examples:

    - `universe verify`
    - `universe verify t1 --url http://127.0.0.1:3001`
    """
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
    """Show the commands there are, with their fields.

    Examples:

    - `universe commands`
    - `universe commands star-crud`
    """
    from universe.domain import catalogue
    from universe.reporting import tell_commands

    chosen = [catalogue.category(category)] if category else catalogue.categories()
    print_json({"categories": chosen}) if json else tell_commands(chosen)
