"""Views of a universe as JSON: parts of its state, positions of bodies at a time, and differences of two states."""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import orjson

from universe.domain.entities import Entity
from universe.domain.names_and_numbers import find_nearest_entity_ids
from universe.domain.provenance.citations import move_out_shared_citations
from universe.domain.state import EMPTY, ENTITY_KINDS, Entities, EntityKind, Plain, State, list_self_and_descendants
from universe.errors import MalformedRequest
from universe.service.replies import EntityDifferences, Facts, StateDifferences, Universe
from universe.service.reply_encoding import check_known_fields, describe_record, has_only_model_fields, keep_only_fields
from universe.store.interface import UniverseRecord
from universe.store.recent_changes import EarlierState
from universe.store.replica import Replica
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.language.messages import format_did_you_mean

if TYPE_CHECKING:
    from universe.domain.orbits.kepler_equation import Floats
    from universe.domain.orbits.orrery import Orrery


_CACHED_UNIVERSES: Final = 8


class _Prepared(NamedTuple):
    """The bodies of a universe at a version, and their prepared orbits."""

    version: int
    stars: Entities
    orrery: "Orrery"


class BodyPositions:
    """Positions of the bodies of universes, with a cache of prepared orbits."""

    def __init__(self) -> None:
        self._prepared: OrderedDict[str, _Prepared] = OrderedDict()

    async def compute_at(self, universe_id: str, replica: Replica, time: float) -> "tuple[list[str], Floats]":
        """Return the ids and a row of x, y and z for each; NaN for a body without a position."""
        orrery = await self.prepare_orrery(universe_id, replica)
        return orrery.ids, await asyncio.to_thread(orrery.compute_positions, time)

    async def encode_elements(self, universe_id: str, replica: Replica) -> bytes:
        """Return the orbits of all bodies as one binary for viewers."""
        version, state = replica.version, replica.state
        orrery = await self.prepare_orrery(universe_id, replica)
        return await asyncio.to_thread(_encode_elements, orrery, version, state)

    async def prepare_orrery(self, universe_id: str, replica: Replica) -> "Orrery":
        """Return the prepared orbits of a universe; those of bodies that did not change are taken from the cache."""
        version, stars = replica.version, replica.state.stars
        known = self._prepared.get(universe_id)
        if known is not None and known.stars is stars:
            return known.orrery
        earlier = None if known is None else _find_earlier_state(known, replica)
        if known is None or earlier is None:
            orrery = await asyncio.to_thread(_make_orrery, replica.mirror.to_plain()["stars"])
        else:
            touched = earlier.touched.get("stars", {})
            has_same_ids = "stars" not in earlier.orders and all(key in stars and key in known.stars for key in touched)
            ids = None if has_same_ids else replica.mirror.list_body_ids()
            orrery = await asyncio.to_thread(known.orrery.update, known.stars, stars, touched, ids)
        self._prepared[universe_id] = _Prepared(version, stars, orrery)
        while len(self._prepared) > _CACHED_UNIVERSES:
            self._prepared.popitem(last=False)
        return orrery


def _find_earlier_state(known: _Prepared, replica: Replica) -> EarlierState | None:
    """Return the state whose orbits are prepared, and how it differs from the current one; None if that is unknown."""
    earlier = replica.recent.find_state_at(known.version)
    return None if earlier is None or earlier.state.stars is not known.stars else earlier


def _encode_elements(orrery: "Orrery", version: int, state: State) -> bytes:
    from universe.domain.orbits.element_buffers import encode_elements

    radii = [state.stars[key].get("radius") if key in state.stars else None for key in orrery.ids]
    return encode_elements(orrery, radii, version=version, time=state.time)


def _make_orrery(stars: dict[str, Entity]) -> "Orrery":
    from universe.domain.orbits.orrery import Orrery

    return Orrery(stars)


_MAX_INLINE_IDS: Final = 100
_MAX_SUGGESTIONS: Final = 20


class Region(NamedTuple):
    """A sphere."""

    x: float
    y: float
    z: float
    radius: float


