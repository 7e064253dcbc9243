"""Compile parsed queries and filters into weighted index queries.

A word of the title, abstract, keywords or tags has weight 1. A word of the title adds to the score, and so does the
exact form. The full text weighs less, because long texts contain most words. The weights were checked on three
collections.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Final

import tantivy
from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.domain.limits import QUERY_WORDS
from paper_library.domain.paper_ids import spell_arxiv_for_id, spell_doi_for_id
from paper_library.domain.query import ParsedQuery, QueryUnit, find_distinctive_parts
from paper_library.errors import OutOfBounds
from paper_library.store import index as fields
from paper_library.store.index import IndexTerms, boost_query, is_single_character, make_any_query
from paper_library.store.shelf import Shelf
from uraniborg.kernel.bibliography.identifiers import normalise_arxiv, normalise_doi
from uraniborg.kernel.language.words import fold_text, split_words, stem_word

_STEM_WEIGHTS: Final = ((fields.ABOUT, 1.0), (fields.TITLE, 0.35), (fields.FULL, 0.4))
_WORD_WEIGHTS: Final = ((fields.EXACT, 0.17), (fields.AUTHOR, 0.5), (fields.VENUE, 0.2), (fields.IDENTIFIER, 2.0))
_STOP_WORD_WEIGHTS: Final = (*_WORD_WEIGHTS, (fields.FULL_EXACT, 0.4))
_PHRASE_WEIGHTS: Final = ((fields.EXACT, 1.0), (fields.FULL_EXACT, 0.4), (fields.AUTHOR, 0.5), (fields.VENUE, 0.2))
_PREFIX_WEIGHTS: Final = ((fields.EXACT, 1.0), (fields.FULL_EXACT, 0.4))
_PREFIX_FIELDS: Final = tuple(field_name for field_name, _ in _PREFIX_WEIGHTS)
_NAME_FIELDS: Final = (fields.AUTHOR, fields.VENUE, fields.IDENTIFIER)
_BOOST_WEIGHTS: Final = ((fields.EXACT, 0.3), (fields.FULL_EXACT, 0.12))
"""The weights of a phrase that improves the rank."""
_SPELLING: Final = 0.5
"""The weight of another spelling of a word."""
_TOP_FREQUENCY: Final = 2.2
"""The highest BM25 score of a word, in multiples of its rarity."""

_NO_SUCH_YEAR: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class WantedGroup:
    """A group of query units that papers may match, and the index query for it."""

    label: str
    papers: IndexQuery
    names: frozenset[str]
    """The stems, words or phrases; any one of them in a text is a match."""
    is_phrase: bool = False


@dataclass(slots=True)
class CompiledQuery:
    """An index query, and the words to show in its results."""

    query: IndexQuery
    filters: list[tuple[Occur, IndexQuery]] = field(default_factory=list[tuple[Occur, IndexQuery]])
    """The clauses of `query` that every paper must satisfy."""
    wanted_groups: list[WantedGroup] = field(default_factory=list[WantedGroup])
    highest_score: float = 0.0
    """An upper bound of the scores."""
    stems: set[str] = field(default_factory=set[str])
    """Snippets show words with these stems."""
    words: set[str] = field(default_factory=set[str])
    """Snippets show these exact words."""
    phrases: list[list[str]] = field(default_factory=list[list[str]])
    matched: set[str] = field(default_factory=set[str])
    """The index fields in which at least one paper has a word of the query."""
    in_full_text: list[IndexQuery] = field(default_factory=list[IndexQuery])
    missing: list[str] = field(default_factory=list[str])
    """Words that no paper has."""
    stop_words: list[str] = field(default_factory=list[str])
    """Words that are too common to be searched with the others."""
    split: list[str] = field(default_factory=list[str])
    """Names such as `trappist 9` that no paper has; their parts are searched."""
    unread: int = 0
    """The number of words beyond the limit."""
    is_empty: bool = False

    @classmethod
    def make_for_snippets(cls, text: str) -> "CompiledQuery":
        """Return a query that matches no paper; snippets show the words of `text`."""
        found = set(split_words(text))
        return cls(IndexQuery.empty_query(), stems={one for word in found if (one := stem_word(word))}, words=found)

    def make_query_for_all_groups(self) -> IndexQuery | None:
        """Return the query for papers that match every wanted group, or None if all results do."""
        if len(self.wanted_groups) < 2 and not any(group.is_phrase for group in self.wanted_groups):
            return None
        return IndexQuery.boolean_query([(Occur.Must, group.papers) for group in self.wanted_groups])


class Compiler:
    """Compiles the parsed queries of one search."""

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema) -> None:
        self.terms = IndexTerms(searcher, schema)
        self._result = CompiledQuery(IndexQuery.empty_query())

    def compile_query(self, parsed: ParsedQuery, restrictions: Iterable[IndexQuery] = ()) -> CompiledQuery:
        """Return the index query for the parsed query, limited by all `restrictions`."""
        result = self._result = CompiledQuery(IndexQuery.empty_query(), is_empty=parsed.is_blank)
        wanted = list(self._compile_wanted_groups(parsed))
        clauses = [(Occur.Must, one) for one in restrictions]
        clauses += [(Occur.Must, make_any_query(self._compile_units(group))) for group in parsed.required]
        if not (clauses or wanted or result.missing) and (parsed.is_blank or parsed.excluded):
            # A query that only excludes papers returns all others.
            clauses.append((Occur.Must, IndexQuery.all_query()))
        # Excluded words are not matches, so they are recorded in a separate result.
        self._result = CompiledQuery(IndexQuery.empty_query())
        clauses += [(Occur.MustNot, option) for option in self._compile_units(parsed.excluded)]
        self._result = result
        result.filters = [*clauses]
        if wanted or result.missing or not clauses:
            clauses.append((Occur.Must, make_any_query(wanted)))
        clauses += [
            (Occur.Should, option) for unit in parsed.boosting for option in self._compile_phrase(unit, _BOOST_WEIGHTS)
        ]
        result.query = clauses[0][1] if len(clauses) == 1 else IndexQuery.boolean_query(clauses)
        result.highest_score *= _TOP_FREQUENCY * log(2 + self.terms.papers)
        return result

    def _compile_wanted_groups(self, parsed: ParsedQuery) -> Iterator[IndexQuery]:
        """Yield scored queries for the wanted groups, and record the groups."""
        groups: list[list[QueryUnit]] = []
        word_units: list[QueryUnit] = []
        for group in parsed.wanted:
            if group[0].kind != "name":
                groups.append(group)
                word_units += (unit for unit in group if unit.kind == "word")
            elif phrases := self._compile_name(group[0]):
                yield from phrases
                self._result.wanted_groups.append(
                    WantedGroup(group[0].text, make_any_query(phrases), frozenset(_list_spellings(group[0])), True)
                )
                word_units += (QueryUnit("word", part) for part in find_distinctive_parts(group[0].text))
            else:
                self._result.split.append(group[0].text)
                parts = [QueryUnit("word", part) for part in group[0].text.split()]
                groups += ([part] for part in parts)
                word_units += parts
        self._result.unread += len(word_units[QUERY_WORDS:])
        word_units = word_units[:QUERY_WORDS]
        content = [unit for unit in word_units if stem_word(unit.text)]
        # A query of stop words only searches for them.
        if content or parsed.required or any(unit.kind != "word" for group in groups for unit in group):
            self._result.stop_words += dict.fromkeys(unit.text for unit in word_units if not stem_word(unit.text))
            word_units = content
        yield from self._compile_words(word_units)
        searched = {unit.text for unit in word_units}
        for label, group in {" OR ".join(map(str, group)): group for group in groups}.items():
            options = self._compile_units(unit for unit in group if unit.kind != "word")
            yield from options
            searched_units = [unit for unit in group if unit.kind == "word" and unit.text in searched]
            options += (query for unit in searched_units for query in self._make_word_queries(unit))
            if options:
                names = (stem_word(word) or word for unit in group for word in self._list_words_of_unit(unit))
                self._result.wanted_groups.append(WantedGroup(label, make_any_query(options), frozenset(names)))

    def _list_words_of_unit(self, unit: QueryUnit) -> Sequence[str]:
        return (
            self.terms.find_words_with_prefix(_PREFIX_FIELDS, unit.text)
            if unit.kind == "prefix"
            else _list_spellings(unit)
        )

    def _compile_name(self, name: QueryUnit) -> list[IndexQuery]:
        """Return scored queries for a name such as `TRAPPIST-1`, or an empty list if no paper has it."""
        phrases = list(self._compile_phrase(name))
        if not phrases or not self.terms.has_papers(make_any_query(phrases)):
            return []
        self._result.phrases += map(str.split, _list_spellings(name))
        return phrases

    def _compile_words(self, word_units: Sequence[QueryUnit]) -> Iterator[IndexQuery]:
        names = [unit.text for unit in word_units]
        self._result.words.update(names)
        stems = Counter(name for name in map(stem_word, names) if name)
        self._result.stems.update(stems)
        found: set[str] = set()
        for name, times in stems.items():
            for field_name, weight in _STEM_WEIGHTS:
                if query := self._compile_term(field_name, name, weight * times):
                    found.add(name)
                    yield query
        for unit in {unit.text: unit for unit in word_units}.values():
            here = [*self._compile_exact_word(unit.text), *self._compile_spellings(unit.spellings)]
            yield from here
            if not here and stem_word(unit.text) not in found:
                self._result.missing.append(unit.text)

    def _compile_exact_word(self, word: str) -> Iterator[IndexQuery]:
        if is_single_character(word):
            yield from self._compile_character(word)
            return
        for field_name, weight in _WORD_WEIGHTS if stem_word(word) else _STOP_WORD_WEIGHTS:
            if query := self._compile_term(field_name, word, weight):
                yield query

    def _compile_spellings(self, spellings: Sequence[str]) -> Iterator[IndexQuery]:
        for word in spellings:
            terms = [
                *((field_name, stem_word(word), weight) for field_name, weight in _STEM_WEIGHTS if stem_word(word))
            ]
            terms += ((field_name, word, weight) for field_name, weight in _WORD_WEIGHTS)
            here = [
                query
                for field_name, text, weight in terms
                if (query := self._compile_term(field_name, text, weight * _SPELLING))
            ]
            if here:
                self._result.words.add(word)
                yield from here

    def _make_word_queries(self, unit: QueryUnit) -> list[IndexQuery]:
        """Return queries for papers that have the word, in any spelling and field."""
        if is_single_character(unit.text):
            return list(self._compile_character(unit.text))
        terms: list[tuple[str, str]] = []
        for word in _list_spellings(unit):
            if name := stem_word(word):
                terms += [(fields.ABOUT, name), (fields.FULL, name)]
            else:
                terms += [(fields.EXACT, word), (fields.FULL_EXACT, word)]
            terms += ((field_name, word) for field_name in _NAME_FIELDS)
        return [query for field_name, text in terms if (query := self.terms.make_word_query(field_name, text))]

    def _compile_character(self, character: str) -> Iterator[IndexQuery]:
        for field_name, weight in _PREFIX_WEIGHTS:
            yield boost_query(self.terms.make_phrase_query(field_name, [character]), weight)

    def _compile_units(self, units: Iterable[QueryUnit]) -> list[IndexQuery]:
        return [option for unit in units for option in self._compile_unit(unit)]

    def _compile_unit(self, unit: QueryUnit) -> Iterator[IndexQuery]:
        match unit.kind:
            case "word":
                yield from self._compile_words([unit])
            case "prefix":
                yield from self._compile_prefix(unit.text)
            case "phrase" | "name":
                self._result.phrases += map(str.split, _list_spellings(unit))
                yield from self._compile_phrase(unit)
            case "years":
                yield self.terms.make_years_query(*unit.years)
            case "field":
                yield self._compile_field(unit)

    def _compile_phrase(
        self, unit: QueryUnit, weights: Sequence[tuple[str, float]] = _PHRASE_WEIGHTS
    ) -> Iterator[IndexQuery]:
        """Yield a scored query for each field that has all words of the phrase."""
        for parts in map(str.split, _list_spellings(unit)):
            for field_name, weight in weights:
                if all(is_single_character(part) or self.terms.make_word_query(field_name, part) for part in parts):
                    query = self.terms.make_phrase_query(field_name, parts)
                    self._record_match(field_name, query, weight * len(parts))
                    yield boost_query(query, weight)

    def _compile_field(self, unit: QueryUnit) -> IndexQuery:
        if unit.field in ("doi", "arxiv"):
            return make_any_query(
                [self.terms.make_phrase_query(fields.IDENTIFIER, [text]) for text in _list_identifier_spellings(unit)]
            )
        if unit.field == fields.FLAG and not self.terms.has_flags:
            return IndexQuery.empty_query()
        return make_any_query([self._compile_field_value(unit, text.split()) for text in _list_spellings(unit)])

    def _compile_field_value(self, unit: QueryUnit, parts: list[str]) -> IndexQuery:
        if unit.field == fields.TITLE:
            parts = [one for word in parts if (one := stem_word(word))] or parts
        if unit.quoted:
            return self.terms.make_phrase_query(unit.field, parts, slop=2 if unit.field == fields.AUTHOR else 0)
        return IndexQuery.boolean_query(
            [(Occur.Must, self.terms.make_phrase_query(unit.field, [word])) for word in parts]
        )

    def _compile_prefix(self, prefix: str) -> Iterator[IndexQuery]:
        known = self.terms.find_words_with_prefix(_PREFIX_FIELDS, prefix)
        self._result.words.update(known)
        for word in known:
            for field_name, weight in _PREFIX_WEIGHTS:
                if query := self._compile_term(field_name, word, weight):
                    yield query
        if not known:
            self._result.missing.append(f"{prefix}*")

    def _compile_term(self, field_name: str, word: str, weight: float) -> IndexQuery | None:
        """Return the query for a word in a field with this weight, or None if no paper has it."""
        query = self.terms.make_word_query(field_name, word)
        if query is None:
            return None
        self._record_match(field_name, query, weight)
        return boost_query(query, weight)

    def _record_match(self, field_name: str, query: IndexQuery, weight: float) -> None:
        self._result.matched.add(field_name)
        self._result.highest_score += weight
        if field_name in (fields.FULL, fields.FULL_EXACT):
            self._result.in_full_text.append(query)


def _list_spellings(unit: QueryUnit) -> tuple[str, ...]:
    return (unit.text, *unit.spellings)


def _list_identifier_spellings(unit: QueryUnit) -> list[str]:
    """Return the spellings under which an identifier can be indexed: that of paper ids and the canonical one."""
    spell, normalise = (
        (spell_doi_for_id, normalise_doi) if unit.field == "doi" else (spell_arxiv_for_id, normalise_arxiv)
    )
    found = filter(None, (spell(unit.text), normalise(unit.text)))
    return list(dict.fromkeys(found)) or [unit.text.lower()]


def compile_filters(shelf: Shelf, terms: IndexTerms, filters: Mapping[str, str]) -> list[IndexQuery]:
    """Return a query for each filter: whole values by facet kind, or years. Raise OutOfBounds."""
    found: list[IndexQuery] = []
    for kind, value in filters.items():
        if kind == "year":
            start, _, end = value.partition("..")
            found.append(terms.make_years_query(_parse_year(start), _parse_year(end if ".." in value else start)))
            continue
        facet = shelf.find_facet_id(kind, fold_text(" ".join(value.split())))
        found.append(IndexQuery.empty_query() if facet is None else terms.make_facet_query(kind, facet))
    return found


def _parse_year(text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal():
        raise OutOfBounds("year", "a year such as 2021, or years such as 2019..2023")
    return int(text) if len(text) < 10 else _NO_SUCH_YEAR
