"""References: papers with a key, a kind and one-line fields, from which BibTeX, RIS and CSL-JSON are written."""

import re
from dataclasses import dataclass

_PAGE_RANGE = re.compile(r"([^\s–—-]+)\s*[–—-]+\s*([^\s–—-]+)")


@dataclass(frozen=True, slots=True)
class Reference:
    """A paper in a bibliography. Missing text is empty, never None."""

    key: str
    kind: str
    """One of: article, conference, preprint, book, chapter, thesis, dataset, report, other."""
    title: str
    authors: tuple[str, ...]
    year: int | None
    venue: str = ""
    volume: str = ""
    issue: str = ""
    pages: tuple[str, ...] = ()
    """First and last page, or one part that is not a range."""
    publisher: str = ""
    doi: str = ""
    url: str = ""
    arxiv: str = ""
    pmid: str = ""
    pmcid: str = ""
    language: str = ""
    abstract: str = ""
    keywords: tuple[str, ...] = ()
    has_more_authors: bool = False
    """True if `authors` names only the first authors."""
    editors: tuple[str, ...] = ()
    """Of a work without authors."""
    retraction: str = ""
    """The status of a retracted paper, such as `retracted` or `withdrawn`."""
    note: str = ""
    """The notices of a paper that is retracted or under concern, each with its source."""


def split_pages(text: str) -> tuple[str, ...]:
    """Return the first and the last page of a range, any other text as the only part, or () for an empty text."""
    if found := _PAGE_RANGE.fullmatch(text):
        return found[1], found[2]
    return (text,) if text else ()
