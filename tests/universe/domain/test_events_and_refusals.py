"""Messages of refusals; every kind of refusal can occur."""

from typing import Final

import pytest

from tests.universe.domain.samples import (
    EXAMPLES,
    Json,
    a_body,
    a_group,
    a_nebula,
    a_snapshot,
    add_group,
    add_star,
    apply_commands,
    apply_refused,
    command,
    example,
    make_member,
    outcome,
)
from universe import errors
from universe.domain.command_results import REFUSALS, Event, get_refusal_code, is_refusal, make_refusal_error
from universe.domain.state import EMPTY, State, parse_state
from universe.errors import CommandRefused

MAX_DEPTH = 1_000

Case = tuple[State, Json, Json, str]

SYSTEM: Final = apply_commands(add_star("sun"), add_star("earth", "sun"), add_group("g"), add_group("h", "g"))
DEEP: Final = parse_state(
    {
        "stars": {f"s{n}": a_body(f"s{n}", f"s{n - 1}" if n else None) for n in range(MAX_DEPTH)},
        "groups": {f"s{n}": a_group(f"s{n}", f"s{n - 1}" if n else None) for n in range(MAX_DEPTH)},
    }
)
LAST: Final = f"s{MAX_DEPTH - 1}"
MUTUAL: Final = parse_state(
    {"groups": {"a": a_group("a", None, make_member("b")), "b": a_group("b", "a", make_member("a"))}}
)
LATE: Final = apply_commands(command("tick", dt=1e308))

