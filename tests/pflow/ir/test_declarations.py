"""Declarations of inputs and outputs, and errors in them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.ir.declarations import TYPES, is_valid_name, read_inputs, read_outputs
from pflow.ir.diagnostics import Diagnostic
from pflow.ir.model import Input, Output
from pflow.templates.syntax import Reference, find_templates
from tests.pflow.ir.workflows import find_only, list_codes
from tests.requirements import requirement


def inputs_of(plain: Any) -> tuple[dict[str, Input], list[Diagnostic]]:
    found: list[Diagnostic] = []
    return read_inputs(plain, found), found


def outputs_of(plain: Any) -> tuple[dict[str, Output], list[Diagnostic]]:
    found: list[Diagnostic] = []
    return read_outputs(plain, found), found


def the_input(told: Any) -> Input:
    inputs, found = inputs_of({"x": told})
    assert found == []
    return inputs["x"]


@requirement("PF-R6")
def test_an_input_has_all_declared_fields() -> None:
    told = {
        "type": "integer",
        "required": False,
        "default": 3,
        "description": "How many",
        "stdin": True,
        "secret": True,
    }
    assert the_input(told) == Input("x", "integer", False, 3, True, "How many", True, True)


def test_an_input_without_fields_is_required_and_of_any_type() -> None:
    assert the_input({}) == Input("x", "any", required=True)


def test_an_input_with_a_default_is_never_missing() -> None:
    assert the_input({"default": None}) == Input("x", required=False, default=None, has_default=True)
    assert the_input({"default": "a", "required": False}).required is False


def test_a_default_of_a_required_input_is_used_and_a_warning() -> None:
    inputs, found = inputs_of({"x": {"required": True, "default": "a"}})
    assert (inputs["x"].required, inputs["x"].default) == (False, "a")
    assert [(one.severity, one.code, one.path) for one in found] == [
        ("warning", "default_of_required", "inputs.x.required")
    ]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("string", "string"),
        ("str", "string"),
        ("text", "string"),
        ("number", "number"),
        ("float", "number"),
        ("integer", "integer"),
        ("int", "integer"),
        ("boolean", "boolean"),
        ("bool", "boolean"),
        ("object", "object"),
        ("dict", "object"),
        ("array", "array"),
        ("list", "array"),
        ("any", "any"),
        ("String", "string"),
    ],
)
def test_types_go_by_several_names(given: str, kind: str) -> None:
    assert the_input({"type": given}).type == kind


@pytest.mark.parametrize(
    ("given", "meant"), [("strng", "string"), ("boolen", "boolean"), ("xyz", None), (5, None), (None, None)]
)
def test_an_unknown_type_is_reported_with_the_available_ones(given: Any, meant: str | None) -> None:
    inputs, found = inputs_of({"x": {"type": given}})
    told = find_only(found, "bad_type")
    assert (told.path, told.available, told.nearest) == ("inputs.x.type", TYPES, meant)
    assert told.example in TYPES
    assert inputs["x"].type == "any"


@pytest.mark.parametrize(("key", "meant"), [("desc", None), ("defualt", "default"), ("Required", "required")])
def test_an_unknown_key_of_an_input_is_reported_with_the_known_ones(key: str, meant: str | None) -> None:
    told = find_only(inputs_of({"x": {key: "v"}})[1], "unknown_key")
    assert (told.severity, told.path, told.nearest) == ("error", f"inputs.x.{key}", meant)
    assert {"type", "required", "default", "description"} <= set(told.available)
    assert told.example["type"] == "string"


@pytest.mark.parametrize("key", ["required", "stdin", "secret"])
@pytest.mark.parametrize("value", ["true", "yes", 1, None, []])
def test_boolean_fields_accept_only_true_and_false(key: str, value: Any) -> None:
    told = find_only(inputs_of({"x": {key: value}})[1], "bad_declaration")
    assert (told.severity, told.path, told.example) == ("error", f"inputs.x.{key}", True)


@pytest.mark.parametrize(
    ("kind", "default"),
    [("integer", "abc"), ("integer", 1.5), ("boolean", "maybe"), ("object", "text"), ("array", {}), ("number", [])],
)
def test_a_default_that_is_not_of_its_type_is_refused(kind: str, default: Any) -> None:
    assert find_only(inputs_of({"x": {"type": kind, "default": default}})[1], "bad_default").path == "inputs.x.default"


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ("integer", "5"),
        ("boolean", "yes"),
        ("object", "{}"),
        ("string", {"a": 2**70}),
        pytest.param("number", 2**2000, id="huge"),
    ],
)
def test_a_default_that_can_be_made_to_be_of_its_type_is_taken(kind: str, default: Any) -> None:
    assert the_input({"type": kind, "default": default}).default == default


def test_only_one_input_is_read_from_stdin() -> None:
    found = inputs_of({"a": {"stdin": True}, "b": {"stdin": True}, "c": {}})[1]
    assert (find_only(found, "stdin_twice").path, "a, b" in find_only(found, "stdin_twice").message) == (
        "inputs.b.stdin",
        True,
    )


@requirement("PF-N4")
def test_an_input_is_a_secret_by_its_name_or_its_declaration() -> None:
    inputs, found = inputs_of(
        {
            "api_key": {},
            "token": {"secret": False},
            "author": {},
            "code": {"secret": True},
            "max_tokens": {"type": "int"},
        }
    )
    assert found == []
    assert {name: one.secret for name, one in inputs.items()} == {
        "api_key": True,
        "token": False,
        "author": False,
        "code": True,
        "max_tokens": False,
    }


@pytest.mark.parametrize("where", ["inputs", "outputs"])
@pytest.mark.parametrize("plain", [[], "x", 5, ["name"]])
def test_declarations_that_are_not_an_object_are_reported_with_an_example(where: str, plain: Any) -> None:
    found = (inputs_of if where == "inputs" else outputs_of)(plain)[1]
    told = find_only(found, "bad_declaration")
    assert told.path == where
    assert isinstance(told.example["name"], dict)


def test_there_may_be_no_declarations() -> None:
    assert inputs_of(None) == ({}, [])
    assert outputs_of(None) == ({}, [])
    assert inputs_of({}) == ({}, [])


@pytest.mark.parametrize("plain", ["string", ["string"], 5, None, True])
def test_an_input_that_is_not_an_object_is_reported_with_an_example(plain: Any) -> None:
    told = find_only(inputs_of({"repo": plain})[1], "bad_declaration")
    assert told.path == "inputs.repo"
    assert told.example["repo"]["type"] == "string"


@pytest.mark.parametrize("name", ["", "1st", "a b", "a.b", "a$b", "a;b", "-x", "a\n", "x" * 101, "a'b"])
def test_a_name_that_templates_cannot_use_is_refused(name: str) -> None:
    for inputs, found in (inputs_of({name: {}}), outputs_of({name: {"source": "${a.b}"}})):
        assert inputs == {}
        assert "letter" in find_only(found, "bad_name").message


@pytest.mark.parametrize("name", ["a", "repo-name", "größe", "日本", "_", "x1", "x" * 100])
def test_a_name_may_be_of_any_script(name: str) -> None:
    assert list(inputs_of({name: {}})[0]) == [name]


@given(st.text(max_size=12))
def test_every_name_is_valid_in_templates(name: str) -> None:
    if is_valid_name(name) and name not in ("true", "false", "null"):
        (template,) = find_templates(f"${{{name}}}")
        assert template.choices == (Reference(name, (), name),)


@requirement("PF-R6")
def test_an_output_has_all_declared_fields() -> None:
    outputs, found = outputs_of(
        {"o": {"source": "${a.b}", "type": "str", "description": "A description of this output"}}
    )
    assert found == []
    assert outputs == {"o": Output("o", "${a.b}", "string", "A description of this output")}


@pytest.mark.parametrize(
    ("source", "template"),
    [
        ("node.key", "${node.key}"),
        ("$node.key", "${node.key}"),
        ("node", "${node}"),
        ("fetch-data.items[0].x", "${fetch-data.items[0].x}"),
        ("${node.key}", "${node.key}"),
        ("a ${node.key}", "a ${node.key}"),
        ("some text", "some text"),
        ("$${x}", "$${x}"),
        ("$5.00", "$5.00"),
    ],
)
def test_a_source_may_be_written_without_its_signs(source: str, template: str) -> None:
    assert outputs_of({"o": {"source": source}})[0]["o"].source == template


def test_an_output_that_is_a_text_is_shown_as_it_would_be_right() -> None:
    outputs, found = outputs_of({"result": "${fetch.stdout}"})
    told = find_only(found, "bad_declaration")
    assert outputs == {}
    assert (told.path, told.example) == ("outputs.result", {"result": {"source": "${fetch.stdout}"}})


@pytest.mark.parametrize("key", ["value", "from"])
def test_an_output_that_names_its_source_otherwise_is_shown_as_it_would_be_right(key: str) -> None:
    outputs, found = outputs_of({"result": {key: "${fetch.stdout}", "type": "string"}})
    told = find_only(found, "no_source")
    assert outputs == {}
    assert (told.path, told.example) == (f"outputs.result.{key}", {"result": {"source": "${fetch.stdout}"}})
    assert "source" in told.message


@pytest.mark.parametrize("output", ["fetch.stdout", {"from": "fetch.stdout"}, {"value": "$fetch.stdout"}])
def test_an_output_that_names_its_source_bare_is_shown_with_a_template(output: Any) -> None:
    _, (told,) = outputs_of({"result": output})
    assert told.example == {"result": {"source": "${fetch.stdout}"}}


@pytest.mark.parametrize("output", [5, {"from": 5}, {"value": None}])
def test_an_output_with_an_unusable_value_is_reported_with_an_example(output: Any) -> None:
    _, (told,) = outputs_of({"result": output})
    assert "${" in told.example["result"]["source"]


@pytest.mark.parametrize("plain", [{}, {"source": ""}, {"source": None}, {"source": 5}, {"source": ["${a.b}"]}])
def test_an_output_without_a_source_is_reported_with_an_example(plain: Any) -> None:
    told = find_only(outputs_of({"result": plain})[1], "no_source")
    assert told.path == "outputs.result.source"
    assert "${" in told.example["result"]["source"]


def test_an_unknown_key_of_an_output_is_reported_with_the_known_ones() -> None:
    told = find_only(outputs_of({"o": {"source": "${a.b}", "sorce": "x"}})[1], "unknown_key")
    assert (told.path, told.nearest) == ("outputs.o.sorce", "source")
    assert "description" in told.available


def test_problems_of_all_declarations_are_reported_at_once() -> None:
    found = inputs_of({"1": {}, "a": 5, "b": {"type": "x", "requird": True}, "c": {"default": "x", "type": "int"}})[1]
    assert list_codes(found) == ["bad_name", "bad_declaration", "unknown_key", "bad_type", "bad_default"]
