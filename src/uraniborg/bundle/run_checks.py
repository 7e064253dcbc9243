"""The checks of workflow runs: nodes that only compute are run again with their stored inputs. No other node is run."""

import asyncio
import tempfile
from collections.abc import Iterator, Mapping
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Final, cast

import orjson

from pflow.node import Context, Outcome
from pflow.registry.interface import Interface
from pflow.registry.registry import Registry
from uraniborg.bundle.checks import Check
from uraniborg.bundle.pieces import Plain
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.kernel.logging import MASK, make_printable
from uraniborg.kernel.text import plural

REPEATABLE: Final = frozenset({"echo", "universe-claim"})
"""Node types that compute from their inputs alone: no file, network, program, model or clock."""


def check_run(bundle: Bundle, path: str) -> Iterator[Check]:
    """Run the pure nodes of a run again, and say why the others are not."""
    try:
        nodes: Any = bundle.read_object(path).get("nodes")
    except Unreadable as exc:
        yield Check(path, "differs", str(exc))
        return
    if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in cast("list[Any]", nodes)):
        yield Check(path, "differs", "has no list of nodes")
        return
    matched: list[str] = []
    reasons: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        registry = Registry(Path(folder))  # without the nodes of the user
        for node in cast("list[Plain]", nodes):
            name = make_printable(str(node.get("node")))[:80]
            interface = registry.get(str(node.get("type")))
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
    for reason, names in reasons.items():
        yield Check(path, "not repeated", f"{', '.join(names)}: {reason}")


def explain_not_repeated(node: Plain, interface: Interface | None) -> str:
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
    if _is_cut(cast("Plain", inputs)) or _is_cut(cast("Plain", outputs)) or MASK in str(inputs):  # pyright: ignore[reportUnknownArgumentType]
        return "its inputs or outputs are too long to be stored, or secret"
    return ""


def _is_cut(values: Plain) -> bool:
    cut = ({"bytes"}, {"characters", "beginning"})
    return set(values) in cut or any(
        isinstance(one, dict) and set(cast("Plain", one)) in cut for one in values.values()
    )


def _repeat_and_compare(registry: Registry, interface: Interface, node: Plain, folder: Path) -> str:
    """Return how the repeated outputs differ from the stored ones; an empty text if they do not."""
    given: Plain = node["inputs"] if "inputs" in node else node["params"]
    params = {name: param.default for name, param in interface.params.items()} | given
    context = Context("verify", "verify", str(node.get("node")), folder, folder, folder / "spool")
    function = registry.load_function(interface)
    try:
        returned: Any = function(params, context)
        if iscoroutinefunction(function):
            returned = asyncio.run(returned)
    except Exception as exc:  # the inputs of an unknown bundle can be anything
        return f"failed when it was repeated: {type(exc).__name__}: {make_printable(str(exc))[:200]}"
    outputs: Mapping[str, Any] = returned.outputs if isinstance(returned, Outcome) else returned
    computed: Plain = orjson.loads(orjson.dumps(dict(outputs)))
    stored: Plain = node["outputs"]
    changed = sorted(name for name in {**stored, **computed} if stored.get(name) != computed.get(name))
    if not changed:
        return ""
    first = changed[0]
    one, other = (make_printable(str(values.get(first)))[:120] for values in (stored, computed))
    return f"other outputs: {', '.join(changed)}; {first} is {one}, repeated {other}"
