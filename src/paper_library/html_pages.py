"""HTML pages for people: search results, help for empty results, facet values and papers."""

import re
from collections.abc import Callable
from html import escape
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from paper_library.html_page_frame import (
    FACET_LABELS,
    HEADERS,
    make_page,
    make_paper_address,
    make_search_address,
    render_link,
    render_value_links,
)
from paper_library.html_paper_page import make_paper_page
from paper_library.library import Library
from paper_library.limits import DEFAULT_PAGE_SIZE, FACETS
from paper_library.replies import Hit
from paper_library.store.layout import FACET_KINDS
from paper_library.text.citation_lines import format_authors_venue_year
from paper_library.text.markdown import render_safe_html, unescape_markdown
from paper_library.worker_threads import WorkerThreads
from uraniborg.kernel.errors import UraniborgError, as_error
from uraniborg.kernel.text import plural

_PART: Final = re.compile(r'[^\s"]*"[^"]*"|\S+')
_OPERATORS: Final = frozenset({"AND", "OR", "NOT"})
_PARTS_TRIED: Final = 6
_KEYWORDS_SUGGESTED: Final = 15


def make_page_routes(library: Library, threads: WorkerThreads) -> list[BaseRoute]:
    async def show_results(request: Request) -> Response:
        return await _respond_with_page(threads, lambda: _make_results_page(library, request))

    async def show_values(request: Request) -> Response:
        return await _respond_with_page(
            threads, lambda: _make_facet_values_page(library, request.path_params["kind"], _parse_offset(request))
        )

    async def show_paper(request: Request) -> Response:
        return await _respond_with_page(
            threads, lambda: make_paper_page(library, request.path_params["paper_id"], _parse_offset(request))
        )

    return [Route("/", show_results), Route("/browse/{kind}", show_values), Route("/papers/{paper_id}", show_paper)]


async def _respond_with_page(threads: WorkerThreads, make_html: Callable[[], str]) -> Response:
    try:
        return HTMLResponse(await threads.run_fetch(make_html), headers=HEADERS)
    except UraniborgError as exc:
        error = as_error(exc)
        body = f"<h1>{escape(error.message)}</h1><p>{escape(error.hint)}</p>"
        return HTMLResponse(make_page("Error", body), status_code=error.status, headers=HEADERS)


def _parse_offset(request: Request) -> int:
    given = request.query_params.get("offset", "0")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 9 else 0


def _make_results_page(library: Library, request: Request) -> str:
    query, offset = request.query_params.get("q", ""), _parse_offset(request)
    filters = {kind: value for kind in FACET_KINDS if (value := request.query_params.get(kind, "").strip())}
    found = library.search(query, offset=offset, filters=filters)
    parts = [f'<p class="facts">{_render_count(found["total"], query, filters)}</p>']
    if meant := found.get("did_you_mean"):
        parts.append(f"<p>Did you mean {render_link(make_search_address(meant, filters), meant)}?</p>")
    parts += [f'<p class="facts">{escape(note)}</p>' for note in found["interpreted_query"]["ignored"]]
    parts += [_render_hit(hit) for hit in found["results"]]
    if not found["total"]:
        parts.append(_render_help_for_empty_results(library, found.get("did_you_mean") or query, filters))
    links = [("Earlier", max(0, offset - DEFAULT_PAGE_SIZE))] if offset else []
    links += [("More", found["next_offset"])] if found["next_offset"] is not None else []
    parts += [f'<p class="facts">{escape(found["more"])}</p>'] if "more" in found else []
    anchors = " · ".join(render_link(make_search_address(query, filters, at), name) for name, at in links)
    body = f'{"".join(parts)}<p class="more">{anchors}</p>'
    title = query or ", ".join(filters.values()) or "The shelf"
    return make_page(title, body, query=query, filters=filters, focus_search_box=not (query or filters))


def _render_count(total: int, query: str, filters: dict[str, str]) -> str:
    scope = f" for {escape(query)}" if query else ""
    if filters:
        scope += " with " + " and ".join(f"{kind} {escape(value)}" for kind, value in filters.items())
        scope += f" · {render_link(make_search_address(query), 'Search all papers')}"
    return f"{total:,} {'paper' if total == 1 else 'papers'}{scope or ' on this shelf'}"


