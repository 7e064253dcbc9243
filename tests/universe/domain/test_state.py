"""Validation of states, and sharing between states."""

import math
from typing import Any, Final, cast

import orjson
import pytest

from tests.universe.domain.samples import (
    EMPTY_STATE,
    RING,
    Json,
    a_belt,
    a_body,
    a_disk,
    a_field,
    a_group,
    a_nebula,
    make_member,
)
from universe.domain.state import (
    EMPTY,
    ENTITY_KINDS,
    Draft,
    Plain,
    check_and_copy_plain_state,
    make_state_from_plain,
    parse_state,
)
from universe.errors import MalformedState

WHOLE: Final[Json] = {
    "stars": {"sun": a_body("sun", None, ["earth"], note=[None]), "earth": a_body("earth", "sun")},
    "rootIds": ["sun", "sun", "ghost"],
    "groups": {"g": a_group("g", None, make_member("sun", "system"), make_member("h")), "h": a_group("h", "g")},
    "rootGroupIds": ["g"],
    "belts": {"b": a_belt()},
    "smallBodyFields": {"f": a_field()},
    "protoplanetaryDisks": {"d": a_disk()},
    "nebulae": {"n": a_nebula()},
    "time": 12.5,
}
LISTS: Final = ("rootIds", "rootGroupIds")


def refusal_of(given: Any) -> MalformedState:
    with pytest.raises(MalformedState) as caught:
        parse_state(given)
    assert caught.value.status == 400
    assert caught.value.code == "malformed_state"
    assert caught.value.hint
    return caught.value


def test_the_empty_state_has_all_nine_keys() -> None:
    assert EMPTY.to_plain() == EMPTY_STATE
    assert parse_state({}) == parse_state(EMPTY_STATE) == EMPTY


def test_a_whole_state_is_read_and_written_back_alike() -> None:
    state = parse_state(WHOLE)
    assert state.to_plain() == WHOLE
    assert orjson.loads(orjson.dumps(state.to_plain())) == WHOLE
    assert parse_state(state.to_plain()) == state


@pytest.mark.parametrize("name", EMPTY_STATE)
def test_absent_parts_of_a_state_are_empty(name: str) -> None:
    lacking = {key: value for key, value in WHOLE.items() if key != name}
    assert parse_state(lacking).to_plain() == {**WHOLE, name: EMPTY_STATE[name]}


def test_a_state_shares_nothing_with_its_input() -> None:
    given: Json = orjson.loads(orjson.dumps(WHOLE))
    state = parse_state(given)
    given["stars"]["sun"]["children"].append("late")
    given["rootIds"].clear()
    given["stars"].clear()
    assert state.to_plain() == WHOLE


def test_clearing_the_plain_form_leaves_the_state() -> None:
    state = parse_state(WHOLE)
    plain: Any = state.to_plain()
    for name in EMPTY_STATE.keys() - {"time"}:
        plain[name].clear()
    assert state.to_plain() == WHOLE


@pytest.mark.parametrize("given", [None, [], "{}", 5, True, b"{}", [("time", 1)]])
def test_a_value_that_is_not_an_object_is_not_a_state(given: Any) -> None:
    error = refusal_of(given)
    assert error.message == "the state is not a JSON object."
    assert error.ids == {"path": "", "allowed": list(EMPTY_STATE)}


@pytest.mark.parametrize("name", [*ENTITY_KINDS, *LISTS, "time"])
@pytest.mark.parametrize("wrong", [None, "x", True])
def test_a_part_of_the_wrong_kind_is_named(name: str, wrong: Any) -> None:
    error = refusal_of({name: wrong})
    allowed = "a number" if name == "time" else "a list" if name in LISTS else "an object"
    assert error.ids == {"path": name, "allowed": allowed}
    assert refusal_of({name: math.nan}).ids["path"] == name


