"""The http node against real servers: values, errors, limits and secrets."""

import asyncio
import gzip
import json
import os
import threading
import time
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any

import httpx
import pytest
from blockbuster import blockbuster_ctx

from pflow.domain.node import Closable, NodeContext
from pflow.domain.node_interface import Interface, parse_interface
from pflow.errors import NodeFailed, NodeTimedOut
from pflow.nodes import http as http_answer
from pflow.nodes import http as http_node
from pflow.nodes.http import _prepare_redirect_headers  # pyright: ignore[reportPrivateUsage]
from tests.pflow.nodes.long_secrets import KEY_FILE, PIECE, TOKEN, add_secrets

send_request: Any = http_node.send_request
"""Called with parameters of any shape."""

MIB = 1 << 20


@dataclass
class ReceivedRequest:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Reply:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    flood: bool = False


class Server(ThreadingHTTPServer):
    """Answers each path as configured, and stores the received requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies: dict[str, Reply] = {}
        self.asked: list[ReceivedRequest] = []
        self.connections = 0
        self.released = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors, because clients disconnect once they have received enough."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def add_reply(self, path: str, body: bytes | str = b"", status: int = 200, **headers: str) -> str:
        content = body.encode() if isinstance(body, str) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.replies[path] = Reply(status, content, named)
        return self.url + path


class Handler(BaseHTTPRequestHandler):
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append(ReceivedRequest(self.command, self.path, headers, body))
        path = self.path.partition("?")[0]
        if path == "/never":
            self.server.released.wait(60)
            return
        if path == "/drip":
            self.send_response(200)
            self.end_headers()
            self.write_on(1, pause_s=0.02)
            return
        reply = self.server.replies[path]
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.flood:
            self.send_header("connection", "close")
            self.end_headers()
            self.write_on(MIB)
            return
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def write_on(self, size: int, pause_s: float = 0) -> None:
        self.close_connection = True
        try:
            while not self.server.released.wait(pause_s):
                self.wfile.write(b"x" * size)
        except OSError:
            return

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = answer  # noqa: N815 - so the library calls them

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing."""


@pytest.fixture
def servers() -> Generator[Callable[[], Server]]:
    started: list[Server] = []

    def start() -> Server:
        server = Server()
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.released.set()
        server.shutdown()
        server.server_close()


@pytest.fixture
def server(servers: Callable[[], Server]) -> Server:
    return servers()


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NodeContext:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return NodeContext("run", "workflow", "node", tmp_path, tmp_path, tmp_path / "spool")


def load_interface() -> Interface:
    (plain,) = json.loads((resources.files("pflow.nodes") / "http.json").read_text())["nodes"]
    return parse_interface(plain, source="builtin")


async def expect_failure(context: NodeContext, **params: Any) -> Any:
    with pytest.raises(NodeFailed) as caught:
        await send_request(params, context)
    return caught.value


async def test_json_comes_parsed(server: Server, context: NodeContext) -> None:
    url = server.add_reply("/", '{"a": [1, "ü"]}', content_type="application/json; charset=utf-8", x_more="yes")
    outputs = await send_request({"url": url}, context)
    assert (outputs["response"], outputs["response_is_binary"]) == ({"a": [1, "ü"]}, False)
    assert outputs["status_code"] == 200
    assert outputs["response_headers"]["x-more"] == "yes"
    assert outputs["response_time"] >= 0
    assert set(outputs) == set(load_interface().outputs)