CASES: Final[list[Case]] = [
    (EMPTY, example("updateStar"), {"type": "starNotFound", "id": "sun"}, "star_not_found"),
    (EMPTY, example("removeStar"), {"type": "starNotFound", "id": "sun"}, "star_not_found"),
    (EMPTY, example("updateRing"), {"type": "starNotFound", "id": "sun"}, "star_not_found"),
    (EMPTY, example("updateGroup"), {"type": "groupNotFound", "id": "g"}, "group_not_found"),
    (EMPTY, example("removeGroup"), {"type": "groupNotFound", "id": "g"}, "group_not_found"),
    (EMPTY, example("addToGroup"), {"type": "groupNotFound", "id": "g"}, "group_not_found"),
    (EMPTY, example("removeFromGroup"), {"type": "groupNotFound", "id": "g"}, "group_not_found"),
    (
        EMPTY,
        command("moveToGroup", childId="a", childType="system", targetGroupId="g"),
        {"type": "groupNotFound", "id": "g"},
        "group_not_found",
    ),
    (
        EMPTY,
        example("updateSmallBodyField"),
        {"type": "smallBodyFieldNotFound", "id": "f"},
        "small_body_field_not_found",
    ),
    (
        EMPTY,
        example("updateProtoplanetaryDisk"),
        {"type": "protoplanetaryDiskNotFound", "id": "d"},
        "protoplanetary_disk_not_found",
    ),
    (EMPTY, example("updateNebula"), {"type": "nebulaNotFound", "id": "n"}, "nebula_not_found"),
    (EMPTY, example("removeRing"), {"type": "ringNotFound", "planetId": "sun"}, "ring_not_found"),
    (SYSTEM, example("removeRing"), {"type": "ringNotFound", "planetId": "sun"}, "ring_not_found"),
    (
        EMPTY,
        example("detachStar"),
        {"type": "detachFailed", "reason": "notAttached", "childId": "earth"},
        "not_attached",
    ),
    (
        SYSTEM,
        command("detachStar", childId="sun"),
        {"type": "detachFailed", "reason": "notAttached", "childId": "sun"},
        "not_attached",
    ),
    (
        SYSTEM,
        command("addToGroup", groupId="g", child=make_member("h")),
        {"type": "childAlreadyInGroup", "groupId": "g", "childId": "h"},
        "child_already_in_group",
    ),
    (
        SYSTEM,
        command("removeFromGroup", groupId="g", childId="x"),
        {"type": "childNotInGroup", "groupId": "g", "childId": "x"},
        "child_not_in_group",
    ),
    (
        SYSTEM,
        command("attachStar", childId="sun", parentId="x"),
        {"type": "attachFailed", "reason": "notFound", "childId": "sun", "parentId": "x"},
        "star_not_found",
    ),
    (
        SYSTEM,
        command("attachStar", childId="sun", parentId="earth"),
        {"type": "attachFailed", "reason": "cycle", "childId": "sun", "parentId": "earth"},
        "hierarchy_refused",
    ),
    (
        SYSTEM,
        command("moveToGroup", childId="g", childType="group", targetGroupId="h"),
        {"type": "moveToGroupFailed", "reason": "cycle", "childId": "g", "targetGroupId": "h"},
        "hierarchy_refused",
    ),
    (
        SYSTEM,
        add_star("sun", "earth"),
        {"type": "addStarFailed", "reason": "cycle", "id": "sun", "parentId": "earth"},
        "hierarchy_refused",
    ),
    (
        DEEP,
        add_star("x", LAST),
        {"type": "addStarFailed", "reason": "tooDeep", "id": "x", "parentId": LAST},
        "hierarchy_refused",
    ),
    (
        SYSTEM,
        command("updateStar", id="sun", payload={"parentId": "earth"}),
        {"type": "updateStarFailed", "reason": "cycle", "id": "sun", "parentId": "earth"},
        "hierarchy_refused",
    ),
    (
        SYSTEM,
        add_group("g", "h"),
        {"type": "addGroupFailed", "reason": "cycle", "id": "g", "parentGroupId": "h"},
        "hierarchy_refused",
    ),
    (
        DEEP,
        add_group("x", LAST),
        {"type": "addGroupFailed", "reason": "tooDeep", "id": "x", "parentGroupId": LAST},
        "hierarchy_refused",
    ),
    (
        SYSTEM,
        command("updateGroup", id="g", payload={"parentGroupId": "g"}),
        {"type": "updateGroupFailed", "reason": "cycle", "id": "g", "parentGroupId": "g"},
        "hierarchy_refused",
    ),
    (
        SYSTEM,
        command("addToGroup", groupId="h", child=make_member("g")),
        {"type": "addToGroupFailed", "reason": "cycle", "groupId": "h", "childId": "g"},
        "hierarchy_refused",
    ),
    (
        SYSTEM,
        command("replaceSnapshot", snapshot=a_snapshot(stars={"a": a_body("a", "a")})),
        {"type": "replaceSnapshotFailed", "reason": "cycle", "id": "a"},
        "hierarchy_refused",
    ),
    (
        SYSTEM,
        command("replaceSnapshot", snapshot=a_snapshot(groups={"b": a_group("b", "a"), "a": a_group("a", "b")})),
        {"type": "replaceSnapshotFailed", "reason": "cycle", "id": "b"},
        "hierarchy_refused",
    ),
    (
        MUTUAL,
        command("removeGroup", id="b"),
        {"type": "removeGroupFailed", "reason": "cycle", "id": "b"},
        "hierarchy_refused",
    ),
    (
        LATE,
        command("tick", dt=1e308),
        {"type": "tickFailed", "reason": "overflow", "dt": 1e308},
        "time_overflow",
    ),
]


@pytest.mark.parametrize(("state", "given", "event", "code"), CASES, ids=[case[2]["type"] for case in CASES])
def test_a_refusal_reports_the_reason_and_a_remedy(state: State, given: Json, event: Json, code: str) -> None:
    assert apply_refused(state, given) == event
    error = make_refusal_error(event, state, universeId="u-42")
    assert (error.code, error.status) == (code, 422)
    assert error.ids.keys() - {"nearest", "known"} == {"universeId", "event"}
    assert (error.ids["universeId"], error.ids["event"]) == ("u-42", event)
    for text in (error.message, error.hint):
        assert text.strip().endswith(".")
        assert not {"{", "}"} & set(text)
        assert ": ." not in text
    named = [value for key, value in event.items() if key not in {"type", "reason", "dt"}]
    assert all(f"'{value}'" in error.message for value in named)


