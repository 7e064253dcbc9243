import asyncio
import gc
import json
import logging
from collections import Counter
from typing import Any

import pytest

from tests.uraniborg.kernel.mcp.asgi_client import SESSION, Client, client_of
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, call, request
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from tests.uraniborg.kernel.mcp.subscribable_server import subscribable_server
from uraniborg.kernel.mcp import Subscriptions, make_stateful_app
from uraniborg.kernel.mcp.session import Session
from uraniborg.kernel.mcp.subscriptions import Subscriber

PING = request("ping", id="ping")
SUBSCRIBE = request("resources/subscribe", {"uri": "page://title"})


async def alive(client: Client, session: str) -> bool:
    status = (await client.post(PING, session)).status
    assert status in (200, 404)
    return status == 200


async def test_a_newcomer_takes_the_place_of_the_session_unused_for_longest() -> None:
    async with client_of(make_stateful_app(sample_server(), max_sessions=3)) as client:
        first, second, third = [await client.begin() for _ in range(3)]
        assert await alive(client, first)
        fourth = await client.begin()
        assert [await alive(client, each) for each in (first, second, third, fourth)] == [True, False, True, True]


@pytest.mark.usefixtures("few_objects")
async def test_many_unclosed_sessions_do_not_prevent_new_ones() -> None:
    before = leftovers()
    async with client_of(make_stateful_app(sample_server(), max_sessions=40)) as client:
        mine = await client.begin()
        async with client.stream(mine):
            begun = [(await client.post(INITIALIZE)).headers[SESSION] for _ in range(120)]
            assert len(set(begun)) == 120
            assert await alive(client, mine)
            assert [await alive(client, each) for each in (begun[0], begun[80], begun[81], begun[-1])] == [
                False,
                False,
                True,
                True,
            ]
    assert leftovers() - before == Counter()


async def test_a_session_with_an_open_stream_or_a_call_under_way_is_not_ended_for_another() -> None:
    async with client_of(make_stateful_app(sample_server(), max_sessions=2)) as client:
        listening, calling = await client.begin(), await client.begin()
        waiting = client.send("POST", call("wait_forever", {}), calling)
        assert (await waiting.next())["status"] == 200
        async with client.stream(listening):
            refused = await client.post(INITIALIZE)
            assert (refused.status, refused.error["code"]) == (503, "too_many_sessions")
            assert await alive(client, listening)
            assert await alive(client, calling)
        newcomer = await client.begin()
        assert not await alive(client, listening)
        assert await alive(client, newcomer)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        assert (await client.post(cancel, calling)).status == 202
        assert "error" in (await waiting.next_event())


async def test_a_message_that_starts_no_session_ends_no_session() -> None:
    async with client_of(make_stateful_app(sample_server(), max_sessions=1)) as client:
        session = await client.begin()
        for message in (PING, INITIALIZED, b"{", [INITIALIZE], request("initialize"), {**INITIALIZE, "id": 1.5}):
            await client.post(message)
        assert await alive(client, session)


@pytest.mark.usefixtures("few_objects")
async def test_an_initialize_that_is_refused_begins_nothing() -> None:
    before = leftovers()
    async with client_of(make_stateful_app(sample_server())) as client:
        for headers, status in (({"accept": "text/html"}, 406), ({"content_type": "text/plain"}, 415)):
            assert (await client.post(INITIALIZE, **headers)).error
            assert (await client.post(INITIALIZE, **headers)).status == status
        await client.begin()
        assert (leftovers() - before)["Session"] == 1


async def test_a_transport_that_breaks_down_on_a_request_of_no_session_lets_go_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        monkeypatch.setattr("mcp.server.streamable_http.JSONRPCMessage", None)
        answer = await client.post(PING)
    assert (answer.status, answer.error["code"]) == (500, "internal_error")


@pytest.mark.usefixtures("few_objects")
async def test_a_malformed_initialize_is_answered_and_begins_nothing() -> None:
    before = leftovers()
    async with client_of(make_stateful_app(sample_server())) as client:
        answer = await client.post(request("initialize", {}))
        assert answer.status == 200
        assert SESSION not in answer.headers
        (message,) = answer.messages
        assert message["error"]["code"] == -32602
        assert message["error"]["data"]["error"]["hint"]
        assert leftovers() - before == Counter()


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
@pytest.mark.parametrize(
    ("session", "status", "code"),
    [
        (None, 400, "session_required"),
        ("", 400, "session_required"),
        ("unknown", 404, "session_not_found"),
        ("\xff", 404, "session_not_found"),
        ("x" * 10_000, 404, "session_not_found"),
    ],
)
async def test_a_request_to_no_session_is_refused(method: str, session: str | None, status: int, code: str) -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        for message in (PING, INITIALIZED) if method == "POST" else (None,):
            refused = await client.ask(method, message, session)
            assert (refused.status, refused.error["code"]) == (status, code)


@pytest.mark.parametrize("named", [None, "", "unknown", "expired", "living"])
async def test_initialize_starts_a_new_session_with_any_session_header(named: str | None) -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        expired, living = await client.begin(), await client.begin()
        await client.ask("DELETE", session=expired)
        names = {"expired": expired, "living": living}
        begun = await client.post(INITIALIZE, names.get(named or "", named))
        assert begun.status == 200
        assert begun.headers[SESSION] not in {expired, living, named}
        assert await alive(client, living)
        assert await alive(client, begun.headers[SESSION])


