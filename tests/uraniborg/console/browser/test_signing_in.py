"""Signing in: by the printed address, with a wrong token, and again after the sign-in ended."""

from collections.abc import Callable
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import expect

from tests.uraniborg.console.browser.conftest import Visitor, find_accessibility_problems
from tests.uraniborg.console.processes import ServerProcess

pytestmark = pytest.mark.timeout(180)


def test_the_printed_address_signs_in_with_the_name_of_the_account(
    make_visitor: Callable[..., Visitor], server: ServerProcess
) -> None:
    visitor = make_visitor(signed_in=False)
    visitor.expected = ("401",)
    assert parse_qs(server.console.partition("#")[2])["name"] == ["Tycho"]
    page = visitor.open_page(server.console.removeprefix(server.url))
    expect(page.get_by_label("Your name")).to_have_value("Tycho")
    assert "token" not in page.url
    assert find_accessibility_problems(page) == []
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
    page.get_by_label("Or paste the token").fill(server.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()


def test_an_ended_sign_in_asks_again_and_returns_to_the_same_page(visitor: Visitor, server: ServerProcess) -> None:
    visitor.expected = ("401",)
    page = visitor.open_page("/settings")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="You are signed out.")).to_be_visible()
    page.get_by_label("Or paste the token").fill(server.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Signed in as Sophie Brahe")).to_be_visible()


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
