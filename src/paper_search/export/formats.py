"""Export a collection as BibTeX, RIS, CSL-JSON, a Markdown table, and JSON that reads back as the same collection."""

import re

from paper_search.citation_keys import citation_keys
from paper_search.editorial_notices import describe_notices, mark_title
from paper_search.models import Paper, PaperCollection, WorkType
from paper_search.recordings import find_offline_notice
from uraniborg.kernel.bibliography.plain_text import clean_names, to_one_line
from uraniborg.kernel.bibliography.references import Reference, split_pages


def export_bibtex(collection: PaperCollection) -> str:
    """Return one BibTeX entry per paper, a blank line between; no papers give an empty string. Does not raise.

    Keys are `family_year_word` (see `citation_keys`); `write_bibtex` describes the other fields.
    """
    from uraniborg.kernel.bibliography.reference_writers import write_bibtex

    return write_bibtex(make_references(collection))


def export_ris(collection: PaperCollection) -> str:
    """Return one RIS record per paper, abstracts included; no papers give an empty string. Does not raise."""
    from uraniborg.kernel.bibliography.reference_writers import write_ris

    return write_ris(make_references(collection))


def export_csl_json(collection: PaperCollection) -> str:
    """Return a JSON array with one CSL item per paper, its id the BibTeX key. Does not raise."""
    from uraniborg.kernel.bibliography.reference_writers import write_csl_json

    return write_csl_json(make_references(collection))


def make_references(collection: PaperCollection) -> list[Reference]:
    """Return every paper of the collection, in order, with its unique key; those of a trial have its notice as note."""
    keys = citation_keys(collection.papers)
    notice = find_offline_notice(collection.metadata.notes)
    return [_make_reference(paper, key, notice) for paper, key in zip(collection.papers, keys, strict=True)]


def _make_reference(paper: Paper, key: str, notice: str | None) -> Reference:
    authors, editors = clean_names(a.name for a in paper.authors), clean_names(e.name for e in paper.editors)
    return Reference(
        key=key,
        kind=_choose_work_type(paper),
        title=to_one_line(paper.title),
        authors=authors,
        editors=() if authors else editors,
        year=paper.year,
        venue=to_one_line(paper.venue),
        volume=to_one_line(paper.volume),
        issue=to_one_line(paper.issue),
        pages=split_pages(to_one_line(paper.pages)),
        publisher=to_one_line(paper.publisher),
        doi=to_one_line(paper.doi),
        url=to_one_line(paper.full_text_url).replace(" ", "%20"),
        arxiv=to_one_line(paper.identifiers.get("arxiv")),
        pmid=to_one_line(paper.identifiers.get("pmid")),
        pmcid=to_one_line(paper.identifiers.get("pmcid")),
        language=to_one_line(paper.language),
        abstract=to_one_line(paper.abstract),
        retraction=paper.retraction.status.value if paper.retraction else "",
        note=to_one_line(" ".join(filter(None, (describe_notices(paper.notices), notice)))),
    )


def _choose_work_type(paper: Paper) -> WorkType:
    if paper.work_type is not None:
        return paper.work_type
    only_on_arxiv = "arxiv" in paper.identifiers and not paper.venue
    return WorkType.PREPRINT if only_on_arxiv else WorkType.ARTICLE


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


def export_json(collection: PaperCollection, indent: int = 2) -> str:
    """Return the collection as JSON."""
    return collection.model_dump_json(indent=indent)
