"""Search for node types and workflows, the best matches first."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import orjson

from pflow.engine.runlog import RunLog
from pflow.ir.diagnostics import SCHEDULE_HINT, mentions_schedule
from pflow.library.listing import Summary, list_workflows
from pflow.registry.registry import Match, Registry
from pflow.registry.search_ranking import make_document, rank_documents
from pflow.shortening import shorten_value
from uraniborg.kernel.errors import UraniborgError

if TYPE_CHECKING:
    from pflow.workflow_replies import ComponentList, NodeType, WorkflowMatch

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


def _describe_node(match: Match, *, is_brief: bool) -> "NodeType":
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
