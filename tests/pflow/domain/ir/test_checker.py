"""The checker: all problems at once, each with its path, the available names and a fix."""

from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.node_interface import Interface
from tests.pflow.domain.ir.workflows import (
    INTERFACES,
    NodeTypes,
    Plain,
    chain,
    check_document,
    echo,
    find_only,
    list_codes,
    nest_value,
)
from tests.requirements import requirement
from uraniborg.kernel.errors import NotFound

MOST_NESTED = 10


def make_nested_node(name: str, other: Any, key: str = "workflow_name") -> Plain:
    return {"id": name, "type": "workflow", "params": {key: other}}


def build_loader(**documents: Plain) -> Any:
    def load(name: str) -> Plain:
        if name not in documents:
            raise NotFound(f"There is no workflow '{name}'.", hint="List them.", available=sorted(documents))
        return documents[name]

    return load


SOUND = chain(
    {"id": "fetch", "type": "shell", "params": {"command": "curl ${url}"}, "retry": {"attempts": 3}},
    echo("say", "${fetch.stdout}"),
    inputs={"url": {"type": "string"}},
    outputs={"said": {"source": "${say.echo}"}},
)


def test_nothing_is_wrong_with_a_sound_workflow() -> None:
    found = check_document(SOUND)
    assert found.diagnostics == []
    assert found.workflow is not None
    assert list(found.workflow.nodes) == ["fetch", "say"]


def test_raw_and_wrapped_workflows_get_the_same_diagnostics() -> None:
    wrong: Plain = {"nodes": [None, {"id": "a", "type": "shel", "parameters": {"command": "${x}"}}], "edges": None}
    assert check_document({"name": "n", "description": "d", "ir": wrong}) == check_document(wrong)


def test_errors_and_warnings_are_separated() -> None:
    found = check_document({"inputs": {"unused": {}}, "nodes": [echo("a", "${gone}"), echo("b")]})
    assert list_codes(found.errors) == ["unreachable_node"]
    assert sorted(list_codes(found.warnings)) == ["undeclared_variable", "unused_input"]


@requirement("PF-E8")
@pytest.mark.parametrize("document", [None, [], "text", 5])
def test_a_document_that_is_not_a_workflow_has_no_workflow(document: Any) -> None:
    found = check_document(document)
    assert found.workflow is None
    assert len(found.errors) == 1


def test_problems_of_all_kinds_are_reported_at_once_with_their_paths() -> None:
    document: Plain = {
        "title": "x",
        "inputs": {"used": {}, "unused": {}},
        "nodes": [
            "no node",
            {"id": "bad id", "type": "echo"},
            {"id": "run", "type": "shel"},
            {"id": "run", "type": "shell"},
            {"id": "cmd", "type": "shell", "params": {"cmd": "ls", "timeout": "soon"}},
            echo("say", "${used} ${cmd.stdot} ${HOME:-x} ${later.echo} ${undeclared}"),
            echo("later", batch={"items": 5}),
            echo("lost"),
        ],
        "edges": [
            {"from": "run", "to": "cmd"},
            {"from": "cmd", "to": "sya"},
            {"from": "cmd", "to": "say"},
            {"from": "say", "to": "later", "action": "eror"},
        ],
        "outputs": {"out": "${say.echo}", "gone": {"source": "${sai.echo}"}},
    }
    found = check_document(document)
    assert {(one.code, one.path) for one in found.errors} == {
        ("unknown_key", "title"),
        ("not_a_node", "nodes[0]"),
        ("bad_id", "nodes[1].id"),
        ("unknown_type", "nodes[2].type"),
        ("duplicate_id", "nodes[3].id"),
        ("missing_param", "nodes[4].params.command"),
        ("bad_param", "nodes[4].params.timeout"),
        ("unknown_output", "nodes[5].params.message"),
        ("malformed_template", "nodes[5].params.message"),
        ("not_before", "nodes[5].params.message"),
        ("bad_batch", "nodes[6].batch.items"),
        ("unreachable_node", "nodes[7]"),
        ("unknown_node", "edges[1].to"),
        ("bad_declaration", "outputs.out"),
        ("unknown_root", "outputs.gone.source"),
    }
    assert {(one.code, one.path) for one in found.warnings} == {
        ("unused_input", "inputs.unused"),
        ("unknown_param", "nodes[4].params.cmd"),
        ("undeclared_variable", "nodes[5].params.message"),
        ("unknown_action", "edges[3].action"),
    }
    assert all(one.message and orjson.dumps(one.to_dict()) for one in found.diagnostics)


