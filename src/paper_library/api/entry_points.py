"""Offer the shelf to other parts, through entry points: as a source of paper searches, and the texts of papers.

The source answers Boolean queries as they are written; `service.page_ranking` describes which papers match.
"""

import asyncio
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Final

from typing_extensions import TypedDict

from paper_library.config import find_stated_address, get_sample_shelf_path, load_config
from paper_library.domain.citations import get_or_make_citation_key
from paper_library.domain.limits import PAGE_SIZE, SOURCE_PAPERS
from paper_library.errors import PaperNotFound, ShelfNotFound, SourceNotAvailable
from uraniborg.kernel.bibliography.editorial_notices import STATUSES, EditorialNotice
from uraniborg.kernel.language.words import split_words

if TYPE_CHECKING:
    from paper_library.domain.replies import StoredMetadata
    from paper_library.service.library import BooleanMatches, Library


_SHARED: Final = ("doi", "arxiv", "pmid", "pmcid")
_WEB: Final = ("http://", "https://")


class ShelfSource:
    """A search source for the shelf of the settings, or for the sample shelf."""

    source_name = "library"
    kind = "boolean"
    capabilities = frozenset({"year", "not"})
    remark = "Compared with titles, abstracts, keywords, tags, authors, venues and identifiers, not with full texts."

    def is_ready(self) -> bool:
        """Return True if the settings name a shelf; the sample shelf is used only on request."""
        return load_config().shelf is not None

    async def search_advanced(self, strategy: "SentStrategy") -> "ShelfSourceReply":
        """Return the best papers for the query of `strategy` (`papers`) and the number of all that match (`total`).

        `stopped` is `source_limit` if the shelf gives out fewer papers than are wanted, otherwise None. The papers for
        several queries are joined, the best of each first; their total is None if some of them are not returned.
        Raise OutOfBounds and the errors of `Library.open`.
        """
        return await asyncio.to_thread(self._search_shelf, strategy)

    def _search_shelf(self, strategy: "SentStrategy") -> "ShelfSourceReply":
        from paper_library.service.library import open_shared_library

        library = open_shared_library(_get_or_build_shelf())
        filters = strategy.get("filters") or {}
        queries = strategy.get("queries") or []
        wanted = int(filters.get("max_results") or PAGE_SIZE)
        found = [_find_matches(library, query, filters, min(wanted, SOURCE_PAPERS)) for query in queries]
        # Interleaved, so that the best results of each query are included.
        turns = (paper for turn in zip_longest(*(one.papers for one in found)) for paper in turn if paper)
        papers = list({paper["paper_id"]: paper for paper in turns}.values())
        is_complete = all(one.total == len(one.papers) for one in found)
        address = find_stated_address()
        is_limited = wanted > SOURCE_PAPERS and not is_complete
        return {
            "papers": [_make_search_record(paper, library.name, address) for paper in papers[:wanted]],
            "total": found[0].total if len(found) == 1 else len(papers) if is_complete else None,
            "stopped": "source_limit" if is_limited else None,
        }


def source() -> ShelfSource:
    """Return the source, for the entry point."""
    return ShelfSource()


def _get_or_build_shelf() -> Path:
    from paper_library.service.shelf_catalog import sample_shelf

    shelf = load_config().shelf
    return shelf.expanduser() if shelf else sample_shelf()


def _find_matches(
    library: "Library", query: "StrategyQuery", filters: "StrategyFilters", max_results: int
) -> "BooleanMatches":
    text = query.get("boolean_query") or _join_keywords(query)
    return library.search_boolean(text, limit=max_results, years=(filters.get("year_from"), filters.get("year_to")))


def _join_keywords(query: "StrategyQuery") -> str:
    """Return the query for papers with any word of the keywords, for strategies without Boolean queries."""
    given = [*query.get("keywords", []), *(one for entry in query.get("synonym_map", []) for one in entry["synonyms"])]
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(one for text in given for one in split_words(text)))


