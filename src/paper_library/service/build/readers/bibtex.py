"""Read BibTeX files: each entry with its fields inherited and decoded, and its own text unchanged.

A chapter inherits fields from its book (crossref), any entry from an @xdata. BibTeX wants parents after their children,
so that children can be completed only at the end of the file. Until then both are in a temporary file: memory holds
only the position of each parent.
"""

import re
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from paper_library.domain.citations import remove_paper_id
from paper_library.domain.entries import BuildProblem, Entry
from paper_library.service.build.readers.bibtex_scanner import BibtexBlock, Damage, scan_blocks
from paper_library.service.build.readers.texts_and_dates import (
    parse_month,
    parse_year,
    parse_year_and_month,
    read_text_lines,
    yield_file_errors_as_problems,
)
from uraniborg.kernel.bibliography.editorial_notices import parse_notices_of_note
from uraniborg.kernel.bibliography.identifiers import ARXIV_ID, find_arxiv_in_text
from uraniborg.kernel.bibliography.latex import decode_latex, unescape_identifier
from uraniborg.kernel.bibliography.names import read_bibtex_names
from uraniborg.kernel.bibliography.plain_text import clean_line, clean_markdown_line, normalise_pages, split_list

COLLECTIONS = frozenset(("proceedings", "mvproceedings", "book", "mvbook", "collection", "mvcollection", "periodical"))
_INSIDE_A_BOOK = frozenset(("inproceedings", "conference", "incollection", "inbook", "suppcollection", "inreference"))
_INHERITED = ("year", "date", "month", "publisher", "series", "editor", "isbn")
_IN_MEMORY = 4 << 20
"""Of a smaller file nothing is written to disk."""

_Position = tuple[int, int]


class FieldInheritance:
    """The parents and children of one file."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile[bytes](max_size=_IN_MEMORY)
        self._size = 0
        self._parents: dict[str, _Position] = {}
        """By key: where the fields of the entry lie in the temporary file, and how long they are."""
        self._children: list[tuple[_Position, _Position | None]] = []
        """Where each child lies, and where it lies as a parent if it is one too."""
        self._latest: tuple[_Position, dict[str, str]] | None = None
        """The parent that was read last: the chapters of a book mostly follow one another."""

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()

    def store_parent_and_defer_child(self, block: BibtexBlock) -> bool:
        """Store a parent, a child or both; return True for a child, which is read later. Raise OSError."""
        as_parent = None
        if block.kind in COLLECTIONS or block.kind == "xdata":
            as_parent = self._parents[block.key.lower()] = self._write_value(block.fields)
        if not (block.fields.get("crossref") or block.fields.get("xdata")):
            return False
        position = self._write_value((block.kind, block.key, block.fields, block.text, block.line))
        self._children.append((position, as_parent))
        return True

    def read_deferred_children(self) -> Iterator[BibtexBlock]:
        """Yield the children with the fields that they inherit, in the order of the file. Raise OSError."""
        for position, as_parent in self._children:
            block = BibtexBlock(*self._read_value(position))
            self._inherit_fields(block)
            if as_parent and self._parents[block.key.lower()] == as_parent:
                # The children that follow inherit from its own parents too.
                self._parents[block.key.lower()] = self._write_value(block.fields)
            yield block

    def _inherit_fields(self, block: BibtexBlock) -> None:
        names = f"{block.fields.get('crossref', '')},{block.fields.get('xdata', '')}"
        for name in names.split(","):
            parent = self._read_parent_fields(name.strip().lower())
            if parent is None:
                continue
            for field in _INHERITED:
                if field in parent:
                    block.fields.setdefault(field, parent[field])
            if block.kind in _INSIDE_A_BOOK:
                block.fields.setdefault("booktitle", parent.get("booktitle") or parent.get("title", ""))
            if name.strip() == block.fields.get("xdata", "").strip():
                block.fields = parent | block.fields

    def _read_parent_fields(self, key: str) -> dict[str, str] | None:
        position = self._parents.get(key)
        if position is None:
            return None
        if self._latest is None or self._latest[0] != position:
            self._latest = position, self._read_value(position)
        return self._latest[1]

    def _write_value(self, value: Any) -> _Position:
        data = orjson.dumps(value)
        self._file.seek(self._size)
        self._file.write(data)
        position = self._size, len(data)
        self._size += len(data)
        return position

    def _read_value(self, position: _Position) -> Any:
        self._file.seek(position[0])
        return orjson.loads(self._file.read(position[1]))


_JOURNAL = ("journal", "journaltitle", "booktitle", "series")
_BOOK = ("booktitle", "journal", "journaltitle", "series", "publisher", "organization")
_SCHOOL = ("school", "institution", "publisher", "organization")
_INSTITUTION = ("institution", "organization", "publisher", "series", "howpublished")
_SERIES = ("series", "publisher", "organization", "booktitle")
_ANY = ("journal", "journaltitle", "booktitle", "howpublished", "publisher", "organization", "institution", "school")
_FIELDS = {
    "article": _JOURNAL,
    **dict.fromkeys(("inproceedings", "conference", "incollection", "inbook", "suppcollection", "inreference"), _BOOK),
    **dict.fromkeys(("phdthesis", "mastersthesis", "thesis"), _SCHOOL),
    **dict.fromkeys(("techreport", "report"), _INSTITUTION),
    **dict.fromkeys(("book", "mvbook", "collection", "mvcollection", "booklet", "manual"), _SERIES),
    **dict.fromkeys(("proceedings", "mvproceedings"), ("booktitle", *_SERIES)),
}
_LONE_MACRO = re.compile(r"\s*\{*\s*\\([a-zA-Z]+)\s*\}*\s*")
_LINK = re.compile(r"\\(?:url|href)\s*\{([^{}]*)\}")
_ADDRESS = re.compile(r"\\?(?:url|href)?\{?\s*(https?://[^\s{}]+)")

_ASTRONOMY_JOURNALS = {
    "aap": "Astronomy and Astrophysics",
    "aapr": "Astronomy and Astrophysics Reviews",
    "aaps": "Astronomy and Astrophysics Supplement",
    "actaa": "Acta Astronomica",
    "aj": "Astronomical Journal",
    "ao": "Applied Optics",
    "apj": "Astrophysical Journal",
    "apjl": "Astrophysical Journal Letters",
    "apjs": "Astrophysical Journal Supplement",
    "apss": "Astrophysics and Space Science",
    "araa": "Annual Review of Astronomy and Astrophysics",
    "gca": "Geochimica et Cosmochimica Acta",
    "grl": "Geophysical Research Letters",
    "icarus": "Icarus",
    "jcap": "Journal of Cosmology and Astroparticle Physics",
    "jcp": "Journal of Chemical Physics",
    "jgr": "Journal of Geophysical Research",
    "jqsrt": "Journal of Quantitative Spectroscopy and Radiative Transfer",
    "mnras": "Monthly Notices of the Royal Astronomical Society",
    "na": "New Astronomy",
    "nar": "New Astronomy Reviews",
    "nat": "Nature",
    "pasa": "Publications of the Astronomical Society of Australia",
    "pasj": "Publications of the Astronomical Society of Japan",
    "pasp": "Publications of the Astronomical Society of the Pacific",
    "physrep": "Physics Reports",
    "planss": "Planetary and Space Science",
    "pra": "Physical Review A",
    "prb": "Physical Review B",
    "prc": "Physical Review C",
    "prd": "Physical Review D",
    "pre": "Physical Review E",
    "prl": "Physical Review Letters",
    "procspie": "Proceedings of SPIE",
    "psj": "Planetary Science Journal",
    "qjras": "Quarterly Journal of the Royal Astronomical Society",
    "rmxaa": "Revista Mexicana de Astronomía y Astrofísica",
    "skytel": "Sky and Telescope",
    "solphys": "Solar Physics",
    "sovast": "Soviet Astronomy",
    "ssr": "Space Science Reviews",
}
"""The macros that ADS writes in place of journals; only astronomers' LaTeX classes know them."""


