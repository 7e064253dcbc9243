"""Sparse rows hold the same numbers as a dense TF-IDF with the settings of ASReview, and as citation vectors."""

import math
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from paper_search.domain.screening.sparse_rows import build_citation_rows, build_word_rows

TEXTS = (
    "Shift work and breast cancer: a cohort study of nurses",
    "Night shift work, shift work and melatonin in nurses",
    "Melatonin in plants. A study of study designs",
    "",
    "Über die Nachtarbeit – night shift work in 北京 hospitals",
    "a b c 1 -",
)
IDS = ("W1", "W2", "W3", "W4")
REFERENCES = (("W2", "W9"), ("W9",), ("W1", "W9", "W7"), ())


def weigh_densely(counted: list[Counter[str]], *, is_sublinear: bool, most_common: float) -> np.ndarray:
    """Return the normalised TF-IDF of all features, with smooth inverse frequencies."""
    total = len(counted)
    found_in = Counter(name for names in counted for name in names)
    features = sorted(name for name, number in found_in.items() if number <= most_common * total)
    matrix = np.zeros((total, len(features)))
    for row, names in enumerate(counted):
        for column, name in enumerate(features):
            if count := names[name]:
                weight = 1 + math.log(count) if is_sublinear else count
                matrix[row, column] = weight * (math.log((1 + total) / (1 + found_in[name])) + 1)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(norms > 0, norms, 1)


def weigh_texts(texts: tuple[str, ...]) -> np.ndarray:
    counted: list[Counter[str]] = []
    for text in texts:
        words = re.findall(r"(?u)\b\w\w+\b", text.lower())
        counted.append(Counter([*words, *map(" ".join, pairwise(words))]))
    return weigh_densely(counted, is_sublinear=True, most_common=0.95)


def test_word_rows_have_the_products_of_a_dense_tf_idf() -> None:
    dense = weigh_texts(TEXTS)
    rows = build_word_rows(TEXTS)
    products = np.array([rows.compare(row) for row in range(len(rows))])
    assert products == pytest.approx(dense @ dense.T, abs=1e-12)
    assert products[0, 1] > 0.1
    assert products.diagonal() == pytest.approx([1, 1, 1, 0, 1, 0])


def test_words_in_more_than_95_percent_of_the_texts_are_left_out() -> None:
    texts = (*(f"trial common word{number % 5} word{number % 3}" for number in range(20)), "common word1")
    rows = build_word_rows(texts)
    assert "common" not in rows.features  # in 21 of 21 texts
    assert "trial" not in rows.features  # in 20 of 21 texts, which is more than 19.95
    assert "word1" in rows.features
    dense = weigh_texts(texts)
    assert rows.compare(0) == pytest.approx(dense @ dense[0], abs=1e-12)


def test_products_with_vectors_are_those_of_the_sum_of_rows() -> None:
    rows = build_word_rows(TEXTS)
    weights = np.array([0.5, -1.0, 2.0, 3.0, 0.25, 1.0])
    expected = sum(weight * rows.compare(row) for row, weight in enumerate(weights))
    computed = rows.multiply(rows.add_rows(weights)) + weights * rows.own_weight
    assert computed == pytest.approx(expected, abs=1e-12)


def test_texts_without_words_have_rows_of_zeros() -> None:
    rows = build_word_rows(["", "- ?", "a"])
    assert len(rows) == 3
    assert rows.features == ()
    assert rows.compare(1).tolist() == [0, 0, 0]
    assert rows.multiply(np.zeros(0)).tolist() == [0, 0, 0]


def test_citation_rows_connect_papers_that_cite_each_other_or_the_same_works() -> None:
    rows = build_citation_rows(IDS, REFERENCES)
    products = np.array([rows.compare(row) for row in range(len(IDS))])
    counted = [Counter({own, *cited}) for own, cited in zip(IDS, REFERENCES, strict=True)]
    dense = weigh_densely(counted, is_sublinear=False, most_common=1)
    assert products == pytest.approx(dense @ dense.T, abs=1e-12)
    # Features: W1 in two papers, W2 in two, W3 and W7 in one, W9 in three, W4 in one; four papers.
    twice, thrice, once = (math.log(5 / (1 + number)) + 1 for number in (2, 3, 1))
    first = 2 * twice**2 + thrice**2
    second = twice**2 + thrice**2
    assert products[0, 1] == pytest.approx((twice**2 + thrice**2) / math.sqrt(first * second))
    third = once**2 * 2 + twice**2 + thrice**2
    assert products[1, 2] == pytest.approx(thrice**2 / math.sqrt(second * third))
    assert products[3].tolist() == [0, 0, 0, 1]


def test_repeated_and_empty_references_count_once_and_not_at_all() -> None:
    plain = build_citation_rows(["A", "B"], [("C",), ("C",)])
    repeated = build_citation_rows(["A", "B"], [("C", "C", "", "A"), ("C",)])
    assert plain.compare(0).tolist() == repeated.compare(0).tolist()
