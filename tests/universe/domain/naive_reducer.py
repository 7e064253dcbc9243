"""A second, naive implementation of the 25 commands on a copy of the whole state."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

Json = dict[str, Any]


def reduce_naively(state: Json, command: Json) -> tuple[Json, list[Json], bool]:
    """Return the state after the command, the events, and whether the command was refused. Cycles are accepted."""
    after = deepcopy(state)
    given = deepcopy(command)
    answer = RULES[given["type"]](after, given)
    if isinstance(answer, _Refused):
        return state, [answer.event], True
    return after, [] if answer is None else [answer], False


class _Refused:
    def __init__(self, kind: str, **facts: Any) -> None:
        self.event = {"type": kind, **facts}


Answer = Json | _Refused | None


def _tick(state: Json, command: Json) -> Answer:
    time = state["time"] + command["dt"]
    if abs(time) == float("inf"):
        return _Refused("tickFailed", reason="overflow", dt=command["dt"])
    state["time"] = float(time) if not -(2**53) <= time <= 2**53 else time
    return None


def _add_star(state: Json, command: Json) -> Answer:
    key, body = command["id"], command["payload"]
    body["id"], body["children"] = key, []
    if body.get("orbitalPhase") is None:
        body["orbitalPhase"] = 0
    state["stars"][key] = body
    if body["parentId"] is None:
        state["rootIds"].append(key)
    elif body["parentId"] in state["stars"]:
        state["stars"][body["parentId"]]["children"].append(key)
    return {"type": "starAdded", "id": key}


def _update_star(state: Json, command: Json) -> Answer:
    if command["id"] not in state["stars"]:
        return _Refused("starNotFound", id=command["id"])
    state["stars"][command["id"]].update(command["payload"])
    return {"type": "starUpdated", "id": command["id"]}


def _remove_star(state: Json, command: Json) -> Answer:
    key, stars = command["id"], state["stars"]
    if key not in stars:
        return _Refused("starNotFound", id=key)
    parent = stars[key]["parentId"]
    removed: dict[str, None] = {}

    def descend(each: str) -> None:
        if each not in removed:
            removed[each] = None
            for child in stars[each]["children"] if each in stars else ():
                descend(child)

    descend(key)
    for each in removed:
        stars.pop(each, None)
    if parent in stars:
        stars[parent]["children"] = [child for child in stars[parent]["children"] if child != key]
    state["rootIds"] = [root for root in state["rootIds"] if root not in removed]
    return {"type": "starRemoved", "id": key, "removedIds": list(removed)}


def _attach_star(state: Json, command: Json) -> Answer:
    child, parent, stars = command["childId"], command["parentId"], state["stars"]
    if child not in stars or parent not in stars:
        return _Refused("attachFailed", reason="notFound", childId=child, parentId=parent)
    if child in list_self_and_ancestors(parent, stars, "parentId"):
        return _Refused("attachFailed", reason="cycle", childId=child, parentId=parent)
    old = stars[child]["parentId"]
    if old in stars:
        stars[old]["children"] = [each for each in stars[old]["children"] if each != child]
    stars[parent]["children"].append(child)
    stars[child]["parentId"] = parent
    if old is None:
        state["rootIds"] = [root for root in state["rootIds"] if root != child]
    return {"type": "starAttached", "childId": child, "parentId": parent}


def _detach_star(state: Json, command: Json) -> Answer:
    child, stars = command["childId"], state["stars"]
    if child not in stars or not stars[child]["parentId"]:
        return _Refused("detachFailed", reason="notAttached", childId=child)
    old = stars[child]["parentId"]
    if old in stars:
        stars[old]["children"] = [each for each in stars[old]["children"] if each != child]
    stars[child].update(parentId=None, orbitalDistance=0)
    state["rootIds"].append(child)
    return {"type": "starDetached", "childId": child}


def _add_group(state: Json, command: Json) -> Answer:
    key, group = command["id"], command["payload"]
    group["id"] = key
    state["groups"][key] = group
    if group["parentGroupId"] is None:
        state["rootGroupIds"].append(key)
    elif group["parentGroupId"] in state["groups"]:
        state["groups"][group["parentGroupId"]]["children"].append({"id": key, "type": "group"})
    return {"type": "groupAdded", "id": key}


def _update_group(state: Json, command: Json) -> Answer:
    if command["id"] not in state["groups"]:
        return _Refused("groupNotFound", id=command["id"])
    state["groups"][command["id"]].update(command["payload"])
    return {"type": "groupUpdated", "id": command["id"]}


def _remove_group(state: Json, command: Json) -> Answer:
    key, groups = command["id"], state["groups"]
    if key not in groups:
        return _Refused("groupNotFound", id=key)
    gone = groups.pop(key)
    parent = gone["parentGroupId"]
    if parent in groups:
        groups[parent]["children"] = [each for each in groups[parent]["children"] if each["id"] != key]
    state["rootGroupIds"] = [root for root in state["rootGroupIds"] if root != key]
    for child in gone["children"]:
        if child["type"] == "group" and child["id"] in groups:
            groups[child["id"]]["parentGroupId"] = parent
            if parent is None:
                state["rootGroupIds"].append(child["id"])
    return {"type": "groupRemoved", "id": key}


def _add_to_group(state: Json, command: Json) -> Answer:
    key, child, groups = command["groupId"], command["child"], state["groups"]
    if key not in groups:
        return _Refused("groupNotFound", id=key)
    if any((each["id"], each["type"]) == (child["id"], child["type"]) for each in groups[key]["children"]):
        return _Refused("childAlreadyInGroup", groupId=key, childId=child["id"])
    groups[key]["children"].append(child)
    if child["type"] == "group" and child["id"] in groups:
        groups[child["id"]]["parentGroupId"] = key
        state["rootGroupIds"] = [root for root in state["rootGroupIds"] if root != child["id"]]
    return {"type": "childAddedToGroup", "groupId": key, "childId": child["id"]}


def _remove_from_group(state: Json, command: Json) -> Answer:
    key, child, groups = command["groupId"], command["childId"], state["groups"]
    if key not in groups:
        return _Refused("groupNotFound", id=key)
    entries = [each for each in groups[key]["children"] if each["id"] == child]
    if not entries:
        return _Refused("childNotInGroup", groupId=key, childId=child)
    groups[key]["children"] = [each for each in groups[key]["children"] if each["id"] != child]
    if entries[0]["type"] == "group" and child in groups:
        groups[child]["parentGroupId"] = None
        state["rootGroupIds"].append(child)
    return {"type": "childRemovedFromGroup", "groupId": key, "childId": child}


def _move_to_group(state: Json, command: Json) -> Answer:
    child, kind, target, groups = command["childId"], command["childType"], command["targetGroupId"], state["groups"]
    if target is not None and target not in groups:
        return _Refused("groupNotFound", id=target)
    if target is not None and kind == "group" and child in list_self_and_ancestors(target, groups, "parentGroupId"):
        return _Refused("moveToGroupFailed", reason="cycle", childId=child, targetGroupId=target)
    for group in groups.values():
        group["children"] = [each for each in group["children"] if (each["id"], each["type"]) != (child, kind)]
    if kind == "group":
        state["rootGroupIds"] = [root for root in state["rootGroupIds"] if root != child]
        if child in groups:
            groups[child]["parentGroupId"] = target
            if target is None:
                state["rootGroupIds"].append(child)
    if target is not None:
        groups[target]["children"].append({"id": child, "type": kind})
    return {"type": "movedToGroup", "childId": child, "targetGroupId": target}


def _update_ring(state: Json, command: Json) -> Answer:
    key = command["planetId"]
    if key not in state["stars"]:
        return _Refused("starNotFound", id=key)
    body = state["stars"][key]
    if body.get("ring") is None:
        body["ring"] = {"innerRadiusMultiplier": 1.5, "outerRadiusMultiplier": 3, "thickness": body["radius"] * 0.1}
        body["ring"] |= {"opacity": 0.6, "albedo": 0.8, "color": body["color"], "density": 0.6}
    body["ring"].update(command["patch"])
    return {"type": "ringUpdated", "planetId": key}


def _remove_ring(state: Json, command: Json) -> Answer:
    key = command["planetId"]
    if not state["stars"].get(key, {}).get("ring"):
        return _Refused("ringNotFound", planetId=key)
    del state["stars"][key]["ring"]
    return {"type": "ringRemoved", "planetId": key}


def _replace_snapshot(state: Json, command: Json) -> Answer:
    for name in state:
        if name != "time":
            state[name] = command["snapshot"].get(name) or ([] if name in {"rootIds", "rootGroupIds"} else {})
    return {"type": "snapshotReplaced"}


def list_self_and_ancestors(start: str, entities: Json, link: str) -> list[str]:
    """`start` and everything above it, up to what is not there."""
    line: list[str] = []
    above: str | None = start
    while above and above not in line:
        line.append(above)
        above = entities[above][link] if above in entities else None
    return line


def _set(kind: str, field: str, event: str) -> Callable[[Json, Json], Answer]:
    def rule(state: Json, command: Json) -> Answer:
        state[kind] = command[field]
        return {"type": event}

    return rule


def _update(kind: str, noun: str) -> Callable[[Json, Json], Answer]:
    def rule(state: Json, command: Json) -> Answer:
        if command["id"] not in state[kind]:
            return _Refused(f"{noun}NotFound", id=command["id"])
        state[kind][command["id"]].update(command["patch"])
        return {"type": f"{noun}Updated", "id": command["id"]}

    return rule


def _remove(kind: str, noun: str) -> Callable[[Json, Json], Answer]:
    def rule(state: Json, command: Json) -> Answer:
        state[kind].pop(command["id"], None)
        return {"type": f"{noun}Removed", "id": command["id"]}

    return rule


def _add_disk(state: Json, command: Json) -> Answer:
    state["protoplanetaryDisks"][command["disk"]["id"]] = command["disk"]
    return {"type": "protoplanetaryDiskAdded", "id": command["disk"]["id"]}


RULES: Final[dict[str, Callable[[Json, Json], Answer]]] = {
    "tick": _tick,
    "addStar": _add_star,
    "updateStar": _update_star,
    "removeStar": _remove_star,
    "attachStar": _attach_star,
    "detachStar": _detach_star,
    "addGroup": _add_group,
    "updateGroup": _update_group,
    "removeGroup": _remove_group,
    "addToGroup": _add_to_group,
    "removeFromGroup": _remove_from_group,
    "moveToGroup": _move_to_group,
    "setSmallBodyFields": _set("smallBodyFields", "fields", "smallBodyFieldsSet"),
    "updateSmallBodyField": _update("smallBodyFields", "smallBodyField"),
    "removeSmallBodyField": _remove("smallBodyFields", "smallBodyField"),
    "setProtoplanetaryDisks": _set("protoplanetaryDisks", "disks", "protoplanetaryDisksSet"),
    "addProtoplanetaryDisk": _add_disk,
    "updateProtoplanetaryDisk": _update("protoplanetaryDisks", "protoplanetaryDisk"),
    "removeProtoplanetaryDisk": _remove("protoplanetaryDisks", "protoplanetaryDisk"),
    "setNebulae": _set("nebulae", "nebulae", "nebulaeSet"),
    "updateNebula": _update("nebulae", "nebula"),
    "removeNebula": _remove("nebulae", "nebula"),
    "updateRing": _update_ring,
    "removeRing": _remove_ring,
    "replaceSnapshot": _replace_snapshot,
}
