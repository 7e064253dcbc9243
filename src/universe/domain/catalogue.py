"""The commands told to people and agents: by category, with fields, an example and what is refused."""

from functools import cache
from inspect import cleandoc
from typing import Any, Final

import orjson

from universe.domain.commands import CATEGORIES, KINDS, type_of
from universe.domain.events import meaning
from universe.domain.examples import EXAMPLES
from universe.domain.schemas import components, fields_in, fields_of
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
"""The events of each command that mean it was refused."""

SLUGS: Final = [slug for _, slug, _ in CATEGORIES]


class UnknownCategory(InvalidInput):
    code = "unknown_category"
    status = 400


@cache
def categories() -> list[dict[str, Any]]:
    """All ten categories with their commands."""
    return [
        {"name": name, "slug": slug, "commands": [_told(type_of(kind)) for kind in kinds]}
        for name, slug, kinds in CATEGORIES
    ]


def category(slug: str) -> dict[str, Any]:
    """One category, by slug or name. Raises UnknownCategory."""
    for one in categories():
        if slug in (one["slug"], one["name"]):
            return one
    raise UnknownCategory(
        f"There is no category '{slug[:60]}'.", hint=f"Use one of: {', '.join(SLUGS)}.", allowed=SLUGS
    )


def _told(name: str) -> dict[str, Any]:
    return {
        "type": name,
        "description": cleandoc(KINDS[name].__doc__),
        "fields": fields_of(name),
        "example": EXAMPLES[name],
        "refusals": [f"{event} ({meaning(event)})" for event in _REFUSALS.get(name, ())],
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


def as_markdown() -> str:
    """Commands and entities as a page to read."""
    return "\n".join([*_commands_told(), *_entities_told()])


def _entities_told() -> list[str]:
    lines = ["# Entities", "", "Fields beyond these are kept as they come. Optional ones may be null.", ""]
    for name in _ENTITIES:
        schema = components()[name]
        said = cleandoc(schema.get("description", ""))
        lines += [f"## {name}", "", *([said, ""] if said else []), "| field | type | |", "|---|---|---|"]
        lines += [_row(field, told) for field, told in fields_in(schema).items()]
        lines.append("")
    return lines


def _commands_told() -> list[str]:
    lines = ["# Commands", ""]
    for one in categories():
        lines += [f"## {one['name']}", ""]
        for command in one["commands"]:
            lines += [f"### `{command['type']}`", "", command["description"], "", "| field | type | |", "|---|---|---|"]
            lines += [_row(name, field) for name, field in command["fields"].items()]
            refusals = ", ".join(f"`{refusal}`" for refusal in command["refusals"]) or "none"
            lines += ["", f"Refusals: {refusals}.", "", "```json", _json(command["example"]), "```", ""]
    return lines


def _row(name: str, field: dict[str, Any]) -> str:
    kind = field["type"].replace("|", "\\|")
    notes = [field.get("description", ""), "" if field["required"] else f"Optional{_default(field)}."]
    return f"| `{name}` | {kind} | {' '.join(note for note in notes if note)} |"


def _default(field: dict[str, Any]) -> str:
    return f", {field['default']} if left out" if "default" in field else ""


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
