"""Commands for groups and their members."""

from time import process_time
from typing import Any

import pytest

from tests.universe.domain.samples import (
    Json,
    a_group,
    add_group,
    add_star,
    apply_accepted,
    apply_commands,
    apply_refused,
    command,
    make_member,
    outcome,
)
from universe.domain.state import EMPTY, State, find_entity_in_cycle, parse_state

MAX_DEPTH = 1_000

NESTED = apply_commands(add_group("a"), add_group("b", "a"), add_group("c", "b"), add_group("d"))


def members(state: State, key: str) -> list[tuple[str, str]]:
    return [(entry["id"], entry["type"]) for entry in state.groups[key]["children"]]


def parent(state: State, key: str) -> str | None:
    return state.groups[key]["parentGroupId"]


def put(group: str, child: str, kind: str = "group") -> Json:
    return command("addToGroup", groupId=group, child=make_member(child, kind))


def take(group: str, child: str) -> Json:
    return command("removeFromGroup", groupId=group, childId=child)


def move(child: str, target: str | None, kind: str = "group") -> Json:
    return command("moveToGroup", childId=child, childType=kind, targetGroupId=target)


def update(key: str, **payload: Any) -> Json:
    return command("updateGroup", id=key, payload=payload)


def test_a_group_without_parent_is_a_root_and_one_with_a_parent_is_listed_by_it() -> None:
    assert NESTED.rootGroupIds == ("a", "d")
    assert members(NESTED, "a") == [("b", "group")]
    assert apply_accepted(EMPTY, add_group("g", None, note=[1])).events == [{"type": "groupAdded", "id": "g"}]
    assert apply_commands(add_group("g", None, note=[1])).groups["g"] == a_group("g", None, note=[1])


@pytest.mark.parametrize("above", ["", "ghost"])
def test_a_group_whose_parent_does_not_exist_is_neither_root_nor_child(above: str) -> None:
    state = apply_commands(add_group("lost", above), start=NESTED)
    assert state.rootGroupIds == NESTED.rootGroupIds
    assert parent(state, "lost") == above


def test_children_given_with_a_group_are_stored_and_nothing_else_is_adjusted() -> None:
    state = apply_commands(
        add_group("g", "d", make_member("a"), make_member("sun", "system"), make_member("ghost")), start=NESTED
    )
    assert members(state, "g") == [("a", "group"), ("sun", "system"), ("ghost", "group")]
    assert parent(state, "a") is None
    assert state.rootGroupIds == ("a", "d")


def test_a_group_added_again_takes_the_place_of_the_first_and_the_lists_stay() -> None:
    state = apply_commands(add_group("b", "a"), add_group("d"), start=NESTED)
    assert members(state, "a") == [("b", "group"), ("b", "group")]
    assert members(state, "b") == []
    assert parent(state, "c") == "b"
    assert state.rootGroupIds == ("a", "d", "d")


def test_an_id_in_the_payload_of_a_new_group_loses() -> None:
    assert apply_commands(add_group("g", None, id="other")).groups["g"]["id"] == "g"


def test_an_update_merges_and_repairs_no_list() -> None:
    state = apply_commands(
        update("c", parentGroupId="d", color=None, children=[make_member("x")], note=1), start=NESTED
    )
    assert state.groups["c"] == a_group("c", "d", make_member("x"), color=None, note=1)
    assert members(state, "d") == []
    assert members(state, "b") == [("c", "group")]


def test_a_group_is_never_put_below_itself_by_adding_or_changing() -> None:
    for above in ("a", "b", "c"):
        assert apply_refused(NESTED, add_group("a", above))["reason"] == "cycle"
        assert apply_refused(NESTED, update("a", parentGroupId=above))["reason"] == "cycle"
        assert apply_refused(NESTED, put(above, "a") if above != "a" else put("a", "a"))["reason"] == "cycle"
        assert apply_refused(NESTED, move("a", above))["reason"] == "cycle"


def test_removing_a_group_moves_the_groups_in_it_up_and_ungroups_its_systems() -> None:
    full = apply_commands(put("b", "sun", "system"), start=NESTED)
    found = apply_accepted(full, command("removeGroup", id="b"))
    assert found.events == [{"type": "groupRemoved", "id": "b"}]
    assert parent(found.state, "c") == "a"
    assert members(found.state, "a") == []
    assert found.state.rootGroupIds == ("a", "d")


def test_members_of_a_removed_root_become_roots() -> None:
    state = apply_commands(command("removeGroup", id="a"), start=NESTED)
    assert parent(state, "b") is None
    assert state.rootGroupIds == ("d", "b")
    listed_twice = apply_commands(
        update("a", children=[make_member("b"), make_member("b"), make_member("d"), make_member("b", "system")]),
        start=NESTED,
    )
    assert apply_commands(command("removeGroup", id="a"), start=listed_twice).rootGroupIds == ("d", "b", "b", "d")


