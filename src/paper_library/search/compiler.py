"""From a query as it was read to a query of the index, with its weights.

A word of the title, abstract, keywords or tags counts once; a word of the title a bit more, its exact form a bit more
again; the full text less, because long texts hold every word somewhere. The weights were set on principle and checked
on three collections.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Final

import tantivy
from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.identity import spell_arxiv_for_id, spell_doi_for_id
from paper_library.limits import QUERY_WORDS
from paper_library.search.index_terms import IndexTerms, any_of, boost, is_character
from paper_library.search.query import Query, Unit, telling_parts
from paper_library.store import index as fields
from uraniborg.kernel.bibliography.identifiers import normalise_arxiv, normalise_doi
from uraniborg.kernel.words import split_words, stem_word

_STEM_WEIGHTS: Final = ((fields.ABOUT, 1.0), (fields.TITLE, 0.35), (fields.FULL, 0.4))
_WORD_WEIGHTS: Final = ((fields.EXACT, 0.17), (fields.AUTHOR, 0.5), (fields.VENUE, 0.2), (fields.IDENTIFIER, 2.0))
_STOP_WORD_WEIGHTS: Final = (*_WORD_WEIGHTS, (fields.FULL_EXACT, 0.4))
_PHRASE_WEIGHTS: Final = ((fields.EXACT, 1.0), (fields.FULL_EXACT, 0.4), (fields.AUTHOR, 0.5), (fields.VENUE, 0.2))
_PREFIX_WEIGHTS: Final = ((fields.EXACT, 1.0), (fields.FULL_EXACT, 0.4))
_PREFIX_FIELDS: Final = tuple(where for where, _ in _PREFIX_WEIGHTS)
_NAME_FIELDS: Final = (fields.AUTHOR, fields.VENUE, fields.IDENTIFIER)
_BOOST_WEIGHTS: Final = ((fields.EXACT, 0.3), (fields.FULL_EXACT, 0.12))
"""Of a phrase that improves the rank beside its words."""
_SPELLING: Final = 0.5
"""The weight of another spelling of a word."""
_TOP_FREQUENCY: Final = 2.2
"""How many times its rarity a word scores in BM25 at most."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A group of the query that a paper may have, and the index query for the papers that have it."""

    label: str
    papers: IndexQuery
    names: frozenset[str]
    """The stems, words or phrases of which any one in a text shows that the paper has it."""
    is_phrase: bool = False


@dataclass(slots=True)
class Compiled:
    query: IndexQuery
    filters: list[tuple[Occur, IndexQuery]] = field(default_factory=list[tuple[Occur, IndexQuery]])
    """The clauses of `query` that hold whatever wishes a paper has."""
    wishes: list[Wish] = field(default_factory=list[Wish])
    highest_score: float = 0.0
    """No paper scores higher."""
    stems: set[str] = field(default_factory=set[str])
    """Snippets show words with these stems,"""
    words: set[str] = field(default_factory=set[str])
    """and these very words."""
    phrases: list[list[str]] = field(default_factory=list[list[str]])
    matched: set[str] = field(default_factory=set[str])
    """The fields of the index in which some paper has a word of the query."""
    in_full_text: list[IndexQuery] = field(default_factory=list[IndexQuery])
    missing: list[str] = field(default_factory=list[str])
    """Words that no paper has."""
    stop_words: list[str] = field(default_factory=list[str])
    """Words too common to be searched beside the others."""
    split: list[str] = field(default_factory=list[str])
    """Names such as `trappist 9` that no paper has, of which the parts are searched."""
    unread: int = 0
    """How many words there were beyond the bound."""
    is_empty: bool = False

    @classmethod
    def for_snippets(cls, text: str) -> "Compiled":
        """Return a result that shows the words of `text`, and finds nothing."""
        found = set(split_words(text))
        return cls(IndexQuery.empty_query(), stems={one for word in found if (one := stem_word(word))}, words=found)

    def with_every_wish(self) -> IndexQuery | None:
        """Return the query for the papers that have every wish, or None if all papers do."""
        if len(self.wishes) < 2 and not any(wish.is_phrase for wish in self.wishes):
            return None
        return IndexQuery.boolean_query([(Occur.Must, wish.papers) for wish in self.wishes])


