"""Belts of particles, disks and nebulae: the same rules three times."""

from typing import Any, Final, NamedTuple

import pytest

from tests.universe.domain.samples import (
    Json,
    a_disk,
    a_field,
    a_nebula,
    apply_accepted,
    apply_commands,
    apply_refused,
    command,
)
from universe.domain.state import EMPTY, EntityKind


class Collection(NamedTuple):
    kind: EntityKind
    noun: str
    """As the commands have it."""
    plural: str
    """As the command that sets all has it."""
    field: str
    make: Any

    @property
    def event(self) -> str:
        return self.noun[0].lower() + self.noun[1:]

    def set(self, entities: Json) -> Json:
        return command(f"set{self.plural}", **{self.field: entities})

    def update(self, key: str, **patch: Any) -> Json:
        return command(f"update{self.noun}", id=key, patch=patch)

    def remove(self, key: str) -> Json:
        return command(f"remove{self.noun}", id=key)


COLLECTIONS: Final = [
    Collection("smallBodyFields", "SmallBodyField", "SmallBodyFields", "fields", a_field),
    Collection("protoplanetaryDisks", "ProtoplanetaryDisk", "ProtoplanetaryDisks", "disks", a_disk),
    Collection("nebulae", "Nebula", "Nebulae", "nebulae", a_nebula),
]
each_collection = pytest.mark.parametrize("of", COLLECTIONS, ids=lambda of: of.kind)


@each_collection
def test_setting_replaces_the_whole_map(of: Collection) -> None:
    first = apply_commands(of.set({"a": of.make("a"), "b": of.make("b")}))
    found = apply_accepted(first, of.set({"b": of.make("b", note=1), "c": of.make("other")}))
    assert found.events == [{"type": f"{of.plural[0].lower()}{of.plural[1:]}Set"}]
    assert dict(found.state.get_entities(of.kind)) == {"b": of.make("b", note=1), "c": of.make("other")}
    assert found.touched[of.kind].keys() == {"a", "b", "c"}
    assert dict(apply_commands(of.set({}), start=first).get_entities(of.kind)) == {}


@each_collection
def test_an_update_merges_one_level_deep_and_may_change_the_id_inside_but_not_the_key(of: Collection) -> None:
    first = apply_commands(of.set({"a": of.make("a"), "b": of.make("b")}))
    found = apply_accepted(first, of.update("a", id="z", seed=9, note={"deep": None}, visible=None))
    assert found.events == [{"type": f"{of.event}Updated", "id": "a"}]
    assert found.state.get_entities(of.kind)["a"] == of.make("z", seed=9, note={"deep": None}, visible=None)
    assert found.state.get_entities(of.kind)["b"] is first.get_entities(of.kind)["b"]
    assert "z" not in found.state.get_entities(of.kind)


@each_collection
@pytest.mark.parametrize("key", ["ghost", "constructor", "__proto__"])
def test_a_missing_entity_cannot_be_updated(of: Collection, key: str) -> None:
    assert apply_refused(EMPTY, of.update(key, seed=1)) == {"type": f"{of.event}NotFound", "id": key}


@each_collection
def test_removing_always_succeeds_and_gives_a_new_state(of: Collection) -> None:
    first = apply_commands(of.set({"a": of.make("a"), "b": of.make("b")}))
    found = apply_accepted(first, of.remove("a"))
    assert found.events == [{"type": f"{of.event}Removed", "id": "a"}]
    assert set(found.state.get_entities(of.kind)) == {"b"}
    nothing = apply_accepted(found.state, of.remove("a"))
    assert nothing.events == found.events
    assert nothing.state == found.state


@each_collection
def test_the_other_maps_are_the_very_same_after(of: Collection) -> None:
    full = apply_commands(*(other.set({"a": other.make("a")}) for other in COLLECTIONS))
    for given in (of.set({}), of.update("a", seed=2), of.remove("a"), of.remove("ghost")):
        state = apply_accepted(full, given).state
        for other in COLLECTIONS:
            assert (state.get_entities(other.kind) is full.get_entities(other.kind)) or other is of


def test_a_disk_is_added_under_its_own_id_and_replaces_the_one_there() -> None:
    found = apply_accepted(EMPTY, command("addProtoplanetaryDisk", disk=a_disk("d", note=1)))
    assert found.events == [{"type": "protoplanetaryDiskAdded", "id": "d"}]
    assert dict(found.state.protoplanetaryDisks) == {"d": a_disk("d", note=1)}
    again = apply_accepted(found.state, command("addProtoplanetaryDisk", disk=a_disk("d")))
    assert dict(again.state.protoplanetaryDisks) == {"d": a_disk("d")}
