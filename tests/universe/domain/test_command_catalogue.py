"""The listing of commands says what the universe does: its fields, examples and refusals are those of the reducer."""

from copy import deepcopy
from typing import Any, Final

import pytest

from tests.requirements import requirement
from tests.universe.domain.samples import RING, a_body, a_group, make_member, outcome
from tests.universe.domain.test_events_and_refusals import CASES
from universe.domain import command_catalogue
from universe.domain.command_parser import parse_command
from universe.domain.command_results import is_refusal
from universe.domain.state import State, parse_state
from universe.errors import MalformedCommand

catalogue: Any = command_catalogue

COMMANDS: Final[dict[str, dict[str, Any]]] = {
    command["type"]: command for category in catalogue.list_command_categories() for command in category["commands"]
}
FULL: Final = parse_state(
    {
        "stars": {
            "sun": a_body("sun", None, ["earth", "saturn"]),
            "earth": a_body("earth", "sun", ["moon"]),
            "moon": a_body("moon", "earth"),
            "saturn": a_body("saturn", "sun", ring=RING),
        },
        "rootIds": ["sun"],
        "groups": {"milky-way": a_group("milky-way", None, make_member("sun", "system"))},
        "rootGroupIds": ["milky-way"],
        "smallBodyFields": {"belt": catalogue.EXAMPLES["setSmallBodyFields"]["fields"]["belt"]},
        "protoplanetaryDisks": {"disk": catalogue.EXAMPLES["addProtoplanetaryDisk"]["disk"]},
        "nebulae": {"veil": catalogue.EXAMPLES["setNebulae"]["nebulae"]["veil"]},
    }
)
"""A universe in which every example has what it names."""
EMPTIED: Final[dict[str, dict[str, Any]]] = {
    "attachStar": {"stars": {"earth": a_body("earth"), "moon": a_body("moon")}, "rootIds": ["earth", "moon"]},
    "addToGroup": {"groups": {"milky-way": a_group("milky-way")}},
    "moveToGroup": {"groups": {"milky-way": a_group("milky-way")}},
    "setSmallBodyFields": {"smallBodyFields": {}},
    "setProtoplanetaryDisks": {"protoplanetaryDisks": {}},
    "addProtoplanetaryDisk": {"protoplanetaryDisks": {}},
    "setNebulae": {"nebulae": {}},
}
"""Replacements in the universe for examples that add an entity that exists already."""


def universe_for(kind: str) -> State:
    return parse_state({**FULL.to_plain(), **EMPTIED.get(kind, {})})


@requirement("UN-7")
def test_every_refusal_that_can_happen_is_listed_with_its_command_and_no_other() -> None:
    happen: dict[str, set[str]] = {kind: set() for kind in COMMANDS}
    for _, given, event, _ in CASES:
        happen[given["type"]].add(event["type"])
    listed = {kind: {text.split(" (")[0] for text in command["refusals"]} for kind, command in COMMANDS.items()}
    assert listed == happen


@requirement("UN-7")
@pytest.mark.parametrize("kind", COMMANDS)
def test_every_example_takes_effect_if_its_entities_exist(kind: str) -> None:
    before = universe_for(kind)
    after = outcome(before, COMMANDS[kind]["example"])
    assert after.events or kind == "tick"
    assert not any(is_refusal(event) for event in after.events)
    assert after.state != before


@requirement("UN-7")
@pytest.mark.parametrize("kind", COMMANDS)
def test_the_fields_listed_as_required_are_those_without_which_a_command_is_refused(kind: str) -> None:
    command = COMMANDS[kind]
    assert command["description"].strip().endswith(".")
    for name, field in command["fields"].items():
        assert _is_refused_without(command["example"], [name]) is field["required"], name
        for inner, reply in field.get("fields", {}).items():
            if inner in command["example"][name]:
                assert _is_refused_without(command["example"], [name, inner]) is reply["required"], (name, inner)


def _is_refused_without(example: dict[str, Any], path: list[str]) -> bool:
    given = deepcopy(example)
    parent = given
    for name in path[:-1]:
        parent = parent[name]
    parent.pop(path[-1], None)
    try:
        parse_command(given)
    except MalformedCommand:
        return True
    return False