def test_removing_a_group_drops_every_entry_of_it_in_its_parent_of_any_type() -> None:
    twice = apply_commands(put("a", "b", "system"), start=NESTED)
    assert members(twice, "a") == [("b", "group"), ("b", "system")]
    assert members(apply_commands(command("removeGroup", id="b"), start=twice), "a") == []


def test_removing_an_orphan_passes_its_missing_parent_on() -> None:
    state = apply_commands(add_group("x", "ghost", make_member("d")), command("removeGroup", id="x"), start=NESTED)
    assert parent(state, "d") == "ghost"


@pytest.mark.parametrize(
    "listed", [make_member("b"), make_member("a")], ids=["its own parent", "the parent of its parent"]
)
def test_removing_a_group_that_lists_a_group_above_it_is_refused_as_a_circle(listed: Json) -> None:
    state = apply_commands(update("c", children=[make_member("d"), listed]), start=NESTED)
    event = {"type": "removeGroupFailed", "reason": "cycle", "id": "c"}
    assert apply_refused(state, command("removeGroup", id="c")) == event
    repaired = apply_commands(take("c", listed["id"]), start=state)
    assert set(apply_commands(command("removeGroup", id="c"), start=repaired).groups) == {"a", "b", "d"}


@pytest.mark.parametrize(
    "listed", [make_member("b", "system"), make_member("c"), make_member("ghost"), make_member("d")], ids=str
)
def test_removing_a_group_that_lists_anything_else_is_not_a_circle(listed: Json) -> None:
    state = apply_commands(update("c", children=[listed]), start=NESTED)
    found = apply_accepted(state, command("removeGroup", id="c"))
    assert "c" not in found.state.groups
    assert find_entity_in_cycle(found.state.groups, "parentGroupId") is None


DEEP = 2 * MAX_DEPTH


def nested_groups(depth: int, *listed: Json) -> State:
    """Return a chain of nested groups, the innermost of which lists these children."""
    groups = {f"g{number}": a_group(f"g{number}", f"g{number - 1}" if number else None) for number in range(depth)}
    groups[f"g{depth - 1}"]["children"] = list(listed)
    others = {entry["id"]: a_group(entry["id"]) for entry in listed if entry["id"] not in groups}
    return parse_state({"groups": {**groups, **others}})


def test_removing_the_deepest_group_that_lists_the_first_closes_no_circle() -> None:
    found = outcome(nested_groups(DEEP, make_member("g0")), command("removeGroup", id=f"g{DEEP - 1}"))
    assert find_entity_in_cycle(found.state.groups, "parentGroupId") is None


def test_removing_a_group_of_many_costs_no_more_for_being_deep() -> None:
    many = [make_member(f"m{number}") for number in range(1_000)]

    def cost(depth: int) -> float:
        state, given = nested_groups(depth, *many), command("removeGroup", id=f"g{depth - 1}")
        started = process_time()
        apply_accepted(state, given)
        return process_time() - started

    deep, flat = (min(cost(depth) for _ in range(3)) for depth in (MAX_DEPTH, 2))
    assert deep < 5 * flat


def test_putting_a_group_into_another_makes_it_its_parent_and_no_root() -> None:
    found = apply_accepted(NESTED, put("a", "d"))
    assert found.events == [{"type": "childAddedToGroup", "groupId": "a", "childId": "d"}]
    assert parent(found.state, "d") == "a"
    assert found.state.rootGroupIds == ("a",)
    assert members(found.state, "a") == [("b", "group"), ("d", "group")]


def test_a_child_is_not_taken_out_of_other_groups_and_need_not_be_there() -> None:
    state = apply_commands(put("d", "c"), put("d", "ghost"), put("d", "sun", "system"), start=NESTED)
    assert members(state, "b") == [("c", "group")]
    assert members(state, "d") == [("c", "group"), ("ghost", "group"), ("sun", "system")]
    assert parent(state, "c") == "d"


def test_unknown_keys_of_a_child_are_preserved() -> None:
    given = command("addToGroup", groupId="d", child={**make_member("sun", "system"), "note": 1})
    assert apply_commands(given, start=NESTED).groups["d"]["children"] == [{"id": "sun", "type": "system", "note": 1}]


def test_the_same_child_is_listed_once_for_each_type() -> None:
    state = apply_commands(put("d", "c", "system"), put("d", "c"), start=NESTED)
    assert members(state, "d") == [("c", "system"), ("c", "group")]
    event = {"type": "childAlreadyInGroup", "groupId": "d", "childId": "c"}
    assert apply_refused(state, put("d", "c")) == event
    assert apply_refused(state, put("d", "c", "system")) == event


def test_a_system_of_the_name_of_a_group_above_is_not_a_circle() -> None:
    state = apply_commands(put("c", "a", "system"), start=NESTED)
    assert members(state, "c") == [("a", "system")]
    assert parent(state, "a") is None


