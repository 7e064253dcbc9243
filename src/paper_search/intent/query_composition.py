"""Ideas, which are concepts with their synonyms, and the queries composed of them from strict to broad."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from paper_search.intent.authors import is_title_case
from paper_search.intent.concepts import count_name_words, find_acronyms, find_alternatives, is_function_word
from paper_search.intent.vocabulary import Key, Vocabulary, make_term_key
from paper_search.intent.word_lists import BROAD
from paper_search.models import ParsedIntent, SearchQuery, SynonymMap
from paper_search.query.boolean_query import Node, join_all, join_any
from paper_search.query.rendering import format_query, normalise_query, parse_phrase

MAX_SYNONYMS = 4
_BROAD = frozenset(map(make_term_key, BROAD))
_INITIAL = re.compile(r"[A-Z]\.")
_NAMED = re.compile(r"[A-Z]\S*[A-Z0-9]|[0-9]\S*[A-Z]")


@dataclass(frozen=True, slots=True)
class Idea:
    """One concept. A loose query may search its `parts` separately; without parts it is an indivisible phrase."""

    text: str
    synonyms: tuple[str, ...] = ()
    quoted: bool = False
    parts: tuple[str, ...] = ()

    def build_condition(self, *, loose: bool = False) -> Node | None:
        """Return the idea as a condition of a query. In a `loose` condition its parts may match separately."""
        own = parse_phrase(self.text)
        if loose and self.parts:
            own = join_all(map(parse_phrase, self.parts)) or own
        return join_any([own, *map(parse_phrase, self.synonyms)])

    def list_specific_parts(self) -> list[str]:
        """Return the parts, the most specific first."""
        return sorted(self.parts or (self.text,), key=_is_broad)

    @property
    def is_broad(self) -> bool:
        """True for a concept so common that it hardly narrows a search."""
        return _is_broad(self.text)

    @property
    def is_named(self) -> bool:
        """True if the idea contains an acronym, a formula or the like: CRISPR, IL-6, TiO2."""
        return _NAMED.search(self.text) is not None

    @property
    def can_stand_alone(self) -> bool:
        """True if the idea is specific enough to be searched for alone."""
        return self.quoted or self.is_named or (" " in self.text and not self.is_broad)


def build_ideas(intent: ParsedIntent, vocabulary: Vocabulary) -> list[Idea]:
    """Return the ideas of an intent in order: phrases and concepts, each once, without those that hold no word."""
    spelled_out = {make_term_key(words): acronym for words, acronym in find_acronyms(intent.topic).items()}
    groups = find_alternatives(intent.topic, vocabulary)
    second_names = {make_term_key(other) for group in groups for other in group[1:]} - {
        make_term_key(text) for text in intent.concepts
    }
    capitals_tell = not is_title_case(intent.topic)
    phrases = {make_term_key(phrase) for phrase in intent.phrases}
    ideas: dict[Key, Idea] = {}
    for text in (*intent.concepts, *intent.phrases):
        key = make_term_key(text)
        if key in ideas or key in second_names or parse_phrase(text) is None:
            continue
        quoted = key in phrases
        others = [spelled_out[key]] if key in spelled_out else []
        others += [other for group in groups if make_term_key(group[0]) == key for other in group[1:]]
        if not quoted:
            others += vocabulary.find_synonyms(text)
        distinct = {other.casefold(): other for other in reversed(others) if parse_phrase(other)}
        distinct.pop(text.casefold(), None)
        ideas[key] = Idea(
            text=text,
            synonyms=tuple(reversed(distinct.values()))[:MAX_SYNONYMS],
            quoted=quoted,
            parts=()
            if quoted
            else _split_parts(text, vocabulary, keep_names_whole=capitals_tell and text not in intent.authors),
        )
    return list(ideas.values())


def select_most_specific(ideas: Sequence[Idea], count: int) -> list[Idea]:
    """Return the `count` most specific ideas, in their order.

    Quoted ideas come first, then the first idea that is not broad (people name their subject first), then named ideas,
    then the others, and broad ideas last.
    """
    subject = next((idea for idea in ideas if not idea.is_broad), None)

    def rank_idea(idea: Idea) -> tuple[bool, bool, bool, bool]:
        return idea.quoted, not idea.is_broad, idea is subject, idea.is_named

    best = sorted(ideas, key=rank_idea, reverse=True)[:count]
    return [idea for idea in ideas if idea in best]


def _is_broad(text: str) -> bool:
    return make_term_key(text) in _BROAD or text.isdigit()


def _split_parts(text: str, vocabulary: Vocabulary, *, keep_names_whole: bool) -> tuple[str, ...]:
    """Return the parts of a phrase, () for one part; known terms, names, "phase 3" and "E. coli" stay whole."""
    parts: list[str] = []
    for piece in _split_pieces(text.split(), vocabulary, keep_names_whole=keep_names_whole):
        if parts and (piece.isdigit() or _INITIAL.fullmatch(parts[-1])):
            parts[-1] += f" {piece}"
        elif not is_function_word(piece):
            parts.append(piece)
    return tuple(parts) if len(parts) > 1 else ()


def _split_pieces(words: list[str], vocabulary: Vocabulary, *, keep_names_whole: bool) -> Iterator[str]:
    position = 0
    while position < len(words):
        size = (
            vocabulary.count_matching_tokens(words, position)
            or (keep_names_whole and count_name_words(words, position))
            or 1
        )
        yield " ".join(words[position : position + size])
        position += size


MANY_IDEAS = 4


@dataclass(frozen=True, slots=True)
class Composer:
    """Ideas to search for, terms to exclude, and authors and venues of which one each must match."""

    ideas: Sequence[Idea]
    excluded: Sequence[Node] = ()
    authors: Sequence[str] = ()
    venues: Sequence[str] = ()
    typed: Node | None = None
    """The boolean query that a person typed, searched unchanged."""

    def compose_first_queries(self, markers: Sequence[str]) -> Iterator[SearchQuery]:
        """Yield a query with all ideas, then loose queries with ever fewer ideas. `markers` name the kind of paper.

        Loose queries keep the authors. Strict ones are also tried without, since not every source matches names.
        """
        if self.typed is not None:
            yield from self._compose_query(self.ideas, self.typed)
            return
        also = [
            _build_alternatives(self.authors),
            _build_alternatives(self.venues),
            _build_alternatives(markers if self.ideas else ()),
        ]
        yield from self._compose_conjunction(self.ideas, words=[*self.authors, *self.venues, *markers[:1]], also=also)
        yield from self._compose_loose(self._select_core())
        if self.authors:
            yield from self._compose_conjunction(self._select_core())
        if len(self.ideas) >= MANY_IDEAS:
            yield from self._compose_loose(select_most_specific(self.ideas, 2))

    def compose_with_terms(self, wanted: Sequence[str], learned: Sequence[str]) -> Iterator[SearchQuery]:
        """Yield the subject with any of the wanted terms, then with any of the terms learned from marked papers."""
        for words in (wanted, learned):
            if not words:
                continue
            either = _build_alternatives(words)
            if self.typed is not None:
                yield from self._compose_query(self.ideas, join_all([self.typed, either]), words)
            hints = [_build_alternatives(self.authors), _build_alternatives(self.venues), either]
            yield from self._compose_conjunction(
                self._select_core(), words=[*self.authors, *self.venues, *words], also=hints
            )
            yield from self._compose_loose(select_most_specific(self.ideas, 2), words=words, also=[either])

    def compose_broader(self) -> Iterator[SearchQuery]:
        """Yield queries with ever fewer conditions: first ideas are dropped, then words; the subject stays."""
        if not self.ideas:
            return
        yield from self._compose_loose(self._select_core())
        pair = select_most_specific(self.ideas, 2)
        yield from self._compose_loose(pair)
        subject = select_most_specific(pair, 1)[0]
        others = [idea for idea in self.ideas if idea is not subject]
        for other in (idea for idea in pair if idea is not subject):
            words = other.list_specific_parts()
            for count in range(len(words) - 1, 0, -1):
                yield from self._compose_loose([subject], words=words[:count], also=map(parse_phrase, words[:count]))
            any_other = (
                [idea.build_condition(loose=True) for idea in others] if len(others) > 1 else map(parse_phrase, words)
            )
            yield from self._compose_loose([subject], also=[join_any(any_other)])
        if len(others) < 2 and subject.can_stand_alone:
            yield from self._compose_loose([subject])

    def compose_narrower(self) -> Iterator[SearchQuery]:
        """Yield a query with every idea, then the same query without synonyms."""
        if self.typed is not None or not self.ideas:
            return
        also = [_build_alternatives(self.authors), _build_alternatives(self.venues)]
        words = [*self.authors, *self.venues]
        yield from self._compose_conjunction(self.ideas, words=words, also=also)
        yield from self._compose_conjunction(
            [replace(idea, synonyms=()) for idea in self.ideas], words=words, also=also
        )

    def _select_core(self) -> list[Idea]:
        count = len(self.ideas)
        return select_most_specific(self.ideas, (count + 2) // 2) if count > 2 else list(self.ideas)

    def _compose_loose(
        self, ideas: Sequence[Idea], words: Sequence[str] = (), also: Iterable[Node | None] = ()
    ) -> Iterator[SearchQuery]:
        yield from self._compose_conjunction(
            ideas, loose=True, words=[*self.authors, *words], also=[_build_alternatives(self.authors), *also]
        )

    def _compose_conjunction(
        self,
        ideas: Sequence[Idea],
        *,
        loose: bool = False,
        words: Sequence[str] = (),
        also: Sequence[Node | None] = (),
    ) -> Iterator[SearchQuery]:
        yield from self._compose_query(
            ideas, join_all([*(idea.build_condition(loose=loose) for idea in ideas), *also]), words
        )

    def _compose_query(
        self, ideas: Sequence[Idea], wanted: Node | None, words: Sequence[str] = ()
    ) -> Iterator[SearchQuery]:
        if (node := join_all([wanted], self.excluded)) is not None:
            yield SearchQuery(
                keywords=list(dict.fromkeys([*(idea.text for idea in ideas), *words])),
                synonym_map=[
                    SynonymMap(keyword=idea.text, synonyms=list(idea.synonyms)) for idea in ideas if idea.synonyms
                ],
                boolean_query=normalise_query(format_query(node)),
            )


def _build_alternatives(words: Sequence[str]) -> Node | None:
    return join_any(map(parse_phrase, words))
