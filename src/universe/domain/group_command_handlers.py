"""Handlers of the commands for groups and their members."""

from collections.abc import Mapping
from typing import cast

from universe.domain.commands import AddGroup, AddToGroup, MoveToGroup, RemoveFromGroup, RemoveGroup, UpdateGroup
from universe.domain.entities import Entity, Group, GroupChild
from universe.domain.events_and_refusals import Event
from universe.domain.hierarchy import find_hierarchy_problem, list_self_and_ancestors
from universe.domain.state import Draft


def add_group(draft: Draft, command: AddGroup) -> Event:
    key = command["id"]
    group = cast("Group", {**command["payload"], "id": key})
    parent = group["parentGroupId"]
    if reason := _find_parent_problem(draft, key, parent):
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
    if reason := _find_parent_problem(draft, key, parent):
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
    if is_there and (reason := _find_parent_problem(draft, child["id"], key)):
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
        if kind == "group" and (reason := _find_parent_problem(draft, child, target)):
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


def _find_parent_problem(draft: Draft, child: str, parent: str | None) -> str | None:
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
