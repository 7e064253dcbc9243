"""Cancelling a run before, during and after it, from any thread, and all runs of a process."""

import threading
from typing import Any

from pflow.service.engine.cancellation import Cancellation, cancel_all_runs_and_wait
from pflow.service.engine.results import RunResult
from tests.pflow.service.engine.counting_home import SOON_S, Home, chain, node, until
from tests.requirements import requirement

ENDLESS = chain(node("a", "effect", value=1), node("b", "on-loop", sleep=SOON_S * 3))


def run_in_background(
    home: Home, ir: Any, cancellation: Cancellation | None = None
) -> tuple[threading.Thread, list[Any]]:
    results: list[RunResult] = []
    thread = threading.Thread(target=lambda: results.append(home.run(ir, cancellation=cancellation)), daemon=True)
    thread.start()
    return thread, results


def test_a_run_taken_back_before_it_begins_runs_nothing(home: Home) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    result = home.run(ENDLESS, cancellation=cancellation)
    assert result.is_cancelled
    assert not home.lines()


@requirement("PF-R10")
def test_a_run_taken_back_stops_at_a_checkpoint_and_can_be_resumed(home: Home) -> None:
    cancellation = Cancellation()
    thread, results = run_in_background(home, ENDLESS, cancellation)
    until(lambda: home.runs()["b"])
    cancellation.cancel()
    thread.join(SOON_S)
    (result,) = results
    reply = result.reply()
    assert not reply["success"]
    assert reply["error"]["code"] == "run_cancelled"
    assert reply["checkpoint"]["completed_nodes"] == ["a"]
    assert reply["checkpoint"]["resumable"]
    again = home.run(chain(node("a", "effect", value=1), node("b", "on-loop")))
    assert again.success
    assert again.progress.reused == ["a"]
    assert home.runs("done")["a"] == 1


def test_to_cancel_again_or_after_the_end_does_nothing(home: Home) -> None:
    cancellation = Cancellation()
    result = home.run(chain(node("a")), cancellation=cancellation)
    assert result.success
    assert cancellation.ended.is_set()
    cancellation.cancel()
    cancellation.cancel()
    assert cancellation.is_requested


def test_all_runs_of_the_process_are_taken_back_and_waited_for(home: Home) -> None:
    ir = chain(node("b", "on-loop", sleep=SOON_S * 3))
    runs = [run_in_background(home, ir) for _ in range(3)]
    until(lambda: home.runs()["b"] == 3)
    cancel_all_runs_and_wait(SOON_S)
    for thread, results in runs:
        thread.join(SOON_S)
        assert results[0].is_cancelled
    cancel_all_runs_and_wait(0)


def test_a_node_with_effects_that_was_cancelled_is_uncertain_in_the_next_run(home: Home) -> None:
    cancellation = Cancellation()
    thread, results = run_in_background(home, chain(node("e", "effect-on-loop", sleep=SOON_S * 3)), cancellation)
    until(lambda: home.runs()["e"])
    cancellation.cancel()
    thread.join(SOON_S)
    assert results[0].is_cancelled
    assert home.checkpoint()["uncertain"]
    again = home.run(chain(node("e", "effect-on-loop", sleep=SOON_S * 3)), cancellation=_cancel_after_runs(home, 2))
    assert again.uncertain == ["e"]
    assert [report for report in again.warnings if "uncertain" in report]


def _cancel_after_runs(home: Home, runs: int) -> Cancellation:
    """Return a cancellation that cancels the run once the node has run so often."""
    cancellation = Cancellation()

    def watch() -> None:
        until(lambda: home.runs()["e"] == runs)
        cancellation.cancel()

    threading.Thread(target=watch, daemon=True).start()
    return cancellation
