"""Drawings of circles, lines, dots and texts in visible colours, rendered as SVG or PNG."""

import io
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any, Final, Literal

Anchor = Literal["start", "middle", "end"]
"""The position of x in a text: its start, middle or end."""


@dataclass(frozen=True, slots=True)
class Circle:
    x: float
    y: float
    radius: float
    fill: str | None = None
    stroke: str | None = None
    width: float = 0.0
    opacity: float = 1.0
    dash: float = 0.0
    """The length of the dashes and of half the gaps between them; 0 for a solid line."""


@dataclass(frozen=True, slots=True)
class Polyline:
    """A line. Its opacity mixes it with the background, not with the marks below it."""

    points: tuple[tuple[float, float], ...]
    stroke: str
    width: float
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Dots:
    """Many small filled circles of one size and colour."""

    points: tuple[tuple[float, float], ...]
    radius: float
    fill: str


@dataclass(frozen=True, slots=True)
class Label:
    """A text; y is its baseline. It has an outline in the colour of the page."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: Anchor = "start"


Mark = Circle | Polyline | Dots | Label


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture, independent of its file format. Colours are `#rrggbb`, lengths are pixels."""

    width: int
    height: int
    background: str
    title: str
    marks: tuple[Mark, ...]


BACKGROUND: Final = "#070a13"
GREY: Final = "#9aa7b8"
PALE: Final = "#dfe6f1"
DIM: Final = "#6f7c92"
RULER: Final = "#2c3852"

_RAMP: Final = ("#ff8f66", "#f5c26b", "#b9d977", "#5fd0a8", "#57b8f0", "#8f9cff", "#d58cf2")
"""From warm to cold, all bright."""

_HEX: Final = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_DARKEST: Final = 70


def choose_body_colour(given: Any) -> str:
    """Return the colour of a body: grey if it has no valid colour, lighter if it would be too dark."""
    if not isinstance(given, str) or not _HEX.fullmatch(given):
        return GREY
    digits = given[1:].lower()
    colour = "#" + (digits if len(digits) == 6 else "".join(2 * digit for digit in digits))
    red, green, blue = _parse_colour(colour)
    brightness = 0.299 * red + 0.587 * green + 0.114 * blue
    return colour if brightness >= _DARKEST else mix_colours(colour, "#ffffff", 0.35)


def make_colour_ramp(count: int) -> list[str]:
    """Return this many colours from warm to cold that are easy to tell apart."""
    if count <= 1:
        return [_RAMP[4]][:count]
    found: list[str] = []
    for number in range(count):
        step, share = divmod(number * (len(_RAMP) - 1), count - 1)
        found.append(mix_colours(_RAMP[step], _RAMP[min(step + 1, len(_RAMP) - 1)], share / (count - 1)))
    return found


def mix_colours(one: str, other: str, share: float) -> str:
    """Return `one` mixed with this share of `other`."""
    parts = zip(_parse_colour(one), _parse_colour(other), strict=True)
    return "#" + "".join(f"{round(mine + (theirs - mine) * share):02x}" for mine, theirs in parts)


def _parse_colour(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


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


_MOST_PIXELS: Final = 16_000_000
"""The most pixels of the enlarged picture; a large page is enlarged less."""
_DRAWABLE: Final = frozenset("·…‘’“”°±")
"""Non-ASCII characters in the font of Pillow, which has no accents and no dashes."""
_ANCHORS: Final = {"start": "ls", "middle": "ms", "end": "rs"}


def render_png(drawing: Drawing) -> bytes:
    """Return the drawing as the bytes of a PNG file."""
    from PIL import Image, ImageDraw

    enlargement = next(n for n in (3, 2, 1) if n == 1 or drawing.width * drawing.height * n * n <= _MOST_PIXELS)
    image = Image.new("RGB", (drawing.width * enlargement, drawing.height * enlargement), drawing.background)
    pen = ImageDraw.Draw(image, "RGBA")
    for mark in drawing.marks:
        match mark:
            case Circle():
                if mark.dash:
                    _draw_dashed_circle(
                        pen,
                        mark,
                        mix_colours(drawing.background, mark.stroke or drawing.background, mark.opacity),
                        enlargement,
                    )
                else:
                    _draw_circle(pen, mark, enlargement)
            case Polyline():
                # Half-transparent strokes would show where their pieces overlap.
                colour = mix_colours(drawing.background, mark.stroke, mark.opacity)
                points = [(x * enlargement, y * enlargement) for x, y in mark.points]
                pen.line(points, fill=colour, width=max(1, round(mark.width * enlargement)), joint="curve")
            case Dots():
                radius = mark.radius * enlargement
                for x, y in mark.points:
                    box = (
                        x * enlargement - radius,
                        y * enlargement - radius,
                        x * enlargement + radius,
                        y * enlargement + radius,
                    )
                    pen.ellipse(box, fill=mark.fill)
            case Label():
                font = _load_font(
                    mark.size * enlargement, is_plain=all(char.isascii() or char in _DRAWABLE for char in mark.text)
                )
                pen.text(
                    (mark.x * enlargement, mark.y * enlargement),
                    mark.text,
                    fill=mark.fill,
                    font=font,
                    anchor=_ANCHORS[mark.anchor],
                    stroke_width=max(1, round(mark.size * enlargement / 8)),
                    stroke_fill=drawing.background,
                )
    if enlargement > 1:
        image = image.resize((drawing.width, drawing.height), Image.Resampling.BOX)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=False)
    return out.getvalue()


def _draw_circle(pen: Any, mark: Circle, enlargement: int) -> None:
    x, y, radius = mark.x * enlargement, mark.y * enlargement, mark.radius * enlargement
    opacity = round(255 * mark.opacity)
    pen.ellipse(
        (x - radius, y - radius, x + radius, y + radius),
        fill=f"{mark.fill}{opacity:02x}" if mark.fill else None,
        outline=f"{mark.stroke}{opacity:02x}" if mark.stroke else None,
        width=max(1, round(mark.width * enlargement)) if mark.stroke and mark.width else 0,
    )


def _draw_dashed_circle(pen: Any, mark: Circle, colour: str, enlargement: int) -> None:
    count = max(8, round(math.tau * mark.radius / (3 * mark.dash)))
    for number in range(count):
        ends = (math.tau * (number + part) / count for part in (0, 1 / 3))
        line = [
            ((mark.x + mark.radius * math.cos(end)) * enlargement, (mark.y + mark.radius * math.sin(end)) * enlargement)
            for end in ends
        ]
        pen.line(line, fill=colour, width=max(1, round(mark.width * enlargement)))


@lru_cache(maxsize=32)
def _load_font(size: float, *, is_plain: bool) -> Any:
    """Return the font of Pillow, or a common system font for other characters."""
    from PIL import ImageFont

    if not is_plain:
        for name in ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "Arial Unicode.ttf"):
            try:
                return ImageFont.truetype(name, size)
            except OSError:
                continue
    return ImageFont.load_default(size)
