"""The one checker: all that is wrong is told at once, with where, what there is, and how it would be right."""

from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.registry.interface import Interface
from tests.pflow.ir.workflows import INTERFACES, Plain, Types, chain, checked, codes, echo, nested, the
from tests.requirements import requirement
from uraniborg.kernel.errors import NotFound

MOST_NESTED = 10


def runs(name: str, other: Any, key: str = "workflow_name") -> Plain:
    return {"id": name, "type": "workflow", "params": {key: other}}


def library(**documents: Plain) -> Any:
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
    found = checked(SOUND)
    assert found.diagnostics == []
    assert found.workflow is not None
    assert list(found.workflow.nodes) == ["fetch", "say"]


def test_raw_and_wrapped_are_checked_alike() -> None:
    wrong: Plain = {"nodes": [None, {"id": "a", "type": "shel", "parameters": {"command": "${x}"}}], "edges": None}
    assert checked({"name": "n", "description": "d", "ir": wrong}) == checked(wrong)


def test_errors_and_warnings_are_told_apart() -> None:
    found = checked({"inputs": {"unused": {}}, "nodes": [echo("a", "${gone}"), echo("b")]})
    assert codes(found.errors) == ["unreachable_node"]
    assert sorted(codes(found.warnings)) == ["undeclared_variable", "unused_input"]


@requirement("PF-E8")
@pytest.mark.parametrize("document", [None, [], "text", 5])
def test_what_is_no_workflow_is_checked_to_be_none(document: Any) -> None:
    found = checked(document)
    assert found.workflow is None
    assert len(found.errors) == 1


def test_all_mistakes_of_all_kinds_are_told_at_once_each_at_its_place_in_the_file() -> None:
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
    found = checked(document)
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


def test_the_same_workflow_is_always_told_the_same() -> None:
    document: Plain = {
        "nodes": [echo(f"n{number}", "${gone}") for number in range(20)],
        "inputs": {f"n{n}": {} for n in range(9)},
    }
    assert [checked(document).diagnostics for _ in range(3)] == [checked(document).diagnostics] * 3


@pytest.mark.parametrize(
    ("kind", "meant"), [("shel", "shell"), ("Shell", "shell"), ("git_log", "git-log"), ("bash", "shell")]
)
def test_an_unknown_type_lists_the_nearest_types_and_counts_the_rest(kind: str, meant: str) -> None:
    told = the(checked({"nodes": [{"id": "a", "type": kind}]}), "unknown_type")
    assert (told.severity, told.path, told.node) == ("error", "nodes[0].type", "a")
    assert (told.nearest, told.example) == (meant, meant)
    assert told.available == (meant,)
    assert told.more_available == told.to_dict()["more_available"] == len(INTERFACES) - 1
    assert told.hint == f"Nearest: {meant}. `browse_components`, or `pflow browse`, lists {len(INTERFACES) - 1} more."


def test_an_unknown_type_that_is_like_none_lists_those_there_are() -> None:
    told = the(checked({"nodes": [{"id": "a", "type": "zzzzz"}]}), "unknown_type")
    assert (told.nearest, told.example) == (None, None)
    assert set(told.available) == set(INTERFACES)
    assert "more_available" not in told.to_dict()
    assert told.hint == f"`browse_components`, or `pflow browse`, lists all {len(INTERFACES)} node types."


def test_a_thousand_unknown_types_search_the_registry_a_few_times_only() -> None:
    types = Types()
    nodes = [{"id": f"n{number}", "type": f"bash {number}"} for number in range(1000)]
    found = checked({"nodes": nodes, "edges": [{"from": "n0", "to": f"n{n}"} for n in range(1, 1000)]}, types=types)
    assert codes(found) == ["unknown_type"] * 1000
    assert types.searched == 20


def test_a_tool_of_a_server_that_is_not_known_is_told_how_servers_and_their_tools_become_known() -> None:
    types = Types({"mcp-lib-list_top_facets": Interface("mcp-lib-list_top_facets", "d", "x:y")})
    told = the(checked({"nodes": [{"id": "a", "type": "mcp-lib-nope"}]}, types=types), "unknown_type")
    assert "pflow mcp add" in told.hint
    assert "pflow mcp sync" in told.hint
    assert (told.nearest, told.example) == (None, None)


def test_where_there_are_no_types_at_all_a_type_is_still_told_to_be_none() -> None:
    assert the(checked({"nodes": [echo("a")]}, types=Types({})), "unknown_type").available == ()


