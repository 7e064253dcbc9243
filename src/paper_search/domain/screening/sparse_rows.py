"""Sparse matrices of papers by features, and the two ways to fill them: words and citations."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_WORD: Final = re.compile(r"\b\w\w+\b")
_MOST_COMMON: Final = 0.95
"""Words in more than this share of the papers say nothing about any of them."""


@dataclass(frozen=True, slots=True)
class SparseRows:
    """A row of weighted features for each paper, of length 1 if all its features are counted.

    Features of a single paper are left out, because they connect it with no other paper. `own_weight` is what they
    add to the product of a row with itself.
    """

    starts: Ints
    columns: Ints
    values: Floats
    own_weight: Floats
    features: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def multiply(self, weights: Floats) -> Floats:
        """Return the product of every row with a vector of feature weights."""
        products = np.append(self.values * weights[self.columns], 0.0)
        sums = np.add.reduceat(products, self.starts[:-1])
        return np.where(np.diff(self.starts) > 0, sums, 0.0)

    def add_rows(self, row_weights: Floats) -> Floats:
        """Return the weight of each feature in the weighted sum of all rows."""
        weights = np.repeat(row_weights, np.diff(self.starts)) * self.values
        return np.bincount(self.columns, weights=weights, minlength=len(self.features)).astype(np.float64, copy=False)

    def compare(self, row: int) -> Floats:
        """Return the products of one row with all rows."""
        found = slice(self.starts[row], self.starts[row + 1])
        weights = np.zeros(len(self.features))
        weights[self.columns[found]] = self.values[found]
        products = self.multiply(weights)
        products[row] += self.own_weight[row]
        return products

    def read_row(self, row: int) -> tuple[Ints, Floats]:
        """Return the features of a row, by column, and their values."""
        found = slice(self.starts[row], self.starts[row + 1])
        return self.columns[found], self.values[found]


def build_word_rows(texts: Iterable[str]) -> SparseRows:
    """Return a row for each text: words and pairs of neighbours, counted on a logarithmic scale, rare ones heavier."""
    return _build_rows([_count_words(text) for text in texts], is_sublinear=True, most_common=_MOST_COMMON)


def build_citation_rows(ids: Sequence[str], references: Sequence[Iterable[str]]) -> SparseRows:
    """Return a row for each paper: itself and its references, rarely cited ones heavier."""
    cited = [Counter({own, *others} - {""}) for own, others in zip(ids, references, strict=True)]
    return _build_rows(cited, is_sublinear=False, most_common=1.0)


def _count_words(text: str) -> Counter[str]:
    words = _WORD.findall(text.lower())
    return Counter(chain(words, (f"{first} {second}" for first, second in pairwise(words))))


def _build_rows(counted: Sequence[Counter[str]], *, is_sublinear: bool, most_common: float) -> SparseRows:
    found_in = Counter(chain.from_iterable(counted))
    most = most_common * len(counted)
    features = {name: column for column, name in enumerate(name for name, n in found_in.items() if 2 <= n <= most)}
    lengths = np.zeros(len(counted) + 1, dtype=np.int64)
    columns: list[int] = []
    counts: list[int] = []
    alone = np.zeros(len(counted))
    idf_alone = np.log((1 + len(counted)) / 2) + 1
    for row, names in enumerate(counted):
        known = [(features[name], n) for name, n in names.items() if name in features]
        columns += (column for column, _ in known)
        counts += (n for _, n in known)
        lengths[row + 1] = len(known)
        if most >= 1:
            single = np.array([n for name, n in names.items() if found_in[name] == 1], dtype=np.float64)
            alone[row] = (((np.log(single) + 1 if is_sublinear else single) * idf_alone) ** 2).sum()
    starts = lengths.cumsum()
    document_counts = np.array([found_in[name] for name in features], dtype=np.float64)
    idf = np.log((1 + len(counted)) / (1 + document_counts)) + 1
    column_array = np.array(columns, dtype=np.int64)
    values = np.array(counts, dtype=np.float64)
    values = (np.log(values) + 1 if is_sublinear else values) * idf[column_array]
    rows = np.repeat(np.arange(len(counted)), np.diff(starts))
    squares = np.bincount(rows, weights=values**2, minlength=len(counted)) + alone
    norms = np.sqrt(np.where(squares > 0, squares, 1.0))
    return SparseRows(starts, column_array, values / norms[rows], alone / norms**2, tuple(features))
