"""What a run would do, without doing any of it."""

from collections.abc import Mapping
from typing import Any

from pflow.engine import worlds
from pflow.engine.inputs import prepared, secret_values
from pflow.engine.journals import Result
from pflow.engine.params import resolved_params
from pflow.engine.past import Past
from pflow.engine.reusing import fingerprint_of, may_be_reused
from pflow.errors import TemplateUnresolved
from pflow.ir.graph import Graph
from pflow.ir.model import Node, Workflow
from pflow.ir.uses import NESTED, resolvable
from pflow.node import Context
from pflow.redaction import Secrets
from pflow.registry.interface import Interface
from pflow.templates.parsing import references_in, strings_in, templates_in
from pflow.templates.resolving import Scope
from uraniborg.kernel.errors import UraniborgError


def plan(
    workflow: Workflow,
    inputs: Mapping[str, Any],
    interfaces: Mapping[str, Interface],
    past: Past,
    context: Context,
) -> list[dict[str, Any]]:
    """The nodes in the order in which they would run, with their parameters as far as they are known, secrets masked,
    and whether an earlier result would be used. Raises as `prepared` does."""
    values = prepared(workflow, inputs)
    secrets = Secrets(secret_values(workflow, values))
    steps: list[dict[str, Any]] = []
    unknown: set[str] = set()
    graph, ends = Graph.of(workflow), dict[str, str]()
    for name in graph.order():
        node = workflow.nodes[name]
        interface = interfaces[node.type]
        told: dict[str, Any] = {
            "node": name,
            "type": node.type,
            "effect": node.effect or interface.effect_of(node.params),
        }
        world = worlds.joined(ends[edge.source] for edge in graph.entering[name])
        result: Result | None = None
        waits_for = _references(node, unknown)
        if node.batch is not None or node.type == NESTED or waits_for:
            told |= {"params": dict(node.params), "will": "run", "waits_for": waits_for}
        else:
            more, result = _planned(node, interface, values, past, context, world, secrets)
            told |= more
        if result is None:
            unknown.add(name)
        else:
            values[name] = result.values()
        is_pure = (result.effect if result else told["effect"]) == "pure" and node.type != NESTED
        ends[name] = worlds.after(world, name, "" if is_pure else result.by if result else "to come")
        steps.append(secrets.masked(told))
    return steps


def _references(node: Node, unknown: set[str]) -> list[str]:
    """What its templates take from nodes of which it is not known what they will give."""
    texts = (text for _, text in strings_in([resolvable(node), node.batch and node.batch.items]))
    references = (one for text in texts for template in templates_in(text) for one in references_in(template))
    return list(dict.fromkeys(one.text for one in references if one.root in unknown))


def _planned(
    node: Node,
    interface: Interface,
    values: Mapping[str, Any],
    past: Past,
    context: Context,
    world: str,
    secrets: Secrets,
) -> tuple[dict[str, Any], Result | None]:
    """What is told of a node, and the result that would stand for it."""
    try:
        params = resolved_params(node, interface, Scope(values), secrets.masked)
    except TemplateUnresolved as exc:
        return {"params": dict(node.params), "will": "run", "waits_for": exc.missing}, None
    except UraniborgError as exc:
        return {"params": dict(node.params), "will": "fail", "waits_for": [], "problem": exc.message}, None
    result = past.results.get((node.id, fingerprint_of(interface, params, context, world)))
    if result is None or result.outputs is None or not may_be_reused(node, interface, params, context, past.took()):
        return {"params": params, "will": "run", "waits_for": []}, None
    return {"params": params, "will": "reuse", "waits_for": []}, result
