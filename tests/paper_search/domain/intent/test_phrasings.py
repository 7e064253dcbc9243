"""The accuracy of query reading on the table of phrasings."""

import pytest

from tests.paper_search.domain.intent.phrasings import find_problems, load_slice, measure_accuracy

AT_LEAST = 0.95


def test_the_table_has_two_hundred_phrasings_in_two_disjoint_halves() -> None:
    tuning, check = ({row["q"] for row in load_slice(name)} for name in ("tuning", "check"))
    assert not tuning & check
    assert len(tuning | check) >= 200
    assert min(len(tuning), len(check)) >= 80


@pytest.mark.parametrize("name", ["tuning", "check", "held-out"])
def test_nearly_all_phrasings_are_read_correctly(name: str) -> None:
    accuracy = measure_accuracy(name)
    print(f"{name}: {accuracy:.1%} of {len(load_slice(name))} phrasings")
    assert accuracy >= AT_LEAST


def test_strangers_are_sixty_more_phrasings_that_no_other_table_has() -> None:
    strangers = {row["q"] for half in ("tuning", "check") for row in load_slice(f"strangers-{half}")}
    assert len(strangers) == 60
    assert not strangers & {row["q"] for name in ("tuning", "check", "held-out") for row in load_slice(name)}


@pytest.mark.parametrize(("half", "at_least"), [("tuning", 0.85), ("check", 0.65)])
def test_most_requests_of_strangers_are_read_correctly(half: str, at_least: float) -> None:
    assert measure_accuracy(f"strangers-{half}") >= at_least


def test_a_wrong_reading_is_found() -> None:
    row = {"q": "ice since 2020", "from": 2021, "terms": ["snow"], "not": ["ice"], "preferences": ["frost"]}
    assert [problem.partition(":")[0] for problem in find_problems(row)] == [
        "from",
        "missing",
        "intruding",
        "preferences",
    ]
