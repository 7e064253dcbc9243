"""Texts rendered as HTML have no active content."""

import re
from html.parser import HTMLParser

import httpx
import pytest

from tests.paper_library.operations.rest_shelf import find_paper


class Dangers(HTMLParser):
    """A parser that collects active content and external references of an HTML text."""

    ACTING = frozenset(("script", "style", "iframe", "object", "embed", "form", "input", "button", "svg", "math"))
    REACHING = frozenset(("meta", "base", "link", "noscript", "template"))

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.ACTING | self.REACHING:
            self.found.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name in {"style", "srcdoc", "formaction", "action", "xlink:href"}:
                self.found.append(f"{tag} {name}")
            if name in {"href", "src"}:
                target = re.sub(r"[\x00-\x20]", "", value or "").lower()
                self.links.append(target)
                if re.match(r"(javascript|data|vbscript|file):", target):
                    self.found.append(f"{tag} {name}={target[:40]}")


@pytest.mark.parametrize("address", ["source", "translation/de"])
def test_texts_rendered_as_html_have_no_active_content(rest: httpx.Client, address: str) -> None:
    name = "Hostile" if address == "source" else "On comets"
    answer = rest.get(f"papers/{find_paper(rest, name)}/{address}", params={"format": "html"})
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "script-src" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    dangers = Dangers(answer.text)
    assert dangers.found == []
    assert "alert(1)" not in answer.text
    if address == "source":
        assert "https://good.example/paper" in dangers.links
        assert "<strong>bold</strong>" in answer.text
        assert "<table>" in answer.text


def test_texts_served_as_markdown_are_never_treated_as_html(rest: httpx.Client) -> None:
    answer = rest.get(f"papers/{find_paper(rest, 'Hostile')}/source")
    assert answer.headers["Content-Type"].startswith("text/markdown")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "<script>" in answer.text


def test_another_format_is_refused(rest: httpx.Client) -> None:
    answer = rest.get(f"papers/{find_paper(rest, 'Hostile')}/source", params={"format": "exe"})
    assert (answer.status_code, answer.json()["error"]["argument"]) == (422, "format")
