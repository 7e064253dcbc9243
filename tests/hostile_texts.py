"""Texts that no program should send, and checks of what comes back."""

import json
from collections.abc import Iterator
from typing import Any, Final, cast

import httpx

HALF: Final = "moons \ud83d dust"
UNPRINTABLE: Final = {
    "nul": "moons \0 dust",
    "control": "moons \x1b[31m\x07\x9b dust",
    "override": "moons \u202e\u2066 dust",
    "noncharacter": "moons \ufffe\U0010ffff dust",
}
HUGE: Final = "moons " + "x" * 10_000_000
SHORT: Final = {"half": HALF, **UNPRINTABLE}
HOSTILE: Final = {**SHORT, "huge": HUGE}


def iterate_texts(value: Any) -> Iterator[str]:
    """Yield all texts in a JSON value, and the keys of its objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield key
            yield from iterate_texts(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from iterate_texts(item)


def check_clean(value: Any) -> Any:
    """Return a value after a check that all of its texts can be encoded, and that it is not an internal error."""
    for text in iterate_texts(value):
        text.encode()
        assert text != "internal_error", json.dumps(value)[:2_000]
    return value


def parse_clean(text: bytes) -> Any:
    """Return the value of a reply, which must be JSON that every program can read."""

    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is not JSON")

    return check_clean(json.loads(text.decode(), parse_constant=refuse))


def check_response(response: httpx.Response) -> Any:
    """Return the value of a response after a check that it is clean, or a clean refusal."""
    assert response.status_code < 500, (response.request.url, response.text[:2_000])
    if response.headers.get("content-type") == "application/json" and response.content:
        return parse_clean(response.content)
    return None


def make_sample(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """Return a value of a JSON schema, as short as possible."""
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for alternative in schema.get("anyOf", schema.get("oneOf", [])):
        if alternative.get("type") != "null":
            return make_sample(alternative, definitions)
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            return {name: make_sample(fields[name], definitions) for name in schema.get("required", [])}
        case "array":
            return [make_sample(schema["items"], definitions)] * schema.get("minItems", 0) if "items" in schema else []
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return False
        case _:
            return "x"


def accepts_text(schema: dict[str, Any], definitions: dict[str, Any]) -> bool:
    """Return True if a value of this schema can be a text, or contain one."""
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    alternatives = schema.get("anyOf", schema.get("oneOf", []))
    return any(accepts_text(one, definitions) for one in alternatives) or (
        not alternatives and schema.get("type", "string") in ("string", "object", "array")
    )


def insert_text(schema: dict[str, Any], definitions: dict[str, Any], text: str) -> Iterator[Any]:
    """Yield values of a schema with this text: as the value, in a list, as a value and as a key of an object."""
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if alternatives := schema.get("anyOf", schema.get("oneOf", [])):
        for alternative in alternatives:
            yield from insert_text(alternative, definitions, text)
        return
    match schema.get("type", "any"):
        case "string":
            yield text
        case "array":
            yield from ([value] for value in insert_text(schema.get("items", {}), definitions, text))
        case "object":
            fields = schema.get("properties", {})
            sample = make_sample(schema, definitions)
            for name, field in fields.items():
                yield from ({**sample, name: value} for value in insert_text(field, definitions, text))
            if not fields:
                yield from ({"x": text}, {text: "x"})
        case "any":
            yield from (text, {"x": text}, {text: "x"})
        case _:
            return
