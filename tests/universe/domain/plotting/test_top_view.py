"""The top view of hand-made bodies."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from universe.domain.plotting.drawing import Circle, Drawing, Label, Polyline
from universe.domain.plotting.picture_layout import measure_label
from universe.domain.plotting.top_view import draw_top_view
from uraniborg.kernel.errors import InvalidInput

Place = tuple[float, float, float]


def body(name: str, parent: str | None = "sun", **more: Any) -> dict[str, Any]:
    return {"id": name.lower(), "name": name, "radius": 1.0, "color": "#336699", "parentId": parent} | more


SUN = body("Sun", None, radius=10.0, color="#ffd27d", bodyType="star")


def circle_path(x: float, z: float, radius: float) -> Any:
    around = np.linspace(0, 2 * math.pi, 65)
    return np.column_stack([x + radius * np.cos(around), 0 * around, z + radius * np.sin(around)])


def draw(bodies: dict[str, tuple[dict[str, Any], Place]], paths: Any = None, **options: Any) -> Drawing:
    given: dict[str, Any] = {"t": 0.0, "title": "Test", **options}
    stars = {key: one for key, (one, _) in bodies.items()}
    return draw_top_view(stars, {key: place for key, (_, place) in bodies.items()}, paths or {}, **given)


def dot(drawing: Drawing, colour: str) -> Circle:
    """Return the body of this colour: the last circle of the colour, which covers the glow."""
    return [mark for mark in drawing.marks if isinstance(mark, Circle) and mark.fill == colour][-1]


def texts(drawing: Drawing) -> list[str]:
    return [mark.text for mark in drawing.marks if isinstance(mark, Label)]


def two(place: Place, **options: Any) -> Drawing:
    return draw({"sun": (SUN, (0, 0, 0)), "p": (body("P"), place)}, **options)


def test_x_is_to_the_right_and_z_is_up_and_height_is_not_seen() -> None:
    for place, right, up in (((5.0, 9.0, 0.0), 1, 0), ((0.0, -3.0, 5.0), 0, 1), ((-3.0, 0.0, -3.0), -1, -1)):
        drawing = two(place)
        middle, planet = dot(drawing, "#ffd27d"), dot(drawing, "#336699")
        assert np.sign(round(planet.x - middle.x)) == right
        assert np.sign(round(middle.y - planet.y)) == up


def test_a_root_stands_in_the_middle_wherever_it_is() -> None:
    here = draw({"sun": (SUN, (1000.0, 0, -70.0)), "p": (body("P"), (1005.0, 0, -70.0))})
    assert dot(here, "#ffd27d").x == pytest.approx(600)
    assert dot(here, "#336699").x > 1000


def test_distances_are_in_proportion_where_they_span_little() -> None:
    drawing = draw(
        {"sun": (SUN, (0, 0, 0)), "a": (body("A"), (10, 0, 0)), "b": (body("B", color="#ee4422"), (0, 0, 20))}
    )
    near, far = dot(drawing, "#336699"), dot(drawing, "#ee4422")
    assert (near.x - 600) * 2 == pytest.approx(dot(drawing, "#ffd27d").y - far.y, rel=1e-6)


@pytest.mark.parametrize(
    ("farthest", "scale", "is_log"), [(29, "auto", False), (40, "auto", True), (40, "linear", False), (5, "log", True)]
)
def test_the_logarithm_is_chosen_where_distances_span_more_than_thirty_times(
    farthest: float, scale: str, is_log: bool
) -> None:
    drawing = draw(
        {"sun": (SUN, (0, 0, 0)), "a": (body("A"), (1, 0, 0)), "b": (body("B"), (0, 0, farthest))}, scale=scale
    )
    assert ("distance from the centre: logarithmic" in texts(drawing)) is is_log


def test_the_whole_orbit_fits_on_the_page() -> None:
    for scale in ("linear", "log"):
        drawing = draw(
            {"sun": (SUN, (0, 0, 0)), "p": (body("P"), (1, 0, 0))}, {"p": circle_path(-40, 3, 41)}, scale=scale
        )
        for line in (mark for mark in drawing.marks if isinstance(mark, Polyline)):
            assert all(0 <= x <= 1200 and 0 <= y <= 1200 for x, y in line.points)


def test_an_orbit_is_faint_all_around_and_brighter_behind_the_body() -> None:
    drawing = draw({"sun": (SUN, (0, 0, 0)), "p": (body("P"), (10, 0, 0))}, {"p": circle_path(0, 0, 10)})
    lines = [mark for mark in drawing.marks if isinstance(mark, Polyline) and mark.stroke == "#336699"]
    whole, *trail = lines
    assert len(whole.points) == 65
    assert all(whole.opacity < piece.opacity for piece in trail)
    assert [piece.opacity for piece in trail] == sorted((piece.opacity for piece in trail), reverse=True)
    planet = dot(drawing, "#336699")
    assert trail[0].points[0] == pytest.approx((planet.x, planet.y))
    # The path runs from +x to +z, so where the body was is below it on the page.
    assert trail[0].points[-1][1] > planet.y


def test_a_retrograde_body_has_its_trail_on_the_other_side() -> None:
    retrograde = body("P", orbitalSpeed=-1.0)
    drawing = draw({"sun": (SUN, (0, 0, 0)), "p": (retrograde, (10, 0, 0))}, {"p": circle_path(0, 0, 10)})
    first = [mark for mark in drawing.marks if isinstance(mark, Polyline) and mark.stroke == "#336699"][1]
    assert first.points[-1][1] < first.points[0][1]


def test_moons_that_the_page_cannot_separate_from_their_planet_are_left_out_and_counted() -> None:
    moons = {f"m{i}": (body(f"Moon {i}", "p", color="#00ff00"), (50.0 + 0.001 * i, 0.0, 0.001)) for i in range(5)}
    planets: dict[str, Any] = {"sun": (SUN, (0, 0, 0)), "p": (body("P"), (50, 0, 0)), "q": (body("Q"), (0, 0, 90))}
    drawing = draw(planets | moons, {"m1": circle_path(50, 0, 0.001)})
    assert not [mark for mark in drawing.marks if isinstance(mark, Circle) and mark.fill == "#00ff00"]
    assert not [mark for mark in drawing.marks if isinstance(mark, Polyline) and mark.stroke == "#00ff00"]
    assert not [text for text in texts(drawing) if text.startswith("Moon")]
    assert "8 bodies, 5 too close to their parent to be shown" in texts(drawing)


def test_a_moon_that_is_far_enough_off_is_shown() -> None:
    drawing = draw({"sun": (SUN, (0, 0, 0)), "p": (body("P"), (50, 0, 0)), "m": (body("Moon", "p"), (50, 0, 12))})
    assert "Moon" in texts(drawing)
    assert "3 bodies" in texts(drawing)


@pytest.mark.parametrize(
    "nowhere", [(math.nan, 0, 0), (0, 0, math.nan), (math.inf, 0, 0), (0, 0, -math.inf), (1e308, 0, 0)]
)
def test_a_body_without_a_place_is_left_out(nowhere: Place) -> None:
    drawing = draw(
        {"sun": (SUN, (0, 0, 0)), "p": (body("P"), (5, 0, 0)), "x": (body("Lost", color="#ff0000"), nowhere)}
    )
    assert "Lost" not in texts(drawing)
    assert not [mark for mark in drawing.marks if isinstance(mark, Circle) and mark.fill == "#ff0000"]
    assert "2 bodies" in texts(drawing)


def test_a_path_without_numbers_is_left_out() -> None:
    broken = circle_path(0, 0, 10)
    broken[3] = math.nan
    drawing = draw({"sun": (SUN, (0, 0, 0)), "p": (body("P"), (10, 0, 0))}, {"p": broken})
    assert not [mark for mark in drawing.marks if isinstance(mark, Polyline) and mark.stroke == "#336699"]


def test_an_empty_universe_gives_a_picture_that_reports_it() -> None:
    drawing = draw({})
    assert "This universe is empty." in texts(drawing)
    assert "Test" in texts(drawing)


def test_a_universe_where_nothing_has_a_place_reports_it() -> None:
    drawing = draw({"x": (body("Lost"), (math.nan, 0, 0))})
    assert "No body of this universe has a position." in texts(drawing)


def test_one_body_alone_is_drawn_in_the_middle() -> None:
    drawing = draw({"sun": (SUN, (7, 7, 7))})
    assert dot(drawing, "#ffd27d").x == pytest.approx(600)
    assert {"Sun", "1 body"} <= set(texts(drawing))


def test_bodies_all_in_one_place_are_drawn() -> None:
    drawing = draw({f"s{i}": (body(f"S{i}", None), (1.0, 2.0, 3.0)) for i in range(5)})
    assert len([mark for mark in drawing.marks if isinstance(mark, Circle) and mark.fill == "#336699"]) >= 5


def test_larger_bodies_have_larger_dots_and_all_can_be_seen() -> None:
    bodies: dict[str, Any] = {"sun": (SUN, (0, 0, 0))}
    for place, (name, radius) in enumerate((("Big", 1.0), ("Small", 0.01), ("TinyDefinition", 1e-9), ("None", 0.0))):
        bodies[name] = (body(name, radius=radius, color=f"#00ff{place}0"), (10.0 + 10 * place, 0, 0))
    drawing = draw(bodies)
    sizes = [dot(drawing, colour).radius for colour in ("#ffd27d", "#00ff00", "#00ff10", "#00ff20", "#00ff30")]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 1.5 * sizes[1] > 3 * sizes[-1] > 6


def test_a_black_hole_is_black_with_a_bright_edge() -> None:
    drawing = draw({"h": (body("H", None, bodyType="blackHole", color="#000000"), (0, 0, 0))})
    assert dot(drawing, "#000000").stroke not in (None, "#000000")


@pytest.mark.parametrize("radius", [None, "big", math.nan, math.inf, -1, True, [1], 10**400])
def test_an_invalid_radius_is_ignored(radius: Any) -> None:
    drawing = draw({"sun": (SUN, (0, 0, 0)), "p": (body("P", radius=radius), (5, 0, 0))})
    assert math.isfinite(dot(drawing, "#336699").radius)


@pytest.mark.parametrize("colour", [None, "red", "#12", 'url("x")', "#ggg", '#fff" onload="x', 7, "#ffffff;x"])
def test_an_invalid_colour_becomes_grey(colour: Any) -> None:
    drawing = draw({"sun": (SUN, (0, 0, 0)), "p": (body("P", color=colour), (5, 0, 0))})
    assert dot(drawing, "#9aa7b8")


def test_a_dark_colour_is_lightened() -> None:
    assert dot(two((5, 0, 0)), "#336699")
    assert dot(draw({"sun": (SUN, (0, 0, 0)), "p": (body("P", color="#010"), (5, 0, 0))}), "#596459")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50), st.text(min_size=1, max_size=25)), max_size=40))
def test_no_two_names_ever_overlap(placed: list[tuple[float, float, str]]) -> None:
    bodies: dict[str, Any] = {"sun": (SUN, (0, 0, 0))}
    bodies |= {f"p{i}": (body("P") | {"name": name}, (x, 0.0, z)) for i, (x, z, name) in enumerate(placed)}
    labels = [mark for mark in draw(bodies).marks if isinstance(mark, Label)]
    for one, other in combinations(labels, 2):
        assert not measure_label(one).overlaps(measure_label(other)), (one.text, other.text)


def test_names_cover_no_body() -> None:
    spots = [(30 * math.cos(i), 0.0, 30 * math.sin(i)) for i in range(40)]
    drawing = draw({"sun": (SUN, (0, 0, 0)), **{f"p{i}": (body(f"Planet {i}"), spot) for i, spot in enumerate(spots)}})
    dots = [mark for mark in drawing.marks if isinstance(mark, Circle) and mark.fill == "#336699"]
    named = [mark for mark in drawing.marks if isinstance(mark, Label) and mark.text.startswith("Planet")]
    assert len(named) > 20
    for label in named:
        left, top, right, bottom = measure_label(label)
        assert not [one for one in dots if left < one.x < right and top < one.y < bottom]


def test_a_nameless_body_goes_by_its_id() -> None:
    drawing = draw({"sun": (SUN, (0, 0, 0)), "p-17": (body("P") | {"name": None}, (5, 0, 0))})
    assert "p-17" in texts(drawing)


def test_ring_labels_are_in_scene_units_or_au() -> None:
    assert "2 units" in texts(two((8, 0, 0)))
    kepler = body("P", kepler={"units": "astronomical", "semiMajorAxis": 8})
    drawing = draw({"sun": (SUN, (0, 0, 0)), "p": (kepler, (8, 0, 0))}, t=3.5)
    assert "2 AU" in texts(drawing)
    assert "t = 3.5 days" in texts(drawing)


def test_the_bar_is_as_long_as_the_ring_it_names() -> None:
    drawing = two((8, 0, 0))
    bar = next(mark for mark in drawing.marks if isinstance(mark, Polyline))
    rings = [mark for mark in drawing.marks if isinstance(mark, Circle) and mark.dash]
    assert bar.points[2][0] - bar.points[1][0] == pytest.approx(rings[0].radius)
    planet = dot(drawing, "#336699")
    assert rings[-1].radius == pytest.approx(planet.x - 600, rel=1e-3)


def test_the_date_is_reported_where_all_bodies_count_from_one_instant() -> None:
    kepler = {"units": "astronomical", "semiMajorAxis": 8}
    dated: dict[str, Any] = {"physical": {"epochJulianDate": 2451545.0}, "kepler": kepler}
    stars: dict[str, Any] = {"sun": (SUN | dated, (0, 0, 0)), "p": (body("P", **dated), (8, 0, 0))}
    assert "2000-01-11 12:00 TDB  ·  t = 10 days" in texts(draw(stars, t=10.0))
    assert "t = 1e+12 days" in texts(draw(stars, t=1e12)) or "t = 1,000,000,000,000 days" in texts(draw(stars, t=1e12))
    stars["q"] = (body("Q", kepler=kepler), (4, 0, 0))
    assert "t = 10 days" in texts(draw(stars, t=10.0))


def test_title_and_time_are_at_the_top() -> None:
    drawing = two((5, 0, 0), title="My universe", t=12345.678)
    assert drawing.title == "My universe"
    assert {"My universe", "t = 12,345.678 s"} <= set(texts(drawing))


@pytest.mark.parametrize(("width", "height"), [(200, 200), (1600, 900), (900, 1600), (3000, 200)])
def test_everything_stays_on_pages_of_any_shape(width: int, height: int) -> None:
    spots = [(10 * math.cos(i), 0.0, 10 * math.sin(i)) for i in range(9)]
    bodies: dict[str, Any] = {"sun": (SUN, (0, 0, 0)), **{f"p{i}": (body(f"P{i}"), at) for i, at in enumerate(spots)}}
    drawing = draw(bodies, width=width, height=height, title="W" * 300)
    assert (drawing.width, drawing.height) == (width, height)
    for mark in drawing.marks:
        if isinstance(mark, Label):
            left, top, right, bottom = measure_label(mark)
            assert -3 < left < right < width + 3
            assert -3 < top < bottom < height + 3
        elif isinstance(mark, Circle) and not mark.dash and mark.opacity == 1:
            assert 0 <= mark.x <= width
            assert 0 <= mark.y <= height


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"width": 100}, "width"),
        ({"height": 100_000}, "height"),
        ({"scale": "cubic"}, "scale"),
        ({"scale": None}, "scale"),
    ],
)
def test_an_invalid_page_or_scale_is_refused_with_the_allowed_values(options: dict[str, Any], argument: str) -> None:
    for bodies in ({}, {"sun": (SUN, (0.0, 0.0, 0.0))}):
        with pytest.raises(InvalidInput) as caught:
            draw(bodies, **options)
        assert caught.value.ids["argument"] == argument
        assert caught.value.ids["allowed"]
