"""Tests of the decisions that are valid at each checkpoint."""

import json
from typing import Any

import pytest

from paper_search.domain.review_models import Exclusion, ExclusionReason, PaperDecision, ReviewStatus
from paper_search.errors import InvalidDecision
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints, UserFeedback
from paper_search.workflow import Decision, DecisionAction, ResultPayload, StrategyPayload
from paper_search.workflow.decisions import add_missing_reviewer, check_decision, read_feedback, read_strategy
from tests.paper_search.workflow.samples import (
    make_paper,
    make_review_checkpoint,
    make_strategy,
    make_strategy_checkpoint,
)
from uraniborg.kernel.json_values import JsonObject

APPROVE, EDIT, REJECT = DecisionAction.APPROVE, DecisionAction.EDIT, DecisionAction.REJECT


def test_an_approved_strategy_is_the_proposed_one() -> None:
    assert read_strategy(make_strategy_checkpoint(), Decision(action=APPROVE)) == make_strategy()


def test_an_edit_with_a_whole_strategy_replaces_it() -> None:
    revised = make_strategy("moons", max_results=7)
    decision = Decision(action=EDIT, revised_data=revised.model_dump())
    assert read_strategy(make_strategy_checkpoint(), decision) == revised


def test_an_edit_may_carry_the_model_itself() -> None:
    revised = make_strategy("moons")
    assert read_strategy(make_strategy_checkpoint(), Decision(action=EDIT, revised_data=revised)) == revised


def test_an_edit_of_one_field_keeps_the_rest() -> None:
    decision = Decision(action=EDIT, revised_data={"sources": ["beta"]})
    revised = read_strategy(make_strategy_checkpoint(), decision)
    assert revised.sources == ["beta"]
    assert revised.queries == make_strategy().queries


def test_data_sent_as_json_text_is_read() -> None:
    decision = Decision(action=EDIT, revised_data=json.dumps({"filters": {"year_from": 2020}}))
    assert read_strategy(make_strategy_checkpoint(), decision).filters == SearchConstraints(year_from=2020)


NOTHING: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (None, "needs the revised strategy"),
        (NOTHING, "needs the revised strategy"),
        ("not json", "not JSON"),
        ([1, 2], "must be an object, not list"),
        (17, "must be an object, not int"),
        ({"querys": []}, "Unknown strategy fields: querys"),
        ({"queries": "moons"}, "Invalid strategy: queries"),
        ({"queries": list[Any]()}, "has no query"),
        ({"queries": [{"keywords": ["x"], "boolean_query": "  "}]}, "has no query"),
        ({"sources": ["gamma"]}, "Unknown sources: gamma"),
        ({"filters": {"max_results": 0}}, "at least 1"),
        ({"filters": {"year_from": 2022, "year_to": 2020}}, "is after year_to"),
    ],
)
def test_an_invalid_edit_is_refused_with_the_reason(data: Any, complaint: str) -> None:
    decision = Decision(action=EDIT, revised_data=data)
    with pytest.raises(InvalidDecision, match=complaint) as caught:
        read_strategy(make_strategy_checkpoint(), decision, ["alpha", "beta"])
    assert caught.value.hint


def test_an_edit_with_a_huge_max_results_is_capped_with_a_note() -> None:
    decision = Decision(action=EDIT, revised_data={"filters": {"max_results": 10**9}})
    revised = read_strategy(make_strategy_checkpoint(), decision)
    assert revised.filters.max_results == MAX_RESULTS_CAP
    assert "1,000,000,000" in revised.notes[-1]


def test_an_unknown_source_in_an_edit_is_answered_with_the_known_ones() -> None:
    decision = Decision(action=EDIT, revised_data={"sources": ["gamma"]})
    with pytest.raises(InvalidDecision) as caught:
        read_strategy(make_strategy_checkpoint(), decision, ["alpha", "beta"])
    assert caught.value.ids == {"unknown": ["gamma"], "allowed": ["alpha", "beta"]}


def test_an_approve_of_a_strategy_with_data_is_refused() -> None:
    with pytest.raises(InvalidDecision, match="approve takes no data"):
        check_decision(make_strategy_checkpoint(), Decision(action=APPROVE, revised_data={"marked_relevant": ["x"]}))