@pytest.mark.parametrize(
    ("body", "kind", "response", "is_binary"),
    [
        (b"plain", "text/plain", "plain", False),
        ("é".encode("latin-1"), "text/html; charset=latin-1", "é", False),
        (b"caf\xc3\xa9", "text/plain; charset=no-such", "café", False),
        (b'{"a": 1}', "text/plain", '{"a": 1}', False),
        (b'{"a": 1}', "application/vnd.api+json", {"a": 1}, False),
        (b"{broken", "application/json", "{broken", False),
        (b"", "application/json", "", False),
        (b"null", "application/json", None, False),
        (b"\x89PNG\x00\xff", "image/png", "iVBORwD/", True),
        (b"\xff\xfe", "", "//4=", True),
    ],
)
async def test_every_kind_of_answer_becomes_a_value(
    server: Server, context: NodeContext, body: bytes, kind: str, response: Any, is_binary: bool
) -> None:
    outputs = await send_request({"url": server.add_reply("/", body, content_type=kind)}, context)
    assert (outputs["response"], outputs["response_is_binary"]) == (response, is_binary)


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_a_compressed_answer_is_unpacked(
    server: Server, context: NodeContext, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    content = os.urandom(300_000).hex()
    url = server.add_reply("/", pack(content.encode()), content_encoding=encoding)
    assert (await send_request({"url": url}, context))["response"] == content
    assert server.asked[0].headers["accept-encoding"] == "gzip"
    broken = await expect_failure(context, url=server.add_reply("/broken", b"not packed", content_encoding=encoding))
    assert "not compressed as its header states" in broken.message


async def test_all_parts_of_a_packed_answer_are_unpacked(server: Server, context: NodeContext) -> None:
    contents = [os.urandom(size).hex() for size in (1, 0, 200_000, 3)]
    packed = b"".join(gzip.compress(content.encode()) for content in contents)
    for path, body in {"/parts": packed, "/filled": packed + b"\0" * 512}.items():
        outputs = await send_request({"url": server.add_reply(path, body, content_encoding="gzip")}, context)
        assert outputs["response"] == "".join(contents)
    garbled = await expect_failure(context, url=server.add_reply("/garbled", packed + b"junk", content_encoding="gzip"))
    assert "not compressed as its header states" in garbled.message


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
@pytest.mark.parametrize("missing", [1, 8, 40])
async def test_a_packed_answer_that_was_cut_off_is_a_failure(
    server: Server, context: NodeContext, encoding: str, pack: Callable[[bytes], bytes], missing: int
) -> None:
    packed = pack(b"0123456789" * 10_000)
    failed = await expect_failure(context, url=server.add_reply("/", packed[:-missing], content_encoding=encoding))
    assert "was cut off" in failed.message
    assert "Try again" in failed.hint
    assert (failed.ids["status_code"], failed.outputs["status_code"]) == (200, 200)
    second = await expect_failure(
        context, url=server.add_reply("/2", packed + packed[:-missing], content_encoding=encoding)
    )
    assert "was cut off" in second.message


async def test_an_error_body_that_was_cut_off_is_shown_as_far_as_it_arrived(
    server: Server, context: NodeContext
) -> None:
    packed = gzip.compress(b"It is broken. " + os.urandom(2000).hex().encode())
    failed = await expect_failure(context, url=server.add_reply("/", packed[:-40], 500, content_encoding="gzip"))
    assert "returned 500" in failed.message
    assert "It is broken." in failed.message


async def test_an_empty_compressed_response_is_not_cut_off(server: Server, context: NodeContext) -> None:
    url = server.add_reply("/", content_encoding="gzip")
    assert (await send_request({"url": url}, context))["response"] == ""
    assert (await send_request({"url": url, "method": "HEAD"}, context))["response"] == ""


async def test_parts_that_unfold_into_nothing_come_to_an_end(
    server: Server, context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_answer, "BODY_BYTES", 1 << 16)
    body = gzip.compress(b"") * 8000
    server.replies["/"] = Reply(body=body, headers={"content-encoding": "gzip", "transfer-encoding": "chunked"})
    assert "larger than" in (await expect_failure(context, url=server.url)).message


@pytest.mark.parametrize(
    ("params", "method", "kind", "body"),
    [
        ({}, "GET", None, b""),
        ({"body": {"a": "ü"}}, "POST", "application/json", '{"a":"ü"}'.encode()),
        ({"body": [1]}, "POST", "application/json", b"[1]"),
        ({"body": "text"}, "POST", None, b"text"),
        ({"body": "text", "method": "put"}, "PUT", None, b"text"),
        ({"body": "", "method": "POST"}, "POST", None, b""),
        ({"body": {}, "headers": {"content-type": "application/ld+json"}}, "POST", "application/ld+json", b"{}"),
        (
            {"body": {"a": "b c", "d": [1, 2]}, "headers": {"Content-Type": "application/x-www-form-urlencoded"}},
            *("POST", "application/x-www-form-urlencoded", b"a=b+c&d=1&d=2"),
        ),
        ({"method": "DELETE"}, "DELETE", None, b""),
        ({"method": "HEAD"}, "HEAD", None, b""),
    ],
)
async def test_the_request_follows_the_parameters(
    server: Server, context: NodeContext, params: dict[str, Any], method: str, kind: str | None, body: bytes
) -> None:
    assert (await send_request({"url": server.add_reply("/", b"ok"), **params}, context))["status_code"] == 200
    (asked,) = server.asked
    assert (asked.method, asked.headers.get("content-type"), asked.body) == (method, kind, body)


async def test_parameters_are_added_to_the_query(server: Server, context: NodeContext) -> None:
    query = {"q": "a b&c", "n": 3, "flag": True, "many": ["x", "y"], "none": None}
    await send_request({"url": f"{server.add_reply('/search')}?kept=1", "params": query}, context)
    assert server.asked[0].path == "/search?kept=1&q=a+b%26c&n=3&flag=true&many=x&many=y"


async def test_credentials_and_headers_are_sent(server: Server, context: NodeContext) -> None:
    url = server.add_reply("/")
    await send_request({"url": url, "auth_token": "t0ken", "api_key": "k3y", "headers": {"X-N": 3}}, context)
    headers = server.asked[0].headers
    assert (headers["authorization"], headers["x-api-key"], headers["x-n"]) == ("Bearer t0ken", "k3y", "3")
    assert headers["user-agent"] == "pflow"
    await send_request({"url": url, "api_key": "k3y", "api_key_header": "X-Mine"}, context)
    assert server.asked[1].headers["x-mine"] == "k3y"
    failed = await expect_failure(context, url=url, auth_token="t0ken", headers={"authorization": "Basic x"})
    assert "given twice" in failed.message
    assert "t0ken" not in str(failed.body())


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 418, 429, 500, 503])
async def test_any_status_but_2xx_is_a_failure_with_the_response(
    server: Server, context: NodeContext, status: int
) -> None:
    url = server.add_reply("/x", '{"why": "because"}', status, content_type="application/json", retry_after="7")
    failed = await expect_failure(context, url=f"{url}?key=s3cret")
    assert f"GET {url} returned {status}" in failed.message
    assert "because" in failed.message
    assert "s3cret" not in str(failed.body())
    assert failed.ids["status_code"] == failed.outputs["status_code"] == status
    assert failed.outputs["response"] == {"why": "because"}
    assert failed.outputs["response_headers"]["retry-after"] == "7"
    assert bool(failed.hint) == (status not in (400, 418))
    assert set(failed.outputs) <= set(load_interface().outputs)


