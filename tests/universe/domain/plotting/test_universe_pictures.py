"""Pictures of whole universes."""

import io
import math
import random
import time
from typing import Any

import pytest
from PIL import Image

from universe.domain import systems
from universe.domain.plotting import Drawing, draw_universe, render_png, render_svg
from universe.domain.plotting.drawing import Circle, Label, Polyline
from uraniborg.kernel.errors import InvalidInput


def texts(drawing: Drawing) -> set[str]:
    return {mark.text for mark in drawing.marks if isinstance(mark, Label)}


def simple(body_id: str, parent: str | None, distance: float, **more: Any) -> dict[str, Any]:
    fixed: dict[str, Any] = {"id": body_id, "name": body_id, "mass": 1, "radius": 1, "color": "#88aaff", "children": []}
    return fixed | {"parentId": parent, "orbitalDistance": distance, "orbitalSpeed": 5.0, "orbitalPhase": 0.0} | more


NAMED = {
    "solar-system": {"Sun", "Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune", "Pluto"},
    "trappist-1": {"TRAPPIST-1", *(f"TRAPPIST-1 {letter}" for letter in "bcdefgh")},
    "kepler-90": {"Kepler-90", *(f"Kepler-90 {letter}" for letter in "bcdefghi")},
    "alpha-centauri": {"Alpha Centauri A", "Alpha Centauri B", "Proxima Centauri"},
}


@pytest.mark.parametrize("name", systems.list_system_names())
def test_a_real_system_is_drawn_with_all_its_planets_named_and_no_moons(name: str) -> None:
    stars = systems.load_system(name)["stars"]
    drawing = draw_universe(stars, t=0.0, title=name)
    assert texts(drawing) >= NAMED[name]
    assert not texts(drawing) & {body["name"] for body in stars.values() if body["bodyType"] == "moon"}
    assert Image.open(io.BytesIO(render_png(drawing))).size == (1200, 1200)
    assert render_svg(drawing).startswith("<svg")


@pytest.mark.parametrize(("name", "is_log"), [("solar-system", True), ("trappist-1", False), ("alpha-centauri", True)])
def test_the_scale_suits_the_system(name: str, is_log: bool) -> None:
    drawing = draw_universe(systems.load_system(name)["stars"], t=0.0, title=name)
    assert ("distance from the centre: logarithmic" in texts(drawing)) is is_log


def test_a_body_lies_on_its_own_orbit() -> None:
    drawing = draw_universe(systems.load_system("trappist-1")["stars"], t=123.4, title="T")
    planet = next(mark for mark in drawing.marks if isinstance(mark, Circle) and mark.fill == "#7fb8d8")
    orbit = next(mark for mark in drawing.marks if isinstance(mark, Polyline) and mark.stroke == "#7fb8d8")
    assert min(math.dist((planet.x, planet.y), point) for point in orbit.points) < 3


def test_time_moves_the_bodies() -> None:
    stars = {"s": simple("s", None, 0.0), "p": simple("p", "s", 10.0, color="#ff0000")}

    def planet(t: float) -> tuple[float, float]:
        drawing = draw_universe(stars, t=t, title="T")
        found = next(mark for mark in drawing.marks if isinstance(mark, Circle) and mark.fill == "#ff0000")
        return found.x, found.y

    assert planet(0.0)[0] > 1000
    assert planet(18.0)[1] < 200  # a quarter turn at 5 degrees each second, from +x to +z, which is up
    assert planet(36.0)[0] < 200


def test_the_orbit_of_a_planet_is_around_where_its_star_is() -> None:
    stars = {
        "c": simple("c", None, 0.0),
        "s": simple("s", "c", 100.0, color="#ffff00"),
        "p": simple("p", "s", 30.0, color="#ff0000"),
    }
    drawing = draw_universe(stars, t=0.0, title="T", scale="linear")
    star = next(m for m in drawing.marks if isinstance(m, Circle) and m.fill == "#ffff00")
    orbit = next(m for m in drawing.marks if isinstance(m, Polyline) and m.stroke == "#ff0000")
    distances = [math.dist((star.x, star.y), point) for point in orbit.points]
    assert max(distances) == pytest.approx(min(distances), rel=1e-6)