def test_a_missing_group_can_be_listed_by_a_waiting_member() -> None:
    waiting = apply_commands(add_group("x", "ghost"))
    state = apply_accepted(waiting, put("x", "ghost")).state
    assert members(state, "x") == [("ghost", "group")]
    assert list(state.groups) == ["x"]
    assert parent(state, "x") == "ghost"
    assert apply_refused(state, put("x", "ghost"))["type"] == "childAlreadyInGroup"
    assert apply_refused(state, add_group("ghost", "x"))["reason"] == "cycle"


def test_taking_a_group_out_makes_it_a_root() -> None:
    found = apply_accepted(NESTED, take("a", "b"))
    assert found.events == [{"type": "childRemovedFromGroup", "groupId": "a", "childId": "b"}]
    assert parent(found.state, "b") is None
    assert found.state.rootGroupIds == ("a", "d", "b")
    assert members(found.state, "a") == []


def test_taking_out_drops_all_entries_and_the_first_decides() -> None:
    first_a_system = apply_commands(update("d", children=[make_member("c", "system"), make_member("c")]), start=NESTED)
    state = apply_commands(take("d", "c"), start=first_a_system)
    assert members(state, "d") == []
    assert parent(state, "c") == "b"
    assert state.rootGroupIds == NESTED.rootGroupIds
    listed_elsewhere = apply_commands(
        update("d", children=[make_member("c"), make_member("c", "system")]), start=NESTED
    )
    state = apply_commands(take("d", "c"), start=listed_elsewhere)
    assert parent(state, "c") is None
    assert state.rootGroupIds == ("a", "d", "c")


def test_removing_a_missing_group_only_drops_the_entry() -> None:
    state = apply_commands(put("d", "ghost"), take("d", "ghost"), start=NESTED)
    assert state == NESTED


def test_moving_takes_a_child_out_of_every_group_and_puts_it_last() -> None:
    full = apply_commands(put("a", "s", "system"), put("d", "s", "system"), put("d", "t", "system"), start=NESTED)
    found = apply_accepted(full, move("s", "d", "system"))
    assert found.events == [{"type": "movedToGroup", "childId": "s", "targetGroupId": "d"}]
    assert members(found.state, "a") == [("b", "group")]
    assert members(found.state, "d") == [("t", "system"), ("s", "system")]
    assert members(apply_commands(move("s", None, "system"), start=full), "d") == [("t", "system")]


def test_moving_a_group_gives_it_its_new_parent() -> None:
    state = apply_commands(move("c", "d"), start=NESTED)
    assert (parent(state, "c"), members(state, "b"), members(state, "d")) == ("d", [], [("c", "group")])
    state = apply_commands(move("d", "a"), start=NESTED)
    assert state.rootGroupIds == ("a",)


def test_moving_a_group_out_of_all_makes_it_a_root_once() -> None:
    state = apply_commands(move("c", None), move("c", None), start=NESTED)
    assert parent(state, "c") is None
    assert members(state, "b") == []
    assert state.rootGroupIds == ("a", "d", "c")


def test_moving_leaves_entries_of_the_other_type() -> None:
    both = apply_commands(put("d", "c", "system"), start=NESTED)
    state = apply_commands(move("c", "a", "system"), start=both)
    assert members(state, "b") == [("c", "group")]
    assert parent(state, "c") == "b"


def test_moving_a_missing_member_leaves_a_loose_entry() -> None:
    state = apply_commands(move("ghost", "d"), move("nobody", "d", "system"), start=NESTED)
    assert members(state, "d") == [("ghost", "group"), ("nobody", "system")]
    assert apply_commands(move("ghost", None), start=NESTED) == NESTED


def test_a_refused_move_changes_no_list() -> None:
    assert apply_refused(NESTED, move("b", "ghost")) == {"type": "groupNotFound", "id": "ghost"}
    assert apply_refused(NESTED, move("b", ""))["id"] == ""
    assert apply_refused(NESTED, move("a", "c"))["reason"] == "cycle"


def test_a_system_may_be_moved_below_a_group_of_its_name() -> None:
    assert members(apply_commands(move("d", "d", "system"), start=NESTED), "d") == [("d", "system")]


def test_bodies_and_groups_of_one_name_do_not_meet() -> None:
    state = apply_commands(add_star("a"), command("removeStar", id="a"), start=NESTED)
    assert state == NESTED


def test_groups_that_list_one_another_can_be_moved_and_removed() -> None:
    mutual = parse_state(
        {"groups": {"x": a_group("x", None, make_member("y")), "y": a_group("y", None, make_member("x"))}}
    )
    assert apply_accepted(mutual, command("removeGroup", id="x")).state.rootGroupIds == ("y",)
    assert apply_accepted(mutual, move("x", "y")).state.groups["x"]["parentGroupId"] == "y"
