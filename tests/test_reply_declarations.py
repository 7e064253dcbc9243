"""Parts of replies without a type are found."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Literal, NotRequired

import pytest
from typing_extensions import TypedDict

from tests.reply_declarations import list_untyped_dictionaries, list_untyped_parts
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
