"""Validation of values against their types: every problem, with its path and the allowed values in words."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, Final, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from universe.domain.entities import (
    AsteroidBelt,
    Group,
    NebulaRegion,
    ProtoplanetaryDisk,
    SmallBodyField,
    Star,
)
from universe.domain.field_types import ID_CHARS
from universe.domain.json_copies import ValueProblem
from uraniborg.kernel.json_values import JsonSchema
from uraniborg.kernel.language.messages import find_nearest_names

MAX_PROBLEMS: Final = 20
"""The most problems that one error lists."""

ENTITY_MAPS: Final[dict[str, Any]] = {
    "stars": Star,
    "groups": Group,
    "belts": AsteroidBelt,
    "smallBodyFields": SmallBodyField,
    "fields": SmallBodyField,
    "protoplanetaryDisks": ProtoplanetaryDisk,
    "disks": ProtoplanetaryDisk,
    "nebulae": NebulaRegion,
}
"""The type of the entities in the maps of these names. Maps may be large, so their entities are checked one by one."""

_PROBLEMS: Final = {
    "finite_number": "is not a finite number",
    "string_type": "is not a string",
    "float_type": "is not a number",
    "int_type": "is not a whole number",
    "int_from_float": "is not a whole number",
    "bool_type": "is neither true nor false",
    "dict_type": "is not an object",
    "list_type": "is not a list",
    "too_short": "has too few items",
    "too_long": "has too many items",
}
"""The text of a problem by pydantic's error type."""
_ALLOWED: Final = {
    "finite_number": "a finite number",
    "string_type": "a string",
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "dict_type": "an object",
    "list_type": "a list",
    "string_too_short": f"1 to {ID_CHARS} characters",
    "string_too_long": f"at most {ID_CHARS} characters",
}
"""The values allowed by pydantic's error type."""
_UNION_MEMBERS: Final = ("str", "int", "float")
"""Names that pydantic appends to the path of a field with several types."""

_type_adapters: dict[Any, TypeAdapter[Any]] = {}


