"""What the `universe` commands share: the app, options, and helpers for input."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeVar

import typer

from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.terminal.command_runner import UsageError
from uraniborg.kernel.terminal.typer_app import CommandLine

if TYPE_CHECKING:
    from universe.domain.state import Plain

Value = TypeVar("Value")

_JULIAN_DATE: Final = re.compile(r"(?i:(?:JD *)?)([0-9]{6,7}(?:\.[0-9]{1,20})?)")

app = CommandLine(
    """Create universes from real systems or seeds, change them by commands, measure, plot, cite and serve them.

    Examples:
    - `universe new --from trappist-1 --id t1`
    - `universe show t1`
    - `universe nbody t1 --years 10`
    """
)

Db = Annotated[
    str | None,
    typer.Option(
        metavar="DATABASE", help="A file or a postgresql:// address. Default: universes.db in the data folder."
    ),
]
UniverseId = Annotated[
    str, typer.Argument(metavar="ID", help="The id of a universe, or its first characters; `universe list` lists them.")
]
Version = Annotated[int | None, typer.Option(metavar="N", min=0, help="Use the universe as it was at this version.")]


class UniverseVersion(NamedTuple):
    """A universe at a version, with its plain state."""

    id: str
    name: str
    version: int
    plain: "Plain"


def run_with_service(db: str | None, work: "Callable[[Any], Awaitable[Value]]", *, may_create: bool = False) -> Value:
    """Return the result of `work` with the service of a database. Raise DatabaseMissing unless `may_create`."""
    if not may_create:
        _check_database_exists(db)

    async def call_work() -> Value:
        async with _open_service(db) as service:
            return await work(service)

    return asyncio.run(call_work())


def _check_database_exists(db: str | None) -> None:
    """Raise DatabaseMissing for the address of a file that does not exist, so that reading does not create it."""
    from universe.api.server import load_config_with_options
    from uraniborg.kernel.store.sqlite import DatabaseMissing

    config = load_config_with_options({} if db is None else {"db": db})
    path = config.database_path
    if config.db is not None and path is not None and not path.is_file():
        raise DatabaseMissing(f"There is no database at {path}.", hint="Create one: universe new", name=path.name)


@asynccontextmanager
async def _open_service(db: str | None) -> AsyncGenerator[Any]:
    """Open the service of a database until the block ends."""
    from universe.api.server import load_config_with_options
    from universe.service.universes import UniverseService
    from universe.store.factory import make_store
    from uraniborg.kernel.actors import get_terminal_actor

    config = load_config_with_options({} if db is None else {"db": db})
    service = UniverseService(
        make_store(config.database_address),
        snapshot_every=config.snapshot_every,
        actor=get_terminal_actor(),
    )
    async with service.running():
        yield service


def run_with_universe(db: str | None, universe_id: str, work: "Callable[[Any, str], Awaitable[Value]]") -> Value:
    """Return the result of `work` with the service of a database and the full id of a universe.

    Raise DatabaseMissing, or InvalidInput if several ids begin with `universe_id`.
    """

    async def resolve_and_work(service: Any) -> Value:
        return await work(service, await resolve_universe_id(service, universe_id))

    return run_with_service(db, resolve_and_work)


async def resolve_universe_id(service: Any, given: str) -> str:
    """Return the id that `given` is or begins, or `given` itself if there is none."""
    from universe.service.verification import list_all_ids
    from uraniborg.kernel.errors import InvalidInput
    from uraniborg.kernel.ids import match_id_prefix

    if await service.store.read_record(given) is not None:
        return given
    found = match_id_prefix(given, await list_all_ids(service))
    if len(found) > 1:
        raise InvalidInput(
            f"{len(found)} universes have ids that begin with '{given[:40]}'.",
            hint=f"Give more of the id: {', '.join(found[:5])}.",
            allowed=found[:10],
        )
    return found[0] if found else given


def read_universe(universe_id: str, version: int | None, db: str | None) -> UniverseVersion:
    """Return a universe, now or at a version, with its plain state. `universe_id` may be the beginning of its id."""
    from universe.service.universes import UniverseService

    async def read(service: UniverseService, full_id: str) -> UniverseVersion:
        view = await service.view(full_id, version)
        return UniverseVersion(full_id, view.record.name, view.version, view.replica.mirror.to_plain())

    return run_with_universe(db, universe_id, read)


def parse_date(text: str | None) -> datetime | float | None:
    """Return the instant that `--at` names: a UTC date, or a number for a Julian date in TDB."""
    if text is None:
        return None
    if text.lower() == "today":
        return datetime.now(UTC)
    if julian := _JULIAN_DATE.fullmatch(text.strip()):
        return float(julian[1])
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            f"'{text[:40]}' is not a date.", hint="Write it as 2026-11-15, 2026-11-15T18:30, JD2461000.5, or today."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def check_output_files(pictures: Iterable[Path], others: Iterable[Path | None]) -> None:
    """Raise before a long computation if a file cannot be written, or is not a picture."""
    from universe.service.universe_files import check_picture_path
    from uraniborg.kernel.store.files import check_output

    pictures = list(pictures)
    for path in pictures:
        check_picture_path(path)
    for path in (*pictures, *others):
        check_output(path)


def parse_command_json(text: str) -> Any:
    """Return the value of a command given as JSON. Raise UsageError."""
    try:
        return parse_json(text)
    except json.JSONDecodeError as exc:
        raise UsageError(
            f"The command is not JSON: {exc.msg} at line {exc.lineno}, column {exc.colno}.",
            hint="""Quote the whole command. For example: universe send ID '{"type": "tick", "dt": 1}'""",
        ) from None
