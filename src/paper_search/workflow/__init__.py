"""Run a search in rounds, with checkpoints, decisions and a journal."""

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
from paper_search.workflow.rounds import WorkflowState

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
