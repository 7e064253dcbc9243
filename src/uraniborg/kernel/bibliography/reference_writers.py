"""Write references as BibTeX that parses back to the same fields, as RIS, and as CSL-JSON."""

# rispy ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from bibtexparser.middlewares.names import InvalidNameError, parse_single_name_into_parts

from uraniborg.kernel.bibliography.latex import encode_latex, has_balanced_braces
from uraniborg.kernel.bibliography.names import split_name
from uraniborg.kernel.bibliography.references import Reference, clean_citation_key, make_citation_key
from uraniborg.kernel.json_values import JsonObject

_ENTRY_AND_VENUE_FIELD = {
    "article": ("article", "journal"),
    "conference": ("inproceedings", "booktitle"),
    "preprint": ("misc", "howpublished"),
    "book": ("book", "series"),
    "chapter": ("incollection", "booktitle"),
    "thesis": ("phdthesis", "school"),
    "dataset": ("misc", "howpublished"),
    "report": ("techreport", "institution"),
    "other": ("misc", "howpublished"),
}
_ENTRY_START = re.compile(r"@\s*\w*\s*[{(]")
_PUBLISHED_BY_THE_VENUE = ("thesis", "report")


def write_bibtex(
    references: Iterable[Reference], *, unknown_author: str = "Unknown", names_have_commas: bool = False
) -> str:
    """Return one BibTeX entry per reference, separated by blank lines; no references give an empty string.

    Text is LaTeX-escaped, `doi` and `url` are not. Titles are in double braces so that no style changes their
    capitals. A reference without authors has its editors, else `unknown_author`; empty fields are left out. A
    retraction is in `note`. With `names_have_commas` a name without a comma is an institution. Does not raise.
    """
    entries = (_format_entry(reference, unknown_author, names_have_commas) for reference in references)
    return "\n\n".join(entries)


def _format_entry(reference: Reference, unknown_author: str, names_have_commas: bool) -> str:
    entry_type, venue_field = _ENTRY_AND_VENUE_FIELD[reference.kind]
    people = _make_author_or_editor_field(reference, unknown_author, names_have_commas)
    fields = (people, *_list_fields(reference, venue_field))
    lines = [f"  {field} = {{{value}}}" for field, value in fields if value]
    key = clean_citation_key(reference.key) or make_citation_key(reference.authors, reference.year, reference.title)
    return f"@{entry_type}{{{key},\n" + ",\n".join(lines) + "\n}"


def _make_author_or_editor_field(reference: Reference, unknown_author: str, names_have_commas: bool) -> tuple[str, str]:
    """Return the field `editor` or `author` and its value."""
    names = [_format_name(name, needs_comma=names_have_commas) for name in reference.editors or reference.authors]
    if reference.editors:
        return "editor", " and ".join(names)
    return "author", " and ".join([*names, *(["others"] if reference.has_more_authors else [])]) or unknown_author


def _list_fields(reference: Reference, venue_field: str) -> Iterator[tuple[str, str]]:
    venue, publisher = reference.venue, reference.publisher
    if reference.kind in _PUBLISHED_BY_THE_VENUE:
        venue, publisher = publisher or venue, ""
    yield "title", reference.title and f"{{{encode_latex(reference.title)}}}"
    yield "year", "" if reference.year is None else str(reference.year)
    yield venue_field, encode_latex(venue)
    yield "volume", encode_latex(reference.volume)
    yield "number", encode_latex(reference.issue)
    yield "pages", "--".join(map(encode_latex, reference.pages))
    yield "publisher", encode_latex(publisher)
    yield "doi", _escape_identifier(reference.doi)
    yield "url", _encode_braces(reference.url)
    if reference.arxiv:
        yield "eprint", _escape_identifier(reference.arxiv)
        yield "archiveprefix", "arXiv"
    yield "keywords", ", ".join(map(encode_latex, reference.keywords))
    yield "note", encode_latex(reference.note)


@lru_cache(maxsize=16_384)
def _format_name(name: str, *, needs_comma: bool) -> str:
    """Return the name as LaTeX, in braces unless it is a person's and BibTeX splits it as `split_name` does."""
    latex = encode_latex(name)
    is_person = "," in name or not needs_comma
    return latex if is_person and _is_split_like_bibtex(name, latex) else f"{{{latex}}}"


