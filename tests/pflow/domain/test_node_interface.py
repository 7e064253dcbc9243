"""Interfaces of node types."""

from pathlib import Path
from typing import Any

import pytest

from pflow.domain.node_interface import parse_interface
from pflow.nodes import github
from pflow.store.node_registry import Registry

LEAST: dict[str, Any] = {"type": "t", "description": "d", "run": "m:f"}


def test_the_least_that_declares_a_node_has_defaults_for_the_rest() -> None:
    interface = parse_interface(LEAST, source="builtin")
    assert (interface.actions, interface.effect, interface.version) == (("default", "error"), "effectful", "1")
    assert (interface.params, interface.outputs, interface.example) == ({}, {}, {})
    assert interface.timeout is None


def test_params_and_outputs_may_be_types_alone_or_objects_with_structure() -> None:
    plain = {
        **LEAST,
        "params": {"a": "str|int", "b": {"type": "dict", "required": True, "default": {"x": 1}, "description": "B"}},
        "outputs": {"c": "list", "d": {"type": "dict", "structure": {"e": "int", "f": {"structure": {"g": "any"}}}}},
    }
    interface = parse_interface(plain, source="user", file="nodes/x.json")
    assert interface.params["a"].type == "str|int"
    assert interface.params["b"].to_dict() == {
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
    interface = parse_interface(
        {**LEAST, "effect": effect, "params": {"method": {"type": "str", "default": "GET"}}}, source="builtin"
    )
    assert interface.get_effect({}) == "idempotent"
    assert interface.get_effect({"method": "head"}) == "pure"
    assert interface.get_effect({"method": "POST"}) == "effectful"


def test_a_parameter_can_have_choices_which_are_listed() -> None:
    params = {"state": {"type": "str", "choices": ["open", "closed"]}, "level": {"choices": [1, 2.5, True]}, "a": "str"}
    interface: Any = parse_interface({**LEAST, "params": params}, source="user")
    assert interface.params["state"].choices == ("open", "closed")
    assert interface.params["state"].to_dict()["choices"] == ["open", "closed"]
    assert interface.params["level"].choices == (1, 2.5, True)
    assert interface.params["a"].choices == ()
    assert "choices" not in interface.params["a"].to_dict()


@pytest.mark.parametrize(
    ("kind", "key", "known"),
    [
        ("github", "state", github.PR_STATES),
        ("github-list-issues", "state", github.ISSUE_STATES),
        ("github-list-prs", "state", github.PR_STATES),
        ("approval", "on_reject", ("fail", "branch")),
    ],
)
def test_choices_of_shipped_nodes_are_those_of_their_code(
    tmp_path: Path, kind: str, key: str, known: tuple[str, ...]
) -> None:
    assert Registry(tmp_path).load()[kind].params[key].choices == known


def test_the_operations_of_github_are_its_choices(tmp_path: Path) -> None:
    types = Registry(tmp_path).load()
    choices = types["github"].params["operation"].choices
    assert {f"github-{one}" for one in choices} == {kind for kind in types if kind.startswith("github-")}


def test_parameters_that_only_bound_are_limits() -> None:
    plain = {**LEAST, "params": {"command": "str", "timeout": "float"}, "limits": ["timeout"]}
    assert parse_interface(plain, source="user").limits == ("timeout",)
    assert parse_interface(LEAST, source="user").limits == ()


@pytest.mark.parametrize("volatile", [True, False])
def test_a_volatile_type_is_volatile_for_all_parameters(volatile: bool) -> None:
    interface = parse_interface({**LEAST, "volatile": volatile}, source="user")
    assert (interface.is_volatile, interface.is_volatile_with({"a": 1})) == (volatile, volatile)


def test_whether_it_is_volatile_may_depend_on_a_parameter() -> None:
    params = {"operation": {"type": "str", "default": "list"}}
    volatile = {"param": "operation", "values": ["list", "get"]}
    interface = parse_interface({**LEAST, "params": params, "volatile": volatile}, source="user")
    assert [interface.is_volatile_with({"operation": one}) for one in ("get", "GET", "create", None)] == [
        True,
        True,
        False,
        True,
    ]
    assert interface.is_volatile_with({})
    assert interface.is_volatile is False


@pytest.mark.parametrize(
    ("wrong", "expected"),
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
        ({"params": {"a": {"choices": "open"}}}, "`choices` of `a` must be a list"),
        ({"params": {"a": {"choices": []}}}, "`choices` of `a` must be a list"),
        ({"params": {"a": {"choices": ["x", None]}}}, "`choices` of `a` must be a list"),
        ({"params": {"a": {"choices": [["x"]]}}}, "`choices` of `a` must be a list"),
        ({"limits": "timeout"}, "`limits` must be a list of texts"),
        ({"params": {"a": "str"}, "limits": ["timeout"]}, "`limits` names `timeout`, which is not one of `params`"),
        ({"volatile": "yes"}, "`volatile` must be true or false, or an object"),
        ({"volatile": {"param": "a"}}, "`volatile` must be true or false, or an object"),
        ({"volatile": {"values": ["a"]}}, "`volatile` must be true or false, or an object"),
        ({"timeout": "30"}, "`timeout` must be a number"),
        ({"timeout": True}, "`timeout` must be a number"),
        ({"timeout": 0}, "`timeout` must be a number"),
    ],
)
def test_every_problem_of_a_declaration_is_explained(wrong: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=expected.replace("(", r"\(")):
        parse_interface({**LEAST, **wrong}, source="user")
