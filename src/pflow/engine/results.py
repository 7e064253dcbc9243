"""What comes of a run, and how it is told."""

from dataclasses import dataclass, field
from typing import Any

from pflow.engine.graphs import Progress
from pflow.errors import PflowError


@dataclass(frozen=True)
class RunResult:
    """A run that has ended. Everything in it may be shown: secrets are masked."""

    run_id: str
    workflow: str
    success: bool
    outputs: dict[str, Any]
    duration_ms: float
    progress: Progress = field(default_factory=Progress)
    error: PflowError | None = None
    error_body: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list[str])
    hashes: dict[str, str] = field(default_factory=dict[str, str])
    uncertain: list[str] = field(default_factory=list[str])
    is_resumable: bool = False
    resumed_from: str | None = None
    is_cancelled: bool = False

    @property
    def failed_node(self) -> str | None:
        return self.error.ids.get("node") if self.error else None

    def checkpoint(self) -> dict[str, Any] | None:
        """What a failed run leaves: how far it came, and whether running it again goes on from there."""
        if self.success:
            return None
        return {
            "run_id": self.run_id,
            "workflow": self.workflow,
            "completed_nodes": self.progress.completed,
            "failed_node": self.failed_node,
            "node_actions": self.progress.actions,
            "node_hashes": {node: self.hashes[node] for node in self.progress.completed if node in self.hashes},
            "skipped_nodes": self.progress.skipped,
            "uncertain_nodes": self.uncertain,
            "resumable": self.is_resumable,
        }

    def reply(self) -> dict[str, Any]:
        """As the tool `execute` answers."""
        told: dict[str, Any] = {
            "success": self.success,
            "outputs": self.outputs,
            "error": self.error_body,
            "checkpoint": self.checkpoint(),
            "reused_nodes": self.progress.reused,
            "run_id": self.run_id,
            "duration_ms": self.duration_ms,
            "warnings": self.warnings,
        }
        if self.resumed_from:
            told["resumed_from"] = self.resumed_from
            told["not_reused"] = self.progress.not_reused
        return told