def test_the_diagnostics_of_a_workflow_are_deterministic() -> None:
    document: Plain = {
        "nodes": [echo(f"n{number}", "${gone}") for number in range(20)],
        "inputs": {f"n{n}": {} for n in range(9)},
    }
    assert [check_document(document).diagnostics for _ in range(3)] == [check_document(document).diagnostics] * 3


@pytest.mark.parametrize(
    ("kind", "meant"), [("shel", "shell"), ("Shell", "shell"), ("git_log", "git-log"), ("bash", "shell")]
)
def test_an_unknown_type_lists_the_nearest_types_and_counts_the_rest(kind: str, meant: str) -> None:
    diagnostic: Any = find_only(check_document({"nodes": [{"id": "a", "type": kind}]}), "unknown_type")
    assert (diagnostic.severity, diagnostic.path, diagnostic.node) == ("error", "nodes[0].type", "a")
    assert (diagnostic.nearest, diagnostic.example) == (meant, meant)
    assert diagnostic.available == (meant,)
    assert diagnostic.more_available == diagnostic.to_dict()["more_available"] == len(INTERFACES) - 1
    assert (
        diagnostic.hint
        == f"Nearest: {meant}. `browse_components`, or `pflow browse`, lists {len(INTERFACES) - 1} more."
    )


def test_an_unknown_type_without_similar_ones_lists_the_available_types() -> None:
    diagnostic = find_only(check_document({"nodes": [{"id": "a", "type": "zzzzz"}]}), "unknown_type")
    assert (diagnostic.nearest, diagnostic.example) == (None, None)
    assert set(diagnostic.available) == set(INTERFACES)
    assert "more_available" not in diagnostic.to_dict()
    assert diagnostic.hint == f"`browse_components`, or `pflow browse`, lists all {len(INTERFACES)} node types."


def test_a_thousand_unknown_types_search_the_registry_a_few_times_only() -> None:
    types = NodeTypes()
    nodes = [{"id": f"n{number}", "type": f"bash {number}"} for number in range(1000)]
    found = check_document(
        {"nodes": nodes, "edges": [{"from": "n0", "to": f"n{n}"} for n in range(1, 1000)]}, types=types
    )
    assert list_codes(found) == ["unknown_type"] * 1000
    assert types.searched == 20


def test_an_unknown_mcp_tool_is_reported_with_the_commands_that_add_tools() -> None:
    types = NodeTypes({"mcp-lib-list_top_facets": Interface("mcp-lib-list_top_facets", "d", "x:y")})
    diagnostic = find_only(
        check_document({"nodes": [{"id": "a", "type": "mcp-lib-nope"}]}, types=types), "unknown_type"
    )
    assert "pflow mcp add" in diagnostic.hint
    assert "pflow mcp sync" in diagnostic.hint
    assert (diagnostic.nearest, diagnostic.example) == (None, None)


def test_an_unknown_type_is_reported_even_if_there_are_no_types() -> None:
    assert find_only(check_document({"nodes": [echo("a")]}, types=NodeTypes({})), "unknown_type").available == ()


def test_a_node_without_a_type_is_reported_once_and_affects_no_other_node() -> None:
    found = check_document(chain(echo("a"), {"id": "b", "params": {}}, echo("c", "${b.anything}")))
    assert list_codes(found) == ["no_type"]


