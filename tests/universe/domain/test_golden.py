"""Recorded commands give the recorded states and events."""

import gzip
import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import pytest

from tests.universe.domain.test_schemas import is_accepted, is_published
from universe.domain.command_results import is_refusal, make_refusal_error
from universe.domain.commands import COMMAND_CLASSES, COMMAND_TYPES
from universe.domain.reducer import apply
from universe.domain.state import EMPTY, Plain, State, find_entity_in_cycle, make_state_from_plain, parse_state
from universe.errors import MalformedCommand, UnknownCommand

Json = dict[str, Any]

ITSELF: Final = "the group would be its own parent"
BELOW: Final = "the group would be below one of the groups below it"
AGAIN: Final = "the circle let in by the step before would stay, smaller by one"
DIVERGENCES: Final = {
    ("dev-malformed-mixed-052", 17): ("addGroupFailed", ITSELF),
    ("dev-malformed-mixed-052", 44): ("addToGroupFailed", BELOW),
    ("dev-malformed-mixed-052", 45): ("removeGroupFailed", AGAIN),
    ("dev-malformed-mixed-056", 14): ("addToGroupFailed", ITSELF),
}
"""Well-formed steps of the malformed sequences that would close a circle, and the refusal they get instead."""


@dataclass(frozen=True)
class Step:
    sequence: str
    number: int
    before: Json
    recorded: Json

    @property
    def place(self) -> tuple[str, int]:
        return self.sequence, self.number

    @property
    def command(self) -> Json:
        return self.recorded["command"]

    @property
    def is_probe(self) -> bool:
        return "malformed" in self.recorded["tags"]

    @property
    def returned(self) -> bool:
        return "error" not in self.recorded

    def replayed(self) -> tuple[State, State, list[Json]]:
        """Return the state before, the state after and the events. Assert that the inputs are unchanged."""
        before = make_state_from_plain(cast("Plain", deepcopy(self.before)))
        command = deepcopy(self.command)
        after, events = apply(before, command)
        assert before.to_plain() == self.before, self.place
        assert command == self.command, self.place
        return before, after, events

    def is_exact(self) -> bool:
        before, after, events = self.replayed()
        printed = (after.to_plain(), events, after is before)
        return printed == (self.recorded["state"], self.recorded["events"], self.recorded["noop"])


@pytest.fixture(scope="module")
def golden(shared_data: Path) -> list[Json]:
    path = shared_data / "universe" / "golden.json.gz"
    if not path.is_file():
        pytest.skip("the recorded steps of the reducer are not beside this checkout")
    return json.loads(gzip.decompress(path.read_bytes()))["sequences"]


def steps(golden: list[Json], kind: str) -> Iterator[Step]:
    """Each step with the state recorded before it."""
    for sequence in golden:
        if sequence["kind"] == kind:
            before = sequence["initial"]
            for number, recorded in enumerate(sequence["steps"]):
                yield Step(sequence["id"], number, before, recorded)
                if "error" not in recorded and recorded.get("advance", True):
                    before = recorded["state"]


def test_every_typed_step_gives_the_recorded_state_events_and_refusal(golden: list[Json]) -> None:
    typed = list(steps(golden, "typed"))
    assert [step.place for step in typed if not step.is_exact()] == []
    assert len(typed) == 2336


def test_typed_sequences_run_through_from_the_empty_state(golden: list[Json]) -> None:
    for sequence in golden:
        if sequence["kind"] == "typed":
            state = EMPTY
            assert state.to_plain() == sequence["initial"]
            for recorded in sequence["steps"]:
                state, _ = apply(state, recorded["command"])
            assert state.to_plain() == sequence["steps"][-1]["state"], sequence["id"]


def test_recorded_refusals_are_refusals_with_a_message(golden: list[Json]) -> None:
    seen: set[str] = set()
    for step in steps(golden, "typed"):
        _, _, events = step.replayed()
        assert step.recorded["noop"] == any(is_refusal(event) for event in events), step.place
        seen |= {make_refusal_error(event).code for event in events if is_refusal(event)}
    assert {"star_not_found", "group_not_found", "hierarchy_refused", "not_attached", "ring_not_found"} <= seen


def test_every_typed_state_is_accepted_as_a_state_and_written_back_alike(golden: list[Json]) -> None:
    for step in steps(golden, "typed"):
        assert parse_state(step.recorded["state"]).to_plain() == step.recorded["state"], step.place


