"""Properties of the reducer for any commands, and its agreement with a naive implementation."""

import gzip
import json
import math
from pathlib import Path
from typing import Any, ClassVar, Final

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.universe.domain.naive_reducer import RULES, reduce_naively
from tests.universe.domain.samples import Json
from tests.universe.domain.strategies import COMMANDS, FLAT, TANGLED, commands_of_kinds
from universe.domain.command_parser import parse_command
from universe.domain.command_results import REFUSALS, is_refusal, make_refusal_error
from universe.domain.commands import COMMAND_CLASSES, COMMAND_TYPES
from universe.domain.reducer import CommandOutcome, apply, reduce
from universe.domain.state import EMPTY, ENTITY_KINDS, State, parse_state
from universe.errors import MalformedCommand

CIRCLES: Final = {"addStar", "updateStar", "addGroup", "updateGroup", "removeGroup", "addToGroup", "replaceSnapshot"}
"""Commands that the plain rules never refuse for a circle."""
HIERARCHIES: Final = (("stars", "parentId"), ("groups", "parentGroupId"))
WRONG: Final[tuple[Any, ...]] = ([], 7, True, math.nan)
REST: Final = [kind for kind in COMMAND_TYPES if not any(noun in kind for noun in ("Star", "Group"))]


class Universe(RuleBasedStateMachine):
    reached: ClassVar[set[str]] = set()

    def __init__(self) -> None:
        super().__init__()
        self.state = EMPTY
        self.log: list[bytes] = []
        self.kept: list[tuple[State, bytes]] = []

    @initialize(first=st.sampled_from([None, FLAT, TANGLED]))
    def begin(self, first: Json | None) -> None:
        if first:
            self.send(first)

    @rule(command=commands_of_kinds("addStar", "updateStar", "removeStar", "attachStar", "detachStar"))
    def change_bodies(self, command: Json) -> None:
        self.send(command)

    @rule(command=commands_of_kinds("addGroup", "updateGroup", "removeGroup"))
    def change_groups(self, command: Json) -> None:
        self.send(command)

    @rule(command=commands_of_kinds("addToGroup", "removeFromGroup", "moveToGroup"))
    def change_what_is_in_groups(self, command: Json) -> None:
        self.send(command)

    @rule(command=commands_of_kinds(*REST))
    def change_the_rest(self, command: Json) -> None:
        self.send(command)

    def send(self, command: Json) -> None:
        before, sent = self.state, orjson.dumps(command)
        plain: Any = before.to_plain()
        parsed: Any = parse_command(command)
        expected = reduce_naively(plain, parsed)
        found = reduce(before, parsed)
        assert orjson.dumps(command) == sent
        assert apply(before, orjson.loads(sent)) == (found.state, found.events)
        assert_as_expected(parsed, found, *expected)
        if found.is_refused:
            assert_refused(before, found)
        else:
            assert_touched(before, found)
            self.log.append(sent)
        self.reached.update(str(event["type"]) for event in found.events)
        self.kept.append((before, written(before)))
        self.state = found.state

    @invariant()
    def nothing_is_below_itself(self) -> None:
        assert not has_circle({**self.state.to_plain()})

    @invariant()
    def the_state_survives_being_written_and_read(self) -> None:
        assert parse_state(orjson.loads(written(self.state))) == self.state
        assert parse_state(self.state.to_plain()) == self.state

    def teardown(self) -> None:
        assert all(written(state) == then for state, then in self.kept)
        replayed = EMPTY
        for sent in self.log:
            outcome = reduce(replayed, parse_command(orjson.loads(sent)))
            assert not outcome.is_refused
            replayed = outcome.state
        assert replayed == self.state


def written(state: State) -> bytes:
    return orjson.dumps(state.to_plain(), option=orjson.OPT_SORT_KEYS)


def assert_as_expected(command: Json, found: CommandOutcome, state: Json, events: list[Json], refused: bool) -> None:
    """As the plain rules have it, but that what would close a circle is refused; and nothing else for that reason."""
    if command["type"] in CIRCLES and has_circle(state):
        [event] = found.events
        assert (event["type"], event["reason"]) == (f"{command['type']}Failed", "cycle")
    else:
        assert [{**event, **_once(event)} for event in found.events] == events
        assert found.state.to_plain() == state
        assert found.is_refused == refused