def test_a_missing_parameter_is_reported_with_its_description_and_an_example() -> None:
    diagnostic = find_only(
        check_document({"nodes": [{"id": "a", "type": "shell", "params": {"command": None}}]}), "missing_param"
    )
    assert (diagnostic.severity, diagnostic.path, diagnostic.node) == ("error", "nodes[0].params.command", "a")
    assert "What is run." in diagnostic.message
    assert diagnostic.example == {"command": "ls"}


@pytest.mark.parametrize(
    ("key", "meant", "example"),
    [
        ("comand", "command", {"command": "ls"}),
        ("std_in", "stdin", {"command": "ls", "stdin": 1}),
        ("zzzzz", None, {"command": "ls"}),
    ],
)
def test_a_parameter_that_a_type_does_not_have_is_a_warning(key: str, meant: str | None, example: Plain) -> None:
    document = {"nodes": [{"id": "a", "type": "shell", "params": {"command": "ls", key: 1}}]}
    diagnostic = find_only(check_document(document), "unknown_param")
    assert (diagnostic.severity, diagnostic.path, diagnostic.nearest) == ("warning", f"nodes[0].params.{key}", meant)
    assert diagnostic.available == ("command", "stdin", "timeout", "env")
    assert diagnostic.example == example


def test_a_type_that_takes_any_parameter_takes_any_parameter() -> None:
    assert check_document({"nodes": [{"id": "a", "type": "choose", "params": {"what": "ever"}}]}).diagnostics == []


@pytest.mark.parametrize(
    ("key", "value"), [("timeout", "soon"), ("timeout", [1]), ("env", "text"), ("env", 5), ("timeout", True)]
)
def test_a_parameter_of_another_type_is_refused(key: str, value: Any) -> None:
    document = {"nodes": [{"id": "a", "type": "shell", "params": {"command": "ls", key: value}}]}
    diagnostic = find_only(check_document(document), "bad_param")
    assert (diagnostic.path, diagnostic.node) == (f"nodes[0].params.{key}", "a")
    assert diagnostic.example == {"command": "ls", key: {"timeout": 1.0, "env": {}}[key]}


@pytest.mark.parametrize(
    ("key", "value"),
    [("timeout", "5"), ("timeout", "${t}"), ("env", '{"a": 1}'), ("env", {"E": "${e}"}), ("stdin", [])],
)
def test_a_parameter_that_can_be_made_to_fit_or_is_a_template_is_fine(key: str, value: Any) -> None:
    document: Plain = {
        "nodes": [{"id": "a", "type": "shell", "params": {"command": "ls ${t} ${e}", key: value}}],
        "inputs": {"t": {}, "e": {}},
    }
    assert check_document(document).diagnostics == []


def test_an_action_that_a_node_never_answers_with_is_a_warning() -> None:
    document: Plain = {
        "nodes": [echo("a"), echo("b"), echo("c")],
        "edges": [{"from": "a", "to": "b"}, {"from": "a", "to": "c", "action": "eror"}],
    }
    diagnostic = find_only(check_document(document), "unknown_action")
    assert (diagnostic.severity, diagnostic.path, diagnostic.nearest, diagnostic.node) == (
        "warning",
        "edges[1].action",
        "error",
        "a",
    )
    assert "eror" in diagnostic.message
    document["edges"][1]["action"] = "error"
    assert check_document(document).diagnostics == []


def test_a_type_may_answer_with_actions_of_its_own() -> None:
    edges = [{"from": "a", "to": "b", "action": "whatever"}]
    assert check_document({"nodes": [{"id": "a", "type": "choose"}, echo("b")], "edges": edges}).diagnostics == []


