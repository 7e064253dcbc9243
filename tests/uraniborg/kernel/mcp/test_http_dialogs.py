"""Dialogs over Streamable HTTP: the request comes with the call or in the stream of the session."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.dialogs import APPROVE, NEVER, Person, fill_in
from tests.uraniborg.kernel.mcp.asgi_client import SESSION, Client, client_of
from tests.uraniborg.kernel.mcp.asking_server import asking_server
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, call
from uraniborg.kernel.mcp import make_stateful_app, make_stateless_app
from uraniborg.kernel.mcp.testing import connect_http_client, get_json, serve_app
from uraniborg.kernel.store.inbox import Inbox, InboxDecision, MemoryInbox

JSON = "application/json"
ASK = call("ask", {"question": "q"})
SOON = call("ask", {"question": "q", "seconds": 0.05})
YES = {"action": "accept", "content": {"decision": "yes"}}


@pytest.fixture
def inbox() -> Inbox:
    return MemoryInbox()


@asynccontextmanager
async def open_session(inbox: Inbox, **options: Any) -> AsyncGenerator[tuple[Client, str]]:
    """Yield a client and its session, which can show forms."""
    async with client_of(make_stateful_app(asking_server(inbox), **options)) as client:
        params: dict[str, Any] = {**INITIALIZE["params"], "capabilities": {"elicitation": {}}}
        session = (await client.post({**INITIALIZE, "params": params})).headers[SESSION]
        await client.post(INITIALIZED, session)
        yield client, session


def answer(question: dict[str, Any], result: Any = YES) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": question["id"], "result": result}


def get_state(message: dict[str, Any]) -> str:
    return message["result"]["structuredContent"]["state"]


async def test_the_official_client_answers_over_http(inbox: Inbox) -> None:
    person = Person(fill_in(decision="yes", note="fine"))
    async with (
        serve_app(make_stateful_app(asking_server(inbox))) as address,
        connect_http_client(f"{address}/mcp", on_dialog=person) as client,
    ):
        assert get_json(await client.call_tool("ask", {"question": "q"})) == {"state": "decided"}
    assert inbox.get("q").decision == InboxDecision(action="yes", note="fine")


async def test_a_late_answer_over_http_counts_and_other_calls_are_answered(inbox: Inbox) -> None:
    person = Person(NEVER)
    async with (
        serve_app(make_stateful_app(asking_server(inbox))) as address,
        connect_http_client(f"{address}/mcp", on_dialog=person) as client,
    ):
        assert get_json(await client.call_tool("ask", {"question": "q", "seconds": 0.05}))["state"] == "open"
        assert (await client.call_tool("echo", {"text": "x"})).content
        person.answer_late(fill_in(decision="no"))
        entry = await inbox.wait_decided("q", 20)
    assert entry is not None
    assert entry.decision == InboxDecision(action="no")


async def test_a_decision_elsewhere_closes_the_dialog_over_http(inbox: Inbox) -> None:
    person = Person(NEVER)
    async with (
        serve_app(make_stateful_app(asking_server(inbox))) as address,
        connect_http_client(f"{address}/mcp", on_dialog=person) as client,
    ):
        calling = asyncio.create_task(client.call_tool("ask", {"question": "q"}))
        await person.wait_for_question()
        await asyncio.to_thread(inbox.decide, "q", InboxDecision(action="no"), "terminal")
        assert get_json(await calling) == {"state": "decided"}
        assert person.cancelled == 1


async def test_the_question_comes_in_the_stream_of_the_call(inbox: Inbox) -> None:
    async with open_session(inbox) as (client, session), client.stream(session) as stream:
        calling = client.send("POST", ASK, session)
        assert (await calling.next())["status"] == 200
        question = await calling.next_event()
        assert question["method"] == "elicitation/create"
        assert (await client.post(answer(question), session)).status == 202
        assert get_state(await calling.next_event()) == "decided"
        assert stream.count_unread() == 0


@pytest.mark.parametrize(("options", "headers"), [({"json_answers": True}, {}), ({}, {"accept": JSON})])
async def test_a_call_with_a_single_reply_asks_in_the_stream_of_the_session(
    inbox: Inbox, options: dict[str, Any], headers: dict[str, str]
) -> None:
    async with open_session(inbox, **options) as (client, session), client.stream(session) as stream:
        calling = client.send("POST", ASK, session, **headers)
        question = await stream.next_event()
        assert (await client.post(answer(question), session)).status == 202
        (reply,) = (await calling.answer()).messages
        assert get_state(reply) == "decided"


@pytest.mark.parametrize(("options", "headers"), [({"json_answers": True}, {}), ({}, {"accept": JSON})])
async def test_a_call_whose_question_cannot_reach_the_client_asks_nothing(
    inbox: Inbox, options: dict[str, Any], headers: dict[str, str]
) -> None:
    async with open_session(inbox, **options) as (client, session):
        (reply,) = (await client.post(ASK, session, **headers)).messages
        assert get_state(reply) == "pending"


async def test_a_batch_asks_nothing_because_its_reply_is_one_array(inbox: Inbox) -> None:
    async with open_session(inbox) as (client, session):
        answers = await client.post([ASK], session, mcp_protocol_version="2025-03-26")
        ((reply,),) = answers.messages
        assert get_state(reply) == "pending"


async def test_a_dialog_without_its_call_is_closed_in_the_stream_of_the_session(inbox: Inbox) -> None:
    async with open_session(inbox) as (client, session), client.stream(session) as stream:
        question, reply = (await client.post(SOON, session)).messages
        assert get_state(reply) == "open"
        await asyncio.to_thread(inbox.decide, "q", InboxDecision(action="no"), "terminal")
        cancelled = await stream.next_event()
        assert (cancelled["method"], cancelled["params"]["requestId"]) == ("notifications/cancelled", question["id"])
        assert (await client.post(answer(question), session)).status == 202
    assert inbox.get("q").decision == InboxDecision(action="no")


async def test_an_answer_of_another_session_is_ignored(inbox: Inbox) -> None:
    async with open_session(inbox) as (client, session):
        other = await client.begin()
        question, _ = (await client.post(SOON, session)).messages
        assert (await client.post(answer(question), other)).status == 202
        assert inbox.get("q").state == "pending"
        await client.post(answer(question), session)
        assert await inbox.wait_decided("q", 20)


async def test_a_session_that_ends_ends_its_dialogs(inbox: Inbox) -> None:
    async with open_session(inbox) as (client, session):
        before = asyncio.all_tasks()
        await client.post(SOON, session)
        assert asyncio.all_tasks() - before
        assert (await client.ask("DELETE", session=session)).status == 200
        async with asyncio.timeout(20):
            while asyncio.all_tasks() - before:  # noqa: ASYNC110 - tasks that nobody owns have no event
                await asyncio.sleep(0.01)


async def test_a_server_without_sessions_asks_nothing(inbox: Inbox) -> None:
    async with (
        serve_app(make_stateless_app(asking_server(inbox))) as address,
        connect_http_client(f"{address}/mcp", on_dialog=Person(APPROVE)) as client,
    ):
        assert get_json(await client.call_tool("ask", {"question": "q"})) == {"state": "pending"}