def test_a_node_without_a_type_is_told_once_and_does_not_make_others_wrong() -> None:
    found = checked(chain(echo("a"), {"id": "b", "params": {}}, echo("c", "${b.anything}")))
    assert codes(found) == ["no_type"]


def test_a_parameter_that_is_needed_is_told_with_what_it_is_and_an_example() -> None:
    told = the(checked({"nodes": [{"id": "a", "type": "shell", "params": {"command": None}}]}), "missing_param")
    assert (told.severity, told.path, told.node) == ("error", "nodes[0].params.command", "a")
    assert "What is run." in told.message
    assert told.example == {"command": "ls"}


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
    told = the(checked(document), "unknown_param")
    assert (told.severity, told.path, told.nearest) == ("warning", f"nodes[0].params.{key}", meant)
    assert told.available == ("command", "stdin", "timeout", "env")
    assert told.example == example


def test_a_type_that_takes_any_parameter_takes_any_parameter() -> None:
    assert checked({"nodes": [{"id": "a", "type": "choose", "params": {"what": "ever"}}]}).diagnostics == []


@pytest.mark.parametrize(
    ("key", "value"), [("timeout", "soon"), ("timeout", [1]), ("env", "text"), ("env", 5), ("timeout", True)]
)
def test_a_parameter_of_another_type_is_refused(key: str, value: Any) -> None:
    document = {"nodes": [{"id": "a", "type": "shell", "params": {"command": "ls", key: value}}]}
    told = the(checked(document), "bad_param")
    assert (told.path, told.node) == (f"nodes[0].params.{key}", "a")
    assert told.example == {"command": "ls", key: {"timeout": 1.0, "env": {}}[key]}


@pytest.mark.parametrize(
    ("key", "value"),
    [("timeout", "5"), ("timeout", "${t}"), ("env", '{"a": 1}'), ("env", {"E": "${e}"}), ("stdin", [])],
)
def test_a_parameter_that_can_be_made_to_fit_or_is_a_template_is_fine(key: str, value: Any) -> None:
    document: Plain = {
        "nodes": [{"id": "a", "type": "shell", "params": {"command": "ls ${t} ${e}", key: value}}],
        "inputs": {"t": {}, "e": {}},
    }
    assert checked(document).diagnostics == []


def test_an_action_that_a_node_never_answers_with_is_a_warning() -> None:
    document: Plain = {
        "nodes": [echo("a"), echo("b"), echo("c")],
        "edges": [{"from": "a", "to": "b"}, {"from": "a", "to": "c", "action": "eror"}],
    }
    told = the(checked(document), "unknown_action")
    assert (told.severity, told.path, told.nearest, told.node) == ("warning", "edges[1].action", "error", "a")
    assert "eror" in told.message
    document["edges"][1]["action"] = "error"
    assert checked(document).diagnostics == []


def test_a_type_may_answer_with_actions_of_its_own() -> None:
    edges = [{"from": "a", "to": "b", "action": "whatever"}]
    assert checked({"nodes": [{"id": "a", "type": "choose"}, echo("b")], "edges": edges}).diagnostics == []


@pytest.mark.parametrize(
    ("pairs", "shown", "last"),
    [
        ([("a", "b"), ("b", "c"), ("c", "b")], {"b", "c"}, 2),
        ([("c", "a"), ("a", "b"), ("b", "c")], {"a", "b", "c"}, 2),
        ([("a", "b"), ("c", "c"), ("b", "c")], {"c"}, 1),
    ],
)
def test_nodes_that_wait_for_each_other_are_an_error_at_the_edge_that_closes_the_circle(
    pairs: list[tuple[str, str]], shown: set[str], last: int
) -> None:
    edges = [{"source": before, "target": after} for before, after in pairs]
    told = the(checked({"nodes": [echo("a"), echo("b"), echo("c")], "edges": edges}), "circle")
    assert (told.severity, told.path) == ("error", f"edges[{last}]")
    assert set(told.message.partition(": ")[2].rstrip(".").split(" → ")) == shown
    assert told.hint


def test_a_circle_by_any_action_is_an_error() -> None:
    edges = [{"from": "a", "to": "b"}, {"from": "b", "to": "a", "action": "error"}]
    assert codes(checked({"nodes": [echo("a"), echo("b")], "edges": edges})) == ["circle"]


