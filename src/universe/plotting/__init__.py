"""Pictures: a universe seen from above, and charts of values over time."""

from universe.plotting.charts import Panel, Series, chart, stack
from universe.plotting.drawing import Drawing
from universe.plotting.png import to_png
from universe.plotting.snapshot import plot
from universe.plotting.svg import to_svg

__all__ = ["Drawing", "Panel", "Series", "chart", "plot", "stack", "to_png", "to_svg"]
