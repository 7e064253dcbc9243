"""Adding, changing, removing and attaching bodies, and their rings."""

from typing import Any

import pytest

from tests.universe.domain.samples import (
    RING,
    Json,
    a_body,
    a_field,
    a_payload,
    add_group,
    add_star,
    apply_accepted,
    apply_commands,
    apply_refused,
    command,
    make_member,
)
from universe.domain.state import EMPTY, State, parse_state

SYSTEM = apply_commands(add_star("sun"), add_star("earth", "sun"), add_star("moon", "earth"), add_star("mars", "sun"))


def children(state: State, key: str) -> list[str]:
    return state.stars[key]["children"]


def attach(child: str, parent: str) -> Json:
    return command("attachStar", childId=child, parentId=parent)


def update(key: str, **payload: Any) -> Json:
    return command("updateStar", id=key, payload=payload)


def test_a_body_without_parent_is_a_root() -> None:
    found = apply_accepted(EMPTY, add_star("sun", None, note="kept"))
    assert found.events == [{"type": "starAdded", "id": "sun"}]
    assert found.state.stars["sun"] == a_body("sun", None, note="kept")
    assert found.state.rootIds == ("sun",)


def test_a_body_with_a_parent_is_listed_by_it_and_is_not_a_root() -> None:
    assert children(SYSTEM, "sun") == ["earth", "mars"]
    assert children(SYSTEM, "earth") == ["moon"]
    assert SYSTEM.rootIds == ("sun",)


@pytest.mark.parametrize("parent", ["", "ghost"])
def test_a_body_whose_parent_does_not_exist_is_neither_root_nor_child(parent: str) -> None:
    state = apply_commands(add_star("sun"), add_star("lost", parent))
    assert state.stars["lost"]["parentId"] == parent
    assert state.rootIds == ("sun",)
    assert children(state, "sun") == []


def test_id_and_children_in_the_payload_lose() -> None:
    state = apply_commands(add_star("sun", None, id=[5], children={"not": "a list"}))
    assert state.stars["sun"] == a_body("sun")


@pytest.mark.parametrize("payload", [{}, {"orbitalPhase": None}])
def test_a_body_without_phase_begins_at_zero(payload: Json) -> None:
    given = add_star("sun")
    del given["payload"]["orbitalPhase"]
    given["payload"].update(payload)
    assert apply_commands(given).stars["sun"]["orbitalPhase"] == 0


def test_a_body_added_again_takes_the_place_of_the_first_and_the_lists_stay() -> None:
    state = apply_commands(add_star("earth", "sun", mass=1), start=SYSTEM)
    assert children(state, "earth") == []
    assert state.stars["moon"]["parentId"] == "earth"
    assert children(state, "sun") == ["earth", "mars", "earth"]
    assert apply_commands(add_star("sun"), start=SYSTEM).rootIds == ("sun", "sun")


def test_an_update_merges_one_level_deep_and_keeps_unknown_fields() -> None:
    given = update("earth", mass=9, ring=RING, note={"a": 1}, bodyType=None)
    state = apply_accepted(apply_commands(update("earth", note={"b": 2}), start=SYSTEM), given).state
    assert state.stars["earth"] == {
        **SYSTEM.stars["earth"],
        "mass": 9,
        "ring": RING,
        "note": {"a": 1},
        "bodyType": None,
    }


def test_an_update_of_hierarchy_fields_repairs_no_list() -> None:
    state = apply_commands(update("moon", parentId="mars", children=["x"], id="other"), start=SYSTEM)
    assert state.stars["moon"]["parentId"] == "mars"
    assert state.stars["moon"]["id"] == "other"
    assert children(state, "mars") == []
    assert children(state, "earth") == ["moon"]
    assert apply_commands(update("moon", parentId=None), start=SYSTEM).rootIds == ("sun",)


def test_an_update_with_nothing_in_it_is_a_new_state_of_the_same_content() -> None:
    found = apply_accepted(SYSTEM, update("sun"))
    assert found.state == SYSTEM
    assert found.events == [{"type": "starUpdated", "id": "sun"}]


