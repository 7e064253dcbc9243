"""The panel beside the sky, the palette and the files of universes, as people use them. All of them take long."""

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.shared_folders import PATIENCE_S
from tests.uraniborg.console.browser.conftest import Visitor, find_accessibility_problems
from tests.uraniborg.console.processes import ServerProcess

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3 * PATIENCE_S)]
expect.set_options(timeout=30_000)
READY = "() => document.querySelector('.sky')?.sky?.readStatistics().frames > 0"


def create(server: ServerProcess, name: str, **given: Any) -> str:
    with server.make_client() as client:
        made = client.post("/api/universes", json={"name": name, "from": "trappist-1"} | given).raise_for_status()
        return made.json()["id"]


def open_universe(visitor: Visitor, universe: str, query: str = "") -> Page:
    page = visitor.open_page(f"/universes/{universe}{query}")
    page.wait_for_function(READY)
    return page


def show(page: Page, tab: str) -> None:
    page.locator(".panel-tabs label", has_text=tab).click()


def run_job(page: Page, kind: str, days: str) -> Locator:
    """Start a job and return the dialog with its answer."""
    show(page, "Jobs")
    page.get_by_label("Compute").select_option(kind)
    page.get_by_role("textbox", name="Days").fill(days)
    page.get_by_role("button", name="Start").click()
    name = {"nbody": "N-body run", "transits": "Transit times", "rv": "Radial velocities"}[kind]
    page.get_by_role("button", name=f"Read the answer: {name}").click(timeout=1_000 * PATIENCE_S)
    return page.get_by_role("dialog")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_answer_of_an_nbody_run_has_plots_for_eyes_keys_and_screen_readers(
    make_visitor: Callable[..., Visitor], server: ServerProcess, theme: str
) -> None:
    page = open_universe(make_visitor(theme=theme), create(server, "Plots"))
    answer = run_job(page, "nbody", "30")
    expect(answer.get_by_text("error at most").first).to_be_visible()
    expect(answer.locator(".job-outcome")).to_have_text(re.compile("^During the .* none left.$"))
    for sentence in ("Laplace angle", "closest approach", "says nothing about longer times", "accurate to"):
        expect(answer.get_by_role("listitem").filter(has_text=sentence).first).to_be_visible()
    for title in ("eccentricity", "Laplace angles of three bodies", "relative change of energy"):
        expect(answer.get_by_role("table", name=title)).to_be_visible()
    expect(answer.locator(".u-over")).to_have_count(answer.locator(".time-plot").count())
    slider = answer.get_by_role("slider", name="Time of the values: eccentricity")
    slider.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^0 days since the start: b 0\.\d+, c "))
    expect(answer.get_by_role("columnheader", name="At 0 days since the start").first).to_be_visible()
    plot = answer.locator(".time-plot", has=page.get_by_role("heading", name="eccentricity"))
    plot.locator(".u-over").hover(position={"x": 200, "y": 40})
    expect(plot.get_by_role("columnheader", name="At 0 days since the start")).to_have_count(0)
    assert find_accessibility_problems(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert find_accessibility_problems(page) == []
    with page.expect_download() as download:
        answer.get_by_role("link", name="Save the plots").click()
    assert download.value.path().read_bytes().startswith(b"<svg")


def test_transits_and_radial_velocities_are_plotted(visitor: Visitor, server: ServerProcess) -> None:
    page = open_universe(visitor, create(server, "Observed"))
    answer = run_job(page, "transits", "40")
    expect(answer.get_by_role("table", name="Transit times")).to_contain_text("TRAPPIST-1 b")
    expect(answer.get_by_role("table", name="b: difference from a constant period, minutes")).to_be_visible()
    answer.get_by_text("Mid-times of the transits of TRAPPIST-1 b").click()
    times = answer.get_by_role("table", name="Mid-times of the transits of TRAPPIST-1 b")
    expect(times).to_contain_text("Mid-time (BJD (TDB))")
    expect(times.get_by_role("row")).to_have_count(21)
    answer.get_by_role("button", name=re.compile("^Show all 2")).click()
    with page.expect_download() as download:
        answer.get_by_role("button", name="Save all transit times (CSV)").click()
    lines = download.value.path().read_text("utf-8").splitlines()
    assert lines[0].startswith("body,number,time,ocMinutes")
    assert lines[1].startswith("trappist-1-b,0,24572")
    assert find_accessibility_problems(page) == []
    expect(answer.locator(".u-over").first).to_be_visible()
    page.keyboard.press("Escape")
    answer = run_job(page, "rv", "40")
    expect(answer.get_by_text("Velocity of the star")).to_be_visible()
    expect(answer.get_by_role("table", name="radial velocity, m/s")).to_be_visible()
    expect(answer.get_by_text("error at most")).to_be_visible()


def test_a_run_is_played_with_its_error_and_trails(visitor: Visitor, server: ServerProcess) -> None:
    page = open_universe(visitor, create(server, "Played"), "?log=0")
    run_job(page, "nbody", "20")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Play it").click()
    expect(page.get_by_text("N-body run, error at most")).to_be_visible()
    page.wait_for_function(
        """() => {
          const { sky } = document.querySelector('.sky');
          const places = sky.scene.trails.places.array;
          const body = 120 * 3;
          return places.length > body && places[body] !== places[2 * body - 3];
        }"""
    )
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("Options").click()
    expect(page.get_by_label("Trails")).to_be_checked()
    expect(page.get_by_text("at the middle")).to_be_visible()


def test_files_are_imported_and_problems_are_shown(visitor: Visitor, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    header = "name,parent,mass_solar,semi_major_axis_au\n"
    good.write_text(f"{header}Sun,,1,\nHven,Sun,1e-6,1\nStray,Nobody,1e-6,2\n", encoding="utf-8")
    bad.write_text("colour,taste\nred,sweet\n", encoding="utf-8")
    page = visitor.open_page("/universes?new=1")
    visitor.expected = ("400", "422")
    page.get_by_text("A file", exact=False).first.click()
    chooser = page.get_by_label("Files")
    chooser.set_input_files(bad)
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    chooser.set_input_files(good)
    page.get_by_role("textbox", name="Name").fill("From a file")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_text("1 universe imported, 1 row skipped.")).to_be_visible()
    expect(page.get_by_role("list", name="1 row skipped")).to_contain_text("Stray")
    assert find_accessibility_problems(page) == []
    page.get_by_role("dialog").get_by_role("link", name="From a file").click()
    expect(page.get_by_role("heading", name="From a file")).to_be_visible()
    expect(page.get_by_text("2 bodies, version 1")).to_be_visible()


def test_a_wrong_setting_of_a_seed_is_marked_and_in_view(visitor: Visitor) -> None:
    page = visitor.open_page("/universes?new=1")
    page.get_by_role("dialog").get_by_text("A seed").click()
    page.get_by_text("settings, all optional").click()
    page.get_by_role("textbox", name="moonDensity").fill("0.5")
    page.get_by_role("textbox", name="maxSystems").fill("0")
    page.get_by_text("settings, all optional").click()
    page.get_by_role("button", name="Create", exact=True).click()
    field = page.get_by_role("textbox", name="maxSystems")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("This must be at least 1.")).to_be_in_viewport()
    assert find_accessibility_problems(page) == []


