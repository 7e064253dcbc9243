"""`universe list`, `show`, `history`, `plot`, `export`, `diff`, `cite`, `verify` and `commands`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from universe.cli.common import (
    Db,
    UniverseId,
    Version,
    app,
    read_universe,
    run_with_service,
    run_with_universe,
)
from uraniborg.kernel.terminal.command_runner import UsageError
from uraniborg.kernel.terminal.output_streams import print_json, write_text
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.typer_app import JsonOption, Limit, OutputFile, Quiet


@app.command(name="list")
def list_universes(
    limit: Limit = 50,
    deleted: Annotated[
        bool, typer.Option("--deleted", help="List deleted universes and who deleted them, the last one first.")
    ] = False,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """List universes, newest first.

    Examples:
    - `universe list --limit 5`
    """
    from universe.cli.universe_reports import print_deletions, print_universe_list
    from universe.service.replies import DeletionFacts, Facts
    from universe.service.reply_encoding import describe_deletion, describe_record
    from universe.service.universes import UniverseService

    async def read(service: UniverseService) -> list[Facts]:
        return [describe_record(record) for record in await service.list_records(limit=limit)]

    async def read_deletions(service: UniverseService) -> list[DeletionFacts]:
        return [describe_deletion(one) for one in await service.list_deletions(limit=limit)]

    if deleted:
        deletions = run_with_service(db, read_deletions)
        print_json({"deletions": deletions}) if json else print_deletions(deletions)
        return
    found = run_with_service(db, read)
    print_json({"universes": found}) if json else print_universe_list(found)


@app.command()
def show(
    universe_id: UniverseId,
    version: Version = None,
    depth: Annotated[int, typer.Option(metavar="N", min=1, help="The number of levels of the tree.")] = 4,
    physics: Annotated[
        bool, typer.Option("--physics", help="Show starlight, temperatures, habitable zones, densities and more.")
    ] = False,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """Show a universe as a tree, with units, the authors of changed values, and who created it.

    With --json the whole state is printed.

    Examples:
    - `universe show t1 --depth 2`
    - `universe show t1 --physics`
    - `universe show t1 --version 1`
    """
    full_id, name, at, plain = read_universe(universe_id, version, db)
    if physics:
        from universe.cli.measurement_commands import print_physics_report

        print_physics_report({"id": full_id, "version": at}, plain, json=json)
        return
    if json:
        print_json(plain)
        return
    from universe.cli.universe_reports import format_amount_with_unit, print_creator, print_tree
    from universe.domain.state import make_state_from_plain
    from universe.service.papers import make_paper_text_reader
    from universe.service.replies import Facts
    from universe.service.reply_encoding import describe_record, describe_time_unit_and_date
    from universe.service.universes import UniverseService

    facts = describe_time_unit_and_date(make_state_from_plain(plain))
    date = f" ({facts['date']})" if "date" in facts else ""
    print_tree(
        name,
        at,
        plain,
        depth,
        f"{format_amount_with_unit(plain['time'], facts['timeUnit'])}{date}",
        make_paper_text_reader(),
    )

    async def read_record(service: UniverseService, full_id: str) -> Facts:
        return describe_record(await service.read_record(full_id))

    print_creator(run_with_universe(db, full_id, read_record))


@app.command()
def history(
    universe_id: UniverseId,
    after: Annotated[int, typer.Option(metavar="N", min=0, help="Start after this version.")] = 0,
    limit: Limit = 50,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """List the changes of a universe with their authors and reasons.

    Examples:
    - `universe history t1`
    - `universe history t1 --after 10 --limit 20`
    """
    from universe.cli.universe_reports import print_history
    from universe.service.replies import HistoryWithActors
    from universe.service.reply_encoding import describe_log_entry, describe_record
    from universe.service.universes import UniverseService

    async def read(service: UniverseService, full_id: str) -> HistoryWithActors:
        facts = describe_record(await service.read_record(full_id))
        entries = await service.read_history(full_id, after=after, limit=limit)
        described = [describe_log_entry(entry, full_id) for entry in entries]
        return {"entries": described, "createdBy": facts["createdBy"], "renamedBy": facts["renamedBy"]}

    found = run_with_universe(db, universe_id, read)
    print_json(found) if json else print_history(found, after)


@app.command()
def plot(
    universe_id: UniverseId,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The picture file: .png or .svg.")],
    t: Annotated[
        float | None,
        typer.Option(metavar="N", help="The time, in days for real systems. Default: the time of the universe."),
    ] = None,
    scale: Annotated[str, typer.Option(metavar="NAME", help="The scale of distances: linear, log or auto.")] = "auto",
    version: Version = None,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """Draw the orbits, seen from above.

    Examples:
    - `universe plot t1 -o orbits.png`
    - `universe plot sol -o orbits.svg --scale log --t 365`
    """
    from universe.service.universe_files import write_orbit_picture
    from uraniborg.kernel.store.files import display_path

    _, name, at, plain = read_universe(universe_id, version, db)
    write_orbit_picture(plain, output, title=name, t=t, scale=scale)
    reply = {"path": str(output), "version": at, "bodies": len(plain["stars"])}
    print_json(reply) if json else Page().write_line(f"The orbits of {name} are in {display_path(output)}.")


@app.command()
def export(
    universe_id: UniverseId,
    output: OutputFile = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            help="json, csv, votable, rebound (a script) or rebound-csv. Default: by the name of the file, else json.",
        ),
    ] = None,
    days: Annotated[float, typer.Option(metavar="N", help="The duration of a REBOUND script in days.")] = 365.25,
    version: Version = None,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """Write a universe as JSON, as a table of its bodies, or as a script for REBOUND.

    JSON has the whole state, sorted by id: equal states give equal bytes. Tables have the bodies with true orbits.

    Examples:
    - `universe export t1 -o saved.json`
    - `universe export t1 -o bodies.csv`
    - `universe export t1 -o check.py --days 100`
    """
    from universe.domain.exchange.exports import FORMATS, SUFFIXES, render_export
    from uraniborg.kernel.store.files import check_output, display_path, write_output

    if format_ is not None and format_ not in FORMATS:
        raise UsageError(
            f"--format must be one of {', '.join(FORMATS)}, got '{format_[:20]}'.", hint="For example --format csv."
        )
    by_name = "json" if output is None else SUFFIXES.get(output.suffix.lower(), "json")
    chosen = format_ or by_name
    check_output(output)
    full_id, name, at, plain = read_universe(universe_id, version, db)
    written = render_export(plain, chosen, universe_id=full_id, name=name, version=at, days=days)
    if output is None:
        sys.stdout.write(written.decode())
        return
    write_output(output, written)
    reply = {"path": str(output), "version": at, "format": chosen}
    print_json(reply) if json else Page().write_line(f"Version {at} is in {display_path(output)} ({chosen}).")


@app.command()
def diff(
    universe_id: UniverseId,
    from_: Annotated[
        int | None, typer.Option("--from", metavar="N", min=0, help="The earlier version. Default: the first.")
    ] = None,
    to: Annotated[int | None, typer.Option(metavar="N", min=0, help="The later version. Default: now.")] = None,
    other: Annotated[
        str | None,
        typer.Option("--with", metavar="ID", help="Compare with this universe; --from is then one of its versions."),
    ] = None,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """Show what differs between two versions of a universe, or between two universes.

    Examples:
    - `universe diff t1 --from 1`
    - `universe diff t1-heavy --with t1`
    """
    from universe.cli.origin_and_difference_reports import print_differences
    from universe.service.replies import Differences
    from universe.service.state_views import compare_plain_states

    after = read_universe(universe_id, to, db)
    first = (0 if other is None else None) if from_ is None else from_
    before = read_universe(other or universe_id, first, db)
    reply: Differences = {
        "from": {"id": before.id, "version": before.version},
        "to": {"id": after.id, "version": after.version},
        **compare_plain_states(before.plain, after.plain),
    }
    print_json(reply) if json else print_differences(reply)


@app.command()
def cite(
    universe_id: UniverseId,
    body: Annotated[
        str | None, typer.Option(metavar="BODY", help="Show the sources of the values of this body (id or name).")
    ] = None,
    field: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --body: only this field, such as mass or kepler.period.")
    ] = None,
    shelf: Annotated[
        Path | None,
        typer.Option(metavar="SHELF", help="With --body: check locations against the texts of this shelf."),
    ] = None,
    physics: Annotated[
        bool, typer.Option("--physics", help="Add the papers behind `show --physics`, `transits` and `rv`.")
    ] = False,
    version: Version = None,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """Print the bibliography of a universe as BibTeX, or the origin of the values of a body.

    Examples:
    - `universe cite t1`
    - `universe cite t1 --body e`
    - `universe cite t1 --body e --field mass`
    """
    if field is not None and body is None:
        raise UsageError("--field needs --body.", hint="For example: --body trappist-1-e --field mass.")
    if body is not None:
        _print_body_or_field_sources(universe_id, body, field, version, db, json, shelf)
        return
    from universe.domain.provenance.bibliography import collect_cited_sources, format_bibtex

    plain = read_universe(universe_id, version, db).plain
    bodies = dict(plain["stars"])
    if physics:
        from universe.domain.physics.physics_report import make_computed_sources_entry

        bodies |= make_computed_sources_entry(plain)
    sources = collect_cited_sources(bodies)
    if json:
        print_json({"sources": sources, "bibtex": format_bibtex(sources)})
    elif sources:
        write_text(sys.stdout, f"{format_bibtex(sources).rstrip()}\n")
    else:
        Page(sys.stderr).write_message(
            "No body of this universe has a source. Real systems have sources: universe new --from trappist-1"
        )


def _print_body_or_field_sources(
    universe_id: str, body: str, field: str | None, version: int | None, db: str | None, json: bool, shelf: Path | None
) -> None:
    from universe.cli.origin_and_difference_reports import print_body_sources, print_value_origin
    from universe.domain.provenance.bibliography import ValueOrigin
    from universe.service.papers import make_paper_text_reader
    from universe.service.universes import UniverseService
    from universe.service.value_origins import describe_sourced_values, trace_value_origin

    if shelf is not None and not shelf.expanduser().is_dir():
        from uraniborg.kernel.store.files import display_path

        raise UsageError(
            f"The folder {display_path(shelf)} does not exist.", hint="Give the folder of a shelf to --shelf."
        )
    if field is None:
        plain = read_universe(universe_id, version, db).plain
        statuses = describe_sourced_values(plain["stars"], body, make_paper_text_reader(shelf))
        print_json(statuses) if json else print_body_sources(statuses)
        return

    async def read(service: UniverseService, full_id: str) -> ValueOrigin:
        return await trace_value_origin(
            service, full_id, body, field, version=version, text_of=make_paper_text_reader(shelf)
        )

    chain = run_with_universe(db, universe_id, read)
    print_json(chain) if json else print_value_origin(chain)


@app.command()
def verify(
    universe_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="The id of one universe, or its first characters. Default: all.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="Compare also with the server at this address.")
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept logs that end early, after an older copy was restored on purpose.")
    ] = False,
    db: Db = None,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> int:
    """Replay logs and compare with snapshots, marks and servers. Exit with 4 if they differ.

    Examples:
    - `universe verify`
    - `universe verify t1 --url http://127.0.0.1:3001`
    """
    from universe.cli.universe_reports import print_verdicts
    from universe.service.universes import UniverseService
    from universe.service.verification import LogVerification, accept_lost_versions, verify_universes
    from uraniborg.kernel.terminal.progress import Progress

    async def check(service: UniverseService, full_id: str | None = None) -> list[LogVerification]:
        if accept:
            await accept_lost_versions(service, full_id)
        return await verify_universes(service, full_id, url, progress.report_count)

    with Progress("Verifying", is_quiet=quiet, as_json=json) as progress:
        verdicts = run_with_universe(db, universe_id, check) if universe_id else run_with_service(db, check)
    print_json({"universes": [one.as_dict() for one in verdicts]}) if json else print_verdicts(verdicts)
    return 0 if all(one.is_intact for one in verdicts) else 4


@app.command()
def commands(
    category: Annotated[
        str | None, typer.Argument(metavar="CATEGORY", help="Only this category, such as star-crud.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the commands that change a universe, with their fields.

    Examples:
    - `universe commands`
    - `universe commands star-crud`
    """
    from universe.cli.universe_reports import print_commands
    from universe.domain.command_catalogue import get_category, list_command_categories

    chosen = [get_category(category)] if category else list_command_categories()
    print_json({"categories": chosen}) if json else print_commands(chosen)
