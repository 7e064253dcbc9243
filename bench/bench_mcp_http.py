"""What a `tools/call` over stateless HTTP costs the server, in CPU of its process.

Claims: at least 12x less than the SDK's own stateless JSON transport with the same tool, and at most 2x of a bare
Starlette route that does the same look-up and sends the same bytes.

The tool looks up one of a thousand records of about 2 KB and answers it as text and as structured content. Two bare
routes are shown: one that writes its bytes for each request, as the tool does, and one, the floor, that has them ready.
"""

import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final

from ratios import record_ratio

CALLS: Final = 600
"""In one measurement; the server's clock is read before the first and after the last."""
CONNECTIONS: Final = 8
ROUNDS: Final = 9
WARM_UP: Final = 2
RECORDS: Final = {
    f"p{number}": {
        "paper_id": f"p{number}",
        "title": f"On the {number}th of a thousand things that had to be written down",
        "authors": [f"Given{author} Family{author + number}" for author in range(6)],
        "year": 1900 + number % 120,
        "venue": "Proceedings of the Bench",
        "abstract": 'A sentence of ordinary length that says "something" about something else. ' * 15,
        "identifiers": {"doi": f"10.1000/bench.{number}"},
        "keywords": ["measurement", "servers", "throughput"],
        "outline": [{"level": 1, "title": f"Section {part}", "offset": part * 4_000} for part in range(6)],
        "score": number / 7,
        "parent": None,
    }
    for number in range(1_000)
}


def sdk_app() -> Any:
    from mcp.server.fastmcp import FastMCP

    server = FastMCP("bench", stateless_http=True, json_response=True, log_level="WARNING")

    @server.tool()
    async def get_record(record_id: str) -> dict[str, Any]:
        """Look up a record."""
        return RECORDS[record_id]

    return server.streamable_http_app()


def our_app() -> Any:
    from uraniborg.kernel.mcp import LOOPBACK, make_server, make_stateless_app, tool

    server = make_server("bench", version="1", instructions="")

    @tool(server, title="Get a record", read_only=True)
    async def get_record(record_id: str) -> dict[str, Any]:
        """Look up a record."""
        return RECORDS[record_id]

    return make_stateless_app(server, origins=[LOOPBACK], hosts=[LOOPBACK])


def answer_with(record: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    return {"content": [{"type": "text", "text": text}], "structuredContent": record, "isError": False}


def bare_app() -> Any:
    import orjson
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    async def look_up(request: Request) -> Response:
        asked = orjson.loads(await request.body())
        record = RECORDS[asked["params"]["arguments"]["record_id"]]
        result = {
            "content": [{"type": "text", "text": orjson.dumps(record).decode()}],
            "structuredContent": record,
            "isError": False,
        }
        written = orjson.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result})
        return Response(written, media_type="application/json")

    return Starlette(routes=[Route("/mcp", look_up, methods=["POST"])])


def ready_app() -> Any:
    import orjson
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    ready = {record_id: orjson.dumps(answer_with(record)) for record_id, record in RECORDS.items()}

    async def look_up(request: Request) -> Response:
        asked = orjson.loads(await request.body())
        result = ready[asked["params"]["arguments"]["record_id"]]
        return Response(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (asked["id"], result), media_type="application/json")

    return Starlette(routes=[Route("/mcp", look_up, methods=["POST"])])


APPS: Final[dict[str, tuple[str, Callable[[], Any]]]] = {
    "sdk": ("the SDK's stateless transport", sdk_app),
    "ours": ("make_stateless_app", our_app),
    "bare": ("bare Starlette route", bare_app),
    "ready": ("bare route, bytes ready-made", ready_app),
}


def serve(app: Any) -> None:
    import uvicorn

    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        config = uvicorn.Config(
            app, loop="uvloop", http="httptools", log_level="warning", access_log=False, timeout_keep_alive=600
        )
        uvicorn.Server(config).run(sockets=[listener])