def test_every_malformed_probe_but_the_bare_tick_is_refused_with_a_path(golden: list[Json]) -> None:
    probes = [step for step in steps(golden, "malformed") if step.is_probe]
    refused = [step for step in probes if step.command != {"type": "tick"}]
    assert len(probes) == 100
    assert 90 < len(refused) < 100
    for step in refused:
        given = deepcopy(step.command)
        with pytest.raises((MalformedCommand, UnknownCommand)) as caught:
            apply(make_state_from_plain(cast("Plain", deepcopy(step.before))), given)
        assert caught.value.ids["path"].split(".")[0] in {*step.command, *_fields(step.command)}, step.place
        assert caught.value.status == 400
        assert caught.value.message
        assert caught.value.hint
        assert given == step.command


def test_a_bare_tick_is_one_second(golden: list[Json]) -> None:
    bare = [step for step in steps(golden, "malformed") if step.command == {"type": "tick"}]
    assert bare
    for step in bare:
        before, after, events = step.replayed()
        assert (after.time, events) == (before.time + 1, [])


def test_an_unknown_command_is_refused_with_the_commands_there_are(golden: list[Json]) -> None:
    unknown = [
        step
        for step in steps(golden, "malformed")
        if step.is_probe and step.command.get("type") not in set(COMMAND_TYPES)
    ]
    assert unknown
    for step in unknown:
        with pytest.raises(UnknownCommand) as caught:
            apply(EMPTY, step.command)
        assert caught.value.ids["path"] == "type"
        assert all(name in caught.value.ids["allowed"] for name in COMMAND_TYPES)


def test_every_refused_probe_lists_the_allowed_values(golden: list[Json]) -> None:
    silent: list[tuple[str, int]] = []
    for step in steps(golden, "malformed"):
        if step.is_probe and step.command != {"type": "tick"}:
            with pytest.raises((MalformedCommand, UnknownCommand)) as caught:
                apply(EMPTY, step.command)
            if not caught.value.ids.get("allowed"):
                silent.append(step.place)
    assert silent == []


def test_the_other_steps_of_malformed_sequences_are_exact_but_for_the_listed_ones(golden: list[Json]) -> None:
    others = [step for step in steps(golden, "malformed") if not step.is_probe]
    assert len(others) == 145
    assert {step.place for step in others if not step.is_exact()} == DIVERGENCES.keys()


def test_each_listed_divergence_would_have_closed_a_circle_and_is_refused(golden: list[Json]) -> None:
    listed = [step for step in steps(golden, "malformed") if step.place in DIVERGENCES]
    assert len(listed) == len(DIVERGENCES)
    for step in listed:
        kind, reason = DIVERGENCES[step.place]
        before, after, [event] = step.replayed()
        assert after is before
        assert (event["type"], event["reason"]) == (kind, "cycle")
        assert make_refusal_error(event).code == "hierarchy_refused"
        child = step.command.get("id") or step.command["child"]["id"]
        assert (child == _parent(step.command)) == (reason == ITSELF)
        assert (find_entity_in_cycle(step.before["groups"], "parentGroupId") is not None) == (reason == AGAIN)
        assert find_entity_in_cycle(step.recorded["state"]["groups"], "parentGroupId") is not None


def test_every_hazard_step_ends_and_is_exact_or_a_refused_circle(golden: list[Json]) -> None:
    hazards = list(steps(golden, "hazard"))
    assert len(hazards) == 330
    refused = 0
    for step in hazards:
        before, after, events = step.replayed()
        if step.returned and step.is_exact():
            continue
        if step.returned:
            [event] = events
            assert after is before, step.place
            assert event["reason"] == "cycle", step.place
            assert make_refusal_error(event).code == "hierarchy_refused"
            refused += 1
    assert refused == 42


def test_steps_that_never_came_back_when_recorded_come_back(golden: list[Json]) -> None:
    lost = [step for step in steps(golden, "hazard") if not step.returned]
    assert len(lost) == 11
    for step in lost:
        _, after, events = step.replayed()
        assert len(events) == 1, step.place
        assert make_state_from_plain(after.to_plain()) == after


def test_every_recorded_command_is_accepted_by_both_or_by_none(golden: list[Json]) -> None:
    commands = {
        json.dumps(step.command, sort_keys=True): step.command
        for kind in ("typed", "malformed", "hazard")
        for step in steps(golden, kind)
    }
    assert len(commands) > 2_000
    assert [one for one in commands.values() if is_accepted(one) != is_published(one)] == []


def _fields(command: Json) -> set[str]:
    """Return the fields that a command of this kind can have."""
    kind = COMMAND_CLASSES.get(command.get("type", ""))
    return set(kind.__annotations__) if kind else {"type"}


def _parent(command: Json) -> str | None:
    return command["groupId"] if "groupId" in command else command.get("payload", {}).get("parentGroupId")
