"""Types for JSON without a fixed shape and for JSON schemas, and the one way in which replies are written as JSON."""

import json
from typing import Any, Final, TypeAlias

import orjson
from pydantic import JsonValue
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python
from typing_extensions import TypedDict

from uraniborg.kernel.boundary import make_encodable

Json: TypeAlias = JsonValue
"""A value that is JSON by nature, such as an output of a node, so that no type can say more about it."""
JsonObject: TypeAlias = dict[str, JsonValue]
"""An object that is JSON by nature, such as the document of a workflow."""

# Types that pydantic writes differently are left to pydantic.
_PLAIN_ONLY: Final = (
    orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
)


def encode_json(value: Any) -> bytes:
    """Return `value` as compact JSON, with null for NaN. Raise ValueError or RecursionError if it has no JSON form."""
    try:
        return orjson.dumps(value, option=_PLAIN_ONLY)
    except orjson.JSONEncodeError:
        pass
    try:
        return to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:
        # The path of a file can have lone surrogates; a value without a JSON form fails again.
        text = json.dumps(value, default=to_jsonable_python, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return make_encodable(text).encode()


def encode_text(value: Any) -> str:
    """Return `value` as text: a string unchanged, any other value as JSON. Raise as `encode_json` does."""
    return value if isinstance(value, str) else encode_json(value).decode()


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
