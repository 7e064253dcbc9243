"""The curve of recall is well-formed SVG with the points of the screening."""

from xml.etree import ElementTree as ET

import pytest

from paper_search.domain.screening.recall_plot import draw_recall_curve

SVG = "{http://www.w3.org/2000/svg}"


def test_the_curve_rises_at_each_included_paper() -> None:
    root = ET.fromstring(draw_recall_curve([True, False, True, False], 3, 'a <b> & "c"'))
    curve = root.find(f"{SVG}polyline")
    assert curve is not None
    points = [tuple(map(float, point.split(","))) for point in curve.attrib["points"].split()]
    heights = [height for _, height in points]
    assert len(points) == 5
    assert heights[0] > heights[1] == heights[2] > heights[3] == heights[4]
    assert heights[0] - heights[1] == pytest.approx(heights[2] - heights[3], abs=0.11)
    assert root.findtext(f"{SVG}title") == 'a <b> & "c"'
    assert any(text.text == "stop: 3 papers, 100% found" for text in root.iter(f"{SVG}text"))


@pytest.mark.parametrize(("stop", "anchor"), [(1, "start"), (10, "end")])
def test_the_label_of_the_stop_stays_inside_the_picture(stop: int, anchor: str) -> None:
    root = ET.fromstring(draw_recall_curve([True] + [False] * 9, stop, "t"))
    label = next(text for text in root.iter(f"{SVG}text") if (text.text or "").startswith("stop:"))
    assert label.attrib["text-anchor"] == anchor
