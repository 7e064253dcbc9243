"""Valid SVG for any names of bodies."""

import math
from typing import Any

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given, settings
from hypothesis import strategies as st

from universe.domain.plotting.drawing import render_svg
from universe.domain.plotting.top_view import draw_top_view

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    "</text></svg><svg onload='x'>",
    '"><image href="http://example.org/x"/>',
    "a & b < c > d",
    "]]>",
    "&lt;&#0;&xxe;",
    "<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>",
    "\x00\x01\x0b\x1f\ufffe\uffff",
    "\ud800",
    "\u202egnitirw",
    "🪐 例 é",
]


def drawn(name: Any, color: Any = "#336699", title: str = "T") -> str:
    stars = {
        "sun": {"id": "sun", "name": name, "radius": 5, "color": color, "parentId": None},
        "p": {"id": "p", "name": "Planet", "radius": 1, "color": "#ffffff", "parentId": "sun"},
    }
    places = {"sun": (0.0, 0.0, 0.0), "p": (3.0, 0.0, 4.0)}
    return render_svg(draw_top_view(stars, places, {}, t=0.0, title=title))


def tags(root: Any) -> set[str]:
    return {element.tag.removeprefix(SVG) for element in root.iter()}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_titles_stay_text(text: str) -> None:
    root = fromstring(drawn(text, title=text))
    assert tags(root) <= {"svg", "title", "rect", "circle", "polyline", "text"}
    for element in root.iter():
        assert not [name for name in element.attrib if name.lower().startswith("on") or "href" in name]


def test_a_name_is_read_back_unchanged() -> None:
    root = fromstring(drawn("Rock & <Roll> \"5\" 'o'"))
    assert "Rock & <Roll> \"5\" 'o'" in [element.text for element in root.iter(f"{SVG}text")]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=30))
def test_any_text_gives_well_formed_svg(name: str, color: str, title: str) -> None:
    assert tags(fromstring(drawn(name, color, title))) >= {"svg", "title", "rect", "text"}


def test_the_page_and_its_title_are_reported() -> None:
    root = fromstring(drawn("Sun", title="My <universe>"))
    assert root.attrib["viewBox"] == "0 0 1200 1200"
    assert next(root.iter(f"{SVG}title")).text == "My <universe>"


def test_every_number_is_finite() -> None:
    for element in fromstring(drawn("Sun")).iter():
        for name in ("cx", "cy", "r", "x", "y", "font-size", "stroke-width"):
            if name in element.attrib:
                assert math.isfinite(float(element.attrib[name]))
