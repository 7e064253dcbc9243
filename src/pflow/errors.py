"""The part's own leaves of the error family. Each has the kernel's `code` and the specification's `type`.

PflowError
├── SecurityError        a name that is none, or a path that leads out of its folder     SecurityError
├── WorkflowNotFound     neither in the library nor among the drafts; a FileNotFoundError FileNotFoundError
├── RunNotFound          not in the log of runs                                           FileNotFoundError
├── WorkflowExists       the name is taken; nothing is overwritten                        already_exists
├── LibraryUnwritable    the disk refused; what was there is there still                  execution_error
├── ScheduleNotFound     no scheduler runs this workflow                                  FileNotFoundError
├── SchedulerUnavailable systemd, cron or launchd is not there, or refuses               execution_error
├── InvalidWorkflow      what the checker found, all of it                                validation_error
├── InvalidInputs        inputs of the wrong kind                                         validation_error
├── RepairRefused        a workflow is repaired by whoever wrote it                       validation_error
├── TemplateUnresolved   variables without a value                                        template_error
├── NodeFailed           a node did not do what it was asked to                           execution_error
│   ├── NodeTimedOut         it did not end in time, and may be at it still
│   ├── NodeNotLoaded        its code cannot be imported
│   └── NodeChanged          its code is another than when the workflow was checked
├── RunStopped           no node's fault: the run cannot go on now, and can later         execution_error
│   ├── RunTimedOut          it did not end in time
│   ├── RunCancelled         whoever asked for it took it back
│   ├── CheckpointUnusable   what an earlier run left cannot be read now
│   ├── ClusterUnreachable   nobody is there to run nodes
│   └── ApprovalRequired     a person has to decide first                                 approval_required
└── UsageError, InvalidServer, UnknownServer, ServerExists: of the command line and of `mcp-servers.json`, beside these
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from uraniborg.kernel.errors import Conflict, InvalidInput, NotFound, Refused, Unavailable, UraniborgError


class PflowError(UraniborgError):
    """What all of them share: `type` is what the specification calls it."""

    type: ClassVar[str] = "execution_error"

    def body(self) -> dict[str, Any]:
        told = super().body()["error"]
        return {"error": {"type": self.type, **told}}


class SecurityError(PflowError, Refused):
    code = "name_refused"
    type = "SecurityError"


class WorkflowNotFound(PflowError, NotFound, FileNotFoundError):
    code = "workflow_not_found"
    type = "FileNotFoundError"

    def add_node_type(self, name: str, description: str, params: Any) -> None:
        """Describe the node type that has the name of the missing workflow, with a node of a workflow as example."""
        self.message = f"Workflow not found: '{name}' is a node type. {description}"
        self.args = (self.message,)
        node = {"id": f"{name}-1", "type": name, "params": params}
        self.hint = f"Use it as a node of a workflow: {json.dumps(node, ensure_ascii=False)}"
        self.ids["node_type"] = {"type": name, "description": description, "example": node}


class RunNotFound(PflowError, NotFound):
    code = "run_not_found"
    type = "FileNotFoundError"


class WorkflowExists(PflowError, Conflict):
    code = "already_exists"
    type = "already_exists"


class LibraryUnwritable(PflowError, Unavailable):
    code = "library_unwritable"

    def __init__(self, path: str, cause: OSError) -> None:
        super().__init__(
            f"{path} cannot be written: {cause.strerror or 'the disk refused'}. Nothing was changed.",
            hint="Make room or set the permissions right, then try again.",
            path=path,
        )


class ScheduleNotFound(PflowError, NotFound):
    code = "schedule_not_found"
    type = "FileNotFoundError"


class SchedulerUnavailable(PflowError, Unavailable):
    code = "scheduler_unavailable"


class InvalidWorkflow(PflowError, InvalidInput):
    """`diagnostics` are all of the checker's findings, as plain objects."""

    code = "invalid_workflow"
    type = "validation_error"

    def __init__(self, message: str, *, hint: str = "", diagnostics: Sequence[Mapping[str, Any]] = (), **ids: Any):
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
    """`outputs` are what the node had by then; an edge for `error` leads to who can use them."""

    code = "node_failed"

    def __init__(self, message: str, *, hint: str = "", outputs: Mapping[str, Any] | None = None, **ids: Any) -> None:
        super().__init__(message, hint=hint, **ids)
        self.outputs = dict(outputs or {})


class NodeTimedOut(NodeFailed):
    code = "node_timed_out"


class NodeNotLoaded(NodeFailed):
    code = "node_not_loaded"


class NodeChanged(NodeFailed):
    code = "node_changed"


class RunStopped(PflowError):
    """Neither retried, nor followed by an `error` edge, nor counted as the failure of an item of a batch."""


class RunTimedOut(RunStopped, Unavailable):
    code = "run_timed_out"


class RunCancelled(RunStopped, Conflict):
    code = "run_cancelled"


class CheckpointUnusable(RunStopped, Unavailable):
    code = "checkpoint_unusable"


class ClusterUnreachable(RunStopped, Unavailable):
    code = "cluster_unreachable"


class ApprovalRequired(RunStopped, Conflict):
    code = "approval_required"
    type = "approval_required"
