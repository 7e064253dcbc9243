"""`apply`: pure, deterministic, and cheap because states share what they have in common."""

import math
import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.universe.domain.samples import (
    EMPTY_STATE,
    a_belt,
    a_body,
    a_disk,
    a_field,
    a_group,
    a_nebula,
    a_snapshot,
    add_group,
    add_star,
    apply_accepted,
    apply_commands,
    apply_refused,
    command,
    example,
)
from universe.domain.command_parser import parse_command
from universe.domain.commands import COMMAND_TYPES
from universe.domain.reducer import apply, reduce
from universe.domain.state import EMPTY, ENTITY_KINDS, parse_state
from universe.errors import MalformedCommand, UnknownCommand

FULL = a_snapshot(
    stars={"sun": a_body("sun", None, ["earth"]), "earth": a_body("earth", "sun")},
    rootIds=["sun"],
    groups={"g": a_group("g")},
    rootGroupIds=["g"],
    belts={"b": a_belt()},
    smallBodyFields={"f": a_field()},
    protoplanetaryDisks={"d": a_disk()},
    nebulae={"n": a_nebula()},
)


def replace(**parts: Any) -> dict[str, Any]:
    return command("replaceSnapshot", snapshot={**FULL, **parts})


@pytest.mark.parametrize("kind", COMMAND_TYPES)
def test_neither_the_state_nor_the_command_is_changed_and_the_answer_is_always_the_same(kind: str) -> None:
    before = apply_commands(replace(), command("tick", dt=5))
    written, given = deepcopy(before.to_plain()), example(kind)
    first, second = apply(before, given), apply(before, given)
    assert first == second
    assert before.to_plain() == written
    assert given == example(kind)


@pytest.mark.parametrize("kind", COMMAND_TYPES)
def test_a_command_that_is_parsed_is_not_changed_by_being_applied(kind: str) -> None:
    parsed = parse_command(example(kind))
    reduce(apply_commands(replace()), parsed)
    assert parsed == parse_command(example(kind))


@pytest.mark.parametrize("kind", COMMAND_TYPES)
def test_later_changes_of_the_input_do_not_change_the_state(kind: str) -> None:
    given = example(kind)
    state, events = apply(apply_commands(replace()), given)
    written = deepcopy((state.to_plain(), events))
    for value in list(given.values()):
        if isinstance(value, dict):
            value.clear()
    given.clear()
    assert (state.to_plain(), events) == written


def test_an_invalid_command_raises_and_is_not_an_event() -> None:
    with pytest.raises(UnknownCommand):
        apply(EMPTY, {"type": "explode"})
    with pytest.raises(MalformedCommand):
        apply(EMPTY, {"type": "removeStar"})


@pytest.mark.parametrize(("dt", "time"), [(0, 7), (3, 10), (-10, -3), (0.25, 7.25)])
def test_a_tick_adds_to_the_time_and_reports_nothing(dt: float, time: float) -> None:
    before = apply_commands(command("tick", dt=7))
    found = apply_accepted(before, command("tick", dt=dt))
    assert (found.state.time, found.events, found.touched) == (time, [], {})
    assert found.state.to_plain() == {**EMPTY_STATE, "time": time}


def test_a_bare_tick_is_a_whole_second() -> None:
    state, events = apply(EMPTY, {"type": "tick"})
    assert (state.time, events) == (1, [])
    assert type(state.time) is int


@pytest.mark.parametrize("dt", [1e308, -1e308, 2**64 - 1, -(2**63)])
def test_time_stays_a_number_that_can_be_written_and_read_however_long_it_passes(dt: float) -> None:
    state = EMPTY
    for _ in range(3):
        state = reduce(state, parse_command(command("tick", dt=dt))).state
        assert math.isfinite(state.time)
        assert parse_state(orjson.loads(orjson.dumps(state.to_plain()))) == state


@pytest.mark.parametrize("dt", [1e308, -1e308, 1.7976931348623157e308])
def test_a_tick_beyond_all_numbers_is_refused_and_the_time_stays(dt: float) -> None:
    state = apply_commands(command("tick", dt=dt))
    assert apply_refused(state, command("tick", dt=dt)) == {"type": "tickFailed", "reason": "overflow", "dt": dt}
    assert apply_commands(command("tick", dt=-dt), start=state).time == 0


@pytest.mark.parametrize(
    ("start", "dt", "time"),
    [
        (2**53 - 1, 1, 2**53),
        (-(2**53) + 1, -1, -(2**53)),
        (2**53, 1, float(2**53)),
        (2**53, 2, float(2**53 + 2)),
        (-(2**53), -2, float(-(2**53) - 2)),
        (0, 2**64 - 1, float(2**64)),
        (2**64 - 1, 2**64 - 1, float(2**65)),
        (float(2**60), -(2**60), 0.0),
    ],
)
def test_time_is_whole_as_long_as_every_reader_has_it_exactly(start: float, dt: float, time: float) -> None:
    found = apply_accepted(parse_state({"time": start}), command("tick", dt=dt)).state.time
    assert found == time
    assert type(found) is type(time)