class PartSelection(NamedTuple):
    """A part of a universe: which bodies, which of their fields, and how many of them; None selects all."""

    ids: Collection[str] | None = None
    fields: Collection[str] | None = None
    under: str | None = None
    near: Region | None = None
    limit: int | None = None
    after: str | None = None
    """The last body of the previous page."""
    is_compact: bool = False
    """With each citation once, and its id in the bodies."""

    @property
    def has_bodies_condition(self) -> bool:
        """True if only some of the entities are selected."""
        return (self.ids, self.under, self.near) != (None, None, None)


async def encode_part(
    record: UniverseRecord, replica: Replica, selection: PartSelection, positions: BodyPositions
) -> bytes:
    """Return a part of a universe as JSON. Raise MalformedRequest for an unknown field, body or cursor."""
    version, state = replica.version, replica.state
    facts = describe_record(record._replace(version=version))
    located = await positions.compute_at(record.id, replica, state.time) if selection.near is not None else None
    if selection.under is None and located is None and _is_quick(state, selection):
        return orjson.dumps(_make_part(facts, state, EMPTY.to_plain(), selection))
    plain = replica.mirror.to_plain()
    chosen = None if located is None or selection.near is None else _find_ids_near(*located, selection.near)
    return await asyncio.to_thread(lambda: orjson.dumps(_make_part(facts, state, plain, selection, chosen)))


def _is_quick(state: State, selection: PartSelection) -> bool:
    """Return True for a few entities that exist, with known fields: neither needs a look at all entities."""
    if selection.ids is None or len(selection.ids) > _MAX_INLINE_IDS:
        return False
    every = [state.get_entities(kind) for kind in ENTITY_KINDS]
    has_all = all(any(key in entities for entities in every) for key in selection.ids)
    return has_all and (selection.fields is None or has_only_model_fields(selection.fields))


def _make_part(
    facts: Facts,
    state: State,
    plain: Plain,
    selection: PartSelection,
    near: Collection[str] | None = None,
) -> Universe:
    """Return the reply. `plain` is the whole state, and may be empty if only ids are selected."""
    if selection.fields is not None:
        check_known_fields([state.get_entities(kind) for kind in ENTITY_KINDS], selection.fields)
    keys = _list_body_ids(state, plain, selection, near)
    total = len(keys)
    page = _take_page(keys, selection)
    stars = {key: state.stars[key] for key in page}
    others: dict[EntityKind, dict[str, Entity]] = {}
    for kind in ENTITY_KINDS[1:]:
        entities = state.get_entities(kind)
        if selection.ids is not None:
            others[kind] = {key: entities[key] for key in selection.ids if key in entities}
        else:
            is_whole = not selection.has_bodies_condition and selection.after is None
            others[kind] = dict(plain[kind]) if is_whole else {}
    part: Plain = {
        "stars": stars,
        "rootIds": _list_roots(state, stars, selection),
        "groups": others["groups"],
        "belts": others["belts"],
        "smallBodyFields": others["smallBodyFields"],
        "protoplanetaryDisks": others["protoplanetaryDisks"],
        "nebulae": others["nebulae"],
        "rootGroupIds": [key for key in state.rootGroupIds if key in others["groups"]],
        "time": state.time,
    }
    if selection.fields is not None:
        for kind in ENTITY_KINDS:
            part[kind] = {key: keep_only_fields(entity, selection.fields) for key, entity in part[kind].items()}
    reply: Universe = {**facts, "state": cast("JsonObject", part)}
    if selection.is_compact:
        reply["sources"] = move_out_shared_citations(part["stars"], min_uses=1)
    if selection.limit is not None or selection.has_bodies_condition:
        reply["total"] = total
        reply["next"] = page[-1] if page and page[-1] != keys[-1] else None
    if selection.ids is not None:
        _add_missing(reply, state, selection.ids)
    return reply