@pytest.mark.parametrize(
    ("given", "nearest"),
    [
        (command("removeStar", id="erth"), ["earth"]),
        (command("removeStar", id="Terra"), ["earth"]),
        (command("updateStar", id="EARTH", payload={}), ["earth"]),
        (command("attachStar", childId="moom", parentId="eart"), ["moon", "earth"]),
        (command("detachStar", childId="mooon"), ["moon"]),
        (command("removeRing", planetId="earht"), ["earth"]),
        (command("removeGroup", id="local grup"), ["local-group"]),
        (command("updateNebula", id="viel", patch={}), ["veil"]),
    ],
)
def test_a_refusal_suggests_the_nearest_ids_also_by_the_names_of_bodies(given: Json, nearest: list[str]) -> None:
    state = parse_state(
        {
            "stars": {"earth": a_body("earth", name="Terra"), "moon": a_body("moon", name="Luna")},
            "groups": {"local-group": a_group("local-group")},
            "nebulae": {"veil": a_nebula("veil")},
        }
    )
    error = make_refusal_error(apply_refused(state, given), state)
    assert error.ids["nearest"] == nearest
    assert error.hint.startswith("Did you mean '")


def test_where_nothing_is_near_some_ids_are_listed() -> None:
    state = parse_state({"stars": {key: a_body(key) for key in ("sun", "earth")}})
    event = apply_refused(state, command("removeStar", id="zzzzzzzz"))
    assert sorted(make_refusal_error(event, state).ids["known"]) == ["earth", "sun"]
    assert make_refusal_error(event).ids == {"event": event}


def test_an_attachment_reports_which_of_the_two_is_missing() -> None:
    state = parse_state({"stars": {"sun": a_body("sun")}})
    for child, parent, missing in (("x", "sun", "'x'"), ("sun", "y", "'y'"), ("x", "y", "'x' and 'y'")):
        error = make_refusal_error(apply_refused(state, command("attachStar", childId=child, parentId=parent)), state)
        assert error.message == f"'{child}' cannot orbit '{parent}': {missing} does not exist."


def test_every_kind_of_refusal_can_happen() -> None:
    assert {event["type"] for _, _, event, _ in CASES} == REFUSALS


@pytest.mark.parametrize("kind", sorted(REFUSALS))
def test_a_refusal_is_known_by_its_type_and_comes_as_an_error_of_the_family(kind: str) -> None:
    assert is_refusal({"type": kind})
    codes = {
        error.code for error in vars(errors).values() if isinstance(error, type) and issubclass(error, CommandRefused)
    }
    assert get_refusal_code(kind) in codes - {CommandRefused.code}


def test_no_success_is_a_refusal() -> None:
    state = apply_commands(*(example(kind) for kind in ("addStar", "addGroup", "setNebulae", "addProtoplanetaryDisk")))
    for kind in EXAMPLES.keys() - {"detachStar", "attachStar", "addToGroup", "updateSmallBodyField", "moveToGroup"}:
        found = outcome(state, example(kind))
        assert not any(is_refusal(event) for event in found.events), kind


@pytest.mark.parametrize("key", ["{id}", "{", "}", "{0}", "{why}", "%s", "'", "a\nb", "🪐", "__class__"])
def test_an_id_that_looks_like_a_placeholder_is_displayed_unchanged(key: str) -> None:
    error = make_refusal_error({"type": "attachFailed", "reason": "cycle", "childId": key, "parentId": key})
    assert error.message.startswith(f"'{key}' cannot orbit '{key}': ")


def test_a_long_id_is_cut_in_the_message_and_whole_in_the_event() -> None:
    event: Event = {"type": "starNotFound", "id": "x" * 256}
    error = make_refusal_error(event)
    assert len(error.message) < 150
    assert error.ids["event"] == event
