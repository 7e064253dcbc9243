"""Servers that are killed at any time, and the sessions they leave."""

import json
import os
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from paper_search.config import AppConfig
from paper_search.errors import SessionNotFound
from paper_search.service.sessions import SessionManager
from paper_search.store.session_files import SessionFiles
from paper_search.store.session_state import read_session_state
from paper_search.workflow import Decision, DecisionAction
from tests.forked_processes import template
from tests.paper_search.service.sessions.kill_harness.judge import FAILURES
from tests.paper_search.service.sessions.kill_harness.server import FAULTS, CountedWorkflows
from tests.requirements import requirement
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.store.inbox import Inbox, InboxDecision, MemoryInbox

ROOT = Path(__file__).resolve().parents[4]
EXPECTED_REPLIES = "tests.paper_search.service.sessions.kill_harness.expected_replies"
KILLS = 17
"""The kills of each of three tests, so that workers can share the load."""
APPROVE = Decision(action=DecisionAction.APPROVE)
REJECT = Decision(action=DecisionAction.REJECT)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the servers are forked")


def run_kill_harness(tmp_path: Path, *arguments: str, within_s: float = 58) -> dict[str, Any]:
    """Run the kill harness in a process forked after the undisturbed run; return its report."""
    harness_process = template("tests.paper_search.service.sessions.kill_harness.__main__:main", EXPECTED_REPLIES)
    with harness_process.start("--folder", str(tmp_path), *arguments, env=os.environ, cwd=ROOT, stderr=2) as killer:
        timer = threading.Timer(within_s, killer.kill)
        timer.start()
        try:
            report = killer.stdout.read()
            assert killer.wait() == 0
        finally:
            timer.cancel()
            killer.kill()
    return json.loads(report)


@needs_fork
@requirement("PS-REQ-15", "PS-PROP-8", "PS-PROP-9")
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (2, 3))])
def test_killing_the_server_at_any_time_loses_nothing_and_repeats_nothing(seed: int, tmp_path: Path) -> None:
    report = run_kill_harness(tmp_path, "--kills", str(KILLS), "--seed", str(seed))
    assert report["failures"] == dict.fromkeys(FAILURES, 0), report["problems"]
    assert report["kills"] >= KILLS
    assert report["sessions_finished"] == report["sessions"] - report["sessions_orphaned"] > 0
    assert report["decisions_answered_again"] > 0


@needs_fork
@requirement("PS-REQ-15", "PS-PROP-8", "PS-PROP-9")
@pytest.mark.parametrize("seed", [20])
def test_random_decisions_over_rounds_survive_kills_at_random_moments(seed: int, tmp_path: Path) -> None:
    check_random_plans(run_kill_harness(tmp_path, "--kills", "20", "--seed", str(seed), "--random-plans"), kills=20)


@needs_fork
@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_random_decisions_over_rounds_survive_many_kills(seed: int, tmp_path: Path) -> None:
    report = run_kill_harness(tmp_path, "--kills", "50", "--seed", str(seed), "--random-plans", within_s=890)
    check_random_plans(report, kills=50)


def check_random_plans(report: dict[str, Any], *, kills: int) -> None:
    assert report["failures"] == dict.fromkeys(FAILURES, 0), report["problems"]
    assert report["kills"] >= kills
    assert report["sessions_finished"] == report["sessions"] - report["sessions_orphaned"] > 3
    assert report["decisions_answered"] > 20
    assert report["fetches"] > 20


@needs_fork
@pytest.mark.soak
@pytest.mark.parametrize("faults", [list(FAULTS)[::2], list(FAULTS)[1::2]])
def test_every_deliberate_fault_of_the_server_is_detected(faults: list[str], tmp_path: Path) -> None:
    report = run_kill_harness(tmp_path, "--kills", "60", "--self-check", *faults)
    assert [name for name in faults if not report[name]["noticed"]] == []


@asynccontextmanager
async def open_manager(folder: Path) -> AsyncGenerator[SessionManager]:
    """Yield a manager of the folder, as each new server has one."""
    manager = SessionManager(
        store=SessionFiles(folder), inbox=Inbox(folder / "inbox.db"), build=CountedWorkflows(folder / "fetches", 1)
    )
    try:
        yield manager
    finally:
        await manager.aclose()


async def open_session(folder: Path, *decisions: Decision) -> Any:
    """Open a session in a server, send these decisions, stop the server; return the last reply."""
    async with open_manager(folder) as manager:
        reply = await manager.start("tidal heating of icy moons", AppConfig())
        for decision in decisions:
            reply = await manager.decide(reply["session_id"], decision)
    return reply


def approve_in_inbox(folder: Path, checkpoint_id: str) -> None:
    """Store a decision in the inbox, as a server does that is killed before it applies it."""
    inbox = Inbox(folder / "inbox.db")
    inbox.decide(checkpoint_id, InboxDecision(action="approve"), "agent")
    inbox.close()


@requirement("PS-PROP-9")
async def test_a_search_that_continues_in_another_server_still_counts_the_decisions_taken(tmp_path: Path) -> None:
    reply = await open_session(tmp_path)
    approve_in_inbox(tmp_path, reply["checkpoint_id"])
    async with open_manager(tmp_path) as manager:
        assert (await manager.get_state(reply["session_id"]))["iteration"] == 1


@requirement("PS-PROP-9")
async def test_a_search_that_ends_in_another_server_still_counts_the_decisions_taken(tmp_path: Path) -> None:
    reply = await open_session(tmp_path, APPROVE)
    approve_in_inbox(tmp_path, reply["checkpoint_id"])
    async with open_manager(tmp_path) as manager:
        end = await manager.decide(reply["session_id"], APPROVE, checkpoint_id=reply["checkpoint_id"])
    assert (end["is_complete"], end["iteration"]) == (True, 2)


async def test_another_server_gives_the_same_reply_at_the_strategy_of_a_later_round(tmp_path: Path) -> None:
    before = await open_session(tmp_path, APPROVE, REJECT)
    async with open_manager(tmp_path) as manager:
        after = await manager.get_state(before["session_id"])
    assert {**after, "elapsed_s": 0} == {**before, "elapsed_s": 0}


async def test_a_server_killed_while_it_opens_a_session_leaves_no_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(_connection: object) -> None:
        raise KeyboardInterrupt

    session_id, files = new_id(), SessionFiles(tmp_path)
    with monkeypatch.context() as dying:
        dying.setattr("paper_search.store.session_files.transaction", die)
        with pytest.raises(KeyboardInterrupt):
            files.write(session_id, "session", "{}", create_session=True)
    async with open_manager(tmp_path) as manager:
        with pytest.raises(SessionNotFound):
            await manager.get_state(session_id)


async def test_a_checkpoint_that_was_stored_but_never_shown_counts_as_undecided(tmp_path: Path) -> None:
    reply = await open_session(tmp_path)
    with closing(MemoryInbox()) as inbox:
        assert read_session_state(SessionFiles(tmp_path), inbox, reply["session_id"]).iteration == 0
