"""Describe all commands and entities for agents and the reference: fields, examples and refusals."""

from functools import cache
from inspect import cleandoc
from typing import Any, Final

import orjson

from universe.domain.command_examples import EXAMPLES
from universe.domain.command_replies import CommandCategory, CommandFacts, CommandField
from universe.domain.commands import CATEGORIES, COMMAND_CLASSES, get_command_type
from universe.domain.events_and_refusals import get_refusal_code
from universe.domain.schemas import describe_command_fields, describe_entity_fields, make_openapi_components
from uraniborg.kernel.errors import InvalidInput

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