class Compiler:
    """Compiles the queries of one search."""

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema) -> None:
        self.terms = IndexTerms(searcher, schema)
        self._result = Compiled(IndexQuery.empty_query())

    def compile(self, read: Query, restrictions: Iterable[IndexQuery] = ()) -> Compiled:
        """Return the index query for `read`, of which every one of `restrictions` must hold too."""
        result = self._result = Compiled(IndexQuery.empty_query(), is_empty=read.is_blank)
        wanted = list(self._wanted(read))
        clauses = [(Occur.Must, one) for one in restrictions]
        clauses += [(Occur.Must, any_of(self._options_of(group))) for group in read.required]
        if not (clauses or wanted or result.missing) and (read.is_blank or read.excluded):
            # A query that only excludes asks for the rest.
            clauses.append((Occur.Must, IndexQuery.all_query()))
        # An excluded word is not a match, so it goes into another result.
        self._result = Compiled(IndexQuery.empty_query())
        clauses += [(Occur.MustNot, option) for option in self._options_of(read.excluded)]
        self._result = result
        result.filters = [*clauses]
        if wanted or result.missing or not clauses:
            clauses.append((Occur.Must, any_of(wanted)))
        clauses += [(Occur.Should, option) for unit in read.boosting for option in self._phrases(unit, _BOOST_WEIGHTS)]
        result.query = clauses[0][1] if len(clauses) == 1 else IndexQuery.boolean_query(clauses)
        result.highest_score *= _TOP_FREQUENCY * log(2 + self.terms.papers)
        return result

    def _wanted(self, read: Query) -> Iterator[IndexQuery]:
        """Yield scored queries for what a paper may have, and fill in the wishes."""
        groups: list[list[Unit]] = []
        asked: list[Unit] = []
        for group in read.wanted:
            if group[0].kind != "name":
                groups.append(group)
                asked += (unit for unit in group if unit.kind == "word")
            elif phrases := self._phrases_of_name(group[0]):
                yield from phrases
                self._result.wishes.append(Wish(group[0].text, any_of(phrases), frozenset(_texts(group[0])), True))
                asked += (Unit("word", part) for part in telling_parts(group[0].text))
            else:
                self._result.split.append(group[0].text)
                parts = [Unit("word", part) for part in group[0].text.split()]
                groups += ([part] for part in parts)
                asked += parts
        self._result.unread += len(asked[QUERY_WORDS:])
        asked = asked[:QUERY_WORDS]
        content = [unit for unit in asked if stem_word(unit.text)]
        # A query of nothing but stop words means them.
        if content or read.required or any(unit.kind != "word" for group in groups for unit in group):
            self._result.stop_words += dict.fromkeys(unit.text for unit in asked if not stem_word(unit.text))
            asked = content
        yield from self._score(asked)
        searched = {unit.text for unit in asked}
        for label, group in {" OR ".join(map(str, group)): group for group in groups}.items():
            options = self._options_of(unit for unit in group if unit.kind != "word")
            yield from options
            words = [unit for unit in group if unit.kind == "word" and unit.text in searched]
            options += (query for unit in words for query in self._papers_with(unit))
            if options:
                names = (stem_word(word) or word for unit in group for word in self._spell_out(unit))
                self._result.wishes.append(Wish(label, any_of(options), frozenset(names)))

    def _spell_out(self, unit: Unit) -> Sequence[str]:
        return self.terms.beginning(_PREFIX_FIELDS, unit.text) if unit.kind == "prefix" else _texts(unit)

    def _phrases_of_name(self, name: Unit) -> list[IndexQuery]:
        """Return scored queries for a name such as `TRAPPIST-1`, or nothing if no paper has it."""
        phrases = list(self._phrases(name))
        if not phrases or not self.terms.exists(any_of(phrases)):
            return []
        self._result.phrases += map(str.split, _texts(name))
        return phrases

    def _score(self, asked: Sequence[Unit]) -> Iterator[IndexQuery]:
        """Yield a query for each word and each field in which some paper has it."""
        names = [unit.text for unit in asked]
        self._result.words.update(names)
        stems = Counter(name for name in map(stem_word, names) if name)
        self._result.stems.update(stems)
        found: set[str] = set()
        for name, times in stems.items():
            for where, weight in _STEM_WEIGHTS:
                if query := self._term(where, name, weight * times):
                    found.add(name)
                    yield query
        for unit in {unit.text: unit for unit in asked}.values():
            here = [*self._score_exactly(unit.text), *self._score_spellings(unit.spellings)]
            yield from here
            if not here and stem_word(unit.text) not in found:
                self._result.missing.append(unit.text)

    def _score_exactly(self, word: str) -> Iterator[IndexQuery]:
        if is_character(word):
            yield from self._characters(word)
            return
        for where, weight in _WORD_WEIGHTS if stem_word(word) else _STOP_WORD_WEIGHTS:
            if query := self._term(where, word, weight):
                yield query

    def _score_spellings(self, spellings: Sequence[str]) -> Iterator[IndexQuery]:
        for word in spellings:
            terms = [*((where, stem_word(word), weight) for where, weight in _STEM_WEIGHTS if stem_word(word))]
            terms += ((where, word, weight) for where, weight in _WORD_WEIGHTS)
            here = [query for where, text, weight in terms if (query := self._term(where, text, weight * _SPELLING))]
            if here:
                self._result.words.add(word)
                yield from here

    def _papers_with(self, unit: Unit) -> list[IndexQuery]:
        """Return queries for the papers that have the word, in any spelling and field."""
        if is_character(unit.text):
            return list(self._characters(unit.text))
        places: list[tuple[str, str]] = []
        for word in _texts(unit):
            if name := stem_word(word):
                places += [(fields.ABOUT, name), (fields.FULL, name)]
            else:
                places += [(fields.EXACT, word), (fields.FULL_EXACT, word)]
            places += ((where, word) for where in _NAME_FIELDS)
        return [query for where, text in places if (query := self.terms.word(where, text))]

    def _characters(self, character: str) -> Iterator[IndexQuery]:
        for where, weight in _PREFIX_WEIGHTS:
            yield boost(self.terms.phrase(where, [character]), weight)

    def _options_of(self, units: Iterable[Unit]) -> list[IndexQuery]:
        return [option for unit in units for option in self._options(unit)]

    def _options(self, unit: Unit) -> Iterator[IndexQuery]:
        match unit.kind:
            case "word":
                yield from self._score([unit])
            case "prefix":
                yield from self._beginning(unit.text)
            case "phrase" | "name":
                self._result.phrases += map(str.split, _texts(unit))
                yield from self._phrases(unit)
            case "years":
                yield self.terms.years(*unit.years)
            case "field":
                yield self._field(unit)

    def _phrases(self, unit: Unit, weights: Sequence[tuple[str, float]] = _PHRASE_WEIGHTS) -> Iterator[IndexQuery]:
        """Yield a query for each field in which papers have the words of a phrase."""
        for parts in map(str.split, _texts(unit)):
            for where, weight in weights:
                if all(is_character(part) or self.terms.word(where, part) for part in parts):
                    query = self.terms.phrase(where, parts)
                    self._record(where, query, weight * len(parts))
                    yield boost(query, weight)

    def _field(self, unit: Unit) -> IndexQuery:
        if unit.field in ("doi", "arxiv"):
            return any_of([self.terms.phrase(fields.IDENTIFIER, [text]) for text in _spell_identifier(unit)])
        if unit.field == fields.FLAG and not self.terms.has_flags:
            return IndexQuery.empty_query()
        return any_of([self._field_value(unit, text.split()) for text in _texts(unit)])

    def _field_value(self, unit: Unit, parts: list[str]) -> IndexQuery:
        if unit.field == fields.TITLE:
            parts = [one for word in parts if (one := stem_word(word))] or parts
        if unit.quoted:
            return self.terms.phrase(unit.field, parts, slop=2 if unit.field == fields.AUTHOR else 0)
        return IndexQuery.boolean_query([(Occur.Must, self.terms.phrase(unit.field, [word])) for word in parts])

    def _beginning(self, prefix: str) -> Iterator[IndexQuery]:
        known = self.terms.beginning(_PREFIX_FIELDS, prefix)
        self._result.words.update(known)
        for word in known:
            for where, weight in _PREFIX_WEIGHTS:
                if query := self._term(where, word, weight):
                    yield query
        if not known:
            self._result.missing.append(f"{prefix}*")

    def _term(self, where: str, word: str, weight: float) -> IndexQuery | None:
        """Return the query for a word in a field, scored by `weight`, or None if no paper has it there."""
        query = self.terms.word(where, word)
        if query is None:
            return None
        self._record(where, query, weight)
        return boost(query, weight)

    def _record(self, where: str, query: IndexQuery, weight: float) -> None:
        self._result.matched.add(where)
        self._result.highest_score += weight
        if where in (fields.FULL, fields.FULL_EXACT):
            self._result.in_full_text.append(query)


def _texts(unit: Unit) -> tuple[str, ...]:
    return (unit.text, *unit.spellings)


def _spell_identifier(unit: Unit) -> list[str]:
    """Return the spellings under which an identifier can be indexed: that of paper ids and the canonical one."""
    spell, normalise = (
        (spell_doi_for_id, normalise_doi) if unit.field == "doi" else (spell_arxiv_for_id, normalise_arxiv)
    )
    found = filter(None, (spell(unit.text), normalise(unit.text)))
    return list(dict.fromkeys(found)) or [unit.text.lower()]
