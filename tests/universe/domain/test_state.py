"""What a state is, what is none, and that states share what they have in common."""

import math
from typing import Any, Final

import orjson
import pytest

from tests.universe.domain.samples import (
    EMPTY_STATE,
    Json,
    a_belt,
    a_body,
    a_disk,
    a_field,
    a_group,
    a_nebula,
    below,
)
from universe.domain.state import EMPTY, KINDS, Draft, parse_state, trusted_state
from universe.errors import MalformedState

WHOLE: Final[Json] = {
    "stars": {"sun": a_body("sun", None, ["earth"], note=[None]), "earth": a_body("earth", "sun")},
    "rootIds": ["sun", "sun", "ghost"],
    "groups": {"g": a_group("g", None, below("sun", "system"), below("h")), "h": a_group("h", "g")},
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


def paths(error: MalformedState) -> list[str]:
    return [problem["path"] for problem in error.ids["problems"]] if "problems" in error.ids else [error.ids["path"]]


def test_the_empty_state_has_all_nine_keys() -> None:
    assert EMPTY.plain() == EMPTY_STATE
    assert parse_state({}) == parse_state(EMPTY_STATE) == EMPTY


def test_a_whole_state_is_read_and_written_back_alike() -> None:
    state = parse_state(WHOLE)
    assert state.plain() == WHOLE
    assert orjson.loads(orjson.dumps(state.plain())) == WHOLE
    assert parse_state(state.plain()) == state


@pytest.mark.parametrize("name", EMPTY_STATE)
def test_what_a_state_leaves_out_is_empty(name: str) -> None:
    lacking = {key: value for key, value in WHOLE.items() if key != name}
    assert parse_state(lacking).plain() == {**WHOLE, name: EMPTY_STATE[name]}


def test_a_state_shares_nothing_with_what_it_was_read_from() -> None:
    given: Json = orjson.loads(orjson.dumps(WHOLE))
    state = parse_state(given)
    given["stars"]["sun"]["children"].append("late")
    given["rootIds"].clear()
    given["stars"].clear()
    assert state.plain() == WHOLE


def test_clearing_the_plain_form_leaves_the_state() -> None:
    state = parse_state(WHOLE)
    plain = state.plain()
    for name in EMPTY_STATE.keys() - {"time"}:
        plain[name].clear()
    assert state.plain() == WHOLE


@pytest.mark.parametrize("given", [None, [], "{}", 5, True, b"{}", [("time", 1)]])
def test_what_is_no_object_is_no_state(given: Any) -> None:
    error = refusal_of(given)
    assert "object" in error.message
    assert all(name in error.hint for name in EMPTY_STATE)


@pytest.mark.parametrize("name", [*KINDS, *LISTS, "time"])
@pytest.mark.parametrize("wrong", [None, "x", True])
def test_a_part_of_the_wrong_kind_is_named(name: str, wrong: Any) -> None:
    assert paths(refusal_of({name: wrong})) == [name]
    assert paths(refusal_of({name: math.nan})) == [name]


@pytest.mark.parametrize("key", ["Stars", "selection", "__proto__", "version"])
def test_an_unknown_key_is_refused_and_named(key: str) -> None:
    assert paths(refusal_of({**WHOLE, key: {}})) == [key]


@pytest.mark.xfail(strict=True, reason="the keys there are, are not said")
def test_an_unknown_key_is_refused_with_the_keys_there_are() -> None:
    assert all(name in str(refusal_of({"selection": 1}).body()) for name in EMPTY_STATE)


@pytest.mark.xfail(strict=True, reason="only problems found by copying and circles have a path of their own")
@pytest.mark.parametrize("given", [[], {"selection": 1}, {"stars": {"a": {}}}, {"time": "now"}])
def test_every_refused_state_says_the_path_as_a_refused_command_does(given: Any) -> None:
    assert "path" in refusal_of(given).ids


def test_every_problem_inside_is_named_by_its_path() -> None:
    broken: Json = {**a_body("a"), "mass": "heavy", "ring": {}}
    del broken["children"]
    found = paths(refusal_of({"stars": {"a": broken, "b": 5}, "rootIds": ["a", 7]}))
    assert {"stars.a.mass", "stars.a.children", "stars.a.ring.opacity", "stars.b", "rootIds.1"} <= set(found)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 2**64])
