"""What there is to build with: node types and workflows, the best for what is asked for first."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from pflow.engine.runlog import RunLog
from pflow.library.listing import Summary, list_workflows
from pflow.registry.registry import Match, Registry
from pflow.registry.search import document, ranked
from pflow.shortening import shorten_value
from uraniborg.kernel.errors import UraniborgError

_WORKFLOW_SHARE: Final = 0.4
"""How much of what is told workflows may take, if there are nodes to tell of, too."""


_IN_FULL: Final = 5
"""How many of the best are told with what each parameter and field means."""


def browsed(home: Path, registry: Registry, query: str, include_workflows: bool, *, most_bytes: int) -> dict[str, Any]:
    """As `browse_components` answers. `total` counts what fits the query, told or not."""
    workflow_uses, type_uses = _uses(home)
    matches = registry.search(query, uses=type_uses)
    workflows = _workflows(home, query, workflow_uses) if include_workflows else []
    kept_workflows = _fitting(workflows, int(most_bytes * _WORKFLOW_SHARE) if matches else most_bytes)
    spent = len(orjson.dumps(kept_workflows))
    # Made one by one, and no more than fit: there may be thousands.
    in_full = _IN_FULL if query.strip() else 0
    nodes = (_node(match, is_brief=place >= in_full) for place, match in enumerate(matches))
    kept_nodes = _fitting(nodes, most_bytes - spent)
    total = len(matches) + len(workflows)
    is_cut = len(kept_nodes) + len(kept_workflows) < total
    told: dict[str, Any] = {"nodes": kept_nodes}
    if include_workflows:
        told["workflows"] = kept_workflows
    told |= {"total": total, "truncated": is_cut}
    if is_cut:
        told["hint"] = "Ask with a query of a few words to see the rest."
    elif not total:
        told["hint"] = "Nothing fits. Ask with other words, or with none to see everything."
    if registry.problems:
        told["problems"] = [str(one) for one in registry.problems][:20]
    return told


def _node(match: Match, *, is_brief: bool) -> dict[str, Any]:
    """All of a type; if brief, without what only matters once it is chosen: what single parameters and fields mean."""
    node = match.interface.plain()
    if not is_brief:
        return {**node, "score": round(match.score, 3), "matched": list(match.matched)}
    node["inputs"] = [{key: value for key, value in one.items() if key != "description"} for one in node["inputs"]]
    node["outputs"] = [{"key": one["key"], "type": one["type"]} for one in node["outputs"]]
    return node


def _workflows(home: Path, query: str, counts: Mapping[str, int]) -> list[dict[str, Any]]:
    summaries: dict[str, Summary] = {}
    for one in list_workflows(home).workflows:
        summaries.setdefault(one.name, one)
    documents = [
        document(
            one.name,
            description=one.description,
            keys=one.inputs,
            tags=one.node_types,
            uses=counts.get(one.name, 0),
        )
        for one in summaries.values()
    ]
    told: list[dict[str, Any]] = []
    for hit in ranked(query, documents):
        one = summaries[hit.key]
        told.append(
            {
                "name": one.name,
                "description": one.description,
                "source": one.source,
                "inputs": shorten_value(list(one.inputs)),
            }
        )
    return told


def _uses(home: Path) -> tuple[dict[str, int], dict[str, int]]:
    """How often each workflow, and each type of node, was used."""
    log = RunLog(home / "runs.db")
    try:
        return log.count_runs(), log.count_node_types()
    except UraniborgError:
        return {}, {}
    finally:
        log.close()


def _fitting(items: Iterable[dict[str, Any]], most_bytes: int) -> list[dict[str, Any]]:
    """As many of the first as fit, and at least one."""
    kept: list[dict[str, Any]] = []
    spent = 2
    for item in items:
        spent += len(orjson.dumps(item)) + 1
        if spent > most_bytes and kept:
            break
        kept.append(item)
    return kept
