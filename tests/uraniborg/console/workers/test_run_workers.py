"""The requests of runs that wait for an approval: each is resumed by its own decision, or dropped."""

import asyncio
import errno
from asyncio.subprocess import Process
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from pflow.service.history import ChangeRecord
from uraniborg.console.services import ConsoleServices
from uraniborg.console.workers import run_workers
from uraniborg.console.workers.run_workers import RunWorkers, WaitingRuns
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.store.change_feed import Change
from uraniborg.kernel.store.inbox import Inbox, InboxDecision

APPROVAL = "apr_1"
WAIT_AND_END = """
read request
echo '{"id": 0, "progress": {"run_id": "run_1"}}'
echo '{"id": 0, "result": {"run_id": "run_1", "success": false, "error": {"approval_id": "apr_1"}}}'
"""
"""A worker whose run waits for an approval, and that ends meanwhile."""
SUCCEED = """
read request
echo '{"id": 0, "result": {"run_id": "run_2", "success": true}}'
"""

ADA = Actor(kind="person", name="ada", authenticated="sign_in")
BEA = Actor(kind="person", name="bea", authenticated="account")


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    with closing(Inbox(tmp_path / "inbox.db")) as made:
        yield made


@pytest.fixture
def workers(tmp_path: Path, inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> RunWorkers:
    """Return workers with a stored request, which cannot start a process."""

    async def refuse_to_start(*_arguments: object, **_options: object) -> None:
        raise AssertionError("A run was started.")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refuse_to_start)
    workers = RunWorkers(inbox, tmp_path / "waiting-runs.json")
    WaitingRuns(workers.path).add(APPROVAL, {"name": "publish"})
    return workers


def ask_and_reject(inbox: Inbox) -> None:
    inbox.put(APPROVAL, "pflow", "approval", APPROVAL, {})
    inbox.decide(APPROVAL, InboxDecision(action="reject"), "cli")


async def finish_other_tasks() -> None:
    """Wait for the tasks that follow runs."""
    await asyncio.gather(*(task for task in asyncio.all_tasks() if task is not asyncio.current_task()))


async def test_a_request_is_dropped_when_another_run_has_used_its_decision(workers: RunWorkers, inbox: Inbox) -> None:
    ask_and_reject(inbox)
    inbox.archive(APPROVAL)
    await workers.resume_decided_runs()
    assert WaitingRuns(workers.path).list_ids() == []


async def test_a_request_is_dropped_when_its_question_was_deleted(workers: RunWorkers) -> None:
    await workers.resume_decided_runs()
    assert WaitingRuns(workers.path).list_ids() == []


async def test_a_request_stays_while_its_question_waits_again_after_an_archived_decision(
    workers: RunWorkers, inbox: Inbox
) -> None:
    ask_and_reject(inbox)
    inbox.archive(APPROVAL)
    inbox.put(APPROVAL, "pflow", "approval", APPROVAL, {})
    await workers.resume_decided(APPROVAL)
    assert WaitingRuns(workers.path).list_ids() == [APPROVAL]


async def test_a_request_is_resumed_when_its_question_is_decided(workers: RunWorkers, inbox: Inbox) -> None:
    ask_and_reject(inbox)
    with pytest.raises(AssertionError, match="A run was started"):
        await workers.resume_decided(APPROVAL)
    assert WaitingRuns(workers.path).list_ids() == [APPROVAL]


async def test_a_request_stays_when_no_process_can_be_started(
    workers: RunWorkers, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail_to_start(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", fail_to_start)
    ask_and_reject(inbox)
    await workers.resume_decided_runs()
    assert WaitingRuns(workers.path).list_ids() == [APPROVAL]


async def test_a_process_that_ended_while_it_waited_is_replaced_and_its_slot_is_free_again(
    tmp_path: Path, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_process = asyncio.create_subprocess_exec
    processes: list[Process] = []

    async def start_script(*_arguments: str, **options: Any) -> Process:
        script = SUCCEED if processes else WAIT_AND_END
        processes.append(await start_process("sh", "-c", script, **options))
        return processes[-1]

    monkeypatch.setenv("PFLOW_HOME", str(tmp_path / "pflow"))
    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_script)
    monkeypatch.setattr(run_workers, "_MAX_RUNS", 1)
    workers = RunWorkers(inbox, tmp_path / "waiting-runs.json")
    inbox.put(APPROVAL, "pflow", "approval", APPROVAL, {})
    assert await workers.start_run("publish", None, actor=ADA) == {"run_id": "run_1"}
    await processes[0].wait()
    await finish_other_tasks()
    inbox.decide(APPROVAL, InboxDecision(action="approve"), "cli", BEA)
    await workers.resume_decided(APPROVAL)
    await finish_other_tasks()
    assert len(processes) == 2
    assert ChangeRecord(tmp_path / "pflow").find_actor("resume", "run_1") == BEA, "who decided has resumed the run"
    assert (await workers.start_run("publish", None, actor=ADA))["run_id"] == "run_2"
    await workers.stop()


async def test_a_server_that_stops_starts_no_run_and_the_request_of_the_decided_one_stays(
    workers: RunWorkers, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_starting = asyncio.Event()

    async def start_slowly(*_arguments: object, **_options: object) -> None:
        is_starting.set()
        await asyncio.Future()

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_slowly)
    none = cast("Any", None)
    services = ConsoleServices(inbox, none, none, none, none, workers, none, "ada")
    ask_and_reject(inbox)
    await services.resume_decided_run(Change("inbox", APPROVAL, {"state": "decided", "part": "pflow"}, "", ""))
    await is_starting.wait()
    await services.stop_resuming()
    assert WaitingRuns(workers.path).list_ids() == [APPROVAL]
