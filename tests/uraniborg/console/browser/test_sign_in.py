"""Signing in: what another server of this machine gets, several tabs, and signing out everywhere."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.uraniborg.console.browser.conftest import Visitor
from tests.uraniborg.console.processes import ServerProcess

ATTACK = """async (address) => {
  const tries = [
    () => fetch(`${address}/api/inbox`, { credentials: 'include' }).then((reply) => reply.text()),
    () => fetch(`${address}/api/inbox`, { headers: { Authorization: 'Bearer x' } }).then((reply) => reply.text()),
    () => fetch(`${address}/api/sign-in`, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' })
      .then((reply) => reply.type),
  ];
  const got = [];
  for (const one of tries) got.push(await one().catch(() => 'refused'));
  return { got, stored: JSON.stringify(localStorage), cookies: document.cookie };
}"""


@contextmanager
def run_hostile_server() -> Generator[tuple[str, list[dict[str, str]]]]:
    """Run a server on another port of this machine that records the headers of all requests."""
    received: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            received.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>Hostile</title>")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_server_on_another_port_gets_nothing_that_works_at_ours(visitor: Visitor, server: ServerProcess) -> None:
    page = visitor.open_page("/settings")
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    visitor.expected = ("Failed to load resource", "CORS", "favicon", "403", "ERR_FAILED")
    with run_hostile_server() as (address, received):
        page.goto(address)
        result = page.evaluate(ATTACK, server.url)
        assert result["got"][:2] == ["refused", "refused"]
        assert (result["stored"], result["cookies"]) == ("{}", "")
        assert received
        for headers in received:
            assert not headers.keys() & {"cookie", "authorization"}
            replayed = {name: value for name, value in headers.items() if name not in ("host", "connection")}
            assert httpx.get(f"{server.url}/api/inbox", headers=replayed).status_code == 401
    assert visitor.context.cookies() == []
    page.goto(f"{server.url}/settings")
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()


def test_a_second_tab_is_signed_in_and_out_with_the_first(visitor: Visitor) -> None:
    visitor.expected = ("401",)
    first, second = visitor.open_page("/settings"), visitor.open_page("/inbox")
    expect(second.get_by_text("Live")).to_be_visible()
    first.get_by_role("button", name="Sign out", exact=True).click()
    for page in (first, second):
        expect(page.get_by_role("heading", name="You are signed out.")).to_be_visible()


def test_signing_out_everywhere_ends_the_sign_in_of_every_browser(
    make_visitor: Callable[..., Visitor], server: ServerProcess
) -> None:
    here, elsewhere = make_visitor(), make_visitor(name="Ada")
    here.expected = elsewhere.expected = ("401",)
    other = elsewhere.open_page("/settings")
    expect(other.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    page = here.open_page("/settings")
    page.get_by_role("button", name="Sign out everywhere").click()
    expect(page.get_by_role("heading", name="You are signed out.")).to_be_visible()
    assert httpx.get(f"{server.url}/api/me", headers=elsewhere.headers).status_code == 401
    other.goto(f"{server.url}/library")
    expect(other.get_by_role("button", name="Sign in")).to_be_visible()


def test_the_data_of_a_page_open_in_a_new_tab(visitor: Visitor) -> None:
    page = visitor.open_page("/settings")
    link = page.get_by_role("link", name="This page as JSON")
    expect(link).to_be_visible()
    with visitor.context.expect_page() as opened:
        link.click()
    opened.value.wait_for_url("blob:**")
    assert '"settings"' in opened.value.content() or '"rows"' in opened.value.content()


@pytest.mark.parametrize("stored", ["unknown", ""])
def test_a_browser_with_an_unknown_key_is_asked_to_sign_in(
    make_visitor: Callable[..., Visitor], server: ServerProcess, stored: str
) -> None:
    visitor = make_visitor(signed_in=False)
    page = visitor.open_page("/settings")
    page.evaluate("(key) => localStorage.setItem('uraniborg.sign-in', key)", stored)
    page.goto(f"{server.url}/#token={server.token}&name=Ada")
    page.reload()
    page.get_by_label("Or paste the token").fill(server.token)
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("navigation").first).to_be_visible()
