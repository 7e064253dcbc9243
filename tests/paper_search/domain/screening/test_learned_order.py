"""The learned order is a weighted ridge regression; each step of it is compared with a direct computation."""

import random

import numpy as np
import pytest

from paper_search.domain.screening import learned_order
from paper_search.domain.screening.learned_order import LearnedOrder
from paper_search.domain.screening.sparse_rows import SparseRows, build_citation_rows, build_word_rows

WORDS = ["sleep", "shift", "work", "cancer", "nurse", "night", "plant", "melatonin", "trial", "cohort", "睡眠", "café"]


def make_texts(number: int, seed: int = 1) -> list[str]:
    numbers = random.Random(seed)
    return [" ".join(numbers.choices(WORDS, k=numbers.randint(3, 12))) for _ in range(number)]


def make_citations(number: int, seed: int = 1) -> SparseRows:
    numbers = random.Random(seed)
    cited = [tuple(f"W{numbers.randrange(2 * number)}" for _ in range(4)) for _ in range(number)]
    return build_citation_rows([f"W{row}" for row in range(number)], cited)


def compare_all(rows: SparseRows) -> np.ndarray:
    return np.array([rows.compare(row) for row in range(len(rows))])


def weigh(marks: np.ndarray) -> np.ndarray:
    """Return the weights of ASReview: 9.8 times as much for all included papers together, with a mean of 1."""
    included = (marks > 0).sum()
    weights = np.where(marks > 0, 1.0, included / (9.8 * (len(marks) - included)))
    return weights / weights.mean()


def test_scores_are_those_of_the_dense_dual_solution() -> None:
    words, citations = build_word_rows(make_texts(40)), make_citations(40)
    order = LearnedOrder(words, citations)
    decided = list(range(3, 18))  # fewer than the marks after which the weight of citations is chosen
    marks = np.array([1.0 if row % 4 == 0 else -1.0 for row in decided])
    for row, mark in zip(decided, marks, strict=True):
        order.add_mark(row, included=mark > 0)
    kernel = compare_all(words) + 1 + 0.5 * compare_all(citations)
    penalties = np.diag(1 / (2 * 0.11 * weigh(marks)))
    solution = np.linalg.solve(kernel[np.ix_(decided, decided)] + penalties, marks)
    assert order.score_papers() == pytest.approx(kernel[:, decided] @ solution, abs=1e-5)
    assert order.citation_weight == 0.5


def test_the_dual_solution_is_the_weighted_ridge_regression_on_the_words() -> None:
    texts = make_texts(12)
    words = build_word_rows([*texts, *texts])  # twice, so that no word is of a single paper only
    dense = np.zeros((24, len(words.features) + 1))
    dense[:, -1] = 1  # the intercept
    for row in range(24):
        columns, values = words.read_row(row)
        dense[row, columns] = values
    marks = np.array([1.0, -1, -1, 1, -1, -1, -1, -1])
    order = LearnedOrder(words)
    for row, mark in enumerate(marks):
        order.add_mark(row, included=mark > 0)
    weights = weigh(marks) * 2 * 0.11
    known = dense[:8]
    ridge = np.linalg.solve(known.T @ (weights[:, None] * known) + np.eye(dense.shape[1]), known.T @ (weights * marks))
    assert order.score_papers() == pytest.approx(dense @ ridge, abs=1e-5)


def test_each_prediction_is_that_of_a_fit_without_the_paper() -> None:
    words = build_word_rows(make_texts(15, seed=4))
    matrix = compare_all(words) + 1
    marks = np.array([1.0, -1, -1, 1, -1] * 3)
    penalties = 1 / (2 * 0.11 * weigh(marks))
    predicted = learned_order._predict_each(matrix, penalties, marks)  # pyright: ignore[reportPrivateUsage]
    for row in range(15):
        others = [other for other in range(15) if other != row]
        solution = np.linalg.solve(matrix[np.ix_(others, others)] + np.diag(penalties[others]), marks[others])
        assert predicted[row] == pytest.approx(matrix[row, others] @ solution, abs=1e-9)


@pytest.mark.parametrize(
    ("scores", "marks", "share"),
    [
        ([3, 2, 1, 0], [1, 1, -1, -1], 1.0),
        ([0, 1, 2, 3], [1, 1, -1, -1], 0.0),
        ([3, 1, 2, 0], [1, 1, -1, -1], 0.75),
        ([1, 1, 1, 1], [1, -1, 1, -1], 0.5),
        ([2, 1, 1], [1, 1, -1], 0.75),
    ],
)
def test_separation_is_the_share_of_pairs_in_order_and_ties_count_half(
    scores: list[float], marks: list[float], share: float
) -> None:
    measure = learned_order._measure_separation  # pyright: ignore[reportPrivateUsage]
    measured = measure(np.array(scores, dtype=float), np.array(marks, dtype=float))
    assert measured == pytest.approx(share)


def test_citations_count_more_where_they_predict_the_marks_and_less_where_they_mislead() -> None:
    texts = make_texts(60, seed=9)
    ids = [f"W{row}" for row in range(60)]
    telling = build_citation_rows(ids, [(f"topic{row % 3 == 0}",) for row in range(60)])
    chosen: list[float] = []
    for citations in (telling, build_citation_rows(ids, [(f"noise{(row // 3) % 2}",) for row in range(60)])):
        order = LearnedOrder(build_word_rows(texts), citations)
        for row in range(30):
            order.add_mark(row, included=row % 3 == 0)
        order.score_papers()
        chosen.append(order.citation_weight)
    assert chosen[0] == 1.0
    assert chosen[1] < 0.5


def test_a_second_mark_replaces_the_first() -> None:
    words = build_word_rows(make_texts(10))
    changed, direct = LearnedOrder(words), LearnedOrder(words)
    for row, included in ((0, True), (1, False), (2, True), (2, False)):
        changed.add_mark(row, included=included)
    for row, included in ((0, True), (1, False), (2, False)):
        direct.add_mark(row, included=included)
    assert changed.score_papers() == pytest.approx(direct.score_papers(), abs=1e-5)


def test_without_marks_of_both_kinds_there_are_no_scores() -> None:
    order = LearnedOrder(build_word_rows(make_texts(4)))
    order.add_mark(0, included=True)
    assert not order.can_fit
    with pytest.raises(ValueError, match="one excluded"):
        order.score_papers()
    order.add_mark(1, included=False)
    assert order.can_fit


def test_a_paper_without_words_has_a_finite_score() -> None:
    order = LearnedOrder(build_word_rows(["sleep work", "plant light", "sleep light", "", "sleep plant work"]))
    order.add_mark(0, included=True)
    order.add_mark(3, included=False)
    assert np.isfinite(order.score_papers()).all()
