"""The search workflow: rounds, checkpoints, decisions and the journal of a search."""

from paper_search.workflow.checkpoints import (
    Checkpoint,
    CheckpointHandler,
    CheckpointKind,
    Decision,
    DecisionAction,
    ResultPayload,
    StrategyPayload,
)
from paper_search.workflow.engine import SearchWorkflow
from paper_search.workflow.state import WorkflowState

__all__ = [
    "Checkpoint",
    "CheckpointHandler",
    "CheckpointKind",
    "Decision",
    "DecisionAction",
    "ResultPayload",
    "SearchWorkflow",
    "StrategyPayload",
    "WorkflowState",
]
