"""Check workflow runs: references, and nodes that only compute, which are run again with their stored inputs."""

import asyncio
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Final, cast

import orjson

from pflow.domain.node import NodeContext, Outcome
from pflow.domain.node_interface import Interface
from pflow.service.run_replies import RunDetails
from pflow.store.node_registry import Registry
from uraniborg.bundle.inspection import Check, Inspection, Verified, make_statement
from uraniborg.bundle.pieces import Chosen, make_names
from uraniborg.bundle.reader import Bundle
from uraniborg.bundle.search_and_workflow_pieces import make_run_piece, make_workflow_piece
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.logging import MASK

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][\w-]*)((?:\.[\w-]+|\[\d+\])*)\}")
_STEP: Final = re.compile(r"\.([\w-]+)|\[(\d+)\]")
CUT: Final = ({"bytes"}, {"characters", "beginning"})
"""The fields of what the log of runs has instead of a long value."""


def find_broken_references(run: JsonObject, nodes: Sequence[JsonObject], workflow: JsonObject | None) -> Iterator[str]:
    """Yield what nodes and the outputs of a run have other values of than the nodes and inputs that they refer to.

    References in the middle of a text, and to values that are too long to be stored, are not followed.
    """
    known: JsonObject = dict(_get_object(run.get("inputs")))
    for node in nodes:
        inputs, params = _get_object(node.get("inputs")), _get_object(node.get("params"))
        for name, template in params.items():
            if name in inputs and _differs(inputs[name], template, known):
                yield f"{_show(node.get('node'))}: its input {_show(name)} is not that which it refers to, {template}"
        known[str(node.get("node"))] = node.get("outputs")
    declared, outputs = _get_object((workflow or {}).get("outputs")), _get_object(run.get("outputs"))
    for name, value in outputs.items():
        template = _get_object(declared.get(name)).get("source")
        if _differs(value, template, known):
            yield f"the output {_show(name)} is not that which it refers to, {template}"


def _differs(value: Any, template: Any, known: Mapping[str, Any]) -> bool:
    found = _REFERENCE.fullmatch(template) if isinstance(template, str) else None
    if found is None or found[1] not in known or is_cut(value):
        return False
    expected = known[found[1]]
    for name, index in _STEP.findall(found[2]):
        if is_cut(expected):
            return False
        if name and isinstance(expected, dict) and name in expected:
            expected = cast("JsonObject", expected)[name]
        elif index and isinstance(expected, list) and int(index) < len(cast("list[Any]", expected)):
            expected = cast("list[Any]", expected)[int(index)]
        else:
            return False
    return not is_cut(expected) and value != expected


def is_cut(value: Any) -> bool:
    """Return True for what is stored instead of a long value."""
    return isinstance(value, dict) and set(cast("JsonObject", value)) in CUT


def _get_object(value: Any) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _show(text: Any) -> str:
    return str(text)[:60]


REPEATABLE: Final = frozenset({"echo", "universe-claim"})
"""Node types that compute from their inputs alone: no file, network, program, model or clock."""


def verify_run(inspection: Inspection, path: str) -> Verified:
    """Run the pure nodes of a run again, compare reused nodes with the run before, and name all others."""
    run = inspection.bundle.read_object(path)
    nodes: Any = run.get("nodes")
    if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in cast("list[Any]", nodes)):
        return Verified([Check(path, "differs", "has no list of nodes")], None)
    listed = cast("list[JsonObject]", nodes)
    checks = [
        *_repeat_and_check_nodes(inspection, path, run, listed),
        *_check_summary(inspection, path, run, listed),
        make_statement(path, "who started it, its inputs, messages and times: only this record states them"),
    ]
    return Verified(checks, make_run_piece(cast("RunDetails", run), path.removeprefix("runs/").removesuffix(".json")))


def verify_workflow(inspection: Inspection, path: str) -> Verified:
    """Name a workflow as what only its author can confirm."""
    document = inspection.bundle.read_json(path)
    piece = make_workflow_piece(document, path.removeprefix("workflows/").removesuffix(".json"))
    return Verified([make_statement(path, "what the workflow does: read it before you run it")], piece)


def _check_summary(inspection: Inspection, path: str, run: JsonObject, nodes: Sequence[JsonObject]) -> Iterator[Check]:
    statuses = [str(node.get("status")) for node in nodes]
    failed = [str(node.get("node")) for node in nodes if node.get("status") == "failed"]
    reused = statuses.count("reused")
    if run.get("reused") not in (None, reused):
        yield Check(
            path, "differs", f"reused is {str(run.get('reused'))[:20]}, and {plural(reused, 'node')} are reused"
        )
    if run.get("failed_node") is not None and run["failed_node"] not in failed:
        yield Check(path, "differs", f"failed_node is {str(run['failed_node'])[:60]!r}, which did not fail")
    last = nodes[-1] if nodes else {}
    if (run.get("status") == "success") is (last.get("status") == "failed"):
        yield Check(path, "differs", f"the run ended with {str(run.get('status'))[:20]}, and its last node did not")
    error = next((node.get("error") for node in nodes if node.get("node") == run.get("failed_node")), None)
    if run.get("failed_node") is not None and run.get("error") != error:
        yield Check(path, "differs", f"the error is not that of the node {str(run['failed_node'])[:60]}")
    times = [str(run.get("started_at")), *(str(node.get("started_at")) for node in nodes), str(run.get("ended_at"))]
    if nodes and not times[0] <= min(times[1:-1]) <= max(times[1:-1]) <= times[-1]:
        yield Check(path, "differs", "nodes ran before the run started, or after it ended")
    broken = list(find_broken_references(run, nodes, _find_workflow(inspection.bundle, run)))
    yield from (Check(path, "differs", problem) for problem in broken)
    if reused and not run.get("resumed_from"):
        yield Check(path, "differs", "has reused nodes, and resumed no run")


