"""What a run would do, without doing any of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pflow.engine import worlds
from pflow.engine.batches import gathered, items_of
from pflow.engine.graphs import DEEPEST, Child, outputs_of
from pflow.engine.inputs import prepared, secret_values
from pflow.engine.params import nested_params, resolved_params
from pflow.engine.past import Lookup, Past
from pflow.engine.reusing import fingerprint_of, may_be_reused
from pflow.engine.steps import Step, usable
from pflow.errors import NodeFailed, TemplateUnresolved
from pflow.ir.graph import Graph
from pflow.ir.model import Batch, Edge, Node, Workflow
from pflow.ir.uses import INDEX, NESTED, resolvable
from pflow.node import Context
from pflow.redaction import Secrets, secret_params
from pflow.registry.interface import Interface
from pflow.templates.parsing import references_in, strings_in, templates_in
from pflow.templates.resolving import Scope
from uraniborg.kernel.errors import UraniborgError

_TO_COME = "to come"
"""What stands for the run that a node will have its effect in."""


def plan(
    workflow: Workflow,
    inputs: Mapping[str, Any],
    interfaces: Mapping[str, Interface],
    past: Past,
    context: Context,
    child: Child,
) -> list[dict[str, Any]]:
    """The nodes in the order in which they would run, those of workflows within after the node that runs these, with
    their parameters as far as they are known, secrets masked, and whether an earlier result would be used. Raises as
    `prepared` does."""
    values = prepared(workflow, inputs)
    foresight = _Foresight(past, interfaces, context, child, Secrets(secret_values(workflow, values)))
    foresight.lookup.names = set(workflow.nodes)
    return foresight.secrets.masked(foresight.of_graph(workflow, values).told)


class _Foreseen(NamedTuple):
    """What is told of a node, and of those within; and how it will end, if that is known."""

    told: list[dict[str, Any]]
    step: Step | None = None


class _Graph(NamedTuple):
    """What is told of the nodes of a workflow, and how those end that are not skipped, if that is known."""

    told: list[dict[str, Any]]
    steps: dict[str, Step | None]
    world: str


class _Foresight:
    """The same ways as those of a run, followed as far as earlier results lead."""

    def __init__(
        self, past: Past, interfaces: Mapping[str, Interface], context: Context, child: Child, secrets: Secrets
    ) -> None:
        self.lookup = Lookup(past)
        self.secrets = secrets
        self._took = past.took()
        self._interfaces = interfaces
        self._context = context
        self._child = child

    def of_graph(self, workflow: Workflow, values: dict[str, Any], prefix: str = "", world: str = "") -> _Graph:
        """Values of nodes are added to `values`."""
        graph = Graph.of(workflow)
        told: list[dict[str, Any]] = []
        steps: dict[str, Step | None] = {}
        ends: dict[str, str] = {}
        for name in graph.order():
            node, key, entering = workflow.nodes[name], prefix + name, graph.entering[name]
            live = [one for one in entering if one.source in steps and _may_be_taken(one, steps[one.source])]
            if entering and not live:
                told.append(self._told(node, key, "skip"))
                continue
            before = worlds.joined(ends[edge.source] for edge in entering if edge.source in ends) or world
            foreseen = self._of_node(node, Scope(values), {one for one in steps if steps[one] is None}, key, before)
            told += foreseen.told
            steps[name] = step = foreseen.step
            if step is not None:
                values[name] = step.outputs
            is_pure = foreseen.told[0]["effect"] == "pure" and node.type != NESTED
            ends[name] = worlds.after(before, key, step.ran if step else "" if is_pure else _TO_COME)
        return _Graph(told, steps, worlds.joined(ends.values()))

    def _of_node(self, node: Node, scope: Scope, unknown: set[str], key: str, world: str) -> _Foreseen:
        if waits_for := _references(node, unknown):
            return _Foreseen([self._told(node, key, "run", waits_for=waits_for)])
        try:
            if node.batch is not None:
                return self._of_batch(node, node.batch, scope, key, world)
            if node.type == NESTED:
                return self._of_nested(node, scope, key, world)
            return self._once(node, scope, key, world)
        except TemplateUnresolved as exc:
            return _Foreseen([self._told(node, key, "run", waits_for=exc.missing)])
        except UraniborgError as exc:
            return _Foreseen([self._told(node, key, "fail", problem=exc.message)])

    def _of_batch(self, node: Node, batch: Batch, scope: Scope, key: str, world: str) -> _Foreseen:
        items = items_of(node, batch, scope)
        one = replace(node, batch=None)
        each = [
            self._of_node(one, Scope({batch.alias: item, INDEX: at}, scope), set(), f"{key}[{at}]", world)
            for at, item in enumerate(items)
        ]
        steps = [foreseen.step for foreseen in each if foreseen.step is not None]
        reused = sum(step.is_reused for step in steps)
        counts: dict[str, Any] = {"items": len(items), "items_reused": reused}
        will = "reuse" if items and reused == len(items) else "run"
        failing = next((at for at, foreseen in enumerate(each) if foreseen.told[0]["will"] == "fail"), None)
        if failing is not None:
            counts["problem"] = f"items[{failing}]: {each[failing].told[0]['problem']}"
            will = "fail" if batch.error_handling == "fail_fast" else "run"
        told = self._told(node, key, will, **counts)
        if len(steps) < len(items):
            return _Foreseen([told])
        outputs = gathered(batch, items, [step.outputs for step in steps], {})
        ran = " ".join(sorted({step.ran for step in steps} - {""}))
        return _Foreseen([told], Step(outputs, "default", will == "reuse", ran=ran))

    def _of_nested(self, node: Node, scope: Scope, key: str, world: str) -> _Foreseen:
        if key.count("/") >= DEEPEST:
            raise NodeFailed(f"Workflows run each other more than {DEEPEST} deep.", hint="One may run itself.")
        params = nested_params(node, self._interfaces[NESTED], scope)
        workflow = self._child(params)
        values = prepared(workflow, params.get("inputs") or params.get("param_mapping") or {})
        self.secrets.add(secret_values(workflow, values))
        inner = self.of_graph(workflow, values, f"{key}/", world)
        steps = [step for step in inner.steps.values() if step is not None]
        is_known = len(steps) == len(inner.steps)
        is_reused = is_known and all(step.is_reused for step in steps)
        told = [self._told(node, key, "reuse" if is_reused else "run", params), *inner.told]
        if not is_known:
            return _Foreseen(told)
        ran = inner.world if inner.world != world else ""
        return _Foreseen(told, Step(outputs_of(workflow, values, []), "default", is_reused, ran=ran))

    def _once(self, node: Node, scope: Scope, key: str, world: str) -> _Foreseen:
        interface = self._interfaces[node.type]
        params = resolved_params(node, interface, scope, self.secrets.masked)
        if secrets := secret_params(params):
            self.secrets.add(secrets)
        step = None
        if may_be_reused(node, interface, params, self._context, self._took):
            print_ = fingerprint_of(interface, params, self._context, world)
            step = usable(self.lookup.earlier((key, print_)), self._context)
        return _Foreseen([self._told(node, key, "reuse" if step else "run", params)], step)

    def _told(
        self,
        node: Node,
        key: str,
        will: str,
        params: Mapping[str, Any] | None = None,
        waits_for: Sequence[str] = (),
        **more: Any,
    ) -> dict[str, Any]:
        given = dict(node.params if params is None else params)
        effect = node.effect or self._interfaces[node.type].effect_of(given)
        about = {"node": key, "type": node.type, "effect": effect}
        return {**about, "params": given, "will": will, "waits_for": list(waits_for), **more}


def _may_be_taken(edge: Edge, step: Step | None) -> bool:
    return step is None or step.action == edge.action


def _references(node: Node, unknown: set[str]) -> list[str]:
    """What its templates take from nodes of which it is not known what they will give."""
    texts = (text for _, text in strings_in([resolvable(node), node.batch and node.batch.items]))
    references = (one for text in texts for template in templates_in(text) for one in references_in(template))
    return list(dict.fromkeys(one.text for one in references if one.root in unknown))
