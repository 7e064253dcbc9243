"""HTML pages for people: search results, help for empty results, facet values, and each paper."""

import json
import re
from collections.abc import Callable
from html import escape
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from paper_library.api.html_page_frame import (
    FACET_LABELS,
    HEADERS,
    make_page,
    make_paper_address,
    make_search_address,
    render_external_link,
    render_link,
    render_value_links,
)
from paper_library.domain.citations import (
    FORMATS,
    format_authors_venue_year,
    get_or_make_citation_key,
    list_paper_links,
    make_identifier_url,
)
from paper_library.domain.excerpts import find_page_end
from paper_library.domain.limits import DEFAULT_PAGE_SIZE, FACETS, HTML_CHARS
from paper_library.domain.markdown import render_safe_html, unescape_markdown
from paper_library.domain.replies import Hit, StoredMetadata
from paper_library.errors import SourceNotAvailable
from paper_library.service.library import Library
from paper_library.service.worker_threads import WorkerThreads
from paper_library.store.layout import FACET_KINDS
from uraniborg.kernel.bibliography.editorial_notices import RETRACTIONS, EditorialNotice, name_status
from uraniborg.kernel.errors import UraniborgError, as_error
from uraniborg.kernel.json_values import Json
from uraniborg.kernel.language.messages import plural

_AUTHORS_SHOWN: Final = 12
_SIMILAR_SHOWN: Final = 5
_LABELS: Final = {"bibkey": "BibTeX key", "isbn": "ISBN", "issn": "ISSN"}


def make_paper_page(library: Library, paper: str, offset: int = 0) -> str:
    """Return the page of a paper with its text from `offset` on. Raise the errors of `Library.metadata`."""
    metadata = library.metadata(paper)
    sections = {
        "Abstract": f"<p>{escape(metadata['abstract'])}</p>" if metadata["abstract"] else "",
        "Cite": _render_citations(library, metadata),
        "Similar papers": _render_similar_papers(library, metadata["paper_id"]),
        **_render_text_section(library, metadata, offset),
    }
    present = {name: body for name, body in sections.items() if body}
    contents = " ".join(render_link(f"#{_make_anchor(name)}", name) for name in present)
    body = "".join(
        [
            f"<h1>{escape(metadata['title'])}</h1>{_render_notices(metadata)}{_render_authors(metadata['authors'])}",
            f'<p class="facts">{escape(_describe_publication(metadata))}</p>',
            f'<p class="facts">{_render_identifiers(metadata)}</p>',
            render_value_links("keyword", dict.fromkeys(metadata["keywords"]), "Keywords")
            if metadata["keywords"]
            else "",
            render_value_links("tag", dict.fromkeys(metadata["tags"]), "Tags") if metadata["tags"] else "",
            f'<p class="more">{_render_formats(metadata)}</p>',
            f'<nav class="contents" aria-label="On this page">{contents}</nav>',
            *(f'<section id="{_make_anchor(name)}"><h2>{name}</h2>{part}</section>' for name, part in present.items()),
        ]
    )
    return make_page(metadata["title"], body)


def _make_anchor(name: str) -> str:
    return name.split(maxsplit=1)[0].lower()


def _render_notices(metadata: StoredMetadata) -> str:
    """Return the editorial notices, the most serious first; retractions in red."""
    retraction = metadata.get("retraction")
    return "".join(map(_render_notice, metadata.get("notices") or ([retraction] if retraction else [])))


def _render_notice(notice: EditorialNotice) -> str:
    status, doi = notice["status"], notice.get("notice_doi", "")
    date, source = notice.get("date"), notice.get("source")
    facts = [escape(fact) for fact in (date, f"source: {source}" if source else "") if fact]
    facts += [f"notice: {render_external_link(make_identifier_url('doi', doi), doi)}"] if doi else []
    label = escape(name_status(status).capitalize())
    kind = "notice retracted" if status in RETRACTIONS else "notice"
    return f'<p class="{kind}" role="note">{" · ".join([f"<b>{label}</b>", *facts])}</p>'


