"""Interfaces of MCP tools."""

from typing import Any

import pytest

from pflow.domain import mcp_tool_interfaces
from pflow.domain.node_interface import parse_interface, require_valid_declaration

make_tool_declaration: Any = mcp_tool_interfaces.make_tool_declaration
"""Its declarations are read at any depth."""


def make_tool(**more: Any) -> dict[str, Any]:
    return {"name": "find", "description": "Finds things.", "inputSchema": {"type": "object", "properties": {}}, **more}


def make_schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def get_params(**properties: Any) -> dict[str, Any]:
    return make_tool_declaration("web", make_tool(inputSchema=make_schema(**properties)))["params"]


def test_a_tool_becomes_a_node_type_that_names_its_server_and_itself() -> None:
    plain = make_tool_declaration("my-web", make_tool(name="find_all"))
    interface = parse_interface(plain, source="mcp", file="my-web/find_all")
    assert interface.type == "mcp-my-web-find_all"
    assert interface.run == "pflow.nodes.mcp:call_tool"
    assert plain["tool"] == "find_all"
    assert set(interface.outputs) == {"result", "is_error"}
    assert interface.tags == ("mcp", "my-web")


def test_the_types_of_json_schema_become_types_of_pflow() -> None:
    found = get_params(
        text={"type": "string"},
        whole={"type": "integer"},
        number={"type": "number"},
        flag={"type": "boolean"},
        thing={"type": "object"},
        many={"type": "array"},
        maybe={"type": ["string", "null"]},
        either={"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
        one={"oneOf": [{"type": "string"}, {}]},
        anything={},
        nonsense={"type": 3},
        no_schema=True,
    )
    assert {key: param["type"] for key, param in found.items()} == {
        "text": "str",
        "whole": "int",
        "number": "float",
        "flag": "bool",
        "thing": "dict",
        "many": "list",
        "maybe": "str",
        "either": "int|str",
        "one": "any",
        "anything": "any",
        "nonsense": "any",
        "no_schema": "any",
    }


def test_required_default_and_allowed_values_are_preserved() -> None:
    inputs = {
        **make_schema(
            kind={"type": "string", "description": "Which.", "enum": ["a", "b"]},
            limit={"type": "integer", "default": 10},
            ref={"$ref": "#/$defs/Ref", "description": "Where."},
        ),
        "required": ["kind", "ref"],
        "$defs": {"Ref": {"type": "object", "description": "A ref."}},
    }
    plain = make_tool_declaration("web", make_tool(inputSchema=inputs))
    assert plain["params"] == {
        "kind": {
            "type": "str",
            "required": True,
            "default": None,
            "description": "Which. One of a, b.",
            "choices": ["a", "b"],
        },
        "limit": {"type": "int", "required": False, "default": 10, "description": ""},
        "ref": {"type": "dict", "required": True, "default": None, "description": "Where."},
    }
    assert plain["example"] == {"kind": "a", "ref": {}}


@pytest.mark.parametrize(
    ("allowed", "choices"),
    [(["a", None], ["a"]), ([1, 2.5, True], [1, 2.5, True]), ([None], None), ([["a"]], None), ([], None)],
)
def test_allowed_values_become_choices_if_they_are_texts_or_numbers(
    allowed: list[Any], choices: list[Any] | None
) -> None:
    plain = make_tool_declaration("web", make_tool(inputSchema=make_schema(kind={"enum": allowed})))
    assert plain["params"]["kind"].get("choices") == choices
    require_valid_declaration(plain)


@pytest.mark.parametrize(
    "given",
    [
        {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]},
        {"oneOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}]},
        {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}]},
        {"$ref": "#/$defs/Kind"},
        {"enum": [None, "a", "b"], "examples": ["z", "a"]},
    ],
)
def test_choices_are_found_in_every_form_of_schema_and_the_example_is_one_of_them(given: dict[str, Any]) -> None:
    inputs = {**make_schema(kind=given), "required": ["kind"], "$defs": {"Kind": {"enum": ["a", "b"]}}}
    plain: Any = make_tool_declaration("web", make_tool(inputSchema=inputs))
    assert plain["params"]["kind"]["choices"] == ["a", "b"]
    assert plain["example"] == {"kind": "a"}
    open_ended = make_tool_declaration(
        "web", make_tool(inputSchema=make_schema(kind={"anyOf": [{"enum": ["a"]}, {"type": "string"}]}))
    )
    assert "choices" not in open_ended["params"]["kind"]


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        ({"readOnlyHint": True}, "pure"),
        ({"readOnlyHint": False, "idempotentHint": True}, "idempotent"),
        ({"destructiveHint": False}, "effectful"),
        (None, "effectful"),
    ],
)
def test_the_effect_of_a_tool_follows_from_its_hints(hints: Any, effect: str) -> None:
    assert make_tool_declaration("web", make_tool(annotations=hints))["effect"] == effect


