"""The page of one paper: what is known of it, how to cite it, papers like it, and its text."""

import json
from html import escape
from typing import Any, Final, cast
from urllib.parse import quote

from paper_library.errors import SourceNotAvailable
from paper_library.library import Library
from paper_library.limits import HTML_CHARS
from paper_library.page_frame import link, make_page, outside_link, paper_address, search_address, value_links
from paper_library.retraction import RETRACTIONS
from paper_library.text.bibtex import find_citation_key
from paper_library.text.bylines import format_byline
from paper_library.text.citations import FORMATS
from paper_library.text.markdown import render_safe_html

_AUTHORS_SHOWN: Final = 12
_SIMILAR_SHOWN: Final = 5
_SITES: Final = {
    "doi": ("DOI", "https://doi.org/"),
    "arxiv": ("arXiv", "https://arxiv.org/abs/"),
    "pmid": ("PubMed", "https://pubmed.ncbi.nlm.nih.gov/"),
    "pmcid": ("PubMed Central", "https://pmc.ncbi.nlm.nih.gov/articles/"),
    "url": ("URL", ""),
}
_NOTICE_FACTS: Final = {"date": "", "source": "source: "}
_LABELS: Final = {"bibkey": "BibTeX key", "isbn": "ISBN", "issn": "ISSN"}


def make_paper_page(library: Library, paper: str, offset: int = 0) -> str:
    """Return the page of a paper, its text from `offset` on. Raises as `Library.metadata` does."""
    known = library.metadata(paper)
    sections = {
        "Abstract": f"<p>{escape(known['abstract'])}</p>" if known["abstract"] else "",
        "Cite": _citations(library, known),
        "Similar papers": _similar(library, known["paper_id"]),
        **_text(library, known, offset),
    }
    present = {name: body for name, body in sections.items() if body}
    contents = " ".join(link(f"#{_anchor(name)}", name) for name in present)
    body = "".join(
        [
            f"<h1>{escape(known['title'])}</h1>{_notices(known)}{_authors(known['authors'])}",
            f'<p class="facts">{escape(_published(known))}</p><p class="facts">{_identifiers(known)}</p>',
            value_links("keyword", dict.fromkeys(known["keywords"]), "Keywords") if known["keywords"] else "",
            value_links("tag", dict.fromkeys(known["tags"]), "Tags") if known["tags"] else "",
            f'<p class="more">{_readings(known)}</p><nav class="contents" aria-label="On this page">{contents}</nav>',
            *(f'<section id="{_anchor(name)}"><h2>{name}</h2>{part}</section>' for name, part in present.items()),
        ]
    )
    return make_page(known["title"], body)


def _anchor(name: str) -> str:
    return name.split(maxsplit=1)[0].lower()


def _notices(known: dict[str, Any]) -> str:
    """Return the editorial notices, the gravest first; retractions in red."""
    retraction: dict[str, str] | None = known.get("retraction")
    return "".join(map(_notice, known.get("notices") or ([retraction] if retraction else [])))


def _notice(notice: dict[str, str]) -> str:
    status, doi = notice["status"], notice.get("notice_doi", "")
    facts = [escape(f"{label}{notice[name]}") for name, label in _NOTICE_FACTS.items() if notice.get(name)]
    facts += [f"notice: {outside_link(_address('https://doi.org/', doi), doi)}"] if doi else []
    label = "Expression of concern" if status == "concern" else status.replace("_", " ").capitalize()
    kind = "notice retracted" if status in RETRACTIONS else "notice"
    return f'<p class="{kind}" role="note">{" · ".join([f"<b>{escape(label)}</b>", *facts])}</p>'


def _authors(authors: list[str]) -> str:
    links = [link(search_address("", {"author": name}), name) for name in authors]
    if not links:
        return ""
    shown, rest = (links, []) if len(links) <= _AUTHORS_SHOWN + 2 else (links[:_AUTHORS_SHOWN], links[_AUTHORS_SHOWN:])
    more = f" <details><summary>and {len(rest):,} more</summary><div>{', '.join(rest)}</div></details>" if rest else ""
    return f'<div class="authors">{", ".join(shown)}{more}</div>'


