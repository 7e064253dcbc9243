"""The shelf as a search source, through the entry point `paper_search.sources`, without network access."""

import asyncio
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from paper_library.config import load_config
from paper_library.editorial_notices import STATUSES
from paper_library.limits import OFFSET, PAGE_SIZE, QUERY_CHARS
from uraniborg.kernel.words import split_words

if TYPE_CHECKING:
    from paper_library.library import Library

_MOST: Final = 200
_SHARED: Final = ("doi", "arxiv", "pmid", "pmcid")


class ShelfSource:
    """A search source for the shelf of the settings, or for the sample shelf."""

    source_name = "library"

    def is_ready(self) -> bool:
        """Return True if the settings name a shelf; the sample shelf is used only on request."""
        return load_config().shelf is not None

    async def search_advanced(self, strategy: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the papers for all queries of `strategy`, best first. Raise the errors of `Library.open`."""
        return await asyncio.to_thread(self._search_shelf, strategy)

    def _search_shelf(self, strategy: dict[str, Any]) -> list[dict[str, Any]]:
        from paper_library.library import open_shared_library

        library = open_shared_library(_get_or_build_shelf())
        filters: dict[str, Any] = strategy.get("filters") or {}
        queries: list[dict[str, Any]] = strategy.get("queries") or []
        wanted = min(int(filters.get("max_results") or PAGE_SIZE), _MOST)
        found = [
            _find_paper_ids(library, _join_query_words(query), _format_years(filters), wanted) for query in queries
        ]
        # Interleaved, so that the best results of each query are included.
        turns = (paper_id for turn in zip_longest(*found) for paper_id in turn if paper_id)
        return [_make_search_record(library.metadata(paper_id)) for paper_id in list(dict.fromkeys(turns))[:wanted]]


def source() -> ShelfSource:
    """Return the source, for the entry point."""
    return ShelfSource()


def _get_or_build_shelf() -> Path:
    from paper_library.sample_shelf_builder import sample_shelf

    shelf = load_config().shelf
    return shelf.expanduser() if shelf else sample_shelf()


def _find_paper_ids(library: "Library", query: str, years: str, max_results: int) -> list[str]:
    ids: list[str] = []
    while len(ids) < max_results and len(ids) <= OFFSET:
        filters = {"year": years} if years else None
        page = library.search(query, limit=min(PAGE_SIZE, max_results - len(ids)), offset=len(ids), filters=filters)
        ids += [hit["paper_id"] for hit in page["results"]]
        if page["next_offset"] is None:
            break
    return ids


def _join_query_words(query: dict[str, Any]) -> str:
    """Return the words of a query. Its boolean form is not used, because ranking works better with plain words."""
    given = [*query.get("keywords", []), *(one for entry in query.get("synonym_map", []) for one in entry["synonyms"])]
    unique = dict.fromkeys(one for text in given for one in split_words(text))
    return " ".join(unique)[:QUERY_CHARS]


def _format_years(filters: dict[str, Any]) -> str:
    start, end = filters.get("year_from"), filters.get("year_to")
    return f"{start or ''}..{end or ''}" if start or end else ""


def _make_search_record(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a paper in the fields of a search."""
    return {
        "title": metadata["title"],
        "authors": [{"name": name} for name in metadata["authors"]],
        "year": metadata["year"],
        "venue": metadata["venue"] or None,
        "doi": metadata["identifiers"].get("doi"),
        "abstract": metadata["abstract"] or None,
        "identifiers": {name: value for name, value in metadata["identifiers"].items() if name in _SHARED},
        **{name: metadata.get(name) or None for name in ("volume", "issue", "pages", "publisher", "language")},
        "notices": [{"source": "library", **one} for one in metadata.get("notices", []) if one["status"] in STATUSES],
        "source": ShelfSource.source_name,
    }