def _render_hit(hit: Hit) -> str:
    badge = ' <span class="badge">Retracted</span>' if hit.get("retracted") else ""
    section = f'<p class="facts">In section “{escape(hit["section"])}”</p>' if hit["section"] else ""
    facts = escape(format_authors_venue_year({**hit, "retracted": False}))
    return (
        f"<article><h2>{render_link(make_paper_address(hit['paper_id']), hit['title'])}{badge}</h2>"
        f'<p class="facts">{facts}</p><div class="found">{_render_passage(hit)}</div>{section}</article>'
    )


def _render_passage(hit: Hit) -> str:
    shown = render_safe_html(hit["snippet_markdown"])
    return "" if hit["title"] == unescape_markdown(hit["snippet_markdown"].replace("**", "")) else shown


def _render_help_for_empty_results(library: Library, query: str, filters: dict[str, str]) -> str:
    """Return help for a search without results: smaller searches that match papers, and values to browse."""
    parts = ["<h2>No matching papers</h2>"]
    smaller = _render_smaller_searches(library, query, filters)
    if smaller:
        parts.append(f'<p>These parts of the search match papers:</p><ul class="values">{smaller}</ul>')
    elif query:
        parts.append("<p>No paper has these words. Check the spelling or use more general words.</p>")
    keywords = library.top_facets("keyword", limit=_KEYWORDS_SUGGESTED)["result"]
    if keywords:
        parts.append("<p>The most frequent keywords on this shelf:</p>")
        parts.append(render_value_links("keyword", {one["value"]: one["paper_count"] for one in keywords}))
    browse = ", ".join(render_link(f"/browse/{kind}", label.lower()) for kind, label in FACET_LABELS.items())
    parts.append(f"<p>Or browse by {browse}, or see {render_link('/', 'all papers')}.</p>")
    return "".join(parts)


def _render_smaller_searches(library: Library, query: str, filters: dict[str, str]) -> str:
    """Return links to the parts of a search that match papers by themselves."""
    units = [part for part in _PART.findall(query) if part not in _OPERATORS and not part.startswith("-")]
    tried: list[tuple[str, dict[str, str]]] = [(query, {})] if query and filters else []
    tried += [(part, {}) for part in dict.fromkeys(units)] if len(units) > 1 else []
    tried += [("", {kind: value}) for kind, value in filters.items()] if query or len(filters) > 1 else []
    items: list[str] = []
    for words, kinds in tried[:_PARTS_TRIED]:
        if total := library.search(words, limit=1, filters=kinds)["total"]:
            name = words or ", ".join(f"{kind}: {value}" for kind, value in kinds.items())
            items.append(f"<li>{render_link(make_search_address(words, kinds), f'{name} ({total:,})')}</li>")
    return "".join(items)


def _make_facet_values_page(library: Library, kind: str, offset: int) -> str:
    found = library.top_facets(kind, limit=FACETS, offset=offset)
    label = FACET_LABELS[kind]
    others = " ".join(render_link(f"/browse/{other}", name) for other, name in FACET_LABELS.items() if other != kind)
    links = [("Earlier", max(0, offset - FACETS))] if offset else []
    more = f'<p class="facts">{escape(found["more"])}</p>' if "more" in found else ""
    links += [("More", offset + FACETS)] if offset + FACETS < found["total"] and not more else []
    anchors = " · ".join(render_link(f"/browse/{kind}?offset={at}", name) for name, at in links)
    values = render_value_links(kind, {one["value"]: one["paper_count"] for one in found["result"]})
    empty = f"<p>No paper on this shelf has {label.lower()}.</p>"
    return make_page(
        label,
        f'<h1>{label}</h1><p class="facts">{plural(found["total"], "value")}, the most frequent first</p>'
        f'{values if found["result"] else empty}{more}<p class="more">{anchors}</p>'
        f'<nav class="contents" aria-label="Browse">{others}</nav>',
    )
