"""Maintain `sources` and `setBy` of a body: which publications support its fields, and which commands set them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from universe.domain.entities import Entity
from universe.domain.field_types import Location, SetBy, Source
from universe.domain.state import Plain
from uraniborg.kernel.json_values import Json

FieldTest = Callable[[str], bool]
"""A test of the name of a field."""


def list_sources(body: Mapping[str, Any]) -> list[Source]:
    """Return the sources of a body; entries that are not objects with an id are left out."""
    listed = body.get("sources")
    found = cast("list[Any]", listed) if isinstance(listed, list) else []
    return [
        cast("Source", one) for one in found if isinstance(one, dict) and isinstance(cast("Entity", one).get("id"), str)
    ]


def list_cited_fields(source: Mapping[str, Any]) -> list[str]:
    fields = source.get("fields")
    return [one for one in cast("list[Any]", fields) if isinstance(one, str)] if isinstance(fields, list) else []


def get_locations_by_field(source: Mapping[str, Any]) -> dict[str, Location]:
    """Return the recorded locations in the publication, by field."""
    locations = source.get("locations")
    return cast("dict[str, Location]", locations) if isinstance(locations, dict) else {}


def map_fields_to_source_ids(sources: Iterable[Source]) -> dict[str, list[str]]:
    """Return the fields that these sources support, with the ids of the sources of each."""
    cited: dict[str, list[str]] = {}
    for source in sources:
        for field in list_cited_fields(source):
            cited.setdefault(field, []).append(source["id"])
    return cited


def get_set_by_records(body: Mapping[str, Any]) -> dict[str, SetBy]:
    """Return the record of the last command that set, cited or withdrew each field, by field."""
    records = body.get("setBy")
    found = cast("Entity", records) if isinstance(records, dict) else {}
    return {field: cast("SetBy", record) for field, record in found.items() if isinstance(record, dict)}


def has_or_had_sources(body: Mapping[str, Any]) -> bool:
    """Return True for a body that has sources, or had some."""
    return bool(body.get("sources")) or "setBy" in body


def copy_source_without_fields(source: Source, is_withdrawn: FieldTest) -> Source | None:
    """Return the source without the withdrawn fields; None if no field is left."""
    fields = list_cited_fields(source)
    left = [field for field in fields if not is_withdrawn(field)]
    if len(left) == len(fields):
        return source
    if not left:
        return None
    trimmed: Source = {**source, "fields": left}
    if locations := get_locations_by_field(source):
        trimmed["locations"] = {field: location for field, location in locations.items() if field in left}
    return trimmed


def merge_sources(sources: Iterable[Source]) -> list[Source]:
    """Return each publication once, with all fields that it supports, described as by its last entry."""
    merged: dict[str, Source] = {}
    for source in sources:
        known = merged.get(source["id"])
        if known is None:
            merged[source["id"]] = source
            continue
        both: Source = {**known, **source}
        if fields := list(dict.fromkeys((*list_cited_fields(known), *list_cited_fields(source)))):
            both["fields"] = fields
        if locations := {**get_locations_by_field(known), **get_locations_by_field(source)}:
            both["locations"] = locations
        merged[source["id"]] = both
    return list(merged.values())


def replace_sources(body: Entity, sources: list[Source]) -> Entity:
    """Return the body with these sources; without the key if there are none."""
    if sources:
        return {**body, "sources": cast("list[Json]", sources)}
    return {name: value for name, value in body.items() if name != "sources"}


def replace_set_by_records(body: Entity, records: Mapping[str, SetBy]) -> Entity:
    """Return the body with these records; without the key if there are none."""
    if records:
        return body if body.get("setBy") == records else {**body, "setBy": cast("Entity", dict(records))}
    return {name: value for name, value in body.items() if name != "setBy"} if "setBy" in body else body


def add_universe_to_set_by_records(plain: Plain, universe_id: str) -> Plain:
    """Return a state whose records name the universe that their versions belong to."""
    stars = {key: _add_universe_to_body_records(body, universe_id) for key, body in plain["stars"].items()}
    return {**plain, "stars": stars}


def _add_universe_to_body_records(body: Entity, universe_id: str) -> Entity:
    return replace_set_by_records(
        body,
        {
            field: record if "imported" in record else {"universe": universe_id, **record}
            for field, record in get_set_by_records(body).items()
        },
    )


def mark_set_by_records_imported(body: Entity) -> Entity:
    """Return an imported body whose records are marked as imported, because no log here confirms them."""
    return replace_set_by_records(
        body, {field: {**record, "imported": True} for field, record in get_set_by_records(body).items()}
    )
