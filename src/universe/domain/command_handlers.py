"""Handlers of the commands for bodies and rings, groups, belts of particles, protoplanetary disks and nebulae."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, cast

from universe.domain.command_results import Event
from universe.domain.commands import (
    AddGroup,
    AddProtoplanetaryDisk,
    AddStar,
    AddToGroup,
    AttachStar,
    DetachStar,
    MoveToGroup,
    RemoveFromGroup,
    RemoveGroup,
    RemoveNebula,
    RemoveProtoplanetaryDisk,
    RemoveRing,
    RemoveSmallBodyField,
    RemoveStar,
    UpdateGroup,
    UpdateNebula,
    UpdateProtoplanetaryDisk,
    UpdateRing,
    UpdateSmallBodyField,
    UpdateStar,
)
from universe.domain.entities import Entity, Group, GroupChild
from universe.domain.state import (
    Draft,
    EntityKind,
    find_hierarchy_problem,
    list_self_and_ancestors,
    list_self_and_descendants,
)
from uraniborg.kernel.json_values import Json


def add_body(draft: Draft, command: AddStar) -> Event:
    key, payload = command["id"], command["payload"]
    parent = cast("str | None", payload["parentId"])
    if reason := _find_body_parent_problem(draft, key, parent):
        return {"type": "addStarFailed", "reason": reason, "id": key, "parentId": parent}
    phase = payload.get("orbitalPhase")
    draft.put_entity(
        "stars", key, {**payload, "id": key, "children": [], "orbitalPhase": 0 if phase is None else phase}
    )
    if parent:
        _add_to_children(draft, parent, key)
    elif parent is None:
        draft.rootIds = (*draft.rootIds, key)
    return {"type": "starAdded", "id": key}


def update_body(draft: Draft, command: UpdateStar) -> Event:
    key, payload = command["id"], command["payload"]
    body = draft.stars.get(key)
    if body is None:
        return {"type": "starNotFound", "id": key}
    parent = cast("str | None", payload.get("parentId"))
    if reason := _find_body_parent_problem(draft, key, parent):
        return {"type": "updateStarFailed", "reason": reason, "id": key, "parentId": parent}
    draft.put_entity("stars", key, {**body, **payload})
    return {"type": "starUpdated", "id": key}


def remove_body(draft: Draft, command: RemoveStar) -> Event:
    key = command["id"]
    body = draft.stars.get(key)
    if body is None:
        return {"type": "starNotFound", "id": key}
    removed = list_self_and_descendants(key, draft.stars)
    gone = set(removed)
    draft.remove_entities("stars", removed)
    _remove_from_children(draft, body, key)
    if not gone.isdisjoint(draft.rootIds):
        draft.rootIds = tuple(root for root in draft.rootIds if root not in gone)
    return {"type": "starRemoved", "id": key, "removedIds": removed}


def attach_body(draft: Draft, command: AttachStar) -> Event:
    child, parent = command["childId"], command["parentId"]
    body = draft.stars.get(child)
    if body is None or parent not in draft.stars:
        return {"type": "attachFailed", "reason": "notFound", "childId": child, "parentId": parent}
    if reason := _find_body_parent_problem(draft, child, parent):
        return {"type": "attachFailed", "reason": reason, "childId": child, "parentId": parent}
    _remove_from_children(draft, body, child)
    _add_to_children(draft, parent, child)
    draft.put_entity("stars", child, {**draft.stars[child], "parentId": parent})
    if body["parentId"] is None:
        draft.rootIds = tuple(root for root in draft.rootIds if root != child)
    return {"type": "starAttached", "childId": child, "parentId": parent}


def detach_body(draft: Draft, command: DetachStar) -> Event:
    child = command["childId"]
    body = draft.stars.get(child)
    if body is None or not body["parentId"]:
        return {"type": "detachFailed", "reason": "notAttached", "childId": child}
    _remove_from_children(draft, body, child)
    draft.put_entity("stars", child, {**draft.stars[child], "parentId": None, "orbitalDistance": 0})
    draft.rootIds = (*draft.rootIds, child)
    return {"type": "starDetached", "childId": child}


def update_ring(draft: Draft, command: UpdateRing) -> Event:
    key = command["planetId"]
    body = draft.stars.get(key)
    if body is None:
        return {"type": "starNotFound", "id": key}
    ring = cast("Entity | None", body.get("ring"))
    changed: Entity = {**(_make_default_ring(body) if ring is None else ring), **command["patch"]}
    draft.put_entity("stars", key, {**body, "ring": changed})
    return {"type": "ringUpdated", "planetId": key}


def remove_ring(draft: Draft, command: RemoveRing) -> Event:
    key = command["planetId"]
    body = draft.stars.get(key)
    if body is None or not body.get("ring"):
        return {"type": "ringNotFound", "planetId": key}
    draft.put_entity("stars", key, {name: value for name, value in body.items() if name != "ring"})
    return {"type": "ringRemoved", "planetId": key}


def _make_default_ring(body: Entity) -> Entity:
    return {
        "innerRadiusMultiplier": 1.5,
        "outerRadiusMultiplier": 3.0,
        "thickness": cast("float", body["radius"]) * 0.1,
        "opacity": 0.6,
        "albedo": 0.8,
        "color": body["color"],
        "density": 0.6,
    }


def _find_body_parent_problem(draft: Draft, child: str, parent: str | None) -> str | None:
    return find_hierarchy_problem(child, parent, draft.stars, "parentId") if parent else None


def _add_to_children(draft: Draft, parent: str, child: str) -> None:
    body = draft.stars.get(parent)
    if body is not None:
        draft.put_entity("stars", parent, {**body, "children": [*cast("list[Json]", body["children"]), child]})


def _remove_from_children(draft: Draft, body: Entity, key: str) -> None:
    parent = cast("str | None", body["parentId"])
    if parent and (above := draft.stars.get(parent)) is not None:
        children = [one for one in cast("list[Json]", above["children"]) if one != key]
        draft.put_entity("stars", parent, {**above, "children": children})


def add_group(draft: Draft, command: AddGroup) -> Event:
    key = command["id"]
    group = cast("Group", {**command["payload"], "id": key})
    parent = group["parentGroupId"]
    if reason := _find_group_parent_problem(draft, key, parent):
        return {"type": "addGroupFailed", "reason": reason, "id": key, "parentGroupId": parent}
    _put_group(draft, key, group)
    if parent:
        _append_member(draft, parent, {"id": key, "type": "group"})
    elif parent is None:
        _add_root_group(draft, key)
    return {"type": "groupAdded", "id": key}


def update_group(draft: Draft, command: UpdateGroup) -> Event:
    key, payload = command["id"], command["payload"]
    group = draft.groups.get(key)
    if group is None:
        return {"type": "groupNotFound", "id": key}
    parent = cast("str | None", payload.get("parentGroupId"))
    if reason := _find_group_parent_problem(draft, key, parent):
        return {"type": "updateGroupFailed", "reason": reason, "id": key, "parentGroupId": parent}
    draft.put_entity("groups", key, {**group, **payload})
    return {"type": "groupUpdated", "id": key}


def remove_group(draft: Draft, command: RemoveGroup) -> Event:
    key = command["id"]
    group = _get_group(draft, key)
    if group is None:
        return {"type": "groupNotFound", "id": key}
    parent = group["parentGroupId"]
    below = [child["id"] for child in group["children"] if child["type"] == "group" and child["id"] != key]
    above = list_self_and_ancestors(parent, draft.groups, "parentGroupId")
    if any(child in above for child in below):
        return {"type": "removeGroupFailed", "reason": "cycle", "id": key}
    draft.remove_entities("groups", [key])
    if parent and (around := _get_group(draft, parent)) is not None:
        _put_group(draft, parent, _copy_without_member(around, key))
    _remove_root_group(draft, key)
    promoted = [child for child in below if child in draft.groups]
    for child in promoted:
        _move_group(draft, child, parent)
    if parent is None and promoted:
        draft.rootGroupIds = (*draft.rootGroupIds, *promoted)
    return {"type": "groupRemoved", "id": key}


def add_group_member(draft: Draft, command: AddToGroup) -> Event:
    key, child = command["groupId"], cast("GroupChild", command["child"])
    group = _get_group(draft, key)
    if group is None:
        return {"type": "groupNotFound", "id": key}
    if any(_is_entry_for(entry, child["id"], child["type"]) for entry in group["children"]):
        return {"type": "childAlreadyInGroup", "groupId": key, "childId": child["id"]}
    is_there = child["type"] == "group" and child["id"] in draft.groups
    if is_there and (reason := _find_group_parent_problem(draft, child["id"], key)):
        return {"type": "addToGroupFailed", "reason": reason, "groupId": key, "childId": child["id"]}
    _append_member(draft, key, child)
    if is_there:
        _move_group(draft, child["id"], key)
        _remove_root_group(draft, child["id"])
    return {"type": "childAddedToGroup", "groupId": key, "childId": child["id"]}


def remove_group_member(draft: Draft, command: RemoveFromGroup) -> Event:
    key, child = command["groupId"], command["childId"]
    group = _get_group(draft, key)
    if group is None:
        return {"type": "groupNotFound", "id": key}
    entry = next((entry for entry in group["children"] if entry["id"] == child), None)
    if entry is None:
        return {"type": "childNotInGroup", "groupId": key, "childId": child}
    _put_group(draft, key, _copy_without_member(group, child))
    if entry["type"] == "group" and child in draft.groups:
        _move_group(draft, child, None)
        _add_root_group(draft, child)
    return {"type": "childRemovedFromGroup", "groupId": key, "childId": child}


def move_to_group(draft: Draft, command: MoveToGroup) -> Event:
    child, kind, target = command["childId"], command["childType"], command["targetGroupId"]
    if target is not None:
        if target not in draft.groups:
            return {"type": "groupNotFound", "id": target}
        if kind == "group" and (reason := _find_group_parent_problem(draft, child, target)):
            return {"type": "moveToGroupFailed", "reason": reason, "childId": child, "targetGroupId": target}
    groups = cast("Mapping[str, Group]", draft.groups)
    listing = [key for key, group in groups.items() if any(entry["id"] == child for entry in group["children"])]
    for key in listing:
        group = groups[key]
        left = [entry for entry in group["children"] if not _is_entry_for(entry, child, kind)]
        if len(left) < len(group["children"]):
            _put_group(draft, key, {**group, "children": left})
    if kind == "group":
        _remove_root_group(draft, child)
        if child in draft.groups:
            _move_group(draft, child, target)
            if target is None:
                _add_root_group(draft, child)
    if target is not None:
        _append_member(draft, target, {"id": child, "type": kind})
    return {"type": "movedToGroup", "childId": child, "targetGroupId": target}


def _find_group_parent_problem(draft: Draft, child: str, parent: str | None) -> str | None:
    return find_hierarchy_problem(child, parent, draft.groups, "parentGroupId") if parent else None


def _get_group(draft: Draft, key: str) -> Group | None:
    return cast("Group | None", draft.groups.get(key))


def _put_group(draft: Draft, key: str, group: Group) -> None:
    draft.put_entity("groups", key, cast("Entity", group))


def _move_group(draft: Draft, key: str, parent: str | None) -> None:
    draft.put_entity("groups", key, {**draft.groups[key], "parentGroupId": parent})


def _is_entry_for(entry: GroupChild, key: str, kind: str) -> bool:
    return entry["id"] == key and entry["type"] == kind


def _copy_without_member(group: Group, child: str) -> Group:
    return {**group, "children": [entry for entry in group["children"] if entry["id"] != child]}


def _append_member(draft: Draft, key: str, child: GroupChild) -> None:
    group = _get_group(draft, key)
    if group is not None:
        _put_group(draft, key, {**group, "children": [*group["children"], child]})


def _add_root_group(draft: Draft, key: str) -> None:
    draft.rootGroupIds = (*draft.rootGroupIds, key)


def _remove_root_group(draft: Draft, key: str) -> None:
    if key in draft.rootGroupIds:
        draft.rootGroupIds = tuple(root for root in draft.rootGroupIds if root != key)


def _replace_collection(
    kind: EntityKind, command_field: str, event_type: str, draft: Draft, command: Mapping[str, Any]
) -> Event:
    draft.replace_entities(kind, command[command_field])
    return {"type": event_type}


def _update_entity(
    kind: EntityKind,
    event_prefix: str,
    draft: Draft,
    command: UpdateSmallBodyField | UpdateProtoplanetaryDisk | UpdateNebula,
) -> Event:
    key = command["id"]
    entity = draft.get_entities(kind).get(key)
    if entity is None:
        return {"type": f"{event_prefix}NotFound", "id": key}
    draft.put_entity(kind, key, {**entity, **command["patch"]})
    return {"type": f"{event_prefix}Updated", "id": key}


def _remove_entity(
    kind: EntityKind,
    event_prefix: str,
    draft: Draft,
    command: RemoveSmallBodyField | RemoveProtoplanetaryDisk | RemoveNebula,
) -> Event:
    draft.remove_entities(kind, [command["id"]])
    return {"type": f"{event_prefix}Removed", "id": command["id"]}


def _add_disk(draft: Draft, command: AddProtoplanetaryDisk) -> Event:
    key = cast("str", command["disk"]["id"])
    draft.put_entity("protoplanetaryDisks", key, command["disk"])
    return {"type": "protoplanetaryDiskAdded", "id": key}


HANDLERS: Final[dict[str, Callable[[Draft, Any], Event]]] = {
    "setSmallBodyFields": partial(_replace_collection, "smallBodyFields", "fields", "smallBodyFieldsSet"),
    "updateSmallBodyField": partial(_update_entity, "smallBodyFields", "smallBodyField"),
    "removeSmallBodyField": partial(_remove_entity, "smallBodyFields", "smallBodyField"),
    "setProtoplanetaryDisks": partial(_replace_collection, "protoplanetaryDisks", "disks", "protoplanetaryDisksSet"),
    "addProtoplanetaryDisk": _add_disk,
    "updateProtoplanetaryDisk": partial(_update_entity, "protoplanetaryDisks", "protoplanetaryDisk"),
    "removeProtoplanetaryDisk": partial(_remove_entity, "protoplanetaryDisks", "protoplanetaryDisk"),
    "setNebulae": partial(_replace_collection, "nebulae", "nebulae", "nebulaeSet"),
    "updateNebula": partial(_update_entity, "nebulae", "nebula"),
    "removeNebula": partial(_remove_entity, "nebulae", "nebula"),
}
