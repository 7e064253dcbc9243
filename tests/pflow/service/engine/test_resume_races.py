"""Runs that are killed at any moment, and concurrent runs that resume from the same run."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pflow.service.engine.results import RunResult
from pflow.store.resume_journal import read_journal
from pflow.store.run_log import RunLog
from tests.pflow.service.engine.counting_home import SOON_S, Home, build_graph, chain, node, until
from tests.requirements import requirement

MOMENTS = 36


def warnings_of(reply: dict[str, Any]) -> list[str]:
    """Return the warnings without the one about a concurrent run."""
    return [report for report in reply["warnings"] if "is under way" not in report]


# Killed.

MIXED = build_graph(
    [
        node("a", "effect", v=1),
        node("b", v="${a.value}"),
        node("c", "effect", v="${a.value}"),
        node("d", "effect", v="${item}", batch={"items": [1, 2, 3], "parallel": True}),
        node("e", "effect", v=["${b.value}", "${c.value}"]),
        node("f", v="${e.value}"),
    ],
    *("a>b", "a>c", "a>d", "b>e", "c>e", "d>f", "e>f"),
)
EFFECTS = {"a", "c", "e", "d[0]", "d[1]", "d[2]"}


@requirement("PF-E10")
@pytest.mark.parametrize("seed", range(6))
def test_after_a_kill_finished_results_are_reused_and_interrupted_nodes_are_uncertain(home: Home, seed: int) -> None:
    chance = random.Random(seed)
    interrupted = chance.choice(["a", "b", "c", "d[1]", "e", "f"])
    home.order(f"wait-{interrupted}")
    running = home.process(MIXED)
    until(lambda: home.runs()[interrupted])
    running.kill()
    home.clear_orders()
    (path,) = home.checkpoints.glob("*.journal")
    output = read_journal(path)
    finished = {one.node for one in output.finished}
    began = home.runs()
    result = home.run(MIXED)
    assert result.success
    again = home.runs() - began
    assert not finished & set(again), "what had finished ran again"
    assert set(result.uncertain) == {name for name, _ in output.started}
    assert (interrupted in result.uncertain) == (interrupted in EFFECTS)
    for name in result.uncertain:
        assert [
            report for report in result.warnings if report.startswith(f"'{name}' was interrupted in an earlier run")
        ]
    assert {name for name in EFFECTS if home.runs("done")[name] > 1} <= set(result.uncertain)
    assert set(result.progress.reused) == {name for name in "abcef" if name in finished} | (
        {"d"} if {"d[0]", "d[1]", "d[2]"} <= finished else set()
    )
    assert not list(home.checkpoints.glob("*.journal"))


RUN_AND_DIE = """
import os, signal, sys
from pathlib import Path
from pflow.config import Settings
from pflow.service.operations import Service

homes, moments, ir = Path(sys.argv[1]), int(sys.argv[2]), __import__("json").loads(sys.argv[3])

def run_and_die(place, moment):
    steps = 0
    def counted(function):
        def wrapped(*args, **more):
            nonlocal steps
            for _ in range(2):  # before it, and after
                steps += 1
                if steps == moment:
                    os.kill(os.getpid(), signal.SIGKILL)
                if _ == 0:
                    done = function(*args, **more)
            return done
        return wrapped
    service = Service(Settings(home=place / "home"), folder=place)
    service.check_document(ir)
    for name in ("write", "fsync", "replace", "unlink", "open"):
        setattr(os, name, counted(getattr(os, name)))
    service.run_document(ir, name="flow")
    os._exit(0)

for moment in range(1, moments + 1):
    child = os.fork()
    if child == 0:
        try:
            run_and_die(homes / str(moment), moment * 3)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


