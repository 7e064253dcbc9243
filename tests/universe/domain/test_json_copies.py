"""Plain JSON in, a copy of it out; anything else is refused with its path."""

import math
from array import array
from collections import UserDict, UserList, deque
from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given

from tests.universe.domain.strategies import json_values
from universe.domain.json_copies import ValueProblem, check_and_copy_json, check_and_copy_json_object

DEPTH = 64

LARGEST, SMALLEST = 2**64 - 1, -(2**63)


def problem_of(value: Any) -> ValueProblem:
    with pytest.raises(ValueProblem) as caught:
        check_and_copy_json(value)
    assert str(caught.value) == caught.value.problem
    return caught.value


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


@given(json_values)
def test_json_is_copied_unchanged(value: Any) -> None:
    assert check_and_copy_json(value) == value


def test_nothing_of_the_copy_is_shared() -> None:
    inner: dict[str, Any] = {"list": [1, {"deep": []}]}
    copied: Any = check_and_copy_json(inner)
    inner["list"][1]["deep"].append("late")
    inner["list"].append(2)
    assert copied == {"list": [1, {"deep": []}]}


def test_whole_and_broken_numbers_and_truth_keep_their_kinds() -> None:
    copied: Any = check_and_copy_json([1, 1.0, True, 0, -0.0, False, None, ""])
    kinds = ["int", "float", "bool", "int", "float", "bool", "NoneType", "str"]
    assert [type(value).__name__ for value in copied] == kinds
    assert math.copysign(1, copied[4]) == -1


def test_keys_stay_in_their_order() -> None:
    copied: Any = check_and_copy_json({"z": 1, "a": {"y": 0, "b": 0}})
    assert list(copied) == ["z", "a"]
    assert list(copied["a"]) == ["y", "b"]


@pytest.mark.parametrize(
    "value", [(1, {"a": (2,)}), [1, UserDict({"a": (2,)})], (1, MappingProxyType({"a": [2]}))], ids=repr
)
def test_tuples_become_lists_and_other_mappings_objects(value: Any) -> None:
    copied: Any = check_and_copy_json(value)
    assert copied == [1, {"a": [2]}]
    assert (type(copied), type(copied[1]), type(copied[1]["a"])) == (list, dict, list)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_refused_at_any_depth(number: float) -> None:
    wrong: list[tuple[Any, str]] = [
        (number, ""),
        ([number], "0"),
        ({"a": {"b": number}}, "a.b"),
        ({"a": [0, [1, {"b": number}]]}, "a.1.1.b"),
        ({"a": ({}, (number,))}, "a.1.0"),
    ]
    for value, path in wrong:
        problem = problem_of(value)
        assert (problem.path, problem.problem, problem.allowed) == (path, "is not a finite number", "finite numbers")


def test_whole_numbers_of_64_bits_are_preserved_larger_ones_become_floats_and_the_largest_are_refused() -> None:
    kept: Any = check_and_copy_json([LARGEST, SMALLEST, LARGEST + 1, SMALLEST - 1])
    assert kept == [LARGEST, SMALLEST, float(LARGEST + 1), float(SMALLEST - 1)]
    assert [type(number) for number in kept] == [int, int, float, float]
    for value in (10**400, -(10**5000)):
        problem = problem_of({"note": [value]})
        assert problem.path == "note.0"
        assert problem.problem == "is beyond the range of numbers"
        assert problem.allowed == "numbers up to 1.7e308"


@pytest.mark.parametrize("text", ["\ud800", "good \udfff"])
def test_half_a_character_is_refused_in_values_and_in_keys(text: str) -> None:
    whole = text[:-1]
    for value, path in [({"a": {"b": text}}, "a.b"), ({"a": [text]}, "a.0"), ({"a": {text: 1}}, f"a.{whole}?")]:
        problem = problem_of(value)
        assert (problem.path, problem.problem, problem.allowed) == (path, "has half a character", "whole Unicode text")