@pytest.mark.parametrize("key", ["Stars", "selection", "__proto__", "version"])
def test_an_unknown_key_is_refused_and_named_with_the_keys_there_are(key: str) -> None:
    error = refusal_of({**WHOLE, key: {}})
    assert error.message == f"{key} is not a field of a state."
    assert error.ids == {"path": key, "allowed": list(EMPTY_STATE)}


def without(name: str, entity: Json) -> Json:
    return {key: value for key, value in entity.items() if key != name}


BARE: Final = without("opacity", RING)
NO_SEED: Final = ("is neither a string nor a number", "a string or a number")


@pytest.mark.parametrize(
    ("given", "path", "problem", "allowed"),
    [
        ({"stars": {"a": a_body("a"), "b": 5}}, "stars.b", "is not an object", "an object"),
        ({"stars": {"a": without("children", a_body("a"))}}, "stars.a.children", "is missing", "list of string"),
        ({"stars": {"a": a_body("a", ring={**RING, "seed": []})}}, "stars.a.ring.seed", *NO_SEED),
        ({"stars": {"a": a_body("a", ring=BARE)}}, "stars.a.ring.opacity", "is missing", "number"),
        ({"stars": {"a": a_body("a", mass="heavy")}}, "stars.a.mass", "is not a number", "a number"),
        ({"rootIds": ["a", 7, 8]}, "rootIds.1", "is not a string", "a string"),
        ({"belts": {"b": a_belt(asteroidIds=["a", 5, 6])}}, "belts.b.asteroidIds.1", "is not a string", "a string"),
        (
            {"groups": {"g": a_group("g", None, make_member("a"), {"type": "group"})}},
            "groups.g.children.1.id",
            "is missing",
            "string",
        ),
    ],
)
def test_a_problem_inside_is_reported_by_its_path(given: Json, path: str, problem: str, allowed: str) -> None:
    error = refusal_of(given)
    assert error.message == f"{path} {problem}."
    assert error.ids == {"path": path, "allowed": allowed}


def test_all_problems_of_a_state_are_listed() -> None:
    given = {"stars": {"a": 5, "b": a_body("b", mass="heavy")}, "belts": {"b": 5}, "rootIds": ["a", 7, 8]}
    error = refusal_of(given)
    paths = ["rootIds.1", "stars.a", "stars.b.mass", "belts.b"]
    assert [one["path"] for one in error.ids["problems"]] == paths
    assert all(path in error.message for path in paths)


@pytest.mark.parametrize("hint", [[], [1], [1, 2, 3]])
def test_a_list_of_the_wrong_length_is_refused_in_a_sentence(hint: list[float]) -> None:
    error = refusal_of({"belts": {"b": a_belt(radialRangeHint=hint)}})
    assert error.ids["path"] == "belts.b.radialRangeHint"
    assert "List" not in str(error.body())


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 10**400])
def test_numbers_json_cannot_carry_are_refused_wherever_they_are(number: float) -> None:
    for path, given in [
        ("time", {"time": number}),
        ("stars.a.mass", {"stars": {"a": a_body("a", mass=number)}}),
        ("stars.a.note.0", {"stars": {"a": a_body("a", note=[number])}}),
    ]:
        assert refusal_of(given).ids["path"] == path


def test_a_key_that_is_not_a_string_is_refused() -> None:
    error = refusal_of({"stars": {1: a_body("a")}})
    assert error.ids == {"path": "stars.1", "allowed": "strings as keys"}


def test_no_message_about_a_state_mentions_a_command() -> None:
    wrong: list[Any] = [{1: {}}, [], {"selection": 1}, {"stars": {"": a_body("a")}}, {"stars": {"a": a_body("a", "a")}}]
    for given in wrong:
        assert "command" not in refusal_of(given).message


