"""Edits of JSON with comments change one member and nothing else."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.connect.jsonc import InvalidJsonc, parse_jsonc, remove_member, set_member

ENTRY = {"command": "/bin/x", "args": ["a"]}

keys = st.text(max_size=8)
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(keys, documents, max_size=4)


@given(objects, keys, st.sampled_from([None, 2, 4, "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_a_member_that_is_set_and_removed_leaves_the_values_of_all_others(
    document: dict[str, Any], key: str, indent: Any, newline: str
) -> None:
    document.pop("servers", None)
    text = json.dumps(document, indent=indent, ensure_ascii=False).replace("\n", newline)
    changed = set_member(text, ("servers", key), ENTRY)
    assert parse_jsonc(changed) == {**document, "servers": {key: ENTRY}}
    assert json.loads(changed) == parse_jsonc(changed)
    assert set_member(changed, ("servers", key), ENTRY) == changed
    assert parse_jsonc(remove_member(changed, ("servers", key))) == {**document, "servers": {}}
    assert ("\n" in changed.replace("\r\n", "")) == (newline == "\n" or "\n" not in text)


def test_comments_trailing_commas_and_indentation_stay() -> None:
    text = (
        '{\n\t// my servers\n\t"servers": {\n\t\t"a": {"x": 1}, // first\n\t\t"b": 2, /* second */\n\t},\n'
        '\t"z": [1, 2,],\n}\n'
    )
    changed = set_member(text, ("servers", "c"), {"k": "v"})
    assert changed == text.replace("/* second */\n", '/* second */\n\t\t"c": {\n\t\t\t"k": "v"\n\t\t},\n')
    assert remove_member(changed, ("servers", "c")) == text


def test_a_comment_after_the_last_member_stays_on_its_line() -> None:
    text = '{\n  "servers": {\n    "a": 1 // keep\n  }\n}\n'
    changed = set_member(text, ("servers", "b"), 2)
    assert changed == '{\n  "servers": {\n    "a": 1, // keep\n    "b": 2\n  }\n}\n'
    assert remove_member(changed, ("servers", "b")) == text


def test_marks_of_comments_within_texts_are_not_comments() -> None:
    text = '{"url": "http://a/*b*/", "servers": {}}'
    assert parse_jsonc(set_member(text, ("servers", "a"), 1)) == {"url": "http://a/*b*/", "servers": {"a": 1}}


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "\ufeff{}"])
def test_an_empty_file_becomes_an_object(text: str) -> None:
    assert parse_jsonc(set_member(text, ("servers", "a"), 1)) == {"servers": {"a": 1}}


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ('{"a": }', "line 1, column 7"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": "x', "line 1, column 7"),
        ("{} {}", "line 1, column 4"),
        ("{", "line 1, column 2"),
        ("[" * 300, "line 1"),
    ],
)
def test_a_broken_file_is_refused_with_the_position(text: str, position: str) -> None:
    with pytest.raises(InvalidJsonc, match=position):
        set_member(text, ("servers", "a"), 1)


def test_a_member_that_is_not_an_object_is_not_overwritten() -> None:
    with pytest.raises(InvalidJsonc, match="servers is not a JSON object"):
        set_member('{"servers": [1]}', ("servers", "a"), 1)
