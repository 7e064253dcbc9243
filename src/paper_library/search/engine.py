"""Searching a shelf: the one place where query, index, database and snippets meet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any, Final, Literal, cast

import tantivy
from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.errors import OutOfBounds
from paper_library.limits import DEFAULT_PAGE_SIZE, FACETS, OFFSET, PAGE_SIZE, QUERY_CHARS, SNIPPET_CHARS, SNIPPET_READ
from paper_library.search import fields
from paper_library.search.compiling import Compiled, Compiler
from paper_library.search.query import Query, read_query
from paper_library.search.snippets import Matcher, snippet
from paper_library.search.suggestions import did_you_mean
from paper_library.store.shelf import Row, Shelf
from paper_library.text.markdown import escaped
from uraniborg.kernel.text import fold, terms

Sort = Literal["relevance", "year_desc", "year_asc", "title_asc", "title_desc"]
SORTS: Final = ("relevance", "year_desc", "year_asc", "title_asc", "title_desc")
_SIMILAR_TERMS: Final = 25
_FACET_VALUES: Final = 65_000
_NO_SUCH_YEAR: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class Hit:
    row: Row
    score: float
    snippet: str

    def as_dict(self) -> dict[str, Any]:
        row = self.row
        return {
            "paper_id": row.paper_id,
            "title": row.title,
            "year": row.year,
            "venue": row.venue,
            "snippet_markdown": self.snippet,
            "authors": row.authors,
            "score": round(self.score, 4),
            **({"retracted": True} if row.is_retracted else {}),
        }


@dataclass(slots=True)
class Page:
    """One page of results, and what was asked to get it."""

    hits: list[Hit]
    total: int
    limit: int
    offset: int
    interpreted: dict[str, Any]
    did_you_mean: str | None = None
    facets: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])

    def as_dict(self) -> dict[str, Any]:
        end = self.offset + len(self.hits)
        return {
            "results": [hit.as_dict() for hit in self.hits],
            "total": self.total,
            "limit": self.limit,
            "offset": self.offset,
            "next_offset": end if self.hits and end < self.total and end <= OFFSET else None,
            "interpreted_query": self.interpreted,
            **({"did_you_mean": self.did_you_mean} if self.did_you_mean else {}),
            **({"facets": self.facets} if self.facets else {}),
        }


def check_page(limit: int, offset: int) -> None:
    """Raises OutOfBounds."""
    if not 1 <= limit <= PAGE_SIZE:
        raise OutOfBounds("limit", f"from 1 to {PAGE_SIZE}")
    if not 0 <= offset <= OFFSET:
        raise OutOfBounds("offset", f"from 0 to {OFFSET:,}", hint="Narrow the query; filters such as year: help.")


def check_facets(limit: int) -> None:
    """Raises OutOfBounds."""
    if not 1 <= limit <= FACETS:
        raise OutOfBounds("limit", f"from 1 to {FACETS}")


def page_size(limit: int | None, page_size: int | None) -> int:
    """How many results are wanted, by either of the names that has. Raises OutOfBounds if they contradict."""
    if limit is not None and page_size is not None and limit != page_size:
        raise OutOfBounds("page_size", "the same as limit, or left out", hint="They are two names of one argument.")
    return limit or page_size or DEFAULT_PAGE_SIZE


def check_query(query: str) -> None:
    """Raises OutOfBounds."""
    if len(query) > QUERY_CHARS:
        raise OutOfBounds(
            "query", f"at most {QUERY_CHARS} characters", hint=f"It has {len(query)}; keep the words that matter most."
        )


def search(
    shelf: Shelf,
    query: str,
    *,
    limit: int = DEFAULT_PAGE_SIZE,
    offset: int = 0,
    sort: Sort = "relevance",
    filters: Mapping[str, str] | None = None,
    facets: Sequence[str] = (),
    facet_limit: int = 10,
) -> Page:
    """The papers that `query` finds, best first; an empty one finds all.

    `filters` are whole values by kind of facet (author, venue, keyword, institution, tag, year); `facets` names those
    to be counted over everything found. Raises OutOfBounds.
    """
    check_query(query)
    check_page(limit, offset)
    read = read_query(query)
    compiler = Compiler(shelf.searcher, shelf.schema)
    restrictions = _restrictions(shelf, compiler, filters or {})
    compiled = compiler.compile(read, restrictions)
    order = sort if sort != "relevance" or not compiled.is_empty else "title_asc"
    found = _found(shelf, compiled.query, limit, offset, order)
    if not _count(found) and (looser := read.relaxed()):
        read, compiled = looser, compiler.compile(looser, restrictions)
        found = _found(shelf, compiled.query, limit, offset, order)
    page = Page(_hits(shelf, found, Matcher.of(compiled)), _count(found), limit, offset, _said(read, compiled))
    if filters:
        page.interpreted["filters"] = {**page.interpreted["filters"], **{k: [v] for k, v in filters.items()}}
    if compiled.missing:
        page.did_you_mean = did_you_mean(shelf.searcher, query, compiled.missing)
    if facets:
        check_facets(facet_limit)
        page.facets = facet_counts(shelf, compiled.query, facets, facet_limit)
    return page


def similar(shelf: Shelf, no: int, *, limit: int = DEFAULT_PAGE_SIZE, offset: int = 0) -> Page:
    """Papers about the same things as the one at `no`: those that share its most telling words. Raises OutOfBounds."""
    check_page(limit, offset)
    said = shelf.described(no)
    text = " ".join([said["title"], said["title"], said["abstract"], *said["keywords"], *said["tags"]])
    searcher, schema = shelf.searcher, shelf.schema
    papers = max(searcher.num_docs, 1)
    counted: dict[str, int] = {}
    for term in terms(text):
        counted[term] = counted.get(term, 0) + 1
    # A word that this paper alone has leads nowhere.
    frequency = {term: searcher.doc_freq(fields.ABOUT, term) for term in counted}
    shared = [term for term in counted if frequency[term] > 1]
    telling = sorted(shared, key=lambda term: (-min(counted[term], 3) * _rarity(papers, frequency[term]), term))
    chosen = telling[:_SIMILAR_TERMS]
    itself = (Occur.MustNot, IndexQuery.term_query(schema, fields.NUMBER, no))
    clauses = [(Occur.Should, IndexQuery.term_query(schema, fields.ABOUT, term)) for term in chosen]
    query = IndexQuery.boolean_query([(Occur.Must, IndexQuery.boolean_query(clauses)), itself])
    matched = Compiled(query, stems=set(chosen))
    found = _found(shelf, query if clauses else IndexQuery.empty_query(), limit, offset, "relevance")
    interpreted: dict[str, Any] = {"terms": chosen, "filters": {}, "ignored": []}
    return Page(_hits(shelf, found, Matcher.of(matched)), _count(found), limit, offset, interpreted)


def facet_counts(shelf: Shelf, query: IndexQuery, kinds: Sequence[str], limit: int) -> dict[str, list[dict[str, Any]]]:
    """For each kind the values that most of the papers found have, with how many have them."""
    # Each segment names its own most frequent values; with few of each, counts over several would miss some.
    whole = {"segment_size": _FACET_VALUES} if shelf.searcher.num_segments > 1 else {}
    wanted = {
        kind: {"terms": {"field": fields.FACETS.get(kind, fields.YEAR), "size": limit + 1, **whole}} for kind in kinds
    }
    answer = cast("Any", shelf.searcher).aggregate(query, wanted)
    counted = {kind: [(int(b["key"]), int(b["doc_count"])) for b in answer[kind]["buckets"]] for kind in kinds}
    names = _values(shelf, [key for kind in kinds if kind != "year" for key, _ in counted[kind]])
    named = {
        kind: [(str(key) if kind == "year" else names[key], count) for key, count in pairs if key or kind != "year"]
        for kind, pairs in counted.items()
    }
    return {
        kind: [
            {"value": value, "paper_count": count}
            for value, count in sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:limit]
        ]
        for kind, pairs in named.items()
    }


def _restrictions(shelf: Shelf, compiler: Compiler, filters: Mapping[str, str]) -> list[IndexQuery]:
    found: list[IndexQuery] = []
    for kind, value in filters.items():
        if kind == "year":
            start, _, end = value.partition("..")
            found.append(compiler.years(_year(start), _year(end if ".." in value else start)))
            continue
        facet = shelf.facet_id(kind, fold(" ".join(value.split())))
        found.append(IndexQuery.empty_query() if facet is None else compiler.facet(kind, facet))
    return found


def _year(text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal():
        raise OutOfBounds("year", "a year such as 2021, or years such as 2019..2023")
    return int(text) if len(text) < 10 else _NO_SUCH_YEAR


def _found(shelf: Shelf, query: IndexQuery, limit: int, offset: int, order: Sort) -> tantivy.SearchResult:
    if order == "relevance":
        return shelf.searcher.search(query, limit, offset=offset)
    by = {"year_desc": fields.YEAR, "year_asc": fields.YEAR_OR_LAST}.get(order, fields.NUMBER)
    way = tantivy.Order.Asc if order.endswith("_asc") else tantivy.Order.Desc
    return shelf.searcher.search(query, limit, offset=offset, order_by_field=by, order=way)


def _hits(shelf: Shelf, found: tantivy.SearchResult, matcher: Matcher) -> list[Hit]:
    numbers = shelf.searcher.fast_field_values(fields.NUMBER, [address for _, address in found.hits])
    rows = shelf.rows(cast("list[int]", numbers))
    # In another order than by relevance it says where a paper stands in that order.
    scores = [score if isinstance(score, float) else 0.0 for score, _ in found.hits]
    snippets = passages(shelf, rows, matcher)
    return [Hit(row, score, text) for row, score, text in zip(rows, scores, snippets, strict=True)]


def _count(found: tantivy.SearchResult) -> int:
    return cast("Any", found).count  # there, but not in the package's types


def passages(shelf: Shelf, rows: Sequence[Row], matcher: Matcher) -> list[str]:
    """What to show of each paper."""
    left = SNIPPET_READ
    shown: list[str] = []
    for row in rows:
        text, read = _passage(shelf, row, matcher, left)
        left -= read
        shown.append(text)
    return shown


def _passage(shelf: Shelf, row: Row, matcher: Matcher, most: int) -> tuple[str, int]:
    """What to show of a paper: from its abstract, or from its text if only that has the words, or its title.

    And how many characters of its text were read for that, of `most` that may be.
    """
    text, matches = snippet(row.abstract, matcher) if row.abstract else ("", 0)
    if matches or not (matcher.stems or matcher.words):
        return text or escaped(row.title[:SNIPPET_CHARS]), 0
    read = 0
    for full in shelf.texts(row.no, most):
        read += len(full)
        deeper, matches = snippet(full, matcher)
        if matches:
            return deeper, read
        text = text or deeper
    return text or snippet(row.title, matcher)[0], read


def _said(read: Query, compiled: Compiled) -> dict[str, Any]:
    said = read.interpreted()
    if compiled.unread:
        said["ignored"] = [*said["ignored"], f"The last {compiled.unread} words were not searched: there are too many."]
    if compiled.dropped:
        said["ignored"] = [*said["ignored"], f"Too common to count: {', '.join(compiled.dropped)}."]
        said["terms"] = [term for term in said["terms"] if term not in compiled.dropped]
    return said


def _values(shelf: Shelf, ids: Sequence[int]) -> dict[int, str]:
    marks = ",".join("?" * len(ids))
    found = shelf.connection().execute(f"SELECT id, value FROM facet WHERE id IN ({marks})", ids)  # noqa: S608
    return dict(found.fetchall())


def _rarity(papers: int, frequency: int) -> float:
    return log(1 + papers / (1 + frequency))