@requirement("PF-E10")
def test_a_run_killed_at_any_moment_can_be_resumed(tmp_path: Path) -> None:
    ir = chain(node("a", "effect"), node("b", v="${a.value}"), node("c", "effect", v="${b.value}"), node("end"))
    homes = [Home(tmp_path / str(moment)) for moment in range(1, MOMENTS + 1)]
    for home in homes:
        home.order("fail-end")
    program = [sys.executable, "-c", RUN_AND_DIE, str(tmp_path), str(MOMENTS), json.dumps(ir)]
    killer = subprocess.run(program, capture_output=True, text=True, timeout=SOON_S * 2, check=True)
    codes = [int(code) for code in killer.stdout.split()]
    assert set(codes) == {0, -signal.SIGKILL}, killer.stderr
    reused: Counter[str] = Counter()
    for home in homes:
        home.clear_orders()
        result = home.run_unlogged(ir)
        assert result.success, result.error_body
        assert not [report for report in result.warnings if "damaged" in report or "could not be read" in report]
        for name, times in home.runs("done").items():
            assert times == 1 or name in result.uncertain or name == "b", f"{name} ran twice"
        reused.update(result.progress.reused)
        assert not list(home.checkpoints.glob("*.journal")) + list(home.checkpoints.glob("flow.json"))
    assert 0 < reused["c"] < reused["b"] < reused["a"] < MOMENTS


def test_a_journal_that_was_cut_off_costs_its_last_line_only(home: Home) -> None:
    ir = chain(node("a", "effect"), node("b", "effect"), node("c"))
    home.order("wait-c")
    running = home.process(ir)
    until(lambda: home.runs()["c"])
    running.kill()
    home.clear_orders()
    (path,) = home.checkpoints.glob("*.journal")
    path.write_bytes(path.read_bytes()[:-5])  # of the line that says that b finished
    result = home.run(ir)
    assert result.progress.reused == ["a"]
    assert result.uncertain == ["b"]


def test_an_interrupt_ends_a_run_at_a_checkpoint(home: Home) -> None:
    home.order("wait-b")
    running = home.process(chain(node("a", "effect"), node("b")))
    until(lambda: home.runs()["b"])
    os.kill(running.pid, signal.SIGINT)
    reply = running.reply()
    home.clear_orders()
    assert reply["error"]["code"] == "run_cancelled"
    assert reply["checkpoint"]["completed_nodes"] == ["a"]
    assert home.run(chain(node("a", "effect"), node("b"))).progress.reused == ["a"]


def test_the_log_shows_a_killed_run_as_interrupted(home: Home) -> None:
    home.order("wait-a")
    running = home.process(chain(node("a")))
    until(lambda: home.runs()["a"])
    running.kill()
    (run,) = RunLog(home.path / "runs.db").list_runs("flow")
    assert run["status"] == "interrupted"


# At once.


@requirement("PF-E6")
def test_two_concurrent_runs_of_the_same_draft_are_isolated_and_both_succeed(home: Home) -> None:
    ir = chain(node("a", "effect", v="${n}"), node("b", echo="${n}"), outputs={"n": {"source": "${b.echo}"}})
    ir["inputs"] = {"n": {"type": "integer"}}
    home.order("wait-b")
    running = [home.process(ir, {"n": number}) for number in range(2)]
    until(lambda: home.runs()["b"] == 2)
    home.clear_orders()
    replies = [one.reply() for one in running]
    assert [reply["outputs"]["n"] for reply in replies] == [0, 1]
    assert all(reply["success"] and not reply["reused_nodes"] for reply in replies)
    assert not any(map(warnings_of, replies))
    assert home.runs("done") == {"a": 2, "b": 2}


@requirement("PF-E6")
def test_the_journal_of_a_run_that_lives_is_not_taken_by_another(home: Home) -> None:
    ir = chain(node("a", "effect"), node("b"))
    home.order("wait-b")
    living = home.process(ir)
    until(lambda: home.runs()["b"])
    other = home.run(chain(node("a", "effect"), node("c")))
    assert other.success
    assert other.progress.reused == []
    assert [report for report in other.warnings if "is under way" in report]
    home.clear_orders()
    reply = living.reply()
    assert reply["success"]
    assert warnings_of(reply) == []


@requirement("PF-E6")
def test_a_success_beside_a_failed_run_leaves_the_results_of_the_failed_run(home: Home) -> None:
    failing = chain(node("a", "effect", v=1), node("x"))
    home.order("wait-x", "fail-x", "wait-y")
    fails, goes_well = home.process(failing), home.process(chain(node("a", "effect", v=2), node("y")))
    until(lambda: home.runs()["x"] and home.runs()["y"])
    home.clear_orders("wait-x")
    assert fails.reply()["checkpoint"]["resumable"]
    home.clear_orders("wait-y", "fail-x")
    assert goes_well.reply()["success"]
    again = home.run(failing)
    assert again.success
    assert again.progress.reused == ["a"]