async def test_a_long_complaint_is_cut(server: Server, context: NodeContext) -> None:
    server.add_reply("/", "ü" * MIB, 500)
    failed = await expect_failure(context, url=server.url + "/")
    assert failed.outputs["response"] == "ü" * (32 << 10)
    assert len(failed.message) < 500
    server.add_reply("/odd", "x" + "ü" * MIB, 500)
    assert (await expect_failure(context, url=server.url + "/odd")).outputs["response_is_binary"] is False
    server.replies["/flood"] = Reply(500, flood=True)
    assert len((await expect_failure(context, url=server.url + "/flood")).outputs["response"]) == 64 << 10


async def test_an_empty_response_is_not_a_failure(server: Server, context: NodeContext) -> None:
    outputs = await send_request({"url": server.add_reply("/", status=204)}, context)
    assert (outputs["status_code"], outputs["response"]) == (204, "")


@pytest.mark.parametrize("flood", [False, True], ids=["declared", "endless"])
async def test_an_answer_that_is_too_large_is_refused_as_soon_as_that_is_known(
    server: Server, context: NodeContext, flood: bool
) -> None:
    server.replies["/"] = Reply(body=b"x" * (10 * MIB + 1), headers={"x-more": "yes"}, flood=flood)
    failed = await expect_failure(context, url=server.url)
    assert "larger than 10 MiB" in failed.message
    assert "curl" in failed.hint
    assert failed.outputs["status_code"] == 200
    assert failed.outputs["response_headers"]["x-more"] == "yes"


@pytest.mark.parametrize("status", [200, 500])
async def test_an_answer_that_would_unfold_without_end_takes_no_memory(
    server: Server, context: NodeContext, status: int
) -> None:
    url = server.add_reply("/", gzip.compress(b"0" * 100 * MIB, 1), status, content_encoding="gzip")
    tracemalloc.start()
    try:
        failed = await expect_failure(context, url=url)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert failed.outputs.get("response", "0" * (64 << 10)) == "0" * (64 << 10)
    assert ("larger than" in failed.message) == (status == 200)
    assert peak < 40 * MIB


async def test_a_large_response_below_the_limit_is_complete(server: Server, context: NodeContext) -> None:
    url = server.add_reply("/", json.dumps(["x" * 1000] * 5000), content_type="application/json")
    with blockbuster_ctx("pflow") as watched:
        watched.functions["os.stat"].deactivate()  # the library looks for certificates
        assert len((await send_request({"url": url}, context))["response"]) == 5000


