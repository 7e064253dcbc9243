import json
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from uraniborg.kernel.mcp.http_guard import Guard, Rules

ORIGIN = "http://localhost:5173"
OPEN = Rules(("POST",), frozenset({ORIGIN}), None)


class Answer:
    def __init__(self, messages: list[Message]) -> None:
        self.status: int = messages[0]["status"]
        self.headers = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
        self.body = b"".join(message.get("body", b"") for message in messages[1:])

    @property
    def error(self) -> dict[str, Any]:
        body = json.loads(self.body)
        assert body.keys() == {"error"}
        return body["error"]


async def accepting(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("accepted")(scope, receive, send)


async def unread() -> Message:
    raise AssertionError("the body was read")


async def ask(rules: Rules, *headers: tuple[str, str], method: str = "POST", app: Any = accepting) -> Answer:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    typed = headers if "content-type" in dict(headers) else (*headers, ("content-type", "application/json"))
    raw = [(name.encode(), value.encode("latin-1")) for name, value in typed]
    scope: Scope = {"type": "http", "method": method, "path": "/mcp", "headers": raw}
    await Guard(app, rules)(scope, unread, send)
    return Answer(sent)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "http://localhost:5173.evil.example",
        "http://localhost:51730",
        "https://localhost:5173",
        "HTTP://LOCALHOST:5173",
        f"{ORIGIN}, http://evil.example",
        "\xff",
    ],
)
async def test_only_exactly_the_listed_origins_may_call(origin: str) -> None:
    answer = await ask(OPEN, ("origin", origin))
    assert (answer.status, answer.error["code"]) == (403, "origin_not_allowed")


async def test_a_second_origin_header_is_checked_too() -> None:
    assert (await ask(OPEN, ("origin", ORIGIN), ("origin", "http://evil.example"))).status == 403


@pytest.mark.parametrize("headers", [[("origin", ORIGIN)], []])
async def test_listed_origins_and_callers_without_one_pass(headers: list[tuple[str, str]]) -> None:
    answer = await ask(OPEN, *headers)
    assert (answer.status, answer.body) == (200, b"accepted")


async def test_no_origin_passes_an_empty_list() -> None:
    assert (await ask(Rules(("POST",), frozenset(), None), ("origin", ORIGIN))).status == 403


@pytest.mark.parametrize(("host", "status"), [("localhost:8000", 200), ("localhost", 421), ("evil.example", 421)])
async def test_hosts_are_checked_when_given(host: str, status: int) -> None:
    rules = Rules(("POST",), frozenset(), frozenset({"localhost:8000"}))
    assert (await ask(rules, ("host", host))).status == status


