"""What a run returns: its progress, its outputs and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pflow.errors import PflowError
from pflow.ir.model import ERROR_ACTION, Workflow
from pflow.templates.resolution import Resolution
from pflow.templates.scope import Scope
from pflow.templates.truncated_outputs import TruncatedOutput

if TYPE_CHECKING:
    from pflow.run_replies import EndedRun, ResumeState
    from uraniborg.kernel.json_values import Json, JsonObject


@dataclass
class RunProgress:
    """The nodes of a workflow that have ended so far, and how."""

    completed: list[str] = field(default_factory=list[str])
    actions: dict[str, str] = field(default_factory=dict[str, str])
    reused: list[str] = field(default_factory=list[str])
    not_reused: dict[str, str] = field(default_factory=dict[str, str])
    skipped: list[str] = field(default_factory=list[str])
    failures: dict[str, PflowError] = field(default_factory=dict[str, PflowError])
    """Failures that no `error` edge followed, the first one first."""
    interrupted: list[str] = field(default_factory=list[str])
    """Nodes that ran when the run was cancelled or timed out."""


@dataclass(frozen=True)
class RunResult:
    """The result of a run that has ended. Secrets are masked everywhere in it."""

    run_id: str
    workflow: str
    success: bool
    outputs: dict[str, Any]
    duration_ms: float
    progress: RunProgress = field(default_factory=RunProgress)
    error: PflowError | None = None
    error_body: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list[str])
    hashes: dict[str, str] = field(default_factory=dict[str, str])
    uncertain: list[str] = field(default_factory=list[str])
    is_resumable: bool = False
    resumed_from: str | None = None
    is_cancelled: bool = False
    secret_inputs: list[str] = field(default_factory=list[str])
    """The names of the given inputs that are secrets or contain one: they must not be stored."""

    @property
    def failed_node(self) -> str | None:
        return self.error.ids.get("node") if self.error else None

    def build_checkpoint_reply(self) -> "ResumeState | None":
        """Return the nodes that a failed run completed and whether it can be resumed; None for a success."""
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

    def reply(self) -> "EndedRun":
        """Return the reply of the tool `execute`."""
        error: Any = self.error_body
        reply: EndedRun = {
            "success": self.success,
            "outputs": self.outputs,
            "error": error,
            "checkpoint": self.build_checkpoint_reply(),
            "reused_nodes": self.progress.reused,
            "run_id": self.run_id,
            "duration_ms": self.duration_ms,
            "warnings": self.warnings,
        }
        if self.resumed_from:
            reply["resumed_from"] = self.resumed_from
            reply["not_reused"] = self.progress.not_reused
        return reply


def collect_outputs(
    workflow: Workflow, values: "Mapping[str, Json]", warnings: list[str], *, replace_truncated: bool = False
) -> "JsonObject":
    """Return the declared outputs that have a value; without declared outputs, all outputs of the last nodes.

    An output without a value adds a warning to `warnings`. An output that is too long for a value is replaced by a
    description of its file if `replace_truncated`. Otherwise raise TruncatedOutput.
    """
    if not workflow.outputs:
        followed = {edge.source for edge in workflow.edges if edge.action != ERROR_ACTION}
        return {node: values[node] for node in workflow.nodes if node in values and node not in followed}
    outputs: JsonObject = {}
    for output in workflow.outputs.values():
        resolution = Resolution(Scope(values))
        try:
            value = resolution.resolve_value(output.source)
        except TruncatedOutput as short:
            if not replace_truncated:
                raise
            value = short.summary
            warnings.append(f"The output '{output.name}' is {value['bytes']:,} bytes long: see {value['file']}.")
        if resolution.missing:
            names = ", ".join(f"${{{one.text}}}" for one in resolution.missing)
            warnings.append(f"The output '{output.name}' has no value: no input or node gave {names}.")
        else:
            outputs[output.name] = value
    return outputs
