"""Drawings as SVG: self-contained, without scripts or external content."""

from html import escape
from typing import Final

from universe.plotting.colours import mix_colours
from universe.plotting.marks import Circle, Dots, Drawing, Label, Mark, Polyline

_FONT: Final = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif"


def render_svg(drawing: Drawing) -> str:
    width, height = drawing.width, drawing.height
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="{_FONT}">',
        f"<title>{escape(drawing.title)}</title>",
        f'<rect width="{width}" height="{height}" fill="{drawing.background}"/>',
        *(_render_element(mark, drawing.background) for mark in drawing.marks),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _render_element(mark: Mark, background: str) -> str:
    match mark:
        case Circle():
            stroke = f' stroke="{mark.stroke}" stroke-width="{_format_px(mark.width)}"' if mark.stroke else ""
            if mark.dash:
                stroke += f' stroke-dasharray="{_format_px(mark.dash)} {_format_px(2 * mark.dash)}"'
            return (
                f'<circle cx="{_format_px(mark.x)}" cy="{_format_px(mark.y)}" r="{_format_px(mark.radius)}" '
                f'fill="{mark.fill or "none"}"{stroke}{_render_opacity(mark.opacity)}/>'
            )
        case Polyline():
            points = " ".join(f"{_format_px(x)},{_format_px(y)}" for x, y in mark.points)
            # As in PNG files, a line replaces the marks below it, so its colour is mixed in advance.
            stroke = mix_colours(background, mark.stroke, mark.opacity)
            return (
                f'<polyline points="{points}" fill="none" stroke="{stroke}" '
                f'stroke-width="{_format_px(mark.width)}" stroke-linejoin="round"/>'
            )
        case Dots():
            # Lines of length 0 with round ends need a tenth of the bytes of circles.
            path = "".join(f"M{_format_px(x)} {_format_px(y)}h0" for x, y in mark.points)
            return (
                f'<path d="{path}" fill="none" stroke="{mark.fill}" stroke-width="{_format_px(2 * mark.radius)}" '
                f'stroke-linecap="round"/>'
            )
        case Label():
            return (
                f'<text x="{_format_px(mark.x)}" y="{_format_px(mark.y)}" font-size="{_format_px(mark.size)}" '
                f'fill="{mark.fill}" text-anchor="{mark.anchor}" stroke="{background}" '
                f'stroke-width="{_format_px(mark.size / 4)}" stroke-linejoin="round" paint-order="stroke">'
                f"{escape(mark.text)}</text>"
            )


def _render_opacity(opacity: float) -> str:
    return "" if opacity == 1 else f' opacity="{_format_px(opacity)}"'


def _format_px(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
