"""The dry run: its plan, and that a run does what the plan says."""

import os
from typing import Any

import pytest

from pflow.errors import InvalidInputs, TemplateUnresolved
from tests.pflow.service.engine.counting_home import Home, build_graph, chain, node, until


def plan_by_node(home: Home, ir: Any, inputs: dict[str, Any] | None = None) -> dict[str, Any]:
    return {step["node"]: step for step in home.service.plan_run(ir, inputs, name="flow")}


def test_nodes_are_reported_in_order_with_known_parameters_and_the_values_they_wait_for(home: Home) -> None:
    ir = chain(node("a", value="${x}"), node("b", "effect", value="${a.value}"), node("c", value=1))
    plan = plan_by_node(home, ir, {"x": 7})
    assert list(plan) == ["a", "b", "c"]
    assert plan["a"]["params"]["value"] == 7
    assert (plan["b"]["params"]["value"], plan["b"]["waits_for"]) == ("${a.value}", ["a.value"])
    assert [step["effect"] for step in plan.values()] == ["pure", "effectful", "pure"]
    assert {step["will"] for step in plan.values()} == {"run"}
    assert not home.lines()
    assert not home.checkpoints.exists()


def test_a_plan_lists_the_results_that_the_run_then_reuses(home: Home) -> None:
    def ir(value: int) -> dict[str, Any]:
        return build_graph(
            [node("s"), node("a", value=value), node("b", v="${a.value}"), node("c", echo="${s.value}"), node("end")],
            *("s>a", "a>b", "s>c", "b>end", "c>end"),
        )

    home.order("fail-end")
    given = home.run(ir(1)).hashes
    home.clear_orders()
    plan = plan_by_node(home, ir(2))
    reused = {name for name, step in plan.items() if step["will"] == "reuse"}
    assert reused == {"s", "c"}
    assert plan["b"]["waits_for"] == ["a.value"]
    result = home.run(ir(2))
    assert set(result.progress.reused) == reused
    assert {name for name in given if result.hashes[name] == given[name]} == reused | {"end"}


def test_commands_that_ran_one_after_the_other_are_planned_to_be_reused_and_are(home: Home) -> None:
    def ir(word: str) -> dict[str, Any]:
        return chain(node("a", "shell", command=f"echo {word}"), node("b", "shell", command="pwd"), node("end"))

    home.order("fail-end")
    home.run(ir("one"))
    for word, reused in (("one", ["a", "b"]), ("two", [])):
        plan = plan_by_node(home, ir(word))
        assert [name for name, step in plan.items() if step["will"] == "reuse"] == reused
        assert home.run(ir(word)).progress.reused == reused


def test_results_of_a_killed_run_are_in_the_plan(home: Home) -> None:
    home.order("wait-b")
    running = home.process(chain(node("a"), node("b")))
    until(lambda: home.runs()["b"])
    running.kill()
    home.clear_orders()
    assert plan_by_node(home, chain(node("a"), node("b")))["a"]["will"] == "reuse"


def test_a_default_does_not_replace_a_value_that_is_not_known_yet(home: Home) -> None:
    plan = plan_by_node(home, chain(node("a"), node("b", value='${a.value ?? "none"}')))
    assert plan["b"]["waits_for"] == ["a.value"]
    assert plan["b"]["params"]["value"] == '${a.value ?? "none"}'


def test_batches_that_wait_are_reported_with_their_templates(home: Home) -> None:
    plan = plan_by_node(home, chain(node("a"), node("b", value="${item}", batch={"items": "${a.echo}"})))
    assert (plan["b"]["params"], plan["b"]["waits_for"]) == ({"value": "${item}"}, ["a.echo"])
    assert "items" not in plan["b"]


def batch(items: list[int]) -> dict[str, Any]:
    each = node("b", "effect", value="${item}", batch={"items": items})
    return chain(node("a"), each, node("c", value="${b.results}"), node("end"))


