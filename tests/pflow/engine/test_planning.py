"""What a run would do: told without doing any of it, and then it does just that."""

from pathlib import Path
from typing import Any

import pytest

from pflow.errors import InvalidInputs, TemplateUnresolved
from tests.pflow.engine.flows import Home, chain, joined, node, until


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def planned(home: Home, ir: Any, inputs: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    return {step["node"]: step for step in home.service.plan(ir, inputs, name="flow")}


def test_nodes_are_told_in_order_with_what_is_known_and_what_they_wait_for(home: Home) -> None:
    ir = chain(node("a", value="${x}"), node("b", "effect", value="${a.value}"), node("c", value=1))
    plan = planned(home, ir, {"x": 7})
    assert list(plan) == ["a", "b", "c"]
    assert plan["a"]["params"]["value"] == 7
    assert (plan["b"]["params"]["value"], plan["b"]["waits_for"]) == ("${a.value}", ["a.value"])
    assert [step["effect"] for step in plan.values()] == ["pure", "effectful", "pure"]
    assert {step["will"] for step in plan.values()} == {"run"}
    assert not home.lines()
    assert not home.checkpoints.exists()


def test_a_plan_says_what_would_be_reused_and_the_run_reuses_just_that(home: Home) -> None:
    def ir(value: int) -> dict[str, Any]:
        return joined(
            [node("s"), node("a", value=value), node("b", v="${a.value}"), node("c", echo="${s.value}"), node("end")],
            *("s>a", "a>b", "s>c", "b>end", "c>end"),
        )

    home.tell("fail-end")
    given = home.run(ir(1)).hashes
    home.untell()
    plan = planned(home, ir(2))
    reused = {name for name, step in plan.items() if step["will"] == "reuse"}
    assert reused == {"s", "c"}
    assert plan["b"]["waits_for"] == ["a.value"]
    result = home.run(ir(2))
    assert set(result.progress.reused) == reused
    assert {name for name in given if result.hashes[name] == given[name]} == reused | {"end"}


def test_commands_that_ran_one_after_the_other_are_planned_to_be_reused_and_are(home: Home) -> None:
    def ir(word: str) -> dict[str, Any]:
        return chain(node("a", "shell", command=f"echo {word}"), node("b", "shell", command="pwd"), node("end"))

    home.tell("fail-end")
    home.run(ir("one"))
    for word, reused in (("one", ["a", "b"]), ("two", [])):
        plan = planned(home, ir(word))
        assert [name for name, step in plan.items() if step["will"] == "reuse"] == reused
        assert home.run(ir(word)).progress.reused == reused


def test_what_a_killed_run_left_is_in_the_plan(home: Home) -> None:
    home.tell("wait-b")
    running = home.process(chain(node("a"), node("b")))
    until(lambda: home.runs()["b"])
    running.kill()
    home.untell()
    assert planned(home, chain(node("a"), node("b")))["a"]["will"] == "reuse"


def test_a_default_does_not_stand_for_what_is_not_known_yet(home: Home) -> None:
    plan = planned(home, chain(node("a"), node("b", value='${a.value ?? "none"}')))
    assert plan["b"]["waits_for"] == ["a.value"]
    assert plan["b"]["params"]["value"] == '${a.value ?? "none"}'


def test_batches_and_workflows_within_are_told_as_they_are_written(home: Home) -> None:
    inner = chain(node("x"))
    each = node("b", value="${item}", batch={"items": "${a.echo}"})
    ir = chain(node("a"), each, node("w", "workflow", workflow_ir=inner))
    plan = planned(home, ir)
    assert (plan["b"]["params"], plan["b"]["waits_for"]) == ({"value": "${item}"}, ["a.echo"])
    assert plan["w"]["will"] == "run"


def test_a_plan_holds_no_secret(home: Home) -> None:
    plan = home.service.plan(chain(node("a", value="key ${api_key}")), {"api_key": "s3cr3t-value"}, name="flow")
    assert plan[0]["params"]["value"] == "key ***"


def test_a_plan_needs_the_inputs_that_the_run_needs(home: Home) -> None:
    ir = chain(node("a", value="${n}"), inputs={"n": {"type": "integer"}})
    with pytest.raises(TemplateUnresolved):
        planned(home, ir)
    with pytest.raises(InvalidInputs):
        planned(home, ir, {"n": "seven"})


def test_a_parameter_that_will_have_no_value_is_told(home: Home) -> None:
    plan = planned(home, chain(node("a", "read-file", file_path="${what}")), {"what": None})
    assert plan["a"]["will"] == "fail"
    assert "file_path" in plan["a"]["problem"]
