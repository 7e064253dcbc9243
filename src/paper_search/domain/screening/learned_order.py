"""Rank undecided papers by what the marks so far have in common: a weighted ridge regression on words and citations."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from paper_search.domain.screening.sparse_rows import Floats, Ints, SparseRows

_PENALTY: Final = 0.11
_INCLUDED_TO_EXCLUDED: Final = 9.8
"""All included papers together weigh this many times as much as all excluded ones."""
_CITATION_WEIGHTS: Final = (0.0, 0.25, 0.5, 1.0)
_FIRST_CITATION_WEIGHT: Final = 0.5
_MARKS_BETWEEN_CHOICES: Final = 20
_PRECISION: Final = 1e-6
_MOST_STEPS: Final = 200


class LearnedOrder:
    """Scores for all papers, fitted to the marks of some. The same marks in the same order give the same scores.

    `citations` may be None. How much they count is chosen so that the marks so far are best predicted, each from the
    others.
    """

    def __init__(self, words: SparseRows, citations: SparseRows | None = None) -> None:
        self._words = words
        self._citations = citations
        self._rows: list[int] = []
        self._marks: list[float] = []
        self._word_products = np.zeros((64, 64))
        self._citation_products = np.zeros((64, 64))
        self._solution: Floats = np.zeros(0)
        self._chosen_at = 0
        self.citation_weight = _FIRST_CITATION_WEIGHT if citations is not None else 0.0

    @property
    def can_fit(self) -> bool:
        """Return True if at least one paper is included and one excluded."""
        return 1.0 in self._marks and -1.0 in self._marks

    def add_mark(self, row: int, *, included: bool) -> None:
        """Add the mark of a paper. A paper that has one gets the new mark."""
        mark = 1.0 if included else -1.0
        if row in self._rows:
            self._marks[self._rows.index(row)] = mark
            return
        self._rows.append(row)
        self._marks.append(mark)
        self._word_products = _extend(self._word_products, self._words.compare(row), self._rows)
        if self._citations is not None:
            self._citation_products = _extend(self._citation_products, self._citations.compare(row), self._rows)

    def score_papers(self) -> Floats:
        """Return a score for each paper, higher for papers that are more like the included ones.

        Raise ValueError if the marks do not include and exclude at least one paper.
        """
        self._fit()
        weights = self._spread_solution()
        scores = self._words.multiply(self._words.add_rows(weights)) + weights * self._words.own_weight + weights.sum()
        if self._citations is not None and self.citation_weight:
            linked = self._citations.multiply(self._citations.add_rows(weights)) + weights * self._citations.own_weight
            scores += self.citation_weight * linked
        return scores

    def _spread_solution(self) -> Floats:
        weights = np.zeros(len(self._words))
        weights[self._rows] = self._solution
        return weights

    def _fit(self) -> None:
        if not self.can_fit:
            raise ValueError("At least one paper must be included and one excluded.")
        marks = np.array(self._marks)
        penalties = _weigh_marks(marks)
        if self._citations is not None and self._is_choice_due():
            self._choose_citation_weight(marks, penalties)
        matrix = self._multiply_rows(self.citation_weight)
        start = np.zeros(len(marks))
        start[: len(self._solution)] = self._solution
        self._solution = _solve(matrix, penalties, marks, start)

    def _multiply_rows(self, citation_weight: float) -> Floats:
        size = len(self._rows)
        matrix = self._word_products[:size, :size] + 1.0  # the intercept is a feature that every paper has
        return matrix + citation_weight * self._citation_products[:size, :size] if citation_weight else matrix

    def _is_choice_due(self) -> bool:
        since = len(self._rows) - self._chosen_at
        return since >= max(_MARKS_BETWEEN_CHOICES, self._chosen_at // 10)

    def _choose_citation_weight(self, marks: Floats, penalties: Floats) -> None:
        self._chosen_at = len(self._rows)
        if min((marks > 0).sum(), (marks < 0).sum()) < 2:
            return
        best = max(
            (_measure_separation(_predict_each(self._multiply_rows(weight), penalties, marks), marks), weight)
            for weight in _CITATION_WEIGHTS
        )
        self.citation_weight = best[1]


def _extend(products: Floats, compared: Floats, rows: Sequence[int]) -> Floats:
    size = len(rows)
    if size > len(products):
        larger = np.zeros((2 * size, 2 * size))
        larger[: size - 1, : size - 1] = products[: size - 1, : size - 1]
        products = larger
    products[size - 1, :size] = products[:size, size - 1] = compared[rows]
    return products


def _weigh_marks(marks: Floats) -> Floats:
    """Return what each mark adds to the diagonal: less for marks that must be met more exactly."""
    included = (marks > 0).sum()
    excluded = len(marks) - included
    weights = np.where(marks > 0, 1.0, included / (_INCLUDED_TO_EXCLUDED * excluded))
    return weights.mean() / (2 * _PENALTY * weights)


def _solve(matrix: Floats, penalties: Floats, marks: Floats, start: Floats) -> Floats:
    """Solve (matrix + diag(penalties)) x = marks by conjugate gradients, from a start near the solution."""
    diagonal = matrix.diagonal() + penalties
    solution = start.copy()
    residual = marks - (matrix @ solution + penalties * solution)
    conditioned = residual / diagonal
    direction = conditioned.copy()
    size = float(residual @ conditioned)
    enough = _PRECISION**2 * float(marks @ (marks / diagonal))
    for _ in range(_MOST_STEPS):
        if size <= enough:
            break
        product = matrix @ direction + penalties * direction
        step = size / float(direction @ product)
        solution += step * direction
        residual -= step * product
        conditioned = residual / diagonal
        size, previous = float(residual @ conditioned), size
        direction = conditioned + (size / previous) * direction
    return solution


def _predict_each(matrix: Floats, penalties: Floats, marks: Floats) -> Floats:
    """Return the score of each marked paper from a fit to all other marks."""
    inverse = np.linalg.inv(matrix + np.diag(penalties))
    return marks - (inverse @ marks) / inverse.diagonal()


def _measure_separation(scores: Floats, marks: Floats) -> float:
    """Return the share of pairs of an included and an excluded paper that the scores put in order (AUC)."""
    order: Ints = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    _, first, counts = np.unique(scores, return_inverse=True, return_counts=True)
    mean_ranks = np.bincount(first, weights=ranks) / counts
    included = marks > 0
    number = int(included.sum())
    total = float(mean_ranks[first][included].sum()) - number * (number + 1) / 2
    return total / (number * (len(marks) - number))
