import json
import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.kernel.boundary import (
    decode_lossless,
    encode_lossless,
    is_encodable,
    make_all_encodable,
    make_encodable,
    parse_json,
    parse_lenient_json,
)

any_text = st.text(st.characters(exclude_categories=[]), max_size=20)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=20,
)


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def list_scalars(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [scalar for item in value for scalar in list_scalars(item)]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return [scalar for pair in value.items() for item in pair for scalar in list_scalars(item)]  # pyright: ignore[reportUnknownVariableType]
    return [value]


@given(any_text)
def test_text_always_becomes_encodable_and_encodable_text_is_left_alone(text: str) -> None:
    made = make_encodable(text)
    assert is_encodable(made)
    if is_encodable(text):
        assert made == text


def test_two_halves_become_a_whole_character() -> None:
    assert make_encodable("\ud83e\ude90 \ud83d") == "🪐 \ufffd"


@given(any_json)
def test_all_texts_of_a_value_become_encodable(value: Any) -> None:
    json.dumps(make_all_encodable(value), ensure_ascii=False).encode()


@given(st.binary())
def test_bytes_of_any_encoding_come_back(data: bytes) -> None:
    assert encode_lossless(decode_lossless(data)) == data


@given(any_json)
def test_strict_json_is_read_exactly_or_refused(value: Any) -> None:
    text = json.dumps(value)
    try:
        read = parse_json(text)
    except ValueError:
        assert any(
            not (is_encodable(one) if isinstance(one, str) else math.isfinite(one))
            for one in list_scalars(value)
            if isinstance(one, str | float)
        )
    else:
        assert read == value
        assert parse_json(text.encode()) == value


@given(any_json)
def test_lenient_json_is_read_as_json_that_can_be_written(value: Any) -> None:
    read = parse_lenient_json(json.dumps(value, ensure_ascii=True))
    assert parse_json(json.dumps(read, ensure_ascii=False, allow_nan=False).encode()) == read


@given(st.binary() | any_text)
def test_anything_else_raises_only_value_error(data: bytes | str) -> None:
    for parse in (parse_json, parse_lenient_json):
        with suppress(ValueError):
            value = parse(data)
            assert parse_json(json.dumps(value)) == value


def test_numbers_keep_all_digits() -> None:
    numbers = [2**64 + 1, -(10**30) - 1, 0.1, "12345678901234567890"]
    assert parse_json(json.dumps(numbers)) == numbers


@pytest.mark.parametrize(
    "text",
    ["", "{", "NaN", "[-Infinity]", "1e999", "1" * 400, '"\\ud83d"', '{"\\udc00": 1}', '"\ud83d"', "[1] 2", "'a'"],
    ids=ascii,
)
def test_json_that_programs_disagree_on_is_refused(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        parse_json(text)


@pytest.mark.parametrize("levels", [255, 300, 900, 1_100, 100_000])
def test_nesting_that_could_not_be_written_again_is_refused(levels: int) -> None:
    for parse in (parse_json, parse_lenient_json):
        assert parse(nested(250))
        with pytest.raises(ValueError, match=r"nested too deeply|depth limit"):
            parse(nested(levels))
    with pytest.raises(ValueError, match=r"nested too deeply|Expecting"):
        parse_lenient_json(nested(levels).replace("[]", "[NaN]"))


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("[NaN, -Infinity, 1e999]", [None, None, None]),
        ('{"half \\ud83d": "\\udc00"}', {"half \ufffd": "\ufffd"}),
        ('"\ud83d"', "\ufffd"),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'"caf\xe9"', "caf\ufffd"),
    ],
    ids=ascii,
)
def test_looser_json_is_read_without_what_others_cannot_read(data: bytes | str, value: Any) -> None:
    assert parse_lenient_json(data) == value
