"""Hold the state of a run, turn it into the result that callers get, and build bounded replies for agents."""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from pflow.domain.diagnostics import shorten_value
from pflow.domain.ir.model import ERROR_ACTION, Workflow
from pflow.domain.redaction import SecretReferences, Secrets, list_secret_inputs
from pflow.domain.template_references import Scope, TemplateReference
from pflow.domain.template_resolution import Resolution, TruncatedOutput
from pflow.errors import ApprovalRequired, PflowError, RunCancelled, RunInterrupted, SecurityError
from uraniborg.kernel.errors import InvalidInput, NotFound, UraniborgError
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.logging import MASK
from uraniborg.kernel.store.files import make_private_folder, open_private

if TYPE_CHECKING:
    from pflow.service.run_replies import EndedRun, ResumeState, RunError
    from pflow.store.run_log import Ending
    from pflow.store.run_recorder import RunRecorder
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
    secret_references: SecretReferences = field(default_factory=dict[str, list[TemplateReference]])
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


MAX_OUTPUT_BYTES: Final = 100_000
"""The maximum size of all outputs in a reply."""
_PREVIEW_BYTES: Final = 2_000
_MAX_CHARS: Final = 4_000
_MAX_WARNINGS: Final = 50
_MAX_HASHES: Final = 200
_MAX_OUTPUTS: Final = 100
_MAX_DIAGNOSTICS: Final = 50
"""The maximum number of findings of the checker in a reply."""


def build_error_body(error: UraniborgError) -> "RunError":
    """Return the error as an object with the `type` of the specification, whichever part raised it."""
    kind = "validation_error" if isinstance(error, InvalidInput | NotFound) else PflowError.type
    body: RunError = {"type": kind, **cast("RunError", error.body()["error"])}
    found = body.get("diagnostics", [])
    if len(found) > _MAX_DIAGNOSTICS:
        body["diagnostics"], body["more_diagnostics"] = found[:_MAX_DIAGNOSTICS], len(found) - _MAX_DIAGNOSTICS
    return body


def build_refusal_reply(error: UraniborgError, name: str) -> "EndedRun":
    """Return the reply to a run that did not begin."""
    body = build_error_body(error)
    node = body.setdefault("node", None)
    return {
        "success": False,
        "outputs": {},
        "error": body,
        "checkpoint": {
            "run_id": None,
            "workflow": None if isinstance(error, SecurityError) else name[:100],
            "completed_nodes": [],
            "failed_node": node,
            "node_actions": {},
            "resumable": False,
        },
        "reused_nodes": [],
        "run_id": None,
        "duration_ms": 0,
        "warnings": [],
    }


def build_reply_and_write_large_outputs(result: RunResult, home: Path) -> "EndedRun":
    """Return the reply to a run. Write outputs that are too large to files, and describe these instead."""
    reply = result.reply()
    _shorten_messages_in_place(reply)
    reply["outputs"] = dict(result.outputs)
    sizes = {name: len(_format_json(value)) for name, value in reply["outputs"].items()}
    if len(sizes) > _MAX_OUTPUTS and sum(sizes.values()) > MAX_OUTPUT_BYTES:  # so many small outputs go into one file
        reply["outputs"] = {"all": reply["outputs"]}
        sizes = {"all": sum(sizes.values())}
    budget = MAX_OUTPUT_BYTES
    for name, size in sorted(sizes.items(), key=lambda item: item[1]):
        if size <= budget:
            budget -= size
            continue
        value = reply["outputs"][name]
        is_text = isinstance(value, str)
        text = value.encode() if is_text else _format_json(value)
        path = _try_write_spool_file(home, result.run_id, f"{name}.txt" if is_text else f"{name}.json", text)
        reply["outputs"][name] = {
            "truncated": True,
            "bytes": len(text),
            "preview": text[:_PREVIEW_BYTES].decode("utf-8", "ignore"),
            "file": path,
        }
        where = f"; all of it is in {path} of the pflow home" if path else ""
        reply["warnings"].append(f"The output '{name}' is {len(text):,} bytes long and is cut here{where}.")
    return reply


def _shorten_messages_in_place(reply: "EndedRun") -> None:
    """Shorten errors and warnings in place; `pflow show` prints them in full."""
    if reply["error"] is not None:
        reply["error"] = shorten_value(reply["error"], max_chars=_MAX_CHARS)
    warnings = list(dict.fromkeys(reply["warnings"]))
    more = [f"And {len(warnings) - _MAX_WARNINGS:,} more."] if len(warnings) > _MAX_WARNINGS else []
    reply["warnings"] = [*(shorten_value(one, max_chars=_MAX_CHARS) for one in warnings[:_MAX_WARNINGS]), *more]
    checkpoint = reply["checkpoint"]
    if checkpoint and len(checkpoint.get("node_hashes", ())) > _MAX_HASHES:
        del checkpoint["node_hashes"]


def _format_json(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=str)
    except orjson.JSONEncodeError:  # an integer of more than 64 bits
        return json.dumps(value, default=str, ensure_ascii=False).encode()


def _try_write_spool_file(home: Path, run_id: str, name: str, text: bytes) -> str | None:
    """Write a file to the spool of a run, and return its path in the pflow home, or None if that fails."""
    folder = home / "spool" / run_id
    path = folder / name
    try:
        make_private_folder(folder)
        file = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with open(file, "wb") as stream:
            stream.write(text)
    except OSError:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return None
    return path.relative_to(home).as_posix()
