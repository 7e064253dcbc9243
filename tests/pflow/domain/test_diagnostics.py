"""Diagnostics and suggestions."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.diagnostics import make_error, make_warning
from uraniborg.kernel.language.messages import find_nearest_name


def test_a_diagnostic_has_severity_code_path_message_and_fix() -> None:
    diagnostic = make_error(
        "unknown_node",
        "edges[0].to",
        "There is no such node.",
        hint="Name one that is there.",
        available=("fetch", "save"),
        nearest="fetch",
        example={"to": "fetch"},
        node="save",
    )
    assert diagnostic.to_dict() == {
        "severity": "error",
        "code": "unknown_node",
        "path": "edges[0].to",
        "message": "There is no such node.",
        "node": "save",
        "hint": "Name one that is there.",
        "available": ["fetch", "save"],
        "nearest": "fetch",
        "example": {"to": "fetch"},
    }


def test_empty_fields_are_left_out() -> None:
    assert make_warning("unused_input", "inputs.x", "It is used nowhere.").to_dict() == {
        "severity": "warning",
        "code": "unused_input",
        "path": "inputs.x",
        "message": "It is used nowhere.",
    }


@pytest.mark.parametrize("example", [False, 0, {}])
def test_a_falsy_example_is_included(example: object) -> None:
    assert make_error("c", "p", "m", example=example).to_dict().get("example") == example


def test_the_number_of_listed_names_is_bounded() -> None:
    diagnostic: Any = make_error("c", "p", "m", available=tuple(f"n{number}" for number in range(1000))).to_dict()
    assert diagnostic["available"] == [f"n{number}" for number in range(20)]


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("fetch_data", ["fetch-data", "save"], "fetch-data"),
        ("fetch-data", ["fetch_data", "save"], "fetch_data"),
        ("FETCH", ["fetch", "save"], "fetch"),
        ("shel", ["echo", "http", "shell"], "shell"),
        ("stdot", ["stderr", "stdout", "exit_code"], "stdout"),
        ("parameters", ["id", "type", "params"], "params"),
        ("grösse", ["größe", "gewicht"], "größe"),
        ("save", ["save"], "save"),
        ("cmd", ["stdin", "command"], "command"),
        ("file", ["encoding", "file_path"], "file_path"),
        ("directory", ["working_directory", "limit"], "working_directory"),
        ("sya", ["sum", "say"], "say"),
    ],
)
def test_the_word_that_was_probably_meant_is_found(word: str, known: list[str], meant: str) -> None:
    assert find_nearest_name(word, known) == meant


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("api_url", ["a", "b", "fetch"]),
        ("depends_on", ["id", "type", "params"]),
        ("x", ["exit_code", "stdout"]),
        ("anything", []),
        ("", ["a"]),
        ("zebra", ["fetch", "save"]),
        ("mcp-lib-nope", ["mcp-lib-list_top_facets", "mcp-lib-search_papers"]),
        ("copy.json", ["long.json"]),
    ],
)
def test_a_word_that_is_like_no_other_has_no_nearest(word: str, known: list[str]) -> None:
    assert find_nearest_name(word, known) is None


def test_a_word_of_a_million_characters_is_compared_in_time() -> None:
    known = [f"node_{number}" for number in range(900)]
    for _ in range(20):
        assert find_nearest_name("x" * 1_000_000, known) is None


@given(st.text(max_size=200), st.lists(st.text(max_size=30), max_size=10))
def test_the_nearest_is_one_of_those_known(word: str, known: list[str]) -> None:
    meant = find_nearest_name(word, known)
    assert meant is None or meant in known


@given(st.text(), st.text(), st.lists(st.text()))
def test_a_diagnostic_is_always_json(message: str, hint: str, names: list[str]) -> None:
    diagnostic = make_warning("c", "p", message, hint=hint, available=tuple(names)).to_dict()
    assert orjson.loads(orjson.dumps(diagnostic)) == diagnostic
