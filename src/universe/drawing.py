"""A picture of a universe in a file."""

from pathlib import Path
from typing import Any

from universe.exchange import write_output
from uraniborg.kernel.cli import UsageError


def draw(plain: dict[str, Any], output: Path, *, title: str, t: float | None, scale: str) -> None:
    """Write the top view as PNG or SVG, as the name of the file says. Raises UsageError for another name."""
    from universe.plotting import plot, to_png, to_svg

    kind = output.suffix.lower()
    if kind not in (".png", ".svg"):
        raise UsageError(f"'{output.name}' is neither PNG nor SVG.", hint="Name the file orbits.png or orbits.svg.")
    if scale not in ("auto", "linear", "log"):
        raise UsageError(f"There is no scale '{scale[:20]}'.", hint="Use auto, linear or log.")
    drawing = plot(plain["stars"], t=plain["time"] if t is None else t, title=title, scale=scale)
    write_output(output, to_png(drawing) if kind == ".png" else to_svg(drawing).encode())
