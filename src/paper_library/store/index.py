"""Define the full-text index: its fields, and the document of a paper.

The same function splits texts and queries into words; the index receives them separated by spaces. One field has all
stemmed words of title, abstract, keywords and tags: one score over all of them ranks better than a sum over many
fields. Title and exact words add to this score.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

import tantivy

from uraniborg.kernel.words import split_words, stem_words

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
