"""The walk: branches, joins, actions, failures and nested workflows."""

from typing import Any

import pytest

from pflow.errors import InvalidWorkflow
from tests.pflow.run_results import get_error, get_outputs
from tests.pflow.service.engine.counting_home import SOON_S, Home, build_graph, chain, node, until
from tests.requirements import requirement


def list_in_order(home: Home, event: str = "began") -> list[str]:
    return [line["node"] for line in home.lines(event)]


def test_branches_run_at_the_same_time_and_a_join_waits_for_all_of_them(home: Home) -> None:
    home.order("wait-b", "wait-c", "wait-d")
    ir = build_graph(
        [node("a"), node("b"), node("c"), node("d"), node("join", echo=["${b.value}", "${c.value}", "${d.value}"])],
        *("a>b", "a>c", "a>d", "b>join", "c>join", "d>join"),
    )
    running = home.process(ir)
    until(lambda: set(list_in_order(home)) == {"a", "b", "c", "d"})
    home.clear_orders("wait-c", "wait-b")
    until(lambda: {"b", "c"} <= set(list_in_order(home, "done")))
    assert "join" not in list_in_order(home)
    home.clear_orders("wait-d")
    assert len(running.reply()["outputs"]["join"]["echo"]) == 3
    assert list_in_order(home)[-1] == "join"
    assert home.runs() == dict.fromkeys(["a", "b", "c", "d", "join"], 1)


@pytest.mark.parametrize("action", ["yes", "no", "maybe"])
def test_the_action_selects_the_branch_and_the_others_are_skipped(home: Home, action: str) -> None:
    ir = build_graph(
        [node("a", action=action), node("y"), node("n"), node("n2"), node("join", echo="${y.value ?? n.value ?? 0}")],
        *("a>y:yes", "a>n:no", "n>n2", "y>join", "n2>join"),
    )
    result = home.run(ir)
    assert result.success
    ran = {"yes": {"a", "y", "join"}, "no": {"a", "n", "n2", "join"}, "maybe": {"a"}}[action]
    assert set(home.runs()) == ran
    assert set(result.progress.skipped) == {"y", "n", "n2", "join"} - ran
    assert result.progress.actions["a"] == action
    dead_ends = [
        report for report in result.warnings if "returned the action 'maybe', but has edges only for no, yes" in report
    ]
    assert len(dead_ends) == (1 if action == "maybe" else 0)


def test_a_join_runs_if_one_edge_is_taken_and_the_others_are_dead(home: Home) -> None:
    ir = build_graph(
        [node("a"), node("b", action="left"), node("c"), node("d"), node("join")],
        *("a>b", "a>c", "b>d:right", "d>join", "c>join"),
    )
    result = home.run(ir)
    assert set(home.runs()) == {"a", "b", "c", "join"}
    assert result.progress.skipped == ["d"]


def test_a_failing_node_follows_its_error_edge_and_the_run_succeeds_with_a_warning(home: Home) -> None:
    home.order("fail-a")
    ir = build_graph(
        [node("a", value="half"), node("next"), node("help", echo="${a.error}", was="${a.half}")],
        *("a>next", "a>help:error"),
        outputs={"told": {"source": "${help.echo}"}},
    )
    reply = home.run(ir).reply()
    assert reply["success"] is True
    assert reply["outputs"] == {"told": "ordered to fail: fail-a"}
    assert reply["warnings"] == ["'a' failed, and its error edge was followed: ordered to fail: fail-a"]
    assert reply["error"] is None
    assert list_in_order(home) == ["a", "help"]


def test_without_a_failure_the_error_edge_is_dead(home: Home) -> None:
    ir = build_graph([node("a"), node("next"), node("help", echo="${a.error}")], "a>next", "a>help:error")
    result = home.run(ir)
    assert list_in_order(home) == ["a", "next"]
    assert result.progress.skipped == ["help"]
    assert result.warnings == []


@requirement("PF-R10")
def test_after_a_failure_no_node_starts_and_running_nodes_finish(home: Home) -> None:
    home.order("fail-b", "wait-c")
    ir = build_graph([node("a"), node("b"), node("c", "effect"), node("d")], "a>b", "a>c", "c>d")
    running = home.process(ir)
    until(lambda: {"b", "c"} <= set(list_in_order(home)))
    home.clear_orders("wait-c")
    reply = running.reply()
    assert reply["error"]["node"] == "b"
    assert sorted(reply["checkpoint"]["completed_nodes"]) == ["a", "c"]
    assert "d" not in list_in_order(home)


