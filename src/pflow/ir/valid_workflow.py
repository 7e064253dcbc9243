"""Require that a workflow is valid before anything uses it, and list its warnings."""

from typing import Final

from pflow.errors import InvalidWorkflow
from pflow.ir.checker import CheckResult
from pflow.ir.diagnostics import Diagnostic
from pflow.ir.model import Workflow

_LISTED_ERRORS: Final = 5
_LISTED_WARNINGS: Final = 30


def require_valid_workflow(checked: CheckResult, name: str) -> Workflow:
    """Return the workflow, or raise InvalidWorkflow with all findings of the checker."""
    if checked.workflow is not None and not checked.errors:
        return checked.workflow
    errors = checked.errors
    listed = " ".join(f"[{one.path or 'workflow'}] {one.message}" for one in errors[:_LISTED_ERRORS])
    more = f" And {len(errors) - _LISTED_ERRORS} more." if len(errors) > _LISTED_ERRORS else ""
    raise InvalidWorkflow(
        f"'{name}' is not valid. {listed}{more}",
        hint=_choose_hint(errors),
        diagnostics=[one.to_dict() for one in checked.diagnostics],
        name=name,
        node=next((one.node for one in errors if one.node), None),
    )


def list_first_warnings(checked: CheckResult) -> list[str]:
    """Return the first warnings of the checker, and how many more there are."""
    messages = [one.message for one in checked.warnings]
    if len(messages) <= _LISTED_WARNINGS:
        return messages
    more = f"And {len(messages) - _LISTED_WARNINGS} more warnings: `pflow check` lists them."
    return [*messages[:_LISTED_WARNINGS], more]


def _choose_hint(errors: list[Diagnostic]) -> str:
    for one in errors:
        if one.nearest:
            return f"{one.path}: did you mean '{one.nearest}'?"
        if one.hint:
            return one.hint
    return "Correct these problems and try again."
