"""What the commands share: the app, their options, and how they reach the universes."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from uraniborg.kernel.commands import UsageError

if TYPE_CHECKING:
    from universe.plotting import Drawing

Value = TypeVar("Value")

_JULIAN_DATE: Final = re.compile(r"(?i:(?:JD *)?)([0-9]{6,7}(?:\.[0-9]{1,20})?)")

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
Version = Annotated[int | None, typer.Option(min=0, help="Use the universe as it was at this version.")]


def run_with(db: str | None, work: "Callable[[Any], Awaitable[Value]]", *, makes: bool = False) -> Value:
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


def account_name() -> str:
    """Return the name of the account that runs this, as the system or the environment gives it."""
    import getpass

    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # an account without a name, as in a container
        name = ""
    return "".join(char for char in name if char.isprintable())[:100].strip() or "somebody"


@asynccontextmanager
async def _service(db: str | None) -> AsyncGenerator[Any]:
    from universe.service.universes import UniverseService
    from universe.serving import configured
    from universe.store.address import store_at

    config = configured({} if db is None else {"db": db})
    service = UniverseService(
        store_at(config.address), snapshot_every=config.snapshot_every, author=f"{account_name()} (command line)"
    )
    async with service.running():
        yield service


def state_of(universe_id: str, version: int | None, db: str | None) -> tuple[str, int, dict[str, Any]]:
    from universe.service.universes import UniverseService

    async def read(service: UniverseService) -> tuple[str, int, dict[str, Any]]:
        seen = await service.look(universe_id, version)
        return seen.record.name, seen.version, seen.replica.mirror.plain()

    return run_with(db, read)


def date_of(text: str | None) -> datetime | float | None:
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


def check_pictures(paths: Iterable[Path]) -> None:
    """Raise UsageError for a file that is not a picture, before anything is computed for it."""
    for path in paths:
        if path.suffix.lower() not in (".png", ".svg"):
            raise UsageError(f"'{path.name}' is neither PNG nor SVG.", hint="Name the file chart.png or chart.svg.")


def write_picture(drawing: "Drawing", path: Path) -> None:
    """Write a drawing as PNG or SVG, as the name of the file says. Raise Unwritable."""
    from universe.exchange import write_output
    from universe.plotting import write_png, write_svg

    write_output(path, write_png(drawing) if path.suffix.lower() == ".png" else write_svg(drawing).encode())


def json_of(text: str) -> Any:
    import orjson

    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise UsageError(
            f"The command is not JSON: {exc.msg} at line {exc.lineno}, column {exc.colno}.",
            hint="""Quote the whole command. For example: universe send ID '{"type": "tick", "dt": 1}'""",
        ) from None


def print_line(text: str) -> None:
    sys.stdout.write(text + "\n")


def print_json(value: Any) -> None:
    import orjson

    sys.stdout.write(orjson.dumps(value).decode() + "\n")
