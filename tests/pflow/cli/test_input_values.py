"""Parsing of KEY=VALUE arguments into values of inputs."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.cli.input_values import infer_value, read_input_values
from pflow.cli.run_arguments import InvalidRunArguments
from pflow.domain.ir.model import Input, Workflow
from pflow.service.engine.inputs_and_params import prepare_inputs


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("0", 0),
        ("-12", -12),
        ("2.50", 2.5),
        ("-1e3", -1000.0),
        ("null", None),
        ('{"a": [1]}', {"a": [1]}),
        ("[1, 2]", [1, 2]),
        ('"7"', "7"),
    ],
)
def test_the_type_of_an_undeclared_value_is_inferred(text: str, value: Any) -> None:
    assert infer_value(text) == value
    assert type(infer_value(text)) is type(value)


@pytest.mark.parametrize(
    "text",
    ["", "007", "+1", "1_000", "12345678901234567890", "1.", ".5", "1e999", "nan", "Infinity", "{", "[1,", '"', "yes"],
)
def test_text_that_only_resembles_a_number_or_json_stays_text(text: str) -> None:
    assert infer_value(text) == text


@given(st.one_of(st.integers(-(10**17), 10**17), st.booleans(), st.lists(st.integers(-9, 9)), st.none()))
def test_json_values_are_parsed_unchanged(value: Any) -> None:
    assert infer_value(json.dumps(value)) == value


@given(st.text())
def test_any_text_can_be_a_value(text: str) -> None:
    infer_value(text)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("string", "007", "007"),
        ("string", "true", "true"),
        ("string", '{"a": 1}', '{"a": 1}'),
        ("integer", "007", 7),
        ("number", "1.5", 1.5),
        ("boolean", "yes", True),
        ("boolean", "0", False),
        ("array", "[1]", [1]),
        ("object", '{"a": 1}', {"a": 1}),
        ("any", "3", 3),
    ],
)
def test_the_declared_type_wins(kind: str, text: str, value: Any) -> None:
    document = {"inputs": {"x": {"type": kind}}}
    workflow = Workflow({}, (), "", {"x": Input("x", kind)}, {})
    assert prepare_inputs(workflow, read_input_values(document, {"x": text})) == {"x": value}


def test_a_file_is_text_unless_it_is_an_object_or_a_list(tmp_path: Path) -> None:
    for name, text in (("n.txt", "12\n"), ("o.json", ' {"a": 1}\n'), ("half.json", "{half")):
        (tmp_path / name).write_text(text)
    document = {"inputs": {"text": {"type": "string"}}}
    given = {name: f"@{tmp_path / file}" for name, file in {"n": "n.txt", "o": "o.json", "h": "half.json"}.items()}
    values = read_input_values(document, {**given, "text": f"@{tmp_path / 'o.json'}"})
    assert values == {"n": "12\n", "o": {"a": 1}, "h": "{half", "text": ' {"a": 1}\n'}


def test_two_at_signs_stand_for_one() -> None:
    assert read_input_values({}, {"handle": "@@ada"}) == {"handle": "@ada"}


def test_an_unreadable_file_is_reported_with_the_syntax_for_literal_text(tmp_path: Path) -> None:
    for path in ("nowhere.txt", str(tmp_path), "", "a\0b"):
        with pytest.raises(InvalidRunArguments, match="cannot be read") as wrong:
            read_input_values({}, {"handle": f"@{path}"})
        assert "handle=@@" in wrong.value.hint


def test_a_file_that_is_too_large_or_no_text_is_refused(tmp_path: Path) -> None:
    large, binary = tmp_path / "large", tmp_path / "binary"
    with large.open("wb") as stream:
        stream.truncate(10_000_001)
    binary.write_bytes(b"\xff\xfe")
    for path, problem in ((large, "over 10 MB"), (binary, "not UTF-8")):
        with pytest.raises(InvalidRunArguments, match=problem) as wrong:
            read_input_values({}, {"x": f"@{path}"})
        assert "read-file" in wrong.value.hint


def test_stdin_can_be_given_to_one_input_only() -> None:
    with pytest.raises(InvalidRunArguments, match="a, b"):
        read_input_values({}, {"a": "-", "b": "-"})


def test_invalid_declarations_are_left_to_the_checker() -> None:
    declarations: list[Any] = [None, [], {"x": 1}, {"x": {"type": 7}}]
    for declared in declarations:
        assert read_input_values({"inputs": declared}, {"x": "1"}) == {"x": 1}
