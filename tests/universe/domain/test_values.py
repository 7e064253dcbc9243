"""Plain JSON in, a copy of it out; anything else is refused with its path."""

import math
from collections import UserDict, UserList
from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given

from tests.universe.domain.strategies import json_values
from universe.domain.values import DEPTH, plain
from universe.errors import MalformedCommand

LARGEST, SMALLEST = 2**64 - 1, -(2**63)


def refusal_of(value: Any, path: str = "") -> MalformedCommand:
    with pytest.raises(MalformedCommand) as caught:
        plain(value, path)
    return caught.value


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


@given(json_values)
def test_json_is_copied_as_it_is(value: Any) -> None:
    assert plain(value) == value


def test_nothing_of_the_copy_is_shared() -> None:
    inner: dict[str, Any] = {"list": [1, {"deep": []}]}
    copied = plain(inner)
    inner["list"][1]["deep"].append("late")
    inner["list"].append(2)
    assert copied == {"list": [1, {"deep": []}]}


def test_whole_and_broken_numbers_and_truth_keep_their_kinds() -> None:
    copied = plain([1, 1.0, True, 0, -0.0, False, None, ""])
    kinds = ["int", "float", "bool", "int", "float", "bool", "NoneType", "str"]
    assert [type(value).__name__ for value in copied] == kinds
    assert math.copysign(1, copied[4]) == -1


def test_keys_stay_in_their_order() -> None:
    assert list(plain({"z": 1, "a": {"y": 0, "b": 0}})) == ["z", "a"]
    assert list(plain({"z": 1, "a": {"y": 0, "b": 0}})["a"]) == ["y", "b"]


@pytest.mark.parametrize(
    "value", [(1, {"a": (2,)}), UserList([1, UserDict({"a": UserList([2])})]), [1, MappingProxyType({"a": [2]})]]
)
def test_other_sequences_and_mappings_become_lists_and_objects(value: Any) -> None:
    copied = plain(value)
    assert copied == [1, {"a": [2]}]
    assert (type(copied), type(copied[1]), type(copied[1]["a"])) == (list, dict, list)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_finite_number_is_refused_wherever_it_is(number: float) -> None:
    assert refusal_of(number, "dt").ids["path"] == "dt"
    assert refusal_of({"a": {"b": number}}).ids["path"] == "a.b"
    assert refusal_of({"a": [0, [1, {"b": number}]]}).ids["path"] == "a.1.1.b"
    assert refusal_of([number], "list").ids["path"] == "list.0"
    assert refusal_of([number]).ids["path"] == "0"
    assert "finite" in refusal_of(number, "dt").ids["allowed"]


def test_whole_numbers_of_64_bits_are_kept_and_larger_ones_refused() -> None:
    assert plain([LARGEST, SMALLEST]) == [LARGEST, SMALLEST]
    for value in (LARGEST + 1, SMALLEST - 1, 10**5000):
        error = refusal_of({"note": [value]})
        assert error.ids["path"] == "note.0"
        assert str(LARGEST) in error.ids["allowed"]
        assert len(error.message) < 100


@pytest.mark.parametrize("text", ["\ud800", "good \udfff"])
def test_half_a_character_is_refused_in_values_and_in_keys(text: str) -> None:
    assert refusal_of({"a": {"b": text}}).ids["path"] == "a.b"
    assert refusal_of({"a": [text]}).ids["path"] == "a.0"
    error = refusal_of({"a": {text: 1}})
    assert error.ids["path"] == "a"
    error.message.encode()


@pytest.mark.parametrize("text", ["", "🪐", "\u0000", "e\u0301", "\U0010ffff", "a\nb"])
def test_whole_unicode_text_is_kept_as_it_is(text: str) -> None:
    assert plain({text: text}) == {text: text}


@pytest.mark.parametrize("key", [1, None, True, 1.5, ("a",), b"a"])
def test_a_key_that_is_no_string_is_refused_where_it_is(key: object) -> None:
    assert refusal_of({"a": [{key: 1}]}).ids["path"] == "a.0"


@pytest.mark.parametrize(
    "value",
    [
        b"ab",
        {1},
        Decimal(1),
        1j,
        datetime.now(UTC),
        object(),
        ...,
        iter([1]),
        pytest.param(
            bytearray(b"ab"), marks=pytest.mark.xfail(strict=True, reason="a bytearray becomes a list of numbers")
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_does_not_have_is_refused_by_its_kind(value: Any) -> None:
    error = refusal_of({"a": value})
    assert error.ids["path"] == "a"
    assert type(value).__name__ in error.message
    assert error.ids["allowed"] == "JSON"


def test_nesting_is_kept_up_to_the_limit_and_refused_beyond() -> None:
    assert plain(nested(DEPTH)) == nested(DEPTH)
    error = refusal_of(nested(DEPTH + 1), "note")
    assert error.ids["path"] == "note" + ".0" * DEPTH
    assert str(DEPTH) in error.ids["allowed"]
    assert plain({"a": nested(DEPTH - 1)}) == {"a": nested(DEPTH - 1)}
    assert refusal_of({"a": nested(DEPTH)}).ids["path"].startswith("a.0")


def test_what_is_nested_ten_thousand_times_or_contains_itself_is_refused() -> None:
    assert "too deep" in refusal_of(nested(10_000)).message
    endless: list[Any] = []
    endless.append(endless)
    assert "too deep" in refusal_of(endless).message


def test_the_path_of_an_error_never_grows_beyond_reading() -> None:
    error = refusal_of({"k" * 100_000: math.nan})
    assert len(error.message) < 300
    assert len(error.ids["path"]) <= 200
