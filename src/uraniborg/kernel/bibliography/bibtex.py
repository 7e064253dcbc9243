"""References as BibTeX that parses back to the same titles, authors, years and DOIs."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from bibtexparser.middlewares.names import InvalidNameError, parse_single_name_into_parts

from uraniborg.kernel.bibliography.latex import braces_balance, encode
from uraniborg.kernel.bibliography.names import split_name
from uraniborg.kernel.bibliography.references import Reference

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
_PUBLISHED_BY_THE_VENUE = ("thesis", "report")


def write_bibtex(references: Iterable[Reference]) -> str:
    """Return one BibTeX entry per reference, a blank line between; none give an empty string.

    Text is LaTeX-escaped, `doi` and `url` are not. Titles stand in double braces so that no style changes their
    capitals; a reference without authors has its editors, else it is by `Unknown`; what is missing is left out. A
    retraction is in `note`. Does not raise.
    """
    return "\n\n".join(map(_entry, references))


def _entry(reference: Reference) -> str:
    entry_type, venue_field = _ENTRY_AND_VENUE_FIELD[reference.kind]
    lines = [f"  {field} = {{{value}}}" for field, value in _fields(reference, venue_field) if value]
    return f"@{entry_type}{{{reference.key},\n" + ",\n".join(lines) + "\n}"


def _fields(reference: Reference, venue_field: str) -> Iterator[tuple[str, str]]:
    venue, publisher = reference.venue, reference.publisher
    if reference.kind in _PUBLISHED_BY_THE_VENUE:
        venue, publisher = publisher or venue, ""
    if reference.editors:
        yield "editor", " and ".join(map(_author, reference.editors))
    else:
        yield "author", " and ".join(map(_author, reference.authors)) or "Unknown"
    yield "title", reference.title and f"{{{encode(reference.title)}}}"
    yield "year", "" if reference.year is None else str(reference.year)
    yield venue_field, encode(venue)
    yield "volume", encode(reference.volume)
    yield "number", encode(reference.issue)
    yield "pages", "--".join(map(encode, reference.pages))
    yield "publisher", encode(publisher)
    yield "doi", _verbatim(reference.doi)
    yield "url", _verbatim(reference.url)
    if reference.arxiv:
        yield "eprint", _verbatim(reference.arxiv)
        yield "archiveprefix", "arXiv"
    yield "keywords", ", ".join(map(encode, reference.keywords))
    yield "note", encode(reference.note)


@lru_cache(maxsize=16_384)
def _author(name: str) -> str:
    """The name as it was given, in braces unless BibTeX splits it as we do."""
    latex = encode(name)
    return latex if _bibtex_agrees(name, latex) else f"{{{latex}}}"


def _bibtex_agrees(name: str, latex: str) -> bool:
    # `and others` is BibTeX's et al.; next to a word that begins with an escape, bibtexparser misses an `and`.
    if latex == "others" or " \\" in f" {latex}" or " and " in f" {latex} ".lower():
        return False
    try:
        parts = parse_single_name_into_parts(latex)
    except InvalidNameError:
        return False
    ours = split_name(name)
    theirs = (parts.last, parts.first, parts.von, parts.jr)
    return [encode(part) for part in (ours.family, ours.given, ours.particle, ours.suffix)] == [
        " ".join(words) for words in theirs
    ]


def _verbatim(identifier: str) -> str:
    """A DOI or address unescaped, save that what would break the entry is percent-encoded."""
    if "\\" not in identifier and braces_balance(identifier):
        return identifier
    return identifier.replace("\\", "%5C").replace("{", "%7B").replace("}", "%7D")
