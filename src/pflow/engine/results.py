"""Hold the state of a run, and turn it into the result that callers get."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from pflow.engine.secret_values import SecretReferences, list_secret_inputs
from pflow.errors import ApprovalRequired, PflowError, RunCancelled, RunInterrupted
from pflow.ir.model import ERROR_ACTION, Workflow
from pflow.redaction import Secrets
from pflow.templates.resolution import Resolution
from pflow.templates.scope import Scope
from pflow.templates.syntax import Reference
from pflow.templates.truncated_outputs import TruncatedOutput
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.logging import MASK

if TYPE_CHECKING:
    from pflow.engine.resume.recorder import RunRecorder
    from pflow.engine.runlog import Ending
    from pflow.run_replies import EndedRun, ResumeState, RunError
    from uraniborg.kernel.json_values import Json, JsonObject


@dataclass
class WalkProgress:
    """The nodes of a workflow, or of a nested one, that have ended so far, and how."""

    completed: list[str] = field(default_factory=list[str])
    actions: dict[str, str] = field(default_factory=dict[str, str])
    reused: list[str] = field(default_factory=list[str])
    not_reused: dict[str, str] = field(default_factory=dict[str, str])
    skipped: list[str] = field(default_factory=list[str])
    failures: dict[str, PflowError] = field(default_factory=dict[str, PflowError])
    """Failures that no `error` edge followed, the first one first."""
    interrupted: list[str] = field(default_factory=list[str])
    """Nodes that ran when the run was cancelled or timed out."""


@dataclass
class RunState:
    """The state of a run: all that changes from its start to its result, in nested workflows as well."""

    name: str
    workflow: Workflow
    inputs: "Mapping[str, Json]"
    """As they were given."""
    warnings: list[str] = field(default_factory=list[str])
    run_id: str = field(default_factory=partial(new_id, "run"))
    secrets: Secrets = field(default_factory=Secrets)
    progress: WalkProgress = field(default_factory=WalkProgress)
    """The nodes of the workflow itself."""
    hashes: dict[str, str] = field(default_factory=dict[str, str])
    """The fingerprint of each step. In this and the following, the keys are those of nodes, nested ones included."""
    uncertain: list[str] = field(default_factory=list[str])
    """Steps that were interrupted in an earlier run and may have had their effect."""
    rerun_reasons: dict[str, str] = field(default_factory=dict[str, str])
    """Why steps were not reused from an earlier run."""
    given_params: "dict[str, JsonObject]" = field(default_factory=dict)
    """For each node that runs, the values of the parameters that the workflow gives."""
    secret_references: SecretReferences = field(default_factory=dict[str, list[Reference]])
    """For each node, the references to its outputs that are secrets."""
    began: float = field(default_factory=time.perf_counter)

    @property
    def interrupted_node(self) -> str | None:
        """The first node that ran when the run was cancelled or timed out."""
        return next(iter(self.progress.interrupted), None)

    def raise_first_failure(self) -> None:
        """Raise the first failure of a node that no `error` edge followed, and warn of the others."""
        if self.progress.failures:
            first, *others = self.progress.failures.values()
            self.warnings += [f"'{one.ids.get('node')}' failed, too: {one.message}" for one in others]
            raise first


@dataclass(frozen=True)
class RunResult:
    """The result of a run that has ended. Secrets are masked everywhere in it."""

    run_id: str
    workflow: str
    success: bool
    outputs: "JsonObject"
    duration_ms: float
    progress: WalkProgress = field(default_factory=WalkProgress)
    error: PflowError | None = None
    error_body: "RunError | None" = None
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

    @property
    def status(self) -> "Ending":
        """How the run ended, for the log of runs."""
        if self.success:
            return "success"
        for kind, status in _ENDINGS.items():
            if isinstance(self.error, kind):
                return status
        return "failed"

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
        reply: EndedRun = {
            "success": self.success,
            "outputs": self.outputs,
            "error": self.error_body,
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


_ENDINGS: Final[dict[type[PflowError], "Ending"]] = {
    ApprovalRequired: "waiting",
    RunInterrupted: "interrupted",
    RunCancelled: "cancelled",
}


def build_result(
    state: RunState, recorder: "RunRecorder", error: PflowError | None, outputs: "JsonObject"
) -> RunResult:
    """Return the result of a run that has ended, with secrets masked."""
    secrets, progress, warnings = state.secrets, state.progress, state.warnings
    body: RunError | None = secrets.mask(error.body()["error"]) if error else None
    if body is not None:
        body.setdefault("node", None)
    if error is not None and secrets.values:
        progress.actions = {node: secrets.mask(action) for node, action in progress.actions.items()}
    shown = secrets.mask(outputs, guess=False)  # outputs that only look like secrets stay as they are
    if shown != outputs:
        warnings.append(f"Secrets in the outputs are shown as {MASK}.")
    return RunResult(
        run_id=state.run_id,
        workflow=state.name,
        success=error is None,
        outputs=shown,
        duration_ms=measure_elapsed_ms(state.began),
        progress=progress,
        error=error,
        error_body=body,
        warnings=secrets.mask(list(dict.fromkeys(warnings))),
        hashes=state.hashes,
        uncertain=[*state.uncertain, *sorted(recorder.list_unfinished_nodes() - set(state.uncertain))],
        resumed_from=recorder.resumed_from,
        is_cancelled=isinstance(error, RunCancelled),
        secret_inputs=list_secret_inputs(state.workflow, state.inputs, secrets),
    )


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


def measure_elapsed_ms(start: float) -> float:
    """Return the milliseconds since a value of `time.perf_counter`."""
    return round((time.perf_counter() - start) * 1000, 3)