def test_a_file_becomes_one_universe_for_each_system_unless_one_is_wanted(visitor: Visitor, tmp_path: Path) -> None:
    table = tmp_path / "systems.csv"
    header = "name,parent,mass_solar,semi_major_axis_au\n"
    table.write_text(f"{header}Sun,,1,\nHven,Sun,1e-6,1\nMira,,1.2,\nZoo,Mira,1e-6,2\n", encoding="utf-8")
    page = visitor.open_page("/universes?new=1")
    page.get_by_role("dialog").get_by_text("A file").click()
    page.get_by_label("Files").set_input_files(table)
    expect(page.get_by_role("checkbox", name="One universe for each system")).to_be_checked()
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_text("2 universes imported.")).to_be_visible()
    page.goto(f"{visitor.url}/universes?new=1")
    page.get_by_role("dialog").get_by_text("A file").click()
    page.get_by_label("Files").set_input_files(table)
    page.get_by_role("checkbox", name="One universe for each system").uncheck()
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("dialog").get_by_role("list", name="Universes").get_by_role("link").click()
    expect(page.get_by_text("1 of 2 systems, that of the selected body")).to_be_visible()
    expect(page.locator(".sky-label", has_text="Hven")).to_be_visible()
    expect(page.locator(".sky-label", has_text="Zoo")).to_have_count(0)
    page.get_by_label("Choose a body").select_option("Mira")
    expect(page.locator(".sky-label", has_text="Zoo")).to_be_visible()
    expect(page.locator(".sky-label", has_text="Hven")).to_have_count(0)


def read_box(page: Page, selector: str) -> FloatRect:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box