@pytest.mark.parametrize("text", ["", "🪐", "\u0000", "e\u0301", "\U0010ffff", "a\nb"])
def test_valid_unicode_text_is_copied_unchanged(text: str) -> None:
    assert check_and_copy_json({text: text}) == {text: text}


@pytest.mark.parametrize("key", [1, None, True, 1.5, ("a",), b"a"])
def test_a_key_that_is_not_a_string_is_refused_where_it_is(key: object) -> None:
    problem = problem_of({"a": [{"good": 1, key: 1}]})
    assert problem.path == f"a.0.{key!r}"
    assert (problem.problem, problem.allowed) == ("is a key that is not a string", "strings as keys")


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
        bytearray(b"ab"),
        memoryview(b"ab"),
        range(3),
        array("d", [1.5]),
        deque([1]),
        UserList([1]),
        {"a": 1}.values(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_outside_json_are_refused_with_their_type(value: Any) -> None:
    problem = problem_of({"a": [value]})
    assert problem.path == "a.0"
    assert problem.problem == f"is not a JSON value but {type(value).__name__}"
    assert problem.allowed == "JSON"


def test_nesting_is_preserved_up_to_the_limit_and_refused_beyond() -> None:
    assert check_and_copy_json(nested(DEPTH)) == nested(DEPTH)
    assert check_and_copy_json({"a": nested(DEPTH - 1)}) == {"a": nested(DEPTH - 1)}
    for value, first in [(nested(DEPTH + 1), "0"), ({"a": nested(DEPTH)}, "a")]:
        problem = problem_of(value)
        assert (problem.problem, problem.allowed) == ("is nested too deep", f"at most {DEPTH} levels")
        assert problem.reversed_path == [0] * (DEPTH - 1) + [first if first == "a" else 0]
        assert problem.path == ".".join([first, *["0"] * 19])


def test_values_nested_ten_thousand_times_or_in_themselves_are_refused() -> None:
    assert problem_of(nested(10_000)).problem == "is nested too deep"
    endless: list[Any] = []
    endless.append(endless)
    assert problem_of(endless).problem == "is nested too deep"
    circular: dict[str, Any] = {}
    circular["self"] = circular
    assert problem_of(circular).problem == "is nested too deep"


def test_the_path_of_a_problem_never_grows_beyond_reading() -> None:
    assert problem_of({"k" * 100_000: math.nan}).path == "k" * 200
    assert problem_of({"a": {"k" * 100_000: {"b": math.nan}}}).path == "a." + "k" * 198
    value: Any = math.nan
    for level in range(DEPTH):
        value = {f"{level}-" + "k" * 1_000: value}
    assert len(problem_of(value).path) == 200
    assert len(problem_of({("k" * 100_000,): 1}).path) == 200


@pytest.mark.parametrize("value", [None, 5, 1.5, "{}", True, [], [("a", 1)], (), b"{}", {"a"}, math.nan], ids=repr)
def test_a_value_that_must_be_an_object_is_refused_otherwise(value: Any) -> None:
    with pytest.raises(ValueProblem) as caught:
        check_and_copy_json_object(value, expected_in_error=["a", "b"])
    assert (caught.value.path, caught.value.problem) == ("", "is not a JSON object")
    assert caught.value.allowed == ["a", "b"]


def test_an_object_is_copied_and_checked_like_any_value() -> None:
    given = {"a": [1, {"b": None}]}
    copied: Any = check_and_copy_json_object(MappingProxyType(given), expected_in_error="")
    assert copied == given
    assert copied["a"] is not given["a"]
    with pytest.raises(ValueProblem) as caught:
        check_and_copy_json_object({"a": [0, math.nan]}, expected_in_error="")
    assert caught.value.path == "a.1"
    deepest = {"a": nested(DEPTH - 1)}
    assert check_and_copy_json_object(deepest, expected_in_error="") == deepest
    with pytest.raises(ValueProblem, match="nested too deep"):
        check_and_copy_json_object({"a": nested(DEPTH)}, expected_in_error="")