def test_a_snapshot_replaces_everything_but_the_time() -> None:
    before = apply_commands(add_star("old"), add_group("older"), command("tick", dt=7))
    found = apply_accepted(before, replace(time=99, selection="sun", version=3))
    assert found.events == [{"type": "snapshotReplaced"}]
    assert found.state.to_plain() == {**FULL, "time": 7}
    assert found.touched["stars"].keys() == {"old", "sun", "earth"}
    assert found.touched["groups"].keys() == {"older", "g"}


@pytest.mark.parametrize("name", sorted(FULL.keys() - {"stars", "rootIds"}))
def test_absent_and_null_parts_of_a_snapshot_become_empty(name: str) -> None:
    before = apply_commands(replace())
    lacking = {key: value for key, value in FULL.items() if key != name}
    expected = {**FULL, name: EMPTY_STATE[name], "time": 0}
    assert apply_accepted(before, command("replaceSnapshot", snapshot=lacking)).state.to_plain() == expected
    assert apply_accepted(before, replace(**{name: None})).state.to_plain() == expected


def test_a_snapshot_is_taken_without_repair_but_not_with_a_circle() -> None:
    odd = {"a": a_body("b", "ghost", ["a", "nobody"])}
    assert apply_accepted(EMPTY, replace(stars=odd, rootIds=["x", "x"])).state.to_plain()["stars"] == odd
    before = apply_commands(replace())
    assert apply_refused(before, replace(stars={"a": a_body("a", "a")}))["type"] == "replaceSnapshotFailed"
    circle = {"x": a_group("x", "y"), "y": a_group("y", "x")}
    assert apply_refused(before, replace(groups=circle))["reason"] == "cycle"


def test_one_change_among_ten_thousand_bodies_copies_none_of_the_others() -> None:
    stars = {f"s{number}": a_body(f"s{number}") for number in range(10_000)}
    before = parse_state({"stars": stars, "groups": {"g": a_group("g")}})
    found = reduce(before, command("updateStar", id="s5000", payload={"mass": 1}))
    assert found.touched == {"stars": {"s5000": "put"}}
    assert [key for key in stars if found.state.stars[key] is not before.stars[key]] == ["s5000"]
    assert all(found.state.get_entities(kind) is before.get_entities(kind) for kind in ENTITY_KINDS if kind != "stars")


REFUSED_IN_MANY_WAYS = """
import sys
from tests.universe.domain.samples import a_body, a_group, a_nebula, a_snapshot, command
from universe.domain.reducer import apply
from universe.domain.state import EMPTY, parse_state
from universe.errors import MalformedCommand, MalformedState

parents = {"d": "c", "c": "d", "a": "b", "b": "a", "e": "e"}
stars = {key: a_body(key, parent) for key, parent in parents.items()}
groups = {key: a_group(key, parent) for key, parent in parents.items()}
for snapshot in (a_snapshot(stars=stars), a_snapshot(groups=groups), a_snapshot(stars=stars, groups=groups)):
    print(apply(EMPTY, command("replaceSnapshot", snapshot=snapshot))[1])
wrong = {key: a_nebula(key, radius=None, seed=[], name=5) for key in parents}
odd = dict.fromkeys(parents, 1)
for given in (
    command("setNebulae", nebulae=wrong),
    command("tick", **odd),
    command("addStar", id="x", payload=odd),
    command("replaceSnapshot", snapshot={"stars": {}, "rootIds": []}),
    command("replaceSnapshot", snapshot=a_snapshot(nebulae=wrong, stars=odd, groups=odd)),
    command("updateStar", id="x", payload={"bodyType": "sun", "ring": {}}),
):
    try:
        apply(EMPTY, given)
    except MalformedCommand as error:
        print(error.body())
for given in ({"stars": stars, "groups": groups}, {"groups": groups}, {"nebulae": wrong, "stars": odd}, odd):
    try:
        parse_state(given)
    except MalformedState as error:
        print(error.body())
"""


def test_a_refusal_has_the_same_text_in_every_process() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", REFUSED_IN_MANY_WAYS],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(Path(__file__).parents[3])},
            capture_output=True,
            text=True,
            check=True,
            timeout=50,
        ).stdout
        for seed in range(1, 6)
    }
    [words] = printed
    assert len(words.splitlines()) == 13
    assert words.startswith("[{'type': 'replaceSnapshotFailed', 'reason': 'cycle', 'id': 'd'}]")
