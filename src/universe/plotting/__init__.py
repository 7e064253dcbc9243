"""Pictures: a universe seen from above, and charts of values over time."""

from universe.plotting.charts import Chart, Panel, Series, draw_chart, make_stacked_panel
from universe.plotting.marks import Drawing
from universe.plotting.png import render_png
from universe.plotting.svg import render_svg
from universe.plotting.top_view import draw_universe

__all__ = [
    "Chart",
    "Drawing",
    "Panel",
    "Series",
    "draw_chart",
    "draw_universe",
    "make_stacked_panel",
    "render_png",
    "render_svg",
]