def _once(event: Json) -> Json:
    """Return the removed ids of an event without duplicates: this test accepts any number of repetitions."""
    return {"removedIds": list(dict.fromkeys(event["removedIds"]))} if "removedIds" in event else {}


def assert_refused(before: State, found: CommandOutcome) -> None:
    assert found.state is before
    assert found.touched == {}
    [event] = found.events
    error = make_refusal_error(event)
    assert error.ids["event"] is event
    assert error.message
    assert error.hint


def assert_touched(before: State, found: CommandOutcome) -> None:
    """Whatever differs was touched, whatever was touched is or was there, and all else is the very same object."""
    assert found.state is not before
    assert not any(is_refusal(event) for event in found.events)
    assert found.touched.keys() <= set(ENTITY_KINDS)
    for kind in ENTITY_KINDS:
        old, new = before.get_entities(kind), found.state.get_entities(kind)
        touched = found.touched.get(kind, {})
        there = {*old, *new}
        assert touched.keys() <= there
        for key in there - touched.keys():
            assert old.get(key) is new.get(key)
        if kind not in found.touched:
            assert new is old


def has_circle(state: Json) -> bool:
    return any(_is_below_itself(key, state[kind], link) for kind, link in HIERARCHIES for key in state[kind])


def _is_below_itself(key: str, entities: Json, link: str) -> bool:
    seen: set[str] = set()
    above = entities[key][link]
    while above in entities and above not in seen:
        seen.add(above)
        above = entities[above][link]
    return key in seen


@pytest.mark.timeout(300)  # a failure is made as short as it can be before it is shown
def test_no_sequence_of_commands_breaks_an_invariant() -> None:
    run_state_machine_as_test(Universe, settings=settings(stateful_step_count=30))
    # Whoever sends only what is refused proves little.
    assert len(Universe.reached - REFUSALS) > 15
    assert len(Universe.reached & REFUSALS) > 5


def test_every_kind_of_command_is_sent_and_has_its_plain_rule() -> None:
    assert len(COMMAND_TYPES) == len(set(COMMAND_TYPES)) == 25
    assert COMMANDS.keys() == RULES.keys() == COMMAND_CLASSES.keys() == set(COMMAND_TYPES)


def test_the_naive_reducer_gives_the_recorded_results(shared_data: Path) -> None:
    path = shared_data / "universe" / "golden.json.gz"
    if not path.is_file():
        pytest.skip("the recorded steps of the reducer are not beside this checkout")
    for sequence in json.loads(gzip.decompress(path.read_bytes()))["sequences"]:
        before: Json = sequence["initial"]
        for step in sequence["steps"] if sequence["kind"] == "typed" else ():
            expected = (step["state"], step["events"], step["noop"])
            assert reduce_naively(before, step["command"]) == expected, (sequence["id"], step["command"]["type"])
            before = step["state"]


@given(commands_of_kinds(*COMMAND_TYPES), st.data())
def test_a_command_that_lacks_a_field_or_has_one_too_many_is_malformed(command: Json, data: st.DataObject) -> None:
    required = sorted(COMMAND_CLASSES[command["type"]].__required_keys__ - {"type"})
    spoiled: list[tuple[str, Any]] = [("surplus", {**command, "surplus": 1})]
    spoiled += [(name, {key: value for key, value in command.items() if key != name}) for name in required]
    spoiled += [(name, {**command, name: bad}) for name in required for bad in WRONG]
    path, broken = data.draw(st.sampled_from(spoiled))
    with pytest.raises(MalformedCommand) as caught:
        apply(EMPTY, broken)
    assert caught.value.ids["path"] == path


@given(
    st.lists(commands_of_kinds(*COMMAND_TYPES).filter(lambda command: abs(command.get("dt", 1)) <= 1e6), max_size=20)
)
def test_time_is_the_sum_of_the_ticks_and_no_other_command_moves_it(commands: list[Json]) -> None:
    state, expected = EMPTY, 0.0
    for command in commands:
        state, _ = apply(state, command)
        expected += command.get("dt", 1) if command["type"] == "tick" else 0
    assert state.time == expected
