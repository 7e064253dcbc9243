"""What a run would do, without doing any of it."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Final, NamedTuple

from pflow.engine.batches import gathered, items_of
from pflow.engine.graphs import DEEPEST, Child, outputs_of
from pflow.engine.hidden import hidden_in, values_of
from pflow.engine.inputs import prepared, secret_values
from pflow.engine.params import nested_params, resolved_params
from pflow.engine.past import Lookup, Past
from pflow.engine.reusing import fingerprint_of, may_be_reused
from pflow.engine.steps import usable
from pflow.engine.ways import End, Ways
from pflow.errors import NodeFailed, TemplateUnresolved
from pflow.ir.model import ERROR_ACTION, Batch, Node, Workflow
from pflow.ir.template_uses import INDEX, NESTED, resolvable
from pflow.node import Context
from pflow.redaction import Secrets, secret_params
from pflow.registry.interface import Interface
from pflow.templates.resolution import Scope
from pflow.templates.syntax import references_in, strings_in, templates_in
from uraniborg.kernel.errors import UraniborgError

_TO_COME: Final = "to come"
"""What stands for the run in which a node will have its effect."""
_MOST: Final = 10_000
"""How many nodes are looked at before workflows within are not followed any more: they may run each other."""


def plan(
    workflow: Workflow,
    inputs: Mapping[str, Any],
    interfaces: Mapping[str, Interface],
    past: Past,
    context: Context,
    child: Child,
) -> list[dict[str, Any]]:
    """The nodes in the order in which they would run, those of workflows within after the node that runs these, with
    their parameters as far as they are known, secrets masked, and what will become of each if it is reached: whether
    it will `run`, `reuse` an earlier result, or `fail`; or that it will not be, `skip`. `waits_for` names what has to
    be known to tell for sure. Raises as `prepared` does."""
    values = prepared(workflow, inputs)
    foresight = _Foresight(past, interfaces, context, child, Secrets(secret_values(workflow, values)))
    foresight.lookup.names = set(workflow.nodes)
    told, _ = foresight.of_graph(workflow, values)
    return foresight.secrets.masked(told)


class _Waits(Exception):
    """A template needs what is not known yet."""


class _Known(Scope):
    """What is known of a run. Raises _Waits for what is not."""

    __slots__ = ("_unknown",)

    def __init__(self, values: Mapping[str, Any], unknown: set[str]) -> None:
        super().__init__(values)
        self._unknown = unknown

    def get(self, name: str) -> Any:
        if name in self._unknown:
            raise _Waits
        return super().get(name)


class _Place(NamedTuple):
    """Where a node is: what it is called in the checkpoint, and the world it finds, None if that is not known."""

    key: str
    world: str | None


class _Foreseen(NamedTuple):
    """What is told of a node, and of those within it, and how it will end."""

    told: list[dict[str, Any]]
    end: End


class _Foresight:
    """The same ways as those of a run, followed as far as earlier results lead."""

    def __init__(
        self, past: Past, interfaces: Mapping[str, Interface], context: Context, child: Child, secrets: Secrets
    ) -> None:
        self.lookup = Lookup(past)
        self.secrets = secrets
        self._past = past
        self._took = past.took()
        self._interfaces = interfaces
        self._context = context
        self._child = child
        self._looked_at = 0

    def of_graph(
        self, workflow: Workflow, values: dict[str, Any], prefix: str = "", world: str = ""
    ) -> tuple[list[dict[str, Any]], Ways]:
        """What is told of its nodes. What they give is added to `values`."""
        for name, references in hidden_in(workflow).items():
            if name not in workflow.nodes:
                self.secrets.add(values_of(references, name, values.get(name)))
        ways = Ways(workflow, self._interfaces, world)
        told: list[dict[str, Any]] = []
        for name in ways.graph.order():
            node, key = workflow.nodes[name], prefix + name
            if ways.is_skipped(name):
                told.append(self._told(node, key, "skip"))
                continue
            deciders = ways.deciders(name)
            place = _Place(key, ways.world_before(name))
            with self.lookup.tentatively() if deciders else nullcontext():
                foreseen = self._of_node(node, _Known(values, ways.unknown), ways.unknown, place)
            waits_for = foreseen.told[0]["waits_for"]
            roots = {one.partition(".")[0].partition("[")[0] for one in waits_for}
            waits_for += [one for one in deciders if one not in roots]
            told += foreseen.told
            ways.add(name, key, foreseen.end, place.world)
            if foreseen.end.outputs is not None:
                values[name] = foreseen.end.outputs
        return told, ways

    def _of_node(self, node: Node, scope: Scope, unknown: set[str], place: _Place) -> _Foreseen:
        if place.world is None and (node.type == NESTED or self._interfaces[node.type].reads_world):
            return self._unforeseen(node, place, waits_for=sorted(unknown))
        try:
            if node.batch is None:
                return self._once(node, scope, place)
            return self._of_batch(node, node.batch, scope, place)
        except _Waits:
            return self._unforeseen(node, place, waits_for=_references(node, unknown))
        except UraniborgError as exc:
            return self._will_fail(node, place, exc)

    def _once(self, node: Node, scope: Scope, place: _Place) -> _Foreseen:
        self._looked_at += 1
        try:
            return self._of_nested(node, scope, place) if node.type == NESTED else self._of_step(node, scope, place)
        except UraniborgError as exc:
            return self._will_fail(node, place, exc)

    def _unforeseen(self, node: Node, place: _Place, waits_for: Sequence[str] = ()) -> _Foreseen:
        told = self._told(node, place.key, "run", waits_for=waits_for)
        return _Foreseen([told], End(ran=None if node.type == NESTED else _ran(told["effect"])))

    def _will_fail(self, node: Node, place: _Place, exc: UraniborgError) -> _Foreseen:
        told = self._told(node, place.key, "fail", problem=exc.message)
        is_harmless = isinstance(exc, TemplateUnresolved) or told["effect"] == "pure"
        outputs = None if node.batch is not None or node.type == NESTED else {"error": exc.message}
        return _Foreseen([told], End(ERROR_ACTION, outputs, "" if is_harmless else None))

    def _of_batch(self, node: Node, batch: Batch, scope: Scope, place: _Place) -> _Foreseen:
        items = items_of(node, batch, scope)
        each: list[_Foreseen] = []
        once = replace(node, batch=None)
        problem = ""
        for at, item in enumerate(items):
            within = Scope({batch.alias: item, INDEX: at}, scope)
            each.append(self._once(once, within, place._replace(key=f"{place.key}[{at}]")))
            if each[-1].end.action == ERROR_ACTION:
                problem = problem or f"items[{at}]: {each[-1].told[0]['problem']}"
                if batch.error_handling == "fail_fast":
                    break
        reused = sum(one.end.is_reused for one in each)
        will = "reuse" if items and reused == len(items) else "run"
        if problem and batch.error_handling == "fail_fast":
            will = "fail"
        told = self._told(node, place.key, will, items=len(items), items_reused=reused)
        told |= {"problem": problem} if problem else {}
        inner = [step for one in each for step in one.told[1:]]
        return _Foreseen([told, *inner], _end_of_batch(batch, items, each, will))

    def _of_nested(self, node: Node, scope: Scope, place: _Place) -> _Foreseen:
        if place.key.count("/") >= DEEPEST:
            raise NodeFailed(f"Workflows run each other more than {DEEPEST} deep.", hint="One may run itself.")
        if self._looked_at > _MOST:
            return self._unforeseen(node, place)
        params = nested_params(node, self._interfaces[NESTED], scope)
        workflow = self._child(params)
        values = prepared(workflow, params.get("inputs") or params.get("param_mapping") or {})
        self.secrets.add(secret_values(workflow, values))
        world = place.world or ""
        inner, ways = self.of_graph(workflow, values, f"{place.key}/", world)
        after = ways.world_after()
        ran = "" if after == world else after
        if (failing := ways.failing()) is not None:
            problem = next(one["problem"] for one in inner if one["node"] == f"{place.key}/{failing}")
            told = self._told(node, place.key, "fail", params, problem=problem)
            return _Foreseen([told, *inner], End(ERROR_ACTION))
        is_known = not ways.unknown
        is_reused = is_known and all(end.is_reused for end in ways.ends.values())
        told = self._told(node, place.key, "reuse" if is_reused else "run", params)
        outputs = outputs_of(workflow, values, []) if is_known else None
        return _Foreseen([told, *inner], End("default" if is_known else None, outputs, ran, is_reused))

    def _of_step(self, node: Node, scope: Scope, place: _Place) -> _Foreseen:
        interface = self._interfaces[node.type]
        params = resolved_params(node, interface, scope, self.secrets.masked)
        if secrets := secret_params(params):
            self.secrets.add(secrets)
        key = place.key, fingerprint_of(interface, params, self._context, place.world or "")
        step = None
        if may_be_reused(node, interface, params, self._context, self._took):
            step = usable(self.lookup.earlier(key), self._context)
        told = self._told(node, place.key, "reuse" if step else "run", params)
        if step is not None:
            return _Foreseen([told], End(step.action, step.outputs, step.ran, is_reused=True))
        ran = _ran(told["effect"])
        if node.reuse and ran and (before := self._past.results.get(key)) is not None and before.outputs is None:
            ran = before.by  # it will only be done again because what it gave could not be kept
        return _Foreseen([told], End(ran=ran))

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


def _ran(effect: str) -> str:
    return "" if effect == "pure" else _TO_COME


def _end_of_batch(batch: Batch, items: list[Any], each: list[_Foreseen], will: str) -> End:
    if will == "fail":
        return End(ERROR_ACTION)
    ran = " ".join(sorted({one.end.ran or "" for one in each} - {""}))
    is_known = all(one.end.outputs is not None and one.end.action != ERROR_ACTION for one in each)
    if not is_known:
        return End("default" if batch.error_handling != "fail_fast" else None, None, _all_known(each, ran))
    outputs = gathered(batch, items, [one.end.outputs for one in each], {})
    return End("default", outputs, ran, is_reused=will == "reuse")


def _all_known(each: list[_Foreseen], ran: str) -> str | None:
    return None if any(one.end.ran is None for one in each) else ran


def _references(node: Node, unknown: set[str]) -> list[str]:
    """What its templates may take from nodes of which it is not known what they will give."""
    texts = (text for _, text in strings_in([resolvable(node), node.batch and node.batch.items]))
    references = (one for text in texts for template in templates_in(text) for one in references_in(template))
    names = unknown - {node.batch.alias} if node.batch else unknown
    return list(dict.fromkeys(one.text for one in references if one.root in names))
