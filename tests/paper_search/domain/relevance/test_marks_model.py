"""The model of marks agrees with its closed form, and the order of papers does not change it."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from paper_search.domain.relevance.learned_terms import fit_marks

RIDGE, IMBALANCE = 0.11, 9.8
PAPERS = st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 5), max_size=6), min_size=2, max_size=12)


def solve_densely(papers: Sequence[Mapping[str, int]], marks: Sequence[bool | None]) -> list[float]:
    """Return the decision values of the ridge regression, solved in one step with dense matrices."""
    terms = sorted({term for counts in papers for term in counts})
    frequency = Counter(term for counts in papers for term in counts)
    vectors = np.zeros((len(papers), max(1, len(terms))))
    for row, counts in enumerate(papers):
        for term, count in counts.items():
            rarity = math.log((1 + len(papers)) / (1 + frequency[term])) + 1
            vectors[row, terms.index(term)] = (1 + math.log(count)) * rarity
        vectors[row] /= np.linalg.norm(vectors[row]) or 1.0
    marked = [index for index, mark in enumerate(marks) if mark is not None]
    target = np.array([1.0 if marks[index] else -1.0 for index in marked])
    relevant = (target > 0).sum()
    weight = np.where(target > 0, 1.0, relevant / (IMBALANCE * (len(marked) - relevant)))
    kernel = vectors @ vectors.T + 1
    matrix = kernel[np.ix_(marked, marked)] + np.diag(1 / (2 * RIDGE * weight / weight.mean()))
    return list(kernel[:, marked] @ np.linalg.solve(matrix, target))


@st.composite
def draw_marked(draw: st.DrawFn) -> tuple[list[dict[str, int]], list[bool | None]]:
    papers = draw(PAPERS)
    marks = draw(st.lists(st.sampled_from([True, False, None]), min_size=len(papers), max_size=len(papers)))
    assume(True in marks and False in marks)
    return papers, marks


@settings(deadline=None, max_examples=100)
@given(draw_marked())
def test_decisions_agree_with_the_closed_form(marked: tuple[list[dict[str, int]], list[bool | None]]) -> None:
    model = fit_marks(*marked)
    assert model is not None
    assert model.decisions == pytest.approx(solve_densely(*marked), abs=1e-4)


@settings(deadline=None, max_examples=100)
@given(draw_marked(), st.randoms(use_true_random=False))
def test_the_order_of_papers_does_not_change_a_decision(
    marked: tuple[list[dict[str, int]], list[bool | None]], random: Random
) -> None:
    papers, marks = marked
    order = list(range(len(papers)))
    random.shuffle(order)
    model = fit_marks(papers, marks)
    other = fit_marks([papers[index] for index in order], [marks[index] for index in order])
    assert model is not None
    assert other is not None
    assert other.decisions == pytest.approx([model.decisions[index] for index in order], abs=1e-5)
    assert other.weights == pytest.approx(model.weights, abs=1e-5)


@pytest.mark.parametrize("marks", [[True, True], [False, False], [None, None], [True, None], [None, False]])
def test_marks_of_one_kind_give_no_model(marks: list[bool | None]) -> None:
    assert fit_marks([{"a": 1}, {"b": 1}], marks) is None


def test_no_papers_give_no_model() -> None:
    assert fit_marks([], []) is None


def test_empty_and_equal_papers_have_equal_decisions() -> None:
    empty = fit_marks([{}, {}, {}], [True, False, None])
    assert empty is not None
    assert len(set(empty.decisions)) == 1
    assert empty.weights == {}
    equal = fit_marks([{"a": 2}, {"a": 2}, {"a": 2}], [True, False, None])
    assert equal is not None
    assert len(set(equal.decisions)) == 1
    assert all(math.isfinite(value) for value in (*equal.decisions, *equal.weights.values()))


def test_terms_of_relevant_papers_weigh_more_and_a_paper_like_them_is_first() -> None:
    model = fit_marks(
        [{"moon": 1}, {"bread": 1}, {"moon": 1, "tide": 1}, {"bread": 1, "oven": 1}], [True, False, None, None]
    )
    assert model is not None
    assert model.weights["moon"] > 0 > model.weights["bread"]
    assert model.decisions[2] > model.decisions[3]