def test_of_a_batch_it_is_reported_how_many_items_would_be_reused_wherever_they_have_moved(home: Home) -> None:
    home.order("fail-end")
    home.run(batch([1, 2, 3]))
    home.clear_orders()
    plan = plan_by_node(home, batch([1, 2, 3]))
    assert [plan[name]["will"] for name in ("a", "b", "c", "end")] == ["reuse", "reuse", "reuse", "run"]
    assert (plan["b"]["items"], plan["b"]["items_reused"]) == (3, 3)
    plan = plan_by_node(home, batch([4, 3, 1]))
    assert (plan["b"]["will"], plan["b"]["items"], plan["b"]["items_reused"]) == ("run", 3, 2)
    assert plan["c"]["waits_for"] == ["b.results"]
    before = home.runs()
    home.run(batch([4, 3, 1]))
    assert dict(home.runs() - before) == {"b[0]": 1, "c": 1, "end": 1}


def test_an_empty_batch_runs_and_its_outputs_are_known(home: Home) -> None:
    plan = plan_by_node(
        home, {**batch([]), "start_node": "b", "nodes": batch([])["nodes"][1:], "edges": batch([])["edges"][1:]}
    )
    assert (plan["b"]["will"], plan["b"]["items"]) == ("run", 0)
    assert plan["c"]["params"]["value"] == []


@pytest.mark.parametrize(("handling", "will"), [("fail_fast", "fail"), ("continue", "run")])
def test_an_item_that_is_sure_to_fail_is_reported(home: Home, handling: str, will: str) -> None:
    items = [{"path": "/x"}, {"path": None}]
    each = node("b", "read-file", file_path="${item.path}", batch={"items": items, "error_handling": handling})
    plan = plan_by_node(home, chain(each))
    assert plan["b"]["will"] == will
    assert plan["b"]["problem"].startswith("items[1]: ")


def nested_workflow(value: int, outer: int = 0) -> dict[str, Any]:
    inner = chain(
        node("x", "effect", value="${given}"),
        node("y", value="${x.value}"),
        inputs={"given": {}},
        outputs={"value": {"source": "${y.value}"}},
    )
    return chain(
        node("w", "workflow", workflow_ir=inner, inputs={"given": value}),
        node("c", value="${w.value}", outer=outer),
        node("end"),
    )


def test_the_nodes_of_a_nested_workflow_are_reported_one_by_one(home: Home) -> None:
    plan = plan_by_node(home, nested_workflow(1))
    assert list(plan) == ["w", "w/x", "w/y", "c", "end"]
    assert plan["w/x"]["params"]["value"] == 1
    assert (plan["w/x"]["effect"], plan["w/y"]["waits_for"], plan["c"]["waits_for"]) == (
        "effectful",
        ["x.value"],
        ["w.value"],
    )
    home.order("fail-end")
    home.run(nested_workflow(1))
    home.clear_orders()
    plan = plan_by_node(home, nested_workflow(1, outer=2))
    assert [step["will"] for step in plan.values()] == ["reuse", "reuse", "reuse", "run", "run"]
    assert plan["c"]["waits_for"] == []
    plan = plan_by_node(home, nested_workflow(2))
    assert {step["will"] for name, step in plan.items() if name != "end"} == {"run"}


def test_a_nested_workflow_that_cannot_be_had_is_reported(home: Home) -> None:
    name = node("w", "workflow", workflow_name="${x}")
    plan = plan_by_node(home, chain(name), {"x": "nobody"})
    assert plan["w"]["will"] == "fail"
    assert "nobody" in plan["w"]["problem"]


def test_workflows_that_run_each_other_for_ever_are_reported_to_fail(home: Home) -> None:
    home.draft("round", chain(node("w", "workflow", workflow_name="${next}", inputs={"next": "round"})))
    plan = plan_by_node(
        home, chain(node("w", "workflow", workflow_name="${x}", inputs={"next": "round"})), {"x": "round"}
    )
    assert [step["will"] for step in plan.values()][-1] == "fail"
    assert "deep" in list(plan.values())[-1]["problem"]


