"""Batches: sequential and parallel items, failures, and resuming."""

from typing import Any

import pytest

from pflow.domain.ir.model import BatchSettings, Node
from pflow.domain.template_resolution import Scope
from pflow.service.engine.batches import resolve_batch_items
from tests.pflow.run_results import get_error, get_outputs
from tests.pflow.service.engine.counting_home import SOON_S, Home, chain, node, until
from tests.requirements import requirement

MOST_ITEMS = 100_000


def batch(items: Any, kind: str = "pure", /, **keys: Any) -> dict[str, Any]:
    return chain(node("b", kind, echo="${item}", batch={"items": items, **keys}))


def run_and_get_outputs(home: Home, ir: Any, inputs: dict[str, Any] | None = None) -> dict[str, Any]:
    result = home.run(ir, inputs)
    assert result.success, result.error_body
    return get_outputs(result)["b"]


@pytest.mark.parametrize("parallel", [False, True])
def test_results_are_in_the_order_of_the_items_each_with_its_item(home: Home, parallel: bool) -> None:
    outputs = run_and_get_outputs(home, batch(["x", {"y": 1}, None], parallel=parallel))
    assert [one["item"] for one in outputs["results"]] == ["x", {"y": 1}, None]
    assert [one["echo"] for one in outputs["results"]] == ["x", {"y": 1}, None]
    assert (outputs["count"], outputs["success_count"], outputs["error_count"]) == (3, 3, 0)
    assert outputs["errors"] is None
    assert outputs["batch_metadata"]["execution_mode"] == ("parallel" if parallel else "sequential")


def test_items_have_a_name_and_an_index(home: Home) -> None:
    ir = chain(node("b", echo="${paper.id}-${__index__}", batch={"items": [{"id": 7}, {"id": 8}], "as": "paper"}))
    assert [one["echo"] for one in run_and_get_outputs(home, ir)["results"]] == ["7-0", "8-1"]


def test_the_name_of_an_item_comes_before_others_of_the_same_name_and_is_gone_after(home: Home) -> None:
    ir = chain(node("b", echo="${item}", batch={"items": [1]}), node("after", echo="${item}"))
    ir["outputs"] = {"b": {"source": "${b.results[0].echo}"}, "after": {"source": "${after.echo}"}}
    assert home.run(ir, {"item": "outer"}).outputs == {"b": 1, "after": "outer"}


@pytest.mark.parametrize("items", ["[1, 2]", [1, 2]])
def test_items_may_come_from_a_value_or_from_the_json_of_one(home: Home, items: Any) -> None:
    assert run_and_get_outputs(home, batch("${list}"), {"list": items})["count"] == 2


def test_an_empty_list_is_not_a_failure(home: Home) -> None:
    outputs = run_and_get_outputs(home, batch([]))
    assert outputs["results"] == []
    assert outputs["count"] == 0


@pytest.mark.parametrize(
    ("items", "expected"), [({"a": 1}, "must be a list, got dict"), ("words", "must be a list, got str")]
)
def test_items_that_are_not_a_list_fail_with_an_explanation(home: Home, items: Any, expected: str) -> None:
    result = home.run(batch("${list}"), {"list": items})
    assert result.error_body is not None
    assert expected in result.error_body["message"]


def test_a_list_that_is_not_there_is_a_template_error(home: Home) -> None:
    result = home.run(batch("${list}"))
    assert result.error_body is not None
    assert get_error(result)["type"] == "template_error"
    assert get_error(result)["node"] == "b"


def test_as_many_items_as_are_allowed_are_taken() -> None:
    values: Any = {"list": [0] * MOST_ITEMS}
    scope = Scope(values)
    assert len(resolve_batch_items(Node("b", "pure", {}), BatchSettings("${list}"), scope)) == MOST_ITEMS


def test_more_items_than_anyone_needs_are_refused(home: Home) -> None:
    result = home.run(batch("${list}"), {"list": [0] * (MOST_ITEMS + 1)})
    assert result.error_body is not None
    assert "100,001 items" in result.error_body["message"]
    assert not home.lines()


def test_no_more_items_run_at_once_than_allowed(home: Home) -> None:
    home.order(*(f"wait-b[{at}]" for at in range(5)))
    running = home.process(batch(list(range(5)), parallel=True, max_concurrent=3))
    until(lambda: len(home.lines()) == 3)
    home.clear_orders("wait-b[1]")
    until(lambda: home.runs() == dict.fromkeys(["b[0]", "b[1]", "b[2]", "b[3]"], 1))
    home.clear_orders()
    assert running.reply()["outputs"]["b"]["count"] == 5


def test_the_first_failing_item_ends_the_batch_and_running_items_finish(home: Home) -> None:
    home.order("fail-b[1]")
    result = home.run(batch(list(range(5))))
    assert result.error_body is not None
    assert result.error_body["message"].startswith("'b' failed at items[1], of 5: ordered to fail")
    assert get_error(result)["item"] == 1
    assert result.failed_node == "b"
    assert home.runs() == {"b[0]": 1, "b[1]": 1}


def test_items_beside_a_failing_one_finish_and_no_other_starts(home: Home) -> None:
    home.order("fail-b[1]", "wait-b[0]")
    ir = batch(list(range(5)), "effect", parallel=True, max_concurrent=2)
    running = home.process(ir)
    until(lambda: any(b'"failed"' in file.read_bytes() for file in home.checkpoints.glob("*") if file.is_file()))
    home.clear_orders("wait-b[0]")
    assert not running.reply()["success"]
    assert home.runs("done") == {"b[0]": 1}
    assert home.runs() == {"b[0]": 1, "b[1]": 1}


