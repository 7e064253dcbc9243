"""Checks that hold for every generated universe, from its plain state."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from universe.domain.state import Plain

State = Plain
Body = Mapping[str, Any]

KEYS = [
    "stars",
    "rootIds",
    "groups",
    "rootGroupIds",
    "belts",
    "smallBodyFields",
    "protoplanetaryDisks",
    "nebulae",
    "time",
]
EVERYTHING: dict[str, Any] = {
    "enableGroups": True,
    "enableAsteroidBelts": True,
    "enableKuiperBelt": True,
    "enablePlanetaryRings": True,
    "ringFrequency": 1.0,
    "enableComets": True,
    "cometFrequency": 1.0,
    "enableLagrangePoints": True,
    "lagrangePairScope": "both",
    "trojanFrequency": 1.0,
    "enableProtoplanetaryDisks": True,
    "protoplanetaryDiskPresence": 1.0,
    "enableNebulae": True,
    "enableRoguePlanets": True,
    "roguePlanetFrequency": 1.0,
    "enableBlackHoles": True,
    "blackHoleRarityStyle": "common",
    "blackHoleAllowMultiplePerSystem": True,
    "orbitEccentricityStyle": "eccentric",
    "orbitOffsetEnabled": True,
}


def list_bodies(state: State, kind: str) -> list[dict[str, Any]]:
    return [body for body in state["stars"].values() if body["bodyType"] == kind and "roguePlanet" not in body]


def list_rogues(state: State) -> list[dict[str, Any]]:
    return [body for body in state["stars"].values() if "roguePlanet" in body]


def list_satellites(state: State, kind: str) -> list[dict[str, Any]]:
    """Moons whose parent is of this kind."""
    return [body for body in list_bodies(state, "moon") if state["stars"][body["parentId"]]["bodyType"] == kind]


def compute_position(body: Body, time: float) -> tuple[float, float, float]:
    """Relative to the parent, by the simple rule: an ellipse around it, gone round evenly."""
    a = body["semiMajorAxis"]
    b = a * math.sqrt(1 - body.get("eccentricity", 0) ** 2)
    angle = math.radians(time * body["orbitalSpeed"] + body["orbitalPhase"])
    x, y, z = a * math.cos(angle), 0.0, b * math.sin(angle)
    turn = math.radians(body["orbitRotZ"])
    x, y = x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn)
    turn = math.radians(body["orbitRotY"])
    x, z = x * math.cos(turn) + z * math.sin(turn), -x * math.sin(turn) + z * math.cos(turn)
    turn = math.radians(body["orbitRotX"])
    y, z = y * math.cos(turn) - z * math.sin(turn), y * math.sin(turn) + z * math.cos(turn)
    x, y, z = (value + body.get(f"orbitOffset{axis}", 0) for value, axis in zip((x, y, z), "XYZ", strict=True))
    return x, y, z


def compute_distance_range(body: Body) -> tuple[float, float]:
    """Return the smallest and the largest distance of a body from its parent's centre."""
    shift = math.hypot(*(body.get(f"orbitOffset{axis}", 0) for axis in "XYZ"))
    a, e = body["orbitalDistance"], body.get("eccentricity", 0)
    return a * math.sqrt(1 - e * e) - shift, a + shift


def find_hierarchy_problems(state: State) -> Iterator[str]:
    stars = state["stars"]
    if list(state) != KEYS or state["time"] != 0 or state["belts"]:
        yield "not an empty universe's nine keys"
    for key, body in stars.items():
        if body["id"] != key:
            yield f"{key} says it is {body['id']}"
        if (body["parentId"] is None) != (key in state["rootIds"]):
            yield f"{key} is a root by one account only"
        if body["parentId"] is not None and key not in stars.get(body["parentId"], {"children": ()})["children"]:
            yield f"{key} is not listed by its parent"
        for child in body["children"]:
            if stars.get(child, {}).get("parentId") != key:
                yield f"{key} lists {child}, which is not its child"
        if len(set(body["children"])) != len(body["children"]):
            yield f"{key} lists a child twice"
    if sorted(list_reachable_ids(state)) != sorted(stars):
        yield "not every body is reached exactly once from the roots"


def list_reachable_ids(state: State) -> list[str]:
    waiting, seen = list(state["rootIds"]), list[str]()
    while waiting and len(seen) <= len(state["stars"]):
        seen.append(waiting.pop())
        waiting.extend(state["stars"].get(seen[-1], {"children": ()})["children"])
    return seen


