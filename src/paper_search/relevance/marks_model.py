"""Learn from marks which words relevant papers have and irrelevant ones lack.

The model is a ridge regression on tf-idf vectors. Papers marked relevant, which are few, weigh more than the others.
It is solved in its dual form by conjugate gradients, so that its cost grows with the number of words and not with the
square of the number of papers.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

_RIDGE: Final = 0.11
_IMBALANCE: Final = 9.8
"""How much more all relevant papers weigh together than all irrelevant ones, once the numbers are balanced."""
_MOST_STEPS: Final = 200
_TOLERANCE: Final = 1e-6

_Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MarksModel:
    """The decision value of each paper, and the weight of each term: above zero for terms of relevant papers."""

    decisions: list[float]
    weights: dict[str, float]


def fit_marks(papers: Sequence[Mapping[str, int]], marks: Sequence[bool | None]) -> MarksModel | None:
    """Return the model for counted terms and marks; None unless papers of both kinds are marked.

    Papers without a mark (None) get a decision value too. The order of the papers does not change the model.
    """
    marked = [position for position, mark in enumerate(marks) if mark is not None]
    relevant = sum(marks[position] is True for position in marked)
    if relevant in (0, len(marked)):
        return None
    vocabulary = sorted({term for position in marked for term in papers[position]})
    vectors = _Vectors(papers, vocabulary)
    target = np.array([1.0 if marks[position] else -1.0 for position in marked])
    weight = np.where(target > 0, 1.0, relevant / (_IMBALANCE * (len(marked) - relevant)))
    diagonal = 1 / (2 * _RIDGE * weight / weight.mean())
    chosen = np.zeros(len(papers))

    def multiply(values: _Vector) -> _Vector:
        chosen[marked] = values
        return vectors.project(vectors.combine(chosen))[marked] + values.sum() + diagonal * values

    dual = _solve(multiply, target)
    chosen[marked] = dual
    by_term = vectors.combine(chosen)
    decisions = vectors.project(by_term) + dual.sum()
    return MarksModel(
        [round(float(value), 6) for value in decisions], dict(zip(vocabulary, by_term.tolist(), strict=True))
    )


class _Vectors:
    """Sparse tf-idf vectors of length 1, restricted to a vocabulary."""

    def __init__(self, papers: Sequence[Mapping[str, int]], vocabulary: Sequence[str]) -> None:
        frequency = Counter(term for counts in papers for term in counts)
        rarity = {term: math.log((1 + len(papers)) / (1 + count)) + 1 for term, count in frequency.items()}
        index = {term: position for position, term in enumerate(vocabulary)}
        rows: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        for row, counts in enumerate(papers):
            vector = {term: (1 + math.log(count)) * rarity[term] for term, count in sorted(counts.items())}
            length = math.sqrt(math.fsum(value * value for value in vector.values())) or 1.0
            for term, value in vector.items():
                if (column := index.get(term)) is not None:
                    rows.append(row)
                    columns.append(column)
                    values.append(value / length)
        self._rows, self._columns, self._values = np.array(rows, int), np.array(columns, int), np.array(values)
        self._shape = len(papers), len(vocabulary)

    def combine(self, shares: _Vector) -> _Vector:
        """Return the sum of the papers' vectors, each multiplied by its share."""
        return np.bincount(self._columns, self._values * shares[self._rows], self._shape[1]).astype(np.float64)

    def project(self, weights: _Vector) -> _Vector:
        """Return the product of each paper's vector with the weights of the terms."""
        return np.bincount(self._rows, self._values * weights[self._columns], self._shape[0]).astype(np.float64)


def _solve(multiply: Callable[[_Vector], _Vector], target: _Vector) -> _Vector:
    """Return x with multiply(x) = target, for a symmetric positive matrix, by conjugate gradients."""
    found = np.zeros_like(target)
    left = target.copy()
    direction = left.copy()
    error = float(left @ left)
    for _ in range(_MOST_STEPS):
        if error <= _TOLERANCE**2 * len(target):
            break
        product = multiply(direction)
        step = error / float(direction @ product)
        found += step * direction
        left -= step * product
        before, error = error, float(left @ left)
        direction = left + error / before * direction
    return found
