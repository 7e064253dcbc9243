"""A collection as BibTeX that parses back to the same titles, authors, years and DOIs."""

from collections.abc import Iterator
from functools import lru_cache

from bibtexparser.middlewares.names import InvalidNameError, parse_single_name_into_parts

from paper_search.export.latex import braces_balance, encode
from paper_search.export.references import references
from paper_search.models import PaperCollection, WorkType
from uraniborg.kernel.bibliography.names import split_name
from uraniborg.kernel.bibliography.references import Reference

_ENTRY_AND_VENUE_FIELD: dict[str, tuple[str, str]] = {
    WorkType.ARTICLE: ("article", "journal"),
    WorkType.CONFERENCE: ("inproceedings", "booktitle"),
    WorkType.PREPRINT: ("misc", "howpublished"),
    WorkType.BOOK: ("book", "series"),
    WorkType.CHAPTER: ("incollection", "booktitle"),
    WorkType.THESIS: ("phdthesis", "school"),
    WorkType.DATASET: ("misc", "howpublished"),
    WorkType.REPORT: ("techreport", "institution"),
    WorkType.OTHER: ("misc", "howpublished"),
}
_PUBLISHED_BY_THE_VENUE = (WorkType.THESIS, WorkType.REPORT)


def export_bibtex(collection: PaperCollection) -> str:
    """One BibTeX entry per paper, a blank line between; an empty collection gives an empty string.

    Keys are `family_year_word` (see `citation_keys`). Text is LaTeX-escaped, `doi` and `url` are not. Titles stand in
    double braces so that no style changes their capitals; a paper without authors has its editors, else it is by
    `Unknown`; what is missing is left out. A retraction is in `note`. Does not raise.
    """
    return "\n\n".join(_entry(reference) for reference in references(collection))


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
