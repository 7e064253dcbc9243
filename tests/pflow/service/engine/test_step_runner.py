"""A node that returns the action `error` fails like one that raises."""

from pathlib import Path
from typing import Any

import pytest

from tests.pflow.service.engine.counting_home import Home, build_graph, node

CODE = """
from pflow.domain.node import Outcome


def answer(params, context):
    with open(context.home.parent / "answers", "a") as file:
        file.write(context.node_id)
    outputs = {name: params[name] for name in ("error", "half") if name in params}
    return Outcome(outputs, params.get("action", "error"), params.get("warnings", ()))
"""
ANSWERING: dict[str, Any] = {
    "type": "answering",
    "description": "Answers with the action it is given.",
    "run": "answering.py:answer",
    "outputs": {"error": "any", "half": "any"},
    "effect": "effectful",
    "open_params": True,
    "open_actions": True,
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    made.record_nodes("answering", [ANSWERING], CODE)
    return made


def read_answers(home: Home) -> str:
    return (home.place / "answers").read_text()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"error": "the disk is full"}, "the disk is full"),
        ({"error": 507}, "507"),
        ({}, "'a' returned the action `error`."),
        ({"error": ""}, "'a' returned the action `error`."),
        ({"error": None}, "'a' returned the action `error`."),
    ],
)
def test_the_action_error_fails_the_run_and_names_node_and_message(
    home: Home, given: dict[str, Any], message: str
) -> None:
    ir = build_graph([node("before"), node("a", "answering", **given), node("after")], "before>a", "a>after")
    reply: Any = home.run(ir).reply()
    assert reply["success"] is False
    assert reply["outputs"] == {}
    assert (reply["error"]["code"], reply["error"]["node"]) == ("node_failed", "a")
    assert reply["error"]["message"] == message
    assert reply["checkpoint"]["failed_node"] == "a"
    assert reply["checkpoint"]["completed_nodes"] == ["before"]
    assert home.runs() == {"before": 1}


def test_the_action_error_follows_the_error_edge_with_the_message_and_the_other_outputs(home: Home) -> None:
    ir = build_graph(
        [node("a", "answering", error="the disk is full", half=3), node("next"), node("help", echo=["${a.error}"])],
        *("a>next", "a>help:error"),
        outputs={"message": {"source": "${help.echo}"}, "half": {"source": "${a.half}"}},
    )
    reply = home.run(ir).reply()
    assert reply["success"] is True
    assert reply["error"] is None
    assert reply["outputs"] == {"message": ["the disk is full"], "half": 3}
    assert reply["warnings"] == ["'a' failed, and its error edge was followed: the disk is full"]
    assert home.runs() == {"help": 1}


def test_a_code_node_that_sets_the_action_error_fails_the_run(home: Home) -> None:
    code = {"id": "a", "type": "python", "params": {"code": "result = 3\naction = 'error'"}}
    reply: Any = home.run(build_graph([code, node("after")], "a>after")).reply()
    assert (reply["success"], reply["error"]["node"]) == (False, "a")
    assert reply["error"]["message"] == "'a' returned the action `error`."
    assert home.runs() == {}


def test_the_action_error_is_never_taken_for_a_result_of_an_earlier_run(home: Home) -> None:
    ir = build_graph(
        [node("before", "effect"), node("a", "answering", action="${action}")],
        "before>a",
        inputs={"action": {"type": "string"}},
    )
    assert home.run(ir, {"action": "error"}).failed_node == "a"
    again = home.run(ir, {"action": "error"})
    assert again.progress.reused == ["before"]
    assert read_answers(home) == "aa"
    assert again.warnings == [], "it answered: nobody need wonder whether it had its effect"
    assert home.run(ir, {"action": "default"}).success


def test_a_node_that_answers_with_the_action_error_is_tried_as_often_as_it_may_be(home: Home) -> None:
    retried = node("a", "answering", error="busy", retry={"attempts": 3, "wait": 0})
    reply: Any = home.run(build_graph([retried])).reply()
    assert (reply["error"]["message"], reply["error"]["attempts"]) == ("busy", 3)
    assert read_answers(home) == "aaa"


@pytest.mark.parametrize("warnings", ["text", 5, None, ["a list"]])
def test_warnings_that_are_not_a_tuple_of_texts_fail_the_node(home: Home, warnings: Any) -> None:
    reply: Any = home.run(build_graph([node("a", "answering", action="default", warnings=warnings)])).reply()
    assert reply["error"]["message"] == "'a' returned warnings that are not a tuple of texts."
