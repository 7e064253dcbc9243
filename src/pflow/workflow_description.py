"""Describe a workflow: inputs, outputs, nodes, runs and problems."""

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from pflow.engine.runlog import RunLog
from pflow.ir.checker import CheckResult
from pflow.ir.diagrams import draw_mermaid
from pflow.ir.graph import describe_graph
from pflow.ir.model import Input, Output, Workflow
from pflow.ir.template_uses import list_variables
from pflow.library.lookup import FoundWorkflow
from pflow.shortening import shorten_value
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import MASK

if TYPE_CHECKING:
    from pflow.run_replies import RunGraph, RunSummary
    from pflow.workflow_replies import (
        ExampleCall,
        InputDeclaration,
        LastFailure,
        LoggedStatistics,
        OutputDeclaration,
        TemplateVariable,
        WorkflowDescription,
        WorkflowStatistics,
    )
    from uraniborg.kernel.json_values import JsonObject

_FINDINGS: Final = 50
_GRAPH_CHARS: Final = 20_000
_DRAWN: Final = 200
"""Larger graphs are not readable."""
_LOOKED_AT: Final = 200
"""How many runs are looked at one by one."""
_SAMPLES: Final["JsonObject"] = {
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
) -> "WorkflowDescription":
    """Return the reply of `describe_workflow`, shortened for an agent unless `in_full`, and close the log.

    `nodes_total` and `edges_total` count all of them; `truncated` is true if anything was cut.
    """
    stored, workflow = found.stored, checked.workflow
    statistics, last_failure, problem = _summarize_runs_and_close_log(log, stored.name)
    variables = [_mask_variable_default(one, workflow) for one in list_variables(workflow)] if workflow else []
    graph: RunGraph = describe_graph(workflow) if workflow else {"nodes": [], "edges": []}
    drawn = draw_mermaid(workflow) if workflow and len(workflow.nodes) <= _DRAWN else ""
    description: WorkflowDescription = {
        "name": stored.name,
        "description": stored.description,
        "source": stored.source,
        "path": stored.path,
        "inputs": {one.name: _describe_input(one) for one in workflow.inputs.values()} if workflow else {},
        "outputs": {one.name: _describe_output(one) for one in workflow.outputs.values()} if workflow else {},
        "template_variables": variables,
        "nodes": graph["nodes"],
        "edges": graph["edges"],
        "example": _make_example_call(stored.name, workflow, variables) if workflow else {},
        "statistics": statistics,
        "last_failure": last_failure,
        "log_problem": problem,
        "diagnostics": [one.to_dict() for one in checked.diagnostics],
        "warnings": [*found.warnings, *filter(None, [log.notice])],
        "graph": drawn if len(drawn) <= _GRAPH_CHARS else "",
        "nodes_total": len(graph["nodes"]),
        "edges_total": len(graph["edges"]),
        "truncated": False,
    }
    if not problem:
        del description["log_problem"]
    return description if in_full else _shorten_description(description)


def _shorten_description(description: "WorkflowDescription") -> "WorkflowDescription":
    whole: WorkflowDescription = {**description, "graph": ""}
    shortened: WorkflowDescription = shorten_value({**whole, "diagnostics": whole["diagnostics"][:_FINDINGS]})
    return {**shortened, "graph": description["graph"], "truncated": shortened != whole}


def _make_example_call(name: str, workflow: Workflow, variables: "list[TemplateVariable]") -> "ExampleCall":
    required = [one for one in variables if one["required"]]
    return {
        "name": name,
        "inputs": {
            one["name"]: _SAMPLES[workflow.inputs[one["name"]].type] if one["declared"] else "…" for one in required
        },
    }


def _mask_variable_default(variable: "TemplateVariable", workflow: Workflow) -> "TemplateVariable":
    return (
        {**variable, "default": _mask_default(workflow.inputs[variable["name"]])} if "default" in variable else variable
    )


def _describe_input(declared: Input) -> "InputDeclaration":
    described: InputDeclaration = {
        "type": declared.type,
        "required": declared.required,
        "description": declared.description,
    }
    if declared.has_default:
        described["default"] = _mask_default(declared)
    if declared.secret:
        described["secret"] = True
    return described


def _describe_output(declared: Output) -> "OutputDeclaration":
    return {"type": declared.type, "description": declared.description, "source": declared.source}


def _mask_default(declared_input: Input) -> Any:
    return MASK if declared_input.secret and declared_input.default else declared_input.default


def _summarize_runs_and_close_log(log: RunLog, name: str) -> "tuple[WorkflowStatistics, LastFailure | None, str]":
    """Return the statistics, the last failure, and why the log cannot be read, if so."""
    try:
        failure = log.find_last_failure(name)
        figures = log.compute_statistics(name)
        statistics: WorkflowStatistics = {**figures, "other_endings": _count_other_endings(log, name, figures)}
    except UraniborgError as exc:
        return {"execution_count": 0}, None, exc.message
    finally:
        log.close()
    return statistics, failure and _summarize_failure(failure), ""


def _summarize_failure(run: "RunSummary") -> "LastFailure":
    return {
        "id": run["id"],
        "started_at": run["started_at"],
        "failed_node": run["failed_node"],
        "error": run["error"],
        "duration_ms": run["duration_ms"],
    }


def _count_other_endings(log: RunLog, name: str, figures: "LoggedStatistics") -> dict[str, int]:
    """Return the number of last runs that neither succeeded nor failed, by status such as `waiting` or `cancelled`."""
    if figures["execution_count"] == figures["success_count"] + figures["failure_count"]:
        return {}
    statuses = (run["status"] for run in log.list_runs(name, _LOOKED_AT))
    return dict(Counter(status for status in statuses if status not in ("success", "failed")))
