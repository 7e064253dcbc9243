"""Bound from below which share of the relevant papers a person has found, from the marks in the order of screening.

The bound is that of Callaghan and Müller-Hansen (2020, doi:10.1186/s13643-020-01521-4). Take any last part of the
screened papers as if it had been drawn at random from the papers that were left before it. If a larger number of
relevant papers would make so few inclusions in that part improbable, the number is rejected. An order that puts
relevant papers first only makes the test more careful.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from paper_search.domain.screening.sparse_rows import Floats

CONFIDENCE: Final = 0.95
TARGET_RECALL: Final = 0.95
_ROUNDING: Final = 1e-9
"""A probability that is below the limit by less than this is not below it: it may be equal to it."""


@dataclass(slots=True)
class RecallBound:
    """The smallest share of the relevant papers that has been found, at a confidence, while papers are screened."""

    papers: int
    """All papers of the review, screened or not."""
    confidence: float = CONFIDENCE
    screened: int = 0
    included: int = 0
    _part_starts: list[int] = field(default_factory=lambda: [0])
    """Where the last parts start that can reject most: at the first paper, and after each inclusion."""
    _log_factorials: Floats = field(default_factory=lambda: np.zeros(1))

    def __post_init__(self) -> None:
        self._log_factorials = np.concatenate([[0.0], np.log(np.arange(1, self.papers + 1)).cumsum()])

    def add_mark(self, *, included: bool) -> None:
        """Count the next screened paper."""
        if self.screened == self.papers:
            raise ValueError(f"All {self.papers} papers are screened.")
        self.screened += 1
        if included:
            self.included += 1
            self._part_starts.append(self.screened)

    def has_reached(self, target: float = TARGET_RECALL) -> bool:
        """Return True if at least `target` of the relevant papers is found, at the confidence."""
        if self.included == 0:
            return self.screened == self.papers
        return self._rejects(math.floor(self.included / target + 1))

    def bound_recall(self) -> float:
        """Return the share of the relevant papers that has been found at least, at the confidence; 0 if none is."""
        if self.included == 0:
            return 1.0 if self.screened == self.papers else 0.0
        lowest, highest = self.included, self.included + self.papers - self.screened + 1  # the highest is impossible
        while highest - lowest > 1:  # rejecting a number rejects all larger ones
            middle = (lowest + highest) // 2
            lowest, highest = (lowest, middle) if self._rejects(middle) else (middle, highest)
        return self.included / lowest

    def _rejects(self, relevant: int) -> bool:
        """Return True if so many relevant papers would make the inclusions of some last part improbable."""
        unseen = self.papers - self.screened
        if relevant - self.included > unseen:
            return True
        return any(
            self._sum_probabilities(start, self.included - before, relevant - before) < 1 - self.confidence - _ROUNDING
            for before, start in enumerate(self._part_starts)
        )

    def _sum_probabilities(self, start: int, included: int, relevant: int) -> float:
        """Return the probability of at most `included` relevant papers in the part that begins at `start`."""
        population, drawn = self.papers - start, self.screened - start
        fewest = max(0, drawn + relevant - population)
        if included < fewest:
            return 0.0
        numbers = np.arange(fewest, included + 1)
        logarithms = (
            self._log_choose(relevant, numbers)
            + self._log_choose(population - relevant, drawn - numbers)
            - self._log_choose(population, np.array([drawn]))
        )
        return float(np.exp(logarithms).sum())

    def _log_choose(self, total: int, chosen: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Floats:
        factorials = self._log_factorials
        return factorials[total] - factorials[chosen] - factorials[total - chosen]


def find_stop(marks: Sequence[bool], papers: int, target: float = TARGET_RECALL, confidence: float = CONFIDENCE) -> int:
    """Return after how many marks the rule stops; all papers if it never does before."""
    bound = RecallBound(papers, confidence)
    for screened, mark in enumerate(marks, 1):
        bound.add_mark(included=mark)
        if not mark and bound.has_reached(target):
            return screened
    return papers
