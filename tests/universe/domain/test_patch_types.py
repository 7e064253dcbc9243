"""Changes to entities: any field, none required, and null only where the entity may have null."""

from typing import Any, Final

import pytest

from tests.universe.domain.samples import RING, Json, a_disk, a_field, a_group, a_nebula, command, parse
from universe.domain import entities
from universe.domain.command_parser import parse_command
from universe.errors import MalformedCommand

PATCHED: Final = {
    "updateStar": ("id", "payload", entities.Star),
    "updateGroup": ("id", "payload", entities.Group),
    "updateRing": ("planetId", "patch", entities.PlanetaryRing),
    "updateSmallBodyField": ("id", "patch", entities.SmallBodyField),
    "updateProtoplanetaryDisk": ("id", "patch", entities.ProtoplanetaryDisk),
    "updateNebula": ("id", "patch", entities.NebulaRegion),
}
"""The commands that patch, their names of the entity and of the patch, and what is patched."""
MAY_BE_NULL: Final = {"parentId", "parentGroupId"}
FIELDS: Final = [(kind, name) for kind, (_, _, entity) in PATCHED.items() for name in sorted(entity.__annotations__)]


def patch(kind: str, changes: Json) -> Json:
    key, field, _ = PATCHED[kind]
    return command(kind, **{key: "x", field: changes})


def refusal_of(kind: str, changes: Json) -> MalformedCommand:
    with pytest.raises(MalformedCommand) as caught:
        parse_command(patch(kind, changes))
    return caught.value


def may_be_null(kind: str, name: str) -> bool:
    return name in PATCHED[kind][2].__optional_keys__ or name in MAY_BE_NULL


@pytest.mark.parametrize("kind", PATCHED)
def test_a_patch_needs_no_field_and_keeps_unknown_fields(kind: str) -> None:
    assert parse_command(patch(kind, {})) == patch(kind, {})
    odd: Json = {"toString": [1, {"é": None}], "__proto__": {}, "": 5}
    assert parse_command(patch(kind, odd)) == patch(kind, odd)


@pytest.mark.parametrize(("kind", "name"), [pair for pair in FIELDS if not may_be_null(*pair)])
def test_required_fields_of_an_entity_cannot_be_set_to_null(kind: str, name: str) -> None:
    error = refusal_of(kind, {name: None})
    assert error.ids["path"].split(".")[:2] == [PATCHED[kind][1], name]


@pytest.mark.parametrize(("kind", "name"), [pair for pair in FIELDS if may_be_null(*pair)])
def test_optional_fields_of_an_entity_can_be_set_to_null(kind: str, name: str) -> None:
    assert parse(patch(kind, {name: None}))[PATCHED[kind][1]] == {name: None}


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_a_field_of_the_wrong_kind_is_refused_in_a_patch_as_in_the_entity(kind: str, name: str) -> None:
    wrong: Any = 5 if name in {"children", "ring", "position", "dimensions"} else {"wrong": True}
    assert refusal_of(kind, {name: wrong}).ids["path"].startswith(f"{PATCHED[kind][1]}.{name}")


@pytest.mark.parametrize("name", sorted(RING))
def test_a_nested_block_is_replaced_whole_and_so_must_be_whole(name: str) -> None:
    broken = {key: value for key, value in RING.items() if key != name}
    assert refusal_of("updateStar", {"ring": broken}).ids["path"] == f"payload.ring.{name}"
    assert parse(patch("updateStar", {"ring": RING}))["payload"] == {"ring": RING}


def test_a_ring_itself_can_be_patched_by_any_of_its_fields() -> None:
    for name, value in RING.items():
        assert parse(patch("updateRing", {name: value}))["patch"] == {name: value}


@pytest.mark.parametrize(
    ("kind", "whole"),
    [
        ("updateGroup", a_group("g")),
        ("updateSmallBodyField", a_field()),
        ("updateProtoplanetaryDisk", a_disk()),
        ("updateNebula", a_nebula()),
    ],
)
def test_a_whole_entity_is_a_patch_too(kind: str, whole: Json) -> None:
    assert parse(patch(kind, whole))[PATCHED[kind][1]] == whole


def test_the_children_of_a_group_are_checked_one_by_one_in_a_patch() -> None:
    listed = [{"id": "a", "type": "system"}, {"id": "b", "type": "planet"}]
    error = refusal_of("updateGroup", {"children": listed})
    assert error.ids["path"] == "payload.children.1.type"
    assert "'system'" in error.ids["allowed"]
    assert "'group'" in error.ids["allowed"]


def test_an_id_in_a_patch_is_an_id() -> None:
    assert refusal_of("updateNebula", {"id": ""}).ids["path"] == "patch.id"
    assert refusal_of("updateStar", {"id": "x" * 257}).ids["path"] == "payload.id"
