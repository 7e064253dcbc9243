"""Read BibTeX files: each entry with its fields decoded and its own text unchanged."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from paper_library.build.entry import Entry, Problem
from paper_library.build.readers.bibtex_inheritance import COLLECTIONS, FieldInheritance
from paper_library.build.readers.bibtex_scanner import Block, Damage, scan_blocks
from paper_library.build.readers.bibtex_venue_and_url import find_url, find_venue
from paper_library.build.readers.dates import parse_month, parse_year, parse_year_and_month
from paper_library.build.readers.text_files import read_text_lines, yield_file_errors_as_problems
from paper_library.text.bibtex_edits import remove_paper_id
from uraniborg.kernel.bibliography.author_lists import read_bibtex_names
from uraniborg.kernel.bibliography.clean_text import clean_line, clean_markdown_line, normalise_pages, split_list
from uraniborg.kernel.bibliography.editorial_notices import parse_notices_of_note
from uraniborg.kernel.bibliography.identifiers import ARXIV_ID, find_arxiv_in_text
from uraniborg.kernel.bibliography.latex import decode_latex, unescape_identifier

_NO_PAPERS = frozenset(("control", "ieeetranbstctl", "set", "xdata", "bibnote", "customa"))
_ARXIV_FIELDS = ("arxiv", "arxivid", "arxiv_id", "arxiv-id")
_CORR_VOLUME = re.compile(rf"abs/({ARXIV_ID})")


@yield_file_errors_as_problems
def read_entries(path: Path, origin: str) -> Iterator[Entry | Problem]:
    """Yield every entry of a .bib file, and for each damaged entry a problem with its line."""
    found = False
    with closing(FieldInheritance()) as inheritance:
        for block in scan_blocks(read_text_lines(path)):
            found = True
            if isinstance(block, Damage):
                yield Problem(f"{origin}:{block.line}", "broken", block.reason)
            elif not inheritance.store_parent_and_defer_child(block) and block.kind not in _NO_PAPERS:
                yield _read_entry(block, origin)
        for block in inheritance.read_deferred_children():
            yield _read_entry(block, origin)
    if not found:
        yield Problem(origin, "skipped", "The file has no BibTeX entries. An entry begins like @article{key,")


def _read_entry(block: Block, origin: str) -> Entry | Problem:
    where = f"{origin}:{block.line}"
    entry = _make_entry(block, where)
    if not entry.title and not entry.abstract:
        key = f" {block.key!r}" if block.key else ""
        return Problem(where, "broken", f"The entry{key} has no title. Add a title.")
    return entry


def _make_entry(block: Block, where: str) -> Entry:
    fields = block.fields
    year, month = _read_date(fields)
    return Entry(
        title=_read_title(block),
        authors=_read_authors(block),
        year=year,
        month=month,
        venue=find_venue(block),
        volume=_read_first_text(fields, "volume"),
        issue=_read_first_text(fields, "number", "issue"),
        pages=normalise_pages(_read_first_text(fields, "pages")),
        publisher=_read_first_text(fields, "publisher"),
        abstract=_read_first_text(fields, "abstract"),
        identifiers=_read_identifiers(block),
        keywords=_read_lists(fields, "keywords", "keyword", "author_keywords"),
        tags=_read_lists(fields, "tags", "mendeley-tags"),
        institutions=_read_institutions(fields),
        kind=block.kind,
        language=_read_first_text(fields, "language", "langid"),
        notices=[
            notice for name in ("note", "addendum") for notice in parse_notices_of_note(_read_first_text(fields, name))
        ],
        bibtex=remove_paper_id(block.text),
        origin=where,
    )


def _read_title(block: Block) -> str:
    title, subtitle = _read_first_text(block.fields, "title"), _read_first_text(block.fields, "subtitle")
    if not title and (block.kind in COLLECTIONS or block.kind == "inbook"):
        return _read_first_text(block.fields, "chapter", "booktitle", "maintitle")
    return f"{title}: {subtitle}" if subtitle and subtitle.lower() not in title.lower() else title


def _read_authors(block: Block) -> list[str]:
    field = block.fields.get("author", "")
    if not field and block.kind in COLLECTIONS:
        field = block.fields.get("editor", "")
    # Exporters write this word for a missing author.
    return [] if field.strip(" {}").lower() == "unknown" else read_bibtex_names(field)


def _read_date(fields: dict[str, str]) -> tuple[int | None, int | None]:
    in_date, month_of_date = parse_year_and_month(decode_latex(fields.get("date") or ""))
    year = parse_year(decode_latex(fields.get("year") or "").strip())
    month = (
        parse_month(decode_latex(fields.get("month") or ""))
        or parse_year_and_month(decode_latex(fields.get("year") or ""))[1]
    )
    return (year or in_date), (month or month_of_date)


def _read_identifiers(block: Block) -> dict[str, str]:
    fields = block.fields
    found = {
        "bibkey": clean_line(block.key),
        "paper_id": _read_identifier(fields, "paperid"),
        "doi": _read_identifier(fields, "doi"),
        "arxiv": _find_arxiv_id(fields),
        "pmid": _read_identifier(fields, "pmid"),
        "pmcid": _read_identifier(fields, "pmcid") or _read_identifier(fields, "pmc"),
        "isbn": _read_identifier(fields, "isbn"),
        "url": find_url(fields),
    }
    return {scheme: value for scheme, value in found.items() if value}


def _find_arxiv_id(fields: dict[str, str]) -> str:
    for name in _ARXIV_FIELDS:
        if value := _read_identifier(fields, name):
            return value
    eprint = _read_identifier(fields, "eprint")
    archive = (fields.get("archiveprefix") or fields.get("eprinttype") or "").strip(" {}").lower()
    if eprint and (archive == "arxiv" or (not archive and re.fullmatch(ARXIV_ID, eprint))):
        return eprint
    for name in ("journal", "journaltitle", "howpublished", "url"):
        if arxiv := find_arxiv_in_text(fields.get(name, "")):
            return arxiv
    volume = _CORR_VOLUME.fullmatch(fields.get("volume", "").strip())
    return volume[1] if volume and fields.get("journal", "").strip(" {}").lower() == "corr" else ""


def _read_institutions(fields: dict[str, str]) -> list[str]:
    named = (split_list(_read_first_text(fields, field), ";") for field in ("institution", "school", "affiliation"))
    return list(dict.fromkeys(name for names in named for name in names))


def _read_lists(fields: dict[str, str], *names: str) -> list[str]:
    return list(dict.fromkeys(part for name in names for part in split_list(_read_first_text(fields, name))))


def _read_first_text(fields: dict[str, str], *names: str) -> str:
    for name in names:
        value = fields.get(name)
        if value and (text := clean_line(decode_latex(value))):
            return text
    return ""


def _read_identifier(fields: dict[str, str], name: str) -> str:
    value = fields.get(name)
    return (
        clean_markdown_line(unescape_identifier(value)) if value else ""
    )  # a DOI can contain text that looks like a tag