def _list_body_ids(state: State, plain: Plain, selection: PartSelection, near: Collection[str] | None) -> list[str]:
    """Return the ids of the selected bodies, in order."""
    if selection.ids is not None:
        keys = [key for key in dict.fromkeys(selection.ids) if key in state.stars]
    else:
        keys = list(plain["stars"])
    if selection.under is not None:
        if selection.under not in state.stars:
            nearest = find_nearest_entity_ids(selection.under, state.stars)
            raise MalformedRequest(
                f"There is no body '{selection.under[:100]}'.",
                hint=f"{format_did_you_mean(nearest)}under is the id of a body.",
                argument="under",
                nearest=nearest,
            )
        family = set(list_self_and_descendants(selection.under, state.stars))
        keys = [key for key in keys if key in family]
    return keys if near is None else [key for key in keys if key in near]


def _take_page(keys: list[str], selection: PartSelection) -> list[str]:
    if selection.after is not None:
        try:
            keys = keys[keys.index(selection.after) + 1 :]
        except ValueError:
            raise MalformedRequest(
                "cursor is not a body of this selection.",
                hint="Use `next` of the previous page, with the same version and parameters.",
                argument="cursor",
            ) from None
    return keys if selection.limit is None else keys[: selection.limit]


def _list_roots(state: State, stars: Mapping[str, Entity], selection: PartSelection) -> list[str]:
    """Return the roots among the bodies of the part; of a whole state its roots."""
    if selection.has_bodies_condition or selection.limit is not None:
        return [key for key, body in stars.items() if body.get("parentId") is None]
    return list(state.rootIds)


def _find_ids_near(ids: list[str], positions: "Floats", region: Region) -> set[str]:
    import numpy as np

    offsets = positions - np.array(region[:3])
    inside = np.flatnonzero((offsets * offsets).sum(axis=1) <= region.radius * region.radius)
    return {ids[index] for index in inside.tolist()}


def _add_missing(reply: Universe, state: State, ids: Iterable[str]) -> None:
    """Add the ids that do not exist, and the nearest that do."""
    every = [state.get_entities(kind) for kind in ENTITY_KINDS]
    missing = [key for key in dict.fromkeys(ids) if not any(key in entities for entities in every)]
    near = {
        key: [one for entities in every for one in find_nearest_entity_ids(key, entities)][:3]
        for key in islice(missing, _MAX_SUGGESTIONS)
    }
    reply["notFound"] = missing
    if found := {key: nearest for key, nearest in near.items() if nearest}:
        reply["nearest"] = found


_NO_ENTITIES: Final[dict[str, Entity]] = {}
MAX_CHANGED: Final = 1_000
"""The most changed entities, and the most added or removed ids, that are listed of each kind; all are counted."""


def compare_plain_states(before: Plain, after: Plain) -> StateDifferences:
    """Return, for each kind of entity that differs, ids that were added and removed, and changed fields.

    A changed field has its path, such as `kepler.period`, and its old and new value; None for a value that is missing.
    """
    differences: dict[EntityKind, EntityDifferences] = {}
    for kind in ENTITY_KINDS:
        old, new = before.get(kind) or _NO_ENTITIES, after.get(kind) or _NO_ENTITIES
        added, removed = [key for key in new if key not in old], [key for key in old if key not in new]
        changed = [key for key in new if key in old and new[key] != old[key]]
        if added or removed or changed:
            differences[kind] = {
                "addedCount": len(added),
                "removedCount": len(removed),
                "changedCount": len(changed),
                "added": added[:MAX_CHANGED],
                "removed": removed[:MAX_CHANGED],
                "changed": {
                    key: dict(islice(_iterate_changed_fields(old[key], new[key]), MAX_CHANGED))
                    for key in changed[:MAX_CHANGED]
                },
            }
    time: list[float | None] = [before.get("time"), after.get("time")]
    return {"equal": not differences and time[0] == time[1], "time": time, "differences": differences}


def _iterate_changed_fields(old: Json, new: Json, path: str = "") -> Iterator[tuple[str, list[Json]]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            if old.get(name) != new.get(name):
                yield from _iterate_changed_fields(old.get(name), new.get(name), f"{path}.{name}" if path else name)
        return
    yield path, [old, new]
