"""The bound on recall equals the exact hypergeometric test over every last part of the screened papers."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_search.domain.screening.stop_rule import RecallBound, find_stop


def compute_p_value(marks: list[bool], papers: int, relevant: int) -> Fraction:
    """Return the smallest probability of so few inclusions in a last part, if `relevant` papers are relevant in all."""
    smallest = Fraction(1)
    for start in range(len(marks) + 1):
        drawn, included = len(marks) - start, sum(marks[start:])
        population, left = papers - start, relevant - sum(marks[:start])
        if left > population:
            return Fraction(0)
        ways = sum(
            math.comb(left, number) * math.comb(population - left, drawn - number) for number in range(included + 1)
        )
        smallest = min(smallest, Fraction(ways, math.comb(population, drawn)))
    return smallest


def list_possible(marks: list[bool], papers: int, confidence: Fraction) -> list[int]:
    found = sum(marks)
    numbers = range(found, found + papers - len(marks) + 1)
    return [number for number in numbers if compute_p_value(marks, papers, number) >= 1 - confidence]


def count(marks: list[bool], papers: int) -> RecallBound:
    bound = RecallBound(papers)
    for mark in marks:
        bound.add_mark(included=mark)
    return bound


SCREENINGS = st.lists(st.booleans(), max_size=18).flatmap(
    lambda marks: st.tuples(st.just(marks), st.integers(max(1, len(marks)), len(marks) + 40))
)


def test_a_probability_of_exactly_five_percent_rejects_nothing() -> None:
    marks = [True, True, True, False]
    assert compute_p_value(marks, 23, 22) == Fraction(5, 100)
    assert count(marks, 23).bound_recall() == pytest.approx(3 / 22)


@settings(max_examples=150, deadline=None)
@given(SCREENINGS)
def test_the_bound_is_the_largest_number_that_no_last_part_rejects(screening: tuple[list[bool], int]) -> None:
    marks, papers = screening
    bound = count(marks, papers)
    found = sum(marks)
    if found:
        possible = list_possible(marks, papers, Fraction(95, 100))
        assert bound.bound_recall() == pytest.approx(found / max(possible))
        assert bound.has_reached() == (math.floor(Fraction(found * 100, 95)) + 1 > max(possible))
    else:
        assert bound.bound_recall() == (1.0 if len(marks) == papers else 0.0)


def test_the_bound_is_never_below_the_share_that_is_certain() -> None:
    for papers in range(1, 9):
        for code in range(2**papers):
            marks = [bool(code >> row & 1) for row in range(papers)]
            for screened in range(papers + 1):
                bound = count(marks[:screened], papers).bound_recall()
                found = sum(marks[:screened])
                certain = found / (found + papers - screened) if found else float(screened == papers)
                assert certain <= bound <= 1


def test_all_papers_screened_is_complete_and_no_more_can_be_added() -> None:
    bound = count([True, False, True], 3)
    assert bound.bound_recall() == 1
    assert bound.has_reached(1.0)
    with pytest.raises(ValueError, match="All 3 papers"):
        bound.add_mark(included=True)


def test_the_rule_stops_at_an_excluded_paper_once_more_relevant_papers_are_improbable() -> None:
    marks = [True] * 20 + [False] * 80
    stopped = find_stop(marks, 100)
    assert 20 < stopped < 100
    assert not count(marks[: stopped - 1], 100).has_reached()
    assert count(marks[:stopped], 100).has_reached()
    assert (
        compute_p_value(marks[:stopped], 100, 22) < Fraction(5, 100) <= compute_p_value(marks[: stopped - 1], 100, 22)
    )


def test_without_inclusions_the_rule_stops_only_at_the_end() -> None:
    assert find_stop([False] * 30, 30) == 30
    assert find_stop([False] * 10, 30) == 30