def get_type_adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the type adapter of a type. Adapters are slow to make, so each is made when it is first used."""
    if (adapter := _type_adapters.get(kind)) is None:
        adapter = _type_adapters[kind] = TypeAdapter(kind)
    return adapter


def find_type_problems(kind: Any, value: Mapping[str, Any]) -> list[ValueProblem]:
    """Return the problems of `value` as a value of this type, one for each path."""
    try:
        get_type_adapter(kind).validate_python(value)
    except ValidationError as exc:
        problems: dict[str, ValueProblem] = {}
        for error in exc.errors(include_input=False, include_url=False):
            problem = _make_problem(kind, error, value)
            problems.setdefault(problem.path, problem)
        return list(problems.values())
    return []


def find_field_problems(
    kind: Any, value: Mapping[str, Any], value_name: str, inner_fields: Mapping[str, Collection[str]]
) -> list[ValueProblem]:
    """Return the problems of `value` as a value of a type that allows no other fields.

    `value_name` names the value in messages. `inner_fields` has the names of the fields inside some fields.
    """
    known = {name: value[name] for name in kind.__annotations__ if name in value}
    return _find_unknown_fields(kind, value, value_name, inner_fields) + find_type_problems(kind, known)


def _find_unknown_fields(
    kind: Any, value: Mapping[str, Any], value_name: str, inner_fields: Mapping[str, Collection[str]]
) -> list[ValueProblem]:
    known = [name for name in kind.__annotations__ if name != "type"]
    problems: list[ValueProblem] = []
    for name in value:
        if name in kind.__annotations__:
            continue
        outer = next((field for field, names in inner_fields.items() if name in names), None)
        problem = f"is not a field of {value_name}" + (f"; put it inside {outer}" if outer else "")
        similar = [] if outer else find_nearest_names(name, [one for one in known if one not in value])
        problems.append(ValueProblem(problem, allowed=known, reversed_path=[name], nearest=similar))
        if len(problems) == MAX_PROBLEMS:
            break
    return problems


def find_entity_map_problems(holder: Mapping[str, Any], *path: str) -> list[ValueProblem]:
    """Return the first problems of the entities in the maps of `holder`, which is at the path `path`."""
    problems: list[ValueProblem] = []
    for name, kind in ENTITY_MAPS.items():
        entities = holder.get(name)
        if not isinstance(entities, dict):  # absent, or reported by `find_type_problems`
            continue
        reversed_path = [name, *reversed(path)]
        for key, entity in cast("Mapping[str, Any]", entities).items():
            if not 0 < len(key) <= ID_CHARS:
                allowed = f"1 to {ID_CHARS} characters"
                problems.append(
                    ValueProblem("has an id that is empty or too long", allowed=allowed, reversed_path=reversed_path)
                )
            for problem in find_type_problems(kind, entity):
                problem.reversed_path += [key, *reversed_path]
                problems.append(problem)
            if len(problems) >= MAX_PROBLEMS:
                return problems
    return problems


def _make_problem(kind: Any, error: ErrorDetails, value: Any) -> ValueProblem:
    path = list(error["loc"])
    if path and path[-1] in _UNION_MEMBERS:
        allowed = "a string or a number"
        return ValueProblem("is neither a string nor a number", allowed=allowed, reversed_path=path[-2::-1])
    if error["type"] == "missing":
        misspelled = _find_misspelled_keys(kind, value, path)
        problem = "is missing" + "".join(f"; there is '{name[:40]}'" for name in misspelled)
        return ValueProblem(problem, allowed=_describe_allowed(kind, error), reversed_path=path[::-1])
    problem = _PROBLEMS.get(error["type"]) or error["msg"].removeprefix("Value error, ").replace("Input ", "")
    problem = problem.replace("String ", "").replace("should", "must")
    return ValueProblem(problem, allowed=_describe_allowed(kind, error), reversed_path=path[::-1])


def _describe_allowed(kind: Any, error: ErrorDetails) -> Any:
    """Return the values that are allowed instead, in words."""
    context = error.get("ctx", {})
    if error["type"] == "missing":
        return describe_type_at(_make_json_schema(kind), [str(part) for part in error["loc"]])
    if "expected" in context:
        return context["expected"]
    if "min_length" in context and error["type"] == "too_short":
        return f"at least {context['min_length']} items"
    if "max_length" in context and error["type"] == "too_long":
        return f"at most {context['max_length']} items"
    return _ALLOWED.get(error["type"]) or error["msg"].removeprefix("Value error, ").replace(
        "Input should be ", ""
    ).removeprefix("should be ")


def _find_misspelled_keys(kind: Any, value: Any, path: list[Any]) -> list[str]:
    """Return the key, if any, beside a missing field that is probably a misspelling of it."""
    for part in path[:-1]:
        value = value[part]
    outer = [str(part) for part in path[:-1]]
    known = find_schema_at(_make_json_schema(kind), outer).get("properties", {}).keys()
    return find_nearest_names(str(path[-1]), [name for name in value if name not in known])[:1] if known else []


@cache
def _make_json_schema(kind: Any) -> JsonSchema:
    return cast("JsonSchema", get_type_adapter(kind).json_schema())


def describe_type_at(schema: JsonSchema, path: Sequence[str]) -> str:
    """Return the type of the field at the path, in words."""
    return describe_type(_find_field_schema(schema, path), schema.get("$defs", {}))


def find_schema_at(schema: JsonSchema, path: Sequence[str]) -> JsonSchema:
    """Return the schema of the field at the path."""
    return resolve_reference(_find_field_schema(schema, path), schema.get("$defs", {}))


def _find_field_schema(schema: JsonSchema, path: Sequence[str]) -> JsonSchema:
    field = schema
    for part in path:
        field = resolve_reference(field, schema.get("$defs", {}))
        field = field.get("items", {}) if part.isdigit() else field.get("properties", {}).get(part, {})
    return field


def resolve_reference(field: JsonSchema, definitions: Mapping[str, JsonSchema]) -> JsonSchema:
    """Return the schema that a reference names, or the only alternative to null."""
    if "$ref" in field:
        return resolve_reference(definitions[field["$ref"].rsplit("/", 1)[1]], definitions)
    alternatives = [one for one in field.get("anyOf", ()) if one.get("type") != "null"]
    return resolve_reference(alternatives[0], definitions) if len(alternatives) == 1 else field


def describe_type(field: JsonSchema, definitions: Mapping[str, JsonSchema]) -> str:
    """Return the type of a field in words, such as `list of string` or `Position or null`."""
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(describe_type(one, definitions) for one in field["anyOf"]))
    if "$ref" in field:
        return field["$ref"].rsplit("/", 1)[1]
    if "enum" in field:
        return " | ".join(f'"{one}"' for one in field["enum"])
    if field.get("type") == "array":
        return f"list of {describe_type(field.get('items', {}), definitions)}"
    if field.get("type") == "object" and isinstance(values := field.get("additionalProperties"), dict):
        return f"map of id to {describe_type(values, definitions)}"
    return str(field.get("type", "any"))
