"""Values of nodes as JSON, and fingerprints of values."""

import base64
import json
from collections import OrderedDict, UserDict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from enum import Enum
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.value_conversion import compute_fingerprint, encode_outputs, parse_exact_json
from pflow.errors import NodeFailed
from tests.requirements import requirement

JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


class Color(Enum):
    RED = "red"


class Named(str):
    __slots__ = ()


@dataclass
class Point:
    x: int


def convert_and_parse(value: Any) -> Any:
    return parse_exact_json(encode_outputs({"it": value}))["it"]


@requirement("PF-N3")
@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_json_comes_back_as_it_went_whole_numbers_of_any_size_too(value: dict[str, Any]) -> None:
    assert parse_exact_json(encode_outputs(value)) == value
    assert json.loads(encode_outputs(value)) == value


FORMS: list[tuple[Any, Any]] = [
    ((1, 2), [1, 2]),
    ({"b", "a"}, ["a", "b"]),
    (frozenset({2}), [2]),
    (b"\xff\x00", base64.b64encode(b"\xff\x00").decode()),
    (bytearray(b"x"), base64.b64encode(b"x").decode()),
    (float("nan"), None),
    (float("inf"), None),
    (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05+00:00"),
    (datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T00:00:00+02:00"),
    (date(2026, 1, 2), "2026-01-02"),
    (PurePosixPath("/a/b"), "/a/b"),
    (UserDict({"a": 1}), {"a": 1}),
    (OrderedDict(a=1), {"a": 1}),
    (MappingProxyType({"a": 1}), {"a": 1}),
    (Named("x"), "x"),
    (Color.RED, "red"),
    (Point(3), {"x": 3}),
    (10**30, 10**30),
    ([2**64, -(2**63) - 1], [2**64, -(2**63) - 1]),
    ({2: "a", None: "b", True: "c"}, {"2": "a", "null": "b", "true": "c"}),
    ({None: 10**30}, {"null": 10**30}),
    ([{float("nan"), 10**30}, {b"x", 10**30}], None),
    ("half \ud800 a character", None),
]


@pytest.mark.parametrize(("given_value", "kept"), FORMS)
def test_each_python_value_has_one_json_form(given_value: Any, kept: Any) -> None:
    text = encode_outputs({"it": given_value})
    json.loads(text, parse_constant=pytest.fail)
    if kept is not None or isinstance(given_value, float):
        assert parse_exact_json(text)["it"] == kept


def test_long_numbers_keep_all_digits_beside_fractions_and_texts_of_digits() -> None:
    value = {"n": 2**64 + 1, "f": 0.1234567890123456789, "s": "123456789012345678901", "neg": -(10**25)}
    assert convert_and_parse(value) == value


class Hostile(UserDict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("not for you")

    def __iter__(self) -> Any:
        raise RuntimeError("not for you")


def build_recursive_list() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


def nest_list(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


NO_JSON = {
    "object": object(),
    "function": compute_fingerprint,
    "generator": (n for n in "ab"),
    "raises": Hostile(),
    "circle": build_recursive_list(),
    "deep": nest_list(5_000),
    "long": 10**5_000,
    "class": {"x": Exception},
}


@pytest.mark.parametrize("value", NO_JSON.values(), ids=NO_JSON)
def test_a_value_without_a_json_form_is_a_failure_of_the_node(value: Any) -> None:
    with pytest.raises(NodeFailed, match="no JSON form"):
        encode_outputs({"it": value})


def test_other_containers_are_nested_at_most_two_hundred_levels_deep() -> None:
    assert encode_outputs({"it": [10**30, nest_list(198)]})
    with pytest.raises(NodeFailed, match="nested deeper than 200 levels"):
        encode_outputs({"it": [10**30, nest_list(199)]})


@pytest.mark.parametrize("levels", [100, 190, 240, 254, 300, 900])
def test_deeply_nested_values_are_read_back_or_refused(levels: int) -> None:
    for leaf in (1, 10**30):
        try:
            text = encode_outputs({"it": [leaf, nest_list(levels)]})
        except NodeFailed:
            continue
        assert encode_outputs(parse_exact_json(text)) == text


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[" * 100_000, b"nonsense", b"1" * 5_000])
def test_invalid_json_raises_only_value_error(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_exact_json(text)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), JSON)
def test_a_fingerprint_depends_on_the_parts_and_not_on_the_order_of_keys(value: dict[str, Any], other: Any) -> None:
    turned = dict(reversed(value.items()))
    assert compute_fingerprint("t", "1", value) == compute_fingerprint("t", "1", turned)
    assert compute_fingerprint("t", "1", value) != compute_fingerprint("t", "2", value)
    if json.dumps(value, sort_keys=True) != json.dumps(other, sort_keys=True) and value != other:
        assert compute_fingerprint("t", "1", value) != compute_fingerprint("t", "1", other)


@pytest.mark.parametrize("value", [10**30, "half \ud800", {"a": [10**30]}, b"bytes", {1, 2}])
def test_unusual_values_have_a_stable_fingerprint(value: Any) -> None:
    assert compute_fingerprint(value) == compute_fingerprint(value)
    assert compute_fingerprint(value) != compute_fingerprint([value])


def test_a_parameter_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(NodeFailed, match="too deep"):
        compute_fingerprint(nest_list(50_000))
