"""JSON schemas: the type of the documents that describe arguments, replies and commands."""

from typing_extensions import TypedDict

from uraniborg.kernel.json_values import Json

JsonSchema = TypedDict(
    "JsonSchema",
    {
        "$schema": str,
        "$defs": "dict[str, JsonSchema]",
        "$ref": str,
        "type": "str | list[str]",
        "title": str,
        "description": str,
        "default": Json,
        "const": Json,
        "enum": list[Json],
        "minimum": float,
        "maximum": float,
        "minLength": int,
        "maxLength": int,
        "minItems": int,
        "maxItems": int,
        "pattern": str,
        "properties": "dict[str, JsonSchema]",
        "required": list[str],
        "additionalProperties": "JsonSchema | bool",
        "items": "JsonSchema",
        "anyOf": "list[JsonSchema]",
        "oneOf": "list[JsonSchema]",
        "discriminator": dict[str, str],
    },
    total=False,
)
"""A JSON schema, with the keywords that our own documents have."""
