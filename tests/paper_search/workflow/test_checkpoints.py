"""Checkpoints and decisions as values."""

import pytest
from pydantic import ValidationError

from paper_search.workflow import (
    Checkpoint,
    CheckpointHandler,
    CheckpointKind,
    Decision,
    DecisionAction,
    ResultPayload,
    StrategyPayload,
)
from tests.paper_search.workflow.samples import make_collection, make_intent, make_strategy


def test_there_are_exactly_two_kinds_of_checkpoint() -> None:
    assert {kind.value for kind in CheckpointKind} == {"strategy_confirmation", "result_review"}


def test_there_are_exactly_three_actions() -> None:
    assert {action.value for action in DecisionAction} == {"approve", "edit", "reject"}


def test_a_strategy_checkpoint_with_a_result_payload_is_refused() -> None:
    with pytest.raises(ValidationError, match="carries a StrategyPayload"):
        Checkpoint(kind=CheckpointKind.STRATEGY_CONFIRMATION, payload=ResultPayload(collection=make_collection()))


def test_a_review_checkpoint_with_a_strategy_payload_is_refused() -> None:
    payload = StrategyPayload(intent=make_intent(), strategy=make_strategy())
    with pytest.raises(ValidationError, match="carries a ResultPayload"):
        Checkpoint(kind=CheckpointKind.RESULT_REVIEW, payload=payload)


def test_a_new_checkpoint_has_its_own_run_and_starts_at_zero() -> None:
    payload = StrategyPayload(intent=make_intent(), strategy=make_strategy())
    first = Checkpoint(kind=CheckpointKind.STRATEGY_CONFIRMATION, payload=payload)
    second = Checkpoint(kind=CheckpointKind.STRATEGY_CONFIRMATION, payload=payload)
    assert first.run_id != second.run_id
    assert (first.iteration, first.round) == (0, 0)


def test_the_checkpoint_id_names_run_iteration_and_kind() -> None:
    payload = StrategyPayload(intent=make_intent(), strategy=make_strategy())
    checkpoint = Checkpoint(
        kind=CheckpointKind.STRATEGY_CONFIRMATION, payload=payload, run_id="run", iteration=3, round=1
    )
    assert checkpoint.checkpoint_id == "run:3:strategy_confirmation"


@pytest.mark.parametrize("kind", list(CheckpointKind))
def test_a_checkpoint_survives_a_trip_through_json(kind: CheckpointKind) -> None:
    payload = (
        StrategyPayload(intent=make_intent(), strategy=make_strategy())
        if kind is CheckpointKind.STRATEGY_CONFIRMATION
        else ResultPayload(collection=make_collection())
    )
    checkpoint = Checkpoint(kind=kind, payload=payload)
    assert Checkpoint.model_validate_json(checkpoint.model_dump_json()) == checkpoint


def test_an_unknown_action_is_refused() -> None:
    with pytest.raises(ValidationError):
        Decision.model_validate({"action": "maybe"})


def test_any_object_with_an_async_handle_is_a_checkpoint_handler() -> None:
    class Yes:
        async def handle(self, checkpoint: Checkpoint) -> Decision:
            return Decision(action=DecisionAction.APPROVE)

    assert isinstance(Yes(), CheckpointHandler)
    assert not isinstance(object(), CheckpointHandler)