UNFINISHED = chain(node("a", "effect", v=1), node("e", "effect", v="${a.value}"), node("end", v="${e.value}"))


def leave_unfinished(home: Home) -> None:
    """Leave a run in which `a` finished and `e` did not."""
    home.order("fail-e")
    assert home.run(UNFINISHED).failed_node == "e"
    home.clear_orders()
    (home.place / "lines").unlink()


@requirement("PF-E10")
@pytest.mark.parametrize("count", [2, 4])
def test_of_concurrent_runs_that_resume_from_the_same_run_one_has_the_effect_and_the_others_its_result(
    home: Home, count: int
) -> None:
    leave_unfinished(home)
    home.order("wait-e")
    running = [home.process(UNFINISHED) for _ in range(count)]
    until(lambda: home.runs()["e"] and len(list(home.checkpoints.glob("*.journal"))) == count)
    home.clear_orders()
    replies = [one.reply() for one in running]
    assert all(reply["success"] for reply in replies)
    assert len({json.dumps(reply["outputs"]) for reply in replies}) == 1
    assert home.runs()["e"] == 1
    assert home.runs()["a"] == 0
    assert sorted(len(reply["reused_nodes"]) for reply in replies) == [1, *[2] * (count - 1)]
    assert not any(map(warnings_of, replies))
    assert home.run(UNFINISHED).resumed_from is None


def test_concurrent_resumed_runs_share_items_and_each_item_runs_once(home: Home) -> None:
    ir = chain(node("s"), node("b", "effect", v="${item}", batch={"items": list(range(8)), "parallel": True}))
    home.order("fail-b[7]")
    assert not home.run(ir).success
    home.clear_orders()
    running = [home.process(ir) for _ in range(3)]
    replies = [one.reply() for one in running]
    assert all(reply["success"] for reply in replies), replies
    done = {name: times for name, times in home.runs("done").items() if name != "s"}
    # A run that started after the others had succeeded started over.
    started_over = sum("resumed_from" not in reply for reply in replies)
    assert done == {f"b[{at}]": 1 + started_over for at in range(8)}


def test_a_run_that_waited_for_a_killed_one_reports_its_effect_as_uncertain(home: Home) -> None:
    leave_unfinished(home)
    home.order("wait-e")
    running = {one.pid: one for one in [home.process(UNFINISHED), home.process(UNFINISHED)]}
    until(lambda: home.runs()["e"] and len(list(home.checkpoints.glob("*.journal"))) == 2)
    (line,) = [line for line in home.lines() if line["node"] == "e"]
    running.pop(line["pid"]).kill()
    until(lambda: home.runs()["e"] == 2)
    home.clear_orders()
    (left,) = running.values()
    reply = left.reply()
    assert reply["success"]
    assert reply["not_reused"]["e"] == "it was interrupted"
    assert [report for report in reply["warnings"] if report.startswith("'e' was interrupted in an earlier run")]


def test_concurrent_resumed_runs_of_one_process_share_effects(home: Home) -> None:
    leave_unfinished(home)
    home.order("wait-e")
    results: list[RunResult] = []
    threads = [threading.Thread(target=lambda: results.append(home.run(UNFINISHED))) for _ in range(3)]
    for thread in threads:
        thread.start()
    until(lambda: home.runs()["e"] and len(list(home.checkpoints.glob("*.journal"))) == 3)
    home.clear_orders()
    for thread in threads:
        thread.join(SOON_S)
    assert [result.success for result in results] == [True] * 3
    assert home.runs()["e"] == 1


def test_an_effect_that_failed_for_one_is_tried_by_the_other(home: Home) -> None:
    leave_unfinished(home)
    home.order("wait-e")
    home.order("fail-e", text="1")
    running = [home.process(UNFINISHED) for _ in range(2)]
    until(lambda: home.runs()["e"] and len(list(home.checkpoints.glob("*.journal"))) == 2)
    home.clear_orders("wait-e")
    replies: list[dict[str, Any]] = [one.reply() for one in running]
    assert sorted(reply["success"] for reply in replies) == [False, True]
    assert home.runs("done")["e"] == 1
