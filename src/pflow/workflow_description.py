"""Description of a workflow: inputs, outputs, nodes, runs and problems."""

from collections import Counter
from typing import Any, Final

from pflow.engine.runlog import RunLog
from pflow.ir.checker import CheckResult
from pflow.ir.diagrams import draw_mermaid
from pflow.ir.graph import describe_graph
from pflow.ir.model import Input, Workflow
from pflow.ir.template_uses import list_variables
from pflow.library.lookup import FoundWorkflow
from pflow.shortening import shorten_value
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import MASK

_FINDINGS: Final = 50
_GRAPH_CHARS: Final = 20_000
_DRAWN: Final = 200
"""Larger graphs are not readable."""
_LOOKED_AT: Final = 200
"""How many runs are looked at one by one."""
_SAMPLES: Final[dict[str, Any]] = {
    "string": "text",
    "number": 1.5,
    "integer": 1,
    "boolean": True,
    "object": {},
    "array": [],
    "any": "…",
}


def describe_workflow(
    found: FoundWorkflow, checked: CheckResult, log: RunLog, *, in_full: bool = False
) -> dict[str, Any]:
    """Return the reply of `describe_workflow`, shortened for an agent unless `in_full`, and close the log.

    `nodes_total` and `edges_total` count all of them; `truncated` is true if anything was cut.
    """
    stored, workflow = found.stored, checked.workflow
    description: dict[str, Any] = {
        "name": stored.name,
        "description": stored.description,
        "source": stored.source,
        "path": stored.path,
        "inputs": {},
        "outputs": {},
        "template_variables": [],
        "nodes": [],
        "edges": [],
        "example": {},
    }
    if workflow is not None:
        description |= _describe_parts(stored.name, workflow)
    description |= _summarize_runs_and_close_log(log, stored.name)
    description["diagnostics"] = [one.to_dict() for one in checked.diagnostics]
    description["warnings"] = list(found.warnings)
    if log.notice:
        description["warnings"].append(log.notice)
    totals = {"nodes_total": len(description["nodes"]), "edges_total": len(description["edges"])}
    graph = draw_mermaid(workflow) if workflow and len(workflow.nodes) <= _DRAWN else ""
    shortened_description = (
        description
        if in_full
        else shorten_value({**description, "diagnostics": description["diagnostics"][:_FINDINGS]})
    )
    drawn = graph if len(graph) <= _GRAPH_CHARS else ""
    return {**shortened_description, "graph": drawn, **totals, "truncated": shortened_description != description}


def _describe_parts(name: str, workflow: Workflow) -> dict[str, Any]:
    variables = [_mask_variable_default(one, workflow) for one in list_variables(workflow)]
    return {
        "inputs": {one.name: _describe_input(one) for one in workflow.inputs.values()},
        "outputs": {
            one.name: {"type": one.type, "description": one.description, "source": one.source}
            for one in workflow.outputs.values()
        },
        "template_variables": variables,
        **describe_graph(workflow),
        "example": {
            "name": name,
            "inputs": {
                one["name"]: _SAMPLES[workflow.inputs[one["name"]].type] if one["declared"] else "…"
                for one in variables
                if one["required"]
            },
        },
    }


def _mask_variable_default(variable: dict[str, Any], workflow: Workflow) -> dict[str, Any]:
    return (
        {**variable, "default": _mask_default(workflow.inputs[variable["name"]])} if "default" in variable else variable
    )


def _describe_input(declared_input: Input) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "type": declared_input.type,
        "required": declared_input.required,
        "description": declared_input.description,
    }
    if declared_input.has_default:
        plain["default"] = _mask_default(declared_input)
    if declared_input.secret:
        plain["secret"] = True
    return plain


def _mask_default(declared_input: Input) -> Any:
    return MASK if declared_input.secret and declared_input.default else declared_input.default


def _summarize_runs_and_close_log(log: RunLog, name: str) -> dict[str, Any]:
    try:
        failure = log.find_last_failure(name)
        figures = log.compute_statistics(name)
        summary: dict[str, Any] = {"statistics": {**figures, "other_endings": _count_other_endings(log, name, figures)}}
    except UraniborgError as exc:
        return {"statistics": {"execution_count": 0}, "last_failure": None, "log_problem": exc.message}
    finally:
        log.close()
    keys = ("id", "started_at", "failed_node", "error", "duration_ms")
    return {**summary, "last_failure": {key: failure.get(key) for key in keys} if failure else None}


def _count_other_endings(log: RunLog, name: str, figures: dict[str, Any]) -> dict[str, int]:
    """Return the number of last runs that neither succeeded nor failed, by status such as `waiting` or `cancelled`."""
    count = figures["execution_count"] - figures["success_count"] - figures["failure_count"]
    if not count:
        return {}
    statuses = (run["status"] for run in log.list_runs(name, _LOOKED_AT))
    return dict(Counter(status for status in statuses if status not in ("success", "failed")))
