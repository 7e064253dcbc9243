"""Citations that several bodies share, moved out of the bodies of a reply."""

from collections import Counter
from typing import Any, Final, cast

from universe.domain.citations import list_sources
from universe.domain.entities import Entity
from universe.domain.field_types import Source
from uraniborg.kernel.json_values import Json, JsonObject

_OWN: Final = ("id", "fields", "locations")
"""The id of a citation, and its parts that differ from body to body."""


def move_out_shared_citations(stars: dict[str, Entity], *, min_uses: int = 2) -> JsonObject:
    """Return the citations that several bodies share, by id; the bodies keep only ids, fields and locations.

    Several are at least `min_uses`. Bodies in the map are replaced by others. A citation that differs from another with
    the same id stays complete.
    """
    entries = [entry for body in stars.values() for entry in list_sources(body)]
    if not entries:
        return {}
    counts = Counter(entry["id"] for entry in entries)
    shared: JsonObject = {}
    for entry in entries:
        if counts[entry["id"]] >= min_uses:
            shared.setdefault(entry["id"], _copy_shared_part(entry))
    for key, body in stars.items():
        if any(entry["id"] in shared for entry in list_sources(body)):
            listed = cast("list[Json]", body["sources"])
            stars[key] = {**body, "sources": [_shorten_shared_source(entry, shared) for entry in listed]}
    return shared


def _is_source(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(cast("Entity", entry).get("id"), str)


def _copy_shared_part(entry: Source) -> JsonObject:
    return {name: value for name, value in cast("JsonObject", entry).items() if name not in _OWN}


def _shorten_shared_source(entry: Any, shared: JsonObject) -> Json:
    if not _is_source(entry) or shared.get(entry["id"]) != _copy_shared_part(entry):
        return entry
    return {name: entry[name] for name in _OWN if name in entry}
