"""Handlers of the commands for belts of particles, protoplanetary disks and nebulae."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, cast

from universe.domain.commands import (
    AddProtoplanetaryDisk,
    RemoveNebula,
    RemoveProtoplanetaryDisk,
    RemoveSmallBodyField,
    UpdateNebula,
    UpdateProtoplanetaryDisk,
    UpdateSmallBodyField,
)
from universe.domain.events_and_refusals import Event
from universe.domain.state import Draft, EntityKind


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
