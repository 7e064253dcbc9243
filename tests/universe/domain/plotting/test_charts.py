"""Charts of values over time and the curves in them."""

import io
from xml.etree import ElementTree as ET

import numpy as np
import orjson
import pytest
from PIL import Image

from universe.domain.plotting import (
    Chart,
    Drawing,
    Panel,
    Series,
    draw_chart,
    make_stacked_panel,
    render_png,
    render_svg,
)
from universe.domain.plotting.charts import split_at_gaps, spread_positions, thin_points
from universe.domain.plotting.drawing import Dots, Label, Polyline
from universe.domain.plotting.picture_layout import estimate_text_width

DAYS = np.linspace(0, 100, 201)


def texts(drawing: Drawing) -> list[str]:
    return [mark.text for mark in drawing.marks if isinstance(mark, Label)]


def drawn(*panels: Panel) -> Drawing:
    return draw_chart(panels, title="A run", subtitle="100 days", x_label="days", footer="gauss")


def test_a_chart_names_its_panels_its_axes_and_its_series() -> None:
    drawing = drawn(Panel("eccentricity", [Series("b", DAYS, 0.1 + DAYS / 1e3), Series("c", DAYS, 0 * DAYS)]))
    found = texts(drawing)
    for text in ("A run", "100 days", "eccentricity", "days", "b", "c", "0.05", "gauss", "20", "100"):
        assert text in found


def test_panels_share_one_axis_unless_they_have_their_own() -> None:
    one, other = (Panel(name, [Series("b", DAYS, DAYS)]) for name in ("one", "other"))
    assert texts(drawn(one, other)).count("days") == 1
    own = Panel("third", [Series("b", DAYS / 100, DAYS)], x_label="phase")
    found = texts(drawn(one, other, own))
    assert (found.count("days"), found.count("phase")) == (1, 1)
    assert drawn(one, other, own).height > drawn(one, other).height > drawn(one).height


def test_values_lie_inside_of_the_panel_and_gaps_stay_open() -> None:
    values = np.where(abs(DAYS - 50) < 5, np.nan, DAYS)
    drawing = drawn(Panel("p", [Series("b", DAYS, values, colour="#123456")]))
    lines = [mark for mark in drawing.marks if isinstance(mark, Polyline) and mark.stroke == "#123456"]
    assert len([line for line in lines if len(line.points) > 2]) == 2
    for line in lines:
        assert all(0 < x < drawing.width and 0 < y < drawing.height for x, y in line.points)


def test_points_beyond_a_given_range_are_not_drawn() -> None:
    drawing = drawn(Panel("p", [Series("b", DAYS, DAYS, is_points=True)], y_range=(0, 50), is_angle=True))
    (dots,) = [mark for mark in drawing.marks if isinstance(mark, Dots)]
    assert len(dots.points) == 101
    assert "30°" in texts(drawing)


def test_names_at_the_right_edge_do_not_cover_each_other() -> None:
    series = [Series(f"body {number}", DAYS, 0 * DAYS + number / 1e6) for number in range(12)]
    drawing = drawn(Panel("p", series), Panel("q", [Series("far", DAYS, DAYS * 100)]))
    heights = sorted(mark.y for mark in drawing.marks if isinstance(mark, Label) and mark.text.startswith("body"))
    assert len(heights) == 12
    assert min(np.diff(heights)) >= 13


@pytest.mark.parametrize(
    "panels",
    [
        [],
        [Panel("nothing", [])],
        [Panel("gone", [Series("b", DAYS, np.full(201, np.nan))])],
        [Panel("one value", [Series("b", [1], [1])])],
        [Panel("flat", [Series("b", DAYS, 0 * DAYS + 5)])],
        [Panel("huge", [Series("b", DAYS, DAYS * 1e300)])],
        [Panel("tiny", [Series("b", DAYS, DAYS * 1e-300)])],
        [Panel("<b>&\x00\u202e星", [Series("</svg><script>" * 50, DAYS, DAYS)])],
        [Panel("many", [Series(str(number), DAYS, DAYS + number) for number in range(200)])],
    ],
)
def test_any_panels_give_a_png_and_a_valid_svg(panels: list[Panel]) -> None:
    drawing = drawn(*panels)
    assert Image.open(io.BytesIO(render_png(drawing))).size == (drawing.width, drawing.height)
    root = ET.fromstring(render_svg(drawing))
    assert not [one for one in root.iter() if "script" in one.tag]


def test_a_long_series_makes_no_larger_picture() -> None:
    long = np.linspace(0, 100, 200_000)
    wave = Series("b", long, np.sin(long * 1e3))
    assert len(render_svg(drawn(Panel("p", [wave])))) < 100_000
    assert len(render_svg(drawn(Panel("p", [Series("b", long, long, is_points=True)])))) < 100_000


