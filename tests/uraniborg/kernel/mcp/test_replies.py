import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from pydantic_core import to_json

from uraniborg.kernel.errors import Conflict, InternalError, InvalidInput, NotFound, UraniborgError
from uraniborg.kernel.mcp.replies import (
    encode_json,
    encode_text,
    log_unexpected,
    make_error_body,
    make_error_reply,
    make_protocol_error,
    make_reply,
)
from uraniborg.kernel.mcp.testing import get_json, get_text

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values.filter(lambda value: not isinstance(value, str)))
def test_text_and_structured_content_say_the_same(value: Any) -> None:
    result = make_reply(value, structured=True).result()
    assert get_json(result) == value
    assert result.structuredContent == (value if isinstance(value, dict) else {"result": value})


@given(json_values, st.booleans())
def test_the_json_of_a_reply_is_that_of_its_result(value: Any, structured: bool) -> None:
    for reply in (make_reply(value, structured=structured), make_error_reply(NotFound("gone", value=value))):
        assert json.loads(reply.result_json()) == reply.result().model_dump(
            mode="json", by_alias=True, exclude_none=True
        )


class Colour(Enum):
    RED = "red"


class Word(str):
    __slots__ = ()


@dataclass
class Point:
    x: int
    when: datetime


@pytest.mark.parametrize(
    "value",
    [
        1e16,
        1e-7,
        -0.0,
        2**70,
        {"a": (1, 2)},
        {1: "a"},
        {"set": {1}},
        UUID(int=7),
        Colour.RED,
        {Colour.RED: Colour.RED},
        Word("word"),
        Decimal("1.50"),
        Path("a/b"),
        b"bytes",
        datetime(2026, 1, 2, tzinfo=UTC),
        Point(1, datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=timezone(timedelta(hours=2)))),
    ],
)
def test_values_of_any_kind_are_written_as_pydantic_writes_them(value: Any) -> None:
    assert encode_json([value]) == to_json([value])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_written_as_pydantic_writes_them(number: float) -> None:
    assert encode_json([number]) == to_json([number])


def test_a_string_is_its_own_text_and_has_no_structured_content() -> None:
    result = make_reply('{"error": "part of the document"}', structured=True).result()
    assert get_text(result) == '{"error": "part of the document"}'
    assert result.structuredContent is None
    assert not result.isError


def test_an_answer_with_an_error_key_is_still_a_success() -> None:
    result = make_reply({"error": {"code": "captured_earlier"}}, structured=True).result()
    assert not result.isError
    assert get_json(result) == {"error": {"code": "captured_earlier"}}


def test_json_is_compact_and_keeps_unicode() -> None:
    assert encode_text({"title": "Über 量子", "none": None}) == '{"title":"Über 量子","none":null}'


def test_an_empty_list_still_gives_a_text_block() -> None:
    result = make_reply([], structured=True).result()
    assert get_text(result) == "[]"
    assert result.structuredContent == {"result": []}


def test_models_go_by_alias_and_keep_their_empty_fields_in_both_forms() -> None:
    class Body(BaseModel):
        universe_id: str = Field(alias="universeId")
        parent: str | None = None
        seen: datetime

    body = Body(universeId="u-1", seen=datetime(2026, 1, 2, tzinfo=UTC))
    expected = {"universeId": "u-1", "parent": None, "seen": "2026-01-02T00:00:00Z"}
    result = make_reply({"body": body}, structured=True).result()
    assert get_json(result) == {"body": expected}
    assert result.structuredContent == {"body": expected}


def test_structured_content_can_be_left_out() -> None:
    assert make_reply({"a": 1}, structured=False).result().structuredContent is None


def test_not_a_number_becomes_null_and_never_invalid_json() -> None:
    assert encode_text({"score": float("nan"), "mass": float("inf")}) == '{"score":null,"mass":null}'


def test_half_characters_inside_a_structure_do_not_stop_the_answer() -> None:
    result = make_reply({"tit\ud800le": ["a\udfffb", "ok"]}, structured=True).result()
    assert get_json(result) == {"tit\ufffdle": ["a\ufffdb", "ok"]}


@pytest.mark.parametrize("depth", [201, 300, 5_000])
def test_nesting_no_client_could_read_is_refused_here_and_not_by_the_connection(depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    with pytest.raises((ValueError, RecursionError)):
        make_reply(value, structured=True)


def test_a_failure_is_marked_and_its_text_is_pure_json() -> None:
    result = make_error_reply(NotFound("Session not found: 7f", hint="List them.", session_id="7f")).result()
    assert result.isError
    assert get_json(result) == {
        "error": {"code": "not_found", "message": "Session not found: 7f", "hint": "List them.", "session_id": "7f"}
    }


def test_ids_of_any_kind_can_be_reported() -> None:
    circle: list[Any] = []
    circle.append(circle)
    body: Any = make_error_body(
        Conflict("No.", path=Path("a/b"), when=datetime(2026, 1, 2, tzinfo=UTC), odd=object, nan=float("nan"))
    )
    assert body["error"]["path"] == "a/b"
    assert body["error"]["nan"] is None
    json.dumps(body)
    assert make_error_body(Conflict("N\ud800o.", circle=circle)) == {
        "error": {"code": "conflict", "message": "N\ufffdo.", "hint": ""}
    }


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotFound("gone"), -32002),
        (InvalidInput("wrong"), -32602),
        (Conflict("not now"), -32603),
        (InternalError("oops"), -32603),
    ],
)
def test_protocol_errors_have_the_right_code_and_carry_the_body(error: UraniborgError, code: int) -> None:
    data = make_protocol_error(error).error
    assert (data.code, data.message, data.data) == (code, error.message, error.body())


def test_the_message_of_a_protocol_error_ends_with_the_hint_and_its_data_keeps_them_apart() -> None:
    failure: Any = make_protocol_error(NotFound("There is no paper 'a1'.", hint="Did you mean 'a2'?")).error
    assert failure.message == "There is no paper 'a1'.\nDid you mean 'a2'?"
    assert failure.data["error"]["message"] == "There is no paper 'a1'."
    assert failure.data["error"]["hint"] == "Did you mean 'a2'?"


def test_our_own_faults_are_logged_and_hidden(caplog: pytest.LogCaptureFixture) -> None:
    error = log_unexpected(RuntimeError("the inside"), during="a test")
    assert "the inside" not in str(error.body())
    assert "the inside" in caplog.text
    assert "a test" in caplog.text


def test_errors_of_the_family_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    error = NotFound("gone")
    assert log_unexpected(error, during="a test") is error
    assert not caplog.records
