"""Handlers of the commands for bodies and their rings."""

from typing import cast

from universe.domain.commands import AddStar, AttachStar, DetachStar, RemoveRing, RemoveStar, UpdateRing, UpdateStar
from universe.domain.entities import Entity
from universe.domain.events_and_refusals import Event
from universe.domain.hierarchy import find_hierarchy_problem, list_self_and_descendants
from universe.domain.state import Draft
from uraniborg.kernel.json_values import Json


def add_body(draft: Draft, command: AddStar) -> Event:
    key, payload = command["id"], command["payload"]
    parent = cast("str | None", payload["parentId"])
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


def update_body(draft: Draft, command: UpdateStar) -> Event:
    key, payload = command["id"], command["payload"]
    body = draft.stars.get(key)
    if body is None:
        return {"type": "starNotFound", "id": key}
    parent = cast("str | None", payload.get("parentId"))
    if reason := _find_parent_problem(draft, key, parent):
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
    if reason := _find_parent_problem(draft, child, parent):
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


def _find_parent_problem(draft: Draft, child: str, parent: str | None) -> str | None:
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