def test_branches_that_are_not_taken_are_reported(home: Home) -> None:
    def ir(action: str) -> dict[str, Any]:
        nodes = [node("a", action=action), node("b"), node("b2", v="${b.value}"), node("c"), node("end")]
        return build_graph(nodes, "a>b:left", "b>b2", "a>c:right", "b2>end", "c>end")

    home.order("fail-end")
    home.run(ir("right"))
    home.clear_orders()
    plan = plan_by_node(home, ir("right"))
    assert {name: step["will"] for name, step in plan.items()} == {
        "a": "reuse",
        "b": "skip",
        "b2": "skip",
        "c": "reuse",
        "end": "run",
    }
    assert "skip" not in {step["will"] for step in plan_by_node(home, ir("left")).values()}


def test_a_node_with_effects_that_got_another_name_is_reported_to_be_reused_and_is(home: Home) -> None:
    home.order("fail-end")
    home.run(chain(node("a", "effect", value=1), node("end")))
    home.clear_orders()
    ir = chain(node("b", "effect", value=1), node("end"))
    assert plan_by_node(home, ir)["b"]["will"] == "reuse"
    assert home.run(ir).progress.reused == ["b"]


def test_a_plan_contains_no_secret(home: Home) -> None:
    plan = home.service.plan_run(chain(node("a", value="key ${api_key}")), {"api_key": "s3cr3t-value"}, name="flow")
    assert plan[0]["params"]["value"] == "key ***"


def test_a_plan_needs_the_inputs_that_the_run_needs(home: Home) -> None:
    ir = chain(node("a", value="${n}"), inputs={"n": {"type": "integer"}})
    with pytest.raises(TemplateUnresolved):
        plan_by_node(home, ir)
    with pytest.raises(InvalidInputs):
        plan_by_node(home, ir, {"n": "seven"})


def test_a_parameter_that_will_have_no_value_is_reported(home: Home) -> None:
    plan = plan_by_node(home, chain(node("a", "read-file", file_path="${what}")), {"what": None})
    assert plan["a"]["will"] == "fail"
    assert "file_path" in plan["a"]["problem"]


def will_by_node(plan: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: step["will"] for name, step in plan.items()}


def test_nodes_behind_a_branch_name_the_nodes_that_decide_and_an_approval_asks(home: Home) -> None:
    nodes = [
        node("first", "echo", message="Hello"),
        node("ask", "approval", question="Publish?", on_reject="branch"),
        node("publish", "effect"),
        node("discard", "effect"),
    ]
    plan = plan_by_node(home, build_graph(nodes, "first>ask", "ask>publish", "ask>discard:rejected"))
    assert {name: (step["will"], step["decided_by"]) for name, step in plan.items()} == {
        "first": ("run", []),
        "ask": ("ask", []),
        "publish": ("run", ["ask"]),
        "discard": ("run", ["ask"]),
    }


def test_nested_nodes_name_the_nodes_that_decide_about_the_outer_node(home: Home) -> None:
    inner = build_graph([node("x"), node("y"), node("z")], "x>y:left", "x>z:right")
    nodes = [node("a"), node("w", "workflow", workflow_ir=inner), node("c")]
    plan = plan_by_node(home, build_graph(nodes, "a>w:left", "a>c:right"))
    decided_by = {name: step["decided_by"] for name, step in plan.items()}
    assert decided_by == {"a": [], "w": ["a"], "w/x": ["a"], "w/y": ["a", "w/x"], "w/z": ["a", "w/x"], "c": ["a"]}


