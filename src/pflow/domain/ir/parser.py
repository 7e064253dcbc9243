"""Parse workflows: JSON objects, raw or wrapped, become a workflow and a list of all errors."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.domain.diagnostics import CheckerDiagnostic, make_error, make_unknown_key_errors, make_warning
from pflow.domain.ir.declarations import (
    NAME_RULE,
    is_valid_name,
    parse_batch,
    parse_declared_inputs,
    parse_declared_outputs,
    parse_retry,
    parse_timeout,
)
from pflow.domain.ir.model import DEFAULT_ACTION, IR_VERSION, Edge, Node, Workflow
from pflow.domain.node_interface import EFFECTS
from uraniborg.kernel.language.messages import find_nearest_name

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

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
_WRAPPER_ONLY_KEYS: Final = ("name", "description", "version", "created_at", "updated_at", "metadata")
_KEYS_WITHOUT_EFFECT: Final = ("mappings", "enable_namespacing", "template_resolution_mode")
_DEEPEST: Final = 100
_NODE: Final = {"id": "hello", "type": "echo", "params": {"message": "Hello ${who}"}}
_EXAMPLE: Final = {
    "inputs": {"who": {"type": "string", "default": "world"}},
    "nodes": [_NODE],
    "edges": [],
    "outputs": {"greeting": {"source": "${hello.echo}"}},
}


def unwrap_document(document: "Mapping[str, Json]") -> "JsonObject":
    """Return the IR of a document that is an IR, or that wraps one under `ir`."""
    inner = document.get("ir")
    is_wrapped = isinstance(inner, dict) and "nodes" not in document
    return dict(cast("JsonObject", inner) if is_wrapped else document)


def normalize_document(document: "Mapping[str, Json]") -> "JsonObject":
    """Return the IR in normal form: with a version, with edges, and with the keys `params`, `from` and `to`."""
    plain = unwrap_document(document)
    plain.setdefault("ir_version", IR_VERSION)
    if plain.get("edges") is None:
        plain["edges"] = []
    if isinstance(nodes := plain.get("nodes"), list):
        plain["nodes"] = [_normalize_node(node) for node in cast("list[Any]", nodes)]
    if isinstance(plain["edges"], list):
        plain["edges"] = [_normalize_edge(edge) for edge in cast("list[Any]", plain["edges"])]
    return plain


def _normalize_node(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    plain = _rename_parameters_key(cast("JsonObject", node))
    if plain.get("type") == "batch" and isinstance(params := plain.get("params"), dict):
        return _convert_batch_type(plain, cast("JsonObject", params))
    return plain


def _rename_parameters_key(node: "JsonObject") -> "JsonObject":
    plain = dict(node)
    if "params" not in plain and "parameters" in plain:
        plain["params"] = plain.pop("parameters")
    return plain


def _convert_batch_type(plain: "JsonObject", params: "JsonObject") -> "JsonObject":
    """Return a node of the type `batch` as the node inside it, with its `batch` setting."""
    inner = params.get("node")
    if not isinstance(inner, dict):
        return plain
    batch = {key: value for key, value in params.items() if key != "node"}
    others = {key: value for key, value in plain.items() if key not in ("type", "params")}
    return {"type": None, **_rename_parameters_key(cast("JsonObject", inner)), **others, "batch": batch}


def _normalize_edge(edge: Any) -> Any:
    if not isinstance(edge, dict):
        return edge
    plain = dict(cast("JsonObject", edge))
    for ours, theirs in (("from", "source"), ("to", "target")):
        if ours not in plain and theirs in plain:
            plain[ours] = plain.pop(theirs)
    return plain


def parse_workflow(document: Any) -> tuple[Workflow | None, list[CheckerDiagnostic]]:
    """Return the workflow and the errors of its structure; None instead of the workflow if it has too many."""
    if not isinstance(document, dict):
        return None, [make_error("not_an_object", "", "A workflow is a JSON object.", example=_EXAMPLE)]
    diagnostics: list[CheckerDiagnostic] = []
    plain = _drop_deep_values(normalize_document(cast("JsonObject", document)), "", diagnostics, except_key="nodes")
    _check_keys(plain, diagnostics)
    _check_version(plain, diagnostics)
    inputs = parse_declared_inputs(plain.get("inputs"), diagnostics)
    outputs = parse_declared_outputs(plain.get("outputs"), diagnostics)
    nodes = _parse_nodes(plain.get("nodes"), diagnostics)
    edges = _parse_edges(plain.get("edges", []), nodes, diagnostics)
    start = _parse_start(plain.get("start_node"), nodes, diagnostics)
    timeout = parse_timeout(plain.get("timeout"), "timeout", diagnostics)
    for name in [name for name in inputs if name in nodes]:
        message = f"'{name}' is the name of an input and of a node, so `${{{name}}}` could mean either."
        diagnostics.append(make_error("name_taken_twice", f"inputs.{name}", message, hint="Rename one of them."))
    if start is None:
        return None, diagnostics
    return Workflow(nodes, tuple(edges), start, inputs, outputs, timeout), diagnostics


def index_nodes(document: "Mapping[str, Json]") -> dict[str, int]:
    """Return the index of each node in the list of the file."""
    indexes: dict[str, int] = {}
    for index, node in enumerate(cast("list[Any]", normalize_document(document)["nodes"])):
        if isinstance(node, dict) and isinstance(name := cast("JsonObject", node).get("id"), str):
            indexes.setdefault(name, index)
    return indexes


def index_edges(document: "Mapping[str, Json]") -> dict[Edge, int]:
    """Return the first index of each edge in the list of the file."""
    indexes: dict[Edge, int] = {}
    listed: Any = unwrap_document(document).get("edges")
    for index, one in enumerate(cast("list[Any]", listed) if isinstance(listed, list) else []):
        if isinstance(edge := _normalize_edge(one), dict):
            normal_edge = cast("JsonObject", edge)
            ends = normal_edge.get("from"), normal_edge.get("to"), normal_edge.get("action", DEFAULT_ACTION)
            if all(isinstance(end, str) for end in ends):
                indexes.setdefault(Edge(*cast("tuple[str, str, str]", ends)), index)
    return indexes


def _check_keys(plain: "JsonObject", diagnostics: list[CheckerDiagnostic]) -> None:
    wrapper_message = "`{}` has no effect here: the name and description are set when the workflow is saved."
    for keys, message in (
        (_WRAPPER_ONLY_KEYS, wrapper_message),
        (_KEYS_WITHOUT_EFFECT, "`{}` has no effect."),
    ):
        diagnostics += [make_warning("ignored_key", key, message.format(key)) for key in keys if key in plain]
    others = (key for key in plain if key not in _WRAPPER_ONLY_KEYS and key not in _KEYS_WITHOUT_EFFECT)
    diagnostics += make_unknown_key_errors(others, _KEYS, "A workflow", "", _EXAMPLE)


def _check_version(plain: "JsonObject", diagnostics: list[CheckerDiagnostic]) -> None:
    version = plain.get("ir_version", IR_VERSION)
    if not isinstance(version, str) or not version.startswith("0."):
        message = f"This version of pflow does not support `ir_version` {str(version)[:40]!r}."
        diagnostics.append(
            make_error("unknown_version", "ir_version", message, example=IR_VERSION, hint="Leave it out.")
        )


def _parse_nodes(plain: Any, diagnostics: list[CheckerDiagnostic]) -> dict[str, Node]:
    if not isinstance(plain, list) or not plain:
        message = "A workflow needs a list `nodes` with at least one node."
        diagnostics.append(make_error("no_nodes", "nodes", message, example=[_NODE]))
        return {}
    listed = cast("list[Any]", plain)
    if len(listed) > MOST_NODES:
        message = f"A workflow has at most {MOST_NODES:,} nodes; this one has {len(listed):,}."
        diagnostics.append(
            make_error("too_many_nodes", "nodes", message, hint="Use `batch` for the same step on many items.")
        )
        return {}
    nodes: dict[str, Node] = {}
    indexes: dict[str, int] = {}
    for index, one in enumerate(listed):
        node = _parse_node(one, f"nodes[{index}]", diagnostics)
        if node is None:
            continue
        if node.id in nodes:
            message = f"Two nodes have the id '{node.id}': this one and nodes[{indexes[node.id]}]."
            diagnostics.append(
                make_error("duplicate_id", f"nodes[{index}].id", message, hint="Change one of the ids.", node=node.id)
            )
            continue
        nodes[node.id] = node
        indexes[node.id] = index
    return nodes


def _parse_node(plain: Any, path: str, diagnostics: list[CheckerDiagnostic]) -> Node | None:
    if not isinstance(plain, dict):
        diagnostics.append(make_error("not_a_node", path, "A node is an object.", example=_NODE))
        return None
    declaration = _drop_deep_values(cast("JsonObject", plain), f"{path}.", diagnostics)
    hint = "Parameters of the node's type go into `params`."
    diagnostics += make_unknown_key_errors(declaration, _NODE_KEYS, "A node", path, _NODE, hint=hint)
    node_id, kind = declaration.get("id"), declaration.get("type")
    if not isinstance(node_id, str) or not is_valid_name(node_id):
        suggested = re.sub(r"[^A-Za-z0-9_-]+", "-", str(node_id or "")[:60]).strip("-")
        hint = f"Write `{suggested}`." if is_valid_name(suggested) else ""
        message = f"A node needs an id: {NAME_RULE}."
        diagnostics.append(make_error("bad_id", f"{path}.id", message, hint=hint, example="fetch"))
        node_id = None
    if not isinstance(kind, str) or not kind:
        diagnostics.append(make_error("no_type", f"{path}.type", "A node needs a type.", example="shell", node=node_id))
        kind = ""
    params = declaration.get("params", {})
    if not isinstance(params, dict):
        diagnostics.append(
            make_error("bad_params", f"{path}.params", "`params` is an object.", example={}, node=node_id)
        )
        params = {}
    if declaration.get("resume", "auto") not in ("auto", "never"):
        message = '`resume` is "auto" or "never".'
        diagnostics.append(
            make_error("bad_resume", f"{path}.resume", message, available=("auto", "never"), example="never")
        )
    if declaration.get("effect") not in (None, "pure", "idempotent", "effectful"):
        message = '`effect` is "pure", "idempotent" or "effectful".'
        available = ("pure", "idempotent", "effectful")
        diagnostics.append(make_error("bad_effect", f"{path}.effect", message, available=available, example="pure"))
    batch = parse_batch(declaration.get("batch"), f"{path}.batch", diagnostics)
    retry = parse_retry(declaration.get("retry"), f"{path}.retry", diagnostics)
    timeout = parse_timeout(declaration.get("timeout"), f"{path}.timeout", diagnostics)
    if node_id is None:
        return None
    return Node(
        id=node_id,
        type=kind,
        params=cast("JsonObject", params),
        purpose=str(declaration.get("purpose") or ""),
        batch=batch,
        retry=retry,
        timeout=timeout,
        reuse=declaration.get("resume") != "never",
        effect=next((one for one in EFFECTS if one == declaration.get("effect")), None),
    )


def _parse_edges(plain: Any, nodes: Mapping[str, Node], diagnostics: list[CheckerDiagnostic]) -> list[Edge]:
    if not isinstance(plain, list):
        diagnostics.append(make_error("bad_edges", "edges", "`edges` is a list.", example=[{"from": "a", "to": "b"}]))
        return []
    edges: dict[Edge, None] = {}
    for index, one in enumerate(cast("list[Any]", plain)):
        if (edge := _parse_edge(one, f"edges[{index}]", nodes, diagnostics)) is None:
            continue
        if edge in edges:
            diagnostics.append(make_warning("duplicate_edge", f"edges[{index}]", "This edge already exists."))
        edges[edge] = None
    return list(edges)


def _parse_edge(plain: Any, path: str, nodes: Mapping[str, Node], diagnostics: list[CheckerDiagnostic]) -> Edge | None:
    declaration = cast("JsonObject", plain) if isinstance(plain, dict) else {}
    if not isinstance(plain, dict) or set(declaration) - {"from", "to", "action"}:
        unknown = ", ".join(f"`{key[:40]}`" for key in declaration if key not in ("from", "to", "action"))
        message = "An edge is an object with `from`, `to` and optionally `action`" + (
            f"; it does not take {unknown}." if unknown else "."
        )
        example = {"from": "fetch", "to": "save", "action": "default"}
        hint = "The node selects the edge to follow: a `python` node sets `action`, and a failure is `error`."
        diagnostics.append(
            make_error("bad_edge", path, message, hint=hint, available=("from", "to", "action"), example=example)
        )
        return None
    ends: list[str] = []
    for key in ("from", "to"):
        end = declaration.get(key)
        if isinstance(end, str) and end in nodes:
            ends.append(end)
            continue
        quoted = f"'{end[:80]}'" if isinstance(end, str) else "missing or not text"
        message = f"`{key}` must be the id of a node; it is {quoted}."
        nearest = find_nearest_name(end, nodes) if isinstance(end, str) else None
        diagnostics.append(
            make_error(
                "unknown_node",
                f"{path}.{key}",
                message,
                available=tuple(islice(nodes, 20)),
                nearest=nearest,
                example=nearest,
            )
        )
    action = declaration.get("action", DEFAULT_ACTION)
    if not isinstance(action, str) or not action:
        diagnostics.append(make_error("bad_action", f"{path}.action", "`action` is text.", example=DEFAULT_ACTION))
        return None
    return Edge(ends[0], ends[1], action) if len(ends) == 2 else None


def _parse_start(given: Any, nodes: Mapping[str, Node], diagnostics: list[CheckerDiagnostic]) -> str | None:
    if given is None:
        return next(iter(nodes), None)
    if isinstance(given, str) and given in nodes:
        return given
    first = next(iter(nodes), None)
    message = f"`start_node` must be the id of a node; it is {str(given)[:80]!r}."
    nearest = find_nearest_name(str(given), nodes)
    more = {"available": tuple(islice(nodes, 20)), "nearest": nearest, "example": nearest or first}
    diagnostics.append(make_error("unknown_node", "start_node", message, **more))
    return first


def _drop_deep_values(
    plain: "JsonObject", path: str, diagnostics: list[CheckerDiagnostic], *, except_key: str = ""
) -> "JsonObject":
    """Remove and report values that are nested too deep to be walked."""
    shallow: JsonObject = {}
    for key, value in plain.items():
        if key != except_key and isinstance(value, (dict, list)) and _measure_depth_up_to_limit(value) > _DEEPEST:
            message = f"`{key[:80]}` is nested deeper than {_DEEPEST} levels."
            diagnostics.append(make_error("too_deep", f"{path}{key[:80]}", message))
        else:
            shallow[key] = value
    return shallow


def _measure_depth_up_to_limit(value: Any) -> int:
    """Return the depth of nesting, counted level by level without recursion."""
    level: list[Any] = [value]
    depth = 0
    while level and depth <= _DEEPEST:
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += cast("JsonObject", one).values()
            elif isinstance(one, list):
                inner += cast("list[Any]", one)
        level = [one for one in inner if isinstance(one, (dict, list))]
        depth += 1
    return depth
