"""Parts of replies without a type are found."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, NotRequired

import pytest
from typing_extensions import TypedDict

from paper_library.service import build
from paper_library.service.build import readers
from tests.reply_declarations import (
    PackageTypes,
    iter_functions,
    list_lines_with_open_dict,
    list_untyped_dictionaries,
    list_untyped_lines,
    list_untyped_parts,
)
from uraniborg.kernel.json_values import Json, JsonObject


class Untyped(TypedDict):
    inner: NotRequired[list[dict[str, Any]]]


class Typed(TypedDict):
    known: Annotated[int | None, "a note"]
    given: Json
    object: JsonObject


@pytest.mark.parametrize(
    ("kind", "places"),
    [
        (dict[str, Any], ["reply[]"]),
        (Untyped, ["reply.inner[][][]"]),
        (list[Untyped | None], ["reply[][].inner[][][]"]),
        (dict, ["reply"]),
        (Typed, []),
    ],
)
def test_a_part_of_a_reply_without_a_type_is_found(kind: Any, places: list[str]) -> None:
    assert list(list_untyped_parts(kind)) == places


def test_an_opaque_type_is_not_looked_into() -> None:
    assert list(list_untyped_parts(list[Untyped], opaque=[Untyped])) == []


Reply = dict[str, Any]


@pytest.mark.parametrize(
    ("kind", "places"),
    [
        (Reply, ["reply"]),
        (tuple[Reply, int] | None, ["reply[][]"]),
        (Callable[[Reply], Awaitable[Mapping[str, object]]], ["reply[][]"]),
        (dict, ["reply"]),
        (dict[str, list[Reply]], ["reply[][]"]),
        (JsonObject, []),
        (Literal["a", 1] | Any, []),
        (dict[str, Typed], []),
    ],
)
def test_an_untyped_dictionary_is_found_behind_any_name(kind: Any, places: list[str]) -> None:
    assert list(list_untyped_dictionaries(kind)) == places


@pytest.mark.parametrize(
    "code",
    [
        "def read(value: dict[str, Any]) -> None: ...",
        "found: typing.Mapping[str, typing.Any] = {}",
        "found = cast('list[dict[str, Any]]', value)",
        "Reply = dict[str, Any]",
        "class Store:\n def read(self) -> 'dict[str, object] | None': ...",
        "def outer():\n async def inner() -> Mapping[str, object]: ...",
    ],
)
def test_a_line_with_an_untyped_dictionary_is_found(code: str) -> None:
    assert list_untyped_lines(code) == [1 + code.count("\n")]


@pytest.mark.parametrize(
    "code",
    [
        "def read(value: Mapping[str, object]) -> dict[str, Json]: ...",
        "found: dict[str, Callable[..., Any]] = {}",
        "text = 'a dictionary [of anything'",
        "Reply = list[Any]",
    ],
)
def test_other_lines_are_not_taken_for_untyped_dictionaries(code: str) -> None:
    assert list_untyped_lines(code) == []


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("Plain = dict[str, Any]", [1]),
        ("def f() -> 'dict[str, Any]': ...", [1]),
        ("x = 1\ny = cast('list[dict[str, object]]', x)", [2]),
        ("x: dict[str, dict[str, Any]]", [1]),
        ("x: dict[str, Json]", []),
        ('"A dict[str, Any] in a sentence."', []),
        (r"x = '[\ud800'; y: typing.Dict[str, object]", [1]),
    ],
)
def test_a_line_with_a_dict_of_anything_is_found(code: str, lines: list[int]) -> None:
    assert list_lines_with_open_dict(code) == lines


def test_a_package_is_left_out_with_its_modules() -> None:
    left = PackageTypes(build, without=[readers.__name__]).modules
    assert build.__name__ in left
    assert not [name for name in left if name.startswith(readers.__name__)]
    assert len(left) > 1


class Service:
    @property
    def state(self) -> Reply: ...

    @cached_property
    def report(self) -> Reply: ...

    @classmethod
    def open(cls) -> Reply: ...

    async def _read(self) -> Reply: ...


def test_all_functions_of_a_class_are_looked_at() -> None:
    assert [name for name, _ in iter_functions(Service)] == [
        f"Service.{name}" for name in ("state", "report", "open", "_read")
    ]