def test_an_update_that_would_put_a_body_below_itself_is_refused() -> None:
    for parent in ("sun", "earth", "moon"):
        assert apply_refused(SYSTEM, update("sun", parentId=parent, mass=9))["reason"] == "cycle"
    assert apply_accepted(SYSTEM, update("moon", parentId="earth"))


def test_a_body_is_removed_with_everything_below_it() -> None:
    found = apply_accepted(SYSTEM, command("removeStar", id="earth"))
    assert found.events == [{"type": "starRemoved", "id": "earth", "removedIds": ["earth", "moon"]}]
    assert set(found.state.stars) == {"sun", "mars"}
    assert children(found.state, "sun") == ["mars"]
    assert found.touched == {"stars": {"earth": "removed", "moon": "removed", "sun": "put"}}
    assert apply_accepted(SYSTEM, command("removeStar", id="sun")).state == EMPTY


def test_other_references_to_a_removed_body_stay() -> None:
    crowded = apply_commands(
        add_group("g", None, make_member("earth", "system")),
        command("setSmallBodyFields", fields={"f": a_field(hostStarId="earth")}),
        start=SYSTEM,
    )
    state = apply_commands(command("removeStar", id="earth"), start=crowded)
    assert state.groups is crowded.groups
    assert state.smallBodyFields is crowded.smallBodyFields


def test_listed_bodies_that_are_gone_or_elsewhere_are_removed_as_listed() -> None:
    state = parse_state(
        {
            "stars": {"a": a_body("a", None, ["ghost", "b"]), "b": a_body("b", "c"), "c": a_body("c", None, ["b"])},
            "rootIds": ["a", "b", "c", "ghost", "a"],
        }
    )
    found = apply_accepted(state, command("removeStar", id="a"))
    assert found.events[0]["removedIds"] == ["a", "ghost", "b"]
    assert found.state.rootIds == ("c",)
    assert children(found.state, "c") == ["b"]


def test_attaching_moves_a_body_to_the_end_of_its_new_parents_list() -> None:
    found = apply_accepted(SYSTEM, attach("moon", "sun"))
    assert found.events == [{"type": "starAttached", "childId": "moon", "parentId": "sun"}]
    assert children(found.state, "sun") == ["earth", "mars", "moon"]
    assert children(found.state, "earth") == []
    assert children(apply_commands(attach("earth", "sun"), start=SYSTEM), "sun") == ["mars", "earth"]


def test_attaching_a_root_takes_it_off_the_roots_and_leaves_its_orbit() -> None:
    state = apply_commands(add_star("x"), add_star("x"), attach("x", "mars"), start=SYSTEM)
    assert state.rootIds == ("sun",)
    assert state.stars["x"] == a_body("x", "mars")
    orphan = apply_commands(add_star("x", ""), attach("x", "mars"), start=SYSTEM)
    assert orphan.rootIds == ("sun",)


def test_attaching_a_body_with_a_parent_does_not_change_the_roots() -> None:
    odd = parse_state({**SYSTEM.to_plain(), "rootIds": ["sun", "moon"]})
    assert apply_commands(attach("moon", "mars"), start=odd).rootIds == ("sun", "moon")


def test_attaching_removes_every_listing_by_the_old_parent() -> None:
    twice = apply_commands(update("sun", children=["earth", "mars", "earth"]), start=SYSTEM)
    state = apply_commands(attach("earth", "mars"), start=twice)
    assert (children(state, "sun"), children(state, "mars")) == (["mars"], ["earth"])


@pytest.mark.parametrize(("child", "parent"), [("ghost", "sun"), ("sun", "ghost"), ("ghost", "ghost")])
def test_attaching_needs_both(child: str, parent: str) -> None:
    assert apply_refused(SYSTEM, attach(child, parent))["reason"] == "notFound"


@pytest.mark.parametrize("parent", ["sun", "earth", "moon", "mars"])
def test_a_body_is_not_attached_to_itself_or_its_descendants(parent: str) -> None:
    assert apply_refused(SYSTEM, attach("sun", parent))["reason"] == "cycle"


