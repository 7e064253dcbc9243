"""The parser: accepted forms, and errors in others."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.ir.model import Edge, Workflow
from pflow.domain.ir.parser import index_nodes, normalize_document, parse_workflow, unwrap_document
from tests.pflow.domain.ir.workflows import Plain, chain, echo, find_only, list_codes, nest_value, parse_diagnostics
from tests.requirements import requirement

MOST_NODES = 20_000

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
KEYS = st.one_of(
    st.sampled_from(["id", "type", "params", "parameters", "batch", "retry", "timeout", "resume", "effect"]),
    st.sampled_from(["from", "to", "action", "items", "node", "source", "default", "required", "as", "wait"]),
    st.sampled_from(["nodes", "edges", "inputs", "outputs", "ir", "start_node", "ir_version"]),
)
WORKFLOW_LIKE = st.recursive(
    st.sampled_from([None, True, 0, -1, 1e400, "", "a", "b", "echo", "batch", "${a.b}", "${", "never", "0.1.0"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=30,
)


def parse_valid_workflow(document: Any) -> Workflow:
    workflow, found = parse_workflow(document)
    assert [one for one in found if one.severity == "error"] == []
    assert workflow is not None
    return workflow


GREETING: Plain = {
    "ir_version": "0.1.0",
    "inputs": {"who": {"type": "string", "default": "world"}},
    "nodes": [echo("hello", "Hello ${who}", purpose="to greet"), echo("again")],
    "edges": [{"from": "hello", "to": "again", "action": "default"}],
    "start_node": "hello",
    "outputs": {"greeting": {"source": "${hello.echo}"}},
    "timeout": 60,
}


def test_a_whole_workflow_is_read() -> None:
    workflow = parse_valid_workflow(GREETING)
    assert list(workflow.nodes) == ["hello", "again"]
    assert workflow.nodes["hello"].params == {"message": "Hello ${who}"}
    assert workflow.nodes["hello"].purpose == "to greet"
    assert workflow.edges == (Edge("hello", "again", "default"),)
    assert workflow.start == "hello"
    assert workflow.inputs["who"].default == "world"
    assert workflow.outputs["greeting"].source == "${hello.echo}"
    assert workflow.timeout == 60.0


@pytest.mark.parametrize(
    "wrapper",
    [
        {
            "name": "greet",
            "description": "Greets",
            "ir": GREETING,
            "created_at": "x",
            "updated_at": "y",
            "version": "1",
        },
        {"ir": GREETING},
        {"name": "greet", "ir": GREETING, "anything": {"else": 1}},
    ],
)
def test_raw_and_wrapped_workflows_are_parsed_the_same(wrapper: Plain) -> None:
    assert parse_workflow(wrapper) == parse_workflow(GREETING)
    assert unwrap_document(wrapper) == GREETING
    assert normalize_document(wrapper) == normalize_document(GREETING)


def test_problems_in_a_wrapped_workflow_have_the_same_path_as_in_a_raw_one() -> None:
    wrong = {**GREETING, "edges": [{"from": "hello", "to": "agian"}], "start_node": "helo"}
    assert parse_diagnostics({"name": "greet", "ir": wrong}) == parse_diagnostics(wrong)
    assert {one.path for one in parse_diagnostics(wrong)} == {"edges[0].to", "start_node"}


@given(JSON)
def test_normalising_twice_changes_nothing(value: Any) -> None:
    document = {
        "nodes": [{"id": "a", "parameters": value}, value],
        "edges": [{"source": value, "target": value}, value],
    }
    once = normalize_document(document)
    assert normalize_document(once) == once


def test_normalising_changes_nothing_that_it_is_given() -> None:
    document: Plain = {
        "nodes": [{"id": "a", "type": "echo", "parameters": {"x": 1}}],
        "edges": [{"source": "a", "target": "a"}],
    }
    before = orjson.dumps(document)
    normalize_document(document)
    parse_workflow(document)
    assert orjson.dumps(document) == before


def test_version_and_edges_may_be_left_out() -> None:
    assert normalize_document({"nodes": []})["ir_version"] == "0.1.0"
    assert parse_valid_workflow({"nodes": [echo("a")]}).edges == ()
    assert parse_valid_workflow({"nodes": [echo("a")], "edges": None}).edges == ()


def test_parameters_are_understood_as_params() -> None:
    assert parse_valid_workflow({"nodes": [{"id": "a", "type": "echo", "parameters": {"message": "x"}}]}).nodes[
        "a"
    ].params == {"message": "x"}


def test_source_and_target_are_understood_as_from_and_to() -> None:
    document = {"nodes": [echo("a"), echo("b")], "edges": [{"source": "a", "target": "b", "action": "error"}]}
    assert parse_valid_workflow(document).edges == (Edge("a", "b", "error"),)


@pytest.mark.parametrize("key", ["params", "parameters"])
def test_a_node_of_type_batch_becomes_its_inner_node_with_a_batch_setting(key: str) -> None:
    within = {"type": "echo", key: {"message": "${item}"}, "retry": {"attempts": 2}}
    batch = {"id": "all", "type": "batch", "purpose": "each", key: {"items": "${xs}", "parallel": True, "node": within}}
    node = parse_valid_workflow({"nodes": [batch]}).nodes["all"]
    assert (node.id, node.type, node.params, node.purpose) == ("all", "echo", {"message": "${item}"}, "each")
    assert node.batch is not None
    assert (node.batch.items, node.batch.parallel) == ("${xs}", True)
    assert node.retry is not None
    assert node.retry.attempts == 2


def test_unknown_keys_of_a_node_of_type_batch_are_reported() -> None:
    batch: Plain = {
        "id": "all",
        "type": "batch",
        "params": {"items": [1], "node": {"type": "echo", "parms": {}}, "paralel": True},
    }
    assert {one.path: one.nearest for one in parse_diagnostics({"nodes": [batch]})} == {
        "nodes[0].parms": "params",
        "nodes[0].batch.paralel": "parallel",
    }


def test_the_first_node_starts_unless_another_is_named() -> None:
    assert parse_valid_workflow(chain(echo("a"), echo("b"))).start == "a"
    assert parse_valid_workflow(chain(echo("a"), echo("b"), start_node="b")).start == "b"


@pytest.mark.parametrize("document", [None, [], "text", 5, True, [GREETING]])
def test_a_document_that_is_not_an_object_is_refused(document: Any) -> None:
    workflow, found = parse_workflow(document)
    assert workflow is None
    assert list_codes(found) == ["not_an_object"]
    assert found[0].example["nodes"]


@pytest.mark.parametrize("nodes", [None, [], {}, "a", 5])
def test_a_workflow_without_nodes_is_reported_with_an_example(nodes: Any) -> None:
    workflow, found = parse_workflow({"nodes": nodes})
    assert workflow is None
    assert (find_only(found, "no_nodes").path, find_only(found, "no_nodes").example[0]["type"]) == ("nodes", "echo")


def test_an_empty_object_is_reported_as_a_workflow_without_nodes() -> None:
    assert list_codes(parse_diagnostics({})) == ["no_nodes"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("output_key", None),
        ("input_params", None),
        ("input", "inputs"),
        ("node", "nodes"),
        ("startnode", "start_node"),
        ("egdes", "edges"),
    ],
)
def test_keys_that_agents_try_at_the_root_are_refused_with_those_there_are(key: str, meant: str | None) -> None:
    diagnostic = find_only(parse_diagnostics({**GREETING, key: "x"}), "unknown_key")
    assert (diagnostic.severity, diagnostic.path) == ("error", key)
    assert key in diagnostic.message
    assert {"nodes", "edges", "inputs", "outputs", "start_node"} <= set(diagnostic.available)
    assert meant is None or diagnostic.nearest == meant
    assert diagnostic.example["nodes"]


@pytest.mark.parametrize("key", ["name", "description", "version", "created_at", "updated_at", "metadata"])
def test_name_and_description_at_the_root_give_a_warning(key: str) -> None:
    diagnostic = find_only(parse_diagnostics({**GREETING, key: "x"}), "ignored_key")
    assert (diagnostic.severity, diagnostic.path) == ("warning", key)
    assert "saved" in diagnostic.message


def test_keys_that_have_no_effect_are_a_warning() -> None:
    found = parse_diagnostics(
        {**GREETING, "enable_namespacing": True, "mappings": {}, "template_resolution_mode": "strict"}
    )
    assert {(one.severity, one.code, one.path) for one in found} == {
        ("warning", "ignored_key", key) for key in ("enable_namespacing", "mappings", "template_resolution_mode")
    }


@pytest.mark.parametrize("version", ["1.0.0", "", None, 5, {}, "v0.1"])
def test_a_version_that_is_not_known_is_refused(version: Any) -> None:
    diagnostic = find_only(parse_diagnostics({**GREETING, "ir_version": version}), "unknown_version")
    assert (diagnostic.path, diagnostic.example) == ("ir_version", "0.1.0")


@pytest.mark.parametrize("name", ["", " ", "a b", "1a", "-a", "a.b", "a/b", "a$", "a\n", "x" * 101, None, 5, ["a"], {}])
def test_an_id_that_templates_cannot_name_is_refused(name: Any) -> None:
    diagnostic = find_only(parse_diagnostics({"nodes": [echo("ok"), {"id": name, "type": "echo"}]}), "bad_id")
    assert (diagnostic.path, diagnostic.example) == ("nodes[1].id", "fetch")


@pytest.mark.parametrize("name", ["a", "_", "fetch-data", "größe", "名前", "имя_2", "x" * 100])
def test_an_id_may_be_of_any_script(name: str) -> None:
    assert list(parse_valid_workflow({"nodes": [echo(name)]}).nodes) == [name]


@pytest.mark.parametrize("kind", [None, "", 5, ["echo"]])
def test_a_node_without_a_type_is_reported_and_still_exists_for_references(kind: Any) -> None:
    found = parse_diagnostics(chain(echo("a"), {"id": "b", "type": kind}, echo("c")))
    assert list_codes(found) == ["no_type"]
    assert (found[0].path, found[0].node) == ("nodes[1].type", "b")


@pytest.mark.parametrize("node", [None, "echo", 5, [], [echo("a")]])
def test_a_node_that_is_not_an_object_is_reported_with_an_example(node: Any) -> None:
    diagnostic = find_only(parse_diagnostics({"nodes": [echo("ok"), node]}), "not_a_node")
    assert diagnostic.path == "nodes[1]"
    assert set(diagnostic.example) == {"id", "type", "params"}


@pytest.mark.parametrize(
    ("key", "meant"),
    [("parms", "params"), ("Type", "type"), ("timeouts", "timeout"), ("command", None), ("depends_on", None)],
)
def test_a_key_that_no_node_has_is_refused_with_those_there_are(key: str, meant: str | None) -> None:
    diagnostic = find_only(parse_diagnostics({"nodes": [{**echo("a"), key: "x"}]}), "unknown_key")
    assert (diagnostic.path, diagnostic.nearest) == (f"nodes[0].{key}", meant)
    assert {"id", "type", "params", "batch", "retry", "timeout"} <= set(diagnostic.available)
    assert "params" in diagnostic.hint
    assert diagnostic.example["params"]


def test_params_win_over_parameters_which_are_reported() -> None:
    node = {"id": "a", "type": "echo", "params": {"message": "kept"}, "parameters": {"message": "other"}}
    workflow, found = parse_workflow({"nodes": [node]})
    assert workflow is not None
    assert workflow.nodes["a"].params == {"message": "kept"}
    assert find_only(found, "unknown_key").nearest == "params"


@pytest.mark.parametrize("params", [None, [], "x", 5])
def test_params_that_are_not_an_object_are_refused(params: Any) -> None:
    diagnostic = find_only(parse_diagnostics({"nodes": [{"id": "a", "type": "echo", "params": params}]}), "bad_params")
    assert (diagnostic.path, diagnostic.node) == ("nodes[0].params", "a")


def test_two_nodes_with_the_same_id_are_reported_with_both_indexes() -> None:
    workflow, found = parse_workflow({"nodes": [echo("a", 1), echo("b"), echo("a", 2), echo("a", 3)]})
    assert list_codes(found) == ["duplicate_id", "duplicate_id"]
    assert [one.path for one in found] == ["nodes[2].id", "nodes[3].id"]
    assert "nodes[0]" in found[0].message
    assert workflow is not None
    assert workflow.nodes["a"].params == {"message": 1}


def test_resume_and_effect_are_read() -> None:
    node = parse_valid_workflow(
        {"nodes": [echo("a", resume="never", effect="effectful", timeout=5, retry={"max": 4})]}
    ).nodes["a"]
    assert (node.reuse, node.effect, node.timeout) == (False, "effectful", 5.0)
    assert node.retry is not None
    assert node.retry.attempts == 4
    plain = parse_valid_workflow({"nodes": [echo("a")]}).nodes["a"]
    assert (plain.reuse, plain.effect, plain.timeout, plain.retry, plain.batch) == (True, None, None, None, None)


@pytest.mark.parametrize(("key", "code"), [("resume", "bad_resume"), ("effect", "bad_effect")])
@pytest.mark.parametrize("value", ["sometimes", 5, [], {}])
def test_invalid_resume_and_effect_are_reported_with_the_allowed_values(key: str, code: str, value: Any) -> None:
    diagnostic = find_only(parse_diagnostics({"nodes": [echo("a", **{key: value})]}), code)
    assert diagnostic.path == f"nodes[0].{key}"
    assert len(diagnostic.available) >= 2
    assert diagnostic.example in diagnostic.available


@pytest.mark.parametrize(
    ("edge", "path", "meant"),
    [
        ({"from": "fetch_data", "to": "save"}, "edges[0].from", "fetch-data"),
        ({"from": "fetch-data", "to": "sav"}, "edges[0].to", "save"),
        ({"from": "fetch-data", "to": "Save"}, "edges[0].to", "save"),
        ({"from": "fetch-data"}, "edges[0].to", None),
        ({"to": "save"}, "edges[0].from", None),
        ({"from": 5, "to": "save"}, "edges[0].from", None),
        ({"from": None, "to": "save"}, "edges[0].from", None),
    ],
)
def test_an_edge_to_an_unknown_node_is_reported_with_the_known_ones(edge: Plain, path: str, meant: str | None) -> None:
    diagnostic = find_only(
        parse_diagnostics({"nodes": [echo("fetch-data"), echo("save")], "edges": [edge]}), "unknown_node"
    )
    assert (diagnostic.path, diagnostic.nearest, diagnostic.example) == (path, meant, meant)
    assert diagnostic.available == ("fetch-data", "save")


def test_both_ends_of_an_edge_are_checked_at_once() -> None:
    found = parse_diagnostics({"nodes": [echo("a")], "edges": [{"from": "x", "to": "y"}]})
    assert [one.path for one in found] == ["edges[0].from", "edges[0].to"]


@pytest.mark.parametrize("edge", [None, "a -> b", ["a", "b"], {"from": "a", "to": "b", "when": "x"}])
def test_an_edge_of_the_wrong_form_is_reported_with_an_example(edge: Any) -> None:
    diagnostic = find_only(parse_diagnostics({"nodes": [echo("a"), echo("b")], "edges": [edge]}), "bad_edge")
    assert diagnostic.path == "edges[0]"
    assert set(diagnostic.example) == {"from", "to", "action"}
    assert diagnostic.available == ("from", "to", "action")


@pytest.mark.parametrize("edges", [{}, "a->b", 5, True])
def test_edges_that_are_not_a_list_are_refused(edges: Any) -> None:
    assert find_only(parse_diagnostics({"nodes": [echo("a")], "edges": edges}), "bad_edges").example == [
        {"from": "a", "to": "b"}
    ]


@pytest.mark.parametrize("action", ["", None, 5, []])
def test_an_action_that_is_not_text_is_refused(action: Any) -> None:
    edge = {"from": "a", "to": "b", "action": action}
    assert (
        find_only(parse_diagnostics({"nodes": [echo("a"), echo("b")], "edges": [edge]}), "bad_action").path
        == "edges[0].action"
    )


def test_the_same_edge_twice_counts_once_and_is_a_warning() -> None:
    edge = {"from": "a", "to": "b"}
    workflow, found = parse_workflow(
        {"nodes": [echo("a"), echo("b")], "edges": [edge, edge, {**edge, "action": "default"}]}
    )
    assert [(one.severity, one.code, one.path) for one in found] == [
        ("warning", "duplicate_edge", "edges[1]"),
        ("warning", "duplicate_edge", "edges[2]"),
    ]
    assert workflow is not None
    assert len(workflow.edges) == 1


@pytest.mark.parametrize(("start", "meant"), [("fetch_data", "fetch-data"), ("zzz", None), (5, None), ([], None)])
def test_an_unknown_start_node_is_reported_with_the_known_ones(start: Any, meant: str | None) -> None:
    diagnostic = find_only(
        parse_diagnostics({"nodes": [echo("first"), echo("fetch-data")], "start_node": start}), "unknown_node"
    )
    assert (diagnostic.path, diagnostic.nearest, diagnostic.example) == ("start_node", meant, meant or "first")
    assert diagnostic.available == ("first", "fetch-data")


def test_an_input_and_a_node_of_one_name_are_refused() -> None:
    document: Plain = {"inputs": {"b": {}, "a": {}}, "nodes": [echo("a"), echo("b")]}
    assert [(one.code, one.path) for one in parse_diagnostics(document)] == [
        ("name_taken_twice", "inputs.b"),
        ("name_taken_twice", "inputs.a"),
    ]


def test_the_index_of_a_node_is_that_in_the_file() -> None:
    document: Plain = {"nodes": [None, {"id": "1"}, echo("a"), echo("a"), {"id": "b"}, echo("c")]}
    places = index_nodes(document)
    assert (places["a"], places["b"], places["c"]) == (2, 4, 5)


@requirement("PF-E8")
def test_many_problems_are_reported_at_once() -> None:
    found = parse_diagnostics(
        {
            "metdata": {},
            "ir_version": "9",
            "inputs": {"1st": {}, "ok": {"type": "strng"}},
            "outputs": {"a": "${x.y}", "b": {"value": "${x.y}"}},
            "nodes": [{"id": "x"}, {"type": "echo"}, echo("y", batch=5), echo("y")],
            "edges": [{"from": "x", "to": "z"}, "x->y"],
            "start_node": "zz",
            "timeout": -1,
        }
    )
    assert {(one.code, one.path) for one in found if one.severity == "error"} == {
        ("unknown_key", "metdata"),
        ("unknown_version", "ir_version"),
        ("bad_name", "inputs.1st"),
        ("bad_type", "inputs.ok.type"),
        ("bad_declaration", "outputs.a"),
        ("no_source", "outputs.b.value"),
        ("no_type", "nodes[0].type"),
        ("bad_id", "nodes[1].id"),
        ("bad_batch", "nodes[2].batch"),
        ("duplicate_id", "nodes[3].id"),
        ("unknown_node", "edges[0].to"),
        ("bad_edge", "edges[1]"),
        ("unknown_node", "start_node"),
        ("bad_number", "timeout"),
    }


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"nodes": [echo("a", nest_value(1000))]}, "nodes[0].params"),
        ({"nodes": [echo("a", purpose=nest_value(1000))]}, "nodes[0].purpose"),
        ({"nodes": [echo("a", batch={"items": nest_value(1000)})]}, "nodes[0].batch"),
        ({"nodes": [echo("a")], "edges": nest_value(1000)}, "edges"),
        ({"nodes": [echo("a")], "ir_version": nest_value(1000)}, "ir_version"),
        ({"nodes": [echo("a")], "start_node": nest_value(1000)}, "start_node"),
        ({"nodes": [echo("a")], "inputs": {"x": {"type": "string", "default": nest_value(1000)}}}, "inputs"),
        ({"nodes": [echo("a")], "outputs": {"x": {"value": nest_value(1000)}}}, "outputs"),
    ],
)
def test_a_value_that_is_nested_too_deep_is_reported_anywhere(document: Plain, path: str) -> None:
    diagnostic = find_only(parse_diagnostics(document), "too_deep")
    assert (diagnostic.severity, diagnostic.path) == ("error", path)


def test_a_deeply_nested_value_within_the_limit_is_read() -> None:
    assert list_codes(parse_diagnostics({"nodes": [echo("a", nest_value(90))]})) == []


def test_more_nodes_than_can_be_run_are_refused() -> None:
    nodes = [echo(f"n{number}") for number in range(MOST_NODES + 1)]
    assert parse_workflow({"nodes": nodes[1:]})[0] is not None
    workflow, found = parse_workflow({"nodes": nodes})
    assert workflow is None
    assert "batch" in find_only(found, "too_many_nodes").hint


def test_long_texts_are_shortened_in_messages() -> None:
    long = "x" * 1_000_000
    document: Plain = {
        long: 1,
        "ir_version": long,
        "inputs": {long: {}, "i": {"type": long, long: 1}},
        "outputs": {"o": {"source": "${a.b}", long: 1}},
        "nodes": [{"id": long, "type": "echo", long: 1}, echo("a", batch={"items": [1], long: 1}, retry={long: 1})],
        "edges": [{"from": long, "to": long}],
        "start_node": long,
    }
    found = parse_diagnostics(document)
    assert len(found) >= 10
    assert all(len(one.message) < 300 and len(one.path) < 200 for one in found)


@given(st.dictionaries(KEYS, WORKFLOW_LIKE, max_size=8))
def test_any_document_gives_a_consistent_workflow_or_diagnostics(document: Plain) -> None:
    workflow, found = parse_workflow(document)
    assert all(one.severity in ("error", "warning") and one.code and one.message for one in found)
    if workflow is not None:
        assert workflow.start in workflow.nodes
        assert {end for edge in workflow.edges for end in (edge.source, edge.target)} <= set(workflow.nodes)
        assert set(workflow.nodes) <= set(index_nodes(document))


@given(JSON)
def test_any_json_at_all_is_read_or_refused(document: Any) -> None:
    workflow, found = parse_workflow(document)
    assert workflow is not None or any(one.severity == "error" for one in found)
