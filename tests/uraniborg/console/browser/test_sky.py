"""The picture of a universe: positions, live changes, keys, the address, and browsers that cannot draw."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.uraniborg.console.browser.conftest import Visitor, find_accessibility_problems
from tests.uraniborg.console.processes import ServerProcess

pytestmark = pytest.mark.timeout(300)
J2000 = 2451545.0
YEARS = (1800, 1899.37, 2026.88, 2100.123, 2200)
ZOO: list[dict[str, Any]] = [
    {"name": "Zoo", "type": "star", "mass_solar": 1, "radius_km": 700_000, "epoch_jd": J2000},
    {"name": "Near", "parent": "Zoo", "period_days": 0.45, "eccentricity": 0.1, "omega_deg": 40},
    {"name": "Host", "parent": "Zoo", "mass_solar": 1e-3, "semi_major_axis_au": 5.2, "eccentricity": 0.05},
    {"name": "Moon 1", "parent": "Host", "mass_solar": 1e-6, "semi_major_axis_au": 0.02, "inclination_deg": 12},
    {"name": "Moon 2", "parent": "Moon 1", "mass_solar": 1e-9, "semi_major_axis_au": 2e-3, "inclination_deg": 40},
    {"name": "Moon 3", "parent": "Moon 2", "mass_solar": 1e-12, "semi_major_axis_au": 2e-4, "eccentricity": 0.3},
    {"name": "Moon 4", "parent": "Moon 3", "mass_solar": 1e-15, "semi_major_axis_au": 2e-5, "node_deg": 5},
    {"name": "Moon 5", "parent": "Moon 4", "semi_major_axis_au": 2e-6, "mean_anomaly_deg": 77},
    {"name": "Halley", "parent": "Zoo", "semi_major_axis_au": 17.83, "eccentricity": 0.967, "inclination_deg": 162.3},
    {"name": "Long", "parent": "Zoo", "semi_major_axis_au": 186, "eccentricity": 0.995, "inclination_deg": 89},
    {"name": "Guest", "parent": "Zoo", "periapsis_distance_au": 0.26, "eccentricity": 1.2, "inclination_deg": 122.7},
]
FAMILIES = 110
"""Planets with a moon that has a moon: more parents than the page computes itself."""
SETTLE = """async (wanted) => {
  const { sky } = document.querySelector('.sky');
  for (const [name, value] of Object.entries(wanted)) sky.state[name].value = value ?? undefined;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
MEASURE = """(expected) => {
  const { sky } = document.querySelector('.sky');
  const { clientWidth, clientHeight } = document.querySelector('.sky');
  const computed = sky.readPositions();
  const places = sky.readPlaces();
  const worst = { shader: 0, label: 0, seen: 0 };
  const centre = expected.positions[expected.ids.indexOf(sky.readStatistics().followed)];
  expected.ids.forEach((id, index) => {
    const right = sky.project(expected.positions[index].map((value, axis) => value - centre[axis]));
    if (!(right.depth > 0) || Math.abs(right.x) > 2 * clientWidth || Math.abs(right.y) > 2 * clientHeight) return;
    const drawn = sky.project(computed[id]);
    worst.seen += 1;
    worst.shader = Math.max(worst.shader, Math.hypot(drawn.x - right.x, drawn.y - right.y));
    if (id in places) worst.label = Math.max(worst.label, Math.hypot(places[id].x - right.x, places[id].y - right.y));
  });
  return worst;
}"""
MEASURE_LINE = """() => {
  const { sky } = document.querySelector('.sky');
  const followed = sky.readStatistics().followed;
  const canvas = document.querySelector('.sky canvas');
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  Object.assign(context.canvas, { width: canvas.width, height: canvas.height });
  const read = (hasOrbits) => {
    sky.state.hasOrbits.value = hasOrbits;
    sky.draw(sky.state.time.value);
    context.drawImage(canvas, 0, 0);
    return context.getImageData(0, 0, canvas.width, canvas.height).data;
  };
  const [without, drawn] = [read(false), read(true)];
  const { x, y } = sky.project([0, 0, 0]);
  const { radius } = sky.readPlaces()[followed];
  const ratio = canvas.width / canvas.clientWidth;
  let nearest = Infinity;
  for (let at = 0; at < drawn.length; at += 4) {
    if (drawn[at] + drawn[at + 1] + drawn[at + 2] - without[at] - without[at + 1] - without[at + 2] < 12) continue;
    const pixel = at / 4;
    const [column, row] = [(pixel % canvas.width) + 0.5, Math.floor(pixel / canvas.width) + 0.5];
    nearest = Math.min(nearest, Math.hypot(column / ratio - x, row / ratio - y));
  }
  return nearest - radius;
}"""
"""Return how far the nearest line is from the rim of the followed body, in pixels."""


def format_table(rows: list[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def make_families() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"name": "Sun", "type": "star", "mass_solar": 1, "radius_km": 700_000}]
    for number in range(FAMILIES):
        place = {"inclination_deg": number % 7, "node_deg": number * 3, "mean_anomaly_deg": number * 37 % 360}
        size = 1 + number / 20
        rows += [
            {"name": f"P{number}", "parent": "Sun", "mass_solar": 1e-6, "semi_major_axis_au": size, **place},
            {"name": f"M{number}", "parent": f"P{number}", "mass_solar": 1e-9, "semi_major_axis_au": 0.01, **place},
            {"name": f"N{number}", "parent": f"M{number}", "semi_major_axis_au": 0.001, "eccentricity": 0.5, **place},
        ]
    return rows


@pytest.fixture(scope="module", autouse=True)
def universes(server: ServerProcess) -> None:
    """Create the universes of all tests."""
    with server.make_client() as client:
        for origin in ("solar-system", "trappist-1"):
            client.post("/api/universes", json={"id": origin, "name": origin, "from": origin}).raise_for_status()
        for name, rows in (("zoo", ZOO), ("families", make_families())):
            body = {"content": format_table(rows), "id": name}
            client.post("/api/universes/import", json=body).raise_for_status()


@pytest.fixture
def visitor(make_visitor: Callable[..., Visitor]) -> Visitor:
    """Return a visitor with a small window: software draws the pictures, pixel by pixel."""
    return make_visitor(width=1000, height=480)


def open_sky(visitor: Visitor, path: str) -> Page:
    page = visitor.open_page(path)
    page.wait_for_function("() => document.querySelector('.sky')?.sky?.readStatistics().frames > 0")
    return page


@pytest.mark.parametrize(
    ("universe", "epoch", "followed"),
    [
        pytest.param("solar-system", J2000, [None, "earth", "jupiter", "neptune"], marks=pytest.mark.soak),
        ("trappist-1", 2457257.93115525, [None, "trappist-1-e"]),
        ("zoo", J2000, [None, "host", "moon-1", "moon-4", "halley"]),
        pytest.param("families", J2000, [None, "p109"], marks=pytest.mark.soak),
    ],
)
def test_bodies_and_names_are_where_the_api_says(
    visitor: Visitor, server: ServerProcess, universe: str, epoch: float, followed: list[str | None]
) -> None:
    page = open_sky(visitor, f"/universes/{universe}?t=0")
    with server.make_client() as client:
        for number, year in enumerate(YEARS):
            time = J2000 + (year - 2000) * 365.25 - epoch
            expected = client.get(f"/api/universes/{universe}/positions", params={"t": time}).json()
            for body in (followed[number % len(followed)], followed[(number + 1) % len(followed)]):
                page.evaluate(SETTLE, {"time": time, "followed": body, "isLog": number % 2 == 0})
                worst = page.evaluate(MEASURE, expected)
                assert worst["seen"] > 1, (year, body)
                assert worst["shader"] < 1, (year, body, worst)
                assert worst["label"] < 1, (year, body, worst)


@pytest.mark.parametrize(
    ("universe", "followed"),
    [("solar-system", ["jupiter", "neptune", "io"]), ("zoo", ["host", "moon-4", "halley", "long", "guest"])],
)
def test_the_line_of_an_orbit_passes_through_the_followed_body(
    visitor: Visitor, universe: str, followed: list[str]
) -> None:
    page = open_sky(visitor, f"/universes/{universe}?t=0&zone=0")
    for number, body in enumerate(followed):
        for time in (1000 + number, 208.1591):
            for is_log in (True, False):
                page.evaluate(SETTLE, {"time": time, "followed": body, "isLog": is_log})
                assert page.evaluate(MEASURE_LINE) < 3, (body, time, is_log)
                page.evaluate("() => { const { sky } = document.querySelector('.sky'); sky.zoom(1 / 30); }")
                assert page.evaluate(MEASURE_LINE) < 3, (body, time, is_log, "near")


def test_a_command_of_another_process_appears(visitor: Visitor, server: ServerProcess) -> None:
    page = open_sky(visitor, "/universes/trappist-1")
    expect(page.locator(".sky-label", has_text="Intruder")).to_have_count(0)
    body = {"name": "Intruder <img src=x>", "mass": 1e-9, "radius": 1e-4, "color": "#ffffff", "bodyType": "planet"}
    orbit = {"parentId": "trappist-1", "orbitalDistance": 0.03, "orbitalSpeed": 9, "orbitalPhase": 100}
    with server.make_client() as client:
        command = {"type": "addStar", "id": "intruder", "payload": body | orbit}
        client.post("/api/universes/trappist-1/commands", json=command).raise_for_status()
        expect(page.locator(".sky-label", has_text="Intruder <img src=x>")).to_have_count(1)
        client.post("/api/universes/trappist-1/undo").raise_for_status()
    expect(page.locator(".sky-label", has_text="Intruder")).to_have_count(0)


def test_keys_and_controls_change_the_view_and_the_address_restores_it(visitor: Visitor) -> None:
    page = open_sky(visitor, "/universes/solar-system?t=9814.5&body=earth")
    expect(page.get_by_text("Distances: logarithmic")).to_be_visible()
    expect(page.get_by_label("Date (year-month-day)")).to_have_value("2026-11-15")
    page.keyboard.press("l")
    expect(page.get_by_text("Distances: logarithmic")).to_have_count(0)
    page.keyboard.press("f")
    expect(page.get_by_text("Following Earth")).to_be_visible()
    page.keyboard.press("t")
    page.keyboard.press("+")
    page.get_by_text("Options").click()
    page.get_by_label("Real sizes").check()
    expect(page.get_by_text("Sizes: to scale")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the picture").click()
    assert download.value.suggested_filename == "solar-system.png"
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    date = page.get_by_label("Date (year-month-day)")
    date.fill("1986-02-09")
    date.press("Enter")
    page.wait_for_function("() => location.search.includes('real=1') && location.search.includes('t=-5')")
    before = page.evaluate("() => document.querySelector('.sky').sky.readPlaces().moon")
    page.reload()
    page.wait_for_function("() => document.querySelector('.sky')?.sky?.readStatistics().frames > 0")
    expect(date).to_have_value("1986-02-09")
    after = page.evaluate("() => document.querySelector('.sky').sky.readPlaces().moon")
    assert abs(before["x"] - after["x"]) < 1
    assert abs(before["y"] - after["y"]) < 1
    date.fill("yesterday")
    date.press("Enter")
    expect(date).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.wait_for_function("(before) => document.querySelector('.time-slider').valueAsNumber > before", arg=-5073.0)


@pytest.mark.soak
def test_a_click_selects_discs_and_points(visitor: Visitor) -> None:
    page = open_sky(visitor, "/universes/families?t=0")
    box = page.locator(".sky").bounding_box()
    assert box is not None
    find = "(id) => { const { sky } = document.querySelector('.sky'); return sky.project(sky.readPositions()[id]); }"
    for body, follow in (("sun", None), ("n109", "m109")):
        page.evaluate(SETTLE, {"followed": follow, "isLog": False})
        place = page.evaluate(find, body)
        page.mouse.click(box["x"] + place["x"], box["y"] + place["y"])
        page.wait_for_function("(id) => document.querySelector('.sky').sky.state.selected.value === id", arg=body)


@pytest.mark.soak
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_universe_is_accessible_wide_and_narrow(make_visitor: Callable[..., Visitor], theme: str) -> None:
    page = open_sky(make_visitor(theme=theme), "/universes/trappist-1?body=trappist-1-e")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.get_by_text("Options").click()
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert find_accessibility_problems(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width


@pytest.mark.soak
def test_universes_without_bodies_or_units_are_shown(visitor: Visitor, server: ServerProcess) -> None:
    with server.make_client() as client:
        client.post("/api/universes", json={"id": "empty", "name": "Empty"}).raise_for_status()
        client.post("/api/universes", json={"id": "seed", "name": "S", "from": "seed:classic:42"}).raise_for_status()
    page = visitor.open_page("/universes/empty")
    expect(page.get_by_text("This universe has no bodies yet.")).to_be_visible()
    page = open_sky(visitor, "/universes/seed")
    expect(page.locator(".sky-label:not([hidden])").first).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator(".sky-ring")).to_be_visible()


@pytest.mark.soak
def test_a_browser_without_webgl_shows_the_positions_as_numbers(make_visitor: Callable[..., Visitor]) -> None:
    visitor = make_visitor()
    visitor.context.add_init_script("HTMLCanvasElement.prototype.getContext = () => null;")
    page = visitor.open_page("/universes/trappist-1?t=0")
    expect(page.get_by_text("This browser cannot draw in three dimensions.")).to_be_visible()
    row = page.get_by_role("row", name="TRAPPIST-1 h")
    before = row.text_content()
    page.get_by_label("Date (year-month-day)").fill("2026-11-17")
    page.get_by_label("Date (year-month-day)").press("Enter")
    expect(row).not_to_have_text(before or "")
    assert find_accessibility_problems(page) == []