@pytest.mark.parametrize(
    "data",
    [
        {"decisions": {make_paper("Io").id: {"status": "exclude", "reason": "wrong moon"}}},
        {"decisions": {make_paper("Io").id: "maybe"}, "reviewer": "mira"},
        {"marked_relevant": [make_paper("Io").id]},
        UserFeedback(marked_irrelevant=[make_paper("Io").id]),
    ],
)
def test_an_approve_at_review_may_carry_decisions_about_papers(data: Any) -> None:
    check_decision(make_review_checkpoint("Io"), Decision(action=APPROVE, revised_data=data))


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({"free_text_feedback": "more moons"}, "merges and splits, and no other feedback"),
        (UserFeedback(free_text_feedback="more moons"), "merges and splits, and no other feedback"),
        ({"queries": []}, "Unknown feedback fields: queries"),
        ({"decisions": {"p_unknown": "include"}}, "No such papers"),
    ],
)
def test_an_approve_at_review_with_other_data_is_refused(data: Any, complaint: str) -> None:
    with pytest.raises(InvalidDecision, match=complaint):
        check_decision(make_review_checkpoint("Io"), Decision(action=APPROVE, revised_data=data))


@pytest.mark.parametrize("action", [EDIT, REJECT])
def test_a_bare_edit_or_reject_at_review_is_allowed(action: DecisionAction) -> None:
    assert read_feedback(make_review_checkpoint("Io"), Decision(action=action)) == UserFeedback()


def test_a_bare_reject_of_a_strategy_is_allowed() -> None:
    check_decision(make_strategy_checkpoint(), Decision(action=REJECT))


def test_note_and_free_text_reach_the_feedback_as_two_texts() -> None:
    decision = Decision(action=REJECT, revised_data={"free_text_feedback": "more moons"}, note="and fewer stars")
    assert read_feedback(make_review_checkpoint("Io"), decision).texts == ["more moons", "and fewer stars"]


def test_a_note_alone_is_feedback() -> None:
    decision = Decision(action=REJECT, note="not enough on evaluation")
    assert read_feedback(make_review_checkpoint("Io"), decision).texts == ["not enough on evaluation"]


def test_a_note_in_the_data_is_read_and_a_second_one_is_refused() -> None:
    decision = Decision(action=REJECT, revised_data={"note": "fewer stars"})
    assert read_feedback(make_review_checkpoint("Io"), decision).texts == ["fewer stars"]
    with pytest.raises(InvalidDecision, match="two notes"):
        read_feedback(make_review_checkpoint("Io"), decision.model_copy(update={"note": "more moons"}))


def test_a_blank_note_is_not_feedback() -> None:
    assert read_feedback(make_review_checkpoint("Io"), Decision(action=REJECT, note="  ")).texts == []


def test_a_decision_about_a_paper_is_an_object_or_a_plain_status() -> None:
    first, second = make_paper("Io").id, make_paper("Europa").id
    data = {"decisions": {first: {"status": "exclude", "reason": "wrong moon"}, second: "maybe"}}
    feedback = read_feedback(make_review_checkpoint("Io", "Europa"), Decision(action=REJECT, revised_data=data))
    assert feedback.statuses == {
        first: PaperDecision(status=ReviewStatus.EXCLUDE, reason="wrong moon"),
        second: PaperDecision(status=ReviewStatus.MAYBE),
    }


def test_marks_mean_include_and_exclude() -> None:
    data = {"marked_relevant": [make_paper("Io").id], "marked_irrelevant": [make_paper("Europa").id]}
    feedback = read_feedback(make_review_checkpoint("Io", "Europa"), Decision(action=REJECT, revised_data=data))
    assert {key: given.status.value for key, given in feedback.statuses.items()} == {
        make_paper("Io").id: "include",
        make_paper("Europa").id: "exclude",
    }


def test_papers_that_are_not_in_the_result_and_former_ids_can_be_decided_about() -> None:
    checkpoint = make_review_checkpoint("Io")
    assert isinstance(checkpoint.payload, ResultPayload)
    collection = checkpoint.payload.collection
    collection.papers[0].other_ids = ["p_former"]
    gone = Exclusion(paper_id="p_low", other_ids=["p_lower"], title="x", reason=ExclusionReason.BELOW_THRESHOLD)
    collection.metadata.exclusions = [gone]
    decisions = dict.fromkeys(["p_former", "p_low", "p_lower"], "include")
    check_decision(checkpoint, Decision(action=REJECT, revised_data={"decisions": decisions}))


def test_the_reviewer_is_the_given_name_or_the_interface() -> None:
    marks: JsonObject = {"marked_relevant": ["p"]}
    assert add_missing_reviewer(marks, "terminal") == {**marks, "reviewer": "terminal"}
    assert add_missing_reviewer(json.dumps(marks), "terminal") == {**marks, "reviewer": "terminal"}
    assert add_missing_reviewer({**marks, "reviewer": "mira"}, "terminal") == {**marks, "reviewer": "mira"}
    assert add_missing_reviewer({**marks, "reviewer": "  "}, "terminal") == {**marks, "reviewer": "terminal"}


@pytest.mark.parametrize("data", [None, {}, {"free_text_feedback": "more"}, {"queries": []}, [1], "not json", 7])
def test_data_without_decisions_about_papers_needs_no_reviewer(data: Any) -> None:
    assert add_missing_reviewer(data, "terminal") == data