async def test_a_content_length_in_a_head_response_is_not_too_large(
    server: Server, context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_answer, "BODY_BYTES", 10)
    outputs = await send_request({"url": server.add_reply("/", b"x" * 11), "method": "HEAD"}, context)
    assert outputs["response_headers"]["content-length"] == "11"


@pytest.mark.parametrize("path", ["/never", "/drip"])
async def test_the_timeout_covers_the_whole_request(server: Server, context: NodeContext, path: str) -> None:
    started_at = time.monotonic()
    with pytest.raises(NodeTimedOut, match=r"No response after 0\.3 s"):
        await send_request({"url": server.url + path, "timeout": 0.3}, context)
    assert 0.3 <= time.monotonic() - started_at < 30


async def test_cancelling_ends_the_request(server: Server, context: NodeContext) -> None:
    task = asyncio.create_task(send_request({"url": server.url + "/never"}, context))
    deadline = time.monotonic() + 30
    while not server.asked:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_redirects_are_followed_with_credentials_on_the_same_host(server: Server, context: NodeContext) -> None:
    url = server.add_reply("/old", status=302, location="/new")
    server.add_reply("/new", b"here")
    params = {"auth_token": "t0ken", "api_key": "k3y", "headers": {"Cookie": "own=1"}}
    assert (await send_request({"url": url, **params}, context))["response"] == "here"
    headers = server.asked[1].headers
    assert (headers["authorization"], headers["x-api-key"], headers["cookie"]) == ("Bearer t0ken", "k3y", "own=1")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_to_another_host_carry_no_credentials(
    servers: Callable[[], Server], context: NodeContext, status: int
) -> None:
    first, other = servers(), servers()
    url = first.add_reply("/", status=status, location=other.add_reply("/theirs", b"here"))
    secret = {"auth_token": "t0ken", "api_key": "k3y", "headers": {"X-Session": "s3cret", "Cookie": "c=s3cret"}}
    outputs = await send_request({"url": url, **secret}, context)
    assert outputs["response"] == "here"
    assert not {"authorization", "x-api-key", "x-session", "cookie"} & set(other.asked[0].headers)
    assert "s3cret" not in str(other.asked)
    assert other.asked[0].headers["host"] == f"127.0.0.1:{other.server_port}"


@pytest.mark.parametrize(
    ("there", "trusted"),
    [
        ("http://a.example/other", True),
        ("http://a.example:80/other", True),
        ("https://a.example/other", True),
        ("https://a.example:8443/other", False),
        ("http://a.example:8080/other", False),
        ("http://b.example/other", False),
        ("http://b.a.example/other", False),
    ],
)
def test_only_the_same_host_or_its_safer_self_is_trusted(there: str, trusted: bool) -> None:
    secret = {"X-API-Key": "k3y", "Accept": "text/x"}
    request = httpx.Request("GET", "http://a.example/", headers=secret)
    following = _prepare_redirect_headers(request, httpx.Request("GET", there, headers=secret))
    assert ("x-api-key" in following.headers) == trusted
    assert following.headers["accept"] == "text/x"


async def test_a_body_is_sent_again_only_where_the_redirect_asks_for_it(server: Server, context: NodeContext) -> None:
    server.add_reply("/new", b"here")
    await send_request({"url": server.add_reply("/keep", status=307, location="/new"), "body": {"a": 1}}, context)
    await send_request({"url": server.add_reply("/other", status=303, location="/new"), "body": {"a": 1}}, context)
    assert [(asked.method, asked.body) for asked in server.asked if asked.path == "/new"] == [
        ("POST", b'{"a":1}'),
        ("GET", b""),
    ]


async def test_cookies_live_as_long_as_the_redirects(server: Server, context: NodeContext) -> None:
    kept = replace(context, shared_objects=SharedClients())
    url = server.add_reply("/login", status=302, location="/in", set_cookie="seen=1; Path=/")
    server.add_reply("/in", b"in")
    await send_request({"url": url}, kept)
    assert server.asked[1].headers["cookie"] == "seen=1"
    await send_request({"url": server.url + "/in"}, kept)
    assert "cookie" not in server.asked[2].headers, "one node's cookies are not another's"
    await kept.shared_objects.close()  # pyright: ignore


async def test_endless_redirects_are_reported(server: Server, context: NodeContext) -> None:
    failed = await expect_failure(context, url=server.add_reply("/", status=302, location="/"))
    assert "more than 10 times" in failed.message
    assert len(server.asked) == 11