@pytest.mark.parametrize(
    ("pairs", "shown", "last"),
    [
        ([("a", "b"), ("b", "c"), ("c", "b")], {"b", "c"}, 2),
        ([("c", "a"), ("a", "b"), ("b", "c")], {"a", "b", "c"}, 2),
        ([("a", "b"), ("c", "c"), ("b", "c")], {"c"}, 1),
    ],
)
def test_nodes_that_wait_for_each_other_are_an_error_at_the_edge_that_closes_the_cycle(
    pairs: list[tuple[str, str]], shown: set[str], last: int
) -> None:
    edges = [{"source": before, "target": after} for before, after in pairs]
    diagnostic = find_only(check_document({"nodes": [echo("a"), echo("b"), echo("c")], "edges": edges}), "circle")
    assert (diagnostic.severity, diagnostic.path) == ("error", f"edges[{last}]")
    assert set(diagnostic.message.partition(": ")[2].rstrip(".").split(" → ")) == shown
    assert diagnostic.hint


def test_a_cycle_over_any_action_is_an_error() -> None:
    edges = [{"from": "a", "to": "b"}, {"from": "b", "to": "a", "action": "error"}]
    assert list_codes(check_document({"nodes": [echo("a"), echo("b")], "edges": edges})) == ["circle"]


def test_two_cycles_are_two_errors() -> None:
    pairs = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("d", "c")]
    edges = [{"from": before, "to": after} for before, after in pairs]
    assert list_codes(check_document({"nodes": [echo(name) for name in "abcd"], "edges": edges})) == [
        "circle",
        "circle",
    ]


def test_an_unreachable_node_is_an_error_with_the_missing_edge() -> None:
    found = check_document({"nodes": [echo("a"), echo("b"), echo("c")], "edges": []})
    assert [(one.code, one.path, one.example) for one in found.errors] == [
        ("unreachable_node", "nodes[1]", {"from": "a", "to": "b"}),
        ("unreachable_node", "nodes[2]", {"from": "b", "to": "c"}),
    ]
    assert "order" in found.errors[0].hint


def test_a_node_before_the_start_is_an_error() -> None:
    diagnostic = find_only(check_document(chain(echo("a"), echo("b"), start_node="b")), "unreachable_node")
    assert (diagnostic.node, diagnostic.example) == ("a", {"from": "b", "to": "a"})


def test_many_unreachable_nodes_are_summarised() -> None:
    found = check_document({"nodes": [echo(f"n{number}") for number in range(1000)]})
    assert list_codes(found) == ["unreachable_node"] * 13
    assert "987" in found.errors[-1].message


def test_parallel_branches_that_join_are_valid() -> None:
    pairs = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    edges = [{"from": before, "to": after} for before, after in pairs]
    assert (
        check_document(
            {"nodes": [echo("a"), echo("b"), echo("c"), echo("d", "${b.echo} ${c.echo}")], "edges": edges}
        ).diagnostics
        == []
    )


@pytest.mark.parametrize("params", [{}, {"workflow_name": "a", "workflow_ir": {}}, {"workflow_name": None}])
def test_a_nested_workflow_is_named_by_exactly_one_parameter(params: Plain) -> None:
    diagnostic = find_only(check_document({"nodes": [{"id": "w", "type": "workflow", "params": params}]}), "bad_nested")
    assert (diagnostic.path, diagnostic.example["workflow_name"]) == ("nodes[0].params", "greeter")


def test_problems_of_a_nested_workflow_are_reported_with_the_path_to_them() -> None:
    inner = {"nodes": [echo("x"), {"id": "y", "type": "shel"}], "edges": [{"from": "x", "to": "y"}]}
    (diagnostic,) = check_document(chain(echo("first"), make_nested_node("w", inner, "workflow_ir"))).errors
    assert (diagnostic.code, diagnostic.path, diagnostic.node) == (
        "unknown_type",
        "nodes[1].params.workflow_ir/nodes[1].type",
        "w",
    )
    assert (diagnostic.nearest, diagnostic.message.startswith("In 'w': ")) == ("shell", True)