def _make_search_record(metadata: "StoredMetadata", shelf_name: str, address: str | None) -> "SourcePaper":
    """Return the metadata of a paper in the fields of a search, with its shelf, and its id, key and page there."""
    known = metadata["identifiers"]
    paper_id = metadata["paper_id"]
    return {
        "title": metadata["title"],
        "authors": [{"name": name} for name in metadata["authors"]],
        "year": metadata["year"],
        "venue": metadata["venue"] or None,
        "doi": known.get("doi"),
        "abstract": metadata["abstract"] or None,
        "full_text_url": url if (url := known.get("url", "")).lower().startswith(_WEB) else None,
        "identifiers": {
            **{scheme: value for scheme, value in known.items() if scheme in _SHARED},
            "shelf": paper_id,
            "shelf_paper": f"{shelf_name}/{paper_id}",
            "bibkey": get_or_make_citation_key(metadata),
            **({"shelf_url": f"{address}/papers/{paper_id}"} if address else {}),
        },
        "volume": metadata.get("volume") or None,
        "issue": metadata.get("issue") or None,
        "pages": metadata.get("pages") or None,
        "publisher": metadata.get("publisher") or None,
        "language": metadata["language"] or None,
        "notices": [{"source": "library", **one} for one in metadata.get("notices", []) if one["status"] in STATUSES],
        "source": ShelfSource.source_name,
    }


class SynonymEntry(TypedDict):
    synonyms: list[str]


class StrategyQuery(TypedDict, total=False):
    """A query of a strategy: Boolean, or keywords with synonyms."""

    boolean_query: str | None
    keywords: list[str]
    synonym_map: list[SynonymEntry]


class StrategyFilters(TypedDict, total=False):
    """The limits of a strategy."""

    max_results: int | None
    year_from: int | None
    year_to: int | None


class SentStrategy(TypedDict, total=False):
    """A search strategy."""

    queries: list[StrategyQuery] | None
    filters: StrategyFilters | None


class AuthorName(TypedDict):
    name: str


class SourcePaper(TypedDict):
    """A paper of the shelf in the fields of a search."""

    title: str
    authors: list[AuthorName]
    year: int | None
    venue: str | None
    doi: str | None
    abstract: str | None
    full_text_url: str | None
    identifiers: dict[str, str]
    volume: str | None
    issue: str | None
    pages: str | None
    publisher: str | None
    language: str | None
    notices: list[EditorialNotice]
    source: str


class ShelfSourceReply(TypedDict):
    """The papers that match a strategy, the number of all that match, and why it has fewer than are wanted."""

    papers: list[SourcePaper]
    total: int | None
    stopped: str | None


_UNAMBIGUOUS: Final = ("doi", "arxiv")


def text_of(identifiers: Mapping[str, str], shelf: str | None = None) -> str | None:
    """Return the text of the paper with one of these identifiers, or None if the shelf does not have it.

    Without `shelf`, the shelf of the settings is read, or the sample shelf if it exists. The `id` is used only without
    a DOI and arXiv id, because it may name a different paper on another shelf. Raise the errors of `Library`.
    """
    library = _open_library(shelf)
    if library is None:
        return None
    names = [identifiers[scheme] for scheme in _UNAMBIGUOUS if identifiers.get(scheme)]
    for name in names or [value for value in (identifiers.get("id"),) if value]:
        try:
            return library.source(name)
        except (PaperNotFound, SourceNotAvailable):
            continue
    return None


def _open_library(shelf: str | None) -> "Library | None":
    from paper_library.service.library import open_shared_library

    folder = Path(shelf) if shelf is not None else load_config().shelf or get_sample_shelf_path()
    folder = folder.expanduser().resolve()
    try:
        return open_shared_library(folder) if folder.is_dir() else None
    except ShelfNotFound:
        return None
