"""Checks of queries while a person types them."""

import pytest

from paper_search.query.query_check import check_boolean_query


@pytest.mark.parametrize(
    ("query", "severity", "span"),
    [
        ("(a OR b", "error", (0, 1)),
        ("a OR b)", "error", (6, 7)),
        ('moon "tidal lock', "error", (5, 6)),
        ("AND moon", "error", (0, 3)),
        ("moon OR", "error", (5, 7)),
        ("moon AND AND tide", "error", (9, 12)),
        ("moon and tide", "warning", (5, 8)),
        ("title:moon", "warning", (0, 10)),
        ("moon NEAR/3 tide", "warning", (5, 11)),
        ("mo* tide", "warning", (0, 3)),
        ("m*on tide", "warning", (0, 4)),
        ("moon () tide", "warning", (5, 7)),
        ("NOT moon", "error", (0, 8)),
        ("", "error", (0, 0)),
    ],
)
def test_a_problem_is_reported_with_its_position(query: str, severity: str, span: tuple[int, int]) -> None:
    _, problems = check_boolean_query(query)
    found = [(problem.severity, (problem.start, problem.end)) for problem in problems]
    assert (severity, span) in found
    assert all(problem.message and problem.hint for problem in problems)


@pytest.mark.parametrize(
    "query",
    ['("exomoon" OR moon*) AND stability NOT ring', "a AND NOT b", "TRAPPIST-1", "10.1086/341477", "-ring moon"],
)
def test_a_correct_query_has_no_problems(query: str) -> None:
    assert check_boolean_query(query)[1] == []


def test_a_query_is_returned_as_it_is_read() -> None:
    assert check_boolean_query("moon (tide OR ring")[0] == "moon AND (tide OR ring)"
