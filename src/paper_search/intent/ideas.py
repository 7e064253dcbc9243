"""The parts of a query: concepts with the other ways to say them, told apart by how specific they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from paper_search.intent.concepts import acronyms, alternatives, is_function_word
from paper_search.intent.expression import term
from paper_search.intent.vocabulary import Key, Vocabulary, key_of
from paper_search.intent.wordlists import BROAD
from paper_search.models import ParsedIntent
from paper_search.sources.boolean import Node, all_of, any_of

MAX_SYNONYMS = 4
_BROAD = frozenset(map(key_of, BROAD))


@dataclass(frozen=True, slots=True)
class Idea:
    """One concept. A `fixed` one is a phrase that must not be taken apart: quoted, or known as a term."""

    text: str
    synonyms: tuple[str, ...] = ()
    quoted: bool = False
    fixed: bool = False

    def asked(self, *, loose: bool = False) -> Node | None:
        """The idea as a condition. Asked loosely, its words may stand anywhere in the paper."""
        own = term(self.text)
        if loose and not self.fixed:
            own = all_of(term(word) for word in self.text.split() if not is_function_word(word)) or own
        return any_of([own, *map(term, self.synonyms)])

    @property
    def specificity(self) -> tuple[bool, bool, bool, int]:
        named = any(character.isupper() or character.isdigit() for character in self.text[1:])
        return self.quoted, key_of(self.text) not in _BROAD, named or " " in self.text, len(self.text)


def ideas_of(intent: ParsedIntent, vocabulary: Vocabulary) -> list[Idea]:
    """The ideas of an intent in their order, phrases and concepts alike, each once, if it can be searched for."""
    spelled_out = {key_of(words): acronym for words, acronym in acronyms(intent.topic).items()}
    groups = alternatives(intent.topic, vocabulary)
    phrases = {key_of(phrase) for phrase in intent.phrases}
    ideas: dict[Key, Idea] = {}
    for text in (*intent.concepts, *intent.phrases):
        key = key_of(text)
        if key in ideas or term(text) is None:
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
            fixed=quoted or text in vocabulary,
        )
    return list(ideas.values())


def most_specific(ideas: Sequence[Idea], count: int) -> list[Idea]:
    """The most specific ideas in their own order."""
    kept = sorted(ideas, key=lambda idea: idea.specificity, reverse=True)[:count]
    return [idea for idea in ideas if idea in kept]