def test_outputs_of_a_node_that_may_not_be_reached_are_not_known(home: Home) -> None:
    def ir(action: str) -> dict[str, Any]:
        nodes = [node("a", "volatile", action=action), node("b"), node("c", "effect", x='${b.value ?? "none"}')]
        return build_graph([*nodes, node("end")], "a>b:left", "a>c:right", "b>c", "c>end")

    home.order("fail-end")
    home.run(ir("left"))
    home.clear_orders()
    plan = plan_by_node(home, ir("right"))
    assert (plan["b"]["will"], plan["b"]["waits_for"]) == ("reuse", ["a"])
    assert (plan["c"]["will"], plan["c"]["waits_for"]) == ("run", ["b.value", "a"])
    assert home.run(ir("right")).progress.skipped == ["b"]


def test_a_node_that_may_not_be_reached_claims_no_result(home: Home) -> None:
    home.order("fail-end")
    first = [node("a", "volatile", action="left"), node("gone", "effect", v=1), node("end")]
    home.run(build_graph(first, "a>gone:left", "gone>end"))
    home.clear_orders()
    nodes = [node("a", "volatile", action="right"), node("b", "effect", v=1), node("c", "effect", v=1), node("end")]
    ir = build_graph(nodes, "a>b:left", "a>c:right", "b>end", "c>end")
    plan = plan_by_node(home, ir)
    assert (plan["b"]["will"], plan["c"]["will"]) == ("reuse", "reuse")
    assert home.run(ir).progress.reused == ["c"]


def test_the_first_choice_that_is_known_needs_no_other(home: Home) -> None:
    nodes = [node("k"), node("v", "volatile"), node("c", x="${k.value ?? v.value}"), node("end")]
    ir = build_graph(nodes, "k>v", "v>c", "c>end")
    home.order("fail-end")
    home.run(ir)
    home.clear_orders()
    assert plan_by_node(home, ir)["c"]["will"] == "reuse"


def test_an_item_is_not_mistaken_for_a_node_of_the_same_name(home: Home) -> None:
    ir = chain(node("item", "volatile"), node("b", x="${item}", batch={"items": [1, 2]}), node("end"))
    home.order("fail-end")
    home.run(ir)
    home.clear_orders()
    assert (plan_by_node(home, ir)["b"]["will"], plan_by_node(home, ir)["b"]["items_reused"]) == ("reuse", 2)


def test_templates_that_cannot_be_resolved_fail_and_the_nodes_after_them_are_skipped(home: Home) -> None:
    ir = chain(node("a", echo={"x": 1}), node("b", "effect", x="${a.echo.nope}"), node("end"))
    home.run(ir)
    plan = plan_by_node(home, ir)
    assert will_by_node(plan) == {"a": "reuse", "b": "fail", "end": "skip"}
    assert "a.echo.nope" in plan["b"]["problem"]
    assert home.run(ir).progress.completed == ["a"]


def test_after_a_sure_failure_its_error_edge_is_followed(home: Home) -> None:
    nodes = [node("a", "read-file", file_path="${what}"), node("b"), node("c", x="${a.error}"), node("end")]
    ir = build_graph(nodes, "a>b", "a>c:error", "b>end", "c>end")
    plan = plan_by_node(home, ir, {"what": None})
    assert will_by_node(plan) == {"a": "fail", "b": "skip", "c": "run", "end": "run"}
    assert "has no value" in plan["c"]["params"]["x"]
    result = home.run(ir, {"what": None})
    assert (result.progress.completed, result.progress.skipped) == (["c", "end"], ["b"])


def test_a_sure_nested_failure_is_one_of_the_node_that_runs_it_and_of_its_batch(home: Home) -> None:
    inner = chain(
        node("r", "read-file", file_path="${what}"),
        node("s", "effect"),
        inputs={"what": {"type": "any", "required": False}},
    )
    plan = plan_by_node(home, chain(node("w", "workflow", workflow_ir=inner, inputs={}), node("after", "effect")))
    assert will_by_node(plan) == {"w": "fail", "w/r": "fail", "w/s": "skip", "after": "skip"}
    each = node("w", "workflow", workflow_ir=inner, inputs={"what": "${item}"}, batch={"items": ["/x", None]})
    plan = plan_by_node(home, chain(each))
    assert will_by_node(plan) == {"w": "fail", "w[0]/r": "run", "w[0]/s": "run", "w[1]/r": "fail", "w[1]/s": "skip"}
    assert plan["w"]["problem"].startswith("items[1]: The parameter `file_path`")


