import asyncio
import logging

import pytest
from mcp.server.streamable_http import GET_STREAM_KEY, REQUEST_STREAM_BUFFER_SIZE

from tests.uraniborg.kernel.mcp.asgi_client import Client, client_of
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZED, call, request
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from tests.uraniborg.kernel.mcp.subscribable_server import subscribable_server
from uraniborg.kernel.mcp import Server, make_server, make_stateful_app, report_progress, tool
from uraniborg.kernel.mcp.session import ROOM_TAKEN_AT_MOST, Session

PAGES = [f"page://number/{number}" for number in range(60)]


async def subscribe(client: Client, session: str, *uris: str) -> None:
    for uri in uris:
        answer = await client.post(request("resources/subscribe", {"uri": uri}, id=uri), session)
        assert answer.messages[0]["result"] == {}


async def test_a_client_that_does_not_read_its_stream_gets_its_answers_and_delays_no_other_client() -> None:
    server, subscribed = subscribable_server()
    async with client_of(make_stateful_app(server)) as client:
        stalled, other = await client.begin(), await client.begin()
        await subscribe(client, stalled, *PAGES)
        await subscribe(client, other, PAGES[0])
        before = len(asyncio.all_tasks())
        async with client.stream(stalled) as unread, client.stream(other) as read:
            unread.reading.clear()
            for _ in range(20):
                for page in PAGES:
                    subscribed.notify_updated(page)
            assert (await read.next_event())["params"] == {"uri": PAGES[0]}
            for number in range(5):
                answer = await client.post(call("change", {"uri": PAGES[0]}) | {"id": number}, stalled)
                assert not answer.messages[0]["result"]["isError"]
            assert len(asyncio.all_tasks()) - before < 20
            unread.reading.set()
            received = {(await unread.next_event())["params"]["uri"] for _ in PAGES}
            assert received == set(PAGES)


async def test_a_stream_that_opens_is_notified_of_earlier_changes() -> None:
    server, subscribed = subscribable_server()
    async with client_of(make_stateful_app(server)) as client:
        session = await client.begin()
        await subscribe(client, session, *PAGES)
        before = asyncio.all_tasks()
        for uri in PAGES:
            subscribed.notify_updated(uri)
        assert asyncio.all_tasks() == before
        async with client.stream(session) as stream:
            assert [(await stream.next_event())["params"]["uri"] for _ in PAGES] == PAGES
        subscribed.notify_updated(PAGES[0])
        async with client.stream(session) as stream:
            assert (await stream.next_event())["params"]["uri"] == PAGES[0]


async def test_the_transport_still_keeps_its_event_stream_where_we_look_for_it() -> None:
    """Check the SDK's private table of streams, in case a release renames it or changes its buffer size."""
    session = Session(idle_seconds=60, json_answers=False)
    assert not session.has_room
    assert "_request_streams" in vars(session.transport)
    assert GET_STREAM_KEY == "_GET_stream"
    assert REQUEST_STREAM_BUFFER_SIZE > ROOM_TAKEN_AT_MOST == 8


async def test_of_two_streams_opened_at_once_one_is_refused() -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await client.begin()
        first, second = client.send("GET", session=session), client.send("GET", session=session)
        assert (await first.next())["status"] == 200
        refused = await second.answer()
        assert (refused.status, refused.error["code"]) == (409, "stream_already_open")
        await first.leave()
        async with client.stream(session):
            pass


async def test_a_stream_that_was_refused_does_not_count_as_open() -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await client.begin()
        assert (await client.ask("GET", session=session, accept="text/html")).status == 406
        async with client.stream(session):
            pass


async def test_a_stream_that_a_client_resumes_is_opened_as_a_new_one() -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await client.begin()
        resumed = client.send("GET", session=session, last_event_id="17")
        assert (await resumed.next())["status"] == 200
        await resumed.leave()


@pytest.mark.parametrize("json_answers", [False, True])
async def test_an_id_in_use_is_refused_and_both_callers_are_answered(json_answers: bool) -> None:
    async with client_of(make_stateful_app(waiting_server(), json_answers=json_answers)) as client:
        session = await client.begin()
        waiting = client.send("POST", call("wait", {}) | {"id": 7}, session)
        async with asyncio.timeout(20):
            await begun.wait()
        for again in (7, "7"):
            refused = await client.post(request("ping", id=again), session)
            assert (refused.status, refused.error["code"]) == (400, "id_in_use")
        go_on.set()
        assert (await waiting.answer()).messages[-1]["id"] == 7
        assert (await client.post(request("ping", id=7), session)).messages == [
            {"jsonrpc": "2.0", "id": 7, "result": {}},
        ]


async def test_an_id_that_means_the_event_stream_to_the_transport_is_refused() -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await client.begin()
        assert (await client.post(request("ping", id=GET_STREAM_KEY), session)).error["code"] == "id_in_use"


async def test_progress_arrives_during_the_call() -> None:
    async with client_of(make_stateful_app(waiting_server())) as client:
        waiting = client.send("POST", call("wait", {}, _meta={"progressToken": "t"}), await client.begin())
        assert (await waiting.next())["status"] == 200
        assert (await waiting.next_event())["params"]["progressToken"] == "t"
        assert not go_on.is_set()
        go_on.set()
        assert (await waiting.next_event())["result"]["content"][0]["text"] == "done"


async def test_a_session_ended_during_a_call_ends_the_call_without_a_complaint(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with client_of(make_stateful_app(waiting_server())) as client:
        session = await client.begin()
        waiting = client.send("POST", call("wait", {}), session)
        async with asyncio.timeout(20):
            await begun.wait()
            assert (await client.ask("DELETE", session=session)).status == 200
            assert (await waiting.answer()).messages == []
            await ended.wait()
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("json_answers", [False, True])
async def test_requests_and_the_end_of_their_session_do_not_trip_over_each_other(
    json_answers: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with client_of(make_stateful_app(sample_server(), json_answers=json_answers)) as client:
        for turns in range(24):
            session = await client.begin()
            requests = [
                client.send("POST", request("ping"), session),
                client.send("POST", INITIALIZED, session),
                client.send("GET", session=session),
            ]
            for _ in range(turns):
                await asyncio.sleep(0)
            requests.append(client.send("DELETE", session=session))
            requests.append(client.send("POST", request("ping", id=2), session))
            answers = [await each.answer() for each in requests]
            for answer in answers:
                assert answer.status in (200, 202) or answer.error["code"] == "session_not_found"
            assert answers[3].status == 200
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_a_call_whose_caller_has_left_continues() -> None:
    async with client_of(make_stateful_app(waiting_server())) as client:
        session = await client.begin()
        waiting = client.send("POST", call("wait", {}), session)
        async with asyncio.timeout(20):
            await begun.wait()
            await waiting.leave()
            assert not ended.is_set()
            go_on.set()
            await ended.wait()
        assert (await client.post(request("ping"), session)).status == 200


begun, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()


def waiting_server() -> Server:
    """Return a server with a tool that starts, continues and ends with these events."""
    global begun, go_on, ended
    begun, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
    server = make_server("waiting", version="1", instructions="")

    @tool(server, title="Wait", read_only=True)
    async def wait() -> str:
        """Wait."""
        try:
            await report_progress(1)
            begun.set()
            await go_on.wait()
            return "done"
        finally:
            ended.set()

    return server
