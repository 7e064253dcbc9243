"""Reads BibTeX: each entry with its fields decoded and its own text unchanged."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from paper_library.build.entry import Entry, Problem
from paper_library.build.readers import tidy
from paper_library.build.readers.bibtex_blocks import Block, Damage, blocks
from paper_library.build.readers.bibtex_inheritance import COLLECTIONS, Inheritance
from paper_library.build.readers.bibtex_venues import address_of, venue_of
from paper_library.build.readers.dates import month_number, year_and_month, year_number
from paper_library.build.readers.files import tells_disk_errors, text_lines
from paper_library.build.readers.latex import decode, unescape
from paper_library.build.readers.names import bibtex_names
from paper_library.retraction import parse_note
from paper_library.text.bibtex import without_paper_id

_NO_PAPERS = frozenset(("control", "ieeetranbstctl", "set", "xdata", "bibnote", "customa"))
_ARXIV_FIELDS = ("arxiv", "arxivid", "arxiv_id", "arxiv-id")
_ARXIV_ID = re.compile(r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?")
_ARXIV_IN_TEXT = re.compile(rf"\barxiv(?::|\.org/(?:abs|pdf)/)\s*({_ARXIV_ID.pattern})", re.IGNORECASE)
_CORR_VOLUME = re.compile(rf"abs/({_ARXIV_ID.pattern})")


@tells_disk_errors
def read(path: Path, origin: str) -> Iterator[Entry | Problem]:
    """Yield every entry of a .bib file; a damaged one is a problem with its line, and costs no other."""
    found = False
    with closing(Inheritance()) as inheritance:
        for block in blocks(text_lines(path)):
            found = True
            if isinstance(block, Damage):
                yield Problem(f"{origin}:{block.line}", "broken", block.reason)
            elif not inheritance.park(block) and block.kind not in _NO_PAPERS:
                yield _read_block(block, origin)
        for block in inheritance.children():
            yield _read_block(block, origin)
    if not found:
        yield Problem(origin, "skipped", "It has no BibTeX entries. An entry begins like @article{key,")


def _read_block(block: Block, origin: str) -> Entry | Problem:
    where = f"{origin}:{block.line}"
    entry = _entry(block, where)
    if not entry.title and not entry.abstract:
        named = f" {block.key!r}" if block.key else ""
        return Problem(where, "broken", f"The entry{named} has no title. Give it one.")
    return entry


def _entry(block: Block, where: str) -> Entry:
    fields = block.fields
    year, month = _date(fields)
    return Entry(
        title=_title(block),
        authors=_authors(block),
        year=year,
        month=month,
        venue=venue_of(block),
        volume=_text(fields, "volume"),
        issue=_text(fields, "number", "issue"),
        pages=tidy.pages(_text(fields, "pages")),
        publisher=_text(fields, "publisher"),
        abstract=_text(fields, "abstract"),
        identifiers=_identifiers(block),
        keywords=_several(fields, "keywords", "keyword", "author_keywords"),
        tags=_several(fields, "tags", "mendeley-tags"),
        institutions=_institutions(fields),
        kind=block.kind,
        language=_text(fields, "language", "langid"),
        notices=[one for name in ("note", "addendum") for one in parse_note(_text(fields, name))],
        bibtex=without_paper_id(block.text),
        origin=where,
    )


def _title(block: Block) -> str:
    title, subtitle = _text(block.fields, "title"), _text(block.fields, "subtitle")
    if not title and (block.kind in COLLECTIONS or block.kind == "inbook"):
        return _text(block.fields, "chapter", "booktitle", "maintitle")
    return f"{title}: {subtitle}" if subtitle and subtitle.lower() not in title.lower() else title


def _authors(block: Block) -> list[str]:
    field = block.fields.get("author", "")
    if not field and block.kind in COLLECTIONS:
        field = block.fields.get("editor", "")
    # The word stands where an exporter had no author to name.
    return [] if field.strip(" {}").lower() == "unknown" else bibtex_names(field)


def _date(fields: dict[str, str]) -> tuple[int | None, int | None]:
    in_date, month_of_date = year_and_month(decode(fields.get("date") or ""))
    year = year_number(decode(fields.get("year") or "").strip())
    month = month_number(decode(fields.get("month") or "")) or year_and_month(decode(fields.get("year") or ""))[1]
    return (year or in_date), (month or month_of_date)


def _identifiers(block: Block) -> dict[str, str]:
    fields = block.fields
    found = {
        "bibkey": tidy.line(block.key),
        "paper_id": _identifier(fields, "paperid"),
        "doi": _identifier(fields, "doi"),
        "arxiv": _arxiv(fields),
        "pmid": _identifier(fields, "pmid"),
        "pmcid": _identifier(fields, "pmcid") or _identifier(fields, "pmc"),
        "isbn": _identifier(fields, "isbn"),
        "url": address_of(fields),
    }
    return {scheme: value for scheme, value in found.items() if value}


def _arxiv(fields: dict[str, str]) -> str:
    for name in _ARXIV_FIELDS:
        if value := _identifier(fields, name):
            return value
    eprint = _identifier(fields, "eprint")
    archive = (fields.get("archiveprefix") or fields.get("eprinttype") or "").strip(" {}").lower()
    if eprint and (archive == "arxiv" or (not archive and _ARXIV_ID.fullmatch(eprint))):
        return eprint
    for name in ("journal", "journaltitle", "howpublished", "url"):
        if match := _ARXIV_IN_TEXT.search(fields.get(name, "")):
            return match[1]
    volume = _CORR_VOLUME.fullmatch(fields.get("volume", "").strip())
    return volume[1] if volume and fields.get("journal", "").strip(" {}").lower() == "corr" else ""


def _institutions(fields: dict[str, str]) -> list[str]:
    named = (tidy.split_list(_text(fields, field), ";") for field in ("institution", "school", "affiliation"))
    return list(dict.fromkeys(name for names in named for name in names))


def _several(fields: dict[str, str], *names: str) -> list[str]:
    return list(dict.fromkeys(part for name in names for part in tidy.split_list(_text(fields, name))))


def _text(fields: dict[str, str], *names: str) -> str:
    for name in names:
        value = fields.get(name)
        if value and (text := tidy.line(decode(value))):
            return text
    return ""


def _identifier(fields: dict[str, str], name: str) -> str:
    value = fields.get(name)
    return tidy.line_of_markdown(unescape(value)) if value else ""  # a DOI may hold what looks like a tag