def test_stacked_series_have_lanes_of_their_own_with_their_own_scale() -> None:
    wave = np.sin(DAYS)
    panel = make_stacked_panel(
        "change", [Series("b", DAYS, wave), Series("c", DAYS, 1e-3 * wave), Series("d", DAYS, 0 * DAYS)], unit=" %"
    )
    low, middle, high = (np.asarray(one.y) for one in panel.series)
    assert low.max() < middle.min() < middle.max() < high.min()
    assert np.ptp(low) == pytest.approx(np.ptp(middle))
    found = texts(drawn(panel))
    assert [text for text in found if text.startswith("±")] == ["±1 %", "±0.001 %", "±0 %"]
    assert texts(drawn(make_stacked_panel("empty", []))).count("empty") == 1


def test_a_described_chart_has_few_true_values_and_keeps_extremes_and_gaps() -> None:
    long = np.linspace(0, 100, 50_000)
    wave = np.where(long == long[25_000], 7.0, np.sin(long))
    wave[30_000:31_000] = np.nan
    stacked = make_stacked_panel("change", [Series("b", long, wave)], unit=" %")
    dots = Panel("angle", [Series("c", long, wave, is_points=True)], is_angle=True, lines=(1.0,))
    described = Chart([stacked, dots], title="A run", x_label="days", footer="gauss").describe()
    found = orjson.loads(orjson.dumps(described, option=orjson.OPT_SERIALIZE_NUMPY))
    curve, points = (panel["series"][0] for panel in found["panels"])
    assert len(curve["x"]) == len(curve["y"]) < 2_000
    assert max(value for value in curve["y"] if value is not None) == 7
    assert curve["y"].count(None) == 1
    assert curve["x"] == sorted(curve["x"])
    assert len(points["x"]) <= 1_000
    assert None not in points["y"]
    assert (found["panels"][1]["isAngle"], found["panels"][1]["xLabel"]) == (True, "days")


def test_a_curve_is_cut_where_a_value_is_missing() -> None:
    x = np.arange(6.0)
    y = np.array([np.nan, 1, 2, np.inf, 4, np.nan])
    assert [(list(one), list(other)) for one, other in split_at_gaps(x, y)] == [([1, 2], [1, 2]), ([4], [4])]
    assert not list(split_at_gaps(x, np.full(6, np.nan)))


def test_thinning_keeps_the_highest_and_lowest_point_of_each_column_and_both_ends() -> None:
    x = np.linspace(0, 1, 100_000)
    y = np.sin(1e4 * x)
    y[54_321] = 7
    few_x, few_y = thin_points(x, y, 500)
    assert few_x.size <= 4 * 501
    assert few_y.max() == 7
    assert few_y.min() == y.min()
    assert (few_x[0], few_x[-1]) == (0, 1)
    assert (np.diff(few_x) >= 0).all()
    assert thin_points(x[:10], y[:10], 500)[0].size == 10


def test_a_curve_that_runs_backwards_is_thinned_too() -> None:
    x = np.linspace(0, -1, 10_000)
    few, _ = thin_points(x, x, 100)
    assert few.size <= 404
    assert (few[0], few[-1]) == (0, -1)


def test_texts_are_spread_in_their_order_and_stay_inside() -> None:
    assert spread_positions([10, 50, 90], 10, 0, 100) == [10, 50, 90]
    found = spread_positions([50, 50, 51, 0], 10, 0, 100)
    assert sorted(found) == sorted(found, key=lambda one: one)
    assert all(abs(a - b) >= 10 - 1e-9 for i, a in enumerate(found) for b in found[i + 1 :])
    assert found[0] < found[1] < found[2]
    assert spread_positions([99, 99, 99], 10, 0, 100) == [80, 90, 100]
    assert spread_positions([5] * 11, 20, 0, 100) == [10 * number for number in range(11)]
    assert spread_positions([], 10, 0, 100) == []


def draw_subtitle(words: list[str]) -> list[Label]:
    drawing = draw_chart([], title="A run", subtitle=" ".join(words), x_label="days", width=600)
    return [mark for mark in drawing.marks if isinstance(mark, Label) and mark.text.startswith("word")]


def test_a_long_subtitle_has_up_to_three_lines_of_whole_words() -> None:
    words = [f"word{number}" for number in range(25)]
    lines = draw_subtitle(words)
    assert [line.y for line in lines] == [84, 103, 122]
    assert " ".join(line.text for line in lines).split() == words


def test_a_subtitle_with_more_than_three_lines_ends_with_an_ellipsis() -> None:
    lines = draw_subtitle([f"word{number}" for number in range(60)])
    assert [line.text.endswith("…") for line in lines] == [False, False, True]
    assert all(estimate_text_width(line.text, 14) <= 520 for line in lines)