@pytest.mark.parametrize("key", ["workflow_name", "workflow_ref"])
def test_a_workflow_of_another_file_is_checked_too(key: str) -> None:
    load = build_loader(inner={"name": "inner", "ir": {"nodes": [{"id": "y", "type": "shel"}]}})
    (diagnostic,) = check_document({"nodes": [make_nested_node("w", "inner", key)]}, load=load).errors
    assert (diagnostic.code, diagnostic.path) == ("unknown_type", f"nodes[0].params.{key}/nodes[0].type")


def test_variables_of_a_nested_workflow_are_not_those_of_the_outer_one() -> None:
    assert (
        check_document(
            {"nodes": [make_nested_node("w", "inner")]}, load=build_loader(inner={"nodes": [echo("x", "${who}")]})
        ).diagnostics
        == []
    )


def test_a_missing_nested_workflow_is_reported_with_the_available_ones() -> None:
    load = build_loader(greeter={"nodes": [echo("x")]})
    diagnostic = find_only(check_document({"nodes": [make_nested_node("w", "greter")]}, load=load), "nested_not_found")
    assert (diagnostic.severity, diagnostic.path, diagnostic.node) == ("error", "nodes[0].params.workflow_name", "w")
    assert (diagnostic.available, diagnostic.nearest, diagnostic.hint) == (("greeter",), "greeter", "List them.")


def test_a_workflow_that_is_not_known_yet_is_not_checked() -> None:
    assert list_codes(check_document({"nodes": [make_nested_node("w", "${which}")]}, load=build_loader())) == [
        "undeclared_variable"
    ]
    assert check_document({"nodes": [make_nested_node("w", "anything")]}).diagnostics == []


def test_a_workflow_that_runs_itself_is_an_error() -> None:
    load = build_loader(me={"nodes": [make_nested_node("again", "me")]})
    diagnostic = find_only(check_document({"nodes": [make_nested_node("w", "me")]}, load=load), "nested_circle")
    assert diagnostic.path == "nodes[0].params.workflow_name/nodes[0].params.workflow_name"
    assert "me → me" in diagnostic.message


def test_workflows_that_run_each_other_are_an_error() -> None:
    load = build_loader(
        a={"nodes": [make_nested_node("x", "b")]},
        b={"nodes": [make_nested_node("y", "c")]},
        c={"nodes": [make_nested_node("z", "a")]},
    )
    assert (
        "a → b → c → a"
        in find_only(check_document({"nodes": [make_nested_node("w", "a")]}, load=load), "nested_circle").message
    )


@pytest.mark.parametrize("depth", [MOST_NESTED, MOST_NESTED + 1])
def test_the_depth_of_nested_workflows_is_limited(depth: int) -> None:
    documents = {f"w{level}": {"nodes": [make_nested_node("next", f"w{level + 1}")]} for level in range(1, depth)}
    load = build_loader(**documents, **{f"w{depth}": {"nodes": [echo("x")]}})
    found = check_document({"nodes": [make_nested_node("w", "w1")]}, load=load)
    assert list_codes(found) == (["nested_too_deep"] if depth > MOST_NESTED else [])


def test_a_workflow_checked_before_is_still_too_deep_further_down() -> None:
    deep = {f"w{level}": {"nodes": [make_nested_node("next", f"w{level + 1}")]} for level in range(1, MOST_NESTED)}
    load = build_loader(
        **deep, **{f"w{MOST_NESTED}": {"nodes": [echo("x")]}}, more={"nodes": [make_nested_node("again", "w1")]}
    )
    document = chain(make_nested_node("first", "w1"), make_nested_node("second", "more"))
    diagnostic = find_only(check_document(document, load=load), "nested_too_deep")
    assert diagnostic.path.startswith("nodes[1].")


def test_workflows_written_into_each_other_may_be_so_deep_and_no_deeper() -> None:
    document: Plain = {"nodes": [echo("x")]}
    for _ in range(MOST_NESTED):
        document = {"nodes": [make_nested_node("w", document, "workflow_ir")]}
    assert check_document(document).errors == []
    assert list_codes(check_document({"nodes": [make_nested_node("w", document, "workflow_ir")]})) == [
        "nested_too_deep"
    ]


