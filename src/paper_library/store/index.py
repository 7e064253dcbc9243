"""Define the full-text index: its fields, the document of a paper, and queries for a word, phrase or filter.

The same function splits texts and queries into words; the index receives them separated by spaces. One field has all
stemmed words of title, abstract, keywords and tags: one score over all of them ranks better than a sum over many
fields. Title and exact words add to this score.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import tantivy
from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.domain.limits import PREFIX_TERMS
from uraniborg.kernel.language.words import split_words, stem_words

ABOUT: Final = "about"  # title, abstract, keywords, tags: stemmed
TITLE: Final = "title"  # stemmed
EXACT: Final = "exact"  # the words of ABOUT, not stemmed
FULL: Final = "full"  # summaries, source and translations: stemmed
FULL_EXACT: Final = "full_exact"
AUTHOR: Final = "author"
VENUE: Final = "venue"
KEYWORD: Final = "keyword"
TAG: Final = "tag"
INSTITUTION: Final = "institution"
IDENTIFIER: Final = "identifier"
FLAG: Final = "is"  # retracted
NUMBER: Final = "no"
YEAR: Final = "year"  # 0 for none, which sorts last in descending order
YEAR_OR_LAST: Final = "year_or_last"  # sorts papers without a year last in ascending order
FACETS: Final = {kind: f"{kind}_facet" for kind in ("author", "venue", "keyword", "institution", "tag")}

_WORDS: Final = (ABOUT, TITLE, EXACT, FULL, FULL_EXACT, AUTHOR, VENUE, KEYWORD, TAG, INSTITUTION, IDENTIFIER, FLAG)
_NO_YEAR: Final = 1 << 16
_ANALYZER: Final = "as_given"


def make_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in _WORDS:
        builder.add_text_field(name, tokenizer_name=_ANALYZER, index_option="position")
    for name in (NUMBER, YEAR, *FACETS.values()):
        builder.add_unsigned_field(name, indexed=True, fast=True)
    builder.add_unsigned_field(YEAR_OR_LAST, fast=True)
    return builder.build()


def has_flags(schema: tantivy.Schema) -> bool:
    """Return False for the index of an old shelf, which has no flags."""
    try:
        tantivy.Query.term_query(schema, FLAG, "")
    except ValueError:
        return False
    return True


def create_index(folder: Path) -> tantivy.Index:
    """Create an index in an empty folder."""
    index = _register_analyzer(tantivy.Index(make_schema(), path=str(folder)))
    # Otherwise a thread watches for changes and creates lock files in the folder.
    index.config_reader("manual", 0)
    return index


def open_index(folder: Path) -> tantivy.Index:
    """Open the index in `folder`, which must be writable. Raise ValueError if there is none."""
    return _register_analyzer(tantivy.Index.open(str(folder)))


IndexFields: TypeAlias = dict[str, int | str | list[int] | list[str]]
"""The fields of a paper in the index, by name."""


def _register_analyzer(index: tantivy.Index) -> tantivy.Index:
    index.register_tokenizer(_ANALYZER, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    return index


def make_document_fields(
    *,
    no: int,
    title: str,
    abstract: str,
    year: int | None,
    venue: str,
    lists: Mapping[str, Sequence[str]],
    identifiers: Sequence[str],
    texts: Sequence[str],
    facets: Mapping[str, list[int]],
    flags: Sequence[str] = (),
) -> IndexFields:
    """Return the index fields of one paper; `lists` has author, keyword, institution and tag."""
    title_words = split_words(title)
    about = title_words + split_words(" . ".join([abstract, *lists["keyword"], *lists["tag"]]))
    fields: IndexFields = {
        NUMBER: no,
        YEAR: year or 0,
        YEAR_OR_LAST: year or _NO_YEAR,
        ABOUT: " ".join(stem_words(about)),
        TITLE: " ".join(stem_words(title_words)),
        EXACT: " ".join(about),
        VENUE: _join_words(venue),
        IDENTIFIER: " ".join("".join(value.lower().split()) for value in identifiers),
        AUTHOR: _join_words_of_each(lists["author"]),
        **{FACETS[kind]: ids for kind, ids in facets.items() if ids},
    }
    for kind in (KEYWORD, TAG, INSTITUTION):
        if lists[kind]:
            fields[kind] = _join_words_of_each(lists[kind])
    if flags:
        fields[FLAG] = " ".join(flags)
    if texts:
        text_words = [split_words(text) for text in texts]
        fields[FULL] = [" ".join(stem_words(found)) for found in text_words]
        fields[FULL_EXACT] = [" ".join(found) for found in text_words]
    return fields


def _join_words_of_each(values: Sequence[str]) -> list[str]:
    return list(map(_join_words, values))


@lru_cache(maxsize=1 << 17)
def _join_words(value: str) -> str:
    """Return the words of a value. Cached, because names and keywords repeat."""
    return " ".join(split_words(value))


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
        self.has_flags = has_flags(schema)
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
        return IndexQuery.range_query(self._schema, YEAR, tantivy.FieldType.Unsigned, first, last)

    def make_facet_query(self, kind: str, facet: int) -> IndexQuery:
        """Return the query for papers with this facet value."""
        return IndexQuery.const_score_query(IndexQuery.term_query(self._schema, FACETS[kind], facet), 0.0)

    def has_papers(self, query: IndexQuery) -> bool:
        """Return True if any paper matches `query`."""
        return count_results(self._searcher.search(IndexQuery.const_score_query(query, 1.0), 1)) > 0