def test_two_circles_are_two_errors() -> None:
    pairs = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("d", "c")]
    edges = [{"from": before, "to": after} for before, after in pairs]
    assert codes(checked({"nodes": [echo(name) for name in "abcd"], "edges": edges})) == ["circle", "circle"]


def test_a_node_that_no_edge_leads_to_is_an_error_and_shown_which_edge_was_forgotten() -> None:
    found = checked({"nodes": [echo("a"), echo("b"), echo("c")], "edges": []})
    assert [(one.code, one.path, one.example) for one in found.errors] == [
        ("unreachable_node", "nodes[1]", {"from": "a", "to": "b"}),
        ("unreachable_node", "nodes[2]", {"from": "b", "to": "c"}),
    ]
    assert "order" in found.errors[0].hint


def test_a_node_before_the_start_is_an_error() -> None:
    told = the(checked(chain(echo("a"), echo("b"), start_node="b")), "unreachable_node")
    assert (told.node, told.example) == ("a", {"from": "b", "to": "a"})


def test_many_nodes_that_are_not_reached_are_told_in_short() -> None:
    found = checked({"nodes": [echo(f"n{number}") for number in range(1000)]})
    assert codes(found) == ["unreachable_node"] * 13
    assert "987" in found.errors[-1].message


def test_parallel_branches_that_meet_again_are_sound() -> None:
    pairs = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    edges = [{"from": before, "to": after} for before, after in pairs]
    assert (
        checked(
            {"nodes": [echo("a"), echo("b"), echo("c"), echo("d", "${b.echo} ${c.echo}")], "edges": edges}
        ).diagnostics
        == []
    )


@pytest.mark.parametrize("params", [{}, {"workflow_name": "a", "workflow_ir": {}}, {"workflow_name": None}])
def test_a_workflow_within_is_named_in_exactly_one_way(params: Plain) -> None:
    told = the(checked({"nodes": [{"id": "w", "type": "workflow", "params": params}]}), "bad_nested")
    assert (told.path, told.example["workflow_name"]) == ("nodes[0].params", "greeter")


def test_what_is_wrong_with_a_workflow_within_is_told_with_the_way_to_it() -> None:
    inner = {"nodes": [echo("x"), {"id": "y", "type": "shel"}], "edges": [{"from": "x", "to": "y"}]}
    (told,) = checked(chain(echo("first"), runs("w", inner, "workflow_ir"))).errors
    assert (told.code, told.path, told.node) == ("unknown_type", "nodes[1].params.workflow_ir/nodes[1].type", "w")
    assert (told.nearest, told.message.startswith("In 'w': ")) == ("shell", True)


@pytest.mark.parametrize("key", ["workflow_name", "workflow_ref"])
def test_a_workflow_of_another_file_is_checked_too(key: str) -> None:
    load = library(inner={"name": "inner", "ir": {"nodes": [{"id": "y", "type": "shel"}]}})
    (told,) = checked({"nodes": [runs("w", "inner", key)]}, load=load).errors
    assert (told.code, told.path) == ("unknown_type", f"nodes[0].params.{key}/nodes[0].type")


def test_variables_of_a_workflow_within_are_not_ours() -> None:
    assert (
        checked({"nodes": [runs("w", "inner")]}, load=library(inner={"nodes": [echo("x", "${who}")]})).diagnostics == []
    )


def test_a_workflow_that_is_not_there_is_told_with_those_there_are() -> None:
    load = library(greeter={"nodes": [echo("x")]})
    told = the(checked({"nodes": [runs("w", "greter")]}, load=load), "nested_not_found")
    assert (told.severity, told.path, told.node) == ("error", "nodes[0].params.workflow_name", "w")
    assert (told.available, told.nearest, told.hint) == (("greeter",), "greeter", "List them.")


def test_a_workflow_that_is_not_known_yet_is_not_checked() -> None:
    assert codes(checked({"nodes": [runs("w", "${which}")]}, load=library())) == ["undeclared_variable"]
    assert checked({"nodes": [runs("w", "anything")]}).diagnostics == []


def test_a_workflow_that_runs_itself_is_an_error() -> None:
    load = library(me={"nodes": [runs("again", "me")]})
    told = the(checked({"nodes": [runs("w", "me")]}, load=load), "nested_circle")
    assert told.path == "nodes[0].params.workflow_name/nodes[0].params.workflow_name"
    assert "me → me" in told.message