async def test_a_missing_host_is_refused_when_hosts_are_given() -> None:
    assert (await ask(Rules(("POST",), frozenset(), frozenset({"localhost"})))).error["code"] == "host_not_allowed"


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS", "HEAD", "PATCH", "BREW"])
async def test_other_methods_are_refused_with_the_ones_there_are(method: str) -> None:
    answer = await ask(OPEN, method=method)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert answer.headers["content-type"] == "application/json"
    if method != "HEAD":
        assert answer.error["code"] == "method_not_allowed"


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01", "", "latest", "2025-11-25, 2025-06-18"])
async def test_unknown_protocol_versions_are_refused_with_the_known_ones(version: str) -> None:
    answer = await ask(OPEN, ("mcp-protocol-version", version))
    assert (answer.status, answer.error["code"]) == (400, "unsupported_protocol_version")
    assert "2025-03-26" in answer.error["allowed"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_known_protocol_versions_pass(version: str) -> None:
    assert (await ask(OPEN, ("mcp-protocol-version", version))).status == 200


async def test_the_gravest_refusal_comes_first() -> None:
    bad = [("origin", "http://evil.example"), ("mcp-protocol-version", "0")]
    assert (await ask(OPEN, *bad, method="GET")).status == 403
    assert (await ask(OPEN, bad[1], method="GET")).status == 405


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ([], "application/json, text/event-stream"),
        ([("accept", "*/*")], "application/json, text/event-stream"),
        ([("accept", "application/json")], "application/json, text/event-stream"),
        ([("accept", "text/event-stream")], "text/event-stream"),
        ([("accept", "text/html")], "text/html"),
    ],
)
async def test_a_client_that_accepts_anything_or_only_json_is_accepted(given: list[tuple[str, str]], seen: str) -> None:
    async def show_accept(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse(dict(scope["headers"])[b"accept"])(scope, receive, send)

    assert (await ask(OPEN, *given, app=show_accept)).body.decode() == seen


@pytest.mark.parametrize(
    ("status", "text", "code"),
    [
        (400, '{"error": {"code": -32700, "message": "sk-secret"}}', "invalid_json"),
        (404, "[]", "session_not_found"),
        (500, "sk-secret", "internal_error"),
        (418, "", "internal_error"),
    ],
)
async def test_refusals_from_behind_are_put_in_our_words(status: int, text: str, code: str) -> None:
    async def refusing(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse(text, status_code=status, headers={"mcp-session-id": "dead"})(scope, receive, send)

    answer = await ask(OPEN, app=refusing)
    assert (answer.status, answer.error["code"]) == (status, code)
    assert "mcp-session-id" not in answer.headers
    assert b"sk-secret" not in answer.body


async def test_a_breakdown_behind_is_an_internal_error(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("sk-secret")

    answer = await ask(OPEN, app=broken)
    assert (answer.status, answer.error["code"]) == (500, "internal_error")
    assert b"sk-secret" not in answer.body
    assert "sk-secret" in caplog.text


async def test_a_fault_after_the_start_of_the_answer_adds_nothing_to_it(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("half")(scope, receive, send)
        raise RuntimeError("too late")

    answer = await ask(OPEN, app=broken)
    assert (answer.status, answer.body) == (200, b"half")
    assert "too late" in caplog.text


async def test_a_second_answer_from_behind_is_not_passed_on() -> None:
    async def answering_twice(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("first")(scope, receive, send)
        await PlainTextResponse("second", status_code=500)(scope, receive, send)

    answer = await ask(OPEN, app=answering_twice)
    assert (answer.status, answer.body) == (200, b"first")


@pytest.mark.parametrize("content_type", ["text/plain", "", "application/x-www-form-urlencoded", "application/jsonp"])
async def test_a_body_that_is_not_json_is_refused_before_it_is_read(content_type: str) -> None:
    answer = await ask(OPEN, ("content-type", content_type))
    assert (answer.status, answer.error["code"]) == (415, "unsupported_media_type")


async def test_a_compressed_body_is_refused_before_it_is_read() -> None:
    answer = await ask(OPEN, ("content-encoding", "gzip"))
    assert (answer.status, answer.error["code"]) == (415, "unsupported_media_type")
    assert (await ask(OPEN, ("content-encoding", " Identity "))).status == 200


STREAM = b'event: message\r\ndata: {"method": "note"}\r\n\r\n: ping\r\n\r\nevent: message\r\ndata: {"id": 1}\r\n\r\n'


@pytest.mark.parametrize(
    ("accept", "kind", "body"),
    [
        ("application/json", "application/json", b'{"id": 1}'),
        ("application/json;q=0.5", "application/json", b'{"id": 1}'),
        ("application/json, text/event-stream", "text/event-stream", STREAM),
        ("*/*", "text/event-stream", STREAM),
    ],
)
async def test_the_answer_in_a_stream_is_sent_as_json_to_a_client_that_accepts_only_json(
    accept: str, kind: str, body: bytes
) -> None:
    async def streaming(_scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"mcp-session-id", b"s"), (b"cache-control", b"no-cache")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for start in range(0, len(STREAM), 7):
            await send({"type": "http.response.body", "body": STREAM[start : start + 7], "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    answer = await ask(OPEN, ("accept", accept), app=streaming)
    assert (answer.status, answer.headers["content-type"], answer.body) == (200, kind, body)
    assert answer.headers["mcp-session-id"] == "s"


async def test_a_stream_that_ends_without_an_answer_is_an_error_for_a_client_that_accepts_only_json() -> None:
    async def ending(_scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    answer = await ask(OPEN, ("accept", "application/json"), app=ending)
    assert (answer.status, answer.error["code"]) == (404, "session_not_found")