def test_a_detached_body_is_a_root_at_distance_zero() -> None:
    wide = apply_commands(update("earth", semiMajorAxis=7), start=SYSTEM)
    found = apply_accepted(wide, command("detachStar", childId="earth"))
    assert found.events == [{"type": "starDetached", "childId": "earth"}]
    assert found.state.stars["earth"] == a_body("earth", None, ["moon"], orbitalDistance=0, semiMajorAxis=7)
    assert found.state.rootIds == ("sun", "earth")
    assert children(found.state, "sun") == ["mars"]


def test_an_orphan_is_detached_from_its_missing_parent() -> None:
    state = apply_commands(add_star("lost", "ghost"), command("detachStar", childId="lost"))
    assert state.stars["lost"]["parentId"] is None
    assert state.rootIds == ("lost",)


def test_a_body_without_a_parent_is_not_detached() -> None:
    empty = apply_commands(add_star("x", ""), start=SYSTEM)
    for child in ("sun", "ghost", "x"):
        assert apply_refused(empty, command("detachStar", childId=child))["reason"] == "notAttached"


def test_a_first_ring_is_made_from_the_body_and_then_patched() -> None:
    found = apply_accepted(SYSTEM, command("updateRing", planetId="mars", patch={"opacity": 0.25, "note": 1}))
    assert found.events == [{"type": "ringUpdated", "planetId": "mars"}]
    assert found.state.stars["mars"]["ring"] == {
        "innerRadiusMultiplier": 1.5,
        "outerRadiusMultiplier": 3,
        "thickness": a_payload()["radius"] * 0.1,
        "opacity": 0.25,
        "albedo": 0.8,
        "color": a_payload()["color"],
        "density": 0.6,
        "note": 1,
    }


@pytest.mark.parametrize("ring", [{}, {"ring": None}])
def test_a_ring_that_is_null_is_not_a_ring(ring: Json) -> None:
    state = apply_commands(update("mars", **ring), start=SYSTEM)
    assert apply_refused(state, command("removeRing", planetId="mars")) == {"type": "ringNotFound", "planetId": "mars"}
    assert (
        apply_commands(command("updateRing", planetId="mars", patch={}), start=state).stars["mars"]["ring"]["opacity"]
        == 0.6
    )


def test_a_ring_that_is_there_is_only_patched_and_can_be_removed() -> None:
    ringed = apply_commands(update("mars", ring=RING), start=SYSTEM)
    state = apply_commands(command("updateRing", planetId="mars", patch={"color": "#000000"}), start=ringed)
    assert state.stars["mars"]["ring"] == {**RING, "color": "#000000"}
    found = apply_accepted(state, command("removeRing", planetId="mars"))
    assert found.state == SYSTEM
    assert "ring" not in found.state.stars["mars"]


@pytest.mark.parametrize("key", ["constructor", "toString", "__proto__", "hasOwnProperty", "__class__", "get"])
def test_a_name_of_the_language_is_an_id_like_any_other(key: str) -> None:
    for given in (
        update(key),
        command("removeStar", id=key),
        attach(key, "sun"),
        command("detachStar", childId=key),
        command("updateRing", planetId=key, patch={}),
    ):
        apply_refused(SYSTEM, given)
    state = apply_commands(add_star(key, "sun"), update(key, mass=4), start=SYSTEM)
    assert state.stars[key]["mass"] == 4
    assert apply_commands(command("removeStar", id=key), start=state) == SYSTEM


def test_a_body_cannot_be_its_own_parent_from_the_beginning() -> None:
    assert apply_refused(apply_commands(add_star("y")), add_star("x", "x"))["reason"] == "cycle"


def test_bodies_that_list_one_another_are_removed_together() -> None:
    tangled = parse_state({"stars": {"x": a_body("x", None, ["y"]), "y": a_body("y", None, ["x"])}})
    found = apply_accepted(tangled, command("removeStar", id="x"))
    removed = found.events[0]["removedIds"]
    assert isinstance(removed, list)
    assert set(removed) == {"x", "y"}
    assert found.state == EMPTY
