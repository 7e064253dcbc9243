"""Conversion of values to declared types."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.value_conversion import can_coerce_param, try_coerce_param, try_coerce_value

KINDS = ["string", "number", "integer", "boolean", "object", "array", "any"]
PARAM_TYPES = st.lists(
    st.sampled_from(["str", "int", "float", "bool", "dict", "list", "any"]), min_size=1, max_size=3
).map("|".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("value", "kind", "made"),
    [
        ("5", "integer", 5),
        (" 5 ", "integer", 5),
        ("-5", "integer", -5),
        (5.0, "integer", 5),
        ("5.0", "integer", 5),
        ("5.5", "number", 5.5),
        ("1e3", "number", 1000.0),
        (5, "number", 5),
        (2**70, "integer", 2**70),
        (str(2**70), "integer", 2**70),
        pytest.param(10**400, "number", 10**400, id="huge"),
        ("true", "boolean", True),
        ("YES", "boolean", True),
        ("on", "boolean", True),
        (1, "boolean", True),
        ("no", "boolean", False),
        ("0", "boolean", False),
        (0, "boolean", False),
        ('{"a": 1}', "object", {"a": 1}),
        ("[1, 2]", "array", [1, 2]),
        ({"a": "ä"}, "string", '{"a":"ä"}'),
        ([1], "string", "[1]"),
        (5, "string", "5"),
        (True, "string", "true"),
        (2**70, "string", str(2**70)),
        ({"n": [2**70]}, "string", '{"n":[1180591620717411303424]}'),
        ("5", "string", "5"),
        ("5", "any", "5"),
    ],
)
def test_a_value_is_made_to_be_of_its_type(value: Any, kind: str, made: Any) -> None:
    result, is_one = try_coerce_value(value, kind)
    assert is_one
    assert (result, type(result)) == (made, type(made))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("abc", "integer"),
        ("", "integer"),
        (1.5, "integer"),
        ("1.5", "integer"),
        (True, "integer"),
        (True, "number"),
        ([], "number"),
        ("nan", "number"),
        ("inf", "number"),
        ("1e999", "number"),
        (float("inf"), "number"),
        (float("nan"), "integer"),
        ("maybe", "boolean"),
        (2, "boolean"),
        ([], "boolean"),
        ("", "boolean"),
        ("text", "object"),
        ("[1]", "object"),
        ("5", "object"),
        ("null", "object"),
        ([1], "object"),
        ({"a": 1}, "array"),
        ("{", "array"),
        (5, "array"),
    ],
)
def test_a_value_that_would_lose_something_is_refused(value: Any, kind: str) -> None:
    assert try_coerce_value(value, kind)[1] is False


@pytest.mark.parametrize("kind", KINDS)
def test_null_is_of_every_type(kind: str) -> None:
    assert try_coerce_value(None, kind) == (None, True)


def test_a_text_of_a_million_digits_is_refused_as_a_number() -> None:
    assert try_coerce_value("1" * 1_000_000, "integer")[1] is False


def test_a_text_nested_too_deep_is_refused_as_a_list() -> None:
    assert try_coerce_value("[" * 100_000 + "]" * 100_000, "array")[1] is False


@given(VALUES, st.sampled_from(KINDS))
def test_any_value_is_made_to_be_of_its_type_or_refused(value: Any, kind: str) -> None:
    made, is_one = try_coerce_value(value, kind)
    if is_one and made is not None and kind != "any":
        expected = {
            "string": str,
            "number": (int, float),
            "integer": int,
            "boolean": bool,
            "object": dict,
            "array": list,
        }
        assert isinstance(made, expected[kind])
        assert try_coerce_value(made, kind) == (made, True)


@pytest.mark.parametrize(
    ("value", "kind", "made"),
    [
        ("5", "int", 5),
        ("5", "str", "5"),
        ("5", "str|int", "5"),
        ("5", "int|float", 5),
        (5, "str", "5"),
        (5, "float", 5),
        (5, "str|int", 5),
        (True, "bool", True),
        (True, "int", True),
        (True, "str", "true"),
        ("yes", "bool", True),
        ({"a": 1}, "str", '{"a":1}'),
        ({"a": 1}, "dict|str", {"a": 1}),
        ('{"a": 1}', "dict", {"a": 1}),
        ('{"a": 1}', "dict|str", '{"a": 1}'),
        ("text", "dict", "text"),
        ("x", "any", "x"),
        ("5", "int|any", "5"),
        (None, "int", None),
    ],
)
def test_a_parameter_is_converted_to_its_type_unless_it_has_an_allowed_one(value: Any, kind: str, made: Any) -> None:
    result, _ = try_coerce_param(value, kind)
    assert (result, type(result)) == (made, type(made))


@given(VALUES, PARAM_TYPES)
def test_a_value_that_fits_is_converted_and_others_are_unchanged(value: Any, kind: str) -> None:
    made, is_fit = try_coerce_param(value, kind)
    assert is_fit == can_coerce_param(value, kind)
    if is_fit:
        assert can_coerce_param(made, kind)
        assert repr(try_coerce_param(made, kind)[0]) == repr(made)
    else:
        assert made is value


@pytest.mark.parametrize(
    ("value", "kind"), [("abc", "int"), ([], "int|float"), ("x", "dict|list"), (1.5, "int"), (True, "float")]
)
def test_a_value_that_fits_none_of_the_types_is_not_converted(value: Any, kind: str) -> None:
    assert not can_coerce_param(value, kind)
