"""The hosts, origins, clients and bodies that a server accepts."""

import json

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uraniborg.kernel.http.config import LOOPBACK
from uraniborg.kernel.http.header_checks import Admission, Gate, RequestIds
from uraniborg.kernel.ids import get_request_id

TOKEN = "s3cret-of-the-tests"
ALLOWED = "https://app.example.org"


async def accepting(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await PlainTextResponse("let in")(scope, receive, send)
    elif scope["type"] == "websocket":
        await send({"type": "websocket.accept"})


async def ask(
    gate: ASGIApp,
    path: str = "/",
    *,
    method: str = "GET",
    host: str | None = "localhost:8421",
    headers: tuple[tuple[bytes, bytes], ...] = (),
) -> tuple[int, dict[str, str], bytes]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    raw = [*([(b"host", host.encode())] if host is not None else []), *headers]
    await gate({"type": "http", "method": method, "path": path, "query_string": b"", "headers": raw}, receive, send)
    named = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], named, b"".join(message.get("body", b"") for message in sent[1:])


def bearer(value: str) -> tuple[tuple[bytes, bytes], ...]:
    return ((b"authorization", value.encode()),)


def gate(token: str | None = None, hosts: set[str] | None = None, open_paths: tuple[str, ...] = ()) -> Gate:
    return Gate(
        Admission(accepting, token=token, open_paths=open_paths),
        hosts=hosts,
        origins=[LOOPBACK, ALLOWED],
        is_page=lambda path: path.startswith("/papers/"),
    )


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8421", "[::1]:1", "papers.example.org"])
async def test_a_known_host_is_accepted(host: str) -> None:
    assert (await ask(gate(hosts={LOOPBACK, "papers.example.org"}), host=host))[0] == 200


@pytest.mark.parametrize(
    "host", [None, "", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "loopback"]
)
async def test_a_host_that_is_not_ours_is_refused_in_the_one_shape(host: str | None) -> None:
    status, _, body = await ask(gate(hosts={LOOPBACK}), host=host)
    error = json.loads(body)["error"]
    assert (status, error["code"]) == (421, "host_not_allowed")
    assert error["hint"]


async def test_without_a_list_of_hosts_every_host_is_accepted() -> None:
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


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        (b"authorization", f"Bearer {TOKEN}".encode(), b"Bearer wrong"),
        (b"authorization", f"Bearer {TOKEN}".encode(), f"Bearer {TOKEN}".encode()),
        (b"origin", ALLOWED.encode(), b"https://evil.example"),
        (b"origin", ALLOWED.encode(), ALLOWED.encode()),
        (b"content-type", b"application/json", b"text/plain"),
        (b"sec-fetch-site", b"none", b"cross-site"),
        (b"mcp-session-id", b"a", b"b"),
    ],
)
async def test_a_header_that_may_come_once_is_refused_when_it_comes_twice(
    name: bytes, first: bytes, second: bytes
) -> None:
    for pair in ((first, second), (second, first)):
        headers = tuple((name, value) for value in pair)
        status, _, body = await ask(gate(TOKEN), headers=headers)
        error = json.loads(body)["error"]
        assert (status, error["code"], error["header"].lower()) == (400, "repeated_header", name.decode())


async def test_a_second_host_header_is_always_refused() -> None:
    for second in (b"localhost:8421", b"evil.example", b""):
        assert (await ask(gate(hosts={LOOPBACK}), headers=((b"host", second),)))[0] == 400


async def test_headers_that_may_be_lists_may_come_twice() -> None:
    assert (await ask(gate(), headers=((b"accept", b"text/html"), (b"accept", b"application/json"))))[0] == 200


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


async def test_an_empty_token_is_not_a_token() -> None:
    assert (await ask(gate("")))[0] == 200


async def test_a_websocket_without_the_token_is_refused() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await gate(TOKEN, {LOOPBACK})({"type": "websocket", "path": "/", "headers": []}, receive, send)
    assert {"type": "websocket.accept"} not in sent


@pytest.mark.parametrize("site", ["same-origin", "same-site", "none", "Same-Origin"])
async def test_requests_of_this_site_and_of_people_pass_everywhere(site: str) -> None:
    for path in ("/papers/x", "/mcp", "/api/v1/search"):
        for method in ("GET", "POST", "DELETE"):
            assert (await ask(gate(), path, method=method, headers=((b"sec-fetch-site", site.encode()),)))[0] == 200


