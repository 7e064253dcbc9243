"""The person approves a step of a workflow in their client."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.dialogs import APPROVE, CANCEL, DECLINE, NEVER, Person, fill_in
from tests.pflow.mcp.agents import agent, call_failing_tool, call_tool, execute_workflow, get_stderr_file
from tests.pflow.mcp.sample_workflows import chain, count_runs, counting_node, shell_node
from tests.pflow.store.homes import write_draft
from uraniborg.kernel.store.inbox import Inbox, InboxDecision, InboxEntry


def open_inbox(home: Path) -> Inbox:
    return Inbox(home.parent / "person" / "uraniborg" / "data" / "inbox.db")


def read_entries(home: Path) -> list[InboxEntry]:
    inbox = open_inbox(home)
    try:
        return inbox.beginning_with("apr_")
    finally:
        inbox.close()


@pytest.fixture
def tally(home: Path, tmp_path: Path) -> Path:
    """Write the draft `asks`, whose first node counts its runs in the returned file."""
    tally = tmp_path / "tally"
    ask = {"id": "ask", "type": "approval", "params": {"question": "Send it?", "details": {"to": "Tycho"}}}
    workflow = chain(counting_node("write", tally), ask, shell_node("send", "echo ${ask.decision} ${ask.note}"))
    write_draft(home, "asks", workflow | {"outputs": {"sent": {"source": "${send.stdout}"}}})
    return tally


async def test_an_approved_run_continues_in_the_same_call(home: Path, tally: Path) -> None:
    person = Person(fill_in(decision="approve", note="gladly"))
    async with agent(home, on_dialog=person) as client:
        reply = await execute_workflow(client, "asks")
    assert reply["outputs"]["sent"].strip() == "approve gladly"
    assert reply["reused_nodes"] == ["write"]
    assert count_runs(tally) == 1
    (question,) = person.questions
    assert question.message.startswith("Send it?\n\nWorkflow asks, at ask\n")
    assert '"to": "Tycho"' in question.message
    assert question.requestedSchema["properties"]["decision"]["enum"] == ["approve", "reject"]
    (entry,) = read_entries(home)
    assert (entry.door, entry.decision) == ("client", InboxDecision(action="approve", note="gladly"))
    assert entry.decided_by == "mcp 0.1.0", "the name that the client gave"


async def test_a_rejected_run_fails_with_the_note(home: Path, tally: Path) -> None:
    async with agent(home, on_dialog=Person(fill_in(decision="reject", note="not today"))) as client:
        reply = await call_failing_tool(client, "execute", name="asks")
    assert "not today" in reply["error"]["message"]
    assert "dialog" not in reply
    assert count_runs(tally) == 1


@pytest.mark.parametrize(("answer", "state"), [(DECLINE, "declined"), (CANCEL, "cancelled")])
async def test_a_person_who_declines_leaves_the_run_waiting(
    home: Path, tally: Path, answer: dict[str, Any], state: str
) -> None:
    async with agent(home, on_dialog=Person(answer)) as client:
        reply = await call_failing_tool(client, "execute", name="asks")
    assert reply["error"]["code"] == "approval_required"
    assert reply["dialog"]["state"] == state
    assert "declined to answer now" in reply["dialog"]["message"]
    assert [entry.state for entry in read_entries(home)] == ["pending"]
    assert count_runs(tally) == 1


async def test_the_next_call_asks_a_person_who_declined_again(home: Path, tally: Path) -> None:
    person = Person(DECLINE, APPROVE)
    async with agent(home, on_dialog=person) as client:
        assert (await call_failing_tool(client, "execute", name="asks"))["dialog"]["state"] == "declined"
        assert (await execute_workflow(client, "asks"))["success"]
    assert len(person.questions) == 2
    assert count_runs(tally) == 1


async def test_a_client_that_never_answers_blocks_nothing_and_a_late_answer_counts(home: Path, tally: Path) -> None:
    person = Person(NEVER)
    async with agent(home, on_dialog=person, URANIBORG_PFLOW__REPLY_WITHIN_S="1") as client:
        reply = await call_failing_tool(client, "execute", name="asks")
        assert reply["dialog"]["state"] == "open"
        assert (await call_tool(client, "list_library")) == []
        again = await call_failing_tool(client, "execute", name="asks")
        assert again["dialog"]["state"] == "open"
        assert len(person.questions) == 1
        person.answer_late(APPROVE)
        async with asyncio.timeout(30):
            while read_entries(home)[0].state == "pending":  # noqa: ASYNC110 - the server is another process
                await asyncio.sleep(0.02)
        assert (await execute_workflow(client, "asks"))["success"]
    assert count_runs(tally) == 1


async def test_an_answer_that_cannot_be_used_leaves_the_run_waiting(home: Path, tally: Path) -> None:
    async with agent(home, on_dialog=Person(fill_in(decision="edit")), is_silent=False) as client:
        reply = await call_failing_tool(client, "execute", name="asks")
    assert reply["dialog"]["state"] == "invalid"
    assert [entry.state for entry in read_entries(home)] == ["pending"]
    assert "an answer in a dialog cannot be used" in get_stderr_file(home).read_text()


async def test_a_decision_elsewhere_closes_the_dialog_and_the_run_continues(home: Path, tally: Path) -> None:
    person = Person(NEVER)
    async with agent(home, on_dialog=person) as client:
        running = asyncio.create_task(execute_workflow(client, "asks"))
        await person.wait_for_question()
        inbox = open_inbox(home)
        inbox.decide(read_entries(home)[0].id, InboxDecision(action="approve"), "terminal")
        inbox.close()
        assert (await running)["outputs"]["sent"].strip() == "approve"
    assert person.cancelled == 1
    assert count_runs(tally) == 1


async def test_a_client_without_dialogs_sees_what_it_saw_before(home: Path, tally: Path) -> None:
    async with agent(home) as client:
        reply = await call_failing_tool(client, "execute", name="asks")
    assert reply["error"]["code"] == "approval_required"
    assert "dialog" not in reply


@pytest.mark.parametrize("setting", ["0", "1"])
async def test_inputs_never_approve(home: Path, tally: Path, setting: str) -> None:
    inputs = {"ask": {"decision": "approve"}, "decision": "approve", "approve": True, "ask.decision": "approve"}
    async with agent(home, URANIBORG_REQUIRE_PERSON=setting) as client:
        for given in ({}, inputs):
            result = await client.call_tool("execute", {"name": "asks", "inputs": given})
            assert result.isError
    assert [entry.state for entry in read_entries(home)] == ["pending"]