def test_of_several_that_fail_the_first_is_reported(home: Home) -> None:
    home.order("fail-b", "fail-c", "wait-c")
    running = home.process(build_graph([node("a"), node("b"), node("c")], "a>b", "a>c"))
    until(lambda: {"b", "c"} <= set(list_in_order(home)))
    home.clear_orders("wait-c")
    assert running.reply()["error"]["node"] == "b"


def test_a_wide_fan_out_runs_whole(home: Home) -> None:
    names = [f"n{at}" for at in range(250)]
    ir = build_graph(
        [node("a"), *(node(name, "on-loop", value=name) for name in names), node("z", echo="${n249.value}")],
        *(f"a>{name}" for name in names),
        *(f"{name}>z" for name in names),
    )
    result = home.run(ir)
    assert result.success
    assert home.runs() == dict.fromkeys(["a", "z", *names], 1)


def test_edges_decide_the_order_and_not_the_file(home: Home) -> None:
    ir = build_graph(
        [node("c", value="${b.value}"), node("b", value="${a.value}"), node("a")], "a>b", "b>c", start_node="a"
    )
    assert home.run(ir).success
    assert list_in_order(home) == ["a", "b", "c"]


def test_without_declared_outputs_those_of_the_last_nodes_are_given(home: Home) -> None:
    ir = build_graph([node("a"), node("b", echo=1), node("c", echo=2)], "a>b", "a>c")
    assert {name: one["echo"] for name, one in get_outputs(home.run(ir)).items()} == {"b": 1, "c": 2}


def test_an_output_of_a_skipped_branch_has_no_value_and_gives_a_warning(home: Home) -> None:
    ir = build_graph(
        [node("a", action="x"), node("b")],
        "a>b:y",
        outputs={"there": {"source": "${a.value}"}, "not-there": {"source": "${b.value}"}},
    )
    result = home.run(ir)
    assert list(result.outputs) == ["there"]
    assert [
        report
        for report in result.warnings
        if "The output 'not-there' has no value: no input or node gave ${b.value}" in report
    ]


# Workflows within workflows.

INNER = chain(
    node("x", "effect", value="${who}"),
    node("y", value="${x.value}"),
    inputs={"who": {"type": "string"}},
    outputs={"said": {"source": "${y.value}"}},
)


def build_outer_workflow(**params: Any) -> dict[str, Any]:
    return chain(
        node("a", "effect"),
        node("sub", "workflow", inputs={"who": "${a.value}"}, **params),
        node("end", value="${sub.said}"),
    )


@pytest.mark.parametrize(
    "params", [{"workflow_name": "inner"}, {"workflow_ref": "inner"}, {"workflow_ir": INNER}], ids=str
)
def test_a_nested_workflow_runs_and_returns_its_outputs(home: Home, params: dict[str, Any]) -> None:
    home.draft("inner", INNER)
    result = home.run(build_outer_workflow(**params))
    assert result.success, result.error_body
    assert list_in_order(home) == ["a", "sub/x", "sub/y", "end"]
    assert result.progress.completed == ["a", "sub", "end"]


@requirement("PF-E10")
def test_a_nested_workflow_is_resumed_node_by_node(home: Home) -> None:
    home.order("fail-sub/y")
    first = home.run(build_outer_workflow(workflow_ir=INNER))
    assert first.error_body is not None
    assert get_error(first)["node"] == "sub"
    assert get_error(first)["nested_node"] == "sub/y"
    home.clear_orders()
    second = home.run(build_outer_workflow(workflow_ir=INNER))
    assert second.success
    assert second.progress.reused == ["a", "sub/x"]
    why = "it had not finished"
    assert second.progress.not_reused == {"sub/y": why, "sub": f"y: {why}", "end": why}
    assert home.runs() == {"a": 1, "sub/x": 1, "sub/y": 2, "end": 1}


def test_a_nested_workflow_of_which_all_had_finished_is_reused(home: Home) -> None:
    home.order("fail-end")
    home.run(build_outer_workflow(workflow_ir=INNER))
    home.clear_orders()
    second = home.run(build_outer_workflow(workflow_ir=INNER))
    assert second.progress.reused == ["a", "sub"]
    assert home.runs() == {"a": 1, "sub/x": 1, "sub/y": 1, "end": 2}


def test_a_nested_workflow_of_which_a_node_failed_is_not_reused_though_the_rest_was(home: Home) -> None:
    inner = build_graph([node("x", "effect"), node("help", echo=1), node("y")], "x>y", "y>help:error")
    ir = chain(node("sub", "workflow", workflow_ir=inner), node("end"))
    home.order("fail-sub/y", "fail-end")
    home.run(ir)
    home.clear_orders("fail-end")
    second = home.run(ir)
    assert second.success
    assert second.progress.reused == ["sub/x", "sub/help"]
    why = "it had not finished"
    assert second.progress.not_reused == {"sub/y": why, "sub": f"y: {why}", "end": why}
    assert home.runs()["sub/x"] == 1


