from typing import Any

import pytest

from pflow.registry.interface import interface_from

LEAST: dict[str, Any] = {"type": "t", "description": "d", "run": "m:f"}


def test_the_least_that_declares_a_node_has_defaults_for_the_rest() -> None:
    interface = interface_from(LEAST, source="builtin")
    assert (interface.actions, interface.effect, interface.version) == (("default", "error"), "effectful", "1")
    assert (interface.params, interface.outputs, interface.example) == ({}, {}, {})
    assert interface.timeout is None


def test_params_and_outputs_may_be_types_alone_or_objects_with_structure() -> None:
    plain = {
        **LEAST,
        "params": {"a": "str|int", "b": {"type": "dict", "required": True, "default": {"x": 1}, "description": "B"}},
        "outputs": {"c": "list", "d": {"type": "dict", "structure": {"e": "int", "f": {"structure": {"g": "any"}}}}},
    }
    interface = interface_from(plain, source="user", file="nodes/x.json")
    assert interface.params["a"].type == "str|int"
    assert interface.params["b"].plain() == {
        "key": "b",
        "type": "dict",
        "required": True,
        "default": {"x": 1},
        "description": "B",
    }
    structure = interface.outputs["d"].structure
    assert structure is not None
    assert structure["f"].structure is not None
    assert structure["f"].structure["g"].type == "any"
    assert (interface.source, interface.file) == ("user", "nodes/x.json")


def test_an_effect_may_depend_on_a_parameter() -> None:
    effect = {"param": "method", "values": {"get": "idempotent", "HEAD": "pure"}, "default": "effectful"}
    interface = interface_from(
        {**LEAST, "effect": effect, "params": {"method": {"type": "str", "default": "GET"}}}, source="builtin"
    )
    assert interface.effect_of({}) == "idempotent"
    assert interface.effect_of({"method": "head"}) == "pure"
    assert interface.effect_of({"method": "POST"}) == "effectful"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"type": ""}, "`type` must be text"),
        ({"description": 3}, "`description` must be text"),
        ({"run": None}, "`run` must be text"),
        ({"params": []}, "`params` must be an object"),
        ({"params": {"a": 3}}, "`a` must be a type"),
        ({"params": {"a": {"type": "string"}}}, "the type of `a` must be one of str"),
        ({"params": {"a": {"type": ["str"]}}}, "the type of `a` must be one of str"),
        ({"outputs": {"a": "str|"}}, "the type of `a` must be one of str"),
        ({"outputs": {"a": {"structure": []}}}, "`structure` of `a` must be an object"),
        ({"outputs": {"a": {"structure": {"b": "nothing"}}}}, "the type of `b`"),
        ({"actions": "default"}, "`actions` must be a list of texts"),
        ({"tags": None}, "`tags` must be a list of texts"),
        ({"reads": [1]}, "`reads` must be a list of texts"),
        ({"effect": "harmless"}, "`effect` must be one of pure"),
        ({"effect": {"values": {"GET": "pure"}}}, "must name it in `param`"),
        ({"effect": {"param": "m", "values": []}}, "`values` must be an object"),
        ({"effect": {"param": "m", "values": {"GET": []}}}, "`effect` must be one of pure"),
        ({"example": "x"}, "`example` must be an object"),
        ({"timeout": "30"}, "`timeout` must be a number"),
        ({"timeout": True}, "`timeout` must be a number"),
        ({"timeout": 0}, "`timeout` must be a number"),
    ],
)
def test_what_is_wrong_is_said_whatever_it_is(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told.replace("(", r"\(")):
        interface_from({**LEAST, **wrong}, source="user")