def find_reference_problems(state: State) -> Iterator[str]:
    stars, groups = state["stars"], state["groups"]
    for body in stars.values():
        point = body.get("lagrangePoint")
        if point and not (point["primaryId"] == body["parentId"] == stars[point["secondaryId"]]["parentId"]):
            yield f"{body['id']} does not stand between a body and its parent"
        host = body.get("lagrangeHostId")
        if host is not None and stars[host]["bodyType"] != "lagrangePoint":
            yield f"{body['id']} has no Lagrange point"
    for entities, host in ((state["smallBodyFields"], "hostStarId"), (state["protoplanetaryDisks"], "centralStarId")):
        for key, entity in entities.items():
            if entity["id"] != key or entity[host] not in stars or entity["systemId"] not in state["rootIds"]:
                yield f"{key} belongs to nothing"
    for key, nebula in state["nebulae"].items():
        if nebula["id"] != key or any(group not in groups for group in nebula.get("associatedGroupIds", ())):
            yield f"{key} belongs to nothing"
    yield from _group_problems(state)


def _group_problems(state: State) -> Iterator[str]:
    groups = state["groups"]
    systems = [child["id"] for group in groups.values() for child in group["children"] if child["type"] == "system"]
    roots = [key for key in state["rootIds"] if "roguePlanet" not in state["stars"].get(key, {})]
    if groups and sorted(systems) != sorted(roots):
        yield "a system is in no group or in several"
    if len(groups) > len(roots):
        yield "more groups than systems"
    if state["rootGroupIds"] != [key for key, group in groups.items() if group["parentGroupId"] is None]:
        yield "root groups are not those without a parent"
    for key, group in groups.items():
        listed = [child["id"] for child in group["children"] if child["type"] == "group"]
        if group["id"] != key or listed != [k for k, other in groups.items() if other["parentGroupId"] == key]:
            yield f"group {key} does not list what is in it"
        seen = [key]
        while (above := groups[seen[-1]]["parentGroupId"]) is not None:
            if above in seen:
                yield f"group {key} is inside itself"
                break
            seen.append(above)


def find_physics_problems(state: State) -> Iterator[str]:
    for body in state["stars"].values():
        if not (0 < body["mass"] < math.inf and 0 < body["radius"] < math.inf):
            yield f"{body['id']} has no mass or no size"
        if not 0 <= body.get("eccentricity", 0) < 1:
            yield f"{body['id']} has eccentricity {body['eccentricity']}"
        if not (0 <= body["orbitalPhase"] < 360 and body["orbitalDistance"] >= 0 and body["orbitalSpeed"] >= 0):
            yield f"{body['id']} has no orbit"
        ring, hole = body.get("ring"), body.get("blackHole")
        if ring and not 1 < ring["innerRadiusMultiplier"] < ring["outerRadiusMultiplier"]:
            yield f"the ring of {body['id']} is inside out"
        if hole and not hole["shadowRadius"] < hole["accretionInnerRadius"] < hole["accretionOuterRadius"]:
            yield f"the disk of {body['id']} is inside out"
        yield from _neighbour_problems(state, body)
    for name in ("smallBodyFields", "protoplanetaryDisks"):
        for entity in state[name].values():
            if not 0 < entity["innerRadius"] < entity["outerRadius"]:
                yield f"{entity['id']} is inside out"


def _neighbour_problems(state: State, host: Body) -> Iterator[str]:
    """Planets, and moons, keep out of each other's shells; each one's moons stay nearer to it than its neighbours."""
    kinds = ("planet",) if host["parentId"] is None else ("moon",)
    bodies = [state["stars"][child] for child in host["children"] if state["stars"][child]["bodyType"] in kinds]
    bodies.sort(key=lambda body: body["orbitalDistance"])
    edges = [(0.0, host["radius"]), *(compute_distance_range(body) for body in bodies)]
    for index, body in enumerate(bodies, start=1):
        gap = edges[index][0] - edges[index - 1][1]
        if index + 1 < len(edges):
            gap = min(gap, edges[index + 1][0] - edges[index][1])
        moons = [state["stars"][key] for key in body["children"] if state["stars"][key]["bodyType"] == "moon"]
        widest = max((compute_distance_range(moon)[1] + moon["radius"] for moon in moons), default=body["radius"])
        if gap <= 0 or widest >= gap / 2:
            yield f"{body['id']} reaches {widest} where its neighbours are {gap} away"


def find_problems(state: State) -> list[str]:
    return [*find_hierarchy_problems(state), *find_reference_problems(state), *find_physics_problems(state)]
