"""Tell a sender which citations a change withdrew and which values it recomputed."""

from collections.abc import Iterator
from typing import Final

from universe.domain.citations import get_set_by_records, list_sources, map_fields_to_source_ids
from universe.domain.entities import Entity
from universe.domain.field_types import SetBy, Source
from universe.domain.state import State, Touched

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