async def test_a_redirect_to_another_scheme_is_refused(server: Server, context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret")
    failed = await expect_failure(context, url=server.add_reply("/", status=302, location=f"file://{tmp_path}/secret"))
    assert "got no response" in failed.message


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"url": "example.org/x"}, "must begin with http"),
        ({"url": "file:///etc/passwd"}, "must begin with http"),
        ({"url": "http://"}, "must begin with http"),
        ({"url": ""}, "must begin with http"),
        ({"url": "http://[::1"}, "not a valid address"),
        ({"url": "http://a/\x00"}, "not a valid address"),
        ({"url": "http://127.0.0.1:70000/"}, "got 70000"),
        ({"url": "http://a/" + "x" * 100_000}, "not a valid address"),
        ({"url": "http://a/", "method": "G E T"}, "`method`"),
        ({"url": "http://a/", "params": {"q": {"a": 1}}}, "`params.q`"),
        ({"url": "http://a/", "body": {1, 2}}, "`body`"),
        ({"url": "http://a/", "headers": {"X": "ü"}}, "headers do not allow"),
        ({"url": "http://a/", "auth_token": "tökén"}, "headers do not allow"),
        ({"url": "http://a/", "timeout": -1}, "`timeout`"),
    ],
)
async def test_parameters_that_make_no_request_are_refused(
    context: NodeContext, params: dict[str, Any], message: str
) -> None:
    assert message in (await expect_failure(context, **params)).message


async def test_a_header_that_would_smuggle_another_is_refused_and_not_repeated(
    server: Server, context: NodeContext
) -> None:
    failed = await expect_failure(context, url=server.add_reply("/"), auth_token="s3cret\r\nX-Evil: 1")
    assert "header" in failed.message
    assert "s3cret" not in str((failed.body(), failed.outputs))
    assert server.asked == []


async def test_an_unreachable_server_is_reported_without_secrets(
    servers: Callable[[], Server], context: NodeContext
) -> None:
    port = servers().server_port
    gone = servers()
    gone.shutdown()
    gone.server_close()
    failed = await expect_failure(context, url=f"http://user:s3cret@127.0.0.1:{gone.server_port}/x?key=s3cret")
    assert f"GET http://127.0.0.1:{gone.server_port}/x got no response" in failed.message
    assert "s3cret" not in str(failed.body())
    assert "reached" in failed.hint
    assert port != gone.server_port


class SharedClients:
    """The shared objects of one run, as small as can be."""

    def __init__(self) -> None:
        self.things: dict[str, Closable] = {}
        self.made = 0

    async def get_or_create(self, key: str, make: Callable[[], Awaitable[Closable]]) -> Any:
        if key not in self.things:
            self.made += 1
            self.things[key] = await make()
        return self.things[key]

    async def close(self) -> None:
        for thing in self.things.values():
            await thing.close()


async def test_requests_of_one_run_share_their_connections(server: Server, context: NodeContext) -> None:
    shared_objects = SharedClients()
    shared = replace(context, shared_objects=shared_objects)
    url = server.add_reply("/", b"x")
    for _ in range(3):
        await send_request({"url": url}, shared)
    assert (shared_objects.made, server.connections) == (1, 1)
    await shared_objects.close()
    await send_request({"url": url}, context)
    assert server.connections == 2


def test_the_effect_follows_from_the_method() -> None:
    declared = load_interface()
    assert [
        declared.get_effect({"method": method}) for method in ("get", "HEAD", "PUT", "POST", "PATCH", "DELETE")
    ] == [
        *["idempotent"] * 3,
        *["effectful"] * 3,
    ]


@pytest.mark.parametrize("secret", [TOKEN, KEY_FILE], ids=["long", "of many lines"])
@pytest.mark.parametrize("kind", ["text/plain", "application/json"])
async def test_no_part_of_a_secret_is_in_an_error(server: Server, context: NodeContext, secret: str, kind: str) -> None:
    output = f"refused: {secret}"
    body = json.dumps({"error": [output]}) if kind == "application/json" else output
    failed = await expect_failure(add_secrets(context), url=server.add_reply("/", body, 400, content_type=kind))
    assert "refused: ***" in failed.message
    assert PIECE not in failed.message


@pytest.mark.parametrize("param", ["method", "url"])
async def test_no_part_of_a_secret_in_a_wrong_parameter_is_shown(context: NodeContext, param: str) -> None:
    failed = await expect_failure(add_secrets(context), **{"url": "http://127.0.0.1:9/", param: TOKEN})
    assert "***" in failed.message
    assert TOKEN[:8] not in failed.message
