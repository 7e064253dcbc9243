"""Maintain `sources` and `setBy` of bodies, tell senders what a change withdrew, and share citations in replies."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, cast

from universe.domain.entities import Entity
from universe.domain.field_types import Location, SetBy, Source
from universe.domain.state import Plain, State, Touched
from uraniborg.kernel.json_values import Json, JsonObject

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


_MAX_BODIES: Final = 5
_MAX_CHARS: Final = 60
_MAX_FIELDS: Final = 6


def describe_citation_changes(before: State, after: State, touched: Touched) -> list[str]:
    """Return a few sentences about the changes of citations; an empty list if there are none. Never raise."""
    sentences: list[str] = []
    computed: dict[str, list[str]] = {}
    stale: dict[str, list[str]] = {}
    bodies = 0
    for key in touched.get("stars") or ():
        old, new = before.stars.get(key), after.stars.get(key)
        if old is None or new is None or old is new:
            continue
        new_records = _find_changed_set_by_records(old, new)
        if (
            new_records
            and all("basis" in record or "withdrawn" in record for record in new_records.values())
            and not _has_new_parent_or_state_vector(old, new)
        ):
            computed[key] = [field for field, record in new_records.items() if "basis" in record]
            stale[key] = [field for field, record in new_records.items() if "withdrawn" in record]
        elif found := list(_describe_body_citation_changes(key, old, new, new_records)):
            bodies += 1
            sentences += found if bodies <= _MAX_BODIES else []
    if bodies > _MAX_BODIES:
        sentences.append(f"Citations of {bodies - _MAX_BODIES:,} more bodies changed in the same way.")
    computed, stale = ({key: fields for key, fields in one.items() if fields} for one in (computed, stale))
    if computed:
        sentences.append(
            f"{_format_id_list(list(computed))}: {_format_fields_and_verb(computed)} recomputed "
            "from the changed values."
        )
    if stale:
        sentences.append(
            f"{_format_id_list(list(stale))}: {_format_fields_and_verb(stale)} without a source now, "
            "because other values changed."
        )
    return sentences


def _format_fields_and_verb(fields_of: dict[str, list[str]]) -> str:
    """Return the fields of several bodies, each once, followed by `is` or `are`."""
    fields = list(dict.fromkeys(field for fields in fields_of.values() for field in fields))
    return f"{_format_fields(fields)} {'is' if len(fields) == 1 else 'are'}"


def _find_changed_set_by_records(old: Entity, new: Entity) -> dict[str, SetBy]:
    before = get_set_by_records(old)
    return {field: record for field, record in get_set_by_records(new).items() if record != before.get(field)}


def _describe_body_citation_changes(key: str, old: Entity, new: Entity, new_records: dict[str, SetBy]) -> Iterator[str]:
    cited_now = map_fields_to_source_ids(list_sources(new))
    name = f"'{key[:_MAX_CHARS]}'"
    for source in list_sources(old):
        lost = [field for field in map_fields_to_source_ids([source]) if source["id"] not in cited_now.get(field, ())]
        uncited = {
            field: new_records[field] for field in lost if field in new_records and "sources" not in new_records[field]
        }
        if given := [field for field, record in uncited.items() if not record.keys() & {"basis", "withdrawn"}]:
            yield f"{name}: {_format_fields(given)} {_describe_lost_citation(given, source)}, which gave another value."
        if stale := [field for field, record in uncited.items() if "withdrawn" in record]:
            cause = uncited[stale[0]].get("withdrawn")
            yield f"{name}: {_format_fields(stale)} {_describe_lost_citation(stale, source)}, because {cause} changed."
    bases: dict[str, list[str]] = {}
    for field, record in new_records.items():
        if (basis := record.get("basis")) is not None:
            bases.setdefault(_describe_basis(field, basis), []).append(field)
    for basis, fields in bases.items():
        yield f"{name}: recomputed {_format_fields(fields)} from {basis}."
    if old.get("stateVector") is not None and new.get("stateVector") is None:
        yield f"{name}: stateVector was removed, because it belongs to the previous orbit."


def _describe_lost_citation(fields: list[str], source: Source) -> str:
    return f"no longer {'cites' if len(fields) == 1 else 'cite'} '{source['id'][:_MAX_CHARS]}'"


def _describe_basis(field: str, basis: str) -> str:
    return f"{basis} and the masses" if field in ("kepler.semiMajorAxis", "kepler.period") else basis


def _has_new_parent_or_state_vector(old: Entity, new: Entity) -> bool:
    return old.get("parentId") != new.get("parentId") or old.get("stateVector") != new.get("stateVector")


def _format_id_list(keys: list[str]) -> str:
    more = f" and {len(keys) - _MAX_BODIES:,} more" if len(keys) > _MAX_BODIES else ""
    return ", ".join(f"'{key[:_MAX_CHARS]}'" for key in keys[:_MAX_BODIES]) + more


def _format_fields(fields: list[str]) -> str:
    shown = [field if len(field) <= _MAX_CHARS else f"{field[:_MAX_CHARS]}…" for field in fields[:_MAX_FIELDS]]
    more = f" and {len(fields) - _MAX_FIELDS:,} more" if len(fields) > _MAX_FIELDS else ""
    return ", ".join(shown) + more


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