def test_workflows_that_run_each_other_many_times_are_each_checked_once() -> None:
    loaded: list[str] = []
    documents = {
        f"w{level}": chain(*[make_nested_node(f"n{place}", f"w{level + 1}") for place in range(50)])
        for level in range(9)
    }
    documents["w9"] = {"nodes": [{"id": "x", "type": "shel"}]}

    def load(name: str) -> Plain:
        loaded.append(name)
        return documents[name]

    found = check_document(documents["w0"], load=load)
    assert list_codes(found) == ["unknown_type"]
    assert len(loaded) == 9


def test_a_missing_nested_workflow_is_looked_up_once_and_reported_for_each_node() -> None:
    asked: list[str] = []

    def load(name: str) -> Plain:
        asked.append(name)
        raise NotFound("There is none.")

    found = check_document(chain(*[make_nested_node(f"n{place}", "gone") for place in range(100)]), load=load)
    assert (list_codes(found), asked) == (["nested_not_found"] * 100, ["gone"])


def test_parameters_nested_too_deep_are_reported_and_not_walked() -> None:
    assert "too_deep" in list_codes(check_document({"nodes": [echo("a", nest_value(1000, "${x}"))]}))
    inner = {"nodes": [echo("a", nest_value(80, "${x}"))]}
    assert list_codes(check_document(inner)) == ["undeclared_variable"]


LARGE = 10_000


def make_many_nodes(message: str = "${before.echo}", kind: str = "echo") -> list[Plain]:
    nodes: list[Plain] = [{"id": "before", "type": kind, "params": {}}]
    return nodes + [{"id": f"n{number}", "type": kind, "params": {"message": message}} for number in range(LARGE - 1)]


def make_chain_edges(nodes: list[Plain]) -> list[Plain]:
    return [{"from": before["id"], "to": after["id"]} for before, after in pairwise(nodes)]


def test_ten_thousand_nodes_in_a_row_are_checked() -> None:
    nodes = make_many_nodes()
    for before, after in pairwise(nodes):
        after["params"]["message"] = f"${{{before['id']}.echo}} ${{before.echo}}"
    assert check_document({"nodes": nodes, "edges": make_chain_edges(nodes)}).diagnostics == []


def test_ten_thousand_branches_are_checked() -> None:
    nodes = [*make_many_nodes(), echo("last", "${n0.echo} ${n9998.echo}")]
    sides = [node["id"] for node in nodes[1:-1]]
    edges = [{"from": "before", "to": side} for side in sides] + [{"from": side, "to": "last"} for side in sides]
    assert check_document({"nodes": nodes, "edges": edges}).diagnostics == []


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("${undeclared}", "undeclared_variable"),
        ("${befor.echo}", "unknown_root"),
        ("${n9998.echo}", "not_before"),
        ("${before.ecko}", "unknown_output"),
        ("${HOME:-x}", "malformed_template"),
    ],
)
def test_a_problem_in_each_of_ten_thousand_nodes_is_reported_in_time(message: str, code: str) -> None:
    nodes = make_many_nodes(message)
    found = check_document({"nodes": nodes, "edges": make_chain_edges(nodes)})
    assert list_codes(found).count(code) >= LARGE - 2
    assert all(len(one.available) <= 20 for one in found.diagnostics)


def test_ten_thousand_unknown_types_are_reported_in_time() -> None:
    types = NodeTypes(
        {f"type-number-{number}": Interface(f"type-number-{number}", "d", "x:y") for number in range(1000)}
    )
    nodes = make_many_nodes(kind="tipe-nummer-5")
    found = check_document({"nodes": nodes, "edges": make_chain_edges(nodes)}, types=types)
    assert list_codes(found) == ["unknown_type"] * LARGE
    assert types.listed == 1