def find_venue(block: BibtexBlock) -> str:
    """Return the journal, book, school or institution, by the type of the entry, or an empty string."""
    for field in _FIELDS.get(block.kind, _ANY):
        value = block.fields.get(field)
        if not value or _ADDRESS.match(value):
            continue
        macro = _LONE_MACRO.fullmatch(value) if "\\" in value else None
        if venue := _ASTRONOMY_JOURNALS.get(macro[1], "") if macro else "":
            return venue
        if venue := clean_line(decode_latex(value)):
            return venue
    return ""


def find_url(fields: dict[str, str]) -> str:
    """Return the URL from its own field, or from the fields where older styles put it."""
    if url := fields.get("url"):
        link = _LINK.search(url)
        return clean_line(unescape_identifier(link[1] if link else url))
    for name in ("howpublished", "note"):
        value = fields.get(name, "")
        if link := _LINK.search(value) or _ADDRESS.match(value):
            return clean_line(unescape_identifier(link[1]))
    return ""


_NO_PAPERS = frozenset(("control", "ieeetranbstctl", "set", "xdata", "bibnote", "customa"))
_ARXIV_FIELDS = ("arxiv", "arxivid", "arxiv_id", "arxiv-id")
_CORR_VOLUME = re.compile(rf"abs/({ARXIV_ID})")


@yield_file_errors_as_problems
def read_entries(path: Path, origin: str) -> Iterator[Entry | BuildProblem]:
    """Yield every entry of a .bib file, and for each damaged entry a problem with its line."""
    found = False
    with closing(FieldInheritance()) as inheritance:
        for block in scan_blocks(read_text_lines(path)):
            found = True
            if isinstance(block, Damage):
                yield BuildProblem(f"{origin}:{block.line}", "broken", block.reason)
            elif not inheritance.store_parent_and_defer_child(block) and block.kind not in _NO_PAPERS:
                yield _read_entry(block, origin)
        for block in inheritance.read_deferred_children():
            yield _read_entry(block, origin)
    if not found:
        yield BuildProblem(origin, "skipped", "The file has no BibTeX entries. An entry begins like @article{key,")


def _read_entry(block: BibtexBlock, origin: str) -> Entry | BuildProblem:
    where = f"{origin}:{block.line}"
    entry = _make_entry(block, where)
    if not entry.title and not entry.abstract:
        key = f" {block.key!r}" if block.key else ""
        return BuildProblem(where, "broken", f"The entry{key} has no title. Add a title.")
    return entry


def _make_entry(block: BibtexBlock, where: str) -> Entry:
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


def _read_title(block: BibtexBlock) -> str:
    title, subtitle = _read_first_text(block.fields, "title"), _read_first_text(block.fields, "subtitle")
    if not title and (block.kind in COLLECTIONS or block.kind == "inbook"):
        return _read_first_text(block.fields, "chapter", "booktitle", "maintitle")
    return f"{title}: {subtitle}" if subtitle and subtitle.lower() not in title.lower() else title


def _read_authors(block: BibtexBlock) -> list[str]:
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


def _read_identifiers(block: BibtexBlock) -> dict[str, str]:
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
