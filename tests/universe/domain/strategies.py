"""Hypothesis strategies for commands of every kind, with few and odd ids that collide."""

from typing import Any, Final

from hypothesis import strategies as st

from tests.universe.domain.samples import (
    RING,
    Json,
    a_belt,
    a_body,
    a_disk,
    a_field,
    a_group,
    a_group_payload,
    a_nebula,
    a_payload,
    a_snapshot,
    command,
    make_member,
)

IDS: Final = ("a b ", "🪐", "__proto__", "42", "x" * 256)

ids = st.sampled_from(IDS)
names = st.sampled_from(["", "Tyge", "constructor", "naïve \u0000 %s {0}"])
numbers = st.integers(-1000, 1000) | st.floats(-1e6, 1e6)
masses = st.integers(0, 1000) | st.floats(0, 1e6)
aeons = st.sampled_from([2**53, -(2**53), 2**64 - 1, -(2**63), 1e308, -1e308])
parents = st.none() | st.just("") | ids
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | names,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=4,
)
unknown_keys = st.dictionaries(st.sampled_from(["note", "toString", "é.é"]), json_values, max_size=1)
children = st.lists(ids, max_size=4)
entries = st.builds(make_member, ids, st.sampled_from(["group", "system"]))
members = st.lists(entries, max_size=4)
rings = st.none() | st.just(RING)


def optional_fields(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Any of these fields, and perhaps one that nobody knows."""
    return st.builds(_joined, unknown_keys, st.fixed_dictionaries({}, optional=fields))


def _joined(base: Json, given: Json) -> Json:
    return {**base, **given}


def _group_payload(parent: str | None, listed: list[Json], extra: Json) -> Json:
    return a_group_payload(parent, *listed, **extra)


payloads = st.builds(
    _joined,
    st.builds(a_payload, parents),
    optional_fields(mass=masses, orbitalPhase=st.none() | numbers, ring=rings, id=json_values, children=json_values),
)
star_patches = optional_fields(
    mass=masses, radius=numbers, color=names, ring=rings, parentId=parents, children=children, id=ids, kepler=st.none()
)
group_payloads = st.builds(_group_payload, parents, members, unknown_keys)
group_patches = optional_fields(name=names, color=st.none() | names, parentGroupId=parents, children=members, id=ids)
ring_patches = optional_fields(
    opacity=numbers, color=names, warpFactor=st.none() | numbers, seed=st.none() | names | numbers
)
patches = optional_fields(id=ids, seed=names | numbers, radius=numbers, opacity=numbers, name=names)
bodies = st.builds(_joined, st.builds(a_body, ids, parents, children), optional_fields(mass=masses, ring=rings))
groups = st.builds(_joined, group_payloads, st.fixed_dictionaries({"id": ids}))
fields = st.builds(_joined, st.builds(a_field, ids), unknown_keys)
disks = st.builds(_joined, st.builds(a_disk, ids), unknown_keys)
nebulae = st.builds(_joined, st.builds(a_nebula, ids), unknown_keys)
belts = st.builds(_joined, st.builds(a_belt, ids), unknown_keys)


def map_by_id(entity: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.dictionaries(ids, entity, max_size=3)


snapshots = st.fixed_dictionaries(
    {"stars": map_by_id(bodies), "rootIds": children, "groups": st.none() | map_by_id(groups)},
    optional={
        "rootGroupIds": st.none() | children,
        "belts": st.none() | map_by_id(belts),
        "smallBodyFields": st.none() | map_by_id(fields),
        "protoplanetaryDisks": st.none() | map_by_id(disks),
        "nebulae": st.none() | map_by_id(nebulae),
        "time": json_values,
        "selection": json_values,
    },
)


def _of(kind: str, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.builds(command, st.just(kind), **parts)


COMMANDS: Final[dict[str, st.SearchStrategy[Json]]] = {
    "tick": _of("tick", dt=numbers | aeons) | st.just({"type": "tick"}),
    "addStar": _of("addStar", id=ids, payload=payloads),
    "updateStar": _of("updateStar", id=ids, payload=star_patches),
    "removeStar": _of("removeStar", id=ids),
    "attachStar": _of("attachStar", childId=ids, parentId=ids),
    "detachStar": _of("detachStar", childId=ids),
    "addGroup": _of("addGroup", id=ids, payload=group_payloads),
    "updateGroup": _of("updateGroup", id=ids, payload=group_patches),
    "removeGroup": _of("removeGroup", id=ids),
    "addToGroup": _of("addToGroup", groupId=ids, child=entries),
    "removeFromGroup": _of("removeFromGroup", groupId=ids, childId=ids),
    "moveToGroup": _of(
        "moveToGroup", childId=ids, childType=st.sampled_from(["system", "group"]), targetGroupId=parents
    ),
    "setSmallBodyFields": _of("setSmallBodyFields", fields=map_by_id(fields)),
    "updateSmallBodyField": _of("updateSmallBodyField", id=ids, patch=patches),
    "removeSmallBodyField": _of("removeSmallBodyField", id=ids),
    "setProtoplanetaryDisks": _of("setProtoplanetaryDisks", disks=map_by_id(disks)),
    "addProtoplanetaryDisk": _of("addProtoplanetaryDisk", disk=disks),
    "updateProtoplanetaryDisk": _of("updateProtoplanetaryDisk", id=ids, patch=patches),
    "removeProtoplanetaryDisk": _of("removeProtoplanetaryDisk", id=ids),
    "setNebulae": _of("setNebulae", nebulae=map_by_id(nebulae)),
    "updateNebula": _of("updateNebula", id=ids, patch=patches),
    "removeNebula": _of("removeNebula", id=ids),
    "updateRing": _of("updateRing", planetId=ids, patch=ring_patches),
    "removeRing": _of("removeRing", planetId=ids),
    "replaceSnapshot": _of("replaceSnapshot", snapshot=snapshots),
}


FLAT: Final = command(
    "replaceSnapshot",
    snapshot=a_snapshot(
        stars={key: a_body(key) for key in IDS},
        rootIds=list(IDS),
        groups={key: a_group(key) for key in IDS},
        rootGroupIds=list(IDS),
        smallBodyFields={key: a_field(key) for key in IDS},
        protoplanetaryDisks={key: a_disk(key) for key in IDS},
        nebulae={key: a_nebula(key) for key in IDS},
    ),
)
"""Makes a universe in which whatever a command names is there."""

_ABOVE: Final = list(zip(IDS[1:], IDS[:-1], strict=True))
TANGLED: Final = command(
    "replaceSnapshot",
    snapshot=a_snapshot(
        stars={key: a_body(key, parent, IDS) for key, parent in _ABOVE},
        groups={key: a_group(key, parent, *map(make_member, IDS)) for key, parent in _ABOVE},
    ),
)
"""Makes one in which everything is below the one before, the first below what is not there, and all list all."""


def commands_of_kinds(*kinds: str) -> st.SearchStrategy[Json]:
    return st.one_of([COMMANDS[kind] for kind in kinds])
