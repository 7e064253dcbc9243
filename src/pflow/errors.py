"""The part's own leaves of the error family. Each has the kernel's `code` and the specification's `type`.

PflowError
├── SecurityError        a name that is none, or a path that leads out of its folder     SecurityError
├── WorkflowNotFound     neither in the library nor among the drafts                      FileNotFoundError
├── WorkflowExists       the name is taken; nothing is overwritten                        already_exists
├── InvalidWorkflow      what the checker found, all of it                                validation_error
├── InvalidInputs        inputs of the wrong kind                                         validation_error
├── TemplateUnresolved   variables without a value                                        template_error
├── NodeFailed           a node did not do what it was asked to                           execution_error
├── RunCancelled         whoever asked for the run took it back                           execution_error
└── ApprovalRequired     a person has to decide first                                     approval_required
"""

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


class WorkflowNotFound(PflowError, NotFound):
    code = "workflow_not_found"
    type = "FileNotFoundError"


class WorkflowExists(PflowError, Conflict):
    code = "already_exists"
    type = "already_exists"


class InvalidWorkflow(PflowError, InvalidInput):
    """`diagnostics` are all of the checker's findings, as plain objects."""

    code = "invalid_workflow"
    type = "validation_error"

    def __init__(self, message: str, *, hint: str = "", diagnostics: Sequence[Mapping[str, Any]] = (), **ids: Any):
        super().__init__(message, hint=hint, diagnostics=list(diagnostics), **ids)


class InvalidInputs(PflowError, InvalidInput):
    code = "invalid_inputs"
    type = "validation_error"


class TemplateUnresolved(PflowError, InvalidInput):
    code = "template_unresolved"
    type = "template_error"

    def __init__(
        self, missing: Sequence[str], *, available: Sequence[str] = (), message: str = "", hint: str = "", **ids: Any
    ) -> None:
        names = ", ".join(f"${{{name}}}" for name in missing)
        super().__init__(
            message or f"Template {names} not resolved.",
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


class RunCancelled(PflowError, Conflict):
    code = "run_cancelled"


class ApprovalRequired(PflowError, Conflict):
    code = "approval_required"
    type = "approval_required"
