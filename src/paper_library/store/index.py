"""The index's fields, and what of a paper goes into each.

Words are made in Python, by the function that also reads queries, and reach the index separated by spaces. One field
holds all that is said about a paper, stemmed: adding up scores of many fields ranks worse than one score over all of
it with something extra for the title and for the exact form.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import tantivy

from uraniborg.kernel.words import split_words, stem_words

ABOUT: Final = "about"  # title, abstract, keywords, tags: stemmed
TITLE: Final = "title"  # stemmed
EXACT: Final = "exact"  # what ABOUT holds, as written
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
YEAR: Final = "year"  # 0 for none, which puts it last of those in descending order
YEAR_OR_LAST: Final = "year_or_last"  # and this in ascending order
FACETS: Final = {kind: f"{kind}_facet" for kind in ("author", "venue", "keyword", "institution", "tag")}

_WORDS: Final = (ABOUT, TITLE, EXACT, FULL, FULL_EXACT, AUTHOR, VENUE, KEYWORD, TAG, INSTITUTION, IDENTIFIER, FLAG)
_NO_YEAR: Final = 1 << 16
_ANALYZER: Final = "as_given"


def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in _WORDS:
        builder.add_text_field(name, tokenizer_name=_ANALYZER, index_option="position")
    for name in (NUMBER, YEAR, *FACETS.values()):
        builder.add_unsigned_field(name, indexed=True, fast=True)
    builder.add_unsigned_field(YEAR_OR_LAST, fast=True)
    return builder.build()


def has_flags(schema: tantivy.Schema) -> bool:
    """Return False for the index of a shelf that was built before papers had flags."""
    try:
        tantivy.Query.term_query(schema, FLAG, "")
    except ValueError:
        return False
    return True


def create_index(folder: Path) -> tantivy.Index:
    """A new index in an empty folder."""
    index = _prepared(tantivy.Index(schema(), path=str(folder)))
    # Else a thread looks for changes, and takes a lock in the folder when it finds one.
    index.config_reader("manual", 0)
    return index


def open_index(folder: Path) -> tantivy.Index:
    """The index in `folder`, which must be writable for a moment. Raises ValueError for what is none."""
    return _prepared(tantivy.Index.open(str(folder)))


def _prepared(index: tantivy.Index) -> tantivy.Index:
    index.register_tokenizer(_ANALYZER, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    return index


def document(
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
) -> dict[str, Any]:
    """The fields of one paper; `lists` has author, keyword, institution and tag, `texts` what it says in full."""
    titled = split_words(title)
    said = titled + split_words(" . ".join([abstract, *lists["keyword"], *lists["tag"]]))
    fields: dict[str, Any] = {
        NUMBER: no,
        YEAR: year or 0,
        YEAR_OR_LAST: year or _NO_YEAR,
        ABOUT: " ".join(stem_words(said)),
        TITLE: " ".join(stem_words(titled)),
        EXACT: " ".join(said),
        VENUE: _said(venue),
        IDENTIFIER: " ".join("".join(value.lower().split()) for value in identifiers),
        AUTHOR: _spoken(lists["author"]),
        **{FACETS[kind]: ids for kind, ids in facets.items() if ids},
    }
    for kind in (KEYWORD, TAG, INSTITUTION):
        if lists[kind]:
            fields[kind] = _spoken(lists[kind])
    if flags:
        fields[FLAG] = " ".join(flags)
    if texts:
        told = [split_words(text) for text in texts]
        fields[FULL] = [" ".join(stem_words(found)) for found in told]
        fields[FULL_EXACT] = [" ".join(found) for found in told]
    return fields


def _spoken(values: Sequence[str]) -> list[str]:
    return list(map(_said, values))


@lru_cache(maxsize=1 << 17)
def _said(value: str) -> str:
    """Remembered: names and keywords come again and again."""
    return " ".join(split_words(value))
