"""Find and rank papers: those with all wanted words first; for Boolean queries, the best matches first.

A wanted term of a Boolean query is compared with the title, abstract, keywords, tags, authors, venue and identifiers
of a paper, an excluded term with title, abstract, keywords and tags. Full texts are not compared, so that the metadata
of a paper shows why it matches. Words match in any inflection; phrases and words that end in `*` match as they are
written.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import tantivy
from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.domain.limits import WORDS_OF_PREFIX
from paper_library.domain.query import ParsedQuery, QueryUnit, Sort
from paper_library.domain.query_notations import split_words_with_spellings
from paper_library.errors import OutOfBounds
from paper_library.service.hits import FULL_TEXT, SearchHit, make_hits
from paper_library.service.query_compiler import CompiledQuery, Compiler
from paper_library.store import index as fields
from paper_library.store.index import count_results, make_any_query
from paper_library.store.shelf import Shelf
from uraniborg.kernel.boolean_query import AllOf, AnyOf, Node, Term, iterate_wanted_terms
from uraniborg.kernel.words import fold_text, stem_word

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

    hits: list[SearchHit]
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

    def _list_unmatched_groups(self, best: SearchHit) -> list[str]:
        lacking = [group for group in self._compiled.wanted_groups if group.names.isdisjoint(best.names)]
        if FULL_TEXT in best.matched_fields:
            itself = (Occur.Must, IndexQuery.term_query(self._shelf.schema, fields.NUMBER, best.row.no))
            lacking = [group for group in lacking if not self._count_papers([itself, (Occur.Must, group.papers)])]
        return [group.label for group in lacking]

    def _read_numbers(self, ranked: Sequence[Ranked]) -> list[int]:
        addresses = [address for _, address in ranked]
        return cast("list[int]", self._shelf.searcher.fast_field_values(fields.NUMBER, addresses))

    def _make_hits(self, ranked: Sequence[Ranked]) -> list[SearchHit]:
        rows = self._shelf.read_rows(self._read_numbers(ranked))
        return make_hits(self._shelf, rows, [score for score, _ in ranked], self._compiled, self._filtered)


_NAMES: Final = (fields.AUTHOR, fields.VENUE, fields.IDENTIFIER)
"""The fields beside title, abstract, keywords and tags with which wanted terms are compared."""


def compile_boolean_query(shelf: Shelf, node: Node, years: tuple[int | None, int | None]) -> IndexQuery:
    """Return the query for the papers that match `node`, scored by its wanted words as in any search of the shelf.

    Papers without a year are within all `years`. Raise OutOfBounds if too many words begin with a part of a phrase.
    """
    compiler = Compiler(shelf.searcher, shelf.schema)
    matching = _BooleanCompiler(shelf, compiler).compile_node(node, _NAMES)
    clauses = [(Occur.Must, IndexQuery.const_score_query(matching, 0.0))]
    if years != (None, None):
        undated = IndexQuery.term_query(shelf.schema, fields.YEAR, 0)
        dated = make_any_query([compiler.terms.make_years_query(*years), undated])
        clauses.append((Occur.Must, IndexQuery.const_score_query(dated, 0.0)))
    return IndexQuery.boolean_query([*clauses, (Occur.Should, compiler.compile_query(_make_ranking_query(node)).query)])


def _make_ranking_query(node: Node) -> ParsedQuery:
    """Return the wanted words as a query whose scores rank the papers; phrases raise the score."""
    query = ParsedQuery()
    for term in dict.fromkeys(iterate_wanted_terms(node)):
        pieces = [(word, piece) for word in term.words for piece, _ in split_words_with_spellings(word)]
        query.wanted += ([QueryUnit("prefix" if word.endswith("*") else "word", piece)] for word, piece in pieces)
        if len(pieces) > 1:
            query.boosting.append(QueryUnit("phrase", " ".join(piece for _, piece in pieces)))
    return query


class _BooleanCompiler:
    def __init__(self, shelf: Shelf, compiler: Compiler) -> None:
        self._shelf = shelf
        self._terms = compiler.terms

    def compile_node(self, node: Node, names: Sequence[str]) -> IndexQuery:
        match node:
            case Term():
                return make_any_query(list(self._compile_term(node, names)))
            case AnyOf(parts):
                return make_any_query([self.compile_node(part, names) for part in parts])
            case AllOf(parts, excluded):
                # As in any search of the shelf, papers need not contain the stop words between other words.
                needed = [part for part in parts if not _is_stop_word(part)] or parts
                return IndexQuery.boolean_query(
                    [
                        *((Occur.Must, self.compile_node(part, names)) for part in needed),
                        *((Occur.MustNot, self.compile_node(part, ())) for part in excluded),
                    ]
                )

    def _compile_term(self, term: Term, names: Sequence[str]) -> Iterator[IndexQuery]:
        for words in _list_spellings(term):
            if len(words) == 1 and not words[0].endswith("*") and (stem := stem_word(words[0])):
                yield self._terms.make_phrase_query(fields.ABOUT, [stem])
            else:
                yield self._compile_words(fields.EXACT, words)
            yield from (self._compile_words(name, words) for name in names)

    def _compile_words(self, field_name: str, words: list[str]) -> IndexQuery:
        """Return the query for papers with these consecutive words in a field, of which some may end in `*`."""
        if not any(word.endswith("*") for word in words):
            return self._terms.make_phrase_query(field_name, words)
        if len(words) == 1:
            known = self._list_known_words(field_name, words[0])
            return IndexQuery.term_set_query(self._shelf.schema, field_name, known)
        for word in words:
            if word.endswith("*") and len(self._list_known_words(field_name, word)) > WORDS_OF_PREFIX:
                raise OutOfBounds(
                    f"{word} in a phrase",
                    f"the beginning of at most {WORDS_OF_PREFIX:,} words of the shelf",
                    hint=f"Write more letters before the *, or search for {word} outside of the phrase.",
                )
        patterns = [re.escape(word.removesuffix("*")) + ".*" * word.endswith("*") for word in words]
        return IndexQuery.regex_phrase_query(self._shelf.schema, field_name, list(patterns))

    def _list_known_words(self, field_name: str, prefix: str) -> list[str]:
        return [word for word, _ in self._shelf.searcher.terms_with_prefix(field_name, prefix.removesuffix("*"))]


def _list_spellings(term: Term) -> list[list[str]]:
    """Return the words of a term as the index has them, and in other spellings, such as `mueller` for `müller`."""
    spelled: list[Sequence[str]] = []
    for word in term.words:
        pieces: list[Sequence[str]] = [(piece, *others) for piece, others in split_words_with_spellings(word)]
        if pieces and word.endswith("*"):
            pieces[-1] = tuple(f"{spelling}*" for spelling in pieces[-1])
        spelled += pieces
    most = max(map(len, spelled), default=0)
    return [[spellings[min(rank, len(spellings) - 1)] for spellings in spelled] for rank in range(most)]


def _is_stop_word(node: Node) -> bool:
    return isinstance(node, Term) and len(node.words) == 1 and not stem_word(fold_text(node.text))