@pytest.mark.parametrize("site", ["cross-site", "CROSS-SITE", "unheard-of", ""])
async def test_a_page_of_another_site_may_link_to_pages_and_to_nothing_else(site: str) -> None:
    headers = ((b"sec-fetch-site", site.encode()), (b"sec-fetch-mode", b"navigate"))
    for method in ("GET", "HEAD"):
        assert (await ask(gate(), "/papers/x", method=method, headers=headers))[0] == 200
    for method, path in (
        ("GET", "/mcp"),
        ("GET", "/api/v1/search"),
        ("POST", "/papers/x"),
        ("DELETE", "/papers/x"),
        ("GET", "/papers"),
        ("GET", "//papers/x"),
        ("GET", "/PAPERS/x"),
    ):
        status, _, body = await ask(gate(), path, method=method, headers=headers)
        assert (status, json.loads(body)["error"]["code"]) == (403, "cross_site_not_allowed"), (method, path)


async def test_a_page_of_an_allowed_origin_may_call_from_another_site() -> None:
    site = (b"sec-fetch-site", b"cross-site")
    for origin, status in ((ALLOWED, 200), ("http://localhost:5173", 200), ("https://evil.example", 403)):
        assert (await ask(gate(), "/mcp", method="POST", headers=(site, (b"origin", origin.encode()))))[0] == status


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "BREW"])
@pytest.mark.parametrize("length", [(b"content-length", b"5"), (b"transfer-encoding", b"chunked")])
async def test_a_body_that_is_not_declared_as_json_is_refused(method: str, length: tuple[bytes, bytes]) -> None:
    for kind in (b"text/plain", b"application/x-www-form-urlencoded", b"application/jsonp", b""):
        status, _, body = await ask(gate(), method=method, headers=(length, (b"content-type", kind)))
        assert (status, json.loads(body)["error"]["code"]) == (415, "unsupported_media_type")
    assert (await ask(gate(), method=method, headers=(length,)))[0] == 415
    assert (await ask(gate(), method=method, headers=(length, (b"content-type", b"application/json"))))[0] == 200


async def test_without_a_body_the_type_does_not_matter() -> None:
    for headers in ((), ((b"content-length", b"0"), (b"content-type", b"text/plain"))):
        assert (await ask(gate(), method="POST", headers=headers))[0] == 200


async def test_the_token_is_asked_for_before_the_type() -> None:
    assert (await ask(gate(TOKEN), method="POST", headers=((b"content-length", b"5"),)))[0] == 401


@pytest.mark.parametrize("given", ["request-1", "3f.2_A-b" * 8])
async def test_a_well_formed_id_of_the_client_is_the_id_of_the_request(given: str) -> None:
    status, headers, body = await ask(RequestIds(gate(hosts={LOOPBACK})), headers=((b"x-request-id", given.encode()),))
    assert (status, headers["x-request-id"]) == (200, given)
    headers, body = (await ask(RequestIds(gate(TOKEN)), headers=((b"x-request-id", given.encode()),)))[1:]
    assert headers["x-request-id"] == json.loads(body)["error"]["request_id"] == given


@pytest.mark.parametrize("given", ["", "short", "a" * 65, "has space", "new\nline!", 'quo"te--', "héllo-wo"])
async def test_any_other_id_is_replaced(given: str) -> None:
    headers = ((b"x-request-id", given.encode("latin-1")),)
    _, answered, body = await ask(RequestIds(gate(TOKEN)), headers=headers)
    request_id = json.loads(body)["error"]["request_id"]
    assert answered["x-request-id"] == request_id != given
    assert len(request_id) == 32


async def test_each_request_has_an_id_of_its_own_that_apps_see() -> None:
    seen: list[str | None] = []

    async def noting(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(get_request_id())
        await PlainTextResponse("noted")(scope, receive, send)

    answered = [(await ask(RequestIds(RequestIds(noting))))[1]["x-request-id"] for _ in range(3)]
    assert seen == answered
    assert len(set(answered)) == 3