def _is_split_like_bibtex(name: str, latex: str) -> bool:
    # `and others` is BibTeX's et al.; next to a word that starts with an escape, bibtexparser misses an `and`.
    if latex == "others" or " \\" in f" {latex}" or " and " in f" {latex} ".lower():
        return False
    try:
        parts = parse_single_name_into_parts(latex)
    except InvalidNameError:
        return False
    ours = split_name(name)
    theirs = (parts.last, parts.first, parts.von, parts.jr)
    return [encode_latex(part) for part in (ours.family, ours.given, ours.particle, ours.suffix)] == [
        " ".join(words) for words in theirs
    ]


def _escape_identifier(identifier: str) -> str:
    """Return an identifier as it is, or percent-encoded if its braces or an `@word{` break the entry."""
    is_safe = "\\" not in identifier and has_balanced_braces(identifier) and not _ENTRY_START.search(identifier)
    return identifier if is_safe else _encode_braces(identifier)


def _encode_braces(url: str) -> str:
    return url.replace("\\", "%5C").replace("{", "%7B").replace("}", "%7D")


_RIS_TYPES = {
    "article": "JOUR",
    "conference": "CPAPER",
    "preprint": "UNPB",
    "book": "BOOK",
    "chapter": "CHAP",
    "thesis": "THES",
    "dataset": "DATA",
    "report": "RPRT",
    "other": "GEN",
}


_RETRACTED = "Retracted Publication"
"""PubMed's name for this type of work, in the field where reference managers have the type."""


def write_ris(references: Iterable[Reference]) -> str:
    """Return one RIS record per reference, abstracts included; none give an empty string. Does not raise."""
    import rispy  # other formats do not need it

    class WriterWithoutHeader(rispy.RisWriter):
        def set_header(self, count: int) -> str:
            return ""

    return rispy.dumps([_make_record(reference) for reference in references], implementation=WriterWithoutHeader)


def _make_record(reference: Reference) -> dict[str, str | list[str]]:
    first_page, last_page = (*reference.pages, "", "")[:2]
    fields: dict[str, str | list[str]] = {
        "type_of_reference": _RIS_TYPES[reference.kind],
        "id": reference.key,
        "title": reference.title,
        "authors": [split_name(name).inverted for name in reference.authors],
        "secondary_authors": [split_name(name).inverted for name in reference.editors],
        "year": "" if reference.year is None else str(reference.year),
        "secondary_title": reference.venue,
        "volume": reference.volume,
        "number": reference.issue,
        "start_page": first_page,
        "end_page": last_page,
        "publisher": reference.publisher,
        "doi": reference.doi,
        "urls": [reference.url] if reference.url else [],
        "language": reference.language,
        "abstract": reference.abstract,
        "type_of_work": reference.retraction and _RETRACTED,
        "notes": [reference.note] if reference.note else [],
    }
    return {field: value for field, value in fields.items() if value}


_CSL_TYPES = {
    "article": "article-journal",
    "conference": "paper-conference",
    "preprint": "article",
    "book": "book",
    "chapter": "chapter",
    "thesis": "thesis",
    "dataset": "dataset",
    "report": "report",
    "other": "document",
}


def write_csl_json(references: Iterable[Reference]) -> str:
    """Return a JSON array with one CSL item per reference, its id the reference's key. Does not raise."""
    return json.dumps([_make_item(reference) for reference in references], ensure_ascii=False, indent=2)


def _make_item(reference: Reference) -> JsonObject:
    fields: JsonObject = {
        "id": reference.key,
        "citation-key": reference.key,
        "type": _CSL_TYPES[reference.kind],
        "title": reference.title,
        "author": [_make_name(name) for name in reference.authors],
        "editor": [_make_name(name) for name in reference.editors],
        "issued": {"date-parts": [[reference.year]]} if reference.year is not None else None,
        "container-title": reference.venue,
        "volume": reference.volume,
        "issue": reference.issue,
        "page": "-".join(reference.pages),
        "publisher": reference.publisher,
        "DOI": reference.doi,
        "URL": reference.url,
        "PMID": reference.pmid,
        "PMCID": reference.pmcid,
        "number": reference.arxiv and f"arXiv:{reference.arxiv}",
        "language": reference.language,
        "abstract": reference.abstract,
        "status": reference.retraction.replace("_", " "),
        "note": reference.note,
    }
    return {field: value for field, value in fields.items() if value}


def _make_name(text: str) -> JsonObject:
    name = split_name(text)
    if not name.given:
        return {"literal": text}
    parts = {
        "family": name.family,
        "given": name.given,
        "non-dropping-particle": name.particle,
        "suffix": name.suffix,
    }
    return {part: value for part, value in parts.items() if value}
