"""The limits of connections, over raw sockets. Every wait is for the server to close or answer, never for a time."""

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.uraniborg.kernel.http import limited_server
from tests.uraniborg.kernel.http.limited_server import LIMITS
from tests.uraniborg.kernel.http.raw_http import SOON, Answer, ask, connected, last_answer, one_answer, request, rest_of
from uraniborg.kernel.http.connection_limits import make_protocol
from uraniborg.kernel.http.serve_command import find_port
from uraniborg.kernel.http.uvicorn_server import StoppingServer


class Served:
    def __init__(self, port: int, stderr: Path) -> None:
        self.port = port
        self._stderr = stderr

    def seen(self) -> dict[str, int]:
        return json.loads(ask(self.port, request()).body)

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._stderr.read_text().splitlines()]

    def eventually(self, holds: Any) -> None:
        end = time.monotonic() + SOON
        while not holds():
            assert time.monotonic() < end, "it never came to be"
            threading.Event().wait(0.02)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    stderr = tmp_path_factory.mktemp("limited") / "stderr"
    port = find_port("127.0.0.1", 0)
    with stderr.open("w") as errors:
        child = subprocess.Popen([sys.executable, limited_server.__file__, str(port)], stderr=errors)
    try:
        server = Served(port, stderr)
        server.eventually(lambda: _answers(port))
        yield server
    finally:
        child.kill()
        child.wait(SOON)


def _answers(port: int) -> bool:
    try:
        return ask(port, request()).status == 200
    except OSError:
        return False


def refused(answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.error["code"]) == (status, code)
    assert answer.error["hint"]
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize(
    "sent",
    [
        request("/echo", "X: " + "a" * 5_000),
        request("/echo", *(f"X{n}: " + "a" * 290 for n in range(15))),
        request("/echo?" + "a" * 5_000),
        request("/echo", *(f"X{n}: 1" for n in range(20))),
        request("/echo", "X: " + "a" * 5_000)[:-4],
        b"GET /echo HTTP/1.1\r\nHost: localhost\r\n" + b"X" * 200_000,
        b"GET /" + b"a" * 200_000,
        b"X-" * 200_000,
    ],
    ids=["one header", "many bytes", "address", "many headers", "no end", "name", "address without end", "no HTTP"],
)
def test_headers_beyond_the_limit_are_refused_before_any_app_sees_them(served: Served, sent: bytes) -> None:
    before = served.seen().get("/echo", 0)
    with connected(served.port) as client:
        client.sendall(sent)
        answer = last_answer(client)
    if sent.startswith(b"X-"):
        refused(answer, 400, "malformed_http")
    else:
        refused(answer, 431, "headers_too_large")
    assert served.seen().get("/echo", 0) == before


def test_headers_just_within_the_limit_are_taken(served: Served) -> None:
    assert ask(served.port, request("/", *(f"X{n}: " + "a" * 180 for n in range(19)))).status == 200


def test_a_body_may_be_larger_than_headers_may(served: Served) -> None:
    body = b"b" * 300_000
    answer = ask(served.port, request("/echo", f"Content-Length: {len(body)}", method="POST", body=body))
    assert answer.body == body


@pytest.mark.parametrize("trailers", [b"T: 1\r\n" * 1_000, b"T: " + b"a" * 200_000])
def test_trailers_beyond_the_limit_end_the_connection(served: Served, trailers: bytes) -> None:
    with connected(served.port) as client:
        client.sendall(request("/echo", "Transfer-Encoding: chunked", method="POST", body=b"1\r\na\r\n0\r\n"))
        client.sendall(trailers)
        assert b"200 OK" not in rest_of(client)


@pytest.mark.parametrize("sent", [b"G", b"GET / HTTP/1.1\r\n", request()[:-2]])
def test_headers_that_do_not_end_are_answered_with_408(served: Served, sent: bytes) -> None:
    with connected(served.port) as client:
        client.sendall(sent)
        refused(last_answer(client), 408, "request_timeout")