def test_with_continue_all_items_run_and_failures_are_reported_at_their_index(home: Home) -> None:
    home.order("fail-b[1]", "fail-b[3]")
    outputs = run_and_get_outputs(home, batch(list("vwxyz"), error_handling="continue"))
    assert (outputs["success_count"], outputs["error_count"]) == (3, 2)
    assert [one["item"] for one in outputs["results"]] == list("vwxyz")
    assert outputs["results"][1] == {"item": "w", "error": "ordered to fail: fail-b[1]"}
    assert [(one["index"], one["item"], one["code"]) for one in outputs["errors"]] == [
        (1, "w", "node_failed"),
        (3, "y", "node_failed"),
    ]


def test_each_item_is_tried_again(home: Home) -> None:
    home.order("fail-b[0]", "fail-b[2]", text="2")
    outputs = run_and_get_outputs(home, batch([1, 2, 3], max_retries=3))
    assert outputs["error_count"] == 0
    assert home.runs() == {"b[0]": 3, "b[1]": 1, "b[2]": 3}


def test_without_a_retry_of_the_batch_that_of_the_node_counts(home: Home) -> None:
    home.order("fail-b[0]", text="1")
    ir = chain(node("b", retry={"attempts": 2}, batch={"items": [1]}))
    assert run_and_get_outputs(home, ir)["error_count"] == 0


def test_the_time_of_the_node_is_that_of_each_item(home: Home) -> None:
    ir = chain(node("b", "on-loop", sleep="${item}", timeout=0.1, batch={"items": [0, SOON_S * 3, 0]}))
    ir["nodes"][0]["batch"]["error_handling"] = "continue"
    outputs = run_and_get_outputs(home, ir)
    assert [one["code"] for one in outputs["errors"]] == ["node_timed_out"]


@requirement("PF-E10")
@pytest.mark.parametrize("parallel", [False, True])
def test_items_that_finished_are_not_run_again_when_the_run_is_resumed(home: Home, parallel: bool) -> None:
    ir = batch([10, 11, 12, 13], "effect", parallel=parallel, max_concurrent=1)
    home.order("fail-b[2]")
    first = home.run(ir)
    assert first.failed_node == "b"
    home.clear_orders()
    second = home.run(ir)
    assert second.success
    assert second.progress.reused == []
    assert second.progress.not_reused == {"b": "2 of 4 items were reused; item 2: it had not finished"}
    assert home.runs("done") == {f"b[{at}]": 1 for at in range(4)}


def test_a_batch_of_which_all_items_had_finished_is_reused(home: Home) -> None:
    ir = chain(node("b", "effect", value="${item}", batch={"items": [1, 2]}), node("end"))
    home.order("fail-end")
    home.run(ir)
    home.clear_orders()
    second = home.run(ir)
    assert second.progress.reused == ["b"]
    assert home.runs("done")["b[1]"] == 1


def test_only_the_item_whose_value_changed_runs_again(home: Home) -> None:
    home.order("fail-end")

    def ir(*items: int) -> dict[str, Any]:
        return chain(node("b", "effect", value="${item}", batch={"items": list(items)}), node("end"))

    home.run(ir(1, 2, 3))
    result = home.run(ir(1, 5, 3))
    assert home.runs("done") == {"b[0]": 1, "b[1]": 2, "b[2]": 1}
    assert [report for report in result.warnings if "'b[1]' has effects" in report]


def test_items_that_moved_to_other_indexes_are_not_run_again(home: Home) -> None:
    def ir(*items: int) -> dict[str, Any]:
        return chain(node("b", "effect", value="${item}", batch={"items": list(items)}), node("end"))

    home.order("fail-end")
    home.run(ir(1, 2, 3))
    home.clear_orders()
    second = home.run(ir(9, 3, 1))
    assert second.success
    assert home.runs("done") == {"b[0]": 2, "b[1]": 1, "b[2]": 1, "end": 1}
    given = [line["given"] for line in home.lines("done") if line["node"] != "end"]
    assert len(given) == len(set(given)) == 4
    assert second.progress.not_reused["b"].startswith("2 of 3 items were reused; item 0:")


def test_equal_items_have_their_effect_once_each(home: Home) -> None:
    def ir(*items: int) -> dict[str, Any]:
        return chain(node("b", "effect", value="${item}", batch={"items": list(items)}), node("end"))

    home.order("fail-end")
    home.run(ir(7, 7))
    assert len(home.lines("done")) == 2
    home.clear_orders()
    assert home.run(ir(7, 7, 7)).success
    assert len([line for line in home.lines("done") if line["node"] != "end"]) == 3


def test_items_that_failed_with_continue_run_again_and_their_fellows_do_not(home: Home) -> None:
    ir = chain(node("b", "effect", value="${item}", batch={"items": [1, 2], "error_handling": "continue"}), node("end"))
    home.order("fail-b[0]", "fail-end")
    home.run(ir)
    home.clear_orders()
    second = home.run(ir)
    assert second.success
    assert home.runs() == {"b[0]": 2, "b[1]": 1, "end": 2}
    assert second.progress.not_reused["b"] == "1 of 2 items were reused; item 0: it had not finished"
