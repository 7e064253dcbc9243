import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from blockbuster import blockbuster_ctx
from starlette.types import Message

from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, call, request, wire_to, without_request_id
from tests.uraniborg.kernel.mcp.sample_requests import SAMPLE_REQUESTS
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from uraniborg.kernel.mcp import make_stateless_app
from uraniborg.kernel.mcp.testing import connect_http_client, get_text, serve_app

SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"
JSON = {"content-type": "application/json"}


@asynccontextmanager
async def client_of_sample(**options: Any) -> AsyncGenerator[httpx.AsyncClient]:
    app = make_stateless_app(sample_server(), **options)
    async with serve_app(app) as url, httpx.AsyncClient(base_url=url, timeout=20) as client:
        yield client


def error_in(response: httpx.Response) -> dict[str, Any]:
    assert response.headers["content-type"] == "application/json"
    assert response.json().keys() == {"error"}
    assert SESSION not in response.headers
    return response.json()["error"]


async def test_answers_are_json_without_a_session() -> None:
    async with client_of_sample() as client:
        for message in (INITIALIZE, request("tools/list"), call("echo", {"text": "Ü"}), request("ping")):
            response = await client.post("/mcp", json=message, headers={SESSION: "whatever"})
            assert response.status_code == 200
            assert response.headers["content-type"] == "application/json"
            assert SESSION not in response.headers
            assert response.json()["id"] == message["id"]


async def test_every_request_is_answered_as_a_session_of_the_sdk_answers_it() -> None:
    server = sample_server()
    async with (
        wire_to(server) as wire,
        serve_app(make_stateless_app(server)) as url,
        httpx.AsyncClient(base_url=url, timeout=20) as client,
    ):
        for message in SAMPLE_REQUESTS:
            response = await client.post("/mcp", json=message)
            got, expected = without_request_id(response.json()), without_request_id(await wire.ask(message))
            # As text, so that the order of the fields is compared as well.
            assert (response.status_code, json.dumps(got)) == (200, json.dumps(expected)), message


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS", "PATCH"])
async def test_only_post_is_taken(method: str) -> None:
    async with client_of_sample() as client:
        response = await client.request(method, "/mcp", headers={"accept": "text/event-stream"})
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert error_in(response)["code"] == "method_not_allowed"


async def test_head_gets_the_allowed_methods() -> None:
    async with client_of_sample() as client:
        response = await client.head("/mcp")
    assert (response.status_code, response.headers["allow"], response.content) == (405, "POST", b"")


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"origin": "http://evil.example", "host": "evil.example", VERSION: "0"}, 403, "origin_not_allowed"),
        ({"host": "evil.example", VERSION: "0"}, 421, "host_not_allowed"),
        ({VERSION: "0", "accept": "text/html", "content-type": "text/plain"}, 406, "not_acceptable"),
        ({"content-type": "text/plain", "content-length": "9999"}, 415, "unsupported_media_type"),
        ({"content-length": "9999"}, 413, "body_too_large"),
    ],
)
async def test_refusals_come_before_the_body_the_gravest_first(headers: dict[str, str], status: int, code: str) -> None:
    async def unread() -> Message:
        raise AssertionError("the body was read")

    sent: list[Any] = []

    async def send(message: Message) -> None:
        sent.append(message)

    given = {"host": "localhost", **JSON, **headers}
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }
    await make_stateless_app(sample_server(), hosts=["localhost"], body_limit=2_000)(scope, unread, send)
    start, body = sent
    assert start["status"] == status
    assert (b"content-length", b"%d" % len(body["body"])) in start["headers"]
    assert json.loads(body["body"])["error"]["code"] == code


@pytest.mark.parametrize(
    ("content", "status", "code", "ours"),
    [
        (b"{", 400, -32700, "invalid_json"),
        (b"", 400, -32700, "invalid_json"),
        (b'{"sk-secret": 1}', 400, -32600, "invalid_request"),
        (b"[]", 400, -32600, "invalid_request"),
        (json.dumps(request("unheard/of")).encode(), 200, -32601, "unknown_method"),
        (json.dumps(request("tools/call", {"name": 1})).encode(), 200, -32602, "invalid_argument"),
        (json.dumps(request("resources/read", {"uri": float("nan")})).encode(), 200, -32602, "invalid_argument"),
    ],
)
async def test_errors_of_the_body_are_json_rpc_errors(content: bytes, status: int, code: int, ours: str) -> None:
    async with client_of_sample() as client:
        response = await client.post("/mcp", content=content, headers=JSON)
    body = response.json()
    assert (response.status_code, body["jsonrpc"], body["id"]) == (status, "2.0", 1 if status == 200 else None)
    assert (body["error"]["code"], body["error"]["data"]["error"]["code"]) == (code, ours)
    assert "sk-secret" not in response.text


