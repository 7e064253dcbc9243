"""Parsing of commands, and the errors for malformed ones."""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

import orjson
import pytest
from hypothesis import given as hypothesis_given

from tests.universe.domain.samples import (
    Json,
    a_body,
    a_disk,
    a_group,
    a_nebula,
    a_payload,
    a_snapshot,
    add_group,
    add_star,
    command,
    example,
    parse,
)
from tests.universe.domain.strategies import commands_of_kinds
from universe.domain.command_parser import parse_command, parse_small_command
from universe.domain.commands import CATEGORIES, COMMAND_CLASSES, COMMAND_TYPES, get_command_type
from universe.errors import MalformedCommand, UnknownCommand

ID_CHARS = 256
DEPTH = 64

SECRET: Final = "sk-hven-1576-secret"
ODD_IDS: Final = (" ", "a b", "🪐", "__proto__", "constructor", "0042", "a.b/c?d", "{id}", "\u0000", "x" * ID_CHARS)
ID_FIELDS: Final = ("id", "childId", "parentId", "groupId", "planetId")


def leaves(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of the values that are neither objects nor arrays."""
    if isinstance(value, dict | list) and value:
        inner = cast("Any", value)
        for key in inner if isinstance(value, dict) else range(len(inner)):
            yield from leaves(inner[key], (*place, key))
    elif not isinstance(value, dict | list):
        yield place


def with_value(given: Json, place: tuple[str | int, ...], value: Any) -> Json:
    """Set the value at this path of the object, and return the object."""
    inner: Any = given
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return given


LEAVES: Final = [(kind, place) for kind in COMMAND_TYPES for place in leaves(example(kind)) if place != ("type",)]
NUMBERS: Final = [(kind, place) for kind, place in LEAVES if place[-1] in {"dt", "mass", "opacity", "radius", "x"}]
REQUIRED: Final = [
    (kind, name) for kind in COMMAND_TYPES for name in sorted(COMMAND_CLASSES[kind].__required_keys__ - {"type"})
]


def refusal_of(given: Any) -> MalformedCommand:
    with pytest.raises(MalformedCommand) as caught:
        parse_command(given)
    return caught.value


def _snapshot_with(body: Json, **fields: Any) -> Json:
    return command("replaceSnapshot", snapshot=a_snapshot(stars={"a": body}, **fields))


def containers(value: Any) -> set[int]:
    if isinstance(value, dict):
        return {id(cast("Json", value))}.union(*map(containers, cast("Json", value).values()))
    if isinstance(value, list):
        return {id(cast("list[Any]", value))}.union(*map(containers, cast("list[Any]", value)))
    return set()


@pytest.mark.parametrize("kind", COMMAND_TYPES)
def test_a_well_formed_command_is_copied_unchanged(kind: str) -> None:
    given = example(kind)
    parsed: Any = parse_command(given)
    assert parsed == given == example(kind)
    assert not containers(parsed) & containers(given)


def test_there_are_25_commands_in_ten_categories() -> None:
    assert len(CATEGORIES) == 10
    assert [get_command_type(kind) for _, _, kinds in CATEGORIES for kind in kinds] == COMMAND_TYPES
    assert len(set(COMMAND_TYPES)) == 25
    assert [slug for _, slug, _ in CATEGORIES] == [name.lower().replace(" ", "-") for name, _, _ in CATEGORIES]


@pytest.mark.parametrize(("kind", "name"), REQUIRED)
def test_a_missing_field_is_named(kind: str, name: str) -> None:
    given = example(kind)
    del given[name]
    error = refusal_of(given)
    assert error.ids["path"] == name
    assert error.message == f"{name} is missing."
    assert error.ids["command"] == kind
    assert "list_universe_commands" in error.hint


def test_a_missing_field_is_reported_with_its_allowed_values() -> None:
    for kind, name in REQUIRED:
        given = example(kind)
        del given[name]
        assert refusal_of(given).ids.get("allowed"), (kind, name)
    assert refusal_of(command("removeStar")).ids["allowed"] == "string"
    assert refusal_of(command("setNebulae")).ids["allowed"] == "map of id to NebulaRegion"
    error = refusal_of(command("moveToGroup", childId="a", targetGroupId=None))
    assert error.ids["allowed"] == '"system" | "group"'
    lacking = refusal_of(command("addStar", id="x", payload={"name": "x"}))
    assert (lacking.ids["path"], lacking.ids["allowed"]) == ("payload.mass", "number")


@pytest.mark.parametrize(("kind", "name"), REQUIRED)
@pytest.mark.parametrize("wrong", [5, True, ["a"], 1.5])
def test_a_field_of_the_wrong_kind_is_named(kind: str, name: str, wrong: Any) -> None:
    error = refusal_of({**example(kind), name: wrong})
    assert error.ids["path"] == name
    assert error.ids["allowed"]


@pytest.mark.parametrize(("kind", "name"), [pair for pair in REQUIRED if pair[1] != "targetGroupId"])
def test_required_fields_are_never_null(kind: str, name: str) -> None:
    assert refusal_of({**example(kind), name: None}).ids["path"] == name


@pytest.mark.parametrize(("kind", "place"), [pair for pair in LEAVES if pair[1][-1] != "seed"])
@pytest.mark.parametrize("wrong", [{"wrong": 1}, [1]], ids=["object", "list"])
def test_a_value_of_the_wrong_kind_is_named_by_its_exact_path(
    kind: str, place: tuple[str | int, ...], wrong: Any
) -> None:
    given = with_value(example(kind), place, wrong)
    assert refusal_of(given).ids["path"] == ".".join(map(str, place))


def test_a_seed_of_the_wrong_kind_is_named_by_its_exact_path() -> None:
    for given, path in [
        (command("setNebulae", nebulae={"n": a_nebula(seed=[])}), "nebulae.n.seed"),
        (command("addProtoplanetaryDisk", disk=a_disk(seed=True)), "disk.seed"),
        (command("updateRing", planetId="a", patch={"seed": {}}), "patch.seed"),
        (command("setNebulae", nebulae={"str": a_nebula(seed=[])}), "nebulae.str.seed"),
    ]:
        error = refusal_of(given)
        assert error.ids["path"] == path
        assert error.message == f"{path} is neither a string nor a number."
        assert error.ids["allowed"] == "a string or a number"


def test_a_path_that_ends_in_the_name_of_a_kind_is_left_whole() -> None:
    error = refusal_of(command("setNebulae", nebulae={"str": 5}))
    assert error.ids["path"] == "nebulae.str"
    assert error.ids["allowed"] == "an object"


@pytest.mark.parametrize(("kind", "place"), LEAVES)
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_refused_with_its_exact_path(
    kind: str, place: tuple[str | int, ...], number: float
) -> None:
    error = refusal_of(with_value(example(kind), place, number))
    assert error.ids["path"] == ".".join(map(str, place))
    assert error.ids["allowed"] == "finite numbers"
    assert error.ids["command"] == error.ids["example"]["type"] == kind


@pytest.mark.parametrize(
    "kind", [kind for kind in COMMAND_TYPES if {"payload", "patch", "disk"} & COMMAND_CLASSES[kind].__required_keys__]
)
def test_nan_deep_inside_unknown_fields_is_refused_all_the_same(kind: str) -> None:
    given = example(kind)
    name = next(iter({"payload", "patch", "disk"} & given.keys()))
    given[name]["note"] = [{"deep": [0, math.nan]}]
    assert refusal_of(given).ids["path"] == f"{name}.note.0.deep.1"


def test_the_path_leads_into_nested_blocks() -> None:
    given = example("addStar")
    given["payload"]["ring"]["opacity"] = "half"
    error = refusal_of(given)
    assert error.ids["path"] == "payload.ring.opacity"
    assert error.message == "payload.ring.opacity is not a number."
    assert error.ids["allowed"] == "a number"


@pytest.mark.parametrize(("kind", "place"), NUMBERS)
@pytest.mark.parametrize("wrong", [True, "5", None])
def test_neither_truth_nor_text_nor_null_is_a_number(kind: str, place: tuple[str | int, ...], wrong: Any) -> None:
    assert refusal_of(with_value(example(kind), place, wrong)).ids["path"] == ".".join(map(str, place))


@pytest.mark.parametrize(("kind", "place"), NUMBERS)
def test_integers_and_floats_are_numbers_and_keep_their_type(kind: str, place: tuple[str | int, ...]) -> None:
    negative = () if place[-1] == "mass" else (-(2**63),)
    for number in (3, 3.0, *negative, 2**64 - 1, 1e308):
        parsed: Any = parse_command(with_value(example(kind), place, number))
        for key in place:
            parsed = parsed[key]
        assert parsed == number
        assert type(parsed) is type(number)


@pytest.mark.parametrize("kind", COMMAND_TYPES)
def test_an_unknown_field_of_a_command_is_refused_with_the_fields_there_are(kind: str) -> None:
    error = refusal_of({**example(kind), "surplus": SECRET})
    assert error.ids["path"] == "surplus"
    assert error.ids["allowed"] == [name for name in COMMAND_CLASSES[kind].__annotations__ if name != "type"]
    assert error.message == f"surplus is not a field of the command {kind}."
    assert SECRET not in str(error.body())


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("addStar", ("payload",)),
        ("addStar", ("payload", "ring")),
        ("addGroup", ("payload",)),
        ("addGroup", ("payload", "children", 0)),
        ("addGroup", ("payload", "position")),
        ("addToGroup", ("child",)),
        ("addProtoplanetaryDisk", ("disk",)),
        ("setSmallBodyFields", ("fields", "f")),
        ("setNebulae", ("nebulae", "n", "position")),
        ("replaceSnapshot", ("snapshot", "stars", "sun")),
        ("replaceSnapshot", ("snapshot",)),
    ],
)
def test_unknown_keys_inside_are_preserved(kind: str, place: tuple[str | int, ...]) -> None:
    given = example(kind)
    odd = {"hasOwnProperty": [None, {"": "🪐"}]}
    parsed: Any = parse_command(with_value(given, (*place, "__proto__"), odd))
    assert parsed == given
    for key in place:
        parsed = parsed[key]
    assert parsed["__proto__"] == odd


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in COMMAND_TYPES for name in ID_FIELDS if name in COMMAND_CLASSES[kind].__annotations__],
)
def test_an_id_has_1_to_256_characters_of_any_kind(kind: str, name: str) -> None:
    for good in ODD_IDS:
        assert parse({**example(kind), name: good})[name] == good
    for bad, allowed in [
        ("", "1 to 256 characters"),
        ("x" * (ID_CHARS + 1), "at most 256 characters"),
        ("🪐" * 257, "at most 256 characters"),
    ]:
        error = refusal_of({**example(kind), name: bad})
        assert error.ids["path"] == name
        assert error.ids["allowed"] == allowed


REFERRING: Final[list[tuple[Callable[[str], Json], str]]] = [
    (lambda key: add_star("x", key), "payload.parentId"),
    (lambda key: command("updateStar", id="x", payload={"parentId": key}), "payload.parentId"),
    (lambda key: add_group("x", key), "payload.parentGroupId"),
    (lambda key: command("updateGroup", id="x", payload={"parentGroupId": key}), "payload.parentGroupId"),
    (lambda key: command("moveToGroup", childId="x", childType="group", targetGroupId=key), "targetGroupId"),
    (
        lambda key: command("replaceSnapshot", snapshot=a_snapshot(stars={"x": a_body("x", key)})),
        "snapshot.stars.x.parentId",
    ),
    (
        lambda key: command("replaceSnapshot", snapshot=a_snapshot(groups={"x": a_group("x", key)})),
        "snapshot.groups.x.parentGroupId",
    ),
]


@pytest.mark.parametrize(("given", "path"), REFERRING)
def test_an_id_that_is_referred_to_may_be_empty_but_not_longer_than_ids_are(
    given: Callable[[str], Json], path: str
) -> None:
    for good in ("", "x" * ID_CHARS, "🪐" * ID_CHARS):
        assert parse_command(given(good)) == given(good)
    error = refusal_of(given("x" * (ID_CHARS + 1)))
    assert error.ids["path"] == path
    assert error.ids["allowed"] == "at most 256 characters"


@pytest.mark.parametrize("key", ["", "x" * 257])
@pytest.mark.parametrize(
    ("kind", "path"),
    [("setNebulae", "nebulae"), ("setSmallBodyFields", "fields"), ("setProtoplanetaryDisks", "disks")],
)
def test_an_id_that_is_a_key_has_1_to_256_characters_too(kind: str, path: str, key: str) -> None:
    given = example(kind)
    [entity] = given[path].values()
    given[path] = {key: entity}
    error = refusal_of(given)
    assert error.ids["path"] == path
    assert error.message == f"{path} has an id that is empty or too long."
    assert error.ids["allowed"] == "1 to 256 characters"


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**300])
def test_integers_beyond_64_bits_become_the_nearest_float(number: int) -> None:
    dt = parse(command("tick", dt=number))["dt"]
    assert (type(dt), dt) == (float, float(number))
    assert parse(add_star("x", None, note=[number]))["payload"]["note"] == [float(number)]


def test_integers_beyond_all_floats_are_refused() -> None:
    assert refusal_of(command("tick", dt=10**400)).ids["path"] == "dt"
    assert refusal_of(add_star("x", None, note={"n": [-(10**400)]})).ids["path"] == "payload.note.n.0"


@pytest.mark.parametrize("mass", [-1, -0.5, -1e308])
def test_a_negative_mass_is_refused_wherever_a_body_is_given(mass: float) -> None:
    for given, path in [
        (add_star("x", None, mass=mass), "payload.mass"),
        (command("updateStar", id="x", payload={"mass": mass}), "payload.mass"),
        (command("replaceSnapshot", snapshot=a_snapshot(stars={"x": a_body("x", mass=mass)})), "snapshot.stars.x.mass"),
    ]:
        error = refusal_of(given)
        assert error.message == f"{path} must be greater than or equal to 0."
        assert error.ids["allowed"] == "greater than or equal to 0"
    assert parse(add_star("x", None, mass=0))["payload"]["mass"] == 0


def test_all_problems_of_a_command_are_listed_at_once_with_a_valid_example() -> None:
    error = refusal_of({"type": "addStar", "payload": {"name": 5, "mass": -1, "parentId": None}, "idd": "x"})
    assert [(one["path"], one["problem"]) for one in error.ids["problems"]] == [
        ("idd", "is not a field of the command addStar"),
        ("id", "is missing"),
        ("payload.name", "is not a string"),
        ("payload.mass", "must be greater than or equal to 0"),
        ("payload.radius", "is missing"),
        ("payload.color", "is missing"),
        ("payload.orbitalDistance", "is missing"),
        ("payload.orbitalSpeed", "is missing"),
    ]
    assert all(one["allowed"] for one in error.ids["problems"])
    assert error.ids["path"] == "idd"
    assert error.hint.startswith("Did you mean 'id'? ")
    assert all(f"{one['path']} {one['problem']}" in error.message for one in error.ids["problems"])
    assert parse(error.ids["example"])["type"] == "addStar"


@pytest.mark.parametrize("kind", COMMAND_TYPES)
def test_every_malformed_command_is_shown_a_valid_one_of_its_kind(kind: str) -> None:
    error = refusal_of({**example(kind), "surplus": 1})
    assert error.ids["example"]["type"] == kind
    assert parse_command(error.ids["example"]) == error.ids["example"]
    assert "problems" not in error.ids, "one problem is in the message"


def test_fields_that_belong_inside_the_payload_are_named_so() -> None:
    error = refusal_of({"type": "addStar", "id": "x", **a_body("x")})
    problems = {one["path"]: one["problem"] for one in error.ids["problems"]}
    assert problems["mass"] == "is not a field of the command addStar; put it inside payload"
    assert problems["payload"] == "is missing"


def test_a_missing_field_with_a_misspelled_one_beside_it_is_reported_with_it() -> None:
    given = example("addStar")
    given["payload"]["mas"] = given["payload"].pop("mass")
    assert refusal_of(given).message == "payload.mass is missing; there is 'mas'."


@pytest.mark.parametrize("count", [20, 21, 5_000])
def test_problems_are_listed_up_to_a_number_and_in_bounded_time(count: int) -> None:
    flood = {f"field{number}": number for number in range(count)}
    error = refusal_of({**command("removeStar"), **flood})
    assert len(error.ids["problems"]) == 20
    assert len(error.message) < 1_000
    stars: dict[str, Any] = {str(number): {} for number in range(count)}
    error = refusal_of(command("replaceSnapshot", snapshot=a_snapshot(stars=stars)))
    assert len(error.ids["problems"]) == 20


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("addPlanet", "addStar"),
        ("AddStar", "addStar"),
        ("deleteStar", "removeStar"),
        ("deletePlanet", "removeStar"),
        ("updatePlanet", "updateStar"),
        ("setNebula", "updateNebula"),
        ("createGroup", "addGroup"),
        ("step", "tick"),
        ("advanceTime", "tick"),
    ],
)
def test_an_unknown_command_is_shown_the_one_that_was_probably_meant(word: str, meant: str) -> None:
    with pytest.raises(UnknownCommand) as caught:
        parse_command({"type": word})
    assert caught.value.ids["nearest"][0] == meant
    assert caught.value.ids["example"]["type"] == meant
    assert caught.value.hint.startswith(f"Did you mean '{meant}'")


def test_a_command_without_a_similar_name_has_no_suggestion() -> None:
    with pytest.raises(UnknownCommand) as caught:
        parse_command({"type": "🪐" * 5_000})
    assert "nearest" not in caught.value.ids


def test_half_a_character_is_refused_in_an_id_a_value_and_a_key() -> None:
    assert refusal_of(command("removeStar", id="\ud800")).ids["path"] == "id"
    assert refusal_of(add_star("x", None, name="\udfff")).ids["path"] == "payload.name"
    assert refusal_of(add_star("x", None, note={"\ud800": 1})).ids["path"] == "payload.note.?"
    assert refusal_of({"type": "\ud800"}).ids["path"] == "type"


def test_nesting_is_preserved_up_to_the_limit_and_refused_beyond() -> None:
    deep: Any = "here"
    for _ in range(DEPTH - 2):
        deep = {"a": deep}
    given = add_star("x", None, note=deep)
    assert parse_command(given) == given
    assert refusal_of(add_star("x", None, note={"a": deep})).ids["path"].startswith("payload.note.a.a")


@pytest.mark.parametrize("key", [1, None, True, b"note"])
def test_a_key_that_is_not_a_string_is_refused(key: object) -> None:
    for path, given in [
        (repr(key), {**example("tick"), key: 1}),
        (f"payload.note.{key!r}", add_star("x", None, note={key: 1})),
    ]:
        error = refusal_of(given)
        assert error.ids["path"] == path
        assert error.message == f"{path} is a key that is not a string."
        assert error.ids["allowed"] == "strings as keys"


def test_other_mappings_are_taken_as_objects_and_tuples_as_lists() -> None:
    children = ({"id": "a", "type": "system"}, MappingProxyType({"id": "b", "type": "group"}))
    payload: Mapping[str, Any] = OrderedDict({"name": "g", "children": children, "parentGroupId": None})
    parsed: Any = parse_command(MappingProxyType({"type": "addGroup", "id": "g", "payload": payload}))
    assert parsed["payload"]["children"] == [{"id": "a", "type": "system"}, {"id": "b", "type": "group"}]
    assert type(parsed) is type(parsed["payload"]) is type(parsed["payload"]["children"][1]) is dict
    assert type(parsed["payload"]["children"]) is list


@pytest.mark.parametrize("given", [None, 5, "tick", [], ["tick"], b"{}", True, {"tick"}])
def test_a_value_that_is_not_an_object_is_not_a_command(given: Any) -> None:
    error = refusal_of(given)
    assert error.ids["path"] == ""
    assert error.message == "the command is not a JSON object."
    assert error.ids["allowed"] == "an object with a type"


@pytest.mark.parametrize("given", [{}, {"type": None}, {"type": 5}, {"type": ["tick"]}, {"type": {}}, {"Type": "tick"}])
def test_a_command_without_a_type_is_answered_with_the_known_types(given: Json) -> None:
    error = refusal_of(given)
    assert error.ids["path"] == "type"
    assert all(name in error.ids["allowed"] for name in COMMAND_TYPES)


@pytest.mark.parametrize(
    "name", ["", "Tick", "ADDSTAR", "toString", "__proto__", "addNebula", "tick ", "x" * 5000, "🪐"]
)
def test_an_unknown_command_is_answered_with_the_known_commands(name: str) -> None:
    with pytest.raises(UnknownCommand) as caught:
        parse_command({"type": name, "surplus": SECRET})
    assert caught.value.status == 400
    assert caught.value.ids["path"] == "type"
    assert all(known in caught.value.ids["allowed"] for known in COMMAND_TYPES)
    assert name[:80] in caught.value.message
    assert len(caught.value.message) < 120
    assert SECRET not in str(caught.value.body())


def test_a_tick_without_dt_is_one_second_and_the_command_is_unchanged() -> None:
    given = {"type": "tick"}
    parsed: Any = parse_command(given)
    assert parsed == {"type": "tick", "dt": 1}
    assert type(parsed["dt"]) is int
    assert given == {"type": "tick"}


@pytest.mark.parametrize("dt", [0, -5, -0.25, 1e300])
def test_a_tick_may_be_of_any_length_and_backwards(dt: float) -> None:
    assert parse(command("tick", dt=dt))["dt"] == dt


@pytest.mark.parametrize(
    "given",
    [
        command("removeStar", id=[SECRET]),
        command("removeStar", id={"token": SECRET}),
        command("removeStar", id=SECRET * 100),
        command("tick", dt=SECRET),
        command("moveToGroup", childId="a", childType=SECRET, targetGroupId=None),
        command("updateStar", id="a", payload=SECRET),
        command("updateStar", id="a", payload={"bodyType": SECRET}),
        command("updateStar", id="a", payload={"mass": SECRET}),
        command("updateStar", id="a", payload={"ring": {"seed": [SECRET]}}),
        command("updateStar", id="a", payload={"token": SECRET, "mass": None}),
        command("updateStar", id="a", payload={"token": SECRET + "\ud800"}),
        command("updateNebula", id="a", patch={"seed": {"token": SECRET}}),
        command("setNebulae", nebulae=SECRET),
        command("replaceSnapshot", snapshot=a_snapshot(rootIds=SECRET)),
        command("replaceSnapshot", snapshot={"stars": {"a": a_body("a", name=[SECRET])}, "rootIds": []}),
        command("tick", token=SECRET),
        command("tick", dt={SECRET}),
    ],
)
def test_no_error_repeats_a_value(given: Json) -> None:
    assert SECRET not in str(refusal_of(given).body())


def test_a_snapshot_needs_bodies_and_roots_and_something_of_the_rest() -> None:
    for name in ("stars", "rootIds"):
        lacking = {key: value for key, value in a_snapshot().items() if key != name}
        assert refusal_of(command("replaceSnapshot", snapshot=lacking)).ids["path"] == f"snapshot.{name}"
    error = refusal_of(command("replaceSnapshot", snapshot={"stars": {}, "rootIds": []}))
    assert error.ids["path"] == "snapshot"
    assert error.message == "snapshot has only stars and rootIds."
    assert error.ids["allowed"].startswith("stars, rootIds and at least one of groups, rootGroupIds, ")


@pytest.mark.parametrize("name", sorted(a_snapshot().keys() - {"stars", "rootIds"}))
def test_optional_parts_of_a_snapshot_may_be_null_and_nothing_else(name: str) -> None:
    given = command("replaceSnapshot", snapshot=a_snapshot(**{name: None}))
    assert parse_command(given) == given
    assert refusal_of(command("replaceSnapshot", snapshot=a_snapshot(**{name: 5}))).ids["path"] == f"snapshot.{name}"


@pytest.mark.parametrize(
    ("paths", "given"),
    [
        (["other"], command("addStar", id="", payload=a_payload(), surplus=1, other=math.nan)),
        (["surplus", "other", "id"], command("addStar", id="", payload=a_payload(), surplus=1, other=0)),
        (["id", "payload"], command("addStar", id="", payload=5)),
        (["payload.mass", "payload.radius", "payload.color"], add_star("x", None, color=5, mass="heavy", radius=None)),
        (["snapshot.rootIds", "snapshot.stars.a.mass"], _snapshot_with(a_body("a", mass="heavy"), rootIds=5)),
        (["patch.seed"], command("updateRing", planetId="a", patch={"seed": []})),
    ],
)
def test_of_many_problems_each_is_listed_once_and_the_first_leads(paths: list[str], given: Json) -> None:
    error = refusal_of(given)
    assert error.ids["path"] == paths[0]
    assert error.message.startswith(f"{paths[0]} ")
    assert [one["path"] for one in error.ids.get("problems", [error.ids])] == paths
    assert error.ids.keys() <= {"path", "allowed", "command", "example", "problems"}


def test_of_many_wrong_entities_the_first_in_the_given_order_is_reported() -> None:
    for order in ("abc", "cba", "bac"):
        nebulae = {key: a_nebula(key, radius=None) for key in order}
        error = refusal_of(command("setNebulae", nebulae={"good": a_nebula("good"), **nebulae}))
        assert error.ids["path"] == f"nebulae.{order[0]}.radius"


@hypothesis_given(one=commands_of_kinds(*COMMAND_TYPES))
def test_a_small_command_is_parsed_quickly_as_it_is_slowly(one: Json) -> None:
    quick = parse_small_command(one)
    assert quick is None or (quick == parse_command(one) and list(quick) == list(parse_command(one)))


def test_most_commands_are_small_and_a_copy() -> None:
    given = {"type": "updateStar", "id": "sun", "payload": {"mass": 2, "physical": {"list": (1, 2)}}}
    quick: Any = parse_small_command(given)
    assert quick == parse_command(given)
    assert quick is not None
    quick["payload"]["mass"] = 3
    assert given["payload"] == {"mass": 2, "physical": {"list": (1, 2)}}
    assert parse_small_command({"type": "tick"}) == {"type": "tick", "dt": 1}


class OwnText(str):
    __slots__ = ()


DEEP: Final[Any] = orjson.loads("[" * 65 + "]" * 65)
CLOSER_LOOK: Final[list[Any]] = [
    *(math.nan, math.inf, None, 2**64, b"x", OwnText("x"), "\ud800", {1: 2}, {1, 2}, OrderedDict(a=1)),
    *("x" * 10_000, DEEP),
]


@pytest.mark.parametrize("value", CLOSER_LOOK)
def test_a_value_that_needs_a_closer_look_is_left_to_the_slow_parser(value: Any) -> None:
    assert parse_small_command({"type": "updateStar", "id": "sun", "payload": {"note": value}}) is None
    assert parse_small_command(value) is None


@pytest.mark.parametrize(
    "given", [{"type": "tock"}, {"type": ["tick"]}, {}, {"type": "tick", "dt": "1"}, {"type": "tick", "more": 1}]
)
def test_an_invalid_command_is_left_to_the_parser_that_explains_it(given: Json) -> None:
    assert parse_small_command(given) is None
    with pytest.raises((MalformedCommand, UnknownCommand)):
        parse_command(given)
