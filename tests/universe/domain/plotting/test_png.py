"""PNG pictures."""

import io
import subprocess
import sys
from typing import Any

import pytest
from PIL import Image, ImageFont

from universe.domain.plotting.drawing import Circle, Drawing, Label, Mark, Polyline, render_png


def picture(*marks: Mark, width: int = 300, height: int = 200) -> Any:
    made = render_png(Drawing(width, height, "#000000", "T", marks))
    image = Image.open(io.BytesIO(made))
    assert image.format == "PNG"
    assert image.size == (width, height)
    return image


def brightest(image: Any) -> int:
    return max(high for _, high in image.getextrema())


def test_an_empty_drawing_is_a_page_of_its_background() -> None:
    assert picture().getextrema() == ((0, 0), (0, 0), (0, 0))


def test_a_circle_is_where_it_was_put_in_its_colour() -> None:
    image = picture(Circle(100, 50, 20, fill="#ff0000"))
    assert image.getpixel((100, 50)) == (255, 0, 0)
    assert image.getpixel((100, 75)) == (0, 0, 0)
    assert image.getpixel((130, 50)) == (0, 0, 0)


def test_a_half_transparent_mark_shows_the_mark_below_it() -> None:
    image = picture(Circle(100, 100, 50, fill="#0000ff"), Circle(100, 100, 50, fill="#ff0000", opacity=0.5))
    red, _, blue = image.getpixel((100, 100))
    assert 100 < red < 155
    assert 100 < blue < 155


def test_edges_are_smooth() -> None:
    image = picture(Polyline(((10, 10), (290, 150)), "#ffffff", 1.5))
    assert len(image.convert("L").getcolors()) > 4


def test_a_faint_line_is_even_along_its_bends() -> None:
    line = tuple((20.0 + 2 * i, 100.0 + (i % 2)) for i in range(100))
    assert brightest(picture(Polyline(line, "#ffffff", 4, opacity=0.3))) <= 77


def test_a_ring_may_be_broken() -> None:
    image = picture(Circle(150, 100, 80, stroke="#ffffff", width=2, dash=6))
    around = [image.getpixel((230, y))[0] for y in range(60, 140)]
    assert min(around) == 0
    assert max(around) > 100


@pytest.mark.parametrize("text", ["Jupiter", "Ωμέγα", "例", "🪐", "a" * 400, "\u0627\u0644\u0634\u0645\u0633", " "])
def test_any_text_can_be_drawn(text: str) -> None:
    picture(Label(20, 100, text, 14, "#ffffff"))


@pytest.mark.parametrize(("anchor", "left"), [("start", False), ("end", True)])
def test_a_text_begins_or_ends_where_it_is_anchored(anchor: Any, left: bool) -> None:
    image = picture(Label(150, 100, "MMM", 20, "#ffffff", anchor))
    halves = image.crop((0, 0, 148, 200)), image.crop((152, 0, 300, 200))
    assert [brightest(half) > 0 for half in halves] == [left, not left]


def test_the_same_drawing_gives_the_same_bytes() -> None:
    drawing = Drawing(200, 200, "#101010", "T", (Circle(50, 50, 10, fill="#ffffff"), Label(9, 90, "x", 12, "#ffffff")))
    assert render_png(drawing) == render_png(drawing)


def test_a_large_page_is_not_enlarged_beyond_memory() -> None:
    assert picture(Circle(10, 10, 5, fill="#ffffff"), width=5000, height=4000).getpixel((10, 10)) == (255, 255, 255)


def test_pillow_is_loaded_only_when_a_png_is_made() -> None:
    code = "import sys, universe.domain.plotting; print('PIL' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert printed.stdout.strip() == "False"


def test_accents_and_dashes_are_drawn_as_themselves() -> None:
    """The font that comes with Pillow draws a box for them; fonts of the machine are asked."""
    try:
        ImageFont.truetype("DejaVuSans.ttf", 20)
    except OSError:
        pytest.skip("no other font on this machine")
    unknown = picture(Label(20, 100, "\uffff" * 3, 40, "#ffffff")).tobytes()
    for text in ("ééé", "———", "–––"):
        assert picture(Label(20, 100, text, 40, "#ffffff")).tobytes() != unknown
