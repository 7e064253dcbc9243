"""What a search looks for, as terms: which ones, how much each was asked for, and which belong side by side."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

from paper_search.models import ParsedIntent
from paper_search.relevance.common_words import common_terms
from paper_search.text import extract_terms, split_words

CONCEPT_SHARE = 0.5
"""What a concept's term counts for when the topic itself does not have it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A concept or a single word as the person wrote it, with its terms."""

    shown: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Query:
    asked: dict[str, float]
    """How much each term was asked for: 1 for every time the topic says it."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Terms that follow one another in the query."""
    phrases: tuple[tuple[str, ...], ...] = ()
    """Quoted phrases, to be found word for word."""
    telling: frozenset[str] = frozenset()
    """The asked terms that say something about the topic."""
    essentials: tuple[frozenset[str], ...] = ()
    """A paper that holds all terms of any one of these sets holds the query's main concepts."""
    authors: tuple[str, ...] = ()
    venues: tuple[str, ...] = ()
    units: tuple[Unit, ...] = ()
    keeps_stop_words: bool = False
    """The query is made of nothing but stop words, so the papers' stop words count too."""

    @property
    def is_empty(self) -> bool:
        return not (self.asked or self.authors or self.venues)


def read_query(intent: ParsedIntent, free_text: Iterable[str] = ()) -> Query:
    """The query behind an intent; what a person added in their own words counts as part of the topic."""
    topics = [text for text in (intent.topic, *free_text) if text] or intent.concepts
    keep = not any(extract_terms(text) for text in (*topics, *intent.concepts, *intent.phrases))
    runs = [extract_terms(text, keep_stop_words=keep) for text in topics]
    concepts = [extract_terms(text, keep_stop_words=keep) for text in intent.concepts]
    phrases = [extract_terms(text, keep_stop_words=keep) for text in intent.phrases]
    asked: dict[str, float] = dict(Counter(chain(*runs)))
    for term in chain(*concepts, *phrases):
        asked.setdefault(term, CONCEPT_SHARE)
    return Query(
        asked=asked,
        pairs=tuple(dict.fromkeys(p for run in (*runs, *concepts) for p in pairwise(run) if p[0] != p[1])),
        phrases=tuple(tuple(run) for run in phrases if len(run) > 1),
        telling=_telling(asked),
        essentials=tuple(held for held in (_telling(runs[0] if runs else []), _telling(chain(*concepts))) if held),
        authors=tuple(intent.authors),
        venues=tuple(intent.venues),
        units=tuple(_units([*intent.concepts, *intent.phrases], topics, keep)),
        keeps_stop_words=keep,
    )


def _telling(group: Iterable[str]) -> frozenset[str]:
    """Without the common words, unless there are no others."""
    every = frozenset(group)
    return every - common_terms() or every


def _as_written(topic: str) -> list[str]:
    """The words as a person separates them: `TRAPPIST-1` is one, though it is found as two."""
    return [word.strip(",;:.!?()\"'") for word in topic.split()]


def _units(concepts: list[str], topics: list[str], keep_stop_words: bool) -> Iterator[Unit]:
    seen: set[frozenset[str]] = set()
    for shown in chain(concepts, *map(_as_written, topics), *map(split_words, topics), *map(split_words, concepts)):
        held = frozenset(extract_terms(shown, keep_stop_words=keep_stop_words))
        if held and held not in seen:
            seen.add(held)
            yield Unit(shown, held)
