"""Sample entities, commands and states."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from universe.domain.command_parser import parse_command
from universe.domain.command_results import Event
from universe.domain.reducer import CommandOutcome, apply, reduce
from universe.domain.state import EMPTY, State

Json = Any

EMPTY_STATE: Final[Json] = {
    "stars": {},
    "rootIds": [],
    "groups": {},
    "rootGroupIds": [],
    "belts": {},
    "smallBodyFields": {},
    "protoplanetaryDisks": {},
    "nebulae": {},
    "time": 0,
}
POSITION: Final[Json] = {"x": 1.0, "y": -2.5, "z": 3}
RING: Final[Json] = {
    "innerRadiusMultiplier": 1.2,
    "outerRadiusMultiplier": 2.4,
    "thickness": 0.1,
    "opacity": 0.7,
    "albedo": 0.5,
    "color": "#c0ffee",
    "density": 0.4,
}


def a_payload(parent: str | None = None, /, **facts: Any) -> Json:
    """Return the payload of an addStar command."""
    return {
        "name": "Tyge",
        "mass": 3.5,
        "radius": 2,
        "color": "#ffcc00",
        "parentId": parent,
        "orbitalDistance": 12.5,
        "orbitalSpeed": 4,
        "orbitalPhase": 90,
        **facts,
    }


def a_body(key: str, parent: str | None = None, children: Iterable[str] = (), /, **facts: Any) -> Json:
    """Return a body as it appears in a state."""
    return {**a_payload(parent), "id": key, "children": list(children), **facts}


def a_group_payload(parent: str | None = None, /, *children: Json, **facts: Any) -> Json:
    return {"name": "Hven", "children": list(children), "parentGroupId": parent, **facts}


def a_group(key: str, parent: str | None = None, /, *children: Json, **facts: Any) -> Json:
    return {**a_group_payload(parent, *children), "id": key, **facts}


def make_member(key: str, kind: str = "group") -> Json:
    """Return an entry of a group's list of children."""
    return {"id": key, "type": kind}


def _particles(key: str) -> Json:
    return {
        "id": key,
        "systemId": "sun",
        "innerRadius": 1,
        "outerRadius": 2.5,
        "thickness": 0.25,
        "particleCount": 5000,
        "baseColor": "#111111",
        "highlightColor": "#eeeeee",
        "opacity": 0.5,
        "brightness": 1.5,
        "clumpiness": 0.1,
        "rotationSpeedMultiplier": 1,
        "seed": "hven",
    }


def a_field(key: str = "f", /, **facts: Any) -> Json:
    belt = {"hostStarId": "sun", "beltType": "main", "regionLabel": "Main", "isIcy": False, "style": "thin"}
    return {**_particles(key), **belt, **facts}


def a_disk(key: str = "d", /, **facts: Any) -> Json:
    return {**_particles(key), "centralStarId": "sun", "style": "extreme", **facts}


def a_nebula(key: str = "n", /, **facts: Any) -> Json:
    return {
        "id": key,
        "name": "Veil",
        "position": dict(POSITION),
        "radius": 80,
        "density": 0.5,
        "brightness": 0.25,
        "baseColor": "#222222",
        "accentColor": "#dddddd",
        "noiseScale": 1.5,
        "noiseDetail": 3,
        "seed": 7,
        **facts,
    }


def a_belt(key: str = "b", /, **facts: Any) -> Json:
    return {
        "id": key,
        "name": "Old",
        "parentId": "sun",
        "innerRadius": 1,
        "outerRadius": 2,
        "thickness": 0.1,
        "eccentricity": 0.05,
        "inclination": 3,
        "asteroidCount": 10,
        "asteroidIds": ["a1"],
        **facts,
    }


def a_snapshot(**parts: Any) -> Json:
    return {**{name: value for name, value in EMPTY_STATE.items() if name != "time"}, **parts}


EXAMPLES: Final[dict[str, Json]] = {
    "tick": {"dt": 0.5},
    "addStar": {"id": "sun", "payload": a_payload(ring=RING)},
    "updateStar": {"id": "sun", "payload": {"mass": 9}},
    "removeStar": {"id": "sun"},
    "attachStar": {"childId": "earth", "parentId": "sun"},
    "detachStar": {"childId": "earth"},
    "addGroup": {"id": "g", "payload": a_group_payload(None, make_member("sun", "system"), position=POSITION)},
    "updateGroup": {"id": "g", "payload": {"name": "Scania"}},
    "removeGroup": {"id": "g"},
    "addToGroup": {"groupId": "g", "child": make_member("sun", "system")},
    "removeFromGroup": {"groupId": "g", "childId": "sun"},
    "moveToGroup": {"childId": "sun", "childType": "system", "targetGroupId": None},
    "setSmallBodyFields": {"fields": {"f": a_field()}},
    "updateSmallBodyField": {"id": "f", "patch": {"opacity": 0.1}},
    "removeSmallBodyField": {"id": "f"},
    "setProtoplanetaryDisks": {"disks": {"d": a_disk()}},
    "addProtoplanetaryDisk": {"disk": a_disk()},
    "updateProtoplanetaryDisk": {"id": "d", "patch": {"opacity": 0.1}},
    "removeProtoplanetaryDisk": {"id": "d"},
    "setNebulae": {"nebulae": {"n": a_nebula()}},
    "updateNebula": {"id": "n", "patch": {"radius": 3}},
    "removeNebula": {"id": "n"},
    "updateRing": {"planetId": "sun", "patch": {"opacity": 0.3}},
    "removeRing": {"planetId": "sun"},
    "replaceSnapshot": {"snapshot": a_snapshot(stars={"sun": a_body("sun")}, rootIds=["sun"])},
}
"""A well-formed command of each kind, without its type."""


def command(kind: str, /, **fields: Any) -> Json:
    return {"type": kind, **fields}


def example(kind: str, /) -> Json:
    """Return a new well-formed command of this kind."""
    return _copy_deep(command(kind, **EXAMPLES[kind]))


def _copy_deep(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _copy_deep(item) for name, item in cast("Mapping[str, Any]", value).items()}
    return [_copy_deep(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def add_star(key: str, parent: str | None = None, /, **facts: Any) -> Json:
    return command("addStar", id=key, payload=a_payload(parent, **facts))


def add_group(key: str, parent: str | None = None, /, *children: Json, **facts: Any) -> Json:
    return command("addGroup", id=key, payload=a_group_payload(parent, *children, **facts))


def apply_commands(*commands: Json, start: State = EMPTY) -> State:
    """Return the state after these commands, none of which is refused."""
    state = start
    for each in commands:
        state = apply_accepted(state, each).state
    return state


def outcome(state: State, given: Json) -> CommandOutcome:
    return reduce(state, parse_command(given))


def apply_accepted(state: State, given: Json) -> CommandOutcome:
    found = outcome(state, given)
    assert not found.is_refused, found.events
    assert found.state is not state
    return found


def apply_refused(state: State, given: Json) -> Event:
    """Return the event of a command that must be refused and must leave the state unchanged."""
    found = outcome(state, given)
    assert found.is_refused, found.events
    assert found.state is state
    assert found.touched == {}
    assert apply(state, given) == (state, found.events)
    [event] = found.events
    return event


def parse(given: object) -> Any:
    """Return a command that was parsed, as plain JSON."""
    return parse_command(given)
