"""Walks through parents and children, each of which ends."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.universe.domain.samples import (
    Json,
    a_body,
    a_group,
    a_snapshot,
    add_group,
    add_star,
    apply_accepted,
    apply_commands,
    apply_refused,
    command,
    make_member,
)
from universe.domain.reducer import reduce
from universe.domain.state import (
    EMPTY,
    State,
    find_entity_in_cycle,
    find_hierarchy_problem,
    list_self_and_descendants,
    parse_state,
)
from universe.errors import MalformedState

MAX_DEPTH = 1_000

MANY: Final = 20_000


class Counted(Mapping[str, Json]):
    """A map that counts how often it is asked."""

    def __init__(self, entities: dict[str, Json]) -> None:
        self._entities = entities
        self.asked = 0

    def __getitem__(self, key: str) -> Json:
        self.asked += 1
        return self._entities[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entities)

    def __len__(self) -> int:
        return len(self._entities)


def chain(length: int, prefix: str = "s") -> dict[str, Json]:
    """Each below the one before it."""
    keys = [f"{prefix}{number}" for number in range(length)]
    return {key: {"parentId": above} for key, above in zip(keys, [None, *keys], strict=False)}


def bodies_in_a_chain(length: int, prefix: str = "s") -> dict[str, Json]:
    return {key: a_body(key, body["parentId"]) for key, body in chain(length, prefix).items()}


def state_of(stars: dict[str, Json]) -> State:
    return parse_state({"stars": stars})


def deepest(entities: Mapping[str, Mapping[str, Any]], link: str) -> int:
    depths: dict[str, int] = {}
    for start in entities:
        line = [start]
        while (above := entities[line[-1]][link]) in entities and above not in depths:
            assert above not in line
            line.append(above)
        depth = depths.get(entities[line[-1]][link] or "", 0)
        for key in reversed(line):
            depth += 1
            depths[key] = depth
    return max(depths.values())


def test_a_group_cannot_be_put_below_itself_or_its_descendants() -> None:
    stars = chain(4)
    assert find_hierarchy_problem("s0", "s0", stars, "parentId") == "cycle"
    assert find_hierarchy_problem("s0", "s3", stars, "parentId") == "cycle"
    assert find_hierarchy_problem("s2", "s3", stars, "parentId") == "cycle"
    assert find_hierarchy_problem("s3", "s0", stars, "parentId") is None
    assert find_hierarchy_problem("s3", "s2", stars, "parentId") is None


def test_the_walk_up_ends_at_a_missing_parent_at_null_and_at_an_absent_field() -> None:
    for top in (None, "", "ghost"):
        assert find_hierarchy_problem("x", "a", {"a": {"parentId": top}}, "parentId") is None
    assert find_hierarchy_problem("x", "ghost", {}, "parentId") is None
    assert find_hierarchy_problem("ghost", "ghost", {}, "parentId") == "cycle"


def test_a_missing_parent_cannot_be_added_below_its_own_child() -> None:
    orphan = apply_commands(add_star("a", "ghost"), add_star("b", "a"))
    for parent in ("a", "b", "ghost"):
        event = apply_refused(orphan, add_star("ghost", parent))
        assert event == {"type": "addStarFailed", "reason": "cycle", "id": "ghost", "parentId": parent}
    assert apply_accepted(orphan, add_star("ghost")).state.stars["a"]["parentId"] == "ghost"
    groups = apply_commands(add_group("a", "ghost"))
    event = apply_refused(groups, add_group("ghost", "a"))
    assert event == {"type": "addGroupFailed", "reason": "cycle", "id": "ghost", "parentGroupId": "a"}


def test_the_deepest_place_is_taken_and_the_next_refused() -> None:
    stars = chain(MAX_DEPTH)
    assert find_hierarchy_problem("x", f"s{MAX_DEPTH - 2}", stars, "parentId") is None
    assert find_hierarchy_problem("x", f"s{MAX_DEPTH - 1}", stars, "parentId") == "tooDeep"


def test_every_command_that_nests_is_refused_below_the_deepest_place() -> None:
    last = f"s{MAX_DEPTH - 1}"
    stars = state_of({**bodies_in_a_chain(MAX_DEPTH), "x": a_body("x")})
    assert apply_refused(stars, add_star("new", last))["reason"] == "tooDeep"
    assert apply_refused(stars, command("attachStar", childId="x", parentId=last))["reason"] == "tooDeep"
    assert apply_refused(stars, command("updateStar", id="x", payload={"parentId": last}))["reason"] == "tooDeep"
    nested = {key: a_group(key, body["parentId"]) for key, body in chain(MAX_DEPTH).items()}
    groups = parse_state({"groups": {**nested, "x": a_group("x")}})
    assert apply_refused(groups, add_group("new", last))["reason"] == "tooDeep"
    assert apply_refused(groups, command("updateGroup", id="x", payload={"parentGroupId": last}))["reason"] == "tooDeep"
    assert apply_refused(groups, command("addToGroup", groupId=last, child=make_member("x")))["reason"] == "tooDeep"
    move = command("moveToGroup", childId="x", childType="group", targetGroupId=last)
    assert apply_refused(groups, move)["reason"] == "tooDeep"
    assert apply_accepted(groups, command("addToGroup", groupId=last, child=make_member("x", "system")))


@pytest.mark.parametrize(
    "last",
    [
        command("attachStar", childId="b0", parentId=f"a{MAX_DEPTH - 2}"),
        command("updateStar", id="b0", payload={"parentId": f"a{MAX_DEPTH - 2}"}),
        add_star("b0", f"a{MAX_DEPTH - 2}"),
    ],
    ids=lambda each: each["type"],
)
def test_descendants_move_with_a_body_and_the_state_stays_valid(last: Json) -> None:
    both = {**bodies_in_a_chain(MAX_DEPTH - 1, "a"), **bodies_in_a_chain(MAX_DEPTH - 1, "b")}
    state = apply_accepted(state_of(both), last).state
    assert deepest(state.stars, "parentId") == 2 * (MAX_DEPTH - 1)
    assert parse_state(state.to_plain()) == state
    assert apply_refused(state, add_star("x", f"b{MAX_DEPTH - 2}"))["reason"] == "tooDeep"
    assert apply_refused(state, command("attachStar", childId="a0", parentId=f"b{MAX_DEPTH - 2}"))["reason"] == "cycle"


def test_waiting_children_are_below_an_added_body_at_any_depth() -> None:
    waiting = bodies_in_a_chain(MAX_DEPTH)
    waiting["s0"]["parentId"] = "ghost"
    state = apply_accepted(state_of(waiting), add_star("ghost")).state
    assert deepest(state.stars, "parentId") == MAX_DEPTH + 1
    assert parse_state(state.to_plain()) == state


def test_a_group_that_comes_with_all_that_is_in_it_leaves_a_state() -> None:
    groups = {key: a_group(key, body["parentId"]) for p in "ab" for key, body in chain(600, p).items()}
    state = parse_state({"groups": groups})
    for sent in (
        command("addToGroup", groupId="a599", child=make_member("b0")),
        command("moveToGroup", childId="b0", childType="group", targetGroupId="a599"),
    ):
        after_it = apply_accepted(state, sent).state
        assert deepest(after_it.groups, "parentGroupId") == 1_200
        assert parse_state(after_it.to_plain()) == after_it


def test_a_cycle_far_beyond_the_limit_is_refused_as_a_cycle() -> None:
    last = f"s{5 * MAX_DEPTH - 1}"
    stars = state_of(bodies_in_a_chain(5 * MAX_DEPTH))
    for sent in (
        add_star("s0", last),
        command("attachStar", childId="s0", parentId=last),
        command("updateStar", id="s0", payload={"parentId": last}),
    ):
        assert apply_refused(stars, sent)["reason"] == "cycle"
    groups = parse_state({"groups": {k: a_group(k, g["parentId"]) for k, g in chain(5 * MAX_DEPTH).items()}})
    for sent in (
        add_group("s0", last),
        command("addToGroup", groupId=last, child=make_member("s0")),
        command("updateGroup", id="s0", payload={"parentGroupId": last}),
        command("moveToGroup", childId="s0", childType="group", targetGroupId=last),
    ):
        assert apply_refused(groups, sent)["reason"] == "cycle"


def test_a_refusal_at_the_limit_costs_a_few_times_the_limit() -> None:
    stars = Counted(chain(MAX_DEPTH))
    assert find_hierarchy_problem("x", f"s{MAX_DEPTH - 1}", stars, "parentId") == "tooDeep"
    assert stars.asked <= 4 * MAX_DEPTH


def test_groups_nested_one_by_one_are_refused_at_the_limit_each_at_a_bounded_cost() -> None:
    state, last, refusals = EMPTY, None, 0
    for number in range(3 * MAX_DEPTH):
        found = reduce(state, add_group(f"g{number}", last))
        refusals += found.is_refused
        state, last = found.state, last if found.is_refused else f"g{number}"
    assert refusals == 2 * MAX_DEPTH
    assert len(state.groups) == MAX_DEPTH
    assert deepest(state.groups, "parentGroupId") == MAX_DEPTH


def test_many_in_a_chain_are_a_state_and_a_snapshot() -> None:
    groups = {key: a_group(key, body["parentId"]) for key, body in reversed(chain(MANY).items())}
    snapshot = reduce(EMPTY, command("replaceSnapshot", snapshot=a_snapshot(groups=groups)))
    assert snapshot.events == [{"type": "snapshotReplaced"}]
    assert parse_state({"groups": groups}) == snapshot.state


def test_a_circle_of_many_is_neither_a_snapshot_nor_a_state() -> None:
    groups = {key: a_group(key, body["parentId"]) for key, body in chain(MANY).items()}
    groups["s0"]["parentGroupId"] = f"s{MANY - 1}"
    snapshot = reduce(EMPTY, command("replaceSnapshot", snapshot=a_snapshot(groups=groups)))
    assert snapshot.events == [{"type": "replaceSnapshotFailed", "reason": "cycle", "id": "s0"}]
    with pytest.raises(MalformedState) as caught:
        parse_state({"groups": groups})
    assert caught.value.ids["path"] == "groups.s0.parentGroupId"


def test_a_refusal_at_depth_costs_a_few_walks_to_the_root() -> None:
    stars = Counted(chain(MANY))
    assert find_hierarchy_problem("x", f"s{MANY - 1}", stars, "parentId") == "tooDeep"
    assert stars.asked <= 4 * MANY


def test_looking_for_circles_asks_for_each_entity_a_few_times_only() -> None:
    many = 20 * MAX_DEPTH
    for backwards in (False, True):
        wide = {key: {"parentId": "s0" if key != "s0" else None} for key in chain(many)}
        stars = Counted(dict(reversed(wide.items())) if backwards else wide)
        assert find_entity_in_cycle(stars, "parentId") is None
        assert stars.asked <= 4 * many
        stars = Counted(dict(reversed(chain(many).items())) if backwards else chain(many))
        assert find_entity_in_cycle(stars, "parentId") is None
        assert stars.asked <= 4 * many


@pytest.mark.parametrize("length", [1, 2, 3, 50_000])
def test_a_circle_is_found_wherever_one_begins(length: int) -> None:
    keys = [f"s{number}" for number in range(length)]
    circle = {key: {"parentId": above} for key, above in zip(keys, [keys[-1], *keys], strict=False)}
    tail = {"t0": {"parentId": "s0"}, "t1": {"parentId": "t0"}}
    for entities in ({**circle, **tail}, {**tail, **circle}):
        assert find_entity_in_cycle(entities, "parentId") == "s0"


@pytest.mark.parametrize("order", ["abcdef", "fedcba", "cfbead"])
def test_of_many_circles_the_first_in_the_given_order_is_named(order: str) -> None:
    above = {"a": "b", "b": "a", "c": "d", "d": "c", "e": "e", "f": None}
    entities = {key: {"parentId": above[key]} for key in order}
    assert find_entity_in_cycle(entities, "parentId") == next(key for key in order if key != "f")


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["a", "b", "c", "d", "e", "f", "", None])))
def test_a_circle_is_found_exactly_where_something_is_its_own_ancestor(parents: dict[str, str | None]) -> None:
    entities = {key: {"parentId": parent} for key, parent in parents.items()}

    def is_its_own_ancestor(key: str) -> bool:
        above, steps = parents[key], 0
        while above and above in parents and steps < 10:
            if above == key:
                return True
            above, steps = parents[above], steps + 1
        return False

    found = find_entity_in_cycle(entities, "parentId")
    assert (found is not None) == any(map(is_its_own_ancestor, parents))
    assert found is None or is_its_own_ancestor(found)


def test_a_cycle_of_parents_ends_the_walk() -> None:
    circle = {"a": {"parentId": "b"}, "b": {"parentId": "a"}, "c": {"parentId": None}}
    assert find_hierarchy_problem("c", "a", circle, "parentId") is None
    assert find_hierarchy_problem("a", "b", circle, "parentId") == "cycle"


def test_descendants_are_listed_parents_first_including_missing_ids() -> None:
    stars: dict[str, Json] = {
        "a": {"children": ["b", "ghost", "c"]},
        "b": {"children": ["d"]},
        "c": {"children": []},
        "d": {"children": []},
        "other": {"children": ["a"]},
    }
    assert list_self_and_descendants("a", stars) == ["a", "b", "d", "ghost", "c"]
    assert list_self_and_descendants("c", stars) == ["c"]


def test_lists_of_children_that_lead_in_a_circle_come_to_an_end() -> None:
    stars = {"a": {"children": ["b", "a"]}, "b": {"children": ["c", "a"]}, "c": {"children": ["c"]}}
    for start in stars:
        found = list_self_and_descendants(start, stars)
        assert set(found) == ({"c"} if start == "c" else {"a", "b", "c"})
        assert len(found) <= 6


def test_children_listed_twice_on_every_level_do_not_multiply() -> None:
    levels = 200
    stars = {f"s{number}": {"children": [f"s{number + 1}"] * 2} for number in range(levels)}
    found = list_self_and_descendants("s0", stars)
    assert list(dict.fromkeys(found)) == [f"s{number}" for number in range(levels + 1)]
    assert len(found) <= 2 * levels + 1


def test_many_children_are_removed_with_their_parent() -> None:
    keys = [f"s{number}" for number in range(MANY)]
    stars = {"sun": a_body("sun", None, keys), "other": a_body("other"), **{key: a_body(key, "sun") for key in keys}}
    state = parse_state({"stars": stars, "rootIds": ["sun", "other", *keys]})
    found = reduce(state, command("removeStar", id="sun"))
    assert found.events == [{"type": "starRemoved", "id": "sun", "removedIds": ["sun", *keys]}]
    assert list(found.state.stars) == ["other"]
    assert found.state.rootIds == ("other",)
    assert found.touched["stars"].keys() == {"sun", *keys}


def test_a_chain_of_many_children_is_removed_without_recursion() -> None:
    stars = {f"s{number}": {"children": [f"s{number + 1}"]} for number in range(MANY)}
    assert len(list_self_and_descendants("s0", stars)) == MANY + 1
