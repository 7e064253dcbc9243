"""Checks of the marks of papers in a bundle against its decisions."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from paper_search.domain.review_models import ReviewDecision
from paper_search.models import Paper, PaperCollection, RoundLog, SearchQuery, SearchStrategy
from tests.paper_search.export.samples import collection
from uraniborg.bundle.inspection import TimeLimit
from uraniborg.bundle.search_checks import check_decisions
from uraniborg.kernel.store.inbox import InboxDecision, InboxEntry

ASKED = datetime(2026, 1, 1, tzinfo=UTC)
SOFTWARE = "root (software)"
SAVED = {
    "Ann": {"one": {"status": "include"}},
    SOFTWARE: {"two": {"status": "maybe"}, "three": {"status": "include"}},
}


def make_review() -> InboxEntry:
    return InboxEntry(
        id="s:1",
        part="paper_search",
        kind="result_review",
        subject="s",
        payload={},
        created_at=ASKED,
        state="decided",
        decision=InboxDecision(action="approve", marks={"reviews": SAVED}),
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


@pytest.mark.parametrize("is_text", [True, False], ids=["a text", "an object"])
@pytest.mark.parametrize(("searched", "differs"), [("moons  AND tides", False), ("moons", True), ("", True)])
def test_a_round_that_searched_another_query_than_the_decided_one_differs(
    searched: str, *, differs: bool, is_text: bool
) -> None:
    decided: Any = "moons AND tides" if is_text else {"boolean_query": "moons AND tides"}
    plan = make_review().model_copy(
        update={
            "kind": "strategy_confirmation",
            "decision": InboxDecision(action="edit", data={"queries": [decided]}),
        }
    )
    found = collection()
    strategy = SearchStrategy(queries=[SearchQuery(keywords=[], boolean_query=searched)], sources=[])
    found.metadata.round_logs = [RoundLog(round=1, strategy=strategy)]
    details = [check.detail for check in check_decisions("searches/s", found, [plan], TimeLimit())]
    problem = "the queries of round 1 in the result are not those that were decided"
    assert (problem in details) is differs