def test_ten_thousand_edges_to_unknown_nodes_are_reported_in_time() -> None:
    nodes = [echo(f"node-number-{number}") for number in range(900)]
    edges = [
        *make_chain_edges(nodes),
        *({"from": f"node_number_{number}", "to": "node-number-0"} for number in range(10_000)),
    ]
    assert list_codes(check_document({"nodes": nodes, "edges": edges})).count("unknown_node") == 10_000


def test_ten_thousand_nodes_in_cycles_are_reported_in_time() -> None:
    nodes = make_many_nodes("x")
    edges = [
        *make_chain_edges(nodes),
        *({"from": second["id"], "to": first["id"]} for first, second in zip(nodes[::2], nodes[1::2], strict=True)),
    ]
    assert set(list_codes(check_document({"nodes": nodes, "edges": edges}))) == {"circle"}


def test_ten_thousand_nodes_with_the_same_id_are_reported_in_time() -> None:
    assert list_codes(check_document({"nodes": [echo("same")] * LARGE})) == ["duplicate_id"] * (LARGE - 1)


def test_texts_of_200_000_characters_are_checked() -> None:
    document: Plain = {
        "nodes": [
            echo("a", "x" * 200_000),
            echo("b", "${a.echo}" * 20_000),
            echo("c", "${a.echo}${" * 18_000),
            echo("d", "${" + "true ?? " * 24_000),
            {"id": "e", "type": "shell", "params": {"command": ("echo '${a.echo}' # it's".ljust(99) + "\n") * 2_000}},
            {"id": "f", "type": "x" * 200_000},
        ]
    }
    document["edges"] = make_chain_edges(document["nodes"])
    found = check_document(document)
    assert {one.code for one in found.errors} == {"malformed_template", "unknown_type"}
    assert len(orjson.dumps([one.to_dict() for one in found.diagnostics])) < 20_000


NAMES = st.sampled_from(["a", "b", "fetch-data", "größe", "名前", "true-x", "item"])
TEXTS = st.one_of(
    st.text(max_size=10),
    st.tuples(NAMES, st.sampled_from(["", ".x", ".echo", "[0]"])).map(lambda one: f"${{{one[0]}{one[1]}}}"),
)


def make_node(name: str, kind: str, message: Any, batch: Plain) -> Plain:
    return {"id": name, "type": kind, "params": {"message": message}, **batch}


def make_edge(before: str, after: str, action: str) -> Plain:
    return {"from": before, "to": after, "action": action}


NODES = st.builds(
    make_node,
    NAMES,
    st.sampled_from([*INTERFACES, "gone", ""]),
    TEXTS | st.lists(TEXTS, max_size=2) | st.dictionaries(st.text(max_size=3), TEXTS, max_size=2),
    st.sampled_from([{}, {}, {"batch": {"items": "${a.x}"}}, {"batch": {"items": [1]}}]),
)
EDGES = st.builds(make_edge, NAMES, NAMES, NAMES)


@given(
    st.fixed_dictionaries(
        {"nodes": st.lists(NODES, min_size=1, max_size=6), "edges": st.lists(EDGES, max_size=8)},
        optional={
            "inputs": st.dictionaries(NAMES, st.just({}), max_size=3),
            "outputs": st.dictionaries(NAMES, TEXTS.map(lambda text: {"source": text}), max_size=2),
        },
    )
)
def test_every_document_is_valid_or_has_an_error(document: Plain) -> None:
    found = check_document(document)
    assert found.workflow is not None
    for one in found.diagnostics:
        assert orjson.loads(orjson.dumps(one.to_dict()))["code"] == one.code
        if one.path.startswith("nodes[") and one.node:
            index = int(one.path[6 : one.path.index("]")])
            assert document["nodes"][index]["id"] == one.node
    if not found.errors:
        assert len({node["id"] for node in document["nodes"]}) == len(document["nodes"])