def test_two_universes_are_seen_side_by_side_from_the_same_side(visitor: Visitor, server: ServerProcess) -> None:
    other = create(server, "The other one")
    create(server, f"A universe with a long name {'and more ' * 12}")
    page = open_universe(visitor, create(server, "The first one"))
    show(page, "Log")
    page.get_by_label("Compare with").select_option("The other one")
    expect(page.get_by_text("Both universes are equal.")).to_be_visible()
    menu, panel = read_box(page, ".compare select"), read_box(page, ".universe-panel")
    assert menu["x"] + menu["width"] <= panel["x"] + panel["width"], "the menu is not cut off"
    page.keyboard.press("t")
    page.wait_for_function(
        """() => {
          const places = [...document.querySelectorAll('.sky')].map((host) => host.sky?.readPlaces()['trappist-1-h']);
          const [one, two] = places;
          return one && two && Math.hypot(one.x - two.x, one.y - two.y) < 1;
        }"""
    )
    width, pixels = page.evaluate(
        """() => [
          document.querySelector('.scale-bar-line').getBoundingClientRect().width,
          document.querySelector('.sky').sky.scale.value.pixels,
        ]"""
    )
    assert abs(width - pixels) < 1, "the bar is as long as the distance it states"
    expect(page.locator(".first-sky-name")).to_have_text("The first one")
    expect(page.locator(".other-sky-name")).to_have_text("The other one")
    with server.make_client() as client:
        command = {"type": "updateStar", "id": "trappist-1-h", "payload": {"mass": 2e-6}}
        client.post(f"/api/universes/{other}/commands", json=command).raise_for_status()
    expect(page.get_by_text("trappist-1-h mass")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".first-sky-name")).to_have_text("The first one")
    order = [read_box(page, one) for one in (".sky", ".other-sky", ".time-bar", ".sky-facts", ".universe-panel")]
    for upper, lower in pairwise(order):
        assert upper["y"] + upper["height"] <= lower["y"] + 1, "nothing lies over a sky"


def test_a_sky_that_could_not_be_read_is_read_again(visitor: Visitor, server: ServerProcess) -> None:
    universe = create(server, "Retried")
    visitor.expected = ("Failed to load resource", "ERR_", "net::")
    visitor.context.route("**/elements*", lambda route: route.abort())
    page = visitor.open_page(f"/universes/{universe}")
    expect(page.get_by_role("button", name="Try again").first).to_be_visible()
    visitor.context.unroute("**/elements*")
    page.get_by_role("button", name="Try again").first.click()
    page.wait_for_function(READY)
    visitor.context.set_offline(True)
    with server.make_client() as client:
        command = {"type": "updateStar", "id": "trappist-1-h", "payload": {"mass": 2e-6}}
        client.post(f"/api/universes/{universe}/commands", json=command).raise_for_status()
    visitor.context.set_offline(False)
    page.wait_for_function("() => document.querySelector('.sky').sky.readStatistics().version === 2")


def test_a_log_of_more_than_a_thousand_versions_is_shown_in_pages(visitor: Visitor, server: ServerProcess) -> None:
    universe = create(server, "Long")
    with server.make_client() as client:
        for _ in range(12):
            ticks = [{"type": "tick", "dt": 0.01}] * 100
            client.post(f"/api/universes/{universe}/commands", json=ticks).raise_for_status()
        current = client.get(f"/api/universes/{universe}", params={"ids": "-"}).json()["version"]
    page = open_universe(visitor, universe)
    show(page, "Log")
    entries = page.get_by_role("list", name="Log").get_by_role("listitem")
    expect(entries).to_have_count(50)
    expect(entries.first).to_contain_text(f"{current}")
    page.get_by_role("slider", name=f"Version {current} of {current}").fill("600")
    expect(page.locator(".log-list .current")).to_contain_text("600")
    expect(entries).to_have_count(50)
    page.get_by_role("button", name="Earlier changes").click()
    expect(entries.first).to_contain_text("575")
    page.get_by_role("button", name="Later changes").click()
    expect(page.locator(".log-list .current")).to_contain_text("600")


def test_a_universe_is_saved_as_a_model(visitor: Visitor, server: ServerProcess) -> None:
    page = open_universe(visitor, create(server, "Modelled"), "?t=0")
    page.get_by_text("Options").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save a 3D model").click()
    assert download.value.suggested_filename == "Modelled.glb"
    data = download.value.path().read_bytes()
    assert data.startswith(b"glTF")
    size = int.from_bytes(data[12:16], "little")
    model = json.loads(data[20 : 20 + size])
    names = {node.get("name") for node in model["nodes"]}
    assert {"TRAPPIST-1", "TRAPPIST-1_h"} & names
    assert len(model["meshes"]) >= 8 + 7


def test_the_palette_sends_undoes_branches_and_goes_to_bodies(visitor: Visitor, server: ServerProcess) -> None:
    page = open_universe(visitor, create(server, "By palette"))
    expect(page.get_by_text("8 bodies, version 1")).to_be_visible()

    def choose(words: str) -> None:
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Find or do anything").fill(words)
        page.keyboard.press("Enter")

    choose("set mass of trappist-1 h")
    mass = page.get_by_role("textbox", name="mass", exact=True)
    expect(mass).to_be_focused()
    expect(page.get_by_role("textbox", name="id (required)")).to_have_value("trappist-1-h")
    mass.fill("2e-6")
    mass.press("Enter")
    expect(page.get_by_text("8 bodies, version 2")).to_be_visible()
    choose("undo the last")
    expect(page.get_by_text("8 bodies, version 3")).to_be_visible()
    choose("go to trappist-1 e")
    expect(page.get_by_text("Following TRAPPIST-1 e")).to_be_visible()
    choose("run n-body")
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    choose("command tick")
    expect(page.locator("#command-type")).to_have_value("tick")
    choose("branch at version 3")
    expect(page.get_by_text("8 bodies, version 1")).to_be_visible()
