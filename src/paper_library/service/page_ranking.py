"""Find, rank and count papers: of a query, of a Boolean query, and papers similar to another one.

Papers with all wanted words of a query come first. A wanted term of a Boolean query is compared with the title,
abstract, keywords, tags, authors, venue and identifiers of a paper, an excluded term with title, abstract, keywords and
tags. Full texts are not compared, so that the metadata of a paper shows why it matches. Words match in any inflection;
phrases and words that end in `*` match as they are written.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING, Any, Final, cast

import tantivy
from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.domain.limits import DEFAULT_PAGE_SIZE, WORDS_OF_PREFIX, check_page_bounds
from paper_library.domain.query import ParsedQuery, QueryUnit, Sort
from paper_library.domain.query_notations import split_words_with_spellings
from paper_library.errors import OutOfBounds
from paper_library.service.hits import FULL_TEXT, ResultPage, SearchHit, make_hits
from paper_library.service.query_compiler import CompiledQuery, Compiler
from paper_library.store import index as fields
from paper_library.store.index import count_results, make_any_query
from paper_library.store.shelf import Shelf
from uraniborg.kernel.language.boolean_query import AllOf, AnyOf, Node, Term, iterate_wanted_terms
from uraniborg.kernel.language.words import extract_terms, fold_text, stem_word

if TYPE_CHECKING:
    from paper_library.domain.replies import FacetValue, InterpretedQuery

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


_SIMILAR_TERMS: Final = 25
_FACET_VALUES: Final = 65_000
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


def find_boolean_matches(
    shelf: Shelf, node: Node, limit: int, years: tuple[int | None, int | None] = (None, None)
) -> tuple[list[int], int]:
    """Return the numbers of the best papers that match a Boolean query, at most `limit`, and the total of all matches.

    Raise OutOfBounds.
    """
    found = shelf.searcher.search(compile_boolean_query(shelf, node, years), max(1, min(limit, shelf.manifest.papers)))
    addresses = [address for _, address in found.hits[:limit]]
    numbers = cast("list[int]", shelf.searcher.fast_field_values(fields.NUMBER, addresses)) if addresses else []
    return numbers, count_results(found)


def find_similar(shelf: Shelf, no: int, *, limit: int = DEFAULT_PAGE_SIZE, offset: int = 0) -> ResultPage:
    """Return papers that share the most distinctive words of the paper `no`. Raise OutOfBounds."""
    check_page_bounds(limit, offset)
    paper = shelf.read_metadata(no)
    text = " ".join([paper["title"], paper["title"], paper["abstract"], *paper["keywords"], *paper["tags"]])
    searcher, schema = shelf.searcher, shelf.schema
    papers = max(searcher.num_docs, 1)
    occurrences: dict[str, int] = {}
    for term in extract_terms(text):
        occurrences[term] = occurrences.get(term, 0) + 1
    # A word that only this paper has finds no other.
    frequency = {term: searcher.doc_freq(fields.ABOUT, term) for term in occurrences}
    shared = [term for term in occurrences if frequency[term] > 1]
    weights = {term: min(occurrences[term], 3) * _compute_rarity(papers, frequency[term]) for term in shared}
    distinctive = sorted(shared, key=lambda term: (-weights[term], term))
    chosen = distinctive[:_SIMILAR_TERMS]
    itself = (Occur.MustNot, IndexQuery.term_query(schema, fields.NUMBER, no))
    clauses = [(Occur.Should, IndexQuery.term_query(schema, fields.ABOUT, term)) for term in chosen]
    query = IndexQuery.boolean_query([(Occur.Must, IndexQuery.boolean_query(clauses)), itself])
    alike = CompiledQuery(query if clauses else IndexQuery.empty_query(), stems=set(chosen))
    found = find_page(shelf, alike, (), limit, offset, "relevance")
    interpreted: InterpretedQuery = {"terms": chosen, "filters": {}, "ignored": []}
    return ResultPage(found.hits, found.total, limit, offset, interpreted)


def count_facets(shelf: Shelf, query: IndexQuery, kinds: Sequence[str], limit: int) -> "dict[str, list[FacetValue]]":
    """Return the most frequent values of each facet kind among the results, with numbers of papers."""
    # Each segment returns its own most frequent values; short lists would miss counts of other segments.
    whole = {"segment_size": _FACET_VALUES} if shelf.searcher.num_segments > 1 else {}
    wanted = {
        kind: {"terms": {"field": fields.FACETS.get(kind, fields.YEAR), "size": limit + 1, **whole}} for kind in kinds
    }
    answer = cast("Any", shelf.searcher).aggregate(query, wanted)
    counts = {kind: [(int(b["key"]), int(b["doc_count"])) for b in answer[kind]["buckets"]] for kind in kinds}
    names = _read_facet_values(shelf, [key for kind in kinds if kind != "year" for key, _ in counts[kind]])
    named = {
        kind: [(str(key) if kind == "year" else names[key], count) for key, count in pairs if key or kind != "year"]
        for kind, pairs in counts.items()
    }
    return {
        kind: [
            {"value": value, "paper_count": count}
            for value, count in sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:limit]
        ]
        for kind, pairs in named.items()
    }


def _read_facet_values(shelf: Shelf, ids: Sequence[int]) -> dict[int, str]:
    marks = ",".join("?" * len(ids))
    found = shelf.get_connection().execute(f"SELECT id, value FROM facet WHERE id IN ({marks})", ids)  # noqa: S608
    return dict(found.fetchall())


def _compute_rarity(papers: int, frequency: int) -> float:
    return log(1 + papers / (1 + frequency))
