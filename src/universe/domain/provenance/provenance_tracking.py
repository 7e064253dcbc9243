"""Track who set each value: a changed value loses its source, and the body names the command.

`sources` of a body says which publication gave which fields; `setBy` says, for fields that a command set, cited or
left without a source, which entry of the log did so. A body that never had sources has neither.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final, Literal, NamedTuple, cast

from universe.domain.commands import Command
from universe.domain.entities import Entity
from universe.domain.field_types import SetBy, Source
from universe.domain.provenance.citations import (
    FieldTest,
    copy_source_without_fields,
    get_locations_by_field,
    get_set_by_records,
    has_or_had_sources,
    list_cited_fields,
    list_sources,
    map_fields_to_source_ids,
    mark_set_by_records_imported,
    merge_sources,
    replace_set_by_records,
    replace_sources,
)
from universe.domain.provenance.derived_fields import (
    Causes,
    DerivedBody,
    drop_stale_state_vector_and_period,
    get_field_value,
    is_same_value,
    recompute_derived_elements,
    recompute_derived_fields,
)
from universe.domain.state import Draft, Entities, State

ORBIT_FIELDS: Final = frozenset(
    {
        *("kepler", "orbitalDistance", "orbitalSpeed", "orbitalPhase", "semiMajorAxis", "eccentricity"),
        *("orbitOffsetX", "orbitOffsetY", "orbitOffsetZ", "orbitRotX", "orbitRotY", "orbitRotZ", "stateVector"),
    }
)
"""Fields and blocks that describe an orbit about the parent and lose their sources with a new parent."""

Mode = Literal["patch", "body", "state"]
"""How a body was changed: in part, as a whole body, or as part of a whole state."""


class ChangeOrigin(NamedTuple):
    """The version and the author of the log entry of a change, if known."""

    version: int | None = None
    by: str | None = None


class _Change(NamedTuple):
    """A change of bodies: its mode, whether the command gives sources, and the record of the command."""

    mode: Mode
    gives_sources: bool
    record: SetBy


def update_draft_provenance(before: State, draft: Draft, command: Command, origin: ChangeOrigin) -> None:
    """Withdraw the sources of values that a command changed, and record the command in the bodies."""
    kind = command["type"]
    mode: Mode = "body" if kind == "addStar" else "state" if kind == "replaceSnapshot" else "patch"
    gives_sources = command["type"] == "updateStar" and "sources" in command["payload"]
    if mode == "patch" and not gives_sources and _is_patch_without_provenance(before, draft):
        return
    change = _Change(mode, gives_sources, _make_set_by_record(origin, command.get("reason")))
    for key, body in _revise_bodies_provenance(before.stars, draft.make_state(), draft.touched["stars"], change):
        draft.put_entity("stars", key, body)


def _is_patch_without_provenance(before: State, draft: Draft) -> bool:
    """Return True if the bodies touched have no sources, records or orbits that the patch can change.

    Most commands change such a value of such a body, and need not wait for the search for derived values.
    """
    for key in draft.touched["stars"]:
        old, new = before.stars.get(key), draft.stars.get(key)
        if old is new:
            continue
        if (
            old is None
            or new is None
            or has_or_had_sources(old)
            or "setBy" in new
            or old.get("kepler") is not new.get("kepler")
            or old.get("parentId") != new.get("parentId")
            or (draft.derivedOrbits and old.get("mass") != new.get("mass"))
        ):
            return False
    return True


def update_replaced_state_provenance(before: State, after: State, origin: ChangeOrigin) -> State:
    """Return the state that replaces another, without the sources of values that differ from those cited before."""
    draft = Draft(after)
    change = _Change("state", gives_sources=False, record=_make_set_by_record(origin, None))
    for key, body in _revise_bodies_provenance(before.stars, after, list(after.stars), change):
        draft.put_entity("stars", key, body)
    return draft.make_state()


def _revise_bodies_provenance(
    before: Entities, state: State, touched: Iterable[str], change: _Change
) -> Iterator[tuple[str, Entity]]:
    after = state.stars
    changed = {key: None for key in touched if after.get(key) is not before.get(key)}
    derived = _recompute_derived_bodies(
        before, state, changed, report_only_ids=() if change.mode == "patch" else changed
    )
    patch = _Change("patch", gives_sources=False, record=change.record)
    for key in {**changed, **derived}:
        old, new = before.get(key), after.get(key)
        if new is None:
            continue
        if old is None and change.mode == "state":
            if (body := mark_set_by_records_imported(new)) is not new:
                yield key, body
            continue
        how = change if key in changed else patch
        body, causes = derived.get(key, DerivedBody(new, {}))
        # A whole body or state is stored as given: derived values that do not fit lose only their source.
        body = _revise_body_provenance(old, body if how.mode == "patch" else new, causes, how)
        if body is not new:
            yield key, body


def _recompute_derived_bodies(
    before: Entities, state: State, changed: dict[str, None], *, report_only_ids: Collection[str]
) -> dict[str, DerivedBody]:
    """Return the bodies with values derived from changed ones: state vectors, then Kepler's law, then the rest."""
    current = state.stars
    for key in changed:
        old, new = before.get(key), current.get(key)
        if old is not None and new is not None and (body := drop_stale_state_vector_and_period(old, new)) is not new:
            current = current.set(key, body)
    orbits = recompute_derived_elements(before, current, changed, state.derivedOrbits, report_only_ids=report_only_ids)
    found: dict[str, DerivedBody] = {}
    for key in {**changed, **orbits}:
        old, new = before.get(key), current.get(key)
        if old is None or new is None:
            continue
        body, causes = orbits.get(key, DerivedBody(new, {}))
        if has_or_had_sources(old):
            body, more = recompute_derived_fields(old, body)
            causes = {**causes, **more}
        found[key] = DerivedBody(body, causes)
    return found


