"""A paper as a bibliography needs it: a key, a kind and clean one-line fields, shared by BibTeX, RIS and CSL."""

import re
from dataclasses import dataclass

from paper_search.export.citekeys import citation_keys
from paper_search.export.text import names_of, one_line
from paper_search.models import Paper, PaperCollection, WorkType
from paper_search.notices import describe_notices

_PAGE_RANGE = re.compile(r"([^\s–—-]+)\s*[–—-]+\s*([^\s–—-]+)")


@dataclass(frozen=True, slots=True)
class Reference:
    """Missing text is empty, never None."""

    key: str
    kind: WorkType
    title: str
    authors: tuple[str, ...]
    editors: tuple[str, ...]
    """Of a work without authors."""
    year: int | None
    venue: str
    volume: str
    issue: str
    pages: tuple[str, ...]
    """First and last page, or one part that is no range."""
    publisher: str
    doi: str
    url: str
    arxiv: str
    pmid: str
    pmcid: str
    language: str
    abstract: str
    retraction: str
    """The status of a retracted paper, such as `retracted` or `withdrawn`."""
    note: str
    """The notices of a paper that is retracted or under concern, each with its source."""


def references(collection: PaperCollection) -> list[Reference]:
    """Every paper of the collection, in order, with its unique key."""
    keys = citation_keys(collection.papers)
    return [_reference(paper, key) for paper, key in zip(collection.papers, keys, strict=True)]


def _reference(paper: Paper, key: str) -> Reference:
    authors, editors = names_of(paper.authors), names_of(paper.editors)
    return Reference(
        key=key,
        kind=_kind(paper),
        title=one_line(paper.title),
        authors=authors,
        editors=() if authors else editors,
        year=paper.year,
        venue=one_line(paper.venue),
        volume=one_line(paper.volume),
        issue=one_line(paper.issue),
        pages=_pages(one_line(paper.pages)),
        publisher=one_line(paper.publisher),
        doi=one_line(paper.doi),
        url=one_line(paper.full_text_url).replace(" ", "%20"),
        arxiv=one_line(paper.identifiers.get("arxiv")),
        pmid=one_line(paper.identifiers.get("pmid")),
        pmcid=one_line(paper.identifiers.get("pmcid")),
        language=one_line(paper.language),
        abstract=one_line(paper.abstract),
        retraction=paper.retraction.status.value if paper.retraction else "",
        note=one_line(describe_notices(paper.notices)),
    )


def _kind(paper: Paper) -> WorkType:
    if paper.work_type is not None:
        return paper.work_type
    only_on_arxiv = "arxiv" in paper.identifiers and not paper.venue
    return WorkType.PREPRINT if only_on_arxiv else WorkType.ARTICLE


def _pages(text: str) -> tuple[str, ...]:
    if found := _PAGE_RANGE.fullmatch(text):
        return found[1], found[2]
    return (text,) if text else ()
