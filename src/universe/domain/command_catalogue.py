"""Describe commands and entities for agents, OpenAPI and the reference: fields, JSON schemas, examples, refusals."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from inspect import cleandoc
from typing import Any, Final, NotRequired, cast

import orjson
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

from universe.domain.command_parser import EXAMPLES
from universe.domain.command_results import get_refusal_code
from universe.domain.commands import CATEGORIES, COMMAND_CLASSES, COMMAND_TYPES, get_command_type
from universe.domain.state import StateFields
from universe.domain.type_validation import describe_type, get_type_adapter, resolve_reference
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import Json, JsonObject, JsonSchema


class CommandField(TypedDict):
    """A field of a command or of an entity, with its type in words."""

    type: str
    required: bool
    description: NotRequired[str]
    default: NotRequired[Json]
    minimum: NotRequired[float]
    maximum: NotRequired[float]
    fields: NotRequired["dict[str, CommandField]"]


class CommandFacts(TypedDict):
    """A command: its fields with their types in words, an example and its refusals."""

    type: str
    description: str
    fields: dict[str, CommandField]
    example: JsonObject
    refusals: list[str]


class CommandCategory(TypedDict):
    """Commands that belong together, each with its fields, an example and its refusals."""

    name: str
    slug: str
    commands: list[CommandFacts]


class CommandList(TypedDict):
    """All commands, or those of one category."""

    categories: list[CommandCategory]


_ANY_COMMAND: Final[JsonSchema] = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"type": "string", "enum": [*COMMAND_TYPES], "description": "Which of the 25 commands."}},
}
"""The part that the schemas of all commands have in common."""


class AnyCommandShape:
    """A type that accepts any value, which the service checks, and publishes the fields of each command."""

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**make_brief_command_schema()}


def make_brief_command_schema() -> JsonSchema:
    """Return the schema of a command to one level of depth: the names and types of its fields."""
    return {**deepcopy(_ANY_COMMAND), "oneOf": deepcopy(_make_brief_schemas())}


@cache
def _make_brief_schemas() -> list[JsonSchema]:
    return [_make_brief_schema(name) for name in COMMAND_TYPES]


def _make_brief_schema(command_type: str) -> JsonSchema:
    schema = cast("JsonSchema", get_type_adapter(COMMAND_CLASSES[command_type]).json_schema())
    definitions = schema.get("$defs", {})
    fields = schema.get("properties", {})
    properties = {field: _shorten_field_schema(one, definitions) for field, one in fields.items()}
    return {
        "properties": {**properties, "type": {"const": command_type}},
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def _shorten_field_schema(field: JsonSchema, definitions: Mapping[str, JsonSchema]) -> JsonSchema:
    """Return the type, the allowed values and the description of a field, without the fields inside it."""
    if "type" not in field and "anyOf" in field:
        kinds = [resolve_reference(one, definitions).get("type") for one in field["anyOf"]]
        short: JsonSchema = {"type": [str(kind) for kind in kinds]}
    else:
        given = cast("Mapping[str, Json]", resolve_reference(field, definitions))
        short = cast("JsonSchema", {name: given[name] for name in ("type", "enum") if name in given})
    if "description" in field:
        short["description"] = field["description"]
    return short


@cache
def make_openapi_components() -> dict[str, JsonSchema]:
    """Return every schema by its name; the schemas refer to each other as in OpenAPI."""
    return _make_definitions("#/components/schemas/{model}")


@cache
def make_command_schema() -> JsonSchema:
    """Return the complete schema of a command."""
    definitions = _make_definitions("#/$defs/{model}")
    command = definitions.pop("Command")
    del definitions["State"]
    command.pop("discriminator", None)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **command, "$defs": definitions}


def _make_definitions(reference_template: str) -> dict[str, JsonSchema]:
    adapters = [(name, "validation", get_type_adapter(COMMAND_CLASSES[name])) for name in COMMAND_TYPES]
    adapters.append(("State", "validation", TypeAdapter(StateFields)))
    found, shared = TypeAdapter.json_schemas(adapters, ref_template=reference_template)  # pyright: ignore[reportArgumentType]
    definitions: dict[str, JsonSchema] = dict(shared.get("$defs", {}))
    references = [cast("JsonSchema", found[name, "validation"]) for name in COMMAND_TYPES]
    definitions["Command"] = {**_ANY_COMMAND, "oneOf": references, "discriminator": {"propertyName": "type"}}
    definitions["State"] = cast("JsonSchema", found["State", "validation"])
    return definitions


def describe_command_fields(command_type: str) -> dict[str, CommandField]:
    """Return the fields of a command type, each with its type in words."""
    schema = cast("JsonSchema", get_type_adapter(COMMAND_CLASSES[command_type]).json_schema())
    return _describe_fields(schema, schema.get("$defs", {}), depth=2)


def describe_entity_fields(schema: JsonSchema) -> dict[str, CommandField]:
    """Return the fields of one of the OpenAPI components, each with its type in words."""
    return _describe_fields(schema, make_openapi_components(), depth=0)


def _describe_fields(schema: JsonSchema, definitions: Mapping[str, JsonSchema], depth: int) -> dict[str, CommandField]:
    """Return the fields of a schema, required fields first, with inner fields down to `depth` levels."""
    required = schema.get("required", [])
    described: dict[str, CommandField] = {}
    properties = schema.get("properties", {})
    for name in sorted(properties, key=lambda one: one not in required):
        field = properties[name]
        if name == "type" and "const" in field:
            continue
        described[name] = _describe_field(field, definitions, depth, is_required=name in required)
    return described


def _describe_field(
    field: JsonSchema, definitions: Mapping[str, JsonSchema], depth: int, *, is_required: bool
) -> CommandField:
    resolved = resolve_reference(field, definitions)
    given = cast("Mapping[str, Json]", resolved)
    facts = {name: given[name] for name in ("description", "default", "minimum", "maximum") if name in given}
    described = cast("CommandField", {"type": describe_type(field, definitions), **facts})
    if description := field.get("description"):
        described["description"] = description
    if depth and "properties" in resolved:
        described["fields"] = _describe_fields(resolved, definitions, depth - 1)
    described["required"] = is_required
    return described


_REFUSALS: Final[dict[str, tuple[str, ...]]] = {
    "tick": ("tickFailed",),
    "addStar": ("addStarFailed",),
    "updateStar": ("starNotFound", "updateStarFailed"),
    "removeStar": ("starNotFound",),
    "attachStar": ("attachFailed",),
    "detachStar": ("detachFailed",),
    "addGroup": ("addGroupFailed",),
    "updateGroup": ("groupNotFound", "updateGroupFailed"),
    "removeGroup": ("groupNotFound", "removeGroupFailed"),
    "addToGroup": ("groupNotFound", "childAlreadyInGroup", "addToGroupFailed"),
    "removeFromGroup": ("groupNotFound", "childNotInGroup"),
    "moveToGroup": ("groupNotFound", "moveToGroupFailed"),
    "updateSmallBodyField": ("smallBodyFieldNotFound",),
    "updateProtoplanetaryDisk": ("protoplanetaryDiskNotFound",),
    "updateNebula": ("nebulaNotFound",),
    "updateRing": ("starNotFound",),
    "removeRing": ("ringNotFound",),
    "replaceSnapshot": ("replaceSnapshotFailed",),
}
"""The events that refuse each command."""

SLUGS: Final = [slug for _, slug, _ in CATEGORIES]


class UnknownCategory(InvalidInput):
    """The category of commands does not exist."""

    code = "unknown_category"
    status = 400


@cache
def list_command_categories() -> list[CommandCategory]:
    """Return all ten categories with their commands."""
    return [
        {"name": name, "slug": slug, "commands": [_describe_command(get_command_type(kind)) for kind in kinds]}
        for name, slug, kinds in CATEGORIES
    ]


def get_category(slug_or_name: str) -> CommandCategory:
    """Return one category, by slug or name. Raise UnknownCategory."""
    for one in list_command_categories():
        if slug_or_name in (one["slug"], one["name"]):
            return one
    raise UnknownCategory(
        f"There is no category '{slug_or_name[:60]}'.", hint=f"Use one of: {', '.join(SLUGS)}.", allowed=SLUGS
    )


def _describe_command(command_type: str) -> CommandFacts:
    return {
        "type": command_type,
        "description": cleandoc(COMMAND_CLASSES[command_type].__doc__),
        "fields": describe_command_fields(command_type),
        "example": EXAMPLES[command_type],
        "refusals": [f"{event} ({get_refusal_code(event)})" for event in _REFUSALS.get(command_type, ())],
    }


_ENTITIES: Final = (
    "Star",
    "PlanetaryRing",
    "Kepler",
    "StateVector",
    "Source",
    "CometMeta",
    "LagrangePointMeta",
    "BlackHoleProperties",
    "RoguePlanetMeta",
    "Group",
    "GroupChild",
    "SmallBodyField",
    "ProtoplanetaryDisk",
    "NebulaRegion",
    "AsteroidBelt",
    "Position",
)


def render_markdown_reference() -> str:
    return "\n".join([*_render_command_lines(), *_render_entity_lines()])


def _render_entity_lines() -> list[str]:
    lines = ["# Entities", "", "Other fields are stored unchanged. Optional fields may be null.", ""]
    for name in _ENTITIES:
        schema = make_openapi_components()[name]
        description = cleandoc(schema.get("description", ""))
        lines += [f"## {name}", "", *([description, ""] if description else []), "| field | type | |", "|---|---|---|"]
        lines += [_render_field_row(field, facts) for field, facts in describe_entity_fields(schema).items()]
        lines.append("")
    return lines


def _render_command_lines() -> list[str]:
    lines = ["# Commands", ""]
    for one in list_command_categories():
        lines += [f"## {one['name']}", ""]
        for command in one["commands"]:
            lines += [f"### `{command['type']}`", "", command["description"], "", "| field | type | |", "|---|---|---|"]
            lines += [_render_field_row(name, field) for name, field in command["fields"].items()]
            refusals = ", ".join(f"`{refusal}`" for refusal in command["refusals"]) or "none"
            lines += ["", f"Refusals: {refusals}.", "", "```json", _encode_json(command["example"]), "```", ""]
    return lines


def _render_field_row(name: str, field: CommandField) -> str:
    kind = field["type"].replace("|", "\\|")
    notes = [field.get("description", ""), "" if field["required"] else f"Optional{_format_default(field)}."]
    return f"| `{name}` | {kind} | {' '.join(note for note in notes if note)} |"


def _format_default(field: CommandField) -> str:
    return f", {field['default']} if left out" if "default" in field else ""


def _encode_json(value: Any) -> str:
    return orjson.dumps(value).decode()