def test_a_body_called_none_is_nobodys_parent() -> None:
    stars = {"s": simple("s", None, 0.0), "None": simple("None", "s", 10.0)}
    assert "None" in texts(draw_universe(stars, t=0.0, title="T"))


@pytest.mark.parametrize(
    "stars",
    [
        {},
        {"x": {}},
        {"x": {"parentId": "x"}},
        {"x": simple("x", "y", 3.0), "y": simple("y", "x", 4.0)},
        {"x": simple("x", "gone", 3.0)},
        {"x": simple("x", None, 0.0), "p": simple("p", "x", math.nan)},
        {"x": simple("x", None, 0.0), "p": simple("p", "x", 1e308), "q": simple("q", "p", 1e308)},
        {"x": simple("x", None, 0.0), "p": simple("p", "x", 1.0, eccentricity=3.0)},
        {"x": simple("x", None, 0.0), "p": simple("p", "x", 1.0, kepler={"semiMajorAxis": "wide"})},
        {"x": simple("x", None, 0.0), "p": simple("p", "x", 5e-324)},
        {"x": simple("x", None, 0.0, name={"a": 1}, color=[], radius="r", physical=3, bodyType=7)},
    ],
)  # fmt: skip
def test_universes_that_make_little_sense_give_a_picture(stars: Any) -> None:
    drawing = draw_universe(stars, t=0.0, title="T")
    assert render_svg(drawing).endswith("</svg>\n")
    assert len(render_png(drawing)) > 100


def test_a_rogue_planet_is_drawn_without_an_orbit() -> None:
    meta = {"seed": 1, "initialPosition": {"x": 5, "y": 0, "z": 5}, "velocity": {"x": 1, "y": 0, "z": 0}}
    rogue = simple("nomad", None, 0.0, isRoguePlanet=True, roguePlanet=meta, color="#ff0000", bodyType="planet")
    drawing = draw_universe({"s": simple("s", None, 0.0), "nomad": rogue}, t=3.0, title="T")
    assert "nomad" in texts(drawing)
    assert not [mark for mark in drawing.marks if isinstance(mark, Polyline) and mark.stroke == "#ff0000"]


@pytest.mark.parametrize("t", [math.nan, math.inf])
def test_a_time_that_is_invalid_is_refused(t: float) -> None:
    with pytest.raises(InvalidInput):
        draw_universe({"s": simple("s", None, 0.0)}, t=t, title="T")


def test_ten_thousand_bodies_are_drawn_in_seconds() -> None:
    chance = random.Random(4)
    stars = {"s": simple("s", None, 0.0)}
    for i in range(9_999):
        more = {"orbitalPhase": chance.uniform(0, 360), "eccentricity": chance.random() / 2, "radius": chance.random()}
        stars[f"p{i}"] = simple(f"p{i}", "s", chance.uniform(5, 60), **more)
    started = time.monotonic()
    drawing = draw_universe(stars, t=1.0, title="Many")
    svg, png = render_svg(drawing), render_png(drawing)
    assert time.monotonic() - started < 15  # about 2 s on a quiet machine
    assert "10,000 bodies" in svg
    assert len([mark for mark in drawing.marks if isinstance(mark, Circle)]) > 9_000
    assert len([mark for mark in drawing.marks if isinstance(mark, Polyline)]) < 400
    assert len(svg) < 3_000_000
    assert len(png) < 5_000_000


def test_the_same_universe_gives_the_same_picture() -> None:
    stars = systems.load_system("kepler-90")["stars"]
    assert draw_universe(stars, t=7.0, title="K") == draw_universe(stars, t=7.0, title="K")
