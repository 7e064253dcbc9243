"""Composes queries out of ideas, from strict to broad, so that one AND too many does not end a search."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paper_search.intent.expression import render, term, tidied
from paper_search.intent.ideas import Idea, most_specific
from paper_search.models import SearchQuery, SynonymMap
from paper_search.sources.boolean import Node, all_of, any_of

MANY_IDEAS = 5
# Sides from which to look at a subject when it cannot be made any broader.
_ANGLES = (
    ("review", "survey", "overview"),
    ("application", "use"),
    ("method", "algorithm", "model"),
    ("experiment", "evaluation", "measurement"),
    ("theory", "mechanism"),
    ("challenge", "limitation", "outlook"),
)


@dataclass(frozen=True, slots=True)
class Composer:
    """Ideas to ask for, terms to leave out, and hints (names of people and places) that only strict queries use."""

    ideas: Sequence[Idea]
    excluded: Sequence[Node] = ()
    hints: Sequence[Sequence[str]] = ()
    """Groups of names of which one is enough."""

    def opening(self, markers: Sequence[str]) -> Iterator[SearchQuery]:
        """Everything at once; then ever fewer ideas, their words anywhere. `markers` name the kind of paper."""
        also = [*map(_either, self.hints), _either(markers if self.ideas else ())]
        yield from self._all(self.ideas, words=[*self._names, *markers[:1]], also=also)
        yield from self._all(self._core(), loose=True)
        if len(self.ideas) >= MANY_IDEAS:
            yield from self._all(most_specific(self.ideas, 2), loose=True)

    def taught(self, wanted: Sequence[str], learned: Sequence[str]) -> Iterator[SearchQuery]:
        """The subject together with what a person asked for or with what the papers they liked speak of."""
        for words in (wanted, learned):
            if words:
                either = _either(words)
                yield from self._all(
                    self._core(), words=[*self._names, *words], also=[*map(_either, self.hints), either]
                )
                yield from self._all(most_specific(self.ideas, 2), loose=True, words=words, also=[either])

    def broader(self) -> Iterator[SearchQuery]:
        """Ever fewer conditions, and in the end the subject from one side after the other."""
        if not self.ideas:
            return
        yield from self._all(self._core(), loose=True)
        yield from self._all(most_specific(self.ideas, 2), loose=True)
        if len(self.ideas) > 1:
            yield from self._one(self.ideas, any_of(idea.asked() for idea in self.ideas))
        top = most_specific(self.ideas, 1)
        yield from self._all(top, loose=True)
        for angle in _ANGLES:
            yield from self._all(top, loose=True, words=angle[:1], also=[_either(angle)])

    @property
    def _names(self) -> list[str]:
        return [name for group in self.hints for name in group]

    def _core(self) -> list[Idea]:
        count = len(self.ideas)
        return most_specific(self.ideas, max(2, (count + 1) // 2)) if count > 2 else list(self.ideas)

    def _all(
        self,
        ideas: Sequence[Idea],
        *,
        loose: bool = False,
        words: Sequence[str] = (),
        also: Sequence[Node | None] = (),
    ) -> Iterator[SearchQuery]:
        yield from self._one(ideas, all_of([*(idea.asked(loose=loose) for idea in ideas), *also]), words)

    def _one(self, ideas: Sequence[Idea], wanted: Node | None, words: Sequence[str] = ()) -> Iterator[SearchQuery]:
        if (node := all_of([wanted], self.excluded)) is not None:
            yield SearchQuery(
                keywords=list(dict.fromkeys([*(idea.text for idea in ideas), *words])),
                synonym_map=[
                    SynonymMap(keyword=idea.text, synonyms=list(idea.synonyms)) for idea in ideas if idea.synonyms
                ],
                boolean_query=tidied(render(node)),
            )


def _either(words: Sequence[str]) -> Node | None:
    return any_of(map(term, words))
