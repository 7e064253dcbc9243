"""Pages for people: search results, help where there are none, values to browse by, and papers."""

import re
from collections.abc import Callable
from html import escape
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from paper_library.library import Library
from paper_library.limits import DEFAULT_PAGE_SIZE, FACETS
from paper_library.page_frame import BROWSED, HEADERS, link, make_page, paper_address, search_address, value_links
from paper_library.paper_page import make_paper_page
from paper_library.store.layout import FACET_KINDS
from paper_library.text.bylines import format_byline
from paper_library.text.markdown import render_safe_html, unescape_markdown
from paper_library.worker_threads import Threads
from uraniborg.kernel.errors import UraniborgError, as_error
from uraniborg.kernel.text import plural

_PART: Final = re.compile(r'[^\s"]*"[^"]*"|\S+')
_OPERATORS: Final = frozenset({"AND", "OR", "NOT"})
_PARTS_TRIED: Final = 6
_KEYWORDS_OFFERED: Final = 15


def page_routes(library: Library, threads: Threads) -> list[BaseRoute]:
    """Return the routes of the pages."""

    async def results(request: Request) -> Response:
        return await _answer(threads, lambda: _results(library, request))

    async def browse(request: Request) -> Response:
        return await _answer(threads, lambda: _values(library, request.path_params["kind"], _offset(request)))

    async def paper(request: Request) -> Response:
        return await _answer(
            threads, lambda: make_paper_page(library, request.path_params["paper_id"], _offset(request))
        )

    return [Route("/", results), Route("/browse/{kind}", browse), Route("/papers/{paper_id}", paper)]


async def _answer(threads: Threads, make: Callable[[], str]) -> Response:
    try:
        return HTMLResponse(await threads.fetch(make), headers=HEADERS)
    except UraniborgError as exc:
        error = as_error(exc)
        body = f"<h1>{escape(error.message)}</h1><p>{escape(error.hint)}</p>"
        return HTMLResponse(make_page("Not shown", body), status_code=error.status, headers=HEADERS)


def _offset(request: Request) -> int:
    given = request.query_params.get("offset", "0")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 9 else 0


def _results(library: Library, request: Request) -> str:
    query, offset = request.query_params.get("q", ""), _offset(request)
    filters = {kind: value for kind in FACET_KINDS if (value := request.query_params.get(kind, "").strip())}
    found = library.search(query, offset=offset, filters=filters)
    parts = [f'<p class="facts">{_count(found["total"], query, filters)}</p>']
    if meant := found.get("did_you_mean"):
        parts.append(f"<p>Did you mean {link(search_address(meant, filters), meant)}?</p>")
    parts += [f'<p class="facts">{escape(note)}</p>' for note in found["interpreted_query"]["ignored"]]
    parts += [_result(hit) for hit in found["results"]]
    if not found["total"]:
        parts.append(_help(library, found.get("did_you_mean") or query, filters))
    links = [("Earlier", max(0, offset - DEFAULT_PAGE_SIZE))] if offset else []
    links += [("More", found["next_offset"])] if found["next_offset"] is not None else []
    parts += [f'<p class="facts">{escape(found["more"])}</p>'] if "more" in found else []
    anchors = " · ".join(link(search_address(query, filters, at), name) for name, at in links)
    body = f'{"".join(parts)}<p class="more">{anchors}</p>'
    title = query or ", ".join(filters.values()) or "The shelf"
    return make_page(title, body, query=query, filters=filters, is_start=not (query or filters))


def _count(total: int, query: str, filters: dict[str, str]) -> str:
    said = f" for {escape(query)}" if query else ""
    if filters:
        said += " with " + " and ".join(f"{kind} {escape(value)}" for kind, value in filters.items())
        said += f" · {link(search_address(query), 'Search all papers')}"
    return f"{total:,} {'paper' if total == 1 else 'papers'}{said or ' on this shelf'}"


def _result(hit: dict[str, Any]) -> str:
    badge = ' <span class="badge">Retracted</span>' if hit.get("retracted") else ""
    place = f'<p class="facts">In section “{escape(hit["section"])}”</p>' if hit.get("section") else ""
    facts = escape(format_byline({**hit, "retracted": False}))
    return (
        f"<article><h2>{link(paper_address(hit['paper_id']), hit['title'])}{badge}</h2>"
        f'<p class="facts">{facts}</p><div class="found">{_passage(hit)}</div>{place}</article>'
    )


def _passage(hit: dict[str, Any]) -> str:
    shown = render_safe_html(hit["snippet_markdown"])
    return "" if hit["title"] == unescape_markdown(hit["snippet_markdown"].replace("**", "")) else shown


def _help(library: Library, query: str, filters: dict[str, str]) -> str:
    """Return what to do about a search without results: searches that find papers, and values to browse by."""
    parts = ["<h2>No paper matches</h2>"]
    smaller = _smaller_searches(library, query, filters)
    if smaller:
        parts.append(f'<p>These parts of the search find papers:</p><ul class="values">{smaller}</ul>')
    elif query:
        parts.append("<p>No paper has these words. Check the spelling, or use more general words.</p>")
    keywords = library.top_facets("keyword", limit=_KEYWORDS_OFFERED)["result"]
    if keywords:
        parts.append("<p>The most frequent keywords of this shelf:</p>")
        parts.append(value_links("keyword", {one["value"]: one["paper_count"] for one in keywords}))
    browse = ", ".join(link(f"/browse/{kind}", label.lower()) for kind, label in BROWSED.items())
    parts.append(f"<p>Or browse by {browse}, or see {link('/', 'all papers')}.</p>")
    return "".join(parts)


def _smaller_searches(library: Library, query: str, filters: dict[str, str]) -> str:
    """Return links to the parts of a search that find papers by themselves."""
    units = [part for part in _PART.findall(query) if part not in _OPERATORS and not part.startswith("-")]
    tried: list[tuple[str, dict[str, str]]] = [(query, {})] if query and filters else []
    tried += [(part, {}) for part in dict.fromkeys(units)] if len(units) > 1 else []
    tried += [("", {kind: value}) for kind, value in filters.items()] if query or len(filters) > 1 else []
    items: list[str] = []
    for words, kept in tried[:_PARTS_TRIED]:
        if total := library.search(words, limit=1, filters=kept)["total"]:
            name = words or ", ".join(f"{kind}: {value}" for kind, value in kept.items())
            items.append(f"<li>{link(search_address(words, kept), f'{name} ({total:,})')}</li>")
    return "".join(items)


def _values(library: Library, kind: str, offset: int) -> str:
    found = library.top_facets(kind, limit=FACETS, offset=offset)
    label = BROWSED[kind]
    others = " ".join(link(f"/browse/{other}", name) for other, name in BROWSED.items() if other != kind)
    links = [("Earlier", max(0, offset - FACETS))] if offset else []
    more = f'<p class="facts">{escape(found["more"])}</p>' if "more" in found else ""
    links += [("More", offset + FACETS)] if offset + FACETS < found["total"] and not more else []
    anchors = " · ".join(link(f"/browse/{kind}?offset={at}", name) for name, at in links)
    values = value_links(kind, {one["value"]: one["paper_count"] for one in found["result"]})
    empty = f"<p>No paper of this shelf has {label.lower()}.</p>"
    return make_page(
        label,
        f'<h1>{label}</h1><p class="facts">{plural(found["total"], "value")}, the most frequent first</p>'
        f'{values if found["result"] else empty}{more}<p class="more">{anchors}</p>'
        f'<nav class="contents" aria-label="Browse">{others}</nav>',
    )