class HttpServer:
    """A server process and a client of a few kept connections, each of which has one request under way at a time."""

    def __init__(self, command: list[str], params: Callable[[int], dict[str, Any]], stack: ExitStack) -> None:
        """`command` prints its port; `params` are those of the nth call."""
        self._params = params
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        stack.callback(self._end)
        assert self._process.stdout is not None
        port = int(self._process.stdout.readline())
        self._connections = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30)) for _ in range(CONNECTIONS)
        ]
        self._requests = 0

    def call(self, count: int) -> bytes:
        """Make `count` calls and return the body of the last answer."""
        body = b""
        for _ in range(count // CONNECTIONS):
            for connection in self._connections:
                connection.sendall(self._request())
            for connection in self._connections:
                body = _read_answer(connection)
        return body

    def cpu_seconds(self) -> float:
        """Return the CPU time of all threads of the server. The clock's number is that of clock_getcpuclockid."""
        return time.clock_gettime((~self._process.pid << 3) | 2)

    def _request(self) -> bytes:
        self._requests += 1
        params = self._params(self._requests)
        body = json.dumps({"jsonrpc": "2.0", "id": self._requests, "method": "tools/call", "params": params}).encode()
        return (
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAccept: application/json, text/event-stream\r\n"
            b"Content-Type: application/json\r\nMCP-Protocol-Version: 2025-06-18\r\nUser-Agent: bench\r\n"
            b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        )

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()


def _read_answer(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(1 << 16) or _end_process()
    head, _, body = received.partition(b"\r\n\r\n")
    assert b" 200 " in head.splitlines()[0], received
    (length,) = (int(line[15:]) for line in head.splitlines() if line.lower().startswith(b"content-length:"))
    while len(body) < length:
        body += connection.recv(1 << 16) or _end_process()
    return body


def _end_process() -> bytes:
    raise EOFError("the server closed the connection")


def get_record(number: int) -> dict[str, Any]:
    return {"name": "get_record", "arguments": {"record_id": f"p{number % len(RECORDS)}"}}


def measure_cpu_per_call(server: HttpServer) -> float:
    before = server.cpu_seconds()
    server.call(CALLS)
    return (server.cpu_seconds() - before) / CALLS


def main() -> None:
    with ExitStack() as stack:
        servers = {name: HttpServer([sys.executable, __file__, name], get_record, stack) for name in APPS}
        answers = {name: json.loads(server.call(CONNECTIONS)) for name, server in servers.items()}
        expected = RECORDS[f"p{CONNECTIONS}"]
        for answer in answers.values():
            assert answer["result"]["structuredContent"] == expected
            assert json.loads(answer["result"]["content"][0]["text"]) == expected
        assert answers["ours"] == answers["bare"] == answers["ready"]
        rounds = [
            {name: measure_cpu_per_call(server) for name, server in servers.items()} for _ in range(WARM_UP + ROUNDS)
        ][WARM_UP:]
    print(f"server CPU per tools/call (median of {ROUNDS} times {CALLS} calls, alternating)")
    for name, (title, _) in APPS.items():
        cost = statistics.median(measured[name] for measured in rounds)
        print(f"  {title:<30} {cost * 1e6:7.1f} us")

    def ratio(above: str, below: str) -> float:
        return statistics.median(measured[above] / measured[below] for measured in rounds)

    print(f"the SDK's transport costs      {ratio('sdk', 'ours'):7.1f}x of ours  (target: at least 12x)")
    print(f"ours costs                     {ratio('ours', 'bare'):7.2f}x of the bare route  (target: at most 2x)")
    record_ratio("the SDK's transport to ours", ratio("sdk", "ours"))
    record_ratio("ours to the bare route", ratio("ours", "bare"))
    print(f"ours costs                     {ratio('ours', 'ready'):7.2f}x of the route with ready-made bytes")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve(APPS[sys.argv[1]][1]())
    else:
        main()
