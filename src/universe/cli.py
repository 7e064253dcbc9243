"""The command line: make universes, change them, look at them, serve them."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer

from uraniborg.kernel.commands import UsageError, run_app

Value = TypeVar("Value")

app = typer.Typer(
    help="Universes that change by commands alone: made from real systems or seeds, kept, streamed and served.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
Db = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="sqlite:///PATH or postgresql://…; the file in the data folder if left out."),
]
UniverseId = Annotated[str, typer.Argument(metavar="ID", help="The id of a universe; `universe list` shows them.")]
Version = Annotated[int | None, typer.Option(min=0, help="As it was at this version.")]


@app.command()
def serve(
    db: Db = None,
    host: Annotated[str | None, typer.Option(help="The address to listen at; 127.0.0.1 if left out.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 3001 if left out, 0 for any that is free.")] = None,
    token: Annotated[str | None, typer.Option(help="What callers must send as a bearer token.")] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(metavar="ORIGIN", help="A web origin that may call; may be repeated.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name the server is called by; may be repeated.")
    ] = None,
    insecure: Annotated[
        bool | None, typer.Option("--insecure", help="Serve others without a token: everyone may change everything.")
    ] = None,
    json: Json = False,
) -> None:
    """Serve all universes: REST and streams, and MCP at /mcp."""
    from universe.serving import serve as serve_universes

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
        typer.Option("--from", metavar="ORIGIN", help="solar-system, trappist-1, …, or seed:PRESET:SEED."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="What to call it.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="Its id; one is made if left out.")] = None,
    at: Annotated[str | None, typer.Option(metavar="DATE", help="For the Solar System: 2026-11-15, or today.")] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Make a universe: empty, from a real system, or grown from a seed."""
    from universe.origins import name_of, state_from
    from universe.reporting import tell_made
    from universe.service.replies import record_facts
    from universe.service.universes import UniverseService

    if at is not None and origin is None:
        raise UsageError("--at needs --from.", hint="A date belongs to the Solar System: --from solar-system.")
    state = None if origin is None else state_from(origin, at=_date(at))

    async def make(service: UniverseService) -> dict[str, Any]:
        record = await service.create(name or name_of(origin), state, universe_id=id_)
        return {**record_facts(record), "bodies": len(state["stars"]) if state else 0}

    made = _run(db, make, makes=True)
    _print_json(made) if json else tell_made(made)


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

    found = _run(db, read)
    _print_json({"universes": found}) if json else tell_list(found)