def _find_workflow(bundle: Bundle, run: JsonObject) -> JsonObject | None:
    (name,) = make_names([Chosen(str(run.get("workflow")))])
    path = f"workflows/{name}.json"
    return bundle.read_object(path) if bundle.has(path) else None


def _repeat_and_check_nodes(
    inspection: Inspection, path: str, run: JsonObject, nodes: Sequence[JsonObject]
) -> Iterator[Check]:
    matched: list[str] = []
    reused: list[str] = []
    reasons: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        registry = Registry(Path(folder))  # without the nodes of the user
        earlier = _find_earlier_nodes(inspection, run)
        for node in nodes:
            inspection.limit.check()
            name = str(node.get("node"))[:80]
            interface = registry.get(str(node.get("type")))
            if node.get("status") == "reused" and name in earlier:
                if changed := _list_changes(node, earlier[name]):
                    detail = f"is reused, and differs from that of the run before: {', '.join(changed)}"
                    yield Check(f"{path}, node {name}", "differs", detail)
                else:
                    reused.append(name)
                continue
            if reason := explain_not_repeated(node, interface):
                reasons.setdefault(reason, []).append(name)
                continue
            assert interface is not None
            if difference := _repeat_and_compare(registry, interface, node, Path(folder)):
                yield Check(f"{path}, node {name}", "differs", difference)
            else:
                matched.append(name)
    if matched:
        yield Check(path, "matched", f"{plural(len(matched), 'node')} repeated: {', '.join(matched)}")
    if reused:
        yield Check(path, "matched", f"{plural(len(reused), 'node')} reused as in the run before: {', '.join(reused)}")
    for reason, names in reasons.items():
        yield Check(path, "not repeated", f"{', '.join(names)}: {reason}")


def _find_earlier_nodes(inspection: Inspection, run: JsonObject) -> dict[str, JsonObject]:
    """Return the nodes of the run that this one resumed, if the bundle has it."""
    for path in inspection.bundle.find_documents("runs") if run.get("resumed_from") else ():
        earlier = inspection.bundle.read_object(path)
        if earlier.get("id") == run["resumed_from"]:
            return {str(node.get("node")): node for node in cast("list[JsonObject]", earlier["nodes"])}
    return {}


def _list_changes(node: JsonObject, earlier: JsonObject) -> list[str]:
    """Return the names of what differs between a node that was reused and the node that it was reused from."""
    names = ("type", "params", "inputs", "outputs")
    is_done = earlier.get("status") in ("completed", "reused")
    return [name for name in names if node.get(name) != earlier.get(name)] + ([] if is_done else ["status"])


def explain_not_repeated(node: JsonObject, interface: Interface | None) -> str:
    """Return why a node is not run again; an empty text for a pure node whose inputs and outputs are stored."""
    status = str(node.get("status"))
    if status != "completed":
        return "reused from the run before" if status == "reused" else f"the node ended with {status[:40]}"
    if interface is None:
        return "this program does not have its type"
    if (
        interface.type not in REPEATABLE
        or interface.effect != "pure"
        or interface.source not in ("builtin", "entry-point")
    ):
        return "it can use more than its inputs: a file, a shelf, a program, a model or the network"
    inputs, outputs = node.get("inputs", node.get("params")), node.get("outputs")
    if not isinstance(inputs, dict) or not isinstance(outputs, dict):
        return "its inputs or outputs are not stored"
    if _is_cut(cast("JsonObject", inputs)) or _is_cut(cast("JsonObject", outputs)) or MASK in str(inputs):  # pyright: ignore[reportUnknownArgumentType]
        return "its inputs or outputs are too long to be stored, or secret"
    return ""


def _is_cut(values: JsonObject) -> bool:
    return is_cut(values) or any(map(is_cut, values.values()))


def _repeat_and_compare(registry: Registry, interface: Interface, node: JsonObject, folder: Path) -> str:
    """Return how the repeated outputs differ from the stored ones; an empty text if they do not."""
    given = cast("JsonObject", node["inputs"] if "inputs" in node else node["params"])
    params = {name: param.default for name, param in interface.params.items()} | given
    context = NodeContext("verify", "verify", str(node.get("node")), folder, folder, folder / "spool")
    function = registry.load_function(interface)
    try:
        returned: Any = function(params, context)
        if iscoroutinefunction(function):
            returned = asyncio.run(returned)
    except Exception as exc:  # the inputs of an unknown bundle can be anything
        return f"failed when it was repeated: {type(exc).__name__}: {str(exc)[:200]}"
    outputs: Mapping[str, Any] = returned.outputs if isinstance(returned, Outcome) else returned
    computed: JsonObject = orjson.loads(orjson.dumps(dict(outputs)))
    stored = cast("JsonObject", node["outputs"])
    changed = sorted(name for name in {**stored, **computed} if stored.get(name) != computed.get(name))
    if not changed:
        return ""
    first = changed[0]
    one, other = (str(values.get(first))[:120] for values in (stored, computed))
    return f"other outputs: {', '.join(changed)}; {first} is {one}, repeated {other}"
