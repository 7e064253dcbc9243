"""Turn an intent into weighted terms, pairs, phrases and main concepts to score against."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

from paper_search.models import ParsedIntent
from uraniborg.kernel.words import extract_terms, split_words

_COMMON = """
able achieve achieved across actual addition additional address affect aim allow analysis analyze application apply
approach area article aspect associated available average based basic become best better call capable case cause cent
change characteristic combine common compare comparison complete complex concern conclusion condition conduct consider
consist consistent contain correspond current deal decrease define degree demonstrate depend derive describe detail
determine develop development different difference discuss early easy effect effective enable error establish estimate
evaluate evaluation evidence examine example exist experiment experimental explain extend extensive fact factor field
final find finding first focus follow form found four full function further future general give given good great group
help high higher identify illustrate implement important improve improvement include increase indicate individual
influence interest interested introduce investigate investigation involve issue key kind know known lack large late
lead less level like limit limited long low lower main major make mean measure measurement mechanism method
modern multiple nature necessary need new normal novel number observe obtain occur order overall paper part particular
performance perform point possible potential practical presence present previous problem procedure process produce
property propose proposed provide publication purpose question range rate recent reduce refer regard region related
relation relationship remain report represent require research respect result review role scale second section select
set several short show significant similar simple single size small solution source specific standard state strong
structure study subject substantial success successful suggest suitable system take technique term test theory three
time total true two type understand understanding use useful utilize value various view way well wide work year
"""


@lru_cache(maxsize=1)
def list_common_terms() -> frozenset[str]:
    """Return the stems of words that papers of every field use, and that do not identify a topic."""
    return frozenset(extract_terms(_COMMON))


CONCEPT_SHARE = 0.5
"""The weight of a concept's term that the topic itself does not contain."""
LEARNED_SHARE = 0.4
"""The weight of a term that papers taught."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A concept or a single word as the person wrote it, with its terms."""

    label: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Query:
    """The terms that papers are compared with."""

    asked: dict[str, float]
    """The weight of each term: 1 for each time the topic contains it."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Terms that follow one another in the query."""
    phrases: tuple[tuple[str, ...], ...] = ()
    """Quoted phrases, to be found word for word."""
    distinctive: frozenset[str] = frozenset()
    """The asked terms that identify the topic."""
    essentials: tuple[frozenset[str], ...] = ()
    """A paper that holds all terms of any one of these sets holds the query's main concepts."""
    authors: tuple[str, ...] = ()
    venues: tuple[str, ...] = ()
    units: tuple[Unit, ...] = ()
    keeps_stop_words: bool = False
    """True for a query of stop words only: then the stop words of papers count too."""

    @property
    def is_empty(self) -> bool:
        return not (self.asked or self.authors or self.venues)


def build_weighted_query(
    intent: ParsedIntent, free_text: Iterable[str] = (), learned_terms: Iterable[str] = ()
) -> Query:
    """Return the query behind an intent; `free_text` that a person added counts as part of the topic."""
    topics = [text for text in (intent.topic, *free_text) if text] or intent.concepts
    keep = not any(extract_terms(text) for text in (*topics, *intent.concepts, *intent.phrases))
    runs = [extract_terms(text, keep_stop_words=keep) for text in topics]
    concepts = [extract_terms(text, keep_stop_words=keep) for text in intent.concepts]
    phrases = [extract_terms(text, keep_stop_words=keep) for text in intent.phrases]
    asked: dict[str, float] = dict(Counter(chain(*runs)))
    for term in chain(*concepts, *phrases):
        asked.setdefault(term, CONCEPT_SHARE)
    own = frozenset(asked)
    for text in learned_terms:
        for term in extract_terms(text):
            asked.setdefault(term, LEARNED_SHARE)
    return Query(
        asked=asked,
        pairs=tuple(dict.fromkeys(p for run in (*runs, *concepts) for p in pairwise(run) if p[0] != p[1])),
        phrases=tuple(tuple(run) for run in phrases if len(run) > 1),
        distinctive=_drop_common_terms(own),
        essentials=tuple(
            held for held in (_drop_common_terms(runs[0] if runs else []), _drop_common_terms(chain(*concepts))) if held
        ),
        authors=tuple(intent.authors),
        venues=tuple(intent.venues),
        units=tuple(_iterate_units([*intent.concepts, *intent.phrases], topics, keep)),
        keeps_stop_words=keep,
    )


def _drop_common_terms(terms: Iterable[str]) -> frozenset[str]:
    """Return the terms without common ones, or all of them if all are common."""
    every = frozenset(terms)
    return every - list_common_terms() or every


def _split_at_spaces(topic: str) -> list[str]:
    """Return the words as a person separates them: `TRAPPIST-1` is one word, though it makes two terms."""
    return [word.strip(",;:.!?()\"'") for word in topic.split()]


def _iterate_units(concepts: list[str], topics: list[str], keep_stop_words: bool) -> Iterator[Unit]:
    seen: set[frozenset[str]] = set()
    for label in chain(
        concepts, *map(_split_at_spaces, topics), *map(split_words, topics), *map(split_words, concepts)
    ):
        held = frozenset(extract_terms(label, keep_stop_words=keep_stop_words))
        if held and held not in seen:
            seen.add(held)
            yield Unit(label, held)
