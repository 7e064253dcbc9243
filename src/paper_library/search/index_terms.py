"""The smallest queries of the index: a word, a phrase, a prefix, years, a value."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, cast

import tantivy
from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.limits import PREFIX_TERMS
from paper_library.store import index as fields

_LAST_YEAR: Final = 1 << 32


def any_of(options: Sequence[IndexQuery]) -> IndexQuery:
    """Return the query for papers that satisfy one of `options`; without any, for no paper."""
    if not options:
        return IndexQuery.empty_query()
    return options[0] if len(options) == 1 else IndexQuery.boolean_query([(Occur.Should, one) for one in options])


def boost(query: IndexQuery, weight: float) -> IndexQuery:
    """Return `query` with its score multiplied by `weight`."""
    return query if weight == 1.0 else IndexQuery.boost_query(query, weight)


def count_of(found: tantivy.SearchResult) -> int:
    """Return how many papers a search found in all."""
    return cast("Any", found).count  # missing from the package's types


def is_character(word: str) -> bool:
    """Return True for one character of a script without blanks, of which the index has pairs."""
    return len(word) == 1 and not word.isascii()


class IndexTerms:
    """Makes queries for one searcher, and remembers which words it has."""

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema) -> None:
        self._searcher = searcher
        self._schema = schema
        self.has_flags = fields.has_flags(schema)
        """False for an index of an earlier version."""
        self._known: dict[tuple[str, str], IndexQuery | None] = {}

    @property
    def papers(self) -> int:
        return self._searcher.num_docs

    def word(self, where: str, word: str) -> IndexQuery | None:
        """Return the query for papers with `word` in the field `where`, or None if there are none."""
        if (where, word) not in self._known:
            exists = self._searcher.doc_freq(where, word)
            self._known[where, word] = IndexQuery.term_query(self._schema, where, word) if exists else None
        return self._known[where, word]

    def phrase(self, where: str, words: list[str], *, slop: int = 0) -> IndexQuery:
        """Return the query for papers with `words` in a row in the field `where`."""
        if len(words) > 1:
            return IndexQuery.phrase_query(self._schema, where, list(words), slop=slop)
        if is_character(words[0]):
            return IndexQuery.regex_query(self._schema, where, f".?{words[0]}.?")
        return IndexQuery.term_query(self._schema, where, words[0])

    def beginning(self, where: Sequence[str], prefix: str) -> list[str]:
        """Return the most frequent words of these fields that begin with `prefix`."""
        known: Counter[str] = Counter()
        for name in where:
            known.update(dict(self._searcher.terms_with_prefix(name, prefix)))
        return [word for word, _ in known.most_common(PREFIX_TERMS)]

    def years(self, start: int | None, end: int | None) -> IndexQuery:
        """Return the query for papers of these years, both included; a paper without a year is of none."""
        first, last = max(start or 1, 1), _LAST_YEAR if end is None else min(end, _LAST_YEAR)
        if first > last:
            return IndexQuery.empty_query()
        return IndexQuery.range_query(self._schema, fields.YEAR, tantivy.FieldType.Unsigned, first, last)

    def facet(self, kind: str, facet: int) -> IndexQuery:
        """Return the query for papers that have this value."""
        return IndexQuery.const_score_query(IndexQuery.term_query(self._schema, fields.FACETS[kind], facet), 0.0)

    def exists(self, query: IndexQuery) -> bool:
        """Return True if any paper satisfies `query`."""
        return count_of(self._searcher.search(IndexQuery.const_score_query(query, 1.0), 1)) > 0