def test_an_error_edge_leads_around_a_workflow_that_fails(home: Home) -> None:
    home.order("fail-sub/x")
    ir = build_outer_workflow(workflow_ir=INNER)
    ir["nodes"].append(node("help", echo="${sub.error}"))
    ir["edges"].append({"from": "sub", "to": "help", "action": "error"})
    result = home.run(ir)
    assert result.success
    assert get_outputs(result)["help"]["echo"] == "ordered to fail: fail-sub/x"


@requirement("PF-E4")
def test_a_nested_workflow_with_a_missing_input_names_the_input(home: Home) -> None:
    with pytest.raises(InvalidWorkflow, match="needs the input 'who'"):
        home.run(chain(node("sub", "workflow", workflow_ir=INNER)))
    home.draft("inner", INNER)
    result = home.run(chain(node("sub", "workflow", workflow_name="${name}")), {"name": "inner"})
    assert result.error_body is not None
    assert get_error(result)["type"] == "template_error"
    assert get_error(result)["missing_variables"] == ["who"]
    assert get_error(result)["nested_node"] == "sub/x"
    assert result.failed_node == "sub"


def test_items_of_a_batch_may_be_workflows_and_are_resumed_inside(home: Home) -> None:
    ir = chain(node("sub", "workflow", workflow_ir=INNER, inputs={"who": "${item}"}, batch={"items": ["p", "q"]}))
    home.order("fail-sub[1]/y")
    assert not home.run(ir).success
    home.clear_orders()
    second = home.run(ir)
    assert second.success
    assert [one["item"] for one in get_outputs(second)["sub"]["results"]] == ["p", "q"]
    assert home.runs() == {"sub[0]/x": 1, "sub[0]/y": 1, "sub[1]/x": 1, "sub[1]/y": 2}


def test_a_workflow_that_runs_itself_is_refused_before_anything_runs(home: Home) -> None:
    home.draft("flow", chain(node("a"), node("again", "workflow", workflow_name="flow")))
    with pytest.raises(InvalidWorkflow, match="in a cycle"):
        home.service.execute("flow")
    assert not home.lines()


def test_a_workflow_that_runs_itself_by_a_name_it_is_given_ends_ten_deep(home: Home) -> None:
    home.draft("flow", chain(node("a"), node("again", "workflow", workflow_name="${name}", inputs={"name": "flow"})))
    result = home.service.execute("flow", {"name": "flow"})
    assert result.error_body is not None
    assert "more than 10 deep" in result.error_body["message"]
    assert get_error(result)["nested_node"].count("again") == 11


@pytest.mark.parametrize("where", ["node", "workflow"])
def test_the_time_of_a_nested_workflow_is_limited_by_its_node_and_by_itself(home: Home, where: str) -> None:
    slow = chain(node("x", "on-loop", sleep=SOON_S * 3), **({"timeout": 0.05} if where == "workflow" else {}))
    limit = {"timeout": 0.05} if where == "node" else {}
    result = home.run(chain(node("sub", "workflow", workflow_ir=slow, **limit)))
    assert result.error_body is not None
    assert result.error_body["code"] == "node_timed_out"
    assert result.failed_node == "sub"


def test_a_nested_workflow_that_is_not_there_fails_at_its_node(home: Home) -> None:
    result = home.run(chain(node("sub", "workflow", workflow_name="${name}")), {"name": "nowhere"})
    assert result.failed_node == "sub"
    assert result.error_body is not None
    assert result.error_body["code"] == "workflow_not_found"


@pytest.mark.parametrize("inputs", [[1], "words", 7])
def test_inputs_of_a_nested_workflow_that_are_not_an_object_fail_with_an_explanation(home: Home, inputs: Any) -> None:
    result = home.run(chain(node("sub", "workflow", workflow_ir=INNER, inputs="${given}")), {"given": inputs})
    assert result.error_body is not None
    assert "`inputs` of 'sub' must be dict" in result.error_body["message"]


def test_inputs_of_a_nested_workflow_may_be_the_json_of_an_object(home: Home) -> None:
    ir = chain(node("sub", "workflow", workflow_ir=INNER, inputs="${given}"))
    assert home.run(ir, {"given": '{"who": "me"}'}).success


def test_a_workflow_name_that_is_not_text_fails(home: Home) -> None:
    result = home.run(chain(node("sub", "workflow", workflow_name="${name}")), {"name": ["a"]})
    assert result.failed_node == "sub"
    assert result.error_body is not None
    assert result.error_body["code"] == "name_refused"
