"""A collection as a Markdown table that no title can break."""

import re

from paper_search.models import Author, PaperCollection
from uraniborg.kernel.bibliography.text import one_line

_HEADER = "| # | Title | Authors | Year | Venue | Score |"
_SEPARATOR = "|---|-------|---------|------|-------|-------|"
_MOST_AUTHORS = 3

_BIDI_OVERRIDES = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_SPECIAL = re.compile(r"[\\`*|\[\]]|(?<![^\W_])_|_(?![^\W_])|~(?=~)|(?<=~)~")


def export_markdown(collection: PaperCollection) -> str:
    """A table with one row per paper; an empty collection gives header and separator. Does not raise."""
    rows = [
        f"| {number} | {cell(paper.title)} | {cell(_short(paper.authors))} | {paper.year or '-'} "
        f"| {cell(paper.venue)} | {paper.relevance_score:.2f} |"
        for number, paper in enumerate(collection.papers, 1)
    ]
    return "\n".join([_HEADER, _SEPARATOR, *rows])


def cell(text: str | None) -> str:
    """Text as the content of one table cell: shown as it is, with no markup, link, image or HTML taking effect."""
    plain = one_line(_BIDI_OVERRIDES.sub("", text or ""))
    escaped = _SPECIAL.sub(r"\\\g<0>", _ENTITY.sub("&amp;", plain))
    return escaped.replace("<", "&lt;") or "-"


def _short(authors: list[Author]) -> str:
    names = [name for author in authors if (name := one_line(author.name))]
    return f"{names[0]} et al." if len(names) > _MOST_AUTHORS else ", ".join(names)