def _published(known: dict[str, Any]) -> str:
    volume = "".join((known.get("volume") or "", f"({known['issue']})" if known.get("issue") else ""))
    parts = (known["venue"], volume, known.get("pages"), known.get("publisher"), str(known["year"] or ""))
    return " · ".join(part for part in parts if part)


def _identifiers(known: dict[str, Any]) -> str:
    ids: dict[str, str] = known["identifiers"]
    parts: list[str] = []
    for scheme, (label, site) in _SITES.items():
        if value := ids.get(scheme):
            parts.append(f"{label}: {outside_link(_address(site, value), value)}")
    others = (scheme for scheme in ids if scheme not in _SITES)
    parts += [f"{escape(_LABELS.get(scheme, scheme))}: {escape(ids[scheme])}" for scheme in others]
    return " · ".join(parts)


def _address(site: str, identifier: str) -> str:
    return site + quote(identifier, safe="/:;()") if site else identifier


def _readings(known: dict[str, Any]) -> str:
    """Return links to the other forms in which the paper can be read."""
    address = f"/api/v1{paper_address(known['paper_id'])}"
    forms = {"JSON": address}
    for name in known["available_summary_templates"]:
        forms[f"Summary: {name}"] = f"{address}/summary/{quote(name, safe='')}"
    for lang in known["translations"]:
        forms[f"Translation: {lang}"] = f"{address}/translation/{quote(lang, safe='')}?format=html"
    return " · ".join(link(target, name) for name, target in forms.items())


def _citations(library: Library, known: dict[str, Any]) -> str:
    address = f"/api/v1{paper_address(known['paper_id'])}/citation"
    parts: list[str] = []
    for name, form in FORMATS.items():
        file = f"{find_citation_key(known)}.{form.suffix}"
        text = library.citations([known["paper_id"]], name)
        parts.append(
            f"<details{' open' if name == 'bibtex' else ''}><summary>{form.label}</summary>"
            f'<pre class="citation">{escape(text.strip())}</pre>'
            f'<p class="more">{link(f"{address}/{name}", f"Download {form.label}", download=file)}</p></details>'
        )
    return "".join(parts)


def _similar(library: Library, paper_id: str) -> str:
    items = [
        f"<li>{link(paper_address(hit['paper_id']), hit['title'])}"
        f'<p class="facts">{escape(format_byline(hit))}</p></li>'
        for hit in library.similar(paper_id, limit=_SIMILAR_SHOWN)["results"]
    ]
    return f'<ul class="similar">{"".join(items)}</ul>' if items else ""


def _text(library: Library, known: dict[str, Any], offset: int) -> dict[str, str]:
    """Return the text of the paper under its heading, or the running text of its summary if it has none."""
    try:
        text = library.source(known["paper_id"])
    except SourceNotAvailable:
        summary = _running_text(json.loads(library.summary(known["paper_id"])))
        return {"Summary": f'<div class="text">{render_safe_html(summary)}</div>'} if summary else {}
    start = min(offset, len(text))
    end = start + HTML_CHARS
    if end < len(text) and (blank := text.rfind("\n\n", start + HTML_CHARS // 2, end)) > 0:
        end = blank + 2
    here = paper_address(known["paper_id"])
    steps = [link(f"{here}?offset={max(0, start - HTML_CHARS)}#text", "Earlier in the text")] if start else []
    steps += [link(f"{here}?offset={end}#text", "Read on")] if end < len(text) else []
    more = f'<p class="more">{" · ".join(steps)}</p>' if steps else ""
    return {"Text": f'<div class="text">{render_safe_html(text[start:end])}</div>{more}'}


def _running_text(summary: Any) -> str:
    """Return the running text of a summary, if it has one under the usual name."""
    text = cast("dict[str, Any]", summary).get("summary") if isinstance(summary, dict) else None
    return text if isinstance(text, str) else ""
