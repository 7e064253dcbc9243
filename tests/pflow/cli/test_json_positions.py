"""Positions of values in a JSON text."""

import json
import time
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.cli.diagnostic_printing import JsonPositions, TextPosition

_TEXT = """{
  "nodes": [
    {"id": "a", "params": {"x": [1, {"y": "ä"}]}},
    {"id": "b"}
  ]
}
"""
_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(), st.floats(allow_nan=False, allow_infinity=False)
)
_KEYS = st.text("abc-_", min_size=1)
_VALUES = st.recursive(_LEAVES, lambda inner: st.one_of(st.lists(inner), st.dictionaries(_KEYS, inner)), max_leaves=30)


def _paths(value: Any, path: str = "") -> dict[str, Any]:
    found = {path: value} if path else {}
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            found |= _paths(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", value)):
            found |= _paths(inner, f"{path}[{index}]")
    return found


@given(st.dictionaries(_KEYS, _VALUES), st.sampled_from([None, 0, 1, 4]))
def test_every_value_is_found_where_it_is(value: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    positions = JsonPositions(text)
    lines = text.split("\n")
    for path, expected in _paths(value).items():
        found = positions.find_position(path)
        assert found is not None
        offset = sum(len(line) + 1 for line in lines[: found.line - 1]) + found.column - 1
        assert json.JSONDecoder().raw_decode(text, offset)[0] == expected


def test_a_key_is_found_where_it_is() -> None:
    assert JsonPositions(_TEXT).find_position("nodes[0].params", of_key=True) == TextPosition(3, 17, 8)
    assert JsonPositions(_TEXT).find_position("nodes[1]", of_key=True) == TextPosition(4, 5, 1)


def test_the_position_of_a_missing_value_is_that_of_its_container() -> None:
    positions = JsonPositions(_TEXT)
    assert positions.find_position("nodes[0].params.url") == positions.find_position("nodes[0].params")
    assert positions.find_position("nodes[7].id") == positions.find_position("nodes")
    assert positions.find_position("edges") is None
    assert positions.find_position("") is None


def test_a_workflow_inside_another_object_is_found() -> None:
    text = json.dumps({"name": "x", "ir": {"nodes": [{"id": "a"}]}})
    assert JsonPositions(text).find_position("nodes[0].id") == TextPosition(1, text.index('"a"') + 1, 3)


def test_deep_values_and_long_keys_are_scanned_in_time() -> None:
    began = time.process_time()
    for text in ("[" * 100_000 + "]" * 100_000, json.dumps({"k" * 100_000: list(range(50_000))})):
        JsonPositions(text)
    assert time.process_time() - began < 8


def test_keys_with_dots_and_brackets_are_found_too() -> None:
    text = json.dumps({"a.b": {"c[0]": 1}, "a": {"b": 2}})
    assert JsonPositions(text).find_position("a.b.c[0]") == TextPosition(1, text.index("1") + 1, 1)
    assert JsonPositions(text).find_position("a.b") is not None
    assert JsonPositions(text).find_position("." * 100_000) is None


@pytest.mark.parametrize("text", ["", "  ", "]", "{}}"])
def test_invalid_json_has_no_positions(text: str) -> None:
    with pytest.raises(ValueError, match=r"The text is not JSON\."):
        JsonPositions(text)


def test_a_path_after_a_slash_is_searched_in_the_nested_workflow() -> None:
    text = json.dumps({"nodes": [{"params": {"workflow_ir": {"nodes": [{"type": "q"}]}}}]})
    found = JsonPositions(text).find_position("nodes[0].params.workflow_ir/nodes[0].type")
    assert found == TextPosition(1, text.index('"q"') + 1, 3)
