"""Handlers of the commands for belts of particles, protoplanetary disks and nebulae."""

from collections.abc import Callable
from functools import partial
from typing import Final

from universe.domain.commands import Command
from universe.domain.events_and_refusals import Event
from universe.domain.state import Draft, EntityKind


def _replace_collection(kind: EntityKind, command_field: str, event_type: str, draft: Draft, command: Command) -> Event:
    draft.replace_entities(kind, command[command_field])
    return {"type": event_type}


def _update_entity(kind: EntityKind, event_prefix: str, draft: Draft, command: Command) -> Event:
    key = command["id"]
    entity = draft.get_entities(kind).get(key)
    if entity is None:
        return {"type": f"{event_prefix}NotFound", "id": key}
    draft.put_entity(kind, key, {**entity, **command["patch"]})
    return {"type": f"{event_prefix}Updated", "id": key}


def _remove_entity(kind: EntityKind, event_prefix: str, draft: Draft, command: Command) -> Event:
    draft.remove_entities(kind, [command["id"]])
    return {"type": f"{event_prefix}Removed", "id": command["id"]}


def _add_disk(draft: Draft, command: Command) -> Event:
    disk = command["disk"]
    draft.put_entity("protoplanetaryDisks", disk["id"], disk)
    return {"type": "protoplanetaryDiskAdded", "id": disk["id"]}


HANDLERS: Final[dict[str, Callable[[Draft, Command], Event]]] = {
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