def _render_authors(authors: list[str]) -> str:
    links = [render_link(make_search_address("", {"author": name}), name) for name in authors]
    if not links:
        return ""
    shown, rest = (links, []) if len(links) <= _AUTHORS_SHOWN + 2 else (links[:_AUTHORS_SHOWN], links[_AUTHORS_SHOWN:])
    more = f" <details><summary>and {len(rest):,} more</summary><div>{', '.join(rest)}</div></details>" if rest else ""
    return f'<div class="authors">{", ".join(shown)}{more}</div>'


def _describe_publication(metadata: StoredMetadata) -> str:
    issue = metadata.get("issue")
    volume = "".join((metadata.get("volume") or "", f"({issue})" if issue else ""))
    parts = (metadata["venue"], volume, metadata.get("pages"), metadata.get("publisher"), str(metadata["year"] or ""))
    return " · ".join(part for part in parts if part)


def _render_identifiers(metadata: StoredMetadata) -> str:
    ids = metadata["identifiers"]
    links = list_paper_links(ids)
    parts = [f"{link['label']}: {render_external_link(link['url'], link['text'])}" for link in links]
    linked = {link["scheme"] for link in links}
    others = (scheme for scheme in ids if scheme not in linked)
    parts += [f"{escape(_LABELS.get(scheme, scheme))}: {escape(ids[scheme])}" for scheme in others]
    return " · ".join(parts)


def _render_formats(metadata: StoredMetadata) -> str:
    address = f"/api/v1{make_paper_address(metadata['paper_id'])}"
    forms = {"JSON": address}
    for name in metadata["available_summary_templates"]:
        forms[f"Summary: {name}"] = f"{address}/summary/{quote(name, safe='')}"
    for lang in metadata["translations"]:
        forms[f"Translation: {lang}"] = f"{address}/translation/{quote(lang, safe='')}?format=html"
    return " · ".join(render_link(target, name) for name, target in forms.items())


def _render_citations(library: Library, metadata: StoredMetadata) -> str:
    address = f"/api/v1{make_paper_address(metadata['paper_id'])}/citation"
    parts: list[str] = []
    for name, form in FORMATS.items():
        file = f"{get_or_make_citation_key(metadata)}.{form.suffix}"
        text = library.citations([metadata["paper_id"]], name)
        parts.append(
            f"<details{' open' if name == 'bibtex' else ''}><summary>{form.label}</summary>"
            f'<pre class="citation">{escape(text.strip())}</pre>'
            f'<p class="more">{render_link(f"{address}/{name}", f"Download {form.label}", download=file)}</p></details>'
        )
    return "".join(parts)


def _render_similar_papers(library: Library, paper_id: str) -> str:
    items = [
        f"<li>{render_link(make_paper_address(hit['paper_id']), hit['title'])}"
        f'<p class="facts">{escape(format_authors_venue_year(hit))}</p></li>'
        for hit in library.find_similar(paper_id, limit=_SIMILAR_SHOWN)["results"]
    ]
    return f'<ul class="similar">{"".join(items)}</ul>' if items else ""


def _render_text_section(library: Library, metadata: StoredMetadata, offset: int) -> dict[str, str]:
    """Return the text section of the paper, or the running text of its summary if it has no text."""
    try:
        text = library.source(metadata["paper_id"])
    except SourceNotAvailable:
        summary = _get_summary_text(json.loads(library.summary(metadata["paper_id"])))
        return {"Summary": f'<div class="text">{render_safe_html(summary)}</div>'} if summary else {}
    start = min(offset, len(text))
    end = find_page_end(text, start)
    here = make_paper_address(metadata["paper_id"])
    steps = [render_link(f"{here}?offset={max(0, start - HTML_CHARS)}#text", "Earlier in the text")] if start else []
    steps += [render_link(f"{here}?offset={end}#text", "Continue reading")] if end < len(text) else []
    more = f'<p class="more">{" · ".join(steps)}</p>' if steps else ""
    shown = render_safe_html(text[start:end], library.make_citation_namer(metadata["paper_id"]))
    return {"Text": f'<div class="text">{shown}</div>{more}'}


def _get_summary_text(summary: Json) -> str:
    """Return the `summary` text of a summary, or an empty text."""
    text = summary.get("summary") if isinstance(summary, dict) else None
    return text if isinstance(text, str) else ""


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