@pytest.mark.parametrize("key", ["", "x" * 257])
@pytest.mark.parametrize("kind", ENTITY_KINDS)
def test_a_key_of_a_map_is_an_id(kind: str, key: str) -> None:
    [entity] = list(WHOLE[kind].values())[:1]
    error = refusal_of({kind: {key: entity}})
    assert error.message == f"{kind} has an id that is empty or too long."
    assert error.ids == {"path": kind, "allowed": "1 to 256 characters"}


def test_a_key_may_differ_from_the_id_inside() -> None:
    assert parse_state({"stars": {"key": a_body("other")}}).stars["key"]["id"] == "other"


@pytest.mark.parametrize(
    ("parents", "guilty"),
    [
        ({"a": "a"}, "a"),
        ({"a": "b", "b": "a"}, "a"),
        ({"b": "a", "a": "b"}, "b"),
        ({"t": "a", "c": "a", "a": "b", "b": "c"}, "a"),
        ({"x": None, "b": "b", "a": "a"}, "b"),
    ],
)
def test_circles_of_bodies_and_of_groups_are_refused_at_the_first_that_is_met_twice(parents: Json, guilty: str) -> None:
    for path, given in [
        (f"stars.{guilty}.parentId", {"stars": {key: a_body(key, parent) for key, parent in parents.items()}}),
        (f"groups.{guilty}.parentGroupId", {"groups": {key: a_group(key, parent) for key, parent in parents.items()}}),
    ]:
        error = refusal_of(given)
        assert error.message == f"{path} would be below itself."
        assert error.ids == {"path": path, "allowed": "something above it, or null"}


def test_a_checked_state_is_an_unchanged_copy() -> None:
    given: Json = {"stars": {"b": a_body("b"), "a": a_body("a", note=(1, 2))}, "time": 5}
    checked = check_and_copy_plain_state(given)
    assert checked == {**given, "stars": {**given["stars"], "a": a_body("a", note=[1, 2])}}
    assert list(checked["stars"]) == ["b", "a"]
    assert checked["stars"]["a"] is not given["stars"]["a"]
    assert type(checked["time"]) is int
    assert make_state_from_plain(checked) == parse_state(given)


def test_cycles_of_child_lists_are_not_changed() -> None:
    given = {**EMPTY_STATE, "stars": {"a": a_body("a", None, ["b", "a"]), "b": a_body("b", None, ["a"])}}
    assert parse_state(given).to_plain() == given


def test_a_trusted_state_equals_the_written_state() -> None:
    assert make_state_from_plain(parse_state(WHOLE).to_plain()) == parse_state(WHOLE)
    assert make_state_from_plain(cast("Plain", {})) == EMPTY


def test_a_draft_leaves_the_state_it_began_with() -> None:
    state = parse_state(WHOLE)
    draft = Draft(state)
    draft.put_entity("stars", "sun", a_body("sun", mass=99))
    draft.remove_entities("groups", ["g", "g", "ghost"])
    draft.replace_entities("nebulae", {"m": a_nebula("m")})
    draft.rootIds, draft.time = (), 0
    assert state.to_plain() == WHOLE
    changed = draft.make_state()
    assert changed.stars["sun"]["mass"] == 99
    assert list(changed.groups) == ["h"]
    assert (changed.rootIds, changed.time) == ((), 0)
    assert changed.rootGroupIds == state.rootGroupIds


def test_a_draft_records_touched_entities_and_shares_the_others() -> None:
    state = parse_state(WHOLE)
    draft = Draft(state)
    draft.put_entity("stars", "sun", a_body("sun"))
    draft.remove_entities("groups", ["g", "ghost"])
    draft.replace_entities("nebulae", {"m": a_nebula("m")})
    assert draft.touched == {
        "stars": {"sun": "put"},
        "groups": {"g": "removed"},
        "nebulae": {"n": "removed", "m": "put"},
    }
    changed = draft.make_state()
    assert changed.stars["earth"] is state.stars["earth"]
    assert changed.groups["h"] is state.groups["h"]
    assert changed.belts is state.belts
