"""Handlers of the commands for bodies and their rings."""

from typing import Any

from universe.domain.commands import Command
from universe.domain.entities import Entity
from universe.domain.events_and_refusals import Event
from universe.domain.hierarchy import find_hierarchy_problem, list_self_and_descendants
from universe.domain.state import Draft


def add_body(draft: Draft, command: Command) -> Event:
    key, payload = command["id"], command["payload"]
    parent = payload["parentId"]
    if reason := _find_parent_problem(draft, key, parent):
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


def update_body(draft: Draft, command: Command) -> Event:
    key, payload = command["id"], command["payload"]
    body = draft.stars.get(key)
    if body is None:
        return {"type": "starNotFound", "id": key}
    if "parentId" in payload and (reason := _find_parent_problem(draft, key, payload["parentId"])):
        return {"type": "updateStarFailed", "reason": reason, "id": key, "parentId": payload["parentId"]}
    draft.put_entity("stars", key, {**body, **payload})
    return {"type": "starUpdated", "id": key}


def remove_body(draft: Draft, command: Command) -> Event:
    key = command["id"]
    body = draft.stars.get(key)
    if body is None:
        return {"type": "starNotFound", "id": key}
    removed = list_self_and_descendants(key, draft.stars)
    gone = set(removed)
    draft.remove_entities("stars", removed)
    _remove_from_children(draft, body["parentId"], key)
    if not gone.isdisjoint(draft.rootIds):
        draft.rootIds = tuple(root for root in draft.rootIds if root not in gone)
    return {"type": "starRemoved", "id": key, "removedIds": removed}


def attach_body(draft: Draft, command: Command) -> Event:
    child, parent = command["childId"], command["parentId"]
    body = draft.stars.get(child)
    if body is None or parent not in draft.stars:
        return {"type": "attachFailed", "reason": "notFound", "childId": child, "parentId": parent}
    if reason := _find_parent_problem(draft, child, parent):
        return {"type": "attachFailed", "reason": reason, "childId": child, "parentId": parent}
    _remove_from_children(draft, body["parentId"], child)
    _add_to_children(draft, parent, child)
    draft.put_entity("stars", child, {**draft.stars[child], "parentId": parent})
    if body["parentId"] is None:
        draft.rootIds = tuple(root for root in draft.rootIds if root != child)
    return {"type": "starAttached", "childId": child, "parentId": parent}


def detach_body(draft: Draft, command: Command) -> Event:
    child = command["childId"]
    body = draft.stars.get(child)
    if body is None or not body["parentId"]:
        return {"type": "detachFailed", "reason": "notAttached", "childId": child}
    _remove_from_children(draft, body["parentId"], child)
    draft.put_entity("stars", child, {**draft.stars[child], "parentId": None, "orbitalDistance": 0})
    draft.rootIds = (*draft.rootIds, child)
    return {"type": "starDetached", "childId": child}


def update_ring(draft: Draft, command: Command) -> Event:
    key = command["planetId"]
    body = draft.stars.get(key)
    if body is None:
        return {"type": "starNotFound", "id": key}
    ring = body.get("ring")
    draft.put_entity(
        "stars", key, {**body, "ring": {**(_make_default_ring(body) if ring is None else ring), **command["patch"]}}
    )
    return {"type": "ringUpdated", "planetId": key}


def remove_ring(draft: Draft, command: Command) -> Event:
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
        "thickness": body["radius"] * 0.1,
        "opacity": 0.6,
        "albedo": 0.8,
        "color": body["color"],
        "density": 0.6,
    }


def _find_parent_problem(draft: Draft, child: str, parent: Any) -> str | None:
    return find_hierarchy_problem(child, parent, draft.stars, "parentId") if parent else None


def _add_to_children(draft: Draft, parent: str, child: str) -> None:
    body = draft.stars.get(parent)
    if body is not None:
        draft.put_entity("stars", parent, {**body, "children": [*body["children"], child]})


def _remove_from_children(draft: Draft, parent: str | None, child: str) -> None:
    body = draft.stars.get(parent) if parent else None
    if body is not None and parent is not None:
        draft.put_entity("stars", parent, {**body, "children": [key for key in body["children"] if key != child]})
