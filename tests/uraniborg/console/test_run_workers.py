"""The requests of runs that wait for an approval: each is resumed by its own decision, or dropped."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from uraniborg.console.run_workers import RunWorkers
from uraniborg.console.waiting_runs import WaitingRuns
from uraniborg.kernel.inbox import Decision, Inbox

APPROVAL = "apr_1"


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
    inbox.decide(APPROVAL, Decision(action="reject"), "cli")


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
