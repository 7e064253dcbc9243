"""Dialogs over stdio: raw messages, so that clients can misbehave."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.uraniborg.kernel.mcp.asking_server import asking_server
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, Wire, call, request, wire_to
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.mcp import Form
from uraniborg.kernel.store.inbox import Inbox, InboxDecision, MemoryInbox

YES = {"action": "accept", "content": {"decision": "yes"}}


@pytest.fixture
def inbox() -> Inbox:
    return MemoryInbox()


@asynccontextmanager
async def open_wire(
    inbox: Inbox, elicitation: Any = None, version: str = "2025-11-25", patience: float = 20
) -> AsyncGenerator[Wire]:
    """Yield a client that declares this elicitation capability; None stands for forms, False for no capability."""
    capabilities: dict[str, Any] = {} if elicitation is False else {"elicitation": elicitation or {}}
    async with wire_to(asking_server(inbox), initialized=False, patience=patience) as wire:
        params: dict[str, Any] = {**INITIALIZE["params"], "capabilities": capabilities, "protocolVersion": version}
        await wire.ask({**INITIALIZE, "params": params})
        await wire.send(INITIALIZED)
        yield wire


def answer(question: dict[str, Any], result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": question["id"], "result": result}


def get_state(reply: dict[str, Any]) -> str:
    return reply["result"]["structuredContent"]["state"]


async def ask(wire: Wire, **arguments: Any) -> dict[str, Any]:
    """Call the tool and return the request for the dialog."""
    question = await wire.ask(call("ask", {"question": "q", **arguments}))
    assert question["method"] == "elicitation/create"
    return question


async def wait_for_decision(inbox: Inbox) -> InboxDecision | None:
    entry = await inbox.wait_decided("q", 20)
    assert entry is not None
    return entry.decision


async def test_the_answer_of_the_person_decides(inbox: Inbox) -> None:
    async with open_wire(inbox) as wire:
        question = await ask(wire)
        assert question["params"] == {
            "mode": "form",
            "message": "q\\u202e",
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "decision": {"type": "string", "enum": ["yes", "no"]},
                    "note": {"type": "string", "default": "none"},
                    "is_sure": {"type": "boolean"},
                },
                "required": ["decision"],
            },
        }
        assert get_state(await wire.ask(answer(question, YES))) == "decided"
    assert inbox.get("q").decision == InboxDecision(action="yes")


@pytest.mark.parametrize("version", ["2025-06-18", "2025-03-26"])
async def test_text_fields_have_no_defaults_in_versions_without_them(inbox: Inbox, version: str) -> None:
    async with open_wire(inbox, version=version) as wire:
        question = await ask(wire)
        assert question["params"]["requestedSchema"]["properties"]["note"] == {"type": "string"}


@pytest.mark.parametrize(
    ("elicitation", "is_asked"),
    [(None, True), ({"form": {}}, True), ({"form": {}, "url": {}}, True), ({"url": {}}, False), (False, False)],
)
async def test_only_a_client_with_forms_is_asked(inbox: Inbox, elicitation: Any, is_asked: bool) -> None:
    async with open_wire(inbox, elicitation) as wire:
        reply = await wire.ask(call("ask", {"question": "q"}))
        assert ("method" in reply) is is_asked
        if not is_asked:
            assert get_state(reply) == "pending"


@pytest.mark.parametrize(
    ("result", "state"),
    [
        ({"action": "decline"}, "declined"),
        ({"action": "cancel"}, "cancelled"),
        ({"action": "decline", "content": {"decision": "yes"}}, "declined"),
        ({"action": "accept"}, "invalid"),
        ({"action": "accept", "content": {"decision": "maybe"}}, "invalid"),
        ({"action": "accept", "content": {"decision": ["yes"]}}, "invalid"),
        ({"action": "accept", "content": {"decision": {"yes": True}}}, "invalid"),
        ({"action": "accept", "content": {"decision": "yes", "is_sure": "true"}}, "invalid"),
        ({"action": "accept", "content": {"decision": "yes", "note": "x" * 20_001}}, "invalid"),
        ({"action": "accept", "content": "yes"}, "invalid"),
        ({"action": "perhaps"}, "invalid"),
        ({}, "invalid"),
        ("yes", "failed"),
        (None, "failed"),
    ],
)
async def test_another_answer_leaves_the_question_pending(
    inbox: Inbox, result: Any, state: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_wire(inbox) as wire:
        question = await ask(wire)
        assert get_state(await wire.ask(answer(question, result))) == state
    assert inbox.get("q").state == "pending"
    logged = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert bool(logged) is (state in ("invalid", "failed"))
    assert "xxx" not in caplog.text


def test_a_text_of_20_000_characters_is_accepted() -> None:
    form = Form("q", "?", {"note": {"type": "string"}})
    assert form.check_answer({"note": "x" * 20_000}) == {"note": "x" * 20_000}


async def test_unknown_and_empty_fields_are_ignored(inbox: Inbox) -> None:
    async with open_wire(inbox) as wire:
        content = {"decision": "no", "note": None, "colour": "red"}
        await wire.ask(answer(await ask(wire), {"action": "accept", "content": content}))
    assert inbox.get("q").decision == InboxDecision(action="no")


async def test_a_client_that_refuses_the_request_leaves_the_question_pending(inbox: Inbox) -> None:
    async with open_wire(inbox) as wire:
        question = await ask(wire)
        error = {"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32601, "message": "no"}}
        assert get_state(await wire.ask(error)) == "failed"
        assert (await ask(wire))["id"] != question["id"], "the next call asks again"


async def test_responses_to_no_request_are_ignored(inbox: Inbox) -> None:
    async with open_wire(inbox) as wire:
        for number in (0, 7, "1", None, [1], True):
            await wire.send({"jsonrpc": "2.0", "id": number, "result": YES})
        await wire.send({"jsonrpc": "2.0", "id": 3, "error": "broken"})
        assert (await wire.ask(request("ping")))["result"] == {}
        question = await ask(wire)
        await wire.send({"jsonrpc": "2.0", "id": 99, "result": YES})
        assert get_state(await wire.ask(answer(question, YES))) == "decided"


async def test_other_calls_are_answered_while_a_dialog_is_open(inbox: Inbox) -> None:
    async with open_wire(inbox) as wire:
        await ask(wire)
        reply = await wire.ask(call("echo", {"text": "hello"}) | {"id": 2})
        assert reply["result"]["content"][0]["text"] == "hello"


async def test_the_call_replies_in_time_and_a_late_answer_decides(inbox: Inbox) -> None:
    async with open_wire(inbox) as wire:
        question = await ask(wire, seconds=0.05)
        assert get_state(await wire.receive()) == "open"
        # The dialog is open: another call joins it instead of asking again.
        assert get_state(await wire.ask(call("ask", {"question": "q", "seconds": 0.05}))) == "open"
        await wire.send(answer(question, YES))
        assert await wait_for_decision(inbox) == InboxDecision(action="yes")


async def test_a_decision_elsewhere_closes_the_dialog_and_the_late_answer_is_ignored(
    inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_wire(inbox) as wire:
        question = await ask(wire)
        await asyncio.to_thread(inbox.decide, "q", InboxDecision(action="no"), "terminal")
        messages = [await wire.receive(), await wire.receive()]
        (cancelled,) = [message for message in messages if "method" in message]
        (reply,) = [message for message in messages if "method" not in message]
        assert cancelled["method"] == "notifications/cancelled"
        assert cancelled["params"]["requestId"] == question["id"]
        assert get_state(reply) == "decided"
        await wire.send(answer(question, YES))
        await wire.ask(request("ping"))
    entry = inbox.get("q")
    assert (entry.door, entry.decision) == ("terminal", InboxDecision(action="no"))
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_deleted_question_closes_the_dialog(inbox: Inbox) -> None:
    async with open_wire(inbox) as wire:
        await ask(wire)
        await asyncio.to_thread(inbox.forget, "test", "q")
        assert {(await wire.receive()).get("method") for _ in range(2)} == {"notifications/cancelled", None}


async def test_a_cancelled_call_closes_its_dialog(inbox: Inbox) -> None:
    async with open_wire(inbox) as wire:
        question = await ask(wire)
        await wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        messages = [await wire.receive(), await wire.receive()]
        assert {"requestId": question["id"], "reason": "The question was decided or withdrawn."} in [
            message.get("params") for message in messages
        ]
        assert (await ask(wire))["method"] == "elicitation/create"
    assert inbox.get("q").state == "pending"


async def test_a_call_does_not_wait_for_an_answer_after_the_end_of_input(inbox: Inbox) -> None:
    async with open_wire(inbox) as wire:
        await ask(wire)
        wire.end()
        assert get_state(await wire.receive()) == "failed"
        await wire.over()


async def test_a_client_that_leaves_ends_its_dialogs(inbox: Inbox) -> None:
    before = asyncio.all_tasks()
    async with open_wire(inbox) as wire:
        await ask(wire)
        wire.leave()
        await wire.over()
    async with asyncio.timeout(20):
        while asyncio.all_tasks() - before:  # noqa: ASYNC110 - tasks that nobody owns have no event
            await asyncio.sleep(0.01)
    assert inbox.get("q").state == "pending"


async def test_a_batch_can_contain_the_answer(inbox: Inbox) -> None:
    async with open_wire(inbox, version="2025-03-26") as wire:
        question = await ask(wire)
        await wire.send([answer(question, YES), request("ping", id=5)])
        replies = [await wire.receive(), await wire.receive()]
    assert [{"jsonrpc": "2.0", "id": 5, "result": {}}] in replies
    assert inbox.get("q").state == "decided"


def test_a_form_requires_its_first_field() -> None:
    form = Form("q", "?", {"decision": {"type": "string", "enum": ["yes"]}})
    assert form.check_answer({"decision": "yes"}) == {"decision": "yes"}
    with pytest.raises(InvalidInput):
        form.check_answer(None)
