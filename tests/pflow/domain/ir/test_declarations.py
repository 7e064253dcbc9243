"""Declarations of inputs and outputs, and errors in them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.diagnostics import CheckerDiagnostic
from pflow.domain.ir.declarations import TYPES, is_valid_name, parse_declared_inputs, parse_declared_outputs
from pflow.domain.ir.model import Input, Output
from pflow.domain.template_references import TemplateReference, find_templates
from tests.pflow.domain.ir.workflows import find_only, list_codes
from tests.requirements import requirement


def parse_inputs_with_diagnostics(plain: Any) -> tuple[dict[str, Input], list[CheckerDiagnostic]]:
    found: list[CheckerDiagnostic] = []
    return parse_declared_inputs(plain, found), found


def parse_outputs_with_diagnostics(plain: Any) -> tuple[dict[str, Output], list[CheckerDiagnostic]]:
    found: list[CheckerDiagnostic] = []
    return parse_declared_outputs(plain, found), found


def get_only_input(declaration: Any) -> Input:
    inputs, found = parse_inputs_with_diagnostics({"x": declaration})
    assert found == []
    return inputs["x"]


@requirement("PF-R6")
def test_an_input_has_all_declared_fields() -> None:
    diagnostic = {
        "type": "integer",
        "required": False,
        "default": 3,
        "description": "How many",
        "stdin": True,
        "secret": True,
    }
    assert get_only_input(diagnostic) == Input("x", "integer", False, 3, True, "How many", True, True)


def test_an_input_without_fields_is_required_and_of_any_type() -> None:
    assert get_only_input({}) == Input("x", "any", required=True)


def test_an_input_with_a_default_is_never_missing() -> None:
    assert get_only_input({"default": None}) == Input("x", required=False, default=None, has_default=True)
    assert get_only_input({"default": "a", "required": False}).required is False


def test_a_default_of_a_required_input_is_used_and_a_warning() -> None:
    inputs, found = parse_inputs_with_diagnostics({"x": {"required": True, "default": "a"}})
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
    assert get_only_input({"type": given}).type == kind


@pytest.mark.parametrize(
    ("given", "meant"), [("strng", "string"), ("boolen", "boolean"), ("xyz", None), (5, None), (None, None)]
)
def test_an_unknown_type_is_reported_with_the_available_ones(given: Any, meant: str | None) -> None:
    inputs, found = parse_inputs_with_diagnostics({"x": {"type": given}})
    diagnostic = find_only(found, "bad_type")
    assert (diagnostic.path, diagnostic.available, diagnostic.nearest) == ("inputs.x.type", TYPES, meant)
    assert diagnostic.example in TYPES
    assert inputs["x"].type == "any"


@pytest.mark.parametrize(("key", "meant"), [("desc", None), ("defualt", "default"), ("Required", "required")])
def test_an_unknown_key_of_an_input_is_reported_with_the_known_ones(key: str, meant: str | None) -> None:
    diagnostic = find_only(parse_inputs_with_diagnostics({"x": {key: "v"}})[1], "unknown_key")
    assert (diagnostic.severity, diagnostic.path, diagnostic.nearest) == ("error", f"inputs.x.{key}", meant)
    assert {"type", "required", "default", "description"} <= set(diagnostic.available)
    assert diagnostic.example["type"] == "string"


@pytest.mark.parametrize("key", ["required", "stdin", "secret"])
@pytest.mark.parametrize("value", ["true", "yes", 1, None, []])
def test_boolean_fields_accept_only_true_and_false(key: str, value: Any) -> None:
    diagnostic = find_only(parse_inputs_with_diagnostics({"x": {key: value}})[1], "bad_declaration")
    assert (diagnostic.severity, diagnostic.path, diagnostic.example) == ("error", f"inputs.x.{key}", True)


@pytest.mark.parametrize(
    ("kind", "default"),
    [("integer", "abc"), ("integer", 1.5), ("boolean", "maybe"), ("object", "text"), ("array", {}), ("number", [])],
)
def test_a_default_that_is_not_of_its_type_is_refused(kind: str, default: Any) -> None:
    assert (
        find_only(parse_inputs_with_diagnostics({"x": {"type": kind, "default": default}})[1], "bad_default").path
        == "inputs.x.default"
    )


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
    assert get_only_input({"type": kind, "default": default}).default == default


def test_only_one_input_is_read_from_stdin() -> None:
    found = parse_inputs_with_diagnostics({"a": {"stdin": True}, "b": {"stdin": True}, "c": {}})[1]
    assert (find_only(found, "stdin_twice").path, "a, b" in find_only(found, "stdin_twice").message) == (
        "inputs.b.stdin",
        True,
    )


@requirement("PF-N4")
def test_an_input_is_a_secret_by_its_name_or_its_declaration() -> None:
    inputs, found = parse_inputs_with_diagnostics(
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
    found = (parse_inputs_with_diagnostics if where == "inputs" else parse_outputs_with_diagnostics)(plain)[1]
    diagnostic = find_only(found, "bad_declaration")
    assert diagnostic.path == where
    assert isinstance(diagnostic.example["name"], dict)


def test_there_may_be_no_declarations() -> None:
    assert parse_inputs_with_diagnostics(None) == ({}, [])
    assert parse_outputs_with_diagnostics(None) == ({}, [])
    assert parse_inputs_with_diagnostics({}) == ({}, [])


@pytest.mark.parametrize("plain", ["string", ["string"], 5, None, True])
def test_an_input_that_is_not_an_object_is_reported_with_an_example(plain: Any) -> None:
    diagnostic = find_only(parse_inputs_with_diagnostics({"repo": plain})[1], "bad_declaration")
    assert diagnostic.path == "inputs.repo"
    assert diagnostic.example["repo"]["type"] == "string"


@pytest.mark.parametrize("name", ["", "1st", "a b", "a.b", "a$b", "a;b", "-x", "a\n", "x" * 101, "a'b"])
def test_a_name_that_templates_cannot_use_is_refused(name: str) -> None:
    for inputs, found in (
        parse_inputs_with_diagnostics({name: {}}),
        parse_outputs_with_diagnostics({name: {"source": "${a.b}"}}),
    ):
        assert inputs == {}
        assert "letter" in find_only(found, "bad_name").message


@pytest.mark.parametrize("name", ["a", "repo-name", "größe", "日本", "_", "x1", "x" * 100])
def test_a_name_may_be_of_any_script(name: str) -> None:
    assert list(parse_inputs_with_diagnostics({name: {}})[0]) == [name]


@given(st.text(max_size=12))
def test_every_name_is_valid_in_templates(name: str) -> None:
    if is_valid_name(name) and name not in ("true", "false", "null"):
        (template,) = find_templates(f"${{{name}}}")
        assert template.choices == (TemplateReference(name, (), name),)


@requirement("PF-R6")
def test_an_output_has_all_declared_fields() -> None:
    outputs, found = parse_outputs_with_diagnostics(
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
    assert parse_outputs_with_diagnostics({"o": {"source": source}})[0]["o"].source == template


def test_an_output_that_is_a_text_is_shown_as_it_would_be_right() -> None:
    outputs, found = parse_outputs_with_diagnostics({"result": "${fetch.stdout}"})
    diagnostic = find_only(found, "bad_declaration")
    assert outputs == {}
    assert (diagnostic.path, diagnostic.example) == ("outputs.result", {"result": {"source": "${fetch.stdout}"}})


@pytest.mark.parametrize("key", ["value", "from"])
def test_an_output_that_names_its_source_otherwise_is_shown_as_it_would_be_right(key: str) -> None:
    outputs, found = parse_outputs_with_diagnostics({"result": {key: "${fetch.stdout}", "type": "string"}})
    diagnostic = find_only(found, "no_source")
    assert outputs == {}
    assert (diagnostic.path, diagnostic.example) == (f"outputs.result.{key}", {"result": {"source": "${fetch.stdout}"}})
    assert "source" in diagnostic.message


@pytest.mark.parametrize("output", ["fetch.stdout", {"from": "fetch.stdout"}, {"value": "$fetch.stdout"}])
def test_an_output_that_names_its_source_bare_is_shown_with_a_template(output: Any) -> None:
    _, (diagnostic,) = parse_outputs_with_diagnostics({"result": output})
    assert diagnostic.example == {"result": {"source": "${fetch.stdout}"}}


@pytest.mark.parametrize("output", [5, {"from": 5}, {"value": None}])
def test_an_output_with_an_unusable_value_is_reported_with_an_example(output: Any) -> None:
    _, (diagnostic,) = parse_outputs_with_diagnostics({"result": output})
    assert "${" in diagnostic.example["result"]["source"]


@pytest.mark.parametrize("plain", [{}, {"source": ""}, {"source": None}, {"source": 5}, {"source": ["${a.b}"]}])
def test_an_output_without_a_source_is_reported_with_an_example(plain: Any) -> None:
    diagnostic = find_only(parse_outputs_with_diagnostics({"result": plain})[1], "no_source")
    assert diagnostic.path == "outputs.result.source"
    assert "${" in diagnostic.example["result"]["source"]


def test_an_unknown_key_of_an_output_is_reported_with_the_known_ones() -> None:
    diagnostic = find_only(parse_outputs_with_diagnostics({"o": {"source": "${a.b}", "sorce": "x"}})[1], "unknown_key")
    assert (diagnostic.path, diagnostic.nearest) == ("outputs.o.sorce", "source")
    assert "description" in diagnostic.available


def test_problems_of_all_declarations_are_reported_at_once() -> None:
    found = parse_inputs_with_diagnostics(
        {"1": {}, "a": 5, "b": {"type": "x", "requird": True}, "c": {"default": "x", "type": "int"}}
    )[1]
    assert list_codes(found) == ["bad_name", "bad_declaration", "unknown_key", "bad_type", "bad_default"]
