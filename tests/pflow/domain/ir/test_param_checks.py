"""Parameters against their interface, with corrected examples."""

from typing import Any

import orjson
import pytest

from pflow.domain.node_interface import Interface, Param
from tests.pflow.domain.ir.workflows import INTERFACES, NodeTypes, Plain, check_document, find_only, list_codes

REPOSITORY = Interface(
    "repository",
    "Does something with a repository",
    "x:y",
    params={
        "operation": Param("operation", "str", required=True, choices=("get-issue", "list-issues", "create-pr")),
        "level": Param("level", "int", choices=(1, 2, 3)),
        "state": Param("state", "str", default="open", choices=("open", "closed")),
        "name": Param("name", "str", required=True),
        "files": Param("files", "list|str", required=True),
        "api_key": Param("api_key", "str"),
    },
    example={"operation": "list-issues", "name": "octocat/hello"},
)
TYPES = NodeTypes({**INTERFACES, "repository": REPOSITORY})


def check_node_params(params: Plain, kind: str = "repository") -> Any:
    return check_document({"nodes": [{"id": "a", "type": kind, "params": params}]}, types=TYPES)


def test_a_misspelt_parameter_is_corrected_in_the_example() -> None:
    found = check_node_params({"cmd": "make all", "timeout": 60}, "shell")
    assert sorted(list_codes(found)) == ["missing_param", "unknown_param"]
    right = {"command": "make all", "timeout": 60}
    assert (find_only(found, "unknown_param").nearest, find_only(found, "unknown_param").example) == ("command", right)
    assert find_only(found, "missing_param").example == right


def test_missing_parameters_are_added_in_the_example() -> None:
    found = check_node_params({"state": "closed"})
    assert list_codes(found) == ["missing_param"] * 3
    example = found.errors[0].example
    assert example == {"state": "closed", "operation": "get-issue", "name": "octocat/hello", "files": []}
    assert all(one.example == example for one in found.errors)


def test_a_parameter_without_a_similar_name_is_removed_from_the_example() -> None:
    assert find_only(check_node_params({"command": "ls", "zzzzz": 1}, "shell"), "unknown_param").example == {
        "command": "ls"
    }


def test_a_parameter_is_not_renamed_to_one_that_is_given() -> None:
    assert find_only(check_node_params({"comand": "rm", "command": "ls"}, "shell"), "unknown_param").example == {
        "command": "ls"
    }


@pytest.mark.parametrize(
    ("key", "value", "meant", "right"),
    [
        ("operation", "list_issues", "list-issues", "list-issues"),
        ("operation", "frobnicate", None, "get-issue"),
        ("state", "OPEN", "open", "open"),
        ("level", 7, None, 1),
        ("level", "7", None, 1),
    ],
)
def test_a_constant_that_is_not_a_choice_is_refused_with_the_choices(
    key: str, value: Any, meant: str | None, right: Any
) -> None:
    found = check_node_params({"operation": "create-pr", "name": "x", "files": "y", key: value})
    diagnostic = find_only(found, "bad_choice")
    assert (diagnostic.severity, diagnostic.path, diagnostic.node, diagnostic.nearest) == (
        "error",
        f"nodes[0].params.{key}",
        "a",
        meant,
    )
    assert diagnostic.available == tuple(map(str, REPOSITORY.params[key].choices))
    assert diagnostic.example == {"operation": "create-pr", "name": "x", "files": "y", key: right}


@pytest.mark.parametrize(("value", "is_fine"), [(1, True), (True, False), (2, True), (False, False)])
def test_true_does_not_equal_the_choice_1(value: Any, is_fine: bool) -> None:
    loose = Interface("loose", "Takes anything", "x:y", params={"level": Param("level", "any", choices=(1, 2))})
    found = check_document(
        {"nodes": [{"id": "a", "type": "loose", "params": {"level": value}}]}, types=NodeTypes({"loose": loose})
    )
    assert (found.errors == []) is is_fine


@pytest.mark.parametrize(("key", "value"), [("state", "closed"), ("state", None), ("level", "2"), ("level", "${n}")])
def test_a_choice_a_null_and_a_template_are_fine(key: str, value: Any) -> None:
    found = check_node_params({"operation": "create-pr", "name": "${n}", "files": "y", key: value})
    assert found.errors == []


def test_a_value_of_the_wrong_type_is_reported_as_such_and_not_as_a_wrong_choice() -> None:
    found = check_node_params({"operation": "create-pr", "name": "x", "files": "y", "level": "high"})
    assert list_codes(found) == ["bad_param"]


def test_secrets_and_long_texts_are_not_repeated() -> None:
    params = {"api_key": "sk-1234567890", "name": "n" * 1_000_000, "files": ["f" * 1_000_000], "operation": "get_issue"}
    example = find_only(check_node_params(params), "bad_choice").example
    assert example["api_key"] != "sk-1234567890"
    assert len(orjson.dumps(example)) < 1_000
    assert find_only(check_node_params({**params, "api_key": "${key}"}), "bad_choice").example["api_key"] == "${key}"


def test_a_hundred_thousand_parameters_are_reported_in_time() -> None:
    found = check_node_params({"command": "ls", **{f"x{number}": number for number in range(100_000)}}, "shell")
    assert list_codes(found) == ["unknown_param"] * 100_000
    assert len(orjson.dumps(found.diagnostics[0].to_dict())) < 2_000