def test_workflows_that_run_each_other_are_an_error() -> None:
    load = library(a={"nodes": [runs("x", "b")]}, b={"nodes": [runs("y", "c")]}, c={"nodes": [runs("z", "a")]})
    assert "a → b → c → a" in the(checked({"nodes": [runs("w", "a")]}, load=load), "nested_circle").message


@pytest.mark.parametrize("depth", [MOST_NESTED, MOST_NESTED + 1])
def test_workflows_within_each_other_may_be_so_deep_and_no_deeper(depth: int) -> None:
    documents = {f"w{level}": {"nodes": [runs("next", f"w{level + 1}")]} for level in range(1, depth)}
    load = library(**documents, **{f"w{depth}": {"nodes": [echo("x")]}})
    found = checked({"nodes": [runs("w", "w1")]}, load=load)
    assert codes(found) == (["nested_too_deep"] if depth > MOST_NESTED else [])


def test_a_workflow_checked_before_is_still_too_deep_further_down() -> None:
    deep = {f"w{level}": {"nodes": [runs("next", f"w{level + 1}")]} for level in range(1, MOST_NESTED)}
    load = library(**deep, **{f"w{MOST_NESTED}": {"nodes": [echo("x")]}}, more={"nodes": [runs("again", "w1")]})
    document = chain(runs("first", "w1"), runs("second", "more"))
    told = the(checked(document, load=load), "nested_too_deep")
    assert told.path.startswith("nodes[1].")


def test_workflows_written_into_each_other_may_be_so_deep_and_no_deeper() -> None:
    document: Plain = {"nodes": [echo("x")]}
    for _ in range(MOST_NESTED):
        document = {"nodes": [runs("w", document, "workflow_ir")]}
    assert checked(document).errors == []
    assert codes(checked({"nodes": [runs("w", document, "workflow_ir")]})) == ["nested_too_deep"]


def test_workflows_that_run_each_other_many_times_are_each_checked_once() -> None:
    loaded: list[str] = []
    documents = {f"w{level}": chain(*[runs(f"n{place}", f"w{level + 1}") for place in range(50)]) for level in range(9)}
    documents["w9"] = {"nodes": [{"id": "x", "type": "shel"}]}

    def load(name: str) -> Plain:
        loaded.append(name)
        return documents[name]

    found = checked(documents["w0"], load=load)
    assert codes(found) == ["unknown_type"]
    assert len(loaded) == 9


def test_a_workflow_that_is_not_there_is_looked_for_once_and_told_of_each_node() -> None:
    asked: list[str] = []

    def load(name: str) -> Plain:
        asked.append(name)
        raise NotFound("There is none.")

    found = checked(chain(*[runs(f"n{place}", "gone") for place in range(100)]), load=load)
    assert (codes(found), asked) == (["nested_not_found"] * 100, ["gone"])


def test_parameters_nested_too_deep_are_told_and_not_walked_through() -> None:
    assert "too_deep" in codes(checked({"nodes": [echo("a", nested(1000, "${x}"))]}))
    inner = {"nodes": [echo("a", nested(80, "${x}"))]}
    assert codes(checked(inner)) == ["undeclared_variable"]


LARGE = 10_000


def large(message: str = "${before.echo}", kind: str = "echo") -> list[Plain]:
    nodes: list[Plain] = [{"id": "before", "type": kind, "params": {}}]
    return nodes + [{"id": f"n{number}", "type": kind, "params": {"message": message}} for number in range(LARGE - 1)]


def row(nodes: list[Plain]) -> list[Plain]:
    return [{"from": before["id"], "to": after["id"]} for before, after in pairwise(nodes)]


def test_ten_thousand_nodes_in_a_row_are_checked() -> None:
    nodes = large()
    for before, after in pairwise(nodes):
        after["params"]["message"] = f"${{{before['id']}.echo}} ${{before.echo}}"
    assert checked({"nodes": nodes, "edges": row(nodes)}).diagnostics == []


def test_ten_thousand_branches_are_checked() -> None:
    nodes = [*large(), echo("last", "${n0.echo} ${n9998.echo}")]
    sides = [node["id"] for node in nodes[1:-1]]
    edges = [{"from": "before", "to": side} for side in sides] + [{"from": side, "to": "last"} for side in sides]
    assert checked({"nodes": nodes, "edges": edges}).diagnostics == []


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
def test_a_mistake_in_each_of_ten_thousand_nodes_is_told_in_time(message: str, code: str) -> None:
    nodes = large(message)
    found = checked({"nodes": nodes, "edges": row(nodes)})
    assert codes(found).count(code) >= LARGE - 2
    assert all(len(one.available) <= 20 for one in found.diagnostics)


