"""The shelf as a source of paper searches: found under the entry point `paper_search.sources`, with no network."""

import asyncio
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from paper_library.config import load_config
from paper_library.limits import OFFSET, PAGE_SIZE, QUERY_CHARS
from paper_library.retraction import STATUSES
from uraniborg.kernel.words import split_words

if TYPE_CHECKING:
    from paper_library.library import Library

_MOST: Final = 200
_SHARED: Final = ("doi", "arxiv", "pmid", "pmcid")


class ShelfSource:
    """Answers a search strategy with the papers of the shelf that the settings name, else of the sample shelf."""

    source_name = "library"

    def is_ready(self) -> bool:
        """Whether there is a shelf of one's own; the sample is only for those who ask for it."""
        return load_config().shelf is not None

    async def search_advanced(self, strategy: dict[str, Any]) -> list[dict[str, Any]]:
        """The papers for all queries of `strategy`, best first. Raises as opening a shelf does."""
        return await asyncio.to_thread(self._search, strategy)

    def _search(self, strategy: dict[str, Any]) -> list[dict[str, Any]]:
        library = _library(_shelf())
        filters: dict[str, Any] = strategy.get("filters") or {}
        queries: list[dict[str, Any]] = strategy.get("queries") or []
        wanted = min(int(filters.get("max_results") or PAGE_SIZE), _MOST)
        found = [_ids(library, _words(query), _years(filters), wanted) for query in queries]
        # By turns, so that each query has its best on the list.
        turns = (paper_id for turn in zip_longest(*found) for paper_id in turn if paper_id)
        return [_record(library.metadata(paper_id)) for paper_id in list(dict.fromkeys(turns))[:wanted]]


def source() -> ShelfSource:
    """What the entry point loads to."""
    return ShelfSource()


@lru_cache(maxsize=4)
def _library(shelf: Path) -> "Library":
    """Opened once: it follows its folder by itself."""
    from paper_library.library import Library

    return Library.open(shelf)


def _shelf() -> Path:
    from paper_library.sample import sample_shelf

    shelf = load_config().shelf
    return shelf.expanduser() if shelf else sample_shelf()


def _ids(library: "Library", words: str, years: str, wanted: int) -> list[str]:
    ids: list[str] = []
    while len(ids) < wanted and len(ids) <= OFFSET:
        filters = {"year": years} if years else None
        page = library.search(words, limit=min(PAGE_SIZE, wanted - len(ids)), offset=len(ids), filters=filters)
        ids += [hit["paper_id"] for hit in page["results"]]
        if page["next_offset"] is None:
            break
    return ids


def _words(query: dict[str, Any]) -> str:
    """The words of a query. Its boolean form is for sources that need one; ranking does more with plain words."""
    given = [*query.get("keywords", []), *(one for entry in query.get("synonym_map", []) for one in entry["synonyms"])]
    said = dict.fromkeys(one for text in given for one in split_words(text))
    return " ".join(said)[:QUERY_CHARS]


def _years(filters: dict[str, Any]) -> str:
    start, end = filters.get("year_from"), filters.get("year_to")
    return f"{start or ''}..{end or ''}" if start or end else ""


def _record(said: dict[str, Any]) -> dict[str, Any]:
    """A paper in the fields that a search knows."""
    return {
        "title": said["title"],
        "authors": [{"name": name} for name in said["authors"]],
        "year": said["year"],
        "venue": said["venue"] or None,
        "doi": said["identifiers"].get("doi"),
        "abstract": said["abstract"] or None,
        "identifiers": {name: value for name, value in said["identifiers"].items() if name in _SHARED},
        **{name: said.get(name) or None for name in ("volume", "issue", "pages", "publisher", "language")},
        "notices": [{"source": "library", **one} for one in said.get("notices", []) if one["status"] in STATUSES],
        "source": ShelfSource.source_name,
    }
