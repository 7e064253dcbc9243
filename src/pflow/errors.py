"""Errors that pflow raises, each with the kernel's `code` and the specification's `type`.

PflowError
├── SecurityError        an invalid name, or a path that leaves its folder                SecurityError
├── WorkflowNotFound     not in the library nor among the drafts; a FileNotFoundError     FileNotFoundError
├── RunNotFound          not in the log of runs                                           FileNotFoundError
├── WorkflowExists       the name is in use; nothing is overwritten                       already_exists
├── WorkflowChanged      somebody else has changed the text; nothing was written          conflict
├── LibraryUnwritable    a file cannot be written; nothing was changed                    execution_error
├── ScheduleNotFound     no scheduler runs this workflow                                  FileNotFoundError
├── SchedulerUnavailable systemd, cron or launchd is missing or fails                     execution_error
├── InvalidWorkflow      a workflow with errors; all findings of the checker              validation_error
├── InvalidInputs        inputs of the wrong type                                         validation_error
├── RepairRefused        workflows are not repaired automatically                         validation_error
├── TemplateUnresolved   variables without a value                                        template_error
├── NodeFailed           a node failed                                                    execution_error
│   ├── NodeTimedOut         it did not end in time, and may still run
│   ├── NodeNotLoaded        its code cannot be imported
│   └── NodeChanged          its code has changed since the workflow was checked
├── RunStopped           the run stops for a reason outside its nodes, and can be resumed execution_error
│   ├── RunTimedOut          it did not end in time
│   ├── RunCancelled         it was cancelled
│   │   └── RunInterrupted       the server that ran it has ended
│   ├── ResumePointUnusable  the results of an earlier run cannot be read
│   ├── RunNotRecorded       the log cannot be written, and the run may have effects
│   ├── ClusterUnreachable   no Dask scheduler or worker answers
│   └── ApprovalRequired     a person has to decide first                                 approval_required
└── InvalidRunArguments, InvalidServer, UnknownServer, ServerExists: of the command line and of `mcp-servers.json`
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from uraniborg.kernel.errors import (
    Conflict,
    ErrorBody,
    ErrorFacts,
    InvalidInput,
    NotFound,
    Refused,
    Unavailable,
    UraniborgError,
)

if TYPE_CHECKING:
    from pflow.service.workflow_replies import Diagnostic


class PflowError(UraniborgError):
    """The base of all errors of pflow. `type` is the name of the kind of error in the specification."""

    type: ClassVar[str] = "execution_error"

    def body(self) -> ErrorBody:
        """Return the error as a JSON object, with its `type`."""
        return {"error": cast("ErrorFacts", {"type": self.type, **super().body()["error"]})}


class SecurityError(PflowError, Refused):
    code = "name_refused"
    type = "SecurityError"


class WorkflowNotFound(PflowError, NotFound, FileNotFoundError):
    code = "workflow_not_found"
    type = "FileNotFoundError"

    def describe_node_type_instead(self, name: str, description: str, params: Any) -> None:
        """Describe the node type that has the name of the missing workflow, with a node of a workflow as example."""
        self.message = f"Workflow not found: '{name}' is a node type. {description}"
        self.args = (self.message,)
        node = {"id": f"{name}-1", "type": name, "params": params}
        self.hint = f"browse_components with the query '{name}' lists its parameters. "
        self.hint += f"Use it as a node of a workflow: {json.dumps(node, ensure_ascii=False)}"
        self.ids["node_type"] = {"type": name, "description": description, "example": node}


class RunNotFound(PflowError, NotFound):
    code = "run_not_found"
    type = "FileNotFoundError"


class WorkflowExists(PflowError, Conflict):
    code = "already_exists"
    type = "already_exists"


class WorkflowChanged(PflowError, Conflict):
    code = "workflow_changed"
    type = "conflict"


class LibraryUnwritable(PflowError, Unavailable):
    code = "library_unwritable"

    def __init__(self, path: str, cause: OSError) -> None:
        super().__init__(
            f"{path} cannot be written: {cause.strerror or 'unknown error'}. Nothing was changed.",
            hint="Free disk space or correct the permissions, then try again.",
            path=path,
        )


class ScheduleNotFound(PflowError, NotFound):
    code = "schedule_not_found"
    type = "FileNotFoundError"


class SchedulerUnavailable(PflowError, Unavailable):
    code = "scheduler_unavailable"


class InvalidWorkflow(PflowError, InvalidInput):
    """A workflow with errors. `diagnostics` has all findings of the checker as plain objects."""

    code = "invalid_workflow"
    type = "validation_error"

    def __init__(self, message: str, *, hint: str = "", diagnostics: "Sequence[Diagnostic]" = (), **ids: Any):
        super().__init__(message, hint=hint, diagnostics=list(diagnostics), **ids)


class InvalidInputs(PflowError, InvalidInput):
    code = "invalid_inputs"
    type = "validation_error"


class RepairRefused(PflowError, InvalidInput):
    code = "repair_refused"
    type = "validation_error"


class TemplateUnresolved(PflowError, InvalidInput):
    code = "template_unresolved"
    type = "template_error"

    def __init__(
        self, missing: Sequence[str], *, available: Sequence[str] = (), message: str = "", hint: str = "", **ids: Any
    ) -> None:
        names = ", ".join(f"${{{name}}}" for name in missing)
        super().__init__(
            message or f"Template {names} not resolved",
            hint=hint,
            missing_variables=list(missing),
            available=list(available),
            **ids,
        )
        self.missing = list(missing)


class NodeFailed(PflowError, Unavailable):
    """A node failed. `outputs` are those that it had; the nodes after an `error` edge can use them."""

    code = "node_failed"

    def __init__(
        self, message: str, *, hint: str = "", outputs: Mapping[str, object] | None = None, **ids: Any
    ) -> None:
        super().__init__(message, hint=hint, **ids)
        self.outputs: dict[str, object] = dict(outputs or {})


class NodeTimedOut(NodeFailed):
    code = "node_timed_out"


class NodeNotLoaded(NodeFailed):
    code = "node_not_loaded"


class NodeChanged(NodeFailed):
    code = "node_changed"


class RunStopped(PflowError):
    """The run stops. No retry, `error` edge or `continue` of a batch applies."""


class RunTimedOut(RunStopped, Unavailable):
    code = "run_timed_out"


class RunCancelled(RunStopped, Conflict):
    code = "run_cancelled"


class RunInterrupted(RunCancelled):
    code = "run_interrupted"


class ResumePointUnusable(RunStopped, Unavailable):
    code = "checkpoint_unusable"


class RunNotRecorded(RunStopped, Unavailable):
    code = "run_not_recorded"


class ClusterUnreachable(RunStopped, Unavailable):
    code = "cluster_unreachable"


class ApprovalRequired(RunStopped, Conflict):
    code = "approval_required"
    type = "approval_required"


def as_pflow_error(exc: UraniborgError) -> PflowError:
    """Return the error as one of pflow; that of another part becomes a NodeFailed with the same message."""
    if isinstance(exc, PflowError):
        return exc
    failed = NodeFailed(exc.message, hint=exc.hint, **exc.ids)
    failed.ids["cause"] = exc.code
    return failed


def describe_exception(exc: BaseException) -> str:
    try:
        text = str(exc)
    except Exception:  # the `__str__` of a node's exception may fail
        text = ""
    return f"{type(exc).__name__}: {text}" if text else type(exc).__name__
