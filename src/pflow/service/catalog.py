"""Search for node types and workflows, describe a workflow, and give agents the guide to writing them."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

import orjson

from pflow.domain.diagnostics import SCHEDULE_HINT, mentions_schedule, shorten_value
from pflow.domain.ir.checker import CheckResult
from pflow.domain.ir.diagrams import draw_mermaid
from pflow.domain.ir.graph import describe_graph
from pflow.domain.ir.model import Input, Output, Workflow, list_variables
from pflow.domain.search_ranking import make_document, rank_documents
from pflow.errors import InvalidWorkflow, SecurityError, WorkflowNotFound
from pflow.store.node_registry import NodeMatch, Registry
from pflow.store.run_log import RunLog
from pflow.store.workflow_file import read_document
from pflow.store.workflow_library import FoundWorkflow
from pflow.store.workflow_listing import Source, Summary, list_workflows
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import MASK

if TYPE_CHECKING:
    from pflow.service.run_replies import RunGraph, RunSummary
    from pflow.service.workflow_replies import (
        ComponentList,
        ExampleCall,
        InputDeclaration,
        LastFailure,
        LoggedStatistics,
        NodeType,
        OutputDeclaration,
        TemplateVariable,
        WorkflowDescription,
        WorkflowMatch,
        WorkflowStatistics,
    )
    from uraniborg.kernel.json_values import Json, JsonObject


T = TypeVar("T")

_WORKFLOW_SHARE: Final = 0.4
"""The share of the reply that workflows may take if node types match, too."""


_IN_FULL: Final = 5
"""How many of the best matches are described with each parameter and field."""


def search_components(
    home: Path, registry: Registry, query: str, include_workflows: bool, *, max_bytes: int, in_full: bool = False
) -> "ComponentList":
    """Return the reply of `browse_components`. `total` counts all matches, also those left out.

    With `in_full`, every match is described with each parameter and field.
    """
    workflow_uses, type_uses = _read_use_counts(home)
    matches = registry.search(query, uses=type_uses)
    workflows = _rank_workflows(home, query, workflow_uses) if include_workflows else []
    kept_workflows = _take_first_fitting(workflows, int(max_bytes * _WORKFLOW_SHARE) if matches else max_bytes)
    spent = len(orjson.dumps(kept_workflows))
    # Made one by one, and no more than fit: there may be thousands.
    in_full_count = len(matches) if in_full else _IN_FULL if query.strip() else 0
    nodes = (_describe_node(match, is_brief=index >= in_full_count) for index, match in enumerate(matches))
    kept_nodes = _take_first_fitting(nodes, max_bytes - spent)
    total = len(matches) + len(workflows)
    is_cut = len(kept_nodes) + len(kept_workflows) < total
    reply: ComponentList = {
        "nodes": kept_nodes,
        "workflows": kept_workflows,
        "total": total,
        "truncated": is_cut,
    }
    if not include_workflows:
        del reply["workflows"]
    if is_cut:
        reply["hint"] = "Use a query of a few words to see the rest."
    elif not total:
        reply["hint"] = "Nothing matches. Use other words, or an empty query to see everything."
    if mentions_schedule(query):
        reply["hint"] = " ".join(filter(None, (SCHEDULE_HINT, reply.get("hint"))))
    if registry.problems:
        reply["problems"] = [str(one) for one in registry.problems][:20]
    return reply


def _describe_node(match: NodeMatch, *, is_brief: bool) -> "NodeType":
    """Return the description of a node type; if brief, without the descriptions of parameters and fields."""
    node = match.interface.to_dict()
    if not is_brief:
        return {**node, "score": round(match.score, 3), "matched": list(match.matched)}
    for param in node["inputs"]:
        del param["description"]
    node["outputs"] = [{"key": one["key"], "type": one["type"]} for one in node["outputs"]]
    return node


def _rank_workflows(home: Path, query: str, run_counts: Mapping[str, int]) -> "list[WorkflowMatch]":
    summaries: dict[str, Summary] = {}
    for one in list_workflows(home).workflows:
        summaries.setdefault(one.name, one)
    documents = [
        make_document(
            one.name,
            description=one.description,
            keys=one.inputs,
            tags=one.node_types,
            uses=run_counts.get(one.name, 0),
        )
        for one in summaries.values()
    ]
    ranked: list[WorkflowMatch] = []
    for hit in rank_documents(query, documents):
        one = summaries[hit.key]
        ranked.append(
            {
                "name": one.name,
                "description": one.description,
                "source": one.source,
                "inputs": shorten_value(list(one.inputs)),
            }
        )
    return ranked


def _read_use_counts(home: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Return how often each workflow and each node type was used."""
    log = RunLog(home / "runs.db")
    try:
        return log.count_runs(), log.count_recent_node_types()
    except UraniborgError:
        return {}, {}
    finally:
        log.close()


def _take_first_fitting(items: Iterable[T], max_bytes: int) -> list[T]:
    """Return the first items, as many as fit into `max_bytes`, and at least one."""
    taken: list[T] = []
    spent = 2
    for item in items:
        spent += len(orjson.dumps(item)) + 1
        if spent > max_bytes and taken:
            break
        taken.append(item)
    return taken


_SHORTEST: Final = 4
"""Shorter texts would be found everywhere."""
_MOST_NODES: Final = 50


class Mention(NamedTuple):
    """A workflow that mentions a text, and the ids of its nodes that do."""

    name: str
    source: Source
    nodes: list[str]


def find_mentions(home: Path, texts: Iterable[str]) -> list[Mention]:
    """Return the saved workflows and drafts that contain one of the texts as a whole word, ignoring case.

    Files that cannot be read are left out.
    """
    wanted = sorted({text for text in texts if len(text) >= _SHORTEST}, key=len, reverse=True)
    if not wanted:
        return []
    # An arXiv id may have a version behind it.
    pattern = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, wanted))})(?:v\d{{1,3}})?(?!\w)", re.IGNORECASE)
    found: list[Mention] = []
    for summary in list_workflows(home).workflows:
        try:
            document = read_document(home / summary.path, summary.path).ir
        except (FileNotFoundError, InvalidWorkflow, SecurityError, WorkflowNotFound):
            continue
        if pattern.search(_write(document)):
            found.append(Mention(summary.name, summary.source, _list_nodes(document, pattern)))
    return found


def _list_nodes(document: "Mapping[str, Json]", pattern: re.Pattern[str]) -> list[str]:
    listed = document.get("nodes")
    nodes = cast("list[Any]", listed) if isinstance(listed, list) else []
    ids = [_get_id(node) for node in nodes if pattern.search(_write(node))]
    return [name for name in ids if name][:_MOST_NODES]


def _get_id(node: Any) -> str:
    name = cast("JsonObject", node).get("id") if isinstance(node, dict) else None
    return name if isinstance(name, str) else ""


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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


_DEFAULT_HOME: Final = "~/.pflow"


def read_guide(home: Path | None = None) -> str:
    """Return the guide, with the path of the pflow home if it is not the default."""
    text = files("pflow").joinpath("guide.md").read_text(encoding="utf-8")
    is_default = home is None or home.absolute() == Path(_DEFAULT_HOME).expanduser().absolute()
    return text if is_default else text.replace(_DEFAULT_HOME, str(home))
