"""Read and write files for commands: universes as JSON, and pictures as PNG and SVG."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import orjson

from universe.domain.exchange.exports import UNIVERSE_FORMAT
from universe.domain.exchange.tables import MAX_BYTES, make_too_large_error
from universe.errors import MalformedState
from uraniborg.kernel.errors import NotFound
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.store.files import write_output
from uraniborg.kernel.terminal.command_runner import UsageError

if TYPE_CHECKING:
    from universe.domain.plotting import Drawing
    from universe.domain.state import Plain

FORMAT: Final = UNIVERSE_FORMAT
MAX_UNIVERSE_BYTES: Final = 500_000_000
"""The largest file of a universe: several hundred thousand bodies."""


class FileMissing(NotFound):
    """The file does not exist or cannot be read."""

    code = "input_not_found"


class UniverseFile(NamedTuple):
    """The name, if any, and the state in a file."""

    name: str | None
    state: JsonObject


def read_universe_file(path: Path) -> UniverseFile:
    """Return the content of an exported file, or of a bare state. Raise FileMissing or MalformedState."""
    try:
        content: Any = orjson.loads(path.read_bytes())
    except OSError as exc:
        raise FileMissing(f"{path} cannot be read: {exc.strerror}.", hint="Check the path.", path=str(path)) from None
    except orjson.JSONDecodeError as exc:
        raise MalformedState(path.name, f"is not JSON: {exc.msg} at line {exc.lineno}") from None
    if not isinstance(content, dict):
        raise MalformedState(path.name, "is not a JSON object")
    document = cast("JsonObject", content)
    if "state" not in document:
        return UniverseFile(None, document)
    if document.get("format") not in (None, FORMAT):
        raise MalformedState(f"format in {path.name}", "is not supported", allowed=FORMAT)
    state, name = document["state"], document.get("name")
    if not isinstance(state, dict):
        raise MalformedState(f"The state in {path.name}", "is not an object")
    return UniverseFile(name if isinstance(name, str) else None, state)


def is_universe_file(path: Path) -> bool:
    """Return True for a file with a JSON object that is a universe or a state, and not an answer of a service.

    Raise FileMissing or ImportRefused for a file that is too large to import.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            start = stream.read(4_096).lstrip()
    except OSError as exc:
        raise FileMissing(f"{path} cannot be read: {exc.strerror}.", hint="Check the path.", path=str(path)) from None
    is_answer = b'"signature"' in start or b"NASA/JPL Horizons" in start
    is_object = start.startswith(b"{") and not is_answer
    limit = MAX_UNIVERSE_BYTES if is_object else MAX_BYTES
    if size > limit:
        raise make_too_large_error(size, limit)
    return is_object or (path.suffix.lower() == ".json" and not is_answer and not start.startswith(b"["))


def read_table_file(path: Path) -> bytes:
    """Return the content of a file to import. Raise FileMissing, or ImportRefused for a file that is too large."""
    try:
        if (size := path.stat().st_size) > MAX_BYTES:
            raise make_too_large_error(size)
        return path.read_bytes()
    except OSError as exc:
        raise FileMissing(f"{path} cannot be read: {exc.strerror}.", hint="Check the path.", path=str(path)) from None


def check_picture_path(path: Path, example: str = "chart") -> None:
    """Raise UsageError if the name of the file does not end in .png or .svg."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise UsageError(
            f"'{path.name}' is neither PNG nor SVG.", hint=f"Name the file {example}.png or {example}.svg."
        )


def write_drawing(drawing: "Drawing", path: Path) -> None:
    """Write a drawing as PNG or SVG, according to the name of the file. Raise Unwritable."""
    from universe.domain.plotting import render_png, render_svg

    write_output(path, render_png(drawing) if path.suffix.lower() == ".png" else render_svg(drawing).encode())


def write_orbit_picture(plain: "Plain", output: Path, *, title: str, t: float | None, scale: str) -> None:
    """Write the orbits of a plain state, seen from above, as PNG or SVG. Raise UsageError or Unwritable."""
    from universe.domain.plotting import draw_universe

    check_picture_path(output, "orbits")
    if scale not in ("auto", "linear", "log"):
        raise UsageError(f"--scale must be auto, linear or log, got '{scale[:20]}'.", hint="For example --scale log.")
    write_drawing(draw_universe(plain["stars"], t=plain["time"] if t is None else t, title=title, scale=scale), output)