def test_ten_thousand_nodes_of_no_type_are_told_in_time() -> None:
    types = Types({f"type-number-{number}": Interface(f"type-number-{number}", "d", "x:y") for number in range(1000)})
    nodes = large(kind="tipe-nummer-5")
    found = checked({"nodes": nodes, "edges": row(nodes)}, types=types)
    assert codes(found) == ["unknown_type"] * LARGE
    assert types.listed == 1


def test_ten_thousand_edges_to_no_node_are_told_in_time() -> None:
    nodes = [echo(f"node-number-{number}") for number in range(900)]
    edges = [*row(nodes), *({"from": f"node_number_{number}", "to": "node-number-0"} for number in range(10_000))]
    assert codes(checked({"nodes": nodes, "edges": edges})).count("unknown_node") == 10_000


def test_ten_thousand_nodes_in_circles_are_told_in_time() -> None:
    nodes = large("x")
    edges = [
        *row(nodes),
        *({"from": second["id"], "to": first["id"]} for first, second in zip(nodes[::2], nodes[1::2], strict=True)),
    ]
    assert set(codes(checked({"nodes": nodes, "edges": edges}))) == {"circle"}


def test_ten_thousand_nodes_of_one_id_are_told_in_time() -> None:
    assert codes(checked({"nodes": [echo("same")] * LARGE})) == ["duplicate_id"] * (LARGE - 1)


def test_texts_of_a_million_characters_are_checked() -> None:
    document: Plain = {
        "nodes": [
            echo("a", "x" * 1_000_000),
            echo("b", "${a.echo}" * 100_000),
            echo("c", "${a.echo}${" * 90_000),
            echo("d", "${" + "true ?? " * 120_000),
            {"id": "e", "type": "shell", "params": {"command": ("echo '${a.echo}' # it's".ljust(99) + "\n") * 10_000}},
            {"id": "f", "type": "x" * 1_000_000},
        ]
    }
    document["edges"] = row(document["nodes"])
    found = checked(document)
    assert {one.code for one in found.errors} == {"malformed_template", "unknown_type"}
    assert len(orjson.dumps([one.to_dict() for one in found.diagnostics])) < 20_000


NAMES = st.sampled_from(["a", "b", "fetch-data", "größe", "名前", "true-x", "item"])
TEXTS = st.one_of(
    st.text(max_size=10),
    st.tuples(NAMES, st.sampled_from(["", ".x", ".echo", "[0]"])).map(lambda one: f"${{{one[0]}{one[1]}}}"),
)


def node_of(name: str, kind: str, message: Any, batch: Plain) -> Plain:
    return {"id": name, "type": kind, "params": {"message": message}, **batch}


def edge_of(before: str, after: str, action: str) -> Plain:
    return {"from": before, "to": after, "action": action}


NODES = st.builds(
    node_of,
    NAMES,
    st.sampled_from([*INTERFACES, "gone", ""]),
    TEXTS | st.lists(TEXTS, max_size=2) | st.dictionaries(st.text(max_size=3), TEXTS, max_size=2),
    st.sampled_from([{}, {}, {"batch": {"items": "${a.x}"}}, {"batch": {"items": [1]}}]),
)
EDGES = st.builds(edge_of, NAMES, NAMES, NAMES)


@given(
    st.fixed_dictionaries(
        {"nodes": st.lists(NODES, min_size=1, max_size=6), "edges": st.lists(EDGES, max_size=8)},
        optional={
            "inputs": st.dictionaries(NAMES, st.just({}), max_size=3),
            "outputs": st.dictionaries(NAMES, TEXTS.map(lambda text: {"source": text}), max_size=2),
        },
    )
)
def test_whatever_is_checked_is_sound_or_told_why_not(document: Plain) -> None:
    found = checked(document)
    assert found.workflow is not None
    for one in found.diagnostics:
        assert orjson.loads(orjson.dumps(one.to_dict()))["code"] == one.code
        if one.path.startswith("nodes[") and one.node:
            index = int(one.path[6 : one.path.index("]")])
            assert document["nodes"][index]["id"] == one.node
    if not found.errors:
        assert len({node["id"] for node in document["nodes"]}) == len(document["nodes"])
