"""A drawing as SVG: one self-contained text, with nothing in it that runs or loads."""

from html import escape
from typing import Final

from universe.plotting.colours import mixed
from universe.plotting.drawing import Circle, Dots, Drawing, Label, Mark, Polyline

_FONT: Final = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif"


def to_svg(drawing: Drawing) -> str:
    """The drawing as an SVG document."""
    width, height = drawing.width, drawing.height
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="{_FONT}">',
        f"<title>{escape(drawing.title)}</title>",
        f'<rect width="{width}" height="{height}" fill="{drawing.background}"/>',
        *(_element(mark, drawing.background) for mark in drawing.marks),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _element(mark: Mark, background: str) -> str:
    match mark:
        case Circle():
            stroke = f' stroke="{mark.stroke}" stroke-width="{_number(mark.width)}"' if mark.stroke else ""
            if mark.dash:
                stroke += f' stroke-dasharray="{_number(mark.dash)} {_number(2 * mark.dash)}"'
            return (
                f'<circle cx="{_number(mark.x)}" cy="{_number(mark.y)}" r="{_number(mark.radius)}" '
                f'fill="{mark.fill or "none"}"{stroke}{_opacity(mark.opacity)}/>'
            )
        case Polyline():
            points = " ".join(f"{_number(x)},{_number(y)}" for x, y in mark.points)
            # A line that covers another replaces it, as in the other writer, so the colours are mixed beforehand.
            return (
                f'<polyline points="{points}" fill="none" stroke="{mixed(background, mark.stroke, mark.opacity)}" '
                f'stroke-width="{_number(mark.width)}" stroke-linejoin="round"/>'
            )
        case Dots():
            # Lines without a length and with round ends: a tenth of the bytes of as many circles.
            path = "".join(f"M{_number(x)} {_number(y)}h0" for x, y in mark.points)
            return (
                f'<path d="{path}" fill="none" stroke="{mark.fill}" stroke-width="{_number(2 * mark.radius)}" '
                f'stroke-linecap="round"/>'
            )
        case Label():
            return (
                f'<text x="{_number(mark.x)}" y="{_number(mark.y)}" font-size="{_number(mark.size)}" '
                f'fill="{mark.fill}" text-anchor="{mark.anchor}" stroke="{background}" '
                f'stroke-width="{_number(mark.size / 4)}" stroke-linejoin="round" paint-order="stroke">'
                f"{escape(mark.text)}</text>"
            )


def _opacity(opacity: float) -> str:
    return "" if opacity == 1 else f' opacity="{_number(opacity)}"'


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
