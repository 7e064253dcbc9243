"""Pages for people: a search box, results, and a paper with what can be read of it. No script, nothing from outside."""

import json
from collections.abc import Callable
from html import escape
from typing import Any, Final, cast
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from paper_library.errors import SourceNotAvailable
from paper_library.library import Library
from paper_library.limits import DEFAULT_PAGE_SIZE, HTML_CHARS, QUERY_CHARS
from paper_library.offloading import Threads
from paper_library.text.cutting import piece
from paper_library.text.markdown import safe_html, unescaped
from uraniborg.kernel.errors import UraniborgError, as_error

_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5c6675; --line: #d9dee6; --mark: #fff0b8; --link: #1f4fa3;
  --paper: #fdfdfb }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ec; --soft: #9aa4b2; --line: #323a46; --mark: #5b4a10;
  --link: #8db4ff; --paper: #14181e } }
body { margin: 0 auto; max-width: 50rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 1.05rem/1.6 Georgia, "Noto Serif", serif }
header, nav, .facts, form, .more { font-family: system-ui, sans-serif }
a { color: var(--link); text-decoration: none } a:hover { text-decoration: underline }
header a { color: inherit; font-weight: 600 }
form { display: flex; gap: .5rem; margin: 1rem 0 1.5rem }
input { flex: 1; font: inherit; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .4rem;
  background: transparent; color: inherit }
button { font: inherit; padding: .5rem 1rem; border: 0; border-radius: .4rem; background: var(--link);
  color: var(--paper) }
article { padding: 1rem 0; border-top: 1px solid var(--line) } article h2 { font-size: 1.15rem; margin: 0 }
.facts { color: var(--soft); font-size: .88rem; margin: .15rem 0 .4rem } article p { margin: .3rem 0 0 }
strong { background: var(--mark); font-weight: inherit; border-radius: .2rem; padding: 0 .1rem }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line); border-radius: .4rem; font-size: .85rem }
img { max-width: 100% } table { border-collapse: collapse }
td, th { border: 1px solid var(--line); padding: .2rem .5rem }
h1 { line-height: 1.25; font-size: 1.6rem }
"""


def page_routes(library: Library, threads: Threads) -> list[BaseRoute]:
    async def results(request: Request) -> Response:
        return await _answer(threads, lambda: _results(library, request))

    async def paper(request: Request) -> Response:
        return await _answer(threads, lambda: _paper(library, request.path_params["paper_id"]))

    return [Route("/", results), Route("/papers/{paper_id}", paper)]


async def _answer(threads: Threads, make: Callable[[], str]) -> Response:
    try:
        return HTMLResponse(await threads.fetch(make), headers=_HEADERS)
    except UraniborgError as exc:
        error = as_error(exc)
        body = f"<h1>{escape(error.message)}</h1><p>{escape(error.hint)}</p>"
        return HTMLResponse(_page("Not shown", body), status_code=error.status, headers=_HEADERS)


def _page(title: str, body: str, query: str = "") -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head><body>'
        '<header><a href="/">The shelf</a></header>'
        f'<form action="/" role="search"><input name="q" value="{escape(query, quote=True)}" '
        f'maxlength="{QUERY_CHARS}" aria-label="Search" placeholder="Words, &quot;a phrase&quot;, author:, year:2019.."'
        f" autofocus><button>Search</button></form><main>{body}</main></body></html>"
    )


def _results(library: Library, request: Request) -> str:
    query = request.query_params.get("q", "")
    given = request.query_params.get("offset", "0")
    offset = int(given) if given.isascii() and given.isdigit() and len(given) < 9 else 0
    found = library.search(query, offset=offset)
    count = f"{found['total']:,} paper{'s' if found['total'] != 1 else ''}"
    parts = [f'<p class="facts">{count}{" for " + escape(query) if query else " on this shelf"}</p>']
    if meant := found.get("did_you_mean"):
        parts.append(f'<p>Did you mean <a href="/?{escape(urlencode({"q": meant}))}">{escape(meant)}</a>?</p>')
    parts += [_result(hit) for hit in found["results"]]
    before, after = max(0, offset - DEFAULT_PAGE_SIZE), found["next_offset"]
    links = [("Earlier", before)] if offset else []
    links += [("More", after)] if after is not None else []
    anchors = (f'<a href="/?{escape(urlencode({"q": query, "offset": at}))}">{name}</a>' for name, at in links)
    return _page(query or "The shelf", "".join(parts) + f'<p class="more">{" · ".join(anchors)}</p>', query)


def _result(hit: dict[str, Any]) -> str:
    return (
        f'<article><h2><a href="/papers/{quote(hit["paper_id"])}">{escape(hit["title"])}</a></h2>'
        f'<p class="facts">{escape(_byline(hit))}</p>{_passage(hit)}</article>'
    )


def _passage(hit: dict[str, Any]) -> str:
    shown = safe_html(hit["snippet_markdown"])
    return "" if hit["title"] == unescaped(hit["snippet_markdown"].replace("**", "")) else shown


def _byline(paper: dict[str, Any]) -> str:
    authors = ", ".join(paper["authors"][:4]) + (" and others" if len(paper["authors"]) > 4 else "")
    return " · ".join(part for part in (authors, paper["venue"], str(paper["year"] or "")) if part)


def _paper(library: Library, paper_id: str) -> str:
    said = library.metadata(paper_id)
    address = f"/api/v1/papers/{quote(said['paper_id'])}"
    kinds = [("JSON", address)]
    kinds += [(f"Summary: {name}", f"{address}/summary/{quote(name)}") for name in said["available_summary_templates"]]
    kinds += [("BibTeX", f"{address}/bibtex")] if said["has_bibtex"] else []
    kinds += [
        (f"Translation: {lang}", f"{address}/translation/{quote(lang)}?format=html") for lang in said["translations"]
    ]
    links = " · ".join(f'<a href="{escape(target)}">{escape(name)}</a>' for name, target in kinds)
    known = " · ".join(f"{name}: {value}" for name, value in said["identifiers"].items())
    parts = [
        f'<h1>{escape(said["title"])}</h1><p class="facts">{escape(_byline(said))}<br>{escape(known)}</p>',
        f'<p class="more">{links}</p>',
        f"<p>{escape(said['abstract'])}</p>" if said["abstract"] else "",
    ]
    try:
        parts.append("<hr>" + safe_html(piece(library.source(said["paper_id"]), 0, HTML_CHARS)))
    except SourceNotAvailable:
        told = _told(json.loads(library.summary(said["paper_id"])))
        parts.append(safe_html(told) if told else "")
    return _page(said["title"], "".join(parts))


def _told(summary: Any) -> str:
    """The running text of a summary, if it has any under the usual name."""
    told = cast("dict[str, Any]", summary).get("summary") if isinstance(summary, dict) else None
    return told if isinstance(told, str) else ""
