"""JSON of workflow files: positions of errors, and exact values."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.errors import InvalidWorkflow
from pflow.store import workflow_file as parsing
from pflow.store.workflow_file import parse_json_object
from tests.requirements import requirement

LARGEST_FILE = 20_000_000

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def expect_refusal(data: bytes) -> tuple[str, int, int]:
    """Return the code, line and column of the only diagnostic."""
    with pytest.raises(InvalidWorkflow) as caught:
        parse_json_object(data, "workflows/x.json")
    error = caught.value
    assert error.type == "validation_error"
    (found,) = error.ids["diagnostics"]
    assert found["severity"] == "error"
    line, column = error.ids["line"], error.ids["column"]
    for message in (found["message"], error.message):
        assert message.startswith("workflows/x.json")
        assert f"at line {line}, column {column}: " in message
    return found["code"], line, column


@requirement("PF-E8")
@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"", (1, 1)),
        (b"nodes", (1, 1)),
        (b'{\n  "nodes": [],\n}', (2, 14)),
        ('{"é漢": x}'.encode(), (1, 8)),
        (b'{"a": 1} trailing', (1, 10)),
        (b'{"a": NaN}', (1, 7)),
        (b'{"a": 1e999}', (1, 7)),
        (b'{"a": "\\ud800"}', (1, 8)),
        (b"{\r\n\t\"a\": 'b'}", (2, 7)),
        (b"{" * 5, (1, 2)),
    ],
)
def test_invalid_json_is_reported_with_its_position(data: bytes, place: tuple[int, int]) -> None:
    code, line, column = expect_refusal(data)
    assert code == "invalid_json"
    assert (line, column) == place


def test_invalid_utf8_is_reported_with_its_position_in_characters() -> None:
    assert expect_refusal('{"é": 1,\n"漢\xff'.encode("latin-1", "replace") + b"\xff") == ("not_utf8", 1, 3)
    assert expect_refusal('{"é": 1,\n "漢'.encode() + b"\xff") == ("not_utf8", 2, 4)
    assert expect_refusal('{"nodes": []}'.encode("utf-16")) == ("not_utf8", 1, 1)


def test_a_byte_order_mark_is_reported_as_such() -> None:
    assert expect_refusal('{"nodes": []}'.encode("utf-8-sig")) == ("byte_order_mark", 1, 1)


@pytest.mark.parametrize("text", ["[]", '"text"', "3", "null", "true"])
def test_json_that_is_not_an_object_is_reported_with_its_start(text: str) -> None:
    assert expect_refusal(f"\n  {text}".encode()) == ("not_an_object", 2, 3)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1, "a": 1}', (1, 10)),
        ('{"n": [\n{"id": "x", "b": {"id": 1}},\n{"id": "y",\n "\\u0069d": "z"}]}', (4, 2)),
        ('{"a": "\\"a\\": {", "b": {"a": 1, "}": 2, "a"\n: 3}}', (1, 41)),
    ],
)
def test_a_repeated_key_is_reported_at_its_second_position(text: str, place: tuple[int, int]) -> None:
    assert expect_refusal(text.encode()) == ("duplicate_key", *place)


def test_equal_keys_of_different_objects_are_not_repeated() -> None:
    assert parse_json_object(b'{"a": {"a": [{"a": 1}, {"a": 2}]}, "b": {"a": 3}}', "x")["b"] == {"a": 3}


def test_a_file_over_the_limit_is_reported_with_its_position(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "LARGEST_FILE", 20)
    fits = b'{"a":\n"' + b"x" * 11 + b'"}'
    assert parse_json_object(fits, "x") == {"a": "x" * 11}
    assert expect_refusal(fits + b" ") == ("file_too_large", 2, 15)


def test_twenty_megabytes_are_read_and_one_byte_more_is_too_many() -> None:
    fits = b'{"a": "' + b"x" * (LARGEST_FILE - 9) + b'"}'
    assert len(str(parse_json_object(fits, "x")["a"])) == LARGEST_FILE - 9
    assert expect_refusal(b'{"a": "' + b"x" * LARGEST_FILE + b'"}') == ("file_too_large", 1, LARGEST_FILE + 1)


def test_nesting_beyond_the_stack_is_refused_with_a_position() -> None:
    depth = 1_000
    data = b'{"a":' * depth + b"1" + b"}" * depth
    assert expect_refusal(data) == ("too_deep", 1, 500 * 5 + 1)
    assert expect_refusal(b"[" * 1_000_000)[1] == 1


def test_large_integers_are_not_rounded() -> None:
    assert parse_json_object(b'{"id": 123456789012345678901234567890}', "x") == {"id": 123456789012345678901234567890}


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.sampled_from([None, 2]), st.booleans())
def test_every_object_is_read_back_unchanged(plain: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    data = json.dumps(plain, indent=indent, ensure_ascii=ascii_only).encode()
    assert repr(parse_json_object(data, "x")) == repr(plain)


@given(st.dictionaries(KEYS, VALUES, max_size=3), st.data())
def test_a_repeated_key_is_found_wherever_it_hides(plain: dict[str, Any], data: st.DataObject) -> None:
    key = data.draw(KEYS)
    before = json.dumps({"x": [plain, {"deep": plain}]})[:-1] + ', "y": {' + json.dumps(key) + ":1,"
    again = before + json.dumps(key) + ": 2}}"
    assert expect_refusal(again.encode()) == ("duplicate_key", 1, len(before) + 1)


@given(st.binary(max_size=40) | st.text('{}[]":,1 \n\\é', max_size=12).map(str.encode))
def test_any_bytes_are_an_object_or_one_diagnostic(data: bytes) -> None:
    try:
        is_object = isinstance(orjson.loads(data), dict)
    except orjson.JSONDecodeError:
        is_object = False
    if is_object:
        assert parse_json_object(data, "x") == orjson.loads(data)
    else:
        _, line, column = expect_refusal(data)
        assert 1 <= line <= data.count(b"\n") + 1
        assert 1 <= column <= len(data) + 1
