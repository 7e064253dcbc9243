"""The parts of a query: concepts with the other ways to say them, told apart by how specific they are."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paper_search.intent.authors import is_title_case
from paper_search.intent.concepts import acronyms, alternatives, is_function_word, name_length
from paper_search.intent.expression import term
from paper_search.intent.vocabulary import Key, Vocabulary, key_of
from paper_search.intent.wordlists import BROAD
from paper_search.models import ParsedIntent
from paper_search.sources.boolean import Node, all_of, any_of

MAX_SYNONYMS = 4
_BROAD = frozenset(map(key_of, BROAD))
_INITIAL = re.compile(r"[A-Z]\.")
_NAMED = re.compile(r"[A-Z]\S*[A-Z0-9]|[0-9]\S*[A-Z]")


@dataclass(frozen=True, slots=True)
class Idea:
    """One concept. Its `parts` may stand apart in a paper; without any it is a phrase that must not be taken apart."""

    text: str
    synonyms: tuple[str, ...] = ()
    quoted: bool = False
    parts: tuple[str, ...] = ()

    def asked(self, *, loose: bool = False) -> Node | None:
        """The idea as a condition. Asked loosely, its parts may stand anywhere in the paper."""
        own = term(self.text)
        if loose and self.parts:
            own = all_of(map(term, self.parts)) or own
        return any_of([own, *map(term, self.synonyms)])

    def by_telling(self) -> list[str]:
        """Its parts, those that say most first."""
        return sorted(self.parts or (self.text,), key=_is_broad)

    @property
    def is_broad(self) -> bool:
        return _is_broad(self.text)

    @property
    def is_named(self) -> bool:
        """Whether it holds an acronym, a formula or the like: CRISPR, IL-6, TiO2."""
        return _NAMED.search(self.text) is not None

    @property
    def stands_alone(self) -> bool:
        """Whether it says enough to be searched for without any other."""
        return self.quoted or self.is_named or (" " in self.text and not self.is_broad)


def ideas_of(intent: ParsedIntent, vocabulary: Vocabulary) -> list[Idea]:
    """The ideas of an intent in their order, phrases and concepts alike, each once, if it can be searched for."""
    spelled_out = {key_of(words): acronym for words, acronym in acronyms(intent.topic).items()}
    groups = alternatives(intent.topic, vocabulary)
    second_names = {key_of(other) for group in groups for other in group[1:]} - {
        key_of(text) for text in intent.concepts
    }
    capitals_tell = not is_title_case(intent.topic)
    phrases = {key_of(phrase) for phrase in intent.phrases}
    ideas: dict[Key, Idea] = {}
    for text in (*intent.concepts, *intent.phrases):
        key = key_of(text)
        if key in ideas or key in second_names or term(text) is None:
            continue
        quoted = key in phrases
        others = [spelled_out[key]] if key in spelled_out else []
        others += [other for group in groups if key_of(group[0]) == key for other in group[1:]]
        if not quoted:
            others += vocabulary.synonyms(text)
        distinct = {other.casefold(): other for other in reversed(others) if term(other)}
        distinct.pop(text.casefold(), None)
        ideas[key] = Idea(
            text=text,
            synonyms=tuple(reversed(distinct.values()))[:MAX_SYNONYMS],
            quoted=quoted,
            parts=() if quoted else _parts(text, vocabulary, name_counts=capitals_tell and text not in intent.authors),
        )
    return list(ideas.values())


def most_specific(ideas: Sequence[Idea], count: int) -> list[Idea]:
    """The ideas to keep when not all can be, in their own order.

    People name their subject first, so after what they quoted comes the first idea that is not a broad one, then what
    has a name, then the others as they were written, and broad ideas last.
    """
    subject = next((idea for idea in ideas if not idea.is_broad), None)

    def rank(idea: Idea) -> tuple[bool, bool, bool, bool]:
        return idea.quoted, not idea.is_broad, idea is subject, idea.is_named

    kept = sorted(ideas, key=rank, reverse=True)[:count]
    return [idea for idea in ideas if idea in kept]


def _is_broad(text: str) -> bool:
    return key_of(text) in _BROAD or text.isdigit()


def _parts(text: str, vocabulary: Vocabulary, *, name_counts: bool) -> tuple[str, ...]:
    """What a phrase can be taken apart into: known terms and names stay whole, as do "phase 3" and "E. coli"."""
    parts: list[str] = []
    for piece in _pieces(text.split(), vocabulary, name_counts=name_counts):
        if parts and (piece.isdigit() or _INITIAL.fullmatch(parts[-1])):
            parts[-1] += f" {piece}"
        elif not is_function_word(piece):
            parts.append(piece)
    return tuple(parts) if len(parts) > 1 else ()


def _pieces(words: list[str], vocabulary: Vocabulary, *, name_counts: bool) -> Iterator[str]:
    position = 0
    while position < len(words):
        size = vocabulary.longest_match(words, position) or (name_counts and name_length(words, position)) or 1
        yield " ".join(words[position : position + size])
        position += size