def test_headers_that_come_byte_by_byte_have_no_more_time(served: Served) -> None:
    with connected(served.port) as client:
        client.sendall(b"GET / HTTP/1.1\r\nX: ")
        client.settimeout(0.02)
        received = b""
        for _ in range(int(SOON / 0.02)):
            try:
                client.sendall(b"a")
                if received := client.recv(65_536):
                    break
            except TimeoutError:
                continue
        assert b" 408 " in received


def test_a_connection_that_sends_nothing_is_closed(served: Served) -> None:
    with connected(served.port) as client:
        assert rest_of(client) == b""


@pytest.mark.parametrize("afterwards", [b"", b"\r\n", b"\r\n\r\n"])
def test_a_connection_that_idles_after_an_answer_is_closed(served: Served, afterwards: bytes) -> None:
    with connected(served.port) as client:
        client.sendall(request())
        assert one_answer(client).status == 200
        client.sendall(afterwards)
        assert rest_of(client) == b""


@pytest.mark.parametrize("header", ["Content-Length: 100", "Transfer-Encoding: chunked"])
def test_a_body_that_does_not_end_is_answered_with_408_and_the_app_is_notified(served: Served, header: str) -> None:
    before = served.seen().get("left", 0)
    with connected(served.port) as client:
        client.sendall(request("/echo", header, method="POST", body=b"5\r\n"))
        refused(last_answer(client), 408, "request_timeout")
    served.eventually(lambda: served.seen().get("left", 0) == before + 1)


def test_a_body_that_was_answered_early_and_does_not_end_is_closed_without_a_second_answer(served: Served) -> None:
    with connected(served.port) as client:
        client.sendall(request("/", "Content-Length: 100", method="POST", body=b"a"))
        assert one_answer(client).status == 200
        client.sendall(b"b")
        assert rest_of(client) == b""


def test_a_body_that_keeps_coming_has_the_time_it_needs(served: Served) -> None:
    with connected(served.port) as client, connected(served.port) as idle:
        client.sendall(request("/echo", "Content-Length: 30000", method="POST", body=b"a" * 20_000))
        assert rest_of(idle) == b""  # as long as a short body may take
        client.sendall(b"a" * 10_000)
        assert one_answer(client).body == b"a" * 30_000


def test_an_event_stream_is_not_idle(served: Served) -> None:
    with connected(served.port) as client:
        client.sendall(request("/stream"))
        for _ in range(3):
            with connected(served.port) as idle:
                assert rest_of(idle) == b""
        received = client.recv(65_536)
        assert b" 200 " in received
        while received.count(b"tick") < 30:
            part = client.recv(65_536)
            assert part
            received += part


def test_a_client_that_does_not_read_is_disconnected(served: Served) -> None:
    before = served.seen().get("large ended", 0)
    with connected(served.port, receive_buffer=4_096) as client:
        client.sendall(request("/large"))
        served.eventually(lambda: served.seen().get("large ended", 0) == before + 1)


def test_half_open_connections_do_not_keep_others_out(served: Served) -> None:
    with ExitStack() as stack:
        silent = [stack.enter_context(connected(served.port)) for _ in range(LIMITS.connections * 3)]
        for client in silent[::2]:
            client.sendall(b"GET / HTTP/1.1\r\n")
        assert ask(served.port, request()).status == 200


