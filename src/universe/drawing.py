"""A picture of a universe in a file."""

from pathlib import Path
from typing import Any

from universe.exchange import write_output
from uraniborg.kernel.commands import UsageError


def draw(plain: dict[str, Any], output: Path, *, title: str, t: float | None, scale: str) -> None:
    """Write the top view as PNG or SVG, as the name of the file says. Raises UsageError for another name."""
    from universe.plotting import draw_universe, write_png, write_svg

    kind = output.suffix.lower()
    if kind not in (".png", ".svg"):
        raise UsageError(f"'{output.name}' is neither PNG nor SVG.", hint="Name the file orbits.png or orbits.svg.")
    if scale not in ("auto", "linear", "log"):
        raise UsageError(f"There is no scale '{scale[:20]}'.", hint="Use auto, linear or log.")
    drawing = draw_universe(plain["stars"], t=plain["time"] if t is None else t, title=title, scale=scale)
    write_output(output, write_png(drawing) if kind == ".png" else write_svg(drawing).encode())
