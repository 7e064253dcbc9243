"""Composes queries out of ideas, from strict to broad, so that one AND too many does not end a search."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from paper_search.intent.expression import render, term, tidied
from paper_search.intent.ideas import Idea, most_specific
from paper_search.models import SearchQuery, SynonymMap
from paper_search.sources.boolean import Node, all_of, any_of

MANY_IDEAS = 4


@dataclass(frozen=True, slots=True)
class Composer:
    """Ideas to ask for, terms to leave out, and names of people and venues of which one each is enough."""

    ideas: Sequence[Idea]
    excluded: Sequence[Node] = ()
    authors: Sequence[str] = ()
    venues: Sequence[str] = ()
    typed: Node | None = None
    """The boolean query a person typed, to be asked as it is."""

    def opening(self, markers: Sequence[str]) -> Iterator[SearchQuery]:
        """Everything at once; then ever fewer ideas, their words anywhere. `markers` name the kind of paper.

        Words that may stand anywhere need the author beside them; phrases can do without, and must be able to: not
        every source finds people by the words of a query.
        """
        if self.typed is not None:
            yield from self._one(self.ideas, self.typed)
            return
        also = [_either(self.authors), _either(self.venues), _either(markers if self.ideas else ())]
        yield from self._all(self.ideas, words=[*self.authors, *self.venues, *markers[:1]], also=also)
        yield from self._loose(self._core())
        if self.authors:
            yield from self._all(self._core())
        if len(self.ideas) >= MANY_IDEAS:
            yield from self._loose(most_specific(self.ideas, 2))

    def taught(self, wanted: Sequence[str], learned: Sequence[str]) -> Iterator[SearchQuery]:
        """The subject together with what a person asked for or with what the papers they liked speak of."""
        for words in (wanted, learned):
            if not words:
                continue
            either = _either(words)
            if self.typed is not None:
                yield from self._one(self.ideas, all_of([self.typed, either]), words)
            hints = [_either(self.authors), _either(self.venues), either]
            yield from self._all(self._core(), words=[*self.authors, *self.venues, *words], also=hints)
            yield from self._loose(most_specific(self.ideas, 2), words=words, also=[either])

    def broader(self) -> Iterator[SearchQuery]:
        """Ever fewer conditions on the subject, which stays: first ideas go, then words of the last idea left."""
        if not self.ideas:
            return
        yield from self._loose(self._core())
        pair = most_specific(self.ideas, 2)
        yield from self._loose(pair)
        subject = most_specific(pair, 1)[0]
        others = [idea for idea in self.ideas if idea is not subject]
        for other in (idea for idea in pair if idea is not subject):
            words = other.by_telling()
            for count in range(len(words) - 1, 0, -1):
                yield from self._loose([subject], words=words[:count], also=map(term, words[:count]))
            any_other = [idea.asked(loose=True) for idea in others] if len(others) > 1 else map(term, words)
            yield from self._loose([subject], also=[any_of(any_other)])
        if len(others) < 2 and subject.stands_alone:
            yield from self._loose([subject])

    def narrower(self) -> Iterator[SearchQuery]:
        """Every idea at once; then without the other ways to write them."""
        if self.typed is not None or not self.ideas:
            return
        also = [_either(self.authors), _either(self.venues)]
        words = [*self.authors, *self.venues]
        yield from self._all(self.ideas, words=words, also=also)
        yield from self._all([replace(idea, synonyms=()) for idea in self.ideas], words=words, also=also)

    def _core(self) -> list[Idea]:
        count = len(self.ideas)
        return most_specific(self.ideas, (count + 2) // 2) if count > 2 else list(self.ideas)

    def _loose(
        self, ideas: Sequence[Idea], words: Sequence[str] = (), also: Iterable[Node | None] = ()
    ) -> Iterator[SearchQuery]:
        yield from self._all(ideas, loose=True, words=[*self.authors, *words], also=[_either(self.authors), *also])

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
