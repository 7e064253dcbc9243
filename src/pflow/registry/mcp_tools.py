"""The interface of an MCP server's tool, made from what the server lists of it."""

from collections.abc import Mapping
from typing import Any, Final, cast

import orjson

from uraniborg.kernel.ids import content_id

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
_SAMPLES: Final[dict[str, Any]] = {"str": "text", "int": 1, "float": 1.5, "bool": True, "dict": {}, "list": []}

Schema = dict[str, Any]


def tool_interface(server: str, tool: Mapping[str, Any], *, version: str = "") -> dict[str, Any]:
    """The JSON object that declares the tool as a node; `version` is the server's. Raises ValueError for no tool."""
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("a tool must have a name")
    inputs = _schema(tool.get("inputSchema"))
    properties = _properties(inputs)
    required = inputs.get("required")
    needed = set(map(str, cast("list[Any]", required))) if isinstance(required, list) else set[str]()
    params = {key: _param(value, inputs, key in needed) for key, value in properties.items()}
    return {
        "type": f"mcp-{server}-{name}",
        "tool": name,
        "description": _description(server, name, tool),
        "run": RUN,
        "params": params,
        "outputs": {
            "result": {"description": "What the tool answered.", **_out(_result(tool.get("outputSchema")))},
            "is_error": {"type": "bool", "description": "Whether the tool called its answer an error."},
        },
        "effect": _effect(_schema(tool.get("annotations"))),
        "reads_world": True,
        "version": content_id(version, orjson.dumps(tool, option=orjson.OPT_SORT_KEYS))[:12],
        "example": {key: _sample(_resolved(properties[key], inputs), params[key]) for key in params if key in needed},
        "tags": ["mcp", server],
        "open_params": inputs.get("additionalProperties") not in (None, False) or "properties" not in inputs,
    }


def _description(server: str, name: str, tool: Mapping[str, Any]) -> str:
    told = tool.get("description") or tool.get("title")
    text = told.strip() if isinstance(told, str) else ""
    return text[:_LONGEST_DESCRIPTION] or f"The tool {name} of the MCP server {server}."


def _effect(hints: Schema) -> str:
    if hints.get("readOnlyHint") is True:
        return "pure"
    return "idempotent" if hints.get("idempotentHint") is True else "effectful"


def _param(value: Any, root: Schema, required: bool) -> dict[str, Any]:
    schema = _resolved(value, root)
    notes = [str(schema.get("description") or "")]
    allowed = _allowed(schema, root)
    if allowed:
        notes.append("One of " + ", ".join(map(str, allowed)) + ".")
    are_plain = all(isinstance(one, str | int | float) for one in allowed)
    return {
        "type": _kind(schema, root),
        "required": required,
        "default": schema.get("default"),
        "description": " ".join(filter(None, notes))[:_LONGEST_NOTE],
        **({"choices": allowed} if allowed and are_plain else {}),
    }


def _allowed(schema: Schema, root: Schema) -> list[Any]:
    """The values that there are to choose from, but for null; none if any will do."""
    if isinstance(listed := schema.get("enum"), list):
        return [one for one in cast("list[Any]", listed) if one is not None]
    if schema.get("const") is not None:
        return [schema["const"]]
    for key in ("anyOf", "oneOf"):
        if isinstance(ways := schema.get(key), list):
            kinds = [_resolved(one, root) for one in cast("list[Any]", ways)]
            each = [_allowed(one, {}) for one in kinds if one.get("type") != "null"]
            return [one for some in each for one in some] if all(each) else []
    return []


def _result(value: Any) -> Schema:
    """The schema of what the node gives: servers wrap what is no object in one with the only key `result`."""
    schema = _schema(value)
    wrapped = _properties(schema)
    if list(wrapped) == ["result"]:
        return {"$defs": schema.get("$defs", {}), **_resolved(wrapped["result"], schema)}
    return schema


def _out(schema: Schema) -> dict[str, Any]:
    told: dict[str, Any] = {"type": _kind(schema, schema)}
    if structure := _structure(schema, schema, 0):
        told["structure"] = structure
    return told


def _structure(value: Any, root: Schema, depth: int) -> dict[str, Any] | None:
    """What a dict or the items of a list hold, as far down as anybody would look."""
    schema = _resolved(value, root)
    if "items" in schema:
        schema = _resolved(schema["items"], root)
    properties = _properties(schema)
    if not properties or depth >= _DEEPEST:
        return None
    found: dict[str, Any] = {}
    for key, inner in properties.items():
        resolved = _resolved(inner, root)
        described = str(resolved.get("description") or "")[:_LONGEST_NOTE]
        found[key] = {"type": _kind(resolved, root), "description": described}
        if structure := _structure(resolved, root, depth + 1):
            found[key]["structure"] = structure
    return found


def _kind(schema: Schema, root: Schema) -> str:
    told = schema.get("type")
    if isinstance(told, str):
        return _KINDS.get(told, "any")
    if isinstance(told, list):
        return _united(_KINDS.get(str(one), "any") for one in cast("list[Any]", told) if one != "null")
    for key in ("anyOf", "oneOf"):
        if isinstance(choices := schema.get(key), list):
            kinds = [_resolved(one, root) for one in cast("list[Any]", choices)]
            return _united(_kind(one, {}) for one in kinds if one.get("type") != "null")
    return "any"


def _united(kinds: Any) -> str:
    found = list(dict.fromkeys(kinds))
    return "any" if not found or "any" in found else "|".join(found)


def _sample(schema: Schema, param: Mapping[str, Any]) -> Any:
    examples = schema.get("examples")
    listed = cast("list[Any]", examples) if isinstance(examples, list) else []
    choices: list[Any] | None = param.get("choices")
    for one in (*listed, param["default"]):
        if one is not None and (choices is None or one in choices):
            return one
    if choices:
        return choices[0]
    return _SAMPLES.get(str(param["type"]).partition("|")[0], "text")


def _resolved(value: Any, root: Schema) -> Schema:
    """The schema itself, or the one of this document that it refers to."""
    schema = _schema(value)
    for _ in range(_DEEPEST):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        found: Any = root
        for part in reference[2:].split("/"):
            found = _schema(found).get(part)
        schema = {**_schema(found), **{key: kept for key, kept in schema.items() if key != "$ref"}}
    return schema


def _properties(schema: Schema) -> dict[str, Any]:
    return _schema(schema.get("properties"))


def _schema(value: Any) -> Schema:
    return cast("Schema", value) if isinstance(value, dict) else {}
