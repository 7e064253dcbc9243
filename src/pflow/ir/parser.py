"""From a JSON object to a workflow: raw or wrapped, normalised in one way; all that is wrong is told at once."""

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final, cast

from pflow.ir.declarations import NAME_RULE, is_name, read_inputs, read_outputs
from pflow.ir.diagnostics import Diagnostic, error, nearest, unknown_keys, warning
from pflow.ir.model import DEFAULT_ACTION, IR_VERSION, Edge, Node, Workflow
from pflow.ir.node_settings import read_batch, read_retry, read_timeout

MOST_NODES: Final = 20_000
_KEYS: Final = (
    "ir_version",
    "nodes",
    "edges",
    "start_node",
    "inputs",
    "outputs",
    "timeout",
)
_NODE_KEYS: Final = ("id", "type", "purpose", "params", "batch", "retry", "timeout", "resume", "effect")
_WRAPPER_KEYS: Final = ("name", "description", "ir", "created_at", "updated_at", "version")
_TOLD_ELSEWHERE: Final = ("name", "description", "version", "created_at", "updated_at", "metadata")
_WITHOUT_EFFECT: Final = ("mappings", "enable_namespacing", "template_resolution_mode")
_DEEPEST: Final = 100
_NODE: Final = {"id": "hello", "type": "echo", "params": {"message": "Hello ${who}"}}
_EXAMPLE: Final = {
    "inputs": {"who": {"type": "string", "default": "world"}},
    "nodes": [_NODE],
    "edges": [],
    "outputs": {"greeting": {"source": "${hello.echo}"}},
}

Plain = dict[str, Any]


def unwrapped(document: Mapping[str, Any]) -> Plain:
    """The IR of a document that is one, or that wraps one under `ir`."""
    inner = document.get("ir")
    is_wrapped = isinstance(inner, dict) and "nodes" not in document
    return dict(cast("Plain", inner) if is_wrapped else document)


def normalised(document: Mapping[str, Any]) -> Plain:
    """The IR in one form: its version named, edges there, `params` and `from`/`to` under these names."""
    plain = unwrapped(document)
    plain.setdefault("ir_version", IR_VERSION)
    if plain.get("edges") is None:
        plain["edges"] = []
    if isinstance(nodes := plain.get("nodes"), list):
        plain["nodes"] = [_normal_node(node) for node in cast("list[Any]", nodes)]
    if isinstance(plain["edges"], list):
        plain["edges"] = [_normal_edge(edge) for edge in cast("list[Any]", plain["edges"])]
    return plain


