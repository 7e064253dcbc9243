"""Reading of JSON schemas: the schema and the type, in words, of the field at a path."""

from collections.abc import Sequence
from typing import Any

Schema = dict[str, Any]


def describe_type_at(schema: Schema, path: Sequence[str]) -> str:
    """Return the type of the field at the path, in words."""
    return describe_type(_find_field(schema, path), schema.get("$defs", {}))


def find_schema_at(schema: Schema, path: Sequence[str]) -> Schema:
    """Return the schema of the field at the path."""
    return resolve_reference(_find_field(schema, path), schema.get("$defs", {}))


def _find_field(schema: Schema, path: Sequence[str]) -> Schema:
    field = schema
    for part in path:
        field = resolve_reference(field, schema.get("$defs", {}))
        field = field.get("items", {}) if part.isdigit() else field.get("properties", {}).get(part, {})
    return field


def resolve_reference(field: Schema, definitions: Schema) -> Schema:
    """Return the schema that a reference names, or the only alternative to null."""
    if "$ref" in field:
        return resolve_reference(definitions[field["$ref"].rsplit("/", 1)[1]], definitions)
    alternatives = [one for one in field.get("anyOf", ()) if one.get("type") != "null"]
    return resolve_reference(alternatives[0], definitions) if len(alternatives) == 1 else field


def describe_type(field: Schema, definitions: Schema) -> str:
    """Return the type of a field in words, such as `list of string` or `Position or null`."""
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(describe_type(one, definitions) for one in field["anyOf"]))
    if "$ref" in field:
        return field["$ref"].rsplit("/", 1)[1]
    if "enum" in field:
        return " | ".join(f'"{one}"' for one in field["enum"])
    if field.get("type") == "array":
        return f"list of {describe_type(field.get('items', {}), definitions)}"
    if field.get("type") == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"map of id to {describe_type(field['additionalProperties'], definitions)}"
    return field.get("type", "any")
