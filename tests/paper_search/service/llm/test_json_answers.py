"""Tests of the extraction of a JSON object from the text of a model."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.errors import LLMResponseError
from paper_search.service.llm.provider import extract_json_object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "text",
    [
        '{"topic": "ice"}',
        '  \n{"topic": "ice"}\n ',
        'Here you are:\n```json\n{"topic": "ice"}\n```\nAnything else?',
        '```\n{"topic": "ice"}\n```',
        'Sure! {"topic": "ice"} I hope that helps {really}.',
        'A set {1, 2} and then {"topic": "ice"}',
        '```json\nnot json\n``` but {"topic": "ice"}',
    ],
)
def test_the_object_is_found_in_any_surrounding_text(text: str) -> None:
    assert extract_json_object(text) == {"topic": "ice"}


def test_braces_inside_strings_do_not_end_the_object() -> None:
    assert extract_json_object('x {"a": "}{", "b": {"c": 1}} y') == {"a": "}{", "b": {"c": 1}}


@pytest.mark.parametrize(
    "text", ["", "  \n", "no braces here", "[1, 2]", '"text"', "{unfinished", "{" * 5_000, "[" * 100_000]
)
def test_text_without_an_object_is_a_response_error(text: str) -> None:
    with pytest.raises(LLMResponseError):
        extract_json_object(text)


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_every_object_survives_a_fence_and_chatter(value: dict[str, object]) -> None:
    assert extract_json_object(f"Well:\n```json\n{json.dumps(value)}\n```") == value