def test_numbers_json_cannot_carry_are_refused_wherever_they_are(number: float) -> None:
    for path, given in [
        ("time", {"time": number}),
        ("stars.a.mass", {"stars": {"a": a_body("a", mass=number)}}),
        ("stars.a.note.0", {"stars": {"a": a_body("a", note=[number])}}),
    ]:
        assert paths(refusal_of(given)) == [path]


def test_a_key_that_is_no_string_is_refused() -> None:
    assert paths(refusal_of({"stars": {1: a_body("a")}})) == ["stars"]


@pytest.mark.xfail(strict=True, reason="a state that is wrong at its root is called a command")
def test_no_message_about_a_state_speaks_of_a_command() -> None:
    assert "command" not in refusal_of({1: {}}).message


@pytest.mark.parametrize("key", ["", "x" * 257])
@pytest.mark.parametrize("kind", KINDS)
def test_a_key_of_a_map_is_an_id(kind: str, key: str) -> None:
    [entity] = list(WHOLE[kind].values())[:1]
    assert any(path.startswith(f"{kind}.") for path in paths(refusal_of({kind: {key: entity}})))


def test_a_key_may_differ_from_the_id_inside() -> None:
    assert parse_state({"stars": {"key": a_body("other")}}).stars["key"]["id"] == "other"


@pytest.mark.parametrize(
    ("parents", "guilty"),
    [({"a": "a"}, "a"), ({"a": "b", "b": "a"}, "ab"), ({"t": "a", "a": "b", "b": "c", "c": "a"}, "abc")],
)
def test_circles_of_bodies_and_of_groups_are_refused_with_one_who_is_in_it(parents: Json, guilty: str) -> None:
    for given in (
        {"stars": {key: a_body(key, parent) for key, parent in parents.items()}},
        {"groups": {key: a_group(key, parent) for key, parent in parents.items()}},
    ):
        error = refusal_of(given)
        assert error.ids["path"] in set(guilty)
        assert error.ids["path"] in error.message


@pytest.mark.xfail(strict=True, reason="the path is the bare id, which says neither the map nor the field")
def test_the_path_of_a_circle_leads_to_the_field_that_closes_it() -> None:
    assert refusal_of({"stars": {"a": a_body("a", "a")}}).ids["path"] == "stars.a.parentId"


def test_circles_of_children_lists_are_left_as_they_are() -> None:
    given = {**EMPTY_STATE, "stars": {"a": a_body("a", None, ["b", "a"]), "b": a_body("b", None, ["a"])}}
    assert parse_state(given).plain() == given


def test_a_trusted_state_is_what_was_written() -> None:
    assert trusted_state(parse_state(WHOLE).plain()) == parse_state(WHOLE)
    assert trusted_state({}) == EMPTY


def test_a_draft_leaves_the_state_it_began_with() -> None:
    state = parse_state(WHOLE)
    draft = Draft(state)
    draft.put("stars", "sun", a_body("sun", mass=99))
    draft.remove("groups", ["g", "g", "ghost"])
    draft.put_all("nebulae", {"m": a_nebula("m")})
    draft.rootIds, draft.time = (), 0
    assert state.plain() == WHOLE
    changed = draft.state()
    assert changed.stars["sun"]["mass"] == 99
    assert list(changed.groups) == ["h"]
    assert (changed.rootIds, changed.time) == ((), 0)
    assert changed.rootGroupIds == state.rootGroupIds


def test_a_draft_remembers_what_it_touched_and_shares_the_rest() -> None:
    state = parse_state(WHOLE)
    draft = Draft(state)
    draft.put("stars", "sun", a_body("sun"))
    draft.remove("groups", ["g", "ghost"])
    draft.put_all("nebulae", {"m": a_nebula("m")})
    assert draft.touched == {"stars": {"sun": None}, "groups": {"g": None}, "nebulae": {"n": None, "m": None}}
    changed = draft.state()
    assert changed.stars["earth"] is state.stars["earth"]
    assert changed.groups["h"] is state.groups["h"]
    assert changed.belts is state.belts
