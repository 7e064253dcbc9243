"""The published schema of a command and the server agree: what one accepts or refuses, so does the other."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.universe.domain import samples, strategies
from tests.universe.domain.schema_strategies import values_of
from universe.domain.command_catalogue import EXAMPLES, make_command_schema, make_openapi_components
from universe.domain.command_parser import parse_command
from universe.domain.commands import COMMAND_TYPES
from universe.errors import MalformedCommand, UnknownCommand

Json = dict[str, Any]

ROOT: Final = Path(__file__).parents[3]
WRONG: Final[list[Any]] = [None, True, -1, 0.5, 2**70, "", "x" * 257, [], [1], {}, {"x": 1}, "scene", "group"]


@cache
def published() -> Draft202012Validator:
    schema: Any = make_command_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def is_published(command: Any) -> bool:
    return cast("Any", published()).is_valid(command)


def is_accepted(command: Any) -> bool:
    try:
        parse_command(command)
    except (MalformedCommand, UnknownCommand):
        return False
    return True


def test_the_schema_and_the_components_of_openapi_are_the_same() -> None:
    printed = json.dumps(make_command_schema().get("$defs")).replace("#/$defs/", "#/components/schemas/")
    assert json.loads(printed) == {
        name: one for name, one in make_openapi_components().items() if name not in ("Command", "State")
    }


@pytest.mark.parametrize("kind", COMMAND_TYPES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_every_command_that_the_schema_describes_is_accepted(kind: str, data: st.DataObject) -> None:
    schema: Any = make_command_schema()
    command = data.draw(values_of({"$ref": f"#/$defs/{_def_of(kind)}"}, schema["$defs"]))
    assert is_published(command)
    parse_command(command)


@pytest.mark.parametrize("kind", COMMAND_TYPES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_every_command_that_is_accepted_is_described_by_the_schema(kind: str, data: st.DataObject) -> None:
    command = data.draw(strategies.COMMANDS[kind])
    parse_command(command)
    assert is_published(command)


@pytest.mark.parametrize("kind", COMMAND_TYPES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_command_with_one_change_is_accepted_if_and_only_if_the_schema_accepts_it(
    kind: str, data: st.DataObject
) -> None:
    schema: Any = make_command_schema()
    command = data.draw(values_of({"$ref": f"#/$defs/{_def_of(kind)}"}, schema["$defs"]))
    place = data.draw(st.sampled_from(list(_places(command))))
    changed = deepcopy(command)
    inner: Any = changed
    for key in place[:-1]:
        inner = inner[key]
    if data.draw(st.booleans()):
        del inner[place[-1]]
    else:
        inner[place[-1]] = data.draw(st.sampled_from(WRONG))
    assert is_accepted(changed) == is_published(changed)


@pytest.mark.parametrize("kind", COMMAND_TYPES)
def test_examples_and_samples_are_accepted_by_both(kind: str) -> None:
    for command in (EXAMPLES[kind], samples.example(kind)):
        assert is_published(command)
        parse_command(command)


def test_a_snapshot_of_bodies_alone_is_refused_by_both() -> None:
    bodies: Json = {"stars": {}, "rootIds": []}
    assert not is_published({"type": "replaceSnapshot", "snapshot": bodies})
    assert not is_accepted({"type": "replaceSnapshot", "snapshot": bodies})
    for name in ("groups", "rootGroupIds", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae"):
        command = {"type": "replaceSnapshot", "snapshot": {**bodies, name: None}}
        assert is_published(command)
        assert is_accepted(command)


def test_every_command_in_the_docs_is_accepted_by_both() -> None:
    found = list(_commands_in_docs())
    assert len(found) > 30
    assert {command["type"] for _, command in found} == set(COMMAND_TYPES)
    for page, command in found:
        assert is_published(command), (page, command)
        assert is_accepted(command), (page, command)


def _commands_in_docs() -> Iterator[tuple[str, Json]]:
    """Every JSON object in the docs and README that names a command as its type; Python is run by other tests."""
    start = re.compile(f'{{"type": ?"({"|".join(COMMAND_TYPES)})"')
    decoder = json.JSONDecoder()
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = re.sub(r"```python.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for match in start.finditer(text):
            command, _ = decoder.raw_decode(text, match.start())
            yield path.name, command


def _def_of(kind: str) -> str:
    """Return the name of the definition of a command: `addStar` is `AddStar`."""
    return kind[0].upper() + kind[1:]


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values inside an object."""
    if not isinstance(value, dict | list):
        return
    inside = cast("Any", value)
    for key, inner in inside.items() if isinstance(value, dict) else enumerate(inside):
        yield (*place, key)
        yield from _places(inner, (*place, key))
