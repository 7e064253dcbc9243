"""Faults that a page survives and explains: sign-ins, a part that does not start, wrong clocks, huge texts."""

import socket
from collections.abc import Callable, Generator
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import expect

from tests.uraniborg.console.browser.conftest import Visitor
from tests.uraniborg.console.browser.page_looks import check_all_looks, find_shifts
from tests.uraniborg.console.processes import ServerProcess, run_server
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(180)
HOUR_MS = 3_600_000
MOVE_CLOCK = """(() => {
  const real = Date.now;
  Date.now = () => real() + OFFSET;
})()"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """Run `uraniborg serve` while another program has the port of universes."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        with run_server(tmp_path_factory.mktemp("home"), URANIBORG_UNIVERSE__PORT=port) as running:
            yield running


def start_search(server: ServerProcess) -> str:
    """Start a search and return the id of its question."""
    with server.make_client() as client:
        return client.post("/api/searches", json={"query": QUERY}).json()["checkpoint_id"]


def test_a_part_that_does_not_start_is_named_with_what_to_do_and_the_others_work(
    visitor: Visitor, server: ServerProcess
) -> None:
    visitor.expected = ("503",)
    port = server.env["URANIBORG_UNIVERSE__PORT"]
    page = visitor.open_page("/connections")
    row = page.get_by_role("row").filter(has_text="does not run")
    expect(row).to_contain_text("universe")
    expect(row).to_contain_text(f"Port {port} cannot be used")
    expect(row).to_contain_text("Stop the other program, or set another port.")
    check_all_looks(page)
    page.goto(f"{server.url}/universes")
    expect(page.get_by_role("alert")).to_contain_text(f"Port {port} cannot be used")
    expect(page.get_by_role("alert")).to_contain_text("Stop the other program, or set another port.")
    page.goto(f"{server.url}/inbox/{start_search(server)}")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("link").filter(has_text="papers to review").first).to_be_visible()


@pytest.mark.parametrize("hours", [-30, 30])
def test_ages_are_those_of_the_server_if_the_clock_of_the_browser_is_wrong(
    visitor: Visitor, server: ServerProcess, hours: int
) -> None:
    visitor.context.add_init_script(MOVE_CLOCK.replace("OFFSET", str(hours * HOUR_MS)))
    entry_id = start_search(server)
    page = visitor.open_page(f"/inbox/{entry_id}")
    age = page.locator(".row[aria-current] time")
    expect(age).to_have_text("<1 min")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".row").filter(has_text="by you, in the console").locator("time").first).to_contain_text(
        "Today"
    )


def test_the_printed_address_signs_in_with_the_name_of_the_account(
    make_visitor: Callable[..., Visitor], server: ServerProcess
) -> None:
    visitor = make_visitor(signed_in=False)
    visitor.expected = ("503",)  # of universes, whose server does not run here: the home page lists the last ones
    assert parse_qs(server.console.partition("#")[2])["name"] == ["Tycho"]
    page = visitor.open_page(server.console.removeprefix(server.url))
    expect(page.get_by_label("Your name")).to_have_value("Tycho")
    assert "token" not in page.url
    assert find_shifts(page) == []
    check_all_looks(page)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Live")).to_be_visible()
    page.reload()
    expect(page.get_by_role("navigation")).to_be_visible()


def test_a_wrong_token_gets_a_page_that_says_what_to_do(
    make_visitor: Callable[..., Visitor], server: ServerProcess
) -> None:
    visitor = make_visitor(signed_in=False)
    visitor.expected = ("401",)
    page = visitor.open_page("/settings#token=wrong&name=Ada")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="The token in this address is not the one of this server.")).to_be_visible()
    expect(page.get_by_text("uraniborg serve --open")).to_be_visible()
    assert find_shifts(page) == []
    check_all_looks(page)
    page.get_by_label("Or paste the token").fill(server.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()


def test_an_ended_sign_in_asks_again_and_returns_to_the_typed_words(visitor: Visitor, server: ServerProcess) -> None:
    visitor.expected = ("401",)
    address = f"/inbox/{start_search(server)}"
    page = visitor.open_page(address)
    page.get_by_role("button", name="Reject with a hint").click()
    page.get_by_role("textbox").fill("too broad")
    assert visitor.context.request.post(f"{server.url}/api/sign-out", headers=visitor.headers).ok
    page.get_by_role("button", name="Reject", exact=True).click()
    expect(page.get_by_role("heading", name="You are signed out.")).to_be_visible()
    page.get_by_label("Or paste the token").fill(server.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_label("What is missing or wrong?")).to_have_value("too broad")
    page.get_by_role("button", name="Reject", exact=True).click()
    expect(page.get_by_role("link").filter(has_text="by you, in the console: too broad")).to_be_visible()
    page.goto(f"{server.url}/settings")
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("heading", name="You are signed out.")).to_be_visible()


def test_a_worker_with_another_script_is_refused_by_the_browser(visitor: Visitor) -> None:
    visitor.expected = ("CSP:", "TrustedScriptURL", "TrustedHTML", "trusted-types", "Content Security Policy")
    page = visitor.open_page()
    refused = page.evaluate(
        """() => {
          const tries = [
            () => new Worker('/assets/other.js'),
            () => trustedTypes.createPolicy('uraniborg', {}),
            () => trustedTypes.createPolicy('mine', {}),
            () => { document.body.innerHTML = '<b>x</b>'; },
          ];
          return tries.map((run) => { try { run(); return 'ran'; } catch { return 'refused'; } });
        }"""
    )
    assert refused == ["refused"] * 4