def _revise_body_provenance(old: Entity | None, new: Entity, causes: Causes, change: _Change) -> Entity:
    """Return the body with the sources that support its values, and with the records of values that were set."""
    mode = change.mode
    claims = change.gives_sources if mode == "patch" else bool(list_sources(new))
    if not claims and (old is None or not has_or_had_sources(old)):
        return replace_set_by_records(new, {})
    is_changed = _make_change_test(old, new, causes)
    claimed = _list_claimed_sources(old, new, mode, is_changed) if claims else []
    removes_all = change.gives_sources and not claimed
    remaining: list[Source] = []
    if old is not None and mode == "patch" and not removes_all:
        given = {field for source in claimed for field in list_cited_fields(source)}
        trimmed = (
            copy_source_without_fields(one, lambda field: is_changed(field) or _is_field_or_block_in(field, given))
            for one in list_sources(old)
        )
        remaining = [one for one in trimmed if one is not None]
    sources = merge_sources((*remaining, *claimed))
    cited = map_fields_to_source_ids(sources)
    records = {
        field: record
        for field, record in _revise_set_by_records(old, new, causes, claimed, change).items()
        if set(record.get("sources") or ()) <= set(cited.get(field, ()))  # not if its citation was removed
    }
    body = replace_set_by_records(new, records)
    return body if sources == list_sources(new) else replace_sources(body, sources)


def _revise_set_by_records(
    old: Entity | None, new: Entity, causes: Causes, claimed: list[Source], change: _Change
) -> dict[str, SetBy]:
    """Return the records with those of the fields that this change set, cited or left without a source."""
    records = get_set_by_records(old or {})
    is_changed = _make_change_test(old, new, causes)
    cited, given = map_fields_to_source_ids(list_sources(old or {})), map_fields_to_source_ids(claimed)
    fresh = _find_new_citations(old, claimed, is_changed)
    revised = dict(records)
    for field in {**cited, **records, **fresh}:
        is_in_block = field not in given and _is_field_or_block_in(field, given)
        if get_field_value(new, field) is None or is_in_block:
            revised.pop(field, None)
        elif field in fresh:
            revised[field] = {**change.record, "sources": fresh[field]}
        elif is_changed(field) or (change.mode == "body" and field not in given):
            revised[field] = {**change.record, **_make_cause_record(field, old, new, causes)}
    return revised


def _make_change_test(old: Entity | None, new: Entity, causes: Causes) -> FieldTest:
    """Return a test that is True for a field with a new value, or whose basis has changed."""
    has_moved = old is not None and old.get("parentId") != new.get("parentId")

    def is_changed(field: str) -> bool:
        if (
            old is None
            or field in causes
            or not is_same_value(get_field_value(old, field), get_field_value(new, field))
        ):
            return True
        return has_moved and field.partition(".")[0] in ORBIT_FIELDS

    return is_changed


def _make_cause_record(field: str, old: Entity | None, new: Entity, causes: Causes) -> SetBy:
    """Return the cause for the record of a field that was not set: recomputed, or its source withdrawn."""
    basis = causes.get(field)
    if old is None or not is_same_value(get_field_value(old, field), get_field_value(new, field)):
        return {"basis": basis} if basis else {}
    cause = basis or ("parentId" if old.get("parentId") != new.get("parentId") else None)
    return {"withdrawn": cause} if cause else {}


def _list_claimed_sources(old: Entity | None, new: Entity, mode: Mode, is_changed: FieldTest) -> list[Source]:
    """Return the sources given with a body, without stale ones that gave another value before."""
    given = list_sources(new)
    if mode == "patch" or old is None:
        return given
    cited = map_fields_to_source_ids(list_sources(old))

    def is_stale(field: str, source_id: str) -> bool:
        return source_id in cited.get(field, ()) and is_changed(field)

    trimmed = (copy_source_without_fields(one, lambda field, key=one["id"]: is_stale(field, key)) for one in given)
    return [one for one in trimmed if one is not None]


def _find_new_citations(old: Entity | None, claimed: list[Source], is_changed: FieldTest) -> dict[str, list[str]]:
    """Return the fields with new sources, locations or cited values, and the ids of their sources."""
    before = list_sources(old or {})
    cited = map_fields_to_source_ids(before)
    known = {(one["id"], field): location for one in before for field, location in get_locations_by_field(one).items()}
    located = {
        field
        for one in claimed
        for field, location in get_locations_by_field(one).items()
        if known.get((one["id"], field)) != location
    }
    return {
        field: ids
        for field, ids in map_fields_to_source_ids(claimed).items()
        if is_changed(field) or cited.get(field) != ids or field in located
    }


def _is_field_or_block_in(field: str, given: Collection[str]) -> bool:
    """Return True if a field, or a block around it, is one of the given fields."""
    parts = field.split(".")
    return any(".".join(parts[:count]) in given for count in range(1, len(parts) + 1))


def _make_set_by_record(origin: ChangeOrigin, reason: str | None) -> SetBy:
    record = {"version": origin.version, "by": origin.by, "reason": reason}
    return cast("SetBy", {name: value for name, value in record.items() if value is not None})