@pytest.mark.parametrize("message", [INITIALIZED, [INITIALIZED, INITIALIZED]])
async def test_a_notification_is_accepted_with_nothing(message: Any) -> None:
    async with client_of_sample() as client:
        response = await client.post("/mcp", json=message)
    assert (response.status_code, response.content) == (202, b"")
    assert "content-type" not in response.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 200), ({VERSION: "2025-03-26"}, 200), ({VERSION: "2024-11-05"}, 400), ({VERSION: "2025-06-18"}, 400)],
)
async def test_a_batch_is_taken_by_the_one_version_that_has_them(headers: dict[str, str], status: int) -> None:
    async with client_of_sample() as client:
        response = await client.post("/mcp", json=[request("ping"), request("ping", id=2)], headers=headers)
    assert response.status_code == status
    if status == 200:
        assert [answer["id"] for answer in response.json()] == [1, 2]
    else:
        assert response.json()["error"]["code"] == -32600


async def test_a_body_in_pieces_is_put_together_and_counted() -> None:
    body = json.dumps(call("say", {"text": "a" * 1_000})).encode()

    async def pieces(data: bytes) -> AsyncGenerator[bytes]:
        for start in range(0, len(data), 100):
            yield data[start : start + 100]

    async with client_of_sample(body_limit=len(body)) as client:
        fits = await client.post("/mcp", content=pieces(body), headers=JSON)
        refused = await client.post("/mcp", content=pieces(body + b" "), headers=JSON)
        after = await client.post("/mcp", content=body, headers=JSON)
    assert fits.json()["result"]["content"][0]["text"] == "a" * 1_000
    assert (refused.status_code, error_in(refused)["code"], error_in(refused)["limit"]) == (
        413,
        "body_too_large",
        len(body),
    )
    assert after.status_code == 200


@pytest.mark.parametrize("announced", [True, False])
async def test_a_client_that_sends_far_too_much_still_gets_the_reason(announced: bool) -> None:
    async def pieces() -> AsyncGenerator[bytes]:
        for _ in range(50):
            yield b" " * 100_000

    async with client_of_sample(body_limit=1_000) as client:
        content = b" " * 5_000_000 if announced else pieces()
        refused = await client.post("/mcp", content=content, headers=JSON)
        after = await client.post("/mcp", json=request("ping"))
    assert (refused.status_code, error_in(refused)["code"]) == (413, "body_too_large")
    assert after.status_code == 200


async def test_an_endless_body_is_given_up_at_the_limit() -> None:
    read = 0

    async def receive() -> Message:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": b" " * 100, "more_body": True}

    sent: list[Any] = []

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [(b"content-type", b"application/json")]}
    await make_stateless_app(sample_server(), body_limit=1_000)(scope, receive, send)
    assert (read, sent[0]["status"]) == (11, 413)


async def test_a_client_that_leaves_while_it_sends_is_not_answered() -> None:
    pieces: list[Message] = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Message:
        return pieces.pop(0)

    async def send(message: Message) -> None:
        raise AssertionError(f"answered with {message}")

    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [(b"content-type", b"application/json")]}
    await make_stateless_app(sample_server())(scope, receive, send)
    assert pieces == []


async def test_a_fault_of_the_server_is_an_internal_error_that_discloses_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_self: Any, _body: bytes, _version: str, _headers: Any) -> Any:
        raise RuntimeError("sk-secret")

    monkeypatch.setattr("uraniborg.kernel.mcp.http_apps.Dispatcher.answer", broken)
    async with client_of_sample() as client:
        response = await client.post("/mcp", json=INITIALIZE)
    assert response.status_code == 500
    assert error_in(response)["code"] == "internal_error"
    assert "sk-secret" not in response.text
    assert "sk-secret" in caplog.text


async def test_the_official_client_receives_no_progress_and_gets_its_answer() -> None:
    received: list[float] = []

    async def record_progress(progress: float, total: float | None, message: str | None) -> None:
        received.append(progress)

    async with serve_app(make_stateless_app(sample_server())) as url, connect_http_client(f"{url}/mcp") as client:
        result = await client.call_tool("work", {"steps": 3}, progress_callback=record_progress)
    assert (get_text(result), received) == ("done", [])


async def test_nothing_blocks_the_loop() -> None:
    transport = httpx.ASGITransport(make_stateless_app(sample_server()))
    messages = [message for message in SAMPLE_REQUESTS if "break_down" not in json.dumps(message)]
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        with blockbuster_ctx("uraniborg"):
            statuses = {(await client.post("/mcp", json=message)).status_code for message in messages}
    assert statuses == {200}
