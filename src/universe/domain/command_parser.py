"""Parse commands: `parse_command` checks any value, and errors have a valid example of the command."""

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any, Final, cast

from universe.domain.command_field_types import SNAPSHOT_PARTS, Shape
from universe.domain.commands import COMMAND_CLASSES, COMMAND_TYPES, DEFAULT_DT, Command
from universe.domain.json_copies import (
    ValueProblem,
    check_and_copy_json_object,
    copy_small_json_object,
    raise_first_problem_if_any,
)
from universe.domain.names_and_numbers import find_nearest_commands
from universe.domain.type_validation import (
    MAX_PROBLEMS,
    find_entity_map_problems,
    find_field_problems,
    get_type_adapter,
)
from universe.errors import MalformedCommand, UnknownCommand
from uraniborg.kernel.json_values import JsonObject

_TYPES_WITH_MAPS: Final = ("setSmallBodyFields", "setProtoplanetaryDisks", "setNebulae")
_SIMPLE_TYPES: Final = frozenset(COMMAND_TYPES) - {*_TYPES_WITH_MAPS, "replaceSnapshot"}
"""Commands that are valid if they have the type of their class, which allows no other fields."""
_SMALL_BYTES: Final = 4_096


def parse_command(given: Any) -> Command:
    """Return a copy of `given` as a command.

    Raise UnknownCommand, or MalformedCommand with every problem and a valid example.
    """
    claimed: Any = cast("Mapping[str, Any]", given).get("type") if isinstance(given, Mapping) else None
    name = claimed if isinstance(claimed, str) and claimed in COMMAND_CLASSES else ""
    try:
        command = check_and_copy_json_object(given, expected_in_error="an object with a type")
        name = _read_command_type(command)
        raise_first_problem_if_any(_find_command_problems(name, command)[:MAX_PROBLEMS])
    except ValueProblem as first:
        problems = [problem.to_json() for problem in (first, *first.others)]
        raise MalformedCommand.from_problems(problems, command=name, example=EXAMPLES[name or "tick"]) from None
    if name == "tick":
        command.setdefault("dt", DEFAULT_DT)
    return cast("Command", command)


def parse_small_command(given: Any) -> Command | None:
    """Return a copy of `given` if it is a valid command and small; None if `parse_command` must look at it."""
    command = copy_small_json_object(given, _SMALL_BYTES)
    if command is None:
        return None
    name = command.get("type")
    if not isinstance(name, str) or name not in _SIMPLE_TYPES or not _get_type_check(name)(command):
        return None
    if name == "tick":
        command.setdefault("dt", DEFAULT_DT)
    return cast("Command", command)


@cache
def _get_type_check(command_type: str) -> Callable[[Any], bool]:
    return get_type_adapter(COMMAND_CLASSES[command_type]).validator.isinstance_python


def _find_command_problems(command_type: str, command: JsonObject) -> list[ValueProblem]:
    problems = find_field_problems(
        COMMAND_CLASSES[command_type], command, f"the command {command_type}", get_inner_fields_by_block(command_type)
    )
    if command_type in _TYPES_WITH_MAPS:
        return problems + find_entity_map_problems(command)
    if command_type == "replaceSnapshot" and isinstance(snapshot := command.get("snapshot"), dict):
        return problems + _find_snapshot_problems(snapshot)
    return problems


def _find_snapshot_problems(snapshot: Mapping[str, Any]) -> list[ValueProblem]:
    problems = find_entity_map_problems(snapshot, "snapshot")
    if {"stars", "rootIds"} <= snapshot.keys() and not snapshot.keys() & set(SNAPSHOT_PARTS):
        # Groups, belts, disks and nebulae would be deleted although the sender did not mention them.
        allowed = f"stars, rootIds and at least one of {', '.join(SNAPSHOT_PARTS)}"
        problems.append(ValueProblem("has only stars and rootIds", allowed=allowed, reversed_path=["snapshot"]))
    return problems


@cache
def get_inner_fields_by_block(command_type: str) -> dict[str, Collection[str]]:
    """Return the names of the fields inside the payload, patch, disk or child of a command type."""
    hints = COMMAND_CLASSES[command_type].__annotations__
    shapes = {name: getattr(hint, "__metadata__", (None,))[0] for name, hint in hints.items()}
    return {name: shape.shape.__annotations__ for name, shape in shapes.items() if isinstance(shape, Shape)}


def _read_command_type(command: JsonObject) -> str:
    """Return the type of a command. Raise ValueProblem if it is missing, UnknownCommand if it is not a known type."""
    name = command.get("type")
    if not isinstance(name, str):
        problem = "is missing" if name is None else "is not a string"
        raise ValueProblem(problem, allowed=", ".join(COMMAND_TYPES), reversed_path=["type"])
    if name not in COMMAND_CLASSES:
        nearest = find_nearest_commands(name, COMMAND_TYPES)
        raise UnknownCommand(name, COMMAND_TYPES, nearest, EXAMPLES[nearest[0]] if nearest else None)
    return name


_STAR: Final[JsonObject] = {
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
_PARTICLES: Final[JsonObject] = {
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
_FIELD: Final[JsonObject] = {
    "id": "belt",
    **_PARTICLES,
    "hostStarId": "sun",
    "beltType": "main",
    "regionLabel": "main belt",
    "isIcy": False,
    "style": "moderate",
}
_DISK: Final[JsonObject] = {"id": "disk", **_PARTICLES, "centralStarId": "sun", "style": "thin"}
_NEBULA: Final[JsonObject] = {
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

EXAMPLES: Final[dict[str, JsonObject]] = {
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