ODD_BODIES: list[tuple[Any, str]] = [
    (b"", "invalid_json"),
    (b"{", "invalid_json"),
    (b"\xff\xfe\xfd", "invalid_json"),
    ('{"jsonrpc": "2.0", "id": 1, "method": "é"}'.encode("latin-1"), "invalid_json"),
    (b"[" * 100_000, "invalid_json"),
    (b'{"id": ' + b"9" * 5_000 + b"}", "invalid_json"),
    (b"1", "invalid_request"),
    (b'"sk-secret"', "invalid_request"),
    ({}, "invalid_request"),
    ({"sk-secret": 1}, "invalid_request"),
    (request("ping", id=None), "invalid_request"),
    (request("ping", id=1.5), "invalid_request"),
    (request("ping", id=True), "invalid_request"),
    (request("ping", id={"sk-secret": 1}), "invalid_request"),
    (request("ping", [1]), "invalid_request"),
    (request("ping", id="\ud800"), "invalid_json"),
    ([request("ping", {"text": "\ud800"})], "invalid_json"),
]


@pytest.mark.parametrize(("body", "code"), ODD_BODIES)
async def test_a_value_that_is_not_a_message_is_refused_and_the_session_continues(
    body: Any, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await client.begin()
        refused = await client.post(body, session)
        assert (refused.status, refused.error["code"]) == (400, code)
        assert b"sk-secret" not in refused.body
        assert await alive(client, session)
    assert "sk-secret" not in caplog.text
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("text", ['"\\ud83d"', "[" * 230 + "]" * 230, "[" * 500 + "]" * 500, "9" * 4_000])
async def test_a_request_that_a_session_cannot_parse_is_answered_under_its_id(text: str) -> None:
    body = json.dumps(call("echo", {"text": "@"})).replace('"@"', text).encode()
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await client.begin()
        (message,) = (await client.post(body, session)).messages
        assert message["id"] == 1
        assert ("error" in message) or message["result"]["isError"]
        assert await alive(client, session)
        assert (await client.post(body)).status == 400


async def test_responses_without_a_request_are_ignored(caplog: pytest.LogCaptureFixture) -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await client.begin()
        async with client.stream(session) as stream:
            for id_ in (1, "1", "unknown"):
                unexpected = {"jsonrpc": "2.0", "id": id_, "result": {"sk": "sk-secret"}}
                assert (await client.post(unexpected, session)).status == 202
            assert await alive(client, session)
            assert stream.count_unread() == 0
    assert caplog.records == []


async def test_a_client_that_leaves_in_the_midst_of_its_request_is_not_answered() -> None:
    app = make_stateful_app(sample_server())
    async with client_of(app) as client:
        await client.begin()
        parts = [{"type": "http.disconnect"}, {"type": "http.request", "body": b'{"id"', "more_body": True}]

        async def receive() -> Any:
            return parts.pop()

        async def send(message: Any) -> None:
            raise AssertionError(message)

        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [(b"content-type", b"application/json")]}
        async with asyncio.timeout(20):
            await app(scope, receive, send)


@pytest.mark.parametrize("ending", ["DELETE", "disuse", "a newcomer", "the end of the app"])
@pytest.mark.usefixtures("few_objects")
async def test_an_ended_session_leaves_nothing_behind(ending: str) -> None:
    before = leftovers()
    server, subscribed = subscribable_server()
    app = make_stateful_app(server, max_sessions=1, idle_seconds=0.3 if ending == "disuse" else 1_800)
    async with client_of(app) as client:
        session = await client.begin()
        assert (await client.post(SUBSCRIBE, session)).messages[0]["result"] == {}
        async with client.stream(session):
            subscribed.notify_updated("page://title")
        assert subscribed.count == 1
        if ending == "DELETE":
            assert (await client.ask("DELETE", session=session)).status == 200
        elif ending == "a newcomer":
            assert (await client.post(INITIALIZE)).status == 200
        if ending != "the end of the app":
            await nobody_subscribed(subscribed)
            assert (await client.post(PING, session)).status == 404
    assert subscribed.count == 0
    assert leftovers() - before == Counter()


@pytest.mark.usefixtures("few_objects")
async def test_nothing_grows_over_five_hundred_sessions() -> None:
    before = leftovers()
    server, subscribed = subscribable_server()
    async with client_of(make_stateful_app(server)) as client:
        all_before = Counter[str]()
        for number in range(501):
            session = (await client.post(INITIALIZE)).headers[SESSION]
            if number % 100 == 0:
                assert (await client.post(SUBSCRIBE, session)).messages[0]["result"] == {}
                subscribed.notify_updated("page://title")
            assert (await client.ask("DELETE", session=session)).status == 200
            if number == 0:
                await nobody_subscribed(subscribed)
                all_before = census()
        await nobody_subscribed(subscribed)
        grown = census() - all_before
    # The loop keeps up to a hundred timers that were called off, and the context of each.
    assert {kind: count for kind, count in grown.items() if count > 250} == {}
    assert leftovers() - before == Counter()


async def nobody_subscribed(subscribed: Subscriptions) -> None:
    async with asyncio.timeout(20):
        while subscribed.count:  # noqa: ASYNC110 - no event is set when a session has ended
            await asyncio.sleep(0.01)


def leftovers() -> Counter[str]:
    """Count the objects of each class that belongs to a session."""
    kinds = ("StreamableHTTPServerTransport", "ServerSession", "EventSourceResponse")
    return Counter(
        type(thing).__name__
        for thing in all_objects()
        if isinstance(thing, Session | Subscriber) or type(thing).__name__ in kinds
    )


def census() -> Counter[str]:
    return Counter(type(thing).__name__ for thing in all_objects())


def all_objects() -> list[Any]:
    gc.collect()
    return gc.get_objects()
