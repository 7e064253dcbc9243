"""A run that is killed at any step of its ending: no finished effect is repeated, and no success is resumed."""

import os
import signal
from collections import Counter
from collections.abc import Generator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pflow.store.run_log import RunLog
from tests.pflow.service.engine.counting_home import Home, chain, node
from tests.pflow.service.engine.killed_runs import inbox_environment, start_run
from tests.requirements import requirement
from uraniborg.kernel.store.inbox import Inbox, InboxDecision

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the runs are forked")

NESTED = node("n", "workflow", workflow_ir=chain(node("x", "effect"), node("y", "effect")))
FLOW = chain(node("a", "effect"), NESTED, node("b", "effect", v="${a.value}"), node("end"))
EFFECTS = ["a", "n/x", "n/y", "b"]
ONCE = dict.fromkeys(EFFECTS, 1)
CANCELLING = """
import asyncio, os, signal

async def cancel(params, context):
    if (context.home.parent / "orders" / "cancel").exists():
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)
    return {}
"""
CANCEL = {"type": "cancel", "description": "Cancels the run.", "run": "cancelling.py:cancel", "effect": "pure"}


def kill_at_every_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ir: Any, *arguments: str, surface: str = "api", **left: Any
) -> Generator[tuple[Home, str]]:
    """Yield for each step of the ending the home and the status of a run that was killed before it.

    `left` has the orders for an earlier run that leaves results to resume from (`before`) and for this run (`during`).
    """
    for moment in count(1):
        home = Home(tmp_path / str(moment))
        home.record_nodes("cancelling", [CANCEL], CANCELLING)
        home.draft("flow", ir)
        monkeypatch.setenv("URANIBORG_HOME", inbox_environment(home.place)["URANIBORG_HOME"])
        if words := left.get("before"):
            home.order(*words)
            assert not home.run(ir).success
            home.clear_orders()
        home.order(*left.get("during", ()))
        with start_run(home.place, surface, *arguments, moment=moment) as running:
            while surface == "mcp" and (line := running.stdout.readline()):
                if b'"id":7' in line:
                    running.stdin.close()
            was_killed = running.wait() == -signal.SIGKILL
        home.clear_orders()
        if not was_killed:
            assert moment > 10, "a run ends in more steps"
            return
        with closing(RunLog(home.path / "runs.db")) as log:
            yield home, log.list_runs("flow")[0]["status"]


def read_effects(home: Home) -> Counter[str]:
    return Counter({name: times for name, times in home.runs("done").items() if name in EFFECTS})


@requirement("PF-E10")
@pytest.mark.parametrize("surface", ["api", "cli", "mcp"])
def test_a_success_is_either_logged_and_not_resumed_or_resumed_without_an_effect_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, surface: str
) -> None:
    statuses: set[str] = set()
    starts_over_with_results_left = 0
    for home, status in kill_at_every_step(tmp_path, monkeypatch, FLOW, surface=surface):
        statuses.add(status)
        assert read_effects(home) == ONCE
        has_results = any(home.checkpoints.glob("flow.*"))
        plan = home.service.plan_run(FLOW, name="flow")
        again = home.run(FLOW)
        assert again.success
        assert again.uncertain == []
        if status == "success":
            assert again.resumed_from is None
            assert again.progress.reused == []
            assert {step["will"] for step in plan} == {"run"}
            assert read_effects(home) == dict.fromkeys(EFFECTS, 2)
            starts_over_with_results_left += has_results
            assert any("succeeded" in report for report in again.warnings) == has_results
        else:
            assert again.progress.reused == ["a", "n", "b", "end"]
            assert {step["will"] for step in plan} == {"reuse"}
            assert read_effects(home) == ONCE
        assert not list(home.checkpoints.glob("flow.*"))
    assert statuses == {"success", "interrupted"}
    assert starts_over_with_results_left > 1


@requirement("PF-E10")
def test_a_success_that_resumed_from_a_failure_is_not_resumed_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: set[tuple[str, bool, bool]] = set()
    for home, status in kill_at_every_step(tmp_path, monkeypatch, FLOW, before=["fail-b"]):
        assert read_effects(home) == ONCE
        results, journals = (home.checkpoints / "flow.json").exists(), any(home.checkpoints.glob("*.journal"))
        left.add((status, results, journals))
        again = home.run(FLOW)
        assert again.success
        assert read_effects(home) == (dict.fromkeys(EFFECTS, 2) if status == "success" else ONCE)
        assert not list(home.checkpoints.glob("flow.*"))
    assert left == {
        ("interrupted", True, True),
        ("success", True, True),
        ("success", False, True),
        ("success", False, False),
    }


@requirement("PF-E10")
def test_results_that_are_stored_on_purpose_are_resumed_from_after_a_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses: set[str] = set()
    for home, status in kill_at_every_step(tmp_path, monkeypatch, FLOW, "b"):
        statuses.add(status)
        assert home.run(FLOW).progress.reused == ["a", "n", "b"]
        assert read_effects(home) == ONCE
    assert statuses == {"success", "interrupted"}


@requirement("PF-E10")
@pytest.mark.parametrize(
    ("word", "ir", "ending"),
    [("fail-end", FLOW, "failed"), ("cancel", chain(*FLOW["nodes"], node("stop", "cancel")), "cancelled")],
)
def test_finished_effects_of_a_failed_or_cancelled_run_are_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, ir: Any, ending: str
) -> None:
    statuses: set[str] = set()
    for home, status in kill_at_every_step(tmp_path, monkeypatch, ir, during=[word]):
        statuses.add(status)
        again = home.run(ir)
        assert again.success
        assert again.progress.reused[:3] == ["a", "n", "b"]
        assert read_effects(home) == ONCE
    assert statuses == {ending, "interrupted"}


@requirement("PF-E10")
def test_a_run_that_waits_for_a_person_asks_once_and_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ir = chain(node("a", "effect"), node("ask", "approval", question="Shall we?"), node("b", "effect"))
    statuses: set[str] = set()
    for home, status in kill_at_every_step(tmp_path, monkeypatch, ir):
        statuses.add(status)
        with closing(Inbox()) as inbox:
            (question,) = inbox.pending("pflow")
            inbox.decide(question.id, InboxDecision(action="approve"), "person")
        for path in home.checkpoints.glob("*.journal"):
            os.utime(path, (0, 0))  # the person took their time
        again = home.run(ir)
        assert again.success
        assert read_effects(home) == {"a": 1, "b": 1}
        with closing(Inbox()) as inbox:
            assert inbox.pending("pflow") == []
    assert statuses == {"waiting", "interrupted"}