def _normal_node(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    plain = _with_params(cast("Plain", node))
    if plain.get("type") == "batch" and isinstance(params := plain.get("params"), dict):
        return _without_batch_type(plain, cast("Plain", params))
    return plain


def _with_params(node: Plain) -> Plain:
    plain = dict(node)
    if "params" not in plain and "parameters" in plain:
        plain["params"] = plain.pop("parameters")
    return plain


def _without_batch_type(plain: Plain, params: Plain) -> Plain:
    """A node of the type `batch` is the node within it, run for each item."""
    inner = params.get("node")
    if not isinstance(inner, dict):
        return plain
    batch = {key: value for key, value in params.items() if key != "node"}
    kept = {key: value for key, value in plain.items() if key not in ("type", "params")}
    return {"type": None, **_with_params(cast("Plain", inner)), **kept, "batch": batch}


def _normal_edge(edge: Any) -> Any:
    if not isinstance(edge, dict):
        return edge
    plain = dict(cast("Plain", edge))
    for ours, theirs in (("from", "source"), ("to", "target")):
        if ours not in plain and theirs in plain:
            plain[ours] = plain.pop(theirs)
    return plain


def read_workflow(document: Any) -> tuple[Workflow | None, list[Diagnostic]]:
    """The workflow that a JSON object is, and all that is wrong with its structure; no workflow if that is too much."""
    if not isinstance(document, dict):
        return None, [error("not_an_object", "", "A workflow is a JSON object.", example=_EXAMPLE)]
    found: list[Diagnostic] = []
    plain = _without_depths(normalised(cast("Plain", document)), "", found, but="nodes")
    _check_keys(plain, found)
    _check_version(plain, found)
    inputs = read_inputs(plain.get("inputs"), found)
    outputs = read_outputs(plain.get("outputs"), found)
    nodes = _read_nodes(plain.get("nodes"), found)
    edges = _read_edges(plain.get("edges", []), nodes, found)
    start = _read_start(plain.get("start_node"), nodes, found)
    timeout = read_timeout(plain.get("timeout"), "timeout", found)
    for name in [name for name in inputs if name in nodes]:
        message = f"'{name}' is the name of an input and of a node, so `${{{name}}}` could mean either."
        found.append(error("name_taken_twice", f"inputs.{name}", message, hint="Rename one of them."))
    if start is None:
        return None, found
    return Workflow(nodes, tuple(edges), start, inputs, outputs, timeout), found


def places_of(document: Mapping[str, Any]) -> dict[str, int]:
    """The place of each node in the list that it was read from."""
    places: dict[str, int] = {}
    for index, node in enumerate(cast("list[Any]", normalised(document)["nodes"])):
        if isinstance(node, dict) and isinstance(name := cast("Plain", node).get("id"), str):
            places.setdefault(name, index)
    return places


def edge_places_of(document: Mapping[str, Any]) -> dict[Edge, int]:
    """The first place of each edge in the list that it was read from."""
    places: dict[Edge, int] = {}
    listed: Any = unwrapped(document).get("edges")
    for index, one in enumerate(cast("list[Any]", listed) if isinstance(listed, list) else []):
        if isinstance(edge := _normal_edge(one), dict):
            told = cast("Plain", edge)
            ends = told.get("from"), told.get("to"), told.get("action", DEFAULT_ACTION)
            if all(isinstance(end, str) for end in ends):
                places.setdefault(Edge(*cast("tuple[str, str, str]", ends)), index)
    return places


def _check_keys(plain: Plain, found: list[Diagnostic]) -> None:
    told_elsewhere = "`{}` has no effect here: name and description are given when the workflow is saved."
    for keys, message in ((_TOLD_ELSEWHERE, told_elsewhere), (_WITHOUT_EFFECT, "`{}` is known, and has no effect.")):
        found += [warning("ignored_key", key, message.format(key)) for key in keys if key in plain]
    others = (key for key in plain if key not in _TOLD_ELSEWHERE and key not in _WITHOUT_EFFECT)
    found += unknown_keys(others, _KEYS, "A workflow", "", _EXAMPLE)


def _check_version(plain: Plain, found: list[Diagnostic]) -> None:
    version = plain.get("ir_version", IR_VERSION)
    if not isinstance(version, str) or not version.startswith("0."):
        message = f"`ir_version` is not one that this version reads: {str(version)[:40]!r}."
        found.append(error("unknown_version", "ir_version", message, example=IR_VERSION, hint="Leave it out."))


def _read_nodes(plain: Any, found: list[Diagnostic]) -> dict[str, Node]:
    if not isinstance(plain, list) or not plain:
        message = "A workflow needs a list `nodes` with at least one node."
        found.append(error("no_nodes", "nodes", message, example=[_NODE]))
        return {}
    listed = cast("list[Any]", plain)
    if len(listed) > MOST_NODES:
        message = f"A workflow has at most {MOST_NODES:,} nodes; this one has {len(listed):,}."
        found.append(error("too_many_nodes", "nodes", message, hint="Use `batch` for the same step on many items."))
        return {}
    nodes: dict[str, Node] = {}
    places: dict[str, int] = {}
    for index, one in enumerate(listed):
        node = _read_node(one, f"nodes[{index}]", found)
        if node is None:
            continue
        if node.id in nodes:
            message = f"Two nodes have the id '{node.id}': this one and nodes[{places[node.id]}]."
            found.append(
                error("duplicate_id", f"nodes[{index}].id", message, hint="Give one another id.", node=node.id)
            )
            continue
        nodes[node.id] = node
        places[node.id] = index
    return nodes


def _read_node(plain: Any, path: str, found: list[Diagnostic]) -> Node | None:
    if not isinstance(plain, dict):
        found.append(error("not_a_node", path, "A node is an object.", example=_NODE))
        return None
    told = _without_depths(cast("Plain", plain), f"{path}.", found)
    hint = "Parameters of the node's type go into `params`."
    found += unknown_keys(told, _NODE_KEYS, "A node", path, _NODE, hint=hint)
    node_id, kind = told.get("id"), told.get("type")
    if not isinstance(node_id, str) or not is_name(node_id):
        found.append(error("bad_id", f"{path}.id", f"A node needs an id: {NAME_RULE}.", example="fetch"))
        node_id = None
    if not isinstance(kind, str) or not kind:
        found.append(error("no_type", f"{path}.type", "A node needs a type.", example="shell", node=node_id))
        kind = ""
    params = told.get("params", {})
    if not isinstance(params, dict):
        found.append(error("bad_params", f"{path}.params", "`params` is an object.", example={}, node=node_id))
        params = {}
    if told.get("resume", "auto") not in ("auto", "never"):
        message = '`resume` is "auto" or "never".'
        found.append(error("bad_resume", f"{path}.resume", message, available=("auto", "never"), example="never"))
    if told.get("effect") not in (None, "pure", "idempotent", "effectful"):
        message = '`effect` is "pure", "idempotent" or "effectful".'
        available = ("pure", "idempotent", "effectful")
        found.append(error("bad_effect", f"{path}.effect", message, available=available, example="pure"))
    batch = read_batch(told.get("batch"), f"{path}.batch", found)
    retry = read_retry(told.get("retry"), f"{path}.retry", found)
    timeout = read_timeout(told.get("timeout"), f"{path}.timeout", found)
    if node_id is None:
        return None
    return Node(
        id=node_id,
        type=kind,
        params=cast("Plain", params),
        purpose=str(told.get("purpose") or ""),
        batch=batch,
        retry=retry,
        timeout=timeout,
        reuse=told.get("resume") != "never",
        effect=told.get("effect") if told.get("effect") in ("pure", "idempotent", "effectful") else None,
    )


def _read_edges(plain: Any, nodes: Mapping[str, Node], found: list[Diagnostic]) -> list[Edge]:
    if not isinstance(plain, list):
        found.append(error("bad_edges", "edges", "`edges` is a list.", example=[{"from": "a", "to": "b"}]))
        return []
    edges: dict[Edge, None] = {}
    for index, one in enumerate(cast("list[Any]", plain)):
        if (edge := _read_edge(one, f"edges[{index}]", nodes, found)) is None:
            continue
        if edge in edges:
            found.append(warning("duplicate_edge", f"edges[{index}]", "There is this edge already."))
        edges[edge] = None
    return list(edges)


def _read_edge(plain: Any, path: str, nodes: Mapping[str, Node], found: list[Diagnostic]) -> Edge | None:
    told = cast("Plain", plain) if isinstance(plain, dict) else {}
    if not isinstance(plain, dict) or set(told) - {"from", "to", "action"}:
        unknown = ", ".join(f"`{key[:40]}`" for key in told if key not in ("from", "to", "action"))
        message = "An edge is an object with `from`, `to` and perhaps `action`" + (
            f"; it has no {unknown}." if unknown else "."
        )
        example = {"from": "fetch", "to": "save", "action": "default"}
        hint = "Which edge is followed is for the node to say: a `python` node sets `action`, and a failure is `error`."
        found.append(error("bad_edge", path, message, hint=hint, available=("from", "to", "action"), example=example))
        return None
    ends: list[str] = []
    for key in ("from", "to"):
        end = told.get(key)
        if isinstance(end, str) and end in nodes:
            ends.append(end)
            continue
        said = f"'{end[:80]}'" if isinstance(end, str) else "missing or no text"
        message = f"`{key}` must be the id of a node; it is {said}."
        meant = nearest(end, nodes) if isinstance(end, str) else None
        found.append(
            error(
                "unknown_node",
                f"{path}.{key}",
                message,
                available=tuple(islice(nodes, 20)),
                nearest=meant,
                example=meant,
            )
        )
    action = told.get("action", DEFAULT_ACTION)
    if not isinstance(action, str) or not action:
        found.append(error("bad_action", f"{path}.action", "`action` is text.", example=DEFAULT_ACTION))
        return None
    return Edge(ends[0], ends[1], action) if len(ends) == 2 else None


def _read_start(given: Any, nodes: Mapping[str, Node], found: list[Diagnostic]) -> str | None:
    if given is None:
        return next(iter(nodes), None)
    if isinstance(given, str) and given in nodes:
        return given
    first = next(iter(nodes), None)
    message = f"`start_node` must be the id of a node; it is {str(given)[:80]!r}."
    meant = nearest(str(given), nodes)
    more = {"available": tuple(islice(nodes, 20)), "nearest": meant, "example": meant or first}
    found.append(error("unknown_node", "start_node", message, **more))
    return first


def _without_depths(plain: Plain, path: str, found: list[Diagnostic], *, but: str = "") -> Plain:
    """What is nested too deep is told of, and left out: nobody could walk through it."""
    kept: Plain = {}
    for key, value in plain.items():
        if key != but and isinstance(value, (dict, list)) and _depth(value) > _DEEPEST:
            message = f"`{key[:80]}` is nested deeper than {_DEEPEST} levels."
            found.append(error("too_deep", f"{path}{key[:80]}", message))
        else:
            kept[key] = value
    return kept


def _depth(value: Any) -> int:
    """How deep it is nested, counted level by level: what is too deep must not be walked into."""
    level: list[Any] = [value]
    depth = 0
    while level and depth <= _DEEPEST:
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += cast("Plain", one).values()
            elif isinstance(one, list):
                inner += cast("list[Any]", one)
        level = [one for one in inner if isinstance(one, (dict, list))]
        depth += 1
    return depth
