"""What every HTTP surface shares: who is let in, where a server may listen, and how errors look."""

import json
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from uraniborg.kernel.errors import Conflict, InternalError, NotFound
from uraniborg.kernel.hosts import LOOPBACK
from uraniborg.kernel.web import (
    Gate,
    InsecureBind,
    NotAuthorized,
    answer_errors,
    check_bind,
    error_response,
    say,
)

TOKEN = "s3cret-of-the-tests"


async def accepting(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await PlainTextResponse("let in")(scope, receive, send)
    elif scope["type"] == "websocket":
        await send({"type": "websocket.accept"})


async def ask(
    gate: Gate, path: str = "/", *, host: str | None = "localhost:8421", headers: tuple[tuple[bytes, bytes], ...] = ()
) -> tuple[int, dict[str, str], bytes]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    raw = [*([(b"host", host.encode())] if host is not None else []), *headers]
    await gate({"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": raw}, receive, send)
    named = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], named, b"".join(message.get("body", b"") for message in sent[1:])


def bearer(value: str) -> tuple[tuple[bytes, bytes], ...]:
    return ((b"authorization", value.encode()),)


def gate(token: str | None = None, hosts: set[str] | None = None, open_paths: tuple[str, ...] = ()) -> Gate:
    return Gate(accepting, token=token, hosts=hosts, open_paths=open_paths)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8421", "[::1]:1", "papers.example.org"])
async def test_a_known_host_is_let_in(host: str) -> None:
    assert (await ask(gate(hosts={LOOPBACK, "papers.example.org"}), host=host))[0] == 200


@pytest.mark.parametrize(
    "host", [None, "", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "loopback"]
)
async def test_a_host_that_is_not_ours_is_refused_in_the_one_shape(host: str | None) -> None:
    status, _, body = await ask(gate(hosts={LOOPBACK}), host=host)
    error = json.loads(body)["error"]
    assert (status, error["code"]) == (421, "host_not_allowed")
    assert error["hint"]


async def test_without_a_list_of_hosts_every_host_is_let_in() -> None:
    assert (await ask(gate(), host="anything.example"))[0] == 200


async def test_the_token_lets_in() -> None:
    assert (await ask(gate(TOKEN), headers=bearer(f"Bearer {TOKEN}")))[0] == 200


@pytest.mark.parametrize(
    "given",
    [
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer  {TOKEN}",
        f"Bearer {TOKEN.upper()}",
        "Bearer \xff",
    ],
)
async def test_anything_but_the_token_is_refused_and_not_repeated(given: str) -> None:
    status, headers, body = await ask(gate(TOKEN), headers=bearer(given))
    assert (status, headers["www-authenticate"], json.loads(body)["error"]["code"]) == (401, "Bearer", "not_authorized")
    assert TOKEN.encode() not in body


async def test_no_token_at_all_is_refused() -> None:
    assert (await ask(gate(TOKEN)))[0] == 401


async def test_of_two_headers_one_wrong_the_first_counts_and_does_not_let_in() -> None:
    headers = (*bearer("Bearer wrong"), *bearer(f"Bearer {TOKEN}"))
    assert (await ask(gate(TOKEN), headers=headers))[0] == 401


async def test_a_token_with_letters_beyond_ascii_lets_in() -> None:
    assert (await ask(gate("schlüssel"), headers=bearer("Bearer schlüssel")))[0] == 200


async def test_the_scheme_may_be_written_in_any_case() -> None:
    assert (await ask(gate(TOKEN), headers=bearer(f"bearer {TOKEN}")))[0] == 200


async def test_open_paths_need_no_token_but_still_the_right_host() -> None:
    door = gate(TOKEN, {LOOPBACK}, ("/healthz",))
    assert (await ask(door, "/healthz"))[0] == 200
    assert (await ask(door, "/healthz", host="evil.example"))[0] == 421
    for path in ("/healthz/", "/healthz/../mcp", "/HEALTHZ", "//healthz", "/mcp"):
        assert (await ask(door, path))[0] == 401, path


async def test_an_empty_token_is_no_token() -> None:
    assert (await ask(gate("")))[0] == 200


async def test_a_websocket_without_the_token_is_not_let_in() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await gate(TOKEN, {LOOPBACK})({"type": "websocket", "path": "/", "headers": []}, receive, send)
    assert {"type": "websocket.accept"} not in sent


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_this_machine_alone_needs_no_token(host: str) -> None:
    check_bind(host, None, insecure=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "example.org", "localhost.evil.example", "[::]"])
def test_where_others_can_reach_it_a_server_needs_a_token_or_a_word(host: str) -> None:
    with pytest.raises(InsecureBind) as caught:
        check_bind(host, None, insecure=False)
    assert "--token" in caught.value.hint
    assert "--insecure" in caught.value.hint
    check_bind(host, TOKEN, insecure=False)
    check_bind(host, None, insecure=True)


def test_an_empty_token_does_not_open_a_server_to_others() -> None:
    with pytest.raises(InsecureBind):
        check_bind("0.0.0.0", "", insecure=False)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFound("Gone.", hint="Look.", paper_id="x"), 404),
        (Conflict("Busy."), 409),
        (NotAuthorized("No."), 401),
        (InternalError("Oh."), 500),
    ],
)
def test_every_error_has_its_status_and_the_one_body(error: Any, status: int) -> None:
    response = error_response(error)
    assert response.status_code == status
    assert json.loads(bytes(response.body)) == error.body()
    assert response.headers["content-type"] == "application/json"
    assert ("www-authenticate" in response.headers) == isinstance(error, NotAuthorized)


def _app() -> Starlette:
    async def ours(_: Request) -> Response:
        raise NotFound("Gone.", hint="Look.", paper_id="x")

    async def foreign(_: Request) -> Response:
        raise ValueError("password=hunter2")

    async def teapot(_: Request) -> Response:
        raise HTTPException(418, "short and stout")

    app = Starlette(routes=[Route("/ours", ours), Route("/foreign", foreign), Route("/teapot", teapot)])
    answer_errors(app)
    return app


async def _got(method: str, path: str) -> httpx.Response:
    transport = httpx.ASGITransport(_app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.request(method, path)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/ours", 404, "not_found"),
        ("GET", "/foreign", 500, "internal_error"),
        ("GET", "/nowhere", 404, "no_such_address"),
        ("POST", "/ours", 405, "method_not_allowed"),
        ("GET", "/teapot", 418, "http_error"),
    ],
)
async def test_everything_that_goes_wrong_is_answered_in_one_shape(
    method: str, path: str, status: int, code: str
) -> None:
    answer = await _got(method, path)
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}
    assert answer.json()["error"]["code"] == code
    assert {"code", "message", "hint"} <= answer.json()["error"].keys()


async def test_what_was_not_ours_says_nothing_of_the_inside() -> None:
    assert "hunter2" not in (await _got("GET", "/foreign")).text


async def test_a_method_that_is_not_possible_is_answered_with_those_that_are() -> None:
    assert "GET" in (await _got("DELETE", "/ours")).headers["allow"]


def test_what_is_said_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    say("Listening.")
    assert capsys.readouterr() == ("", "Listening.\n")
