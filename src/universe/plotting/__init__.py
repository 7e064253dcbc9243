"""A universe seen from above, as a picture."""

from universe.plotting.drawing import Drawing
from universe.plotting.png import to_png
from universe.plotting.snapshot import plot
from universe.plotting.svg import to_svg

__all__ = ["Drawing", "plot", "to_png", "to_svg"]