@app.command()
def send(
    universe_id: UniverseId,
    command: Annotated[str, typer.Argument(metavar="JSON", help="A command, or a list of commands; - reads stdin.")],
    expected_version: Annotated[int | None, typer.Option(min=0, help="Refuse unless it is at this version.")] = None,
    key: Annotated[str | None, typer.Option(help="An idempotency key: repeated with it, it is done once.")] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Send a command, or several of which all or none take effect."""
    from universe.reporting import tell_result
    from universe.service.universes import UniverseService

    given = _json_of(sys.stdin.read() if command == "-" else command)

    async def change(service: UniverseService) -> dict[str, Any]:
        result = await service.send(universe_id, given, expected_version=expected_version, key=key)
        return {"version": result.version, "events": result.events}

    done = _run(db, change)
    _print_json(done) if json else tell_result(done)


@app.command()
def undo(universe_id: UniverseId, db: Db = None, json: Json = False) -> None:
    """Undo the last change; again, the one before it."""
    from universe.reporting import tell_result
    from universe.service.universes import UniverseService

    async def change(service: UniverseService) -> dict[str, Any]:
        result = await service.undo(universe_id)
        return {"version": result.version, "events": result.events}

    done = _run(db, change)
    _print_json(done) if json else tell_result(done)


@app.command()
def restore(
    universe_id: UniverseId,
    version: Annotated[int, typer.Option(min=0, help="The version to go back to, or forward again.")],
    db: Db = None,
    json: Json = False,
) -> None:
    """Go back to a version, or forward again: nothing of the history is lost."""
    from universe.reporting import tell_result
    from universe.service.universes import UniverseService

    async def change(service: UniverseService) -> dict[str, Any]:
        result = await service.restore(universe_id, version)
        return {"version": result.version, "events": result.events}

    done = _run(db, change)
    _print_json(done) if json else tell_result(done)


@app.command()
def branch(
    universe_id: UniverseId,
    version: Version = None,
    name: Annotated[str | None, typer.Option(help="What to call the new universe.")] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Make a new universe that begins as this one is, or was."""
    from universe.reporting import tell_made
    from universe.service.replies import record_facts
    from universe.service.universes import UniverseService

    async def make(service: UniverseService) -> dict[str, Any]:
        record = await service.branch(universe_id, version=version, name=name)
        seen = await service.look(record.id)
        return {**record_facts(record), "bodies": len(seen.replica.state.stars)}

    made = _run(db, make)
    _print_json(made) if json else tell_made(made)


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

    entries = _run(db, read)
    _print_json({"entries": entries}) if json else tell_history(entries, after)


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

    name, at, plain = _state_of(universe_id, version, db)
    _print_json(plain) if json else tell_tree(name, at, plain, depth)


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

    name, at, plain = _state_of(universe_id, version, db)
    draw(plain, output, title=name, t=t, scale=scale)
    said = {"path": str(output), "version": at, "bodies": len(plain["stars"])}
    _print_json(said) if json else _print(f"The orbits of {printable(name, keep='')} are in {shown(output)}.")


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

    name, at, plain = _state_of(universe_id, version, db)
    document = {"format": FORMAT, "name": name, "version": at, "state": plain}
    written = orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if output is None:
        sys.stdout.write(written.decode())
        return
    write_output(output, written)
    _print_json({"path": str(output), "version": at}) if json else _print(f"Version {at} is in {shown(output)}.")


@app.command(name="import")
def import_universe(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="What `export` wrote, or a bare state as JSON.")],
    name: Annotated[str | None, typer.Option(help="What to call it.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="Its id; one is made if left out.")] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Make a universe of a file."""
    from universe.exchange import read_document
    from universe.reporting import tell_made
    from universe.service.replies import record_facts
    from universe.service.universes import UniverseService

    document = read_document(source)

    async def make(service: UniverseService) -> dict[str, Any]:
        record = await service.create(name or document.name or source.stem, document.state, universe_id=id_)
        return {**record_facts(record), "bodies": len(document.state.get("stars") or {})}

    made = _run(db, make, makes=True)
    _print_json(made) if json else tell_made(made)


@app.command()
def cite(universe_id: UniverseId, version: Version = None, db: Db = None, json: Json = False) -> None:
    """Print the bibliography of a universe: BibTeX of the sources its bodies name."""
    from universe.citing import bibtex, sources_of

    _, _, plain = _state_of(universe_id, version, db)
    sources = sources_of(plain["stars"])
    if json:
        _print_json({"sources": sources, "bibtex": bibtex(sources)})
    elif sources:
        _print(bibtex(sources).rstrip())
    else:
        sys.stderr.write("No body of this universe names a source.\n")


@app.command()
def nbody(
    universe_id: UniverseId,
    days: Annotated[float, typer.Option(help="For how long, in days; may be negative.")] = 365.25,
    step: Annotated[
        float | None, typer.Option(help="The length of a step, in days; one that fits the quickest orbit if left out.")
    ] = None,
    body: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A body to take part; may be repeated. All if left out.")
    ] = None,
    method: Annotated[str, typer.Option(help="leapfrog, yoshida4 or yoshida6: of order 2, 4 and 6.")] = "yoshida4",
    db: Db = None,
    json: Json = False,
) -> int:
    """Let bodies pull at each other, and tell how well energy and angular momentum were kept. Exits with 4 if badly."""
    from universe.reporting import tell_nbody
    from universe.simulating import simulate

    _, _, plain = _state_of(universe_id, None, db)
    said = simulate(plain, body, days=days, step=step, method=method)
    _print_json(said) if json else tell_nbody(said)
    return 0 if said["trustworthy"] else 4


@app.command()
def verify(
    universe_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One universe; all if left out.")] = None,
    url: Annotated[str | None, typer.Option(help="Compare with what the server at this address serves, too.")] = None,
    db: Db = None,
    json: Json = False,
) -> int:
    """Replay logs from the first entry and compare with what is kept and served. Exits with 4 if they differ."""
    from universe.reporting import tell_verdicts
    from universe.verifying import verify_all

    verdicts = _run(db, lambda service: verify_all(service, universe_id, url, quiet=json))
    _print_json({"universes": [one.as_dict() for one in verdicts]}) if json else tell_verdicts(verdicts)
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
    _print_json({"categories": chosen}) if json else tell_commands(chosen)


@app.command()
def delete(
    universe_id: UniverseId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    db: Db = None,
    json: Json = False,
) -> None:
    """Delete a universe and its whole log. This cannot be undone."""
    from universe.service.universes import UniverseService

    if not yes:
        if json or not sys.stdin.isatty():
            raise UsageError("Deleting cannot be undone.", hint="Say --yes.")
        typer.confirm(f"Delete {universe_id} and everything that was done to it?", abort=True)

    async def remove(service: UniverseService) -> None:
        await service.delete(universe_id)

    _run(db, remove)
    _print_json({"deleted": universe_id}) if json else _print(f"Deleted {universe_id}.")


def run(arguments: Sequence[str]) -> NoReturn:
    run_app(app, arguments, name="universe")


def _run(db: str | None, work: "Callable[[Any], Awaitable[Value]]", *, makes: bool = False) -> Value:
    if not makes:
        _check_there(db)

    async def body() -> Value:
        async with _service(db) as service:
            return await work(service)

    return asyncio.run(body())


def _check_there(db: str | None) -> None:
    """Raises DatabaseMissing for the address of a file that is not there: looking must not make it."""
    from universe.config import load_config
    from uraniborg.kernel.sqlite import DatabaseMissing

    if db is None:
        set_ = load_config().db
        if set_ is None:
            return
        db = set_.get_secret_value()
    path = Path(db.removeprefix("sqlite:///")).expanduser()
    if db.startswith("sqlite:///") and not path.is_file():
        raise DatabaseMissing(f"There is no database at {path}.", hint="`universe new` makes one.", name=path.name)


@asynccontextmanager
async def _service(db: str | None) -> AsyncGenerator[Any]:
    from universe.service.universes import UniverseService
    from universe.serving import configured
    from universe.store.address import store_at

    config = configured({} if db is None else {"db": db})
    async with UniverseService(store_at(config.address), snapshot_every=config.snapshot_every).running() as service:
        yield service


def _state_of(universe_id: str, version: int | None, db: str | None) -> tuple[str, int, dict[str, Any]]:
    from universe.service.universes import UniverseService

    async def read(service: UniverseService) -> tuple[str, int, dict[str, Any]]:
        seen = await service.look(universe_id, version)
        return seen.record.name, seen.version, seen.replica.mirror.plain()

    return _run(db, read)


def _date(text: str | None) -> datetime | None:
    if text is None:
        return None
    if text == "today":
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"'{text[:40]}' is no date.", hint="Write it as 2026-11-15, or today.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _json_of(text: str) -> Any:
    import orjson

    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise UsageError(
            f"This is no JSON: {exc.msg} at line {exc.lineno}, column {exc.colno}.",
            hint="""For example: universe send ID '{"type": "tick", "dt": 1}'""",
        ) from None


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")


def _print_json(value: Any) -> None:
    import orjson

    sys.stdout.write(orjson.dumps(value).decode() + "\n")
