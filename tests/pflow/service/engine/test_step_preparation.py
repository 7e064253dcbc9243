"""Single steps: reuse of results, retries, and misbehaving nodes."""

import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from pflow.errors import RepairRefused
from pflow.service.engine import cancellation as cancelling
from pflow.service.engine import executors
from pflow.service.engine.cancellation import Cancellation
from pflow.service.engine.results import RunResult
from tests.pflow.run_results import get_error
from tests.pflow.service.engine.counting_home import CODE, NODES, SOON_S, Home, build_graph, chain, node
from tests.requirements import requirement


def build_chain_with_end(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a workflow of these nodes, followed by a node `end`."""
    return chain(*nodes, node("end"), **more)


@pytest.fixture
def run_and_fail(home: Home) -> Callable[..., RunResult]:
    """Return a function that runs a workflow whose node `end` fails this one time."""

    def run(ir: Any, inputs: dict[str, Any] | None = None) -> RunResult:
        home.order("fail-end")
        result = home.run(ir, inputs)
        assert result.failed_node == "end"
        home.clear_orders("fail-end")
        return result

    return run


@requirement("PF-E10", "PF-R10")
def test_a_failed_run_resumes_from_where_it_failed(home: Home, run_and_fail: Callable[..., RunResult]) -> None:
    ir = build_chain_with_end(node("a", value=1), node("b", "effect", value="${a.value}"))
    first: Any = run_and_fail(ir).reply()
    assert first["success"] is False
    assert first["checkpoint"]["completed_nodes"] == ["a", "b"]
    assert first["checkpoint"]["failed_node"] == "end"
    assert first["checkpoint"]["node_actions"] == {"a": "default", "b": "default"}
    assert first["checkpoint"]["resumable"] is True
    assert "not_reused" not in first
    second: Any = home.run(ir).reply()
    assert second["success"] is True
    assert second["checkpoint"] is None
    assert second["reused_nodes"] == ["a", "b"]
    assert second["not_reused"] == {"end": "it had not finished"}
    assert second["resumed_from"] == first["run_id"]
    assert second["warnings"] == []
    assert home.runs() == {"a": 1, "b": 1, "end": 2}


def test_after_a_successful_run_everything_runs_again(home: Home, run_and_fail: Callable[..., RunResult]) -> None:
    ir = build_chain_with_end(node("a", "effect"))
    run_and_fail(ir)
    assert home.run(ir).success
    third = home.run(ir)
    assert third.progress.reused == []
    assert third.resumed_from is None
    assert home.runs("done")["a"] == 2


@requirement("PF-E10")
def test_an_edited_node_and_the_nodes_whose_values_it_changes_run_again(
    home: Home, run_and_fail: Callable[..., RunResult]
) -> None:
    def ir(value: int) -> dict[str, Any]:
        return build_graph(
            [node("start"), node("a", value=value), node("b", "effect", value="${a.value}"), node("c"), node("end")],
            *("start>a", "a>b", "start>c", "b>end", "c>end"),
        )

    run_and_fail(ir(1))
    second = home.run(ir(2))
    assert set(second.progress.reused) == {"start", "c"}
    assert second.progress.not_reused == {
        "a": "its inputs changed",
        "b": "its inputs changed",
        "end": "it had not finished",
    }
    (report,) = second.warnings
    assert report.startswith("'b' has effects, had finished in an earlier run, and ran again")
    assert home.runs() == {"start": 1, "c": 1, "a": 2, "b": 2, "end": 2}


@requirement("PF-E10")
def test_a_node_of_another_type_runs_again_though_it_is_given_the_same(
    home: Home, run_and_fail: Callable[..., RunResult]
) -> None:
    twins = [{**NODES[0], "type": name} for name in ("twin", "other-twin")]
    home.record_nodes("counting", [*NODES, *twins], CODE)
    run_and_fail(build_chain_with_end(node("a", "twin", value=1), node("b", value="${a.value}")))
    second = home.run(build_chain_with_end(node("a", "other-twin", value=1), node("b", value="${a.value}")))
    assert second.progress.reused == ["b"], "what it gives is the same"
    assert second.progress.not_reused["a"] == "its inputs changed"
    assert home.runs() == {"a": 2, "b": 1, "end": 2}


def test_an_edit_that_leads_to_the_same_values_runs_nothing_but_the_edited_node(
    home: Home, run_and_fail: Callable[..., RunResult]
) -> None:
    def ir(**more: Any) -> dict[str, Any]:
        return build_chain_with_end(node("a", echo=1, **more), node("b", "effect", value="${a.echo}"))

    run_and_fail(ir())
    second = home.run(ir(note="other"))
    assert second.progress.reused == ["b"]
    assert home.runs()["b"] == 1


def test_an_edit_that_is_taken_back_finds_the_first_result_again(
    home: Home, run_and_fail: Callable[..., RunResult]
) -> None:
    for value in (1, 2, 1):
        run_and_fail(build_chain_with_end(node("a", "effect", value=value)))
    assert home.runs("done")["a"] == 2


def test_changed_inputs_rerun_only_the_nodes_they_reach(home: Home, run_and_fail: Callable[..., RunResult]) -> None:
    ir = build_chain_with_end(node("a", "effect", value="${x}"), node("b", "effect", value="${y}"))
    run_and_fail(ir, {"x": 1, "y": 1})
    second = home.run(ir, {"x": 1, "y": 2})
    assert second.progress.reused == ["a"]
    assert home.runs("done") == {"a": 1, "b": 2, "end": 1}


def test_a_parameter_that_only_limits_a_node_does_not_make_it_run_again(
    home: Home, run_and_fail: Callable[..., RunResult]
) -> None:
    limited = {"type": "limited", "params": {"patience": {"type": "int"}}, "limits": ["patience"]}
    home.record_nodes("counting", [*NODES, {**NODES[1], **limited}], CODE)
    run_and_fail(build_chain_with_end(node("a", "limited", value=1, patience=5)))
    assert home.run(build_chain_with_end(node("a", "limited", value=1, patience=60))).progress.reused == ["a"]
    run_and_fail(build_chain_with_end(node("a", "limited", value=1, patience=5)))
    assert home.run(build_chain_with_end(node("a", "limited", value=2, patience=5))).progress.reused == []


def test_a_node_that_failed_for_a_missing_value_has_no_effect(
    home: Home, run_and_fail: Callable[..., RunResult]
) -> None:
    def ir(name: str) -> dict[str, Any]:
        nodes = [node("start"), node("try", "effect", value=f"${{{name}}}"), node("look", "looker"), node("end")]
        return build_graph(nodes, "start>try", "try>look:error", "look>end")

    run_and_fail(ir("missing"))
    second = home.run(ir("missing_too"))
    assert second.success
    assert "look" in second.progress.reused
    assert home.runs() == {"start": 1, "look": 1, "end": 2}


@requirement("PF-E10")
def test_a_node_that_looks_at_the_world_runs_again_once_another_node_with_effects_comes_before_it(
    home: Home, run_and_fail: Callable[..., RunResult]
) -> None:
    nodes = [node("start"), node("a", "effect"), node("b", "effect", value=2), node("look", "looker"), node("end")]
    run_and_fail(build_graph(nodes, "start>a", "start>b", "a>look", "b>end", "look>end"))
    second = home.run(build_graph(nodes, "start>a", "start>b", "b>look", "a>end", "look>end"))
    assert second.progress.not_reused["look"] == "an earlier node with effects ran again"
    assert home.runs() == {"start": 1, "a": 1, "b": 1, "look": 2, "end": 2}


@requirement("PF-E10")
def test_a_node_that_looks_at_the_world_runs_again_whichever_of_the_nodes_before_it_did(
    home: Home, run_and_fail: Callable[..., RunResult]
) -> None:
    def ir(a: int, b: int) -> dict[str, Any]:
        changing = [node("a", "effect", value=a), node("b", "effect", value=b)]
        nodes = [node("start"), *changing, node("look", "looker"), node("end")]
        return build_graph(nodes, "start>a", "start>b", "a>look", "b>look", "look>end")

    given = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (3, 2), (3, 3)]
    for times, (a, b) in enumerate(given, 1):
        run_and_fail(ir(a, b))
        assert home.runs()["look"] == times


@requirement("PF-E10")
def test_the_effect_of_a_node_with_an_unusable_outcome_is_uncertain(home: Home) -> None:
    odd = {**NODES[1], "type": "odd", "run": "odd.py:act"}
    home.record_nodes("odd", [odd], "def act(params, context):\n    return 5\n")
    first = home.run(chain(node("a", "odd")))
    assert "not an object of outputs" in str(first.error_body)
    second = home.run(chain(node("a", "odd")))
    assert second.uncertain == ["a"]
    assert second.warnings[0].startswith(
        "'a' was interrupted in an earlier run: whether it had its effect is uncertain"
    )


@requirement("PF-E10")
@pytest.mark.parametrize("change", ["size", "time", "file"])
def test_a_file_that_differs_in_size_or_time_or_is_another_one_is_read_again(
    home: Home, run_and_fail: Callable[..., RunResult], change: str
) -> None:
    file, other = home.place / "data.txt", home.place / "other.txt"
    for path in (file, other):
        path.write_text("one")
        os.utime(path, ns=(10**18, 10**18))
    ir = build_chain_with_end(node("r", "reader", file="data.txt"))
    run_and_fail(ir)
    if change == "file":
        other.replace(file)
    else:
        file.write_text("longer" if change == "size" else "two")
        os.utime(file, ns=(10**18, 10**18 + (change == "time")))
    assert home.run(ir).progress.not_reused["r"] == "its inputs changed"
    assert home.runs()["r"] == 2


def test_the_fingerprint_includes_the_files_that_a_node_reads(
    home: Home, run_and_fail: Callable[..., RunResult]
) -> None:
    file = home.place / "data.txt"
    file.write_text("one")
    ir = build_chain_with_end(node("r", "reader", file="data.txt"))
    run_and_fail(ir)
    run_and_fail(ir)
    assert home.runs()["r"] == 1
    file.write_text("two, longer")
    run_and_fail(ir)
    assert home.runs()["r"] == 2
    file.unlink()
    run_and_fail(ir)
    assert home.runs()["r"] == 3


def test_a_volatile_node_always_runs(home: Home, run_and_fail: Callable[..., RunResult]) -> None:
    ir = build_chain_with_end(node("v", "volatile"), node("a", value="${v.value}"))
    run_and_fail(ir)
    second = home.run(ir)
    assert second.progress.not_reused["v"] == "the data it reads may have changed"
    assert second.progress.reused == ["a"]


def test_a_node_whose_file_is_missing_writes_it_again(home: Home, run_and_fail: Callable[..., RunResult]) -> None:
    file = home.place / "written"
    file.touch()
    ir = build_chain_with_end(node("w", "writer", file="written"))
    run_and_fail(ir)
    run_and_fail(ir)
    assert home.runs()["w"] == 1
    file.unlink()
    second = home.run(ir)
    assert second.progress.not_reused["w"] == "a file it wrote is missing"


def test_a_node_that_looks_at_the_world_runs_again_once_a_node_before_it_has_changed_the_world_again(
    home: Home, run_and_fail: Callable[..., RunResult]
) -> None:
    def ir(value: int, note: int = 0) -> dict[str, Any]:
        return build_graph(
            [
                node("s", "effect"),
                node("e", "effect", v=value),
                node("p", v=note),
                node("l", "looker"),
                node("beside", "looker"),
                node("end"),
            ],
            *("s>e", "e>p", "p>l", "s>beside", "l>end", "beside>end"),
        )

    run_and_fail(ir(1))
    assert run_and_fail(ir(1)).progress.reused == ["s", "e", "beside", "p", "l"]
    assert run_and_fail(ir(1, note=2)).progress.reused == ["s", "e", "beside", "l"]
    changed = home.run(ir(2, note=2))
    assert sorted(changed.progress.reused) == ["beside", "p", "s"]
    assert home.runs() == {"s": 1, "e": 2, "p": 2, "l": 2, "beside": 1, "end": 4}


def test_code_of_a_node_that_was_edited_is_another_version_of_it(
    home: Home, run_and_fail: Callable[..., RunResult]
) -> None:
    ir = build_chain_with_end(node("a"))
    run_and_fail(ir)
    code = home.path / "nodes" / "counting.py"
    code.write_text(code.read_text() + "\nEDITED = True\n")
    second = home.run(ir)
    assert second.progress.not_reused["a"] == "its inputs changed"


def test_a_node_with_resume_never_always_runs(home: Home, run_and_fail: Callable[..., RunResult]) -> None:
    ir = build_chain_with_end(node("a", resume="never"), node("b", "effect", resume="never"))
    run_and_fail(ir)
    second = home.run(ir)
    assert second.progress.not_reused["a"] == 'its "resume" is "never"'
    assert home.runs() == {"a": 2, "b": 2, "end": 2}


def test_a_workflow_can_declare_the_effect_of_a_node(home: Home, run_and_fail: Callable[..., RunResult]) -> None:
    def ir(value: int) -> dict[str, Any]:
        return build_chain_with_end(
            node("a", value=value, effect="effectful"), node("b", "effect", value=value, effect="pure")
        )

    run_and_fail(ir(1))
    (report,) = home.run(ir(2)).warnings
    assert report.startswith("'a' has effects")


def test_fresh_runs_everything_without_warnings(home: Home, run_and_fail: Callable[..., RunResult]) -> None:
    ir = build_chain_with_end(node("a", "effect"))
    run_and_fail(ir)
    result = home.run(ir, fresh=True)
    assert result.progress.reused == []
    assert result.warnings == []
    assert home.runs("done")["a"] == 2


def test_a_result_is_read_back_unchanged_from_a_checkpoint(home: Home, run_and_fail: Callable[..., RunResult]) -> None:
    echo: Any = {"n": 10**30, "f": 0.1, "t": "ü\n", "l": [None, True], "deep": {"x": [[1]]}}
    ir = build_chain_with_end(node("a", echo=echo), outputs={"it": {"source": "${a.echo}"}})
    run_and_fail(ir)
    second = home.run(ir)
    assert second.progress.reused == ["a"]
    assert second.outputs == {"it": echo}


def test_a_node_that_failed_with_effects_is_not_uncertain_and_runs_again(home: Home) -> None:
    ir = chain(node("e", "effect"))
    home.order("fail-e")
    home.run(ir)
    home.clear_orders()
    second = home.run(ir)
    assert second.success
    assert second.uncertain == []
    assert second.progress.not_reused == {"e": "it had not finished"}


@requirement("PF-R12")
def test_a_run_is_one_attempt_and_does_not_change_the_file(home: Home) -> None:
    path = home.draft("flow", chain(node("a")))
    before = path.read_bytes()
    home.order("fail-a")
    assert not home.service.execute("flow", enable_repair=False).success
    assert home.runs() == {"a": 1}
    assert path.read_bytes() == before
    with pytest.raises(RepairRefused):
        home.service.execute("flow", enable_repair=True)


# Retries and timeouts.


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list that collects the engine's waiting times, and make waiting return at once."""
    waited: list[float] = []
    sleep = asyncio.sleep
    here = threading.current_thread()

    async def at_once(seconds: float) -> None:
        if threading.current_thread() is not here:  # servers of other tests go on at their pace
            await sleep(seconds)
            return
        waited.append(seconds)
        await sleep(0)

    monkeypatch.setattr("pflow.service.engine.step_runner.asyncio.sleep", at_once)
    return waited


def test_a_node_is_retried_until_it_succeeds(home: Home, waits: list[float]) -> None:
    home.order("fail-a", text="3")
    result = home.run(chain(node("a", retry={"attempts": 5, "wait": 2})))
    assert result.success
    assert home.runs() == {"a": 4}
    assert waits == [2, 2, 2]


def test_the_wait_doubles_and_ends_at_a_minute(home: Home, waits: list[float]) -> None:
    home.order("fail-a")
    result = home.run(chain(node("a", retry={"max": 6, "wait": 5, "backoff": "exponential"})))
    assert not result.success
    assert home.runs() == {"a": 6}
    assert waits == [5, 10, 20, 40, 60]


def test_without_a_wait_it_is_tried_again_at_once(home: Home, waits: list[float]) -> None:
    home.order("fail-a", text="1")
    assert home.run(chain(node("a", retry={"attempts": 2}))).success
    assert waits == []


def test_a_parameter_without_a_value_is_not_tried_again(home: Home, waits: list[float]) -> None:
    result = home.run(chain(node("a", value="${nothing}", retry={"attempts": 5, "wait": 1})))
    assert result.error_body is not None
    assert get_error(result)["type"] == "template_error"
    assert (home.lines(), waits) == ([], [])


@requirement("PF-E4")
def test_a_variable_without_a_value_fails_at_its_node_with_all_missing_names(home: Home) -> None:
    result = home.run(chain(node("init"), node("fetch", url="${api_url}/${path}", key="${api_key ?? other_key}")))
    reply: Any = result.reply()
    assert reply["error"]["type"] == "template_error"
    assert reply["error"]["node"] == "fetch"
    assert reply["error"]["missing_variables"] == ["api_url", "path", "api_key", "other_key"]
    assert "init" in reply["error"]["available"]
    assert reply["checkpoint"]["completed_nodes"] == ["init"]
    assert reply["checkpoint"]["failed_node"] == "fetch"


@pytest.mark.parametrize("kind", ["on-loop", "pure"])
def test_a_node_that_takes_too_long_is_given_up_on(home: Home, kind: str) -> None:
    home.order("wait-a")
    result = home.run(chain(node("a", kind, sleep=SOON_S * 3, timeout=0.05)))
    home.clear_orders()
    assert result.error_body is not None
    assert result.error_body["code"] == "node_timed_out"
    assert get_error(result)["node"] == "a"
    assert "0.05 seconds" in result.error_body["message"]


def test_each_attempt_has_its_own_time(home: Home) -> None:
    result = home.run(chain(node("a", "on-loop", sleep=SOON_S * 3, timeout=0.02, retry={"attempts": 3})))
    assert result.error_body is not None
    assert result.error_body["code"] == "node_timed_out"
    assert home.runs() == {"a": 3}


def test_a_node_with_effects_that_was_given_up_on_is_uncertain(home: Home) -> None:
    ir = chain(node("e", "effect-on-loop", sleep=SOON_S * 3, timeout=0.02))
    home.run(ir)
    second = home.run(ir)
    assert second.uncertain == ["e"]
    checkpoint: Any = second.build_checkpoint_reply()
    assert checkpoint is not None
    assert checkpoint["uncertain_nodes"] == ["e"]
    assert [report for report in second.warnings if "whether it had its effect is uncertain" in report]


def test_a_lock_that_was_given_up_on_is_not_stored(home: Home, run_and_fail: Callable[..., RunResult]) -> None:
    """Check that a cancelled run that waits for a lock does not block later runs."""
    from pflow.store.resume_point import ResumePoint

    ir = chain(node("e", "effect"), node("end"))
    key = ("e", home.run(ir).hashes["e"])
    run_and_fail(build_chain_with_end(node("a")))
    with ResumePoint(home.checkpoints, "flow").lock_effect(key):
        waited = home.run({**ir, "timeout": 0.05})
        assert waited.error_body is not None
        assert waited.error_body["code"] == "run_timed_out"
        assert waited.uncertain == []
    assert home.run({**ir, "timeout": SOON_S}).success


# Nodes that mean no good.

HOSTILE = """
import asyncio, os, sys, threading
from pflow.errors import NodeFailed
from pflow.domain.node import Outcome

class Odd(BaseException):
    pass

class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")

class Thing:
    pass

GIVES = {
    "list": [1], "text": "x", "number": 7, "true": True, "bytes": b"x", "set": {1},
    "outcome-list": Outcome([1]), "outcome-none": Outcome(None),
    "action-number": Outcome({}, 7), "action-empty": Outcome({}, "a\\x00b"), "action-half": Outcome({}, "\\ud800"),
    "thing": {"x": Thing()}, "function": {"x": print}, "coroutine-less": {"x": (n for n in "ab")},
}
RAISES = {
    "base": Odd("odd"), "exit": SystemExit(3), "interrupt": KeyboardInterrupt(), "stop": StopIteration(1),
    "stop-async": StopAsyncIteration(), "cancelled": asyncio.CancelledError(), "generator-exit": ValueError("g"),
    "mute": Mute(), "memory": MemoryError(), "recursion": RecursionError("deep"), "timeout": TimeoutError("mine"),
    "group": BaseExceptionGroup("many", [KeyboardInterrupt()]), "os": OSError(5, "io"), "empty": ValueError(),
    "failed-thing": NodeFailed("odd ids", thing=Thing(), outputs={"x": Thing()}),
    "failed-half": NodeFailed("half \\ud800", hint="\\ud800", thing="\\ud800", raw=b"x"),
    "half": ValueError("half \\ud800"),
}

def act(params, context):
    how = params["how"]
    if how in RAISES:
        raise RAISES[how]
    return GIVES[how]

async def act_on_loop(params, context):
    return act(params, context)

def block(params, context):
    threading.Event().wait()

def speak(params, context):
    print("printed by a node")
    sys.stderr.write("complained by a node\\n")
    return {"said": True}

def huge(params, context):
    return {"text": "x" * params["size"], "list": list(range(params["size"] // 10))}

def plain(params, context):
    return {"nan": float("nan"), "bytes": b"\\xff", "set": {2, 1}, "tuple": (1, 2)}

def nothing(params, context):
    return None
"""


@pytest.fixture
def hostile(home: Home) -> Home:
    functions = ("act", "act_on_loop", "block", "speak", "huge", "plain", "nothing")
    nodes = [
        {"type": name, "description": name, "run": f"hostile.py:{name}", "open_params": True, "open_actions": True}
        for name in functions
    ]
    home.record_nodes("hostile", nodes, HOSTILE)
    return home


RAISED = {
    "base": "Odd: odd",
    "exit": "SystemExit: 3",
    "interrupt": "KeyboardInterrupt",
    "stop": "StopIteration",
    "stop-async": "StopAsyncIteration",
    "cancelled": "CancelledError",
    "mute": "Mute",
    "memory": "MemoryError",
    "recursion": "RecursionError: deep",
    "timeout": "TimeoutError: mine",
    "group": "BaseExceptionGroup",
    "os": "OSError: [Errno 5] io",
    "empty": "ValueError",
    "failed-thing": "odd ids",
    "failed-half": "half \N{REPLACEMENT CHARACTER}",
    "half": "ValueError: half \N{REPLACEMENT CHARACTER}",
}


@pytest.mark.parametrize("kind", ["act", "act_on_loop"])
@pytest.mark.parametrize("how", RAISED)
def test_any_exception_of_a_node_is_a_failure_of_the_node_and_not_of_the_engine(
    hostile: Home, kind: str, how: str
) -> None:
    ir = build_graph([node("a", kind, how=how, timeout=SOON_S), node("b", value="${a.error}")], "a>b:error")
    result = hostile.run(ir)
    assert result.success, result.error_body
    assert RAISED[how] in result.warnings[0]
    assert not result.is_cancelled
    alone = hostile.run(chain(node("a", kind, how=how)))
    assert alone.failed_node == "a"
    reply: Any = alone.reply()
    assert reply["checkpoint"]["resumable"]
    assert json.loads(orjson.dumps(reply)) == reply


NO_OUTPUTS = ("list", "text", "number", "true", "bytes", "set", "outcome-list", "outcome-none")
NO_ACTIONS = ("action-number", "action-empty", "action-half")
NO_JSON = ("thing", "function", "coroutine-less")


@pytest.mark.parametrize("how", [*NO_OUTPUTS, *NO_ACTIONS, *NO_JSON])
def test_an_outcome_that_is_not_an_object_is_a_failure_of_the_node(hostile: Home, how: str) -> None:
    for batch in ({}, {"batch": {"items": [1, 2], "parallel": True}}):
        result = hostile.run(chain(node("a", "act", how=how, **batch)))
        assert result.failed_node == "a"
        assert result.error_body is not None
        assert result.error_body["code"] == "node_failed"


def test_an_effect_whose_result_could_not_be_stored_is_uncertain(hostile: Home) -> None:
    ir = chain(node("a", "act", how="thing", effect="effectful"))
    hostile.run(ir)
    assert hostile.run(ir).uncertain == ["a"]


def test_a_node_that_gives_nothing_has_no_outputs(hostile: Home) -> None:
    assert hostile.run(chain(node("a", "nothing"))).outputs == {"a": {}}


def test_values_that_json_lacks_are_given_on_in_the_form_they_have_in_a_checkpoint(hostile: Home) -> None:
    ir = chain(node("a", "plain"), node("b", value="${a}"), outputs={"it": {"source": "${a}"}})
    hostile.order("fail-b")
    hostile.run(ir)
    hostile.clear_orders()
    second = hostile.run(ir)
    assert second.progress.reused == ["a"]
    assert second.outputs["it"] == {"nan": None, "bytes": "/w==", "set": [1, 2], "tuple": [1, 2]}


def test_a_huge_value_is_stored_and_comes_back(hostile: Home) -> None:
    ir = chain(node("a", "huge", size=3_000_000), node("b", value="${a.list[7]}"))
    hostile.order("fail-b")
    hostile.run(ir)
    hostile.clear_orders()
    second = hostile.run(ir)
    assert second.success
    assert second.progress.reused == ["a"]


RUN_AND_END = """
import sys
from pathlib import Path
from pflow.config import Settings
from pflow.service.operations import Service

home, kind = Path(sys.argv[1]), sys.argv[2]
ir = {"nodes": [{"id": "a", "type": kind, "timeout": 0.2}]}
result = Service(Settings(home=home), folder=home.parent).run_document(ir, name="flow")
sys.stderr.write(f"ended {result.success}\\n")
"""


def alone(home: Home, kind: str) -> "subprocess.CompletedProcess[str]":
    program = [sys.executable, "-c", RUN_AND_END, str(home.path), kind]
    return subprocess.run(program, capture_output=True, text=True, timeout=SOON_S * 2, check=True)


def test_a_node_that_blocks_for_ever_is_given_up_on_and_the_process_ends_all_the_same(hostile: Home) -> None:
    done = alone(hostile, "block")
    assert (done.stdout, done.stderr) == ("", "ended False\n")


def test_a_run_prints_nothing_except_the_output_of_nodes(hostile: Home) -> None:
    done = alone(hostile, "speak")
    assert done.stdout == "printed by a node\n"
    assert done.stderr == "complained by a node\nended True\n"
    quiet = alone(hostile, "nothing")
    assert (quiet.stdout, quiet.stderr) == ("", "ended True\n")


def test_a_node_cannot_change_the_parameters_of_the_workflow_or_values_of_others(home: Home) -> None:
    home.record_nodes(
        "greedy",
        [{"type": "greedy", "description": "g", "run": "greedy.py:act", "open_params": True, "effect": "pure"}],
        "def act(params, context):\n    params['list'].append('more')\n    return {'list': params['list']}\n",
    )
    ir = chain(
        node("s", echo=[1]),
        node("a", "greedy", list="${s.echo}", batch={"items": [1, 2]}),
        node("b", "greedy", list="${given}", retry={"attempts": 2}),
        outputs={"s": {"source": "${s.echo}"}, "b": {"source": "${b.list}"}, "given": {"source": "${given ?? null}"}},
    )
    given = {"given": [1]}
    assert home.run(ir, given).outputs == {"s": [1], "b": [1, "more"], "given": [1]}
    assert given == {"given": [1]}


STUBBORN = """
import asyncio
import gc

async def tidies(params, context):
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        return {"value": "tidied up"}

async def goes_on(params, context):
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass
"""


@pytest.mark.parametrize("kind", ["tidies", "goes_on"])
@pytest.mark.parametrize("limit", ["node", "workflow", "cancelled"])
def test_a_coroutine_that_does_not_heed_its_end_is_left_behind(
    home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], kind: str, limit: str
) -> None:
    for module in (executors, cancelling):
        monkeypatch.setattr(module, "CANCEL_TIMEOUT_S", 0.05)
    home.record_nodes("stubborn", [{"type": "it", "description": "It", "run": f"stubborn.py:{kind}"}], STUBBORN)
    ir = chain(node("a", "it", **({"timeout": 0.2} if limit == "node" else {})), node("pay", "effect"))
    if limit == "workflow":
        ir["timeout"] = 0.2
    cancellation = Cancellation()
    timer = threading.Timer(0.2, cancellation.cancel)
    if limit == "cancelled":
        timer.start()
    result = home.run(ir, cancellation=cancellation)
    code = {"node": "node_timed_out", "workflow": "run_timed_out", "cancelled": "run_cancelled"}[limit]
    assert ((result.error_body or {})["code"], result.failed_node) == (code, "a")
    assert "pay" not in home.runs()
    gc.collect()
    assert capfd.readouterr().err == ""
