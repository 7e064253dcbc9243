"""Pictures of universes in PNG and SVG files."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from universe.universe_files import write_output
from uraniborg.kernel.cli import UsageError

if TYPE_CHECKING:
    from universe.plotting import Drawing


def check_picture_path(path: Path, example: str = "chart") -> None:
    """Raise UsageError if the name of the file does not end in .png or .svg."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise UsageError(
            f"'{path.name}' is neither PNG nor SVG.", hint=f"Name the file {example}.png or {example}.svg."
        )


def write_drawing(drawing: "Drawing", path: Path) -> None:
    """Write a drawing as PNG or SVG, according to the name of the file. Raise Unwritable."""
    from universe.plotting import write_png, write_svg

    write_output(path, write_png(drawing) if path.suffix.lower() == ".png" else write_svg(drawing).encode())


def write_orbit_picture(plain: dict[str, Any], output: Path, *, title: str, t: float | None, scale: str) -> None:
    """Write the orbits of a plain state, seen from above, as PNG or SVG. Raise UsageError or Unwritable."""
    from universe.plotting import draw_universe

    check_picture_path(output, "orbits")
    if scale not in ("auto", "linear", "log"):
        raise UsageError(f"--scale must be auto, linear or log, got '{scale[:20]}'.", hint="For example --scale log.")
    write_drawing(draw_universe(plain["stars"], t=plain["time"] if t is None else t, title=title, scale=scale), output)