def test_idle_connections_are_closed_for_new_ones_and_streams_are_not(served: Served) -> None:
    with ExitStack() as stack:
        streams = [stack.enter_context(connected(served.port)) for _ in range(LIMITS.connections // 2)]
        for client in streams:
            client.sendall(request("/stream"))
            assert b" 200 " in client.recv(15)
        for _ in range(LIMITS.connections):
            stack.enter_context(connected(served.port)).sendall(request())
        assert ask(served.port, request()).status == 200
        for client in streams:
            assert client.recv(65_536)
            assert client.recv(65_536)


def test_beyond_the_limit_a_new_connection_is_refused_and_welcome_once_another_has_left(served: Served) -> None:
    with ExitStack() as stack:
        streams: list[socket.socket] = []
        for _ in range(LIMITS.connections):
            client = stack.enter_context(connected(served.port))
            client.sendall(request("/stream"))
            assert b" 200 " in client.recv(15)
            streams.append(client)
        with connected(served.port) as client:
            refused(last_answer(client), 503, "too_many_connections")
        assert any(line["event"] == "no connection left" and line["request_id"] for line in served.log())
        streams[0].close()
        served.eventually(lambda: _answers_200(served.port))


def _answers_200(port: int) -> bool:
    with connected(port) as client:
        client.sendall(request())
        return b" 200 " in client.recv(15)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01",
        b"GET\r\n\r\n",
        b"\x00" * 100,
        request("/", "Content-Length: 1", "Content-Length: 2", method="POST"),
        request("/", "Content-Length: -1", method="POST"),
        request("/", "Content-Length: 5", "Transfer-Encoding: chunked", method="POST"),
        request("/echo", "Transfer-Encoding: chunked", method="POST", body=b"zz\r\n"),
        request("/", "no colon"),
        b"GET /\xc3\xa9 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=["TLS", "GET", "zeros", "lengths", "negative", "length and chunks", "chunk", "no colon", "address"],
)
def test_bytes_that_are_not_http_get_the_common_error_body(served: Served, sent: bytes) -> None:
    with connected(served.port) as client:
        client.sendall(sent)
        answer = last_answer(client)
    refused(answer, 400, "malformed_http")
    lines = [line for line in served.log() if line.get("request_id") == answer.error["request_id"]]
    assert any(line["logger"] == "uvicorn.error" for line in lines)


def test_requests_that_come_together_are_answered_in_their_order(served: Served) -> None:
    bodies = [b"first", b"second!", b"third"]
    sent = b"".join(
        request("/echo", f"Content-Length: {len(body)}", method="POST", body=body) for body in bodies[:2]
    ) + request("/echo", f"Content-Length: {len(bodies[2])}", "Connection: close", method="POST", body=bodies[2])
    with connected(served.port) as client:
        client.sendall(sent)
        received = rest_of(client)
    answers = received.split(b"HTTP/1.1 200 OK")[1:]
    assert [answer.partition(b"\r\n\r\n")[2] for answer in answers] == bodies
    ids = [line for line in received.split(b"\r\n") if line.startswith(b"x-request-id")]
    assert len(set(ids)) == 3


def test_the_http_servers_own_line_of_a_failure_has_the_id_of_the_request(served: Served) -> None:
    answer = ask(served.port, request("/fail", "X-Request-Id: failing-request-1"))
    assert answer.status == 500
    lines = [line for line in served.log() if line.get("request_id") == "failing-request-1"]
    assert [(line["logger"], "on purpose" in line["exception"]) for line in lines] == [("uvicorn.error", True)]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no unix sockets in Python")
async def test_the_limits_hold_at_a_unix_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    problems: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, problem: problems.append(problem))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        config: Any = {"http": make_protocol(LIMITS), "log_config": None, "ws": "none", "lifespan": "off"}
        server = StoppingServer(uvicorn.Config(limited_server.app, **config), handles_signals=False)
        task = asyncio.create_task(server.serve([listener]))
        await server.ready.wait()
        async with asyncio.timeout(SOON):
            reader, silent = await asyncio.open_unix_connection("s")
            assert await reader.read() == b""  # closed, because no request came
            silent.close()
            reader, writer = await asyncio.open_unix_connection("s")
            writer.write(request("/echo", *(f"X{n}: 1" for n in range(20))))
            assert b"headers_too_large" in await reader.read()
            writer.close()
        server.should_exit = True
        await task
    assert problems == []