def test_workflows_that_run_each_other_many_times_over_are_reported_at_once(home: Home) -> None:
    each = node(
        "w",
        "workflow",
        workflow_name="${next}",
        inputs={"next": "round"},
        batch={"items": [1, 2, 3, 4], "error_handling": "continue"},
    )
    home.draft("round", chain(each, inputs={"next": {"type": "string"}}))
    plan = home.service.plan_run(chain(each), {"next": "round"}, name="flow")
    assert len(plan) < 30_000


def test_pure_nested_workflows_leave_the_effects_digest_unchanged(home: Home) -> None:
    inner = chain(node("p", "volatile"), outputs={"value": {"source": "${p.value}"}})
    ir = chain(node("w", "workflow", workflow_ir=inner), node("look", "looker"), node("end"))
    home.order("fail-end")
    home.run(ir)
    home.clear_orders()
    assert will_by_node(plan_by_node(home, ir)) == {"w": "run", "w/p": "run", "look": "reuse", "end": "run"}
    assert home.run(ir).progress.reused == ["look"]


def test_a_rerun_because_of_a_secret_leaves_the_effects_digest_unchanged(home: Home) -> None:
    ir = chain(node("a", "effect", echo="${api_key}"), node("look", "looker"), node("end"))
    home.order("fail-end")
    home.run(ir, {"api_key": "s3cr3t-value"})
    home.clear_orders()
    assert will_by_node(plan_by_node(home, ir, {"api_key": "s3cr3t-value"})) == {
        "a": "run",
        "look": "reuse",
        "end": "run",
    }
    assert home.run(ir, {"api_key": "s3cr3t-value"}).progress.reused == ["look"]


def test_a_value_used_as_a_password_later_is_a_secret_from_the_start(home: Home) -> None:
    ir = chain(node("z", text="hello ${tok}"), node("v", "volatile"), node("c", password="${tok}", y="${v.value}"))
    plan = home.service.plan_run(ir, {"tok": "hunter2-hunter2"}, name="flow")
    assert plan[0]["params"]["text"] == "hello ***"
    assert "hunter2" not in str(plan)


def test_expired_results_of_a_killed_run_are_not_in_the_plan(home: Home) -> None:
    home.order("wait-b")
    running = home.process(chain(node("a"), node("b")))
    until(lambda: home.runs()["b"])
    running.kill()
    home.clear_orders()
    (journal,) = home.checkpoints.glob("*.journal")
    os.utime(journal, (0, 0))
    assert will_by_node(plan_by_node(home, chain(node("a"), node("b")))) == {"a": "run", "b": "run"}


def test_a_nested_workflow_is_reused_only_if_all_nested_deeper_is(home: Home) -> None:
    innermost = chain(node("p"), node("q", "effect", resume="never"), outputs={"value": {"source": "${q.value}"}})
    inner = chain(node("w", "workflow", workflow_ir=innermost), outputs={"value": {"source": "${w.value}"}})
    ir = chain(node("o", "workflow", workflow_ir=inner), node("end"))
    home.order("fail-end")
    home.run(ir)
    home.clear_orders()
    assert will_by_node(plan_by_node(home, ir)) == {
        "o": "run",
        "o/w": "run",
        "o/w/p": "reuse",
        "o/w/q": "run",
        "end": "run",
    }
    result = home.run(ir)
    assert "o" not in result.progress.reused
    assert "o" in result.progress.not_reused
