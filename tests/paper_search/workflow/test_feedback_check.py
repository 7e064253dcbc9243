"""Tests of the exact fields of feedback, checked against the plan."""

from typing import Any

import pytest

from paper_search.errors import InvalidDecision
from paper_search.models import ConceptBlock, SearchStrategy, TermSuggestion
from paper_search.workflow import Checkpoint, CheckpointKind, Decision, DecisionAction, StrategyPayload
from paper_search.workflow.decisions import check_decision
from tests.paper_search.workflow.samples import make_review_checkpoint, make_strategy_checkpoint

REJECT = DecisionAction.REJECT


def make_checkpoint() -> Checkpoint:
    """Return a proposed plan with two limits, two concepts and a suggested term."""
    payload = make_strategy_checkpoint().payload
    assert isinstance(payload, StrategyPayload)
    limits = payload.strategy.filters.model_copy(update={"year_to": 2020, "language": "en"})
    blocks = [ConceptBlock(name=name, variants=[name]) for name in ("solar cells", "stability")]
    changes = {
        "filters": limits,
        "blocks": blocks,
        "suggestions": [TermSuggestion(term="encapsulation", reason="in 9 of 20 papers")],
    }
    strategy: SearchStrategy = payload.strategy.model_copy(update=changes)
    return Checkpoint(
        kind=CheckpointKind.STRATEGY_CONFIRMATION,
        payload=payload.model_copy(update={"strategy": strategy}),
        timestamp="2026-06-15T12:00:00+00:00",
    )


def check(data: dict[str, Any], action: DecisionAction = REJECT) -> Any:
    return check_decision(make_checkpoint(), Decision(action=action, revised_data=data)).feedback


def test_exact_changes_are_read_in_plain_spelling() -> None:
    feedback = check(
        {
            "add_terms": '"tandem cells"',
            "exclude_terms": [" mice ", "Mice"],
            "drop_limits": "language",
            "set_years": {"year_from": 2018, "year_to": None},
            "use_suggestions": "encapsulation",
        }
    )
    assert (feedback.add_terms, feedback.exclude_terms) == (["tandem cells"], ["Mice"])
    assert feedback.drop_limits == ["language"]
    assert feedback.set_years.model_dump(exclude_unset=True) == {"year_from": 2018, "year_to": None}
    assert feedback.use_suggestions == ["encapsulation"]
    assert feedback.has_changes


@pytest.mark.parametrize(
    ("data", "complaint", "remedy"),
    [
        ({"add_terms": ["a OR b"]}, "must be one term", "Send each term alone"),
        ({"add_terms": ["..."]}, "must be one term", "Send each term alone"),
        ({"exclude_terms": ["x" * 200]}, "at most 100 characters", "Send each term alone"),
        ({"add_terms": ["Mice"], "exclude_terms": ["mouse", "mice"]}, "adds and excludes “mice”", "Leave it out"),
        (
            {"use_suggestions": True, "exclude_terms": ["encapsulation"]},
            "adds and excludes “encapsulation”",
            "Leave it out",
        ),
        ({"exclude_terms": ["cells"]}, "the plan searches for “solar cells”", "exclude a longer term"),
        ({"drop_limits": ["min_relevance"]}, "The plan has no limit “min_relevance”", "years, year_to, language"),
        ({"drop_limits": ["speed"]}, "'years', 'year_from', 'year_to', 'language' or 'min_relevance'", '"drop_limits"'),
        ({"set_years": {}}, "set_years names no year", '"year_from": 2018'),
        ({"set_years": {"year_from": 2024}}, r"year_from \(2024\) is after year_to \(2020\)", "null removes a year"),
        ({"set_years": {"year_to": 2040}}, "must be at most 2027, got 2040", "null removes a year"),
        ({"set_years": {"year_from": "soon"}}, "set_years.year_from", '"set_years": {"year_from": 2018}'),
        ({"set_years": {"from": 2018}}, "set_years.from", '"set_years": {"year_from": 2018}'),
        ({"set_years": {"year_to": 2019}, "drop_limits": ["years"]}, "drops and sets year_to", "one of the two"),
        ({"use_suggestions": ["tides"]}, "no suggested terms named “tides”", "encapsulation"),
        ({"exclude": ["mice"]}, "Unknown feedback fields: exclude", "exclude_terms"),
    ],
)
def test_a_change_that_is_not_possible_is_refused_with_the_reason_and_a_remedy(
    data: dict[str, Any], complaint: str, remedy: str
) -> None:
    with pytest.raises(InvalidDecision, match=complaint) as caught:
        check(data)
    assert remedy in str(caught.value.hint)


def test_an_approve_takes_no_exact_changes() -> None:
    decision = Decision(action=DecisionAction.APPROVE, revised_data={"exclude_terms": ["mice"]})
    with pytest.raises(InvalidDecision, match="no other feedback") as caught:
        check_decision(make_review_checkpoint("Io"), decision)
    assert "reject" in str(caught.value.hint)


def test_suggestions_that_nobody_made_cannot_be_used() -> None:
    decision = Decision(action=REJECT, revised_data={"use_suggestions": True})
    with pytest.raises(InvalidDecision, match="no suggested terms") as caught:
        check_decision(make_review_checkpoint("Io"), decision)
    assert "add_terms" in str(caught.value.hint)
