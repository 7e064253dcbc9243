"""The order of results: papers with all the words of a query, then papers with some of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import tantivy
from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.search.compiler import Compiled
from paper_library.search.hits import FULL_TEXT, Hit, make_hits
from paper_library.search.index_terms import any_of, count_of
from paper_library.search.query import Sort
from paper_library.store import index as fields
from paper_library.store.shelf import Shelf

Ranked = tuple[Any, Any]
"""The score and the address of a paper."""
_MARGIN: Final = 20
_NEAR: Final = 150
"""Of pages that end before this, more papers are fetched than shown: most often they decide the order."""

_MANY_WISHES: Final = 5
"""Few papers have so many words: counting these is quicker than looking at the best papers."""


@dataclass(frozen=True, slots=True)
class Found:
    """The papers of one page."""

    hits: list[Hit]
    total: int
    lacking: list[str] = field(default_factory=list[str])
    """The words that the best paper lacks, if no paper has all."""


def find_page(shelf: Shelf, compiled: Compiled, filtered: Sequence[str], limit: int, offset: int, order: Sort) -> Found:
    """Return one page of the papers that a query finds; `filtered` names the fields that match them all."""
    return _Search(shelf, compiled, filtered).find(limit, offset, order)


class _Search:
    def __init__(self, shelf: Shelf, compiled: Compiled, filtered: Sequence[str]) -> None:
        self._shelf = shelf
        self._compiled = compiled
        self._query = compiled.query
        self._filtered = filtered
        self._complete: int | None = None

    def find(self, limit: int, offset: int, order: Sort) -> Found:
        every = self._compiled.with_every_wish()
        if order != "relevance":
            by = {"year_desc": fields.YEAR, "year_asc": fields.YEAR_OR_LAST}.get(order, fields.NUMBER)
            way = tantivy.Order.Asc if order.endswith("_asc") else tantivy.Order.Desc
            result = self._shelf.searcher.search(self._query, limit, offset=offset, order_by_field=by, order=way)
            # Instead of a score there is the value of that field.
            return Found(self._hits([(0.0, address) for _, address in result.hits]), count_of(result))
        if every is None:
            result = self._search(self._query, limit, offset)
            return Found(self._hits(result.hits), count_of(result))
        near = self._find_near(every, limit, offset) if offset + limit <= _NEAR else None
        return near or self._find_apart(every, limit, offset)

    def _find_near(self, every: IndexQuery, limit: int, offset: int) -> Found | None:
        """Return a page by what the best papers show, or None if papers with every wish are further down."""
        end = offset + limit
        top = self._search(self._query, end + _MARGIN)
        is_long = len(self._compiled.wishes) >= _MANY_WISHES
        complete = {} if is_long and not self._count_with(every) else self._complete_among(top.hits, every)
        if len(complete) < end and count_of(top) > len(top.hits) and self._count_with(every) > len(complete):
            return None
        partial = [pair for place, pair in enumerate(top.hits) if place not in complete]
        ranked = [*self._raise([top.hits[place] for place in complete]), *partial]
        hits = self._hits(ranked[offset:end])
        if complete or not ranked:
            return Found(hits, count_of(top))
        return Found(hits, count_of(top), self._lacking(self._hits(ranked[:1])[0] if offset else hits[0]))

    def _find_apart(self, every: IndexQuery, limit: int, offset: int) -> Found:
        """Return a page by searching for the papers with every wish first."""
        must_have = (Occur.Must, IndexQuery.const_score_query(every, 0.0))
        complete = self._search(IndexQuery.boolean_query([must_have, (Occur.Must, self._query)]), limit, offset)
        count, ranked = count_of(complete), self._raise(complete.hits)
        if len(ranked) == limit:
            return Found(self._hits(ranked), self._count([(Occur.Must, self._query)]))
        others = IndexQuery.boolean_query([(Occur.Must, self._query), (Occur.MustNot, every)])
        partial = self._search(others, limit - len(ranked), max(0, offset - count))
        total = count + count_of(partial)
        lacking = [] if count or not total else self._lacking(*self._hits(self._search(self._query, 1).hits))
        return Found(self._hits([*ranked, *partial.hits]), total, lacking)

    def _search(self, query: IndexQuery, limit: int, offset: int = 0) -> tantivy.SearchResult:
        return self._shelf.searcher.search(query, limit, offset=offset)

    def _count(self, clauses: list[tuple[Occur, IndexQuery]]) -> int:
        return count_of(self._search(IndexQuery.const_score_query(IndexQuery.boolean_query(clauses), 1.0), 1))

    def _count_with(self, every: IndexQuery) -> int:
        if self._complete is None:
            self._complete = self._count([*self._compiled.filters, (Occur.Must, every)])
        return self._complete

    def _raise(self, ranked: Sequence[Ranked]) -> list[Ranked]:
        """Return papers with every wish with scores above those of all other papers."""
        return [(score + self._compiled.highest_score, address) for score, address in ranked]

    def _complete_among(self, ranked: Sequence[Ranked], every: IndexQuery) -> dict[int, None]:
        """Return which of these papers, by their places, have every wish."""
        places = {number: place for place, number in enumerate(self._numbers(ranked))}
        if not places:
            return {}
        papers = any_of([IndexQuery.term_query(self._shelf.schema, fields.NUMBER, number) for number in places])
        both = IndexQuery.boolean_query([(Occur.Must, papers), (Occur.Must, every)])
        found = self._numbers(self._search(IndexQuery.const_score_query(both, 1.0), len(places)).hits)
        return dict.fromkeys(sorted(places[number] for number in found))

    def _lacking(self, best: Hit) -> list[str]:
        """Return the labels of the wishes that the best paper does not have."""
        lacking = [wish for wish in self._compiled.wishes if wish.names.isdisjoint(best.names)]
        if FULL_TEXT in best.matched_fields:
            itself = (Occur.Must, IndexQuery.term_query(self._shelf.schema, fields.NUMBER, best.row.no))
            lacking = [wish for wish in lacking if not self._count([itself, (Occur.Must, wish.papers)])]
        return [wish.label for wish in lacking]

    def _numbers(self, ranked: Sequence[Ranked]) -> list[int]:
        addresses = [address for _, address in ranked]
        return cast("list[int]", self._shelf.searcher.fast_field_values(fields.NUMBER, addresses))

    def _hits(self, ranked: Sequence[Ranked]) -> list[Hit]:
        rows = self._shelf.rows(self._numbers(ranked))
        return make_hits(self._shelf, rows, [score for score, _ in ranked], self._compiled, self._filtered)