def test_a_single_id_sent_as_text_counts_as_a_list_of_one() -> None:
    wanted = make_paper("Io").id
    decision = Decision(action=REJECT, revised_data={"marked_relevant": wanted})
    assert read_feedback(make_review_checkpoint("Io"), decision).marked_relevant == [wanted]


def test_the_error_about_a_paper_id_of_a_shelf_names_the_server_that_reads_it() -> None:
    decision = Decision(action=REJECT, revised_data={"marked_relevant": ["0123456789abcdef" * 2]})
    with pytest.raises(InvalidDecision, match="No such papers") as refused:
        read_feedback(make_review_checkpoint("Io"), decision)
    assert "get_paper_metadata on the paper-library server" in refused.value.hint
    assert make_paper("Io").id in refused.value.hint


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({"marked_relevant": ["nope"]}, "No such papers in this review: nope"),
        ({"marked_relevant": [17]}, "Invalid feedback"),
        ({"relevant": ["x"]}, "Unknown feedback fields: relevant"),
        ({"decisions": [make_paper("Io").id]}, "Invalid feedback"),
        ({"decisions": {make_paper("Io").id: "perhaps"}}, "Invalid feedback"),
        ({"decisions": {make_paper("Io").id: {"reason": "x"}}}, "Invalid feedback"),
        (
            {"decisions": {make_paper("Io").id: "exclude"}, "marked_relevant": [make_paper("Io").id]},
            "The mark and the decision differ",
        ),
        ({"decisions": {make_paper("Io").id: "include"}, "reviewer": "x" * 101}, "Invalid feedback"),
        (
            {"marked_relevant": [make_paper("Io").id], "marked_irrelevant": [make_paper("Io").id]},
            "both relevant and irrelevant",
        ),
    ],
)
def test_invalid_feedback_is_refused_with_the_reason(data: Any, complaint: str) -> None:
    with pytest.raises(InvalidDecision, match=complaint) as caught:
        read_feedback(make_review_checkpoint("Io"), Decision(action=REJECT, revised_data=data))
    assert caught.value.hint


def test_papers_cannot_be_marked_where_none_are_shown() -> None:
    decision = Decision(action=REJECT, revised_data={"marked_relevant": [make_paper("Io").id]})
    with pytest.raises(InvalidDecision, match="No such papers"):
        check_decision(make_strategy_checkpoint(), decision)


@pytest.mark.parametrize("action", list(DecisionAction))
def test_every_bare_action_is_accepted_at_review(action: DecisionAction) -> None:
    check_decision(make_review_checkpoint("Io"), Decision(action=action))


def test_a_bare_edit_of_a_strategy_is_refused_with_the_alternatives() -> None:
    with pytest.raises(InvalidDecision) as caught:
        check_decision(make_strategy_checkpoint(), Decision(action=EDIT))
    assert "approve" in caught.value.hint


@pytest.mark.parametrize(
    ("query", "problem", "start"),
    [
        ("(stem AND (cancer OR", "not closed", 0),
        ("stem AND OR cancer", "nothing after", 5),
        ("cancer AND [x]", "not a known field", 11),
        ("NOT cancer", "only excludes", 0),
    ],
)
def test_an_edited_query_with_an_error_is_refused_at_its_position(query: str, problem: str, start: int) -> None:
    queries = [{"keywords": ["moons"], "boolean_query": text} for text in ("moons", query)]
    with pytest.raises(InvalidDecision, match=problem) as refused:
        check_decision(make_strategy_checkpoint(), Decision(action=EDIT, revised_data={"queries": queries}))
    assert refused.value.message.startswith(f"Query 2 has an error at character {start + 1}, “{query[start:]}”")
    assert (refused.value.ids["query"], refused.value.ids["start"]) == (1, start)
    assert refused.value.hint


@pytest.mark.parametrize("query", ["10.1086/341477(a", "tides (a AND b) NOT c", "moons"])
def test_an_edit_without_errors_and_a_lookup_are_accepted(query: str) -> None:
    edit = Decision(action=EDIT, revised_data={"queries": [{"keywords": [], "boolean_query": query}]})
    checked = check_decision(make_strategy_checkpoint(), edit)
    assert checked.strategy is not None
    assert checked.strategy.queries[0].boolean_query == query


def test_a_proposed_query_with_an_error_does_not_refuse_the_edit_of_another_part() -> None:
    checkpoint = make_strategy_checkpoint()
    assert isinstance(checkpoint.payload, StrategyPayload)
    checkpoint.payload.strategy = make_strategy("tidal AND (heating")
    edit = Decision(action=EDIT, revised_data={"filters": {"year_from": 2020}})
    assert check_decision(checkpoint, edit).strategy is not None
