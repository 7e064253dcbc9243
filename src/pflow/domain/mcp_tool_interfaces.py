"""Make interfaces of nodes from the tool lists of MCP servers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from pflow.domain.node_interface import Effect, NodeDeclaration, NodeOutputDeclaration, ParamDeclaration
from uraniborg.kernel.ids import content_id

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

RUN: Final = "pflow.nodes.mcp:call_tool"
_LONGEST_DESCRIPTION: Final = 1_000
_LONGEST_NOTE: Final = 300
_DEEPEST: Final = 5

_KINDS: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "dict",
    "array": "list",
}
_SAMPLES: Final["JsonObject"] = {"str": "text", "int": 1, "float": 1.5, "bool": True, "dict": {}, "list": []}


def make_tool_declaration(server: str, tool: "Mapping[str, Json]", *, version: str = "") -> NodeDeclaration:
    """Return the JSON object that declares the tool as a node; `version` is the server's. Raise ValueError."""
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("a tool must have a name")
    inputs = _get_schema_or_empty(tool.get("inputSchema"))
    properties = _get_properties(inputs)
    required = inputs.get("required")
    needed = set(map(str, cast("list[Any]", required))) if isinstance(required, list) else set[str]()
    params = {key: _make_param_declaration(value, inputs, key in needed) for key, value in properties.items()}
    return {
        "type": f"mcp-{server}-{name}",
        "tool": name,
        "description": _make_description(server, name, tool),
        "run": RUN,
        "params": params,
        "outputs": {
            "result": {
                "description": "The reply of the tool.",
                **_make_output_declaration(_get_result_schema(tool.get("outputSchema"))),
            },
            "is_error": {"type": "bool", "description": "Whether the tool reported an error."},
        },
        "effect": _infer_effect(_get_schema_or_empty(tool.get("annotations"))),
        "reads_world": True,
        "version": content_id(version, orjson.dumps(tool, option=orjson.OPT_SORT_KEYS))[:12],
        "example": {
            key: _make_sample_value(_resolve_schema(properties[key], inputs), params[key])
            for key in params
            if key in needed
        },
        "tags": ["mcp", server],
        "open_params": inputs.get("additionalProperties") not in (None, False) or "properties" not in inputs,
    }


def _make_description(server: str, name: str, tool: "Mapping[str, Json]") -> str:
    given = tool.get("description") or tool.get("title")
    text = given.strip() if isinstance(given, str) else ""
    return text[:_LONGEST_DESCRIPTION] or f"The tool {name} of the MCP server {server}."


def _infer_effect(hints: "JsonObject") -> Effect:
    if hints.get("readOnlyHint") is True:
        return "pure"
    return "idempotent" if hints.get("idempotentHint") is True else "effectful"


def _make_param_declaration(value: Any, root: "JsonObject", required: bool) -> ParamDeclaration:
    schema = _resolve_schema(value, root)
    notes = [str(schema.get("description") or "")]
    allowed = _list_choices(schema, root)
    if allowed:
        notes.append("One of " + ", ".join(map(str, allowed)) + ".")
    are_plain = all(isinstance(one, str | int | float) for one in allowed)
    declared: ParamDeclaration = {
        "type": _infer_type(schema, root),
        "required": required,
        "default": schema.get("default"),
        "description": " ".join(filter(None, notes))[:_LONGEST_NOTE],
    }
    if allowed and are_plain:
        declared["choices"] = allowed
    return declared


def _list_choices(schema: "JsonObject", root: "JsonObject") -> list[Any]:
    """Return the allowed values without null; empty if any value is allowed."""
    if isinstance(listed := schema.get("enum"), list):
        return [one for one in cast("list[Any]", listed) if one is not None]
    if schema.get("const") is not None:
        return [schema["const"]]
    for key in ("anyOf", "oneOf"):
        if isinstance(options := schema.get(key), list):
            kinds = [_resolve_schema(one, root) for one in cast("list[Any]", options)]
            each = [_list_choices(one, {}) for one in kinds if one.get("type") != "null"]
            return [one for some in each for one in some] if all(each) else []
    return []


def _get_result_schema(value: Any) -> "JsonObject":
    """Return the schema of the node's result: servers wrap values that are not objects under the key `result`."""
    schema = _get_schema_or_empty(value)
    wrapped = _get_properties(schema)
    if list(wrapped) == ["result"]:
        return {"$defs": schema.get("$defs", {}), **_resolve_schema(wrapped["result"], schema)}
    return schema


def _make_output_declaration(schema: "JsonObject") -> NodeOutputDeclaration:
    output: NodeOutputDeclaration = {"type": _infer_type(schema, schema)}
    if structure := _make_structure(schema, schema, 0):
        output["structure"] = structure
    return output


def _make_structure(value: Any, root: "JsonObject", depth: int) -> dict[str, NodeOutputDeclaration] | None:
    """Return the fields of a dict, or of the items of a list, to a bounded depth."""
    schema = _resolve_schema(value, root)
    if "items" in schema:
        schema = _resolve_schema(schema["items"], root)
    properties = _get_properties(schema)
    if not properties or depth >= _DEEPEST:
        return None
    found: dict[str, NodeOutputDeclaration] = {}
    for key, inner in properties.items():
        resolved = _resolve_schema(inner, root)
        described = str(resolved.get("description") or "")[:_LONGEST_NOTE]
        found[key] = {"type": _infer_type(resolved, root), "description": described}
        if structure := _make_structure(resolved, root, depth + 1):
            found[key]["structure"] = structure
    return found


def _infer_type(schema: "JsonObject", root: "JsonObject") -> str:
    given = schema.get("type")
    if isinstance(given, str):
        return _KINDS.get(given, "any")
    if isinstance(given, list):
        return _join_types(_KINDS.get(str(one), "any") for one in cast("list[Any]", given) if one != "null")
    for key in ("anyOf", "oneOf"):
        if isinstance(choices := schema.get(key), list):
            kinds = [_resolve_schema(one, root) for one in cast("list[Any]", choices)]
            return _join_types(_infer_type(one, {}) for one in kinds if one.get("type") != "null")
    return "any"


def _join_types(kinds: Any) -> str:
    found = list(dict.fromkeys(kinds))
    return "any" if not found or "any" in found else "|".join(found)


def _make_sample_value(schema: "JsonObject", param: ParamDeclaration) -> "Json":
    examples = schema.get("examples")
    listed = examples if isinstance(examples, list) else []
    choices = param.get("choices")
    for one in (*listed, param.get("default")):
        if one is not None and (choices is None or one in choices):
            return one
    if choices:
        return choices[0]
    return _SAMPLES.get(param.get("type", "any").partition("|")[0], "text")


def _resolve_schema(value: Any, root: "JsonObject") -> "JsonObject":
    """Return the schema, or the schema of this document that it refers to."""
    schema = _get_schema_or_empty(value)
    for _ in range(_DEEPEST):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        found: Any = root
        for part in reference[2:].split("/"):
            found = _get_schema_or_empty(found).get(part)
        schema = {**_get_schema_or_empty(found), **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def _get_properties(schema: "JsonObject") -> "JsonObject":
    return _get_schema_or_empty(schema.get("properties"))


def _get_schema_or_empty(value: Any) -> "JsonObject":
    return cast("JsonObject", value) if isinstance(value, dict) else {}
