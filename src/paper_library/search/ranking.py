"""Rank results: papers that match all wanted groups, then papers that match some."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import tantivy
from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.search.compiler import CompiledQuery
from paper_library.search.hits import FULL_TEXT, Hit, make_hits
from paper_library.search.index_terms import count_results, make_any_query
from paper_library.search.query import Sort
from paper_library.store import index as fields
from paper_library.store.shelf import Shelf

Ranked = tuple[Any, Any]
"""The score and the address of a paper."""
_MARGIN: Final = 20
_NEAR: Final = 150
"""Pages that end before this offset are usually ranked from a few more papers than they show."""

_MANY_GROUPS: Final = 5
"""Few papers match this many groups: counting them is faster than inspecting the best papers."""


@dataclass(frozen=True, slots=True)
class FoundPage:
    """The hits of one page, and the total."""

    hits: list[Hit]
    total: int
    lacking: list[str] = field(default_factory=list[str])
    """The groups that the best paper does not match, if no paper matches all."""


def find_page(
    shelf: Shelf, compiled: CompiledQuery, filtered_fields: Sequence[str], limit: int, offset: int, order: Sort
) -> FoundPage:
    """Return one page of results; `filtered_fields` names the fields that match in all results."""
    return _Search(shelf, compiled, filtered_fields).find_page(limit, offset, order)


class _Search:
    """The search for one compiled query."""

    def __init__(self, shelf: Shelf, compiled: CompiledQuery, filtered_fields: Sequence[str]) -> None:
        self._shelf = shelf
        self._compiled = compiled
        self._query = compiled.query
        self._filtered = filtered_fields
        self._complete: int | None = None

    def find_page(self, limit: int, offset: int, order: Sort) -> FoundPage:
        all_groups_query = self._compiled.make_query_for_all_groups()
        if order != "relevance":
            by = {"year_desc": fields.YEAR, "year_asc": fields.YEAR_OR_LAST}.get(order, fields.NUMBER)
            direction = tantivy.Order.Asc if order.endswith("_asc") else tantivy.Order.Desc
            result = self._shelf.searcher.search(self._query, limit, offset=offset, order_by_field=by, order=direction)
            # Instead of a score there is the value of that field.
            return FoundPage(self._make_hits([(0.0, address) for _, address in result.hits]), count_results(result))
        if all_groups_query is None:
            result = self._run_query(self._query, limit, offset)
            return FoundPage(self._make_hits(result.hits), count_results(result))
        near = self._find_among_best(all_groups_query, limit, offset) if offset + limit <= _NEAR else None
        return near or self._find_by_two_searches(all_groups_query, limit, offset)

    def _find_among_best(self, all_groups_query: IndexQuery, limit: int, offset: int) -> FoundPage | None:
        """Return a page from the best papers, or None if papers that match all groups are ranked lower."""
        end = offset + limit
        top = self._run_query(self._query, end + _MARGIN)
        is_long = len(self._compiled.wanted_groups) >= _MANY_GROUPS
        complete = (
            {}
            if is_long and not self._count_complete_papers(all_groups_query)
            else self._find_complete_indexes(top.hits, all_groups_query)
        )
        if (
            len(complete) < end
            and count_results(top) > len(top.hits)
            and self._count_complete_papers(all_groups_query) > len(complete)
        ):
            return None
        partial = [pair for index, pair in enumerate(top.hits) if index not in complete]
        ranked = [*self._raise_scores_above_partial_matches([top.hits[index] for index in complete]), *partial]
        hits = self._make_hits(ranked[offset:end])
        if complete or not ranked:
            return FoundPage(hits, count_results(top))
        return FoundPage(
            hits, count_results(top), self._list_unmatched_groups(self._make_hits(ranked[:1])[0] if offset else hits[0])
        )

    def _find_by_two_searches(self, all_groups_query: IndexQuery, limit: int, offset: int) -> FoundPage:
        must_have = (Occur.Must, IndexQuery.const_score_query(all_groups_query, 0.0))
        complete = self._run_query(IndexQuery.boolean_query([must_have, (Occur.Must, self._query)]), limit, offset)
        count, ranked = count_results(complete), self._raise_scores_above_partial_matches(complete.hits)
        if len(ranked) == limit:
            return FoundPage(self._make_hits(ranked), self._count_papers([(Occur.Must, self._query)]))
        others = IndexQuery.boolean_query([(Occur.Must, self._query), (Occur.MustNot, all_groups_query)])
        partial = self._run_query(others, limit - len(ranked), max(0, offset - count))
        total = count + count_results(partial)
        lacking = (
            []
            if count or not total
            else self._list_unmatched_groups(*self._make_hits(self._run_query(self._query, 1).hits))
        )
        return FoundPage(self._make_hits([*ranked, *partial.hits]), total, lacking)

    def _run_query(self, query: IndexQuery, limit: int, offset: int = 0) -> tantivy.SearchResult:
        return self._shelf.searcher.search(query, limit, offset=offset)

    def _count_papers(self, clauses: list[tuple[Occur, IndexQuery]]) -> int:
        return count_results(self._run_query(IndexQuery.const_score_query(IndexQuery.boolean_query(clauses), 1.0), 1))

    def _count_complete_papers(self, all_groups_query: IndexQuery) -> int:
        if self._complete is None:
            self._complete = self._count_papers([*self._compiled.filters, (Occur.Must, all_groups_query)])
        return self._complete

    def _raise_scores_above_partial_matches(self, ranked: Sequence[Ranked]) -> list[Ranked]:
        """Return papers that match all groups, with scores above those of all others."""
        return [(score + self._compiled.highest_score, address) for score, address in ranked]

    def _find_complete_indexes(self, ranked: Sequence[Ranked], all_groups_query: IndexQuery) -> dict[int, None]:
        """Return the indexes of the papers that match all groups, in order."""
        indexes = {number: index for index, number in enumerate(self._read_numbers(ranked))}
        if not indexes:
            return {}
        papers = make_any_query(
            [IndexQuery.term_query(self._shelf.schema, fields.NUMBER, number) for number in indexes]
        )
        both = IndexQuery.boolean_query([(Occur.Must, papers), (Occur.Must, all_groups_query)])
        found = self._read_numbers(self._run_query(IndexQuery.const_score_query(both, 1.0), len(indexes)).hits)
        return dict.fromkeys(sorted(indexes[number] for number in found))

    def _list_unmatched_groups(self, best: Hit) -> list[str]:
        lacking = [group for group in self._compiled.wanted_groups if group.names.isdisjoint(best.names)]
        if FULL_TEXT in best.matched_fields:
            itself = (Occur.Must, IndexQuery.term_query(self._shelf.schema, fields.NUMBER, best.row.no))
            lacking = [group for group in lacking if not self._count_papers([itself, (Occur.Must, group.papers)])]
        return [group.label for group in lacking]

    def _read_numbers(self, ranked: Sequence[Ranked]) -> list[int]:
        addresses = [address for _, address in ranked]
        return cast("list[int]", self._shelf.searcher.fast_field_values(fields.NUMBER, addresses))

    def _make_hits(self, ranked: Sequence[Ranked]) -> list[Hit]:
        rows = self._shelf.read_rows(self._read_numbers(ranked))
        return make_hits(self._shelf, rows, [score for score, _ in ranked], self._compiled, self._filtered)
