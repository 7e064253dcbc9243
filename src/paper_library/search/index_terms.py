"""Make elementary index queries: a word, a phrase, a prefix, years, a facet value."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, cast

import tantivy
from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.limits import PREFIX_TERMS
from paper_library.store import index as fields

_LAST_YEAR: Final = 1 << 32


def make_any_query(options: Sequence[IndexQuery]) -> IndexQuery:
    """Return the query for papers that match one of `options`; for no paper if there are none."""
    if not options:
        return IndexQuery.empty_query()
    return options[0] if len(options) == 1 else IndexQuery.boolean_query([(Occur.Should, one) for one in options])


def boost_query(query: IndexQuery, weight: float) -> IndexQuery:
    """Return `query` with its score multiplied by `weight`."""
    return query if weight == 1.0 else IndexQuery.boost_query(query, weight)


def count_results(found: tantivy.SearchResult) -> int:
    """Return the total number of papers that a search found."""
    return cast("Any", found).count  # not in the package's type hints


def is_single_character(word: str) -> bool:
    """Return True for a single character of a script without spaces, which the index stores in pairs."""
    return len(word) == 1 and not word.isascii()


class IndexTerms:
    """Makes queries for one searcher, and caches which words it has."""

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema) -> None:
        self._searcher = searcher
        self._schema = schema
        self.has_flags = fields.has_flags(schema)
        """False for the index of an older shelf."""
        self._known: dict[tuple[str, str], IndexQuery | None] = {}

    @property
    def papers(self) -> int:
        """The number of papers in the index."""
        return self._searcher.num_docs

    def make_word_query(self, field_name: str, word: str) -> IndexQuery | None:
        """Return the query for papers with `word` in the field `field_name`, or None if no paper has it."""
        if (field_name, word) not in self._known:
            exists = self._searcher.doc_freq(field_name, word)
            self._known[field_name, word] = IndexQuery.term_query(self._schema, field_name, word) if exists else None
        return self._known[field_name, word]

    def make_phrase_query(self, field_name: str, words: list[str], *, slop: int = 0) -> IndexQuery:
        """Return the query for papers with these consecutive `words` in the field `field_name`."""
        if len(words) > 1:
            return IndexQuery.phrase_query(self._schema, field_name, list(words), slop=slop)
        if is_single_character(words[0]):
            return IndexQuery.regex_query(self._schema, field_name, f".?{words[0]}.?")
        return IndexQuery.term_query(self._schema, field_name, words[0])

    def find_words_with_prefix(self, field_name: Sequence[str], prefix: str) -> list[str]:
        """Return the most frequent words of these fields that start with `prefix`."""
        known: Counter[str] = Counter()
        for name in field_name:
            known.update(dict(self._searcher.terms_with_prefix(name, prefix)))
        return [word for word, _ in known.most_common(PREFIX_TERMS)]

    def make_years_query(self, start: int | None, end: int | None) -> IndexQuery:
        """Return the query for papers from `start` to `end`, both included; papers without a year do not match."""
        first, last = max(start or 1, 1), _LAST_YEAR if end is None else min(end, _LAST_YEAR)
        if first > last:
            return IndexQuery.empty_query()
        return IndexQuery.range_query(self._schema, fields.YEAR, tantivy.FieldType.Unsigned, first, last)

    def make_facet_query(self, kind: str, facet: int) -> IndexQuery:
        """Return the query for papers with this facet value."""
        return IndexQuery.const_score_query(IndexQuery.term_query(self._schema, fields.FACETS[kind], facet), 0.0)

    def has_papers(self, query: IndexQuery) -> bool:
        """Return True if any paper matches `query`."""
        return count_results(self._searcher.search(IndexQuery.const_score_query(query, 1.0), 1)) > 0
