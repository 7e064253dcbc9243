"""All there is to say of a workflow: what it takes and gives, how it goes, how it went, and what is wrong with it."""

from collections import Counter
from typing import Any, Final

from pflow.engine.runlog import RunLog
from pflow.ir.checker import Checked
from pflow.ir.diagrams import mermaid
from pflow.ir.model import Input, Workflow
from pflow.ir.template_uses import variables_of
from pflow.library.lookup import Found
from pflow.shortening import shorten_value
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import MASK

_FINDINGS: Final = 50
_GRAPH_CHARS: Final = 20_000
_DRAWN: Final = 200
"""A graph of more nodes helps nobody."""
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


def described(found: Found, checked: Checked, log: RunLog, *, in_full: bool = False) -> dict[str, Any]:
    """As `describe_workflow` answers: no more than an agent can read, unless all of it is asked for.

    `nodes_total` and `edges_total` count them all; `truncated` says whether anything was cut.
    """
    stored, workflow = found.stored, checked.workflow
    told: dict[str, Any] = {
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
        told |= _of_workflow(stored.name, workflow)
    told |= _history(log, stored.name)
    told["diagnostics"] = [one.plain() for one in checked.diagnostics]
    told["warnings"] = list(found.warnings)
    if log.notice:
        told["warnings"].append(log.notice)
    totals = {"nodes_total": len(told["nodes"]), "edges_total": len(told["edges"])}
    graph = mermaid(workflow) if workflow and len(workflow.nodes) <= _DRAWN else ""
    kept = told if in_full else shorten_value({**told, "diagnostics": told["diagnostics"][:_FINDINGS]})
    drawn = graph if len(graph) <= _GRAPH_CHARS else ""
    return {**kept, "graph": drawn, **totals, "truncated": kept != told}


def _of_workflow(name: str, workflow: Workflow) -> dict[str, Any]:
    variables = [_variable(one, workflow) for one in variables_of(workflow)]
    return {
        "inputs": {one.name: _input(one) for one in workflow.inputs.values()},
        "outputs": {
            one.name: {"type": one.type, "description": one.description, "source": one.source}
            for one in workflow.outputs.values()
        },
        "template_variables": variables,
        "nodes": [
            {"id": node.id, "type": node.type, "purpose": node.purpose, "is_batch": node.batch is not None}
            for node in workflow.nodes.values()
        ],
        "edges": [{"from": edge.source, "to": edge.target, "action": edge.action} for edge in workflow.edges],
        "example": {
            "name": name,
            "inputs": {
                one["name"]: _SAMPLES[workflow.inputs[one["name"]].type] if one["declared"] else "…"
                for one in variables
                if one["required"]
            },
        },
    }


def _variable(told: dict[str, Any], workflow: Workflow) -> dict[str, Any]:
    return {**told, "default": _default(workflow.inputs[told["name"]])} if "default" in told else told


def _input(one: Input) -> dict[str, Any]:
    plain: dict[str, Any] = {"type": one.type, "required": one.required, "description": one.description}
    if one.has_default:
        plain["default"] = _default(one)
    if one.secret:
        plain["secret"] = True
    return plain


def _default(one: Input) -> Any:
    return MASK if one.secret and one.default else one.default


def _history(log: RunLog, name: str) -> dict[str, Any]:
    try:
        failure = log.find_last_failure(name)
        figures = log.compute_statistics(name)
        told: dict[str, Any] = {"statistics": {**figures, "other_endings": _others(log, name, figures)}}
    except UraniborgError as exc:
        return {"statistics": {"execution_count": 0}, "last_failure": None, "log_problem": exc.message}
    finally:
        log.close()
    keys = ("id", "started_at", "failed_node", "error", "duration_ms")
    return {**told, "last_failure": {key: failure.get(key) for key in keys} if failure else None}


def _others(log: RunLog, name: str, figures: dict[str, Any]) -> dict[str, int]:
    """How many of the last runs neither succeeded nor failed: by status, such as `waiting` or `cancelled`."""
    count = figures["execution_count"] - figures["success_count"] - figures["failure_count"]
    if not count:
        return {}
    statuses = (run["status"] for run in log.list_runs(name, _LOOKED_AT))
    return dict(Counter(status for status in statuses if status not in ("success", "failed")))
