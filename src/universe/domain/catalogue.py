"""The commands told to people and agents: by category, with fields, an example and what is refused."""

from functools import cache
from inspect import cleandoc
from typing import Any, Final

import orjson

from universe.domain.commands import CATEGORIES, KINDS, type_of
from universe.domain.events import meaning
from universe.domain.schemas import components, fields_in, fields_of
from uraniborg.kernel.errors import InvalidInput

_STAR: Final = {
    "name": "Earth",
    "mass": 3.0e-6,
    "radius": 0.5,
    "color": "#4A90E2",
    "parentId": "sun",
    "orbitalDistance": 10,
    "orbitalSpeed": 1,
    "orbitalPhase": 100,
    "bodyType": "planet",
}
_PARTICLES: Final = {
    "systemId": "sun",
    "innerRadius": 20,
    "outerRadius": 30,
    "thickness": 1,
    "particleCount": 2000,
    "baseColor": "#8B7355",
    "highlightColor": "#CCCCCC",
    "opacity": 0.7,
    "brightness": 1,
    "clumpiness": 0.2,
    "rotationSpeedMultiplier": 1,
    "seed": 7,
}
_FIELD: Final = {
    "id": "belt",
    **_PARTICLES,
    "hostStarId": "sun",
    "beltType": "main",
    "regionLabel": "main belt",
    "isIcy": False,
    "style": "moderate",
}
_DISK: Final = {"id": "disk", **_PARTICLES, "centralStarId": "sun", "style": "thin"}
_NEBULA: Final = {
    "id": "veil",
    "name": "Veil",
    "position": {"x": 0, "y": 0, "z": 900},
    "radius": 120,
    "density": 0.4,
    "brightness": 0.5,
    "baseColor": "#4A90E2",
    "accentColor": "#E25822",
    "noiseScale": 1.5,
    "noiseDetail": 3,
    "seed": "veil",
}

EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "tick": {"type": "tick", "dt": 1},
    "addStar": {"type": "addStar", "id": "earth", "payload": _STAR},
    "updateStar": {"type": "updateStar", "id": "earth", "payload": {"name": "Terra", "color": "#3FA7FF"}},
    "removeStar": {"type": "removeStar", "id": "earth"},
    "attachStar": {"type": "attachStar", "childId": "moon", "parentId": "earth"},
    "detachStar": {"type": "detachStar", "childId": "moon"},
    "addGroup": {
        "type": "addGroup",
        "id": "milky-way",
        "payload": {"name": "Milky Way", "children": [], "parentGroupId": None},
    },
    "updateGroup": {"type": "updateGroup", "id": "milky-way", "payload": {"color": "#9BB0FF"}},
    "removeGroup": {"type": "removeGroup", "id": "milky-way"},
    "addToGroup": {"type": "addToGroup", "groupId": "milky-way", "child": {"id": "sun", "type": "system"}},
    "removeFromGroup": {"type": "removeFromGroup", "groupId": "milky-way", "childId": "sun"},
    "moveToGroup": {"type": "moveToGroup", "childId": "sun", "childType": "system", "targetGroupId": "milky-way"},
    "setSmallBodyFields": {"type": "setSmallBodyFields", "fields": {"belt": _FIELD}},
    "updateSmallBodyField": {"type": "updateSmallBodyField", "id": "belt", "patch": {"opacity": 0.4}},
    "removeSmallBodyField": {"type": "removeSmallBodyField", "id": "belt"},
    "setProtoplanetaryDisks": {"type": "setProtoplanetaryDisks", "disks": {"disk": _DISK}},
    "addProtoplanetaryDisk": {"type": "addProtoplanetaryDisk", "disk": _DISK},
    "updateProtoplanetaryDisk": {"type": "updateProtoplanetaryDisk", "id": "disk", "patch": {"style": "thick"}},
    "removeProtoplanetaryDisk": {"type": "removeProtoplanetaryDisk", "id": "disk"},
    "setNebulae": {"type": "setNebulae", "nebulae": {"veil": _NEBULA}},
    "updateNebula": {"type": "updateNebula", "id": "veil", "patch": {"brightness": 0.8}},
    "removeNebula": {"type": "removeNebula", "id": "veil"},
    "updateRing": {"type": "updateRing", "planetId": "saturn", "patch": {"outerRadiusMultiplier": 2.3}},
    "removeRing": {"type": "removeRing", "planetId": "saturn"},
    "replaceSnapshot": {
        "type": "replaceSnapshot",
        "snapshot": {"stars": {}, "rootIds": [], "groups": {}, "rootGroupIds": []},
    },
}

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
