"""Count the terms of the candidates of one search, with document frequencies and tf-idf vectors."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from paper_search.models import RawPaper, Work
from uraniborg.kernel.words import extract_terms

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


class Pool:
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
