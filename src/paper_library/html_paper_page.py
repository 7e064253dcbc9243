"""HTML page for one paper: metadata, citations, similar papers and text."""

import json
from html import escape
from typing import Final
from urllib.parse import quote

from paper_library.errors import SourceNotAvailable
from paper_library.html_page_frame import (
    make_page,
    make_paper_address,
    make_search_address,
    render_external_link,
    render_link,
    render_value_links,
)
from paper_library.library import Library
from paper_library.limits import HTML_CHARS
from paper_library.paper_links import list_paper_links, make_identifier_url
from paper_library.replies import StoredMetadata
from paper_library.text.bibtex_edits import get_or_make_citation_key
from paper_library.text.citation_lines import format_authors_venue_year
from paper_library.text.citations import FORMATS
from paper_library.text.excerpts import find_page_end
from paper_library.text.markdown import render_safe_html
from uraniborg.kernel.bibliography.editorial_notices import RETRACTIONS, EditorialNotice, name_status
from uraniborg.kernel.json_values import Json

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
