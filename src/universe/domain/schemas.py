"""JSON schemas of commands and states, for OpenAPI and for the tools."""

from functools import cache
from typing import Any, Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from universe.domain.checking import check_of
from universe.domain.commands import KINDS, TYPES
from universe.domain.state import StateFields

OBJECT: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"type": "string", "enum": TYPES, "description": "Which of the 25 commands."}},
}
"""What every command has."""


class AnyCommandShape:
    """Accept anything, which the service checks, and publish the fields of each command without those inside them."""

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return brief_command_schema()


def brief_command_schema() -> dict[str, Any]:
    """Return the schema of a command to one level of depth: the names and types of its fields."""
    return {**OBJECT, "oneOf": [_brief(name) for name in TYPES]}


def _brief(name: str) -> dict[str, Any]:
    schema = check_of(KINDS[name]).json_schema()
    defs = schema.get("$defs", {})
    fields: dict[str, Any] = {field: _brief_type(one, defs) for field, one in schema["properties"].items()}
    properties = {**fields, "type": {"const": name}}
    return {"properties": properties, "required": schema["required"], "additionalProperties": False}


def _brief_type(field: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    if "type" not in field and "anyOf" in field:
        said: dict[str, Any] = {"type": [_resolved(one, defs)["type"] for one in field["anyOf"]]}
    else:
        whole = _resolved(field, defs)
        said = {name: whole[name] for name in ("type", "enum") if name in whole}
    return said | ({"description": field["description"]} if "description" in field else {})


@cache
def components() -> dict[str, Any]:
    """Return every schema by its name, which refer to each other as in OpenAPI."""
    return _definitions("#/components/schemas/{model}")


@cache
def command_schema() -> dict[str, Any]:
    """Return the schema of a command, complete in itself."""
    definitions = _definitions("#/$defs/{model}")
    command = definitions.pop("Command")
    del definitions["State"], command["discriminator"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **command, "$defs": definitions}


def _definitions(template: str) -> dict[str, Any]:
    adapters = [(name, "validation", check_of(KINDS[name])) for name in TYPES]
    adapters.append(("State", "validation", TypeAdapter(StateFields)))
    found, shared = TypeAdapter.json_schemas(adapters, ref_template=template)  # pyright: ignore[reportArgumentType]
    defs: dict[str, Any] = dict(shared.get("$defs", {}))
    references = [found[name, "validation"] for name in TYPES]
    defs["Command"] = {**OBJECT, "oneOf": references, "discriminator": {"propertyName": "type"}}
    defs["State"] = found["State", "validation"]
    return defs


def fields_of(name: str) -> dict[str, Any]:
    """The fields of a command with their types, for people."""
    schema = check_of(KINDS[name]).json_schema()
    return _fields(schema, schema.get("$defs", {}), depth=2)


def fields_in(schema: dict[str, Any]) -> dict[str, Any]:
    """The fields of one of the `components` with their types, for people."""
    return _fields(schema, components(), depth=0)


def field_at(schema: dict[str, Any], way: list[str]) -> str:
    """Return the type of the field at the end of the path, for people."""
    return _type(_at(schema, way), schema.get("$defs", {}))


def schema_at(schema: dict[str, Any], way: list[str]) -> dict[str, Any]:
    """Return the schema at the end of the path."""
    return _resolved(_at(schema, way), schema.get("$defs", {}))


def _at(schema: dict[str, Any], way: list[str]) -> dict[str, Any]:
    field = schema
    for part in way:
        field = _resolved(field, schema.get("$defs", {}))
        field = field.get("items", {}) if part.isdigit() else field.get("properties", {}).get(part, {})
    return field


def _fields(schema: dict[str, Any], defs: dict[str, Any], depth: int) -> dict[str, Any]:
    required = schema.get("required", [])
    shown: dict[str, Any] = {}
    properties: dict[str, Any] = schema.get("properties", {})
    for name in sorted(properties, key=lambda one: one not in required):
        field = properties[name]
        if name == "type" and "const" in field:
            continue
        shown[name] = _field(field, defs, depth) | {"required": name in required}
    return shown


def _field(field: dict[str, Any], defs: dict[str, Any], depth: int) -> dict[str, Any]:
    whole = _resolved(field, defs)
    said: dict[str, Any] = {"type": _type(field, defs)}
    said |= {name: whole[name] for name in ("description", "default", "minimum", "maximum") if name in whole}
    if description := field.get("description"):
        said["description"] = description
    if depth and "properties" in whole:
        said["fields"] = _fields(whole, defs, depth - 1)
    return said


def _resolved(field: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    """The schema itself, behind references and beside null."""
    if "$ref" in field:
        return _resolved(defs[field["$ref"].rsplit("/", 1)[1]], defs)
    alternatives = [one for one in field.get("anyOf", ()) if one.get("type") != "null"]
    return _resolved(alternatives[0], defs) if len(alternatives) == 1 else field


def _type(field: dict[str, Any], defs: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_type(one, defs) for one in field["anyOf"]))
    if "$ref" in field:
        return field["$ref"].rsplit("/", 1)[1]
    if "enum" in field:
        return " | ".join(f'"{one}"' for one in field["enum"])
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}), defs)}"
    if field.get("type") == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"map of id to {_type(field['additionalProperties'], defs)}"
    return field.get("type", "any")
