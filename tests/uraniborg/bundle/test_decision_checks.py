"""Checks of the marks of papers in a bundle against its decisions."""

from datetime import UTC, datetime, timedelta

from paper_search.models import Paper, PaperCollection
from paper_search.review_models import ReviewDecision
from tests.paper_search.export.samples import collection
from uraniborg.bundle.decision_checks import check_decisions
from uraniborg.bundle.inspection import TimeLimit
from uraniborg.kernel.inbox import Decision, Entry

ASKED = datetime(2026, 1, 1, tzinfo=UTC)
SOFTWARE = "root (software)"
SAVED = {
    "Ann": {"one": {"status": "include"}},
    SOFTWARE: {"two": {"status": "maybe"}, "three": {"status": "include"}},
}


def make_review() -> Entry:
    return Entry(
        id="s:1",
        part="paper_search",
        kind="result_review",
        subject="s",
        payload={},
        created_at=ASKED,
        state="decided",
        decision=Decision(action="approve", marks={"reviews": SAVED}),
        decided_by="Ann",
        decided_at=ASKED + timedelta(seconds=1),
    )


def make_result(*, second: str) -> PaperCollection:
    marks = {"one": ("Ann", "include"), "two": (SOFTWARE, second), "three": (SOFTWARE, "include")}
    at = ASKED + timedelta(seconds=2)
    return collection(
        *(
            Paper(
                id=name,
                source="made up",
                title=name,
                decisions=[ReviewDecision.model_validate({"status": status, "reviewer": reviewer, "at": at})],
            )
            for name, (reviewer, status) in marks.items()
        )
    )


def list_outcomes(found: PaperCollection) -> list[tuple[str, str]]:
    return [
        (check.result, check.detail) for check in check_decisions("searches/s", found, [make_review()], TimeLimit())
    ]


def test_marks_that_were_saved_before_a_review_was_approved_match_the_result() -> None:
    outcomes = list_outcomes(make_result(second="maybe"))
    assert ("matched", "3 marks of papers in the result as decided") in outcomes
    assert not any("no decision here made" in detail for _, detail in outcomes)


def test_a_result_with_another_mark_than_the_saved_one_differs() -> None:
    outcomes = list_outcomes(make_result(second="exclude"))
    assert ("differs", "“two” is marked exclude in the result, and maybe here") in outcomes
