"""Pictures: a universe seen from above, and charts of values over time."""

from universe.domain.plotting.charts import Chart, Panel, Series, draw_chart, make_stacked_panel
from universe.domain.plotting.drawing import Drawing, render_png, render_svg
from universe.domain.plotting.top_view import draw_universe

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
