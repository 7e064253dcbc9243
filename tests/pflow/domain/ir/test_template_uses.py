"""Uses of templates, and the variables that a workflow needs from outside."""

from typing import Any

from pflow.domain.ir.model import Workflow, get_batch_aliases, get_resolvable_params, iter_template_uses, list_variables
from pflow.domain.ir.parser import parse_workflow
from tests.pflow.domain.ir.workflows import Plain, chain, echo
from tests.requirements import requirement


def parse_valid_workflow(document: Plain) -> Workflow:
    workflow, found = parse_workflow(document)
    assert [one for one in found if one.severity == "error"] == []
    assert workflow is not None
    return workflow


def get_variables(document: Plain) -> dict[str, Any]:
    return {one["name"]: one for one in list_variables(parse_valid_workflow(document))}


def list_use_paths(document: Plain) -> list[tuple[str | None, str]]:
    return [(use.node.id if use.node else None, use.path) for use in iter_template_uses(parse_valid_workflow(document))]


def test_uses_are_found_in_parameters_batches_and_outputs_in_the_order_of_the_file() -> None:
    first = {"id": "a", "type": "http", "params": {"url": "${u}", "headers": {"x": ["none", "${h}"]}, "n": 5}}
    document = chain(
        first, echo("b", "${item}", batch={"items": ["${p}", {"q": "${r}"}]}), outputs={"o": {"source": "${a.x}"}}
    )
    assert list_use_paths(document) == [
        ("a", "url"),
        ("a", "headers.x[1]"),
        ("b", "batch.items[0]"),
        ("b", "batch.items[1].q"),
        ("b", "message"),
        (None, "o"),
    ]


def test_templates_of_a_nested_workflow_belong_to_it() -> None:
    inner = {"nodes": [echo("x", "${theirs}")]}
    node = {"id": "a", "type": "workflow", "params": {"workflow_ir": inner, "inputs": {"theirs": "${ours}"}}}
    workflow = parse_valid_workflow({"nodes": [node]})
    assert [use.text for use in iter_template_uses(workflow)] == ["${ours}"]
    assert set(get_resolvable_params(workflow.nodes["a"])) == {"inputs"}


def test_a_parameter_of_the_same_name_elsewhere_is_not_a_nested_workflow() -> None:
    node = {"id": "a", "type": "echo", "params": {"workflow_ir": "${x}"}}
    assert list_use_paths({"nodes": [node]}) == [("a", "workflow_ir")]


def test_the_item_is_known_in_the_parameters_of_a_batch_and_not_in_its_items() -> None:
    document = {
        "nodes": [echo("a", "${paper} ${__index__}", batch={"items": "${papers}", "as": "paper"}), echo("b", "${x}")]
    }
    assert {
        use.path: get_batch_aliases(use)
        for use in iter_template_uses(parse_valid_workflow(document))
        if use.node and use.node.id == "a"
    } == {
        "batch.items": (),
        "message": ("paper", "__index__"),
    }
    assert set(get_variables(document)) == {"papers", "x"}


def test_only_in_a_shell_command_the_shell_has_templates_of_its_own() -> None:
    params = {"command": "echo ${HOME:-x}", "stdin": "${HOME:-x}", "env": {"command": "${HOME:-x}"}}
    document: Plain = {"nodes": [{"id": "a", "type": "shell", "params": params}, echo("command", "${HOME:-x}")]}
    assert {
        use.path: use.find_malformed_positions()
        for use in iter_template_uses(parse_valid_workflow(document))
        if use.node and use.node.id == "a"
    } == {
        "command": [],
        "stdin": [0],
        "env.command": [0],
    }


@requirement("PF-R7")
def test_variables_are_the_names_that_no_node_gives() -> None:
    document = chain(
        echo("init", "${who.first} ${who.last}"),
        {"id": "fetch", "type": "http", "params": {"url": "${api_url}/${init.echo}", "headers": {"k": "${api_key}"}}},
        inputs={"who": {"type": "object"}, "limit": {"type": "int", "default": 5}, "unused": {}},
        outputs={"all": {"source": "${fetch.response} ${limit}"}},
    )
    assert list_variables(parse_valid_workflow(document)) == [
        {
            "name": "who",
            "declared": True,
            "required": True,
            "paths": ["who.first", "who.last"],
            "used_in": [{"node": "init", "param": "message"}],
        },
        {
            "name": "api_url",
            "declared": False,
            "required": True,
            "paths": ["api_url"],
            "used_in": [{"node": "fetch", "param": "url"}],
        },
        {
            "name": "api_key",
            "declared": False,
            "required": True,
            "paths": ["api_key"],
            "used_in": [{"node": "fetch", "param": "headers.k"}],
        },
        {
            "name": "limit",
            "declared": True,
            "required": False,
            "paths": ["limit"],
            "used_in": [{"output": "all"}],
            "default": 5,
        },
        {"name": "unused", "declared": True, "required": True, "paths": [], "used_in": []},
    ]


def test_a_variable_that_is_one_choice_of_several_is_not_required() -> None:
    found = get_variables({"nodes": [echo("a", '${maybe ?? "x"}'), echo("b", "${both ?? 1}"), echo("c", "${both}")]})
    assert (found["maybe"]["required"], found["both"]["required"]) == (False, True)


def test_a_variable_that_only_outputs_use_is_not_required() -> None:
    outputs = {"o": {"source": "${given}"}, "p": {"source": "${both}"}}
    found = get_variables({"nodes": [echo("a", "${both}")], "outputs": outputs})
    assert (found["given"]["required"], found["both"]["required"]) == (False, True)


def test_a_text_is_parsed_once_however_often_its_templates_are_asked_for() -> None:
    (use,) = iter_template_uses(parse_valid_workflow({"nodes": [echo("a", "${x} " * 5_000)]}))
    assert use.templates is use.templates


def test_variables_in_an_index_are_found() -> None:
    assert set(get_variables({"nodes": [echo("a", "${list[${i}].x}")]})) == {"list", "i"}


def test_escaped_text_and_shell_syntax_are_not_variables() -> None:
    shell = {"id": "a", "type": "shell", "params": {"command": "echo $${x} ${HOME:-y} ${#z} ${real}"}}
    assert set(get_variables({"nodes": [shell]})) == {"real"}


def test_a_repeated_variable_is_listed_once() -> None:
    found = get_variables({"nodes": [echo("a", "${x} ${x} ${x.y}"), echo("b", "${x}")]})
    assert found["x"]["paths"] == ["x", "x.y"]
    assert [place["node"] for place in found["x"]["used_in"]] == ["a", "b"]
