"""Inputs of a run: conversion, defaults, and errors."""

from typing import Any

import pytest

from pflow.domain.ir.model import Workflow
from pflow.domain.ir.parser import parse_workflow
from pflow.domain.redaction import find_secret_input_values
from pflow.errors import InvalidInputs, TemplateUnresolved
from pflow.service.engine.inputs_and_params import list_unused_input_warnings, prepare_inputs
from tests.requirements import requirement


def build_workflow(inputs: dict[str, Any], **params: Any) -> Workflow:
    ir = {"inputs": inputs, "nodes": [{"id": "use", "type": "echo", "params": params}]}
    read, found = parse_workflow(ir)
    assert read is not None
    assert not found
    return read


def test_defaults_replace_missing_and_null_values() -> None:
    declared = build_workflow({"a": {"type": "integer", "default": 3}, "b": {"type": "string", "required": False}})
    assert prepare_inputs(declared, {}, {}) == {"a": 3, "b": None}
    assert prepare_inputs(declared, {"a": None}, {}) == {"a": 3, "b": None}
    assert prepare_inputs(declared, {"a": 0, "b": ""}, {}) == {"a": 0, "b": ""}


def test_values_are_converted_to_the_declared_type_if_nothing_is_lost() -> None:
    declared = build_workflow({"n": {"type": "integer"}, "yes": {"type": "boolean"}, "list": {"type": "array"}})
    given = {"n": "12", "yes": "on", "list": "[1, 2]"}
    assert prepare_inputs(declared, given, {}) == {"n": 12, "yes": True, "list": [1, 2]}
    assert given == {"n": "12", "yes": "on", "list": "[1, 2]"}


def test_undeclared_inputs_are_passed_on() -> None:
    assert prepare_inputs(build_workflow({}), {"more": [1]}, {}) == {"more": [1]}


@requirement("PF-E4")
def test_all_missing_inputs_are_listed_with_descriptions_and_the_nodes_that_need_them() -> None:
    declared = build_workflow(
        {"who": {"type": "string", "description": "whom to greet"}, "n": {"type": "integer"}, "there": {}},
        message="${who} ${n}",
    )
    with pytest.raises(TemplateUnresolved) as failure:
        prepare_inputs(declared, {"there": 1}, {})
    body: Any = failure.value.body()["error"]
    assert body["type"] == "template_error"
    assert body["missing_variables"] == ["who", "n"]
    assert body["available"] == ["there"]
    assert body["node"] == "use"
    assert "whom to greet" in body["message"]
    assert '"who"' in body["hint"]


def test_all_inputs_of_the_wrong_type_are_named_at_once_and_no_value_is_repeated() -> None:
    declared = build_workflow({"n": {"type": "integer"}, "list": {"type": "array"}})
    with pytest.raises(InvalidInputs) as failure:
        prepare_inputs(declared, {"n": "twelve-and-a-half", "list": {"a": 1}}, {})
    body: Any = failure.value.body()["error"]
    assert body["type"] == "validation_error"
    assert [one["path"] for one in body["problems"]] == ["inputs.n", "inputs.list"]
    assert "twelve" not in str(body)


def test_inputs_of_the_wrong_type_are_reported_beside_missing_ones() -> None:
    declared = build_workflow({"n": {"type": "integer"}, "who": {"type": "string"}}, message="${who} ${n}")
    with pytest.raises(TemplateUnresolved) as failure:
        prepare_inputs(declared, {"n": "twelve", "use": 1}, {})
    body: Any = failure.value.body()["error"]
    assert body["missing_variables"] == ["who"]
    assert body["problems"] == [
        {"path": "inputs.use", "problem": "is the name of a node, not of an input"},
        {"path": "inputs.n", "problem": "is not of the type integer"},
    ]
    assert "who" in body["message"]
    assert "inputs.n is not of the type integer" in body["message"]
    assert "twelve" not in str(body)


def test_an_input_named_as_a_node_is_reported_beside_those_of_the_wrong_type() -> None:
    declared = build_workflow({"n": {"type": "integer"}}, message="${n}")
    with pytest.raises(InvalidInputs, match=r"inputs\.use is the name of a node") as failure:
        prepare_inputs(declared, {"n": "twelve", "use": 1}, {})
    assert [one["path"] for one in failure.value.ids["problems"]] == ["inputs.use", "inputs.n"]


def test_a_secret_that_is_not_given_comes_from_the_environment_and_nothing_else_does() -> None:
    declared = build_workflow({"api_key": {}, "home": {"default": "here"}, "phrase": {"secret": True}})
    env = {"api_key": "from-env", "home": "/somewhere", "phrase": "also-from-env"}
    assert prepare_inputs(declared, {}, env) == {"api_key": "from-env", "home": "here", "phrase": "also-from-env"}
    assert prepare_inputs(declared, {"api_key": "given", "phrase": "x"}, env)["api_key"] == "given"


def test_secrets_are_those_declared_and_those_named_so_unless_declared_not_to_be() -> None:
    declared = build_workflow({"phrase": {"secret": True}, "api_key": {}, "token": {"secret": False}, "who": {}})
    values = {"phrase": 1, "api_key": 2, "token": 3, "who": 4, "password": 5, "author": 6}
    assert find_secret_input_values(declared, values) == [1, 2, 5]


def test_an_unused_input_is_reported_with_the_name_that_was_probably_meant() -> None:
    declared = build_workflow({"repository": {}}, message="${repository} ${branch}")
    assert list_unused_input_warnings(declared, {"repository": 1, "branch": 2}) == []
    (report,) = list_unused_input_warnings(declared, {"repositry": 1})
    assert report == "Nothing uses the input 'repositry'. Did you mean 'repository'?"
    (report,) = list_unused_input_warnings(declared, {"x" * 500: 1})
    assert len(report) < 200
