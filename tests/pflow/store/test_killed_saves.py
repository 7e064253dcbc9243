"""A save that is killed between any two steps leaves the draft, the saved workflow, or both, each complete."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pflow.errors import WorkflowExists
from pflow.service.workflow_texts import move_draft_to_library
from pflow.store.resume_journal import StoredResult
from pflow.store.resume_point import ResumePoint
from pflow.store.workflow_library import WorkflowManager, find_workflow
from pflow.store.workflow_listing import list_workflows
from tests.pflow.service.engine.recordings import start_recording
from tests.pflow.store.homes import IR, write_draft, write_raw_draft
from tests.requirements import requirement

MOMENTS = 40
SAVE_AND_DIE = """
import os, signal, sys
from pathlib import Path

import filelock
from pflow.config import Settings
from pflow.service.workflow_texts import move_draft_to_library
from pflow.service.operations import Service
from pflow.store.resume_point import ResumePoint
import pflow.store.run_log

homes, final, moments, by = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
WATCHED = {"open", "os.link", "os.rename", "os.remove", "os.mkdir", "os.chmod", "fsync", "after fsync"}

def save_and_die(home, moment):
    steps = 0
    def step(event, *_):
        nonlocal steps
        if event in WATCHED:
            steps += 1
            if steps == moment:
                os.kill(os.getpid(), signal.SIGKILL)
    fsync = os.fsync
    def watched_fsync(descriptor):
        step("fsync")
        fsync(descriptor)
        step("after fsync")
    os.fsync = watched_fsync
    if by == "service":  # what comes before only reads
        move = ResumePoint.move_results_to
        def watched_move(*arguments):
            sys.addaudithook(step)
            return move(*arguments)
        ResumePoint.move_results_to = watched_move
        Service(Settings(home=home), home).texts.save_to_library("x", final, "Greets people.")
    else:
        sys.addaudithook(step)
        move_draft_to_library(home, "x", final, "Greets people.")
    os._exit(0)

for moment in range(1, moments + 1):
    child = os.fork()
    if child == 0:
        try:
            save_and_die(homes / str(moment), moment)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    print(moment, os.waitstatus_to_exitcode(status), flush=True)
    if status == 0:
        break
"""


def kill_at_every_step(homes: Path, final: str, *, moments: int = MOMENTS, by: str = "library") -> dict[int, bool]:
    """Return for each step whether the child was killed before it. A child with fewer steps succeeds."""
    done = subprocess.run(
        [sys.executable, "-c", SAVE_AND_DIE, str(homes), final, str(moments), by],
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
        cwd=homes,
    )
    codes = {int(moment): int(code) for moment, code in (line.split() for line in done.stdout.splitlines())}
    assert set(codes.values()) == {0, -9}, done.stderr
    return {moment: code == -9 for moment, code in codes.items()}


@requirement("PF-R14", "PF-R15")
@pytest.mark.parametrize("final", ["x", "y"])
@pytest.mark.parametrize("put_draft", [write_draft, write_raw_draft])
def test_a_save_killed_at_any_moment_never_leaves_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put_draft: Callable[[Path, str], Path], final: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for moment in range(1, MOMENTS + 1):
        put_draft(tmp_path / str(moment), "x")
    left: set[tuple[bool, bool]] = set()
    for moment, was_killed in kill_at_every_step(tmp_path, final).items():
        home = tmp_path / str(moment)
        places = (WorkflowManager.for_drafts(home), WorkflowManager.for_raw_drafts(home))
        has_draft = any(place.exists("x") for place in places)
        is_saved = WorkflowManager.for_library(home).exists(final)
        assert has_draft or is_saved, f"killed before step {moment}"
        assert not list_workflows(home).problems
        for name in [*(["x"] if has_draft else []), *([final] if is_saved else [])]:
            assert find_workflow(home, name).stored.ir == IR
        left.add((has_draft, is_saved))
        if not was_killed:
            assert (has_draft, is_saved) == (False, True)
        elif is_saved and has_draft:
            with pytest.raises(WorkflowExists):
                move_draft_to_library(home, "x", final, "")
        elif has_draft:
            move_draft_to_library(home, "x", final, "Again.")
            assert find_workflow(home, final).stored.description == "Again."
    in_place = put_draft is write_raw_draft and final == "x"
    assert left == {(True, False), (False, True)} | (set() if in_place else {(True, True)})


def test_a_save_killed_at_any_moment_leaves_finished_effects_to_every_workflow_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    moments = 80
    for moment in range(1, moments + 1):
        home = tmp_path / str(moment)
        write_draft(
            home, "x", {**IR, "nodes": [{"id": "greet", "type": "shell", "params": {"command": "echo ${who}"}}]}
        )
        unfinished = start_recording(ResumePoint(home / "checkpoints", "x"), "run_1")
        unfinished.record_result(StoredResult("greet", "f", "shell", "default", "effectful", b"{}", "", time.time()))
        assert unfinished.store_or_clear_results(keep_results=True)
    left: set[tuple[bool, bool]] = set()
    for moment, was_killed in kill_at_every_step(tmp_path, "y", moments=moments, by="service").items():
        home = tmp_path / str(moment)
        there = {"x": WorkflowManager.for_drafts(home).exists("x"), "y": WorkflowManager.for_library(home).exists("y")}
        for name in (name for name, is_there in there.items() if is_there):
            earlier = ResumePoint(home / "checkpoints", name).read_earlier_runs()
            assert earlier.results.keys() == {("greet", "f")}, f"{name}, killed before step {moment}"
        left.add((there["x"], there["y"]))
        if not was_killed:
            assert there == {"x": False, "y": True}
    assert left == {(True, False), (True, True), (False, True)}
