"""Tests of the models of statuses, decisions and feedback."""

import pytest
from pydantic import ValidationError

from paper_search.domain.review_models import (
    PaperDecision,
    ReviewDecision,
    ReviewStatus,
    UserFeedback,
    combine_decisions,
    combine_statuses,
)
from paper_search.models import Paper

INCLUDE, EXCLUDE, MAYBE, UNDECIDED = ReviewStatus


@pytest.mark.parametrize(
    ("statuses", "combined"),
    [
        ([], UNDECIDED),
        ([UNDECIDED], UNDECIDED),
        ([INCLUDE], INCLUDE),
        ([INCLUDE, UNDECIDED], INCLUDE),
        ([INCLUDE, MAYBE], INCLUDE),
        ([EXCLUDE], EXCLUDE),
        ([EXCLUDE, UNDECIDED], EXCLUDE),
        ([EXCLUDE, MAYBE], MAYBE),
        ([INCLUDE, EXCLUDE], MAYBE),
        ([INCLUDE, EXCLUDE, MAYBE], MAYBE),
        ([MAYBE, UNDECIDED], MAYBE),
    ],
)
def test_the_statuses_of_several_reviewers_amount_to_one(statuses: list[ReviewStatus], combined: ReviewStatus) -> None:
    assert combine_statuses(statuses) is combined
    assert combine_statuses(reversed(statuses)) is combined


def test_there_are_four_statuses() -> None:
    assert [status.value for status in ReviewStatus] == ["include", "exclude", "maybe", "undecided"]


def test_a_decision_is_a_status_alone_or_with_a_reason() -> None:
    assert PaperDecision.model_validate("maybe") == PaperDecision(status=MAYBE)
    assert PaperDecision.model_validate({"status": "maybe", "reason": "no\x00 data"}).reason == "no data"


@pytest.mark.parametrize("given", ["perhaps", "", None, 7, {}, {"reason": "no data"}, {"status": None}, ["include"]])
def test_any_other_decision_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        PaperDecision.model_validate(given)


def test_the_status_of_a_paper_is_in_its_json_and_follows_from_its_decisions() -> None:
    paper = Paper(id="p", title="Io", source="a", decisions=[ReviewDecision(status=EXCLUDE, reviewer="mira")])
    assert paper.model_dump(mode="json")["status"] == "exclude"
    assert Paper.model_validate_json(paper.model_dump_json()) == paper
    assert Paper(id="p", title="Io", source="a").status is UNDECIDED


def test_feedback_gives_its_texts_one_by_one_and_its_marks_as_statuses() -> None:
    feedback = UserFeedback(
        marked_relevant=["a"],
        marked_irrelevant=["b"],
        decisions={"c": PaperDecision(status=MAYBE)},
        free_text_feedback="more moons",
        note=" ",
    )
    assert feedback.texts == ["more moons"]
    assert {key: given.status for key, given in feedback.statuses.items()} == {"a": INCLUDE, "b": EXCLUDE, "c": MAYBE}


def test_decisions_without_a_name_are_one_reviewers_through_any_door() -> None:
    first, second = (ReviewDecision(status=ReviewStatus.INCLUDE, reviewer=door) for door in ("console", "terminal"))
    named = ReviewDecision(status=ReviewStatus.EXCLUDE, reviewer="Ada")
    assert first.is_by_same_reviewer(second)
    assert named.is_by_same_reviewer(named)
    assert not named.is_by_same_reviewer(first)


def test_an_agent_is_never_the_same_reviewer_as_a_person_even_if_it_names_one() -> None:
    agent = ReviewDecision(status=INCLUDE, reviewer="agent")
    assert agent.by_agent, "sessions of earlier versions stored only the interface"
    for name in ("terminal", "console", "client", "reviewer"):
        assert not agent.is_by_same_reviewer(ReviewDecision(status=INCLUDE, reviewer=name))
    assert agent.is_by_same_reviewer(ReviewDecision(status=EXCLUDE, reviewer="agent"))
    relayed, own = (ReviewDecision(status=INCLUDE, reviewer="Ada", by_agent=one) for one in (True, False))
    assert not relayed.is_by_same_reviewer(own)


@pytest.mark.parametrize("by_person", list(ReviewStatus))
@pytest.mark.parametrize("by_agent", list(ReviewStatus))
def test_the_decision_of_a_person_wins_over_that_of_an_agent(by_agent: ReviewStatus, by_person: ReviewStatus) -> None:
    agent = ReviewDecision(status=by_agent, reviewer="agent")
    person = ReviewDecision(status=by_person, reviewer="console")
    assert combine_decisions([agent, person]) is combine_decisions([person, agent]) is by_person
    assert combine_decisions([agent]) is by_agent
