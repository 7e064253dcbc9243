"""From a query as it was read to a query of the index, with its weights.

What is said about a paper counts once; a title's word a bit more, its exact form a bit more again; the full text less,
because long texts hold every word somewhere. The weights were set on principle and checked on three collections.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import tantivy
from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.identity import normalised_arxiv, normalised_doi
from paper_library.limits import PREFIX_TERMS, QUERY_WORDS
from paper_library.search import fields
from paper_library.search.query import Query, Unit
from uraniborg.kernel.text import stem, words

_STEM_WEIGHTS: Final = ((fields.ABOUT, 1.0), (fields.TITLE, 0.3), (fields.FULL, 0.4))
_WORD_WEIGHTS: Final = ((fields.EXACT, 0.2), (fields.AUTHOR, 0.5), (fields.VENUE, 0.2), (fields.IDENTIFIER, 2.0))
_PHRASE_WEIGHTS: Final = ((fields.EXACT, 1.0), (fields.FULL_EXACT, 0.4), (fields.AUTHOR, 0.5), (fields.VENUE, 0.2))
_LAST_YEAR: Final = 1 << 32


@dataclass(slots=True)
class Compiled:
    query: IndexQuery
    stems: set[str] = field(default_factory=set[str])
    """What snippets show: words with these stems,"""
    words: set[str] = field(default_factory=set[str])
    """and these very words."""
    phrases: list[list[str]] = field(default_factory=list[list[str]])
    missing: list[str] = field(default_factory=list[str])
    """Words that no paper has."""
    dropped: list[str] = field(default_factory=list[str])
    """Words too common to look for beside the others."""
    unread: int = 0
    """How many words there were beyond the bound."""
    is_empty: bool = False

    @classmethod
    def for_snippets(cls, text: str) -> "Compiled":
        """What shows the words of `text`, and finds nothing."""
        found = set(words(text))
        return cls(IndexQuery.empty_query(), stems={one for word in found if (one := stem(word))}, words=found)


class Compiler:
    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema) -> None:
        self._searcher = searcher
        self._schema = schema

    def compile(self, read: Query, restrictions: Iterable[IndexQuery] = ()) -> Compiled:
        """The index query for `read`, of which every one of `restrictions` must hold too."""
        result = Compiled(IndexQuery.empty_query())
        clauses = [(Occur.Must, one) for one in restrictions]
        scored = list(self._words(read.wanted, result))
        if scored:
            clauses.append((Occur.Must, IndexQuery.boolean_query([(Occur.Should, one) for one in scored])))
        elif read.wanted:
            clauses.append((Occur.Must, IndexQuery.empty_query()))
        for group in read.required:
            options = [option for unit in group for option in self._options(unit, result)]
            clauses.append((Occur.Must, _any(options)))
        result.is_empty = read.is_blank
        if not clauses:
            # Whoever only excludes wants the rest; whoever typed nothing that is a word wants nothing we have.
            rest = IndexQuery.all_query() if read.is_blank or read.excluded else IndexQuery.empty_query()
            clauses.append((Occur.Must, rest))
        # What is excluded is no match, so it is compiled beside the point.
        unseen = Compiled(IndexQuery.empty_query())
        for unit in read.excluded:
            clauses += [(Occur.MustNot, option) for option in self._options(unit, unseen)]
        only = len(clauses) == 1 and clauses[0][0] == Occur.Must
        result.query = clauses[0][1] if only else IndexQuery.boolean_query(clauses)
        return result

    def years(self, start: int | None, end: int | None) -> IndexQuery:
        """Papers of these years, both included; those without a year are of none."""
        first, last = max(start or 1, 1), _LAST_YEAR if end is None else min(end, _LAST_YEAR)
        if first > last:
            return IndexQuery.empty_query()
        return IndexQuery.range_query(self._schema, fields.YEAR, tantivy.FieldType.Unsigned, first, last)

    def facet(self, kind: str, facet: int) -> IndexQuery:
        return IndexQuery.const_score_query(IndexQuery.term_query(self._schema, fields.FACETS[kind], facet), 0.0)

    def _words(self, units: list[Unit], result: Compiled) -> Iterator[IndexQuery]:
        asked = [unit.text for unit in units if unit.kind == "word"]
        result.unread += len(asked[QUERY_WORDS:])
        asked = asked[:QUERY_WORDS]
        content = [word for word in asked if stem(word)]
        result.dropped += dict.fromkeys(word for word in asked if content and not stem(word))
        result.words.update(content or asked)
        result.stems.update(stem(word) for word in content)
        found: set[str] = set()
        for name, times in Counter(map(stem, content)).items():
            for where, weight in _STEM_WEIGHTS:
                if query := self._term(where, name, weight * times):
                    found.add(name)
                    yield query
        # A query of nothing but common words means them.
        extra = () if content else ((fields.FULL_EXACT, 0.4),)
        for word in dict.fromkeys(content or asked):
            here = list(self._exactly(word, extra))
            yield from here
            if not here and stem(word) not in found:
                result.missing.append(word)
        for unit in units:
            if unit.kind != "word":
                yield from self._options(unit, result)

    def _exactly(self, word: str, extra: tuple[tuple[str, float], ...]) -> Iterator[IndexQuery]:
        if len(word) == 1 and not word.isascii():
            yield from self._character(word)
            return
        for where, weight in (*_WORD_WEIGHTS, *extra):
            if query := self._term(where, word, weight):
                yield query

    def _character(self, character: str) -> Iterator[IndexQuery]:
        """One character of a script whose words are pairs of them."""
        for where, weight in ((fields.EXACT, 1.0), (fields.FULL_EXACT, 0.4)):
            yield IndexQuery.boost_query(self._phrase(where, [character], 1.0), weight)

    def _options(self, unit: Unit, result: Compiled) -> Iterator[IndexQuery]:
        match unit.kind:
            case "word":
                yield from self._words([unit], result)
            case "prefix":
                yield from self._beginning(unit.text, result)
            case "phrase":
                said = unit.text.split()
                result.phrases.append(said)
                yield from (self._phrase(where, said, weight) for where, weight in _PHRASE_WEIGHTS)
            case "years":
                yield self.years(*unit.years)
            case "field":
                yield self._field(unit)

    def _field(self, unit: Unit) -> IndexQuery:
        if unit.field in ("doi", "arxiv"):
            known = normalised_doi(unit.text) if unit.field == "doi" else normalised_arxiv(unit.text)
            return self._phrase(fields.IDENTIFIER, [known or unit.text.lower()], 1.0)
        if unit.field == fields.FLAG and not fields.has_flags(self._schema):
            return IndexQuery.empty_query()
        said = unit.text.split()
        if unit.field == fields.TITLE:
            said = [one for word in said if (one := stem(word))] or said
        if unit.quoted:
            return self._phrase(unit.field, said, 1.0, slop=2 if unit.field == fields.AUTHOR else 0)
        return IndexQuery.boolean_query([(Occur.Must, self._phrase(unit.field, [word], 1.0)) for word in said])

    def _beginning(self, prefix: str, result: Compiled) -> Iterator[IndexQuery]:
        known: Counter[str] = Counter()
        for where in (fields.EXACT, fields.FULL_EXACT):
            known.update(dict(self._searcher.terms_with_prefix(where, prefix)))
        for word, _ in known.most_common(PREFIX_TERMS):
            result.words.add(word)
            for where, weight in ((fields.EXACT, 1.0), (fields.FULL_EXACT, 0.4)):
                if query := self._term(where, word, weight):
                    yield query
        if not known:
            result.missing.append(f"{prefix}*")

    def _term(self, where: str, word: str, weight: float) -> IndexQuery | None:
        if not self._searcher.doc_freq(where, word):
            return None
        query = IndexQuery.term_query(self._schema, where, word)
        return query if weight == 1.0 else IndexQuery.boost_query(query, weight)

    def _phrase(self, where: str, said: list[str], weight: float, *, slop: int = 0) -> IndexQuery:
        if len(said) == 1 and len(said[0]) == 1 and not said[0].isascii():
            # Of scripts without blanks the index has pairs of characters.
            query = IndexQuery.regex_query(self._schema, where, f".?{said[0]}.?")
        elif len(said) == 1:
            query = IndexQuery.term_query(self._schema, where, said[0])
        else:
            query = IndexQuery.phrase_query(self._schema, where, list(said), slop=slop)
        return query if weight == 1.0 else IndexQuery.boost_query(query, weight)


def _any(options: list[IndexQuery]) -> IndexQuery:
    if not options:
        return IndexQuery.empty_query()
    return options[0] if len(options) == 1 else IndexQuery.boolean_query([(Occur.Should, one) for one in options])
