"""Drawings as PNG, drawn enlarged and then reduced, so that edges are smooth."""

import io
import math
from functools import lru_cache
from typing import Any, Final

from universe.plotting.colours import mix_colours
from universe.plotting.marks import Circle, Dots, Drawing, Label, Polyline

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
