"""Turn an intent into weighted terms to score against, and count the terms of the candidates of one search."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise

from paper_search.models import ParsedIntent, RawPaper, Work
from uraniborg.kernel.language.words import extract_terms, split_words

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
class WeightedUnit:
    """A concept or a single word as the person wrote it, with its terms."""

    label: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class WeightedQuery:
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
    units: tuple[WeightedUnit, ...] = ()
    keeps_stop_words: bool = False
    """True for a query of stop words only: then the stop words of papers count too."""

    @property
    def is_empty(self) -> bool:
        return not (self.asked or self.authors or self.venues)


def build_weighted_query(
    intent: ParsedIntent, free_text: Iterable[str] = (), learned_terms: Iterable[str] = ()
) -> WeightedQuery:
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
    return WeightedQuery(
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


def _iterate_units(concepts: list[str], topics: list[str], keep_stop_words: bool) -> Iterator[WeightedUnit]:
    seen: set[frozenset[str]] = set()
    for label in chain(
        concepts, *map(_split_at_spaces, topics), *map(split_words, topics), *map(split_words, concepts)
    ):
        held = frozenset(extract_terms(label, keep_stop_words=keep_stop_words))
        if held and held not in seen:
            seen.add(held)
            yield WeightedUnit(label, held)


MAX_TITLE = 1_000
MAX_BODY = 20_000
"""Characters read of a title and of an abstract; the rest is ignored."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One paper as terms. `body` is its abstract or, where there is none, the snippet."""

    title: Sequence[str]
    body: Sequence[str] = ()
    venue: Sequence[str] = ()

    @classmethod
    def from_paper(cls, paper: Work, *, keep_stop_words: bool = False) -> "Candidate":
        return cls(
            extract_terms(paper.title[:MAX_TITLE], keep_stop_words=keep_stop_words),
            extract_terms(get_body_text(paper)[:MAX_BODY], keep_stop_words=keep_stop_words),
            extract_terms((paper.venue or "")[:MAX_TITLE], keep_stop_words=keep_stop_words),
        )


def get_body_text(paper: Work) -> str:
    """Return the abstract, else the snippet, else ""."""
    return paper.abstract or (isinstance(paper, RawPaper) and paper.snippet) or ""


class CandidatePool:
    """Term counts of all candidates, independent of the query and of the order of the candidates."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.candidates = candidates
        self.counts = [Counter((*candidate.title, *candidate.body)) for candidate in candidates]
        self.document_frequency = Counter(chain.from_iterable(self.counts))

    def __len__(self) -> int:
        return len(self.candidates)

    def compute_rarity(self, frequency: float) -> float:
        """Return the inverse document frequency of a term that `frequency` candidates hold; never below zero."""
        return math.log(1 + (len(self) - frequency + 0.5) / (frequency + 0.5))

    @cached_property
    def _rarities(self) -> dict[str, float]:
        # A term of one candidate only can make no two of them alike.
        by_frequency = [0.0, 0.0] + [self.compute_rarity(n) for n in range(2, len(self) + 1)]
        return {term: by_frequency[n] for term, n in self.document_frequency.items()}

    def build_unit_vector(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return counted terms as a tf-idf vector of length 1, without terms that no two candidates share."""
        rarities = self._rarities
        vector = {term: _DAMPED[n] * rarities[term] for term, n in counts.items() if rarities.get(term)}
        length = math.hypot(*vector.values()) or 1.0
        return {term: weight / length for term, weight in vector.items()}

    def compute_cosines(self, vector: Mapping[str, float], indexes: Iterable[int]) -> list[float]:
        """Return the dot products of `vector` with the unit vectors of the candidates at the indexes `indexes`."""
        rarities = self._rarities
        scaled = {term: weight * rarities[term] for term, weight in vector.items() if rarities.get(term)}
        products: list[float] = []
        for counts in map(self.counts.__getitem__, indexes):
            length = math.hypot(*[_DAMPED[n] * rarities[term] for term, n in counts.items()]) or 1.0
            products.append(sum([scaled[term] * _DAMPED[n] for term, n in counts.items() if term in scaled]) / length)
        return products


class _DampedCounts(dict[int, float]):
    """1 + log n for a count n: the tenth occurrence of a word counts less than the first."""

    def __missing__(self, n: int) -> float:
        value = self[n] = 1 + math.log(n)
        return value


_DAMPED = _DampedCounts()