@pytest.mark.parametrize("hints", [{"readOnlyHint": True}, {"idempotentHint": True}, None])
def test_a_tool_depends_on_earlier_effects(hints: Any) -> None:
    interface = parse_interface(make_tool_declaration("web", make_tool(annotations=hints)), source="mcp")
    assert interface.reads_world


def test_the_result_has_the_structure_of_the_output_schema() -> None:
    output = {
        **make_schema(items={"type": "array", "items": {"$ref": "#/$defs/Item"}}, count={"type": "integer"}),
        "$defs": {"Item": make_schema(url={"type": "string", "description": "Where it is."})},
    }
    result: Any = make_tool_declaration("web", make_tool(outputSchema=output))["outputs"]["result"]
    assert result["type"] == "dict"
    assert result["structure"]["count"]["type"] == "int"
    assert result["structure"]["items"]["structure"] == {"url": {"type": "str", "description": "Where it is."}}


def test_a_wrapped_result_is_described_by_its_content() -> None:
    output = {
        **make_schema(result={"type": "array", "items": {"$ref": "#/$defs/Item"}}),
        "$defs": {"Item": make_schema(id={"type": "integer"})},
    }
    result: Any = make_tool_declaration("web", make_tool(outputSchema=output))["outputs"]["result"]
    assert (result["type"], result["structure"]) == ("list", {"id": {"type": "int", "description": ""}})


def test_unlisted_parameters_are_accepted_as_the_schema_declares() -> None:
    assert make_tool_declaration("web", make_tool())["open_params"] is False
    assert make_tool_declaration("web", make_tool(inputSchema={"type": "object"}))["open_params"] is True
    assert (
        make_tool_declaration("web", make_tool(inputSchema={**make_schema(), "additionalProperties": True}))[
            "open_params"
        ]
        is True
    )
    assert (
        make_tool_declaration("web", make_tool(inputSchema={**make_schema(), "additionalProperties": False}))[
            "open_params"
        ]
        is False
    )


def test_another_schema_or_another_version_of_the_server_is_another_version_of_the_node() -> None:
    first = make_tool_declaration("web", make_tool(), version="1")["version"]
    assert make_tool_declaration("web", make_tool(), version="1")["version"] == first
    assert make_tool_declaration("web", make_tool(), version="2")["version"] != first
    assert make_tool_declaration("web", make_tool(inputSchema=make_schema(a={})), version="1")["version"] != first


@pytest.mark.parametrize(
    "odd",
    [
        {"inputSchema": None},
        {"inputSchema": {"properties": [], "required": "all"}},
        {"inputSchema": make_schema(a={"$ref": "#/$defs/Loop"}) | {"$defs": {"Loop": {"$ref": "#/$defs/Loop"}}}},
        {"inputSchema": make_schema(a={"$ref": "elsewhere.json"}, b={"$ref": "#/none/there"})},
        {"outputSchema": make_schema(a={"$ref": "#"})},
        {"outputSchema": make_schema(a={"$ref": "#/properties/a", "properties": {"b": {"$ref": "#/properties/a"}}})},
        {"description": None, "title": "Finder"},
        {"description": "x" * 100_000},
        {"annotations": "read only"},
    ],
)
def test_unusual_schemas_give_a_valid_interface(odd: dict[str, Any]) -> None:
    interface = parse_interface(make_tool_declaration("web", make_tool(**odd)), source="mcp")
    assert 0 < len(interface.description) <= 1_000


@pytest.mark.parametrize("name", [None, "", 3])
def test_a_tool_without_a_name_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="name"):
        make_tool_declaration("web", make_tool(name=name))
