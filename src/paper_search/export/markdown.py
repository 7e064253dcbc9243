"""A collection as a Markdown table that no title can break."""

import re

from paper_search.editorial_notices import mark_title
from paper_search.models import Paper, PaperCollection
from paper_search.recordings import find_offline_notice
from uraniborg.kernel.bibliography.one_line_text import clean_names, to_one_line

_HEADER = "| # | Title | Authors | Year | Venue | Score |"
_SEPARATOR = "|---|-------|---------|------|-------|-------|"
_MOST_AUTHORS = 3

_BIDI_OVERRIDES = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_SPECIAL = re.compile(r"[\\`*|\[\]]|(?<![^\W_])_|_(?![^\W_])|~(?=~)|(?<=~)~")


def export_markdown(collection: PaperCollection) -> str:
    """Return a table with one row per paper; an empty collection gives header and separator. Does not raise.

    The title of a retracted paper begins with `RETRACTED: `, `WITHDRAWN: ` and so on. The table of an offline trial
    follows its notice.
    """
    notice = find_offline_notice(collection.metadata.notes)
    rows = [_format_row(number, paper) for number, paper in enumerate(collection.papers, 1)]
    return "\n".join([*([notice, ""] if notice else []), _HEADER, _SEPARATOR, *rows])


def _format_row(number: int, paper: Paper) -> str:
    title = mark_title(paper.title, paper.retraction and paper.retraction.status)
    return (
        f"| {number} | {format_markdown_cell(title)} | {format_markdown_cell(_format_people(paper))} "
        f"| {paper.year or '-'} | {format_markdown_cell(paper.venue)} | {paper.relevance_score:.2f} |"
    )


def format_markdown_cell(text: str | None) -> str:
    """Return text as the content of one table cell, with all markup, links, images and HTML escaped."""
    plain = to_one_line(_BIDI_OVERRIDES.sub("", text or ""))
    escaped = _SPECIAL.sub(r"\\\g<0>", _ENTITY.sub("&amp;", plain))
    return escaped.replace("<", "&lt;") or "-"


def _format_people(paper: Paper) -> str:
    if authors := clean_names(author.name for author in paper.authors):
        return _shorten_names(authors)
    editors = clean_names(editor.name for editor in paper.editors)
    return f"{_shorten_names(editors)} ({'ed.' if len(editors) == 1 else 'eds.'})" if editors else ""


def _shorten_names(names: tuple[str, ...]) -> str:
    return f"{names[0]} et al." if len(names) > _MOST_AUTHORS else ", ".join(names)
