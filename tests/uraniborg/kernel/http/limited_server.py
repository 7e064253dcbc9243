"""A server with small limits, started as a process: `python limited_server.py PORT`."""

import asyncio
import json
import sys
from collections import Counter
from typing import Any

from uraniborg.kernel.http.connection_limits import Limits
from uraniborg.kernel.http.header_checks import RequestIds
from uraniborg.kernel.http.uvicorn_server import run_server
from uraniborg.kernel.logging import configure_logging

LIMITS = Limits(
    header_bytes=4_096,
    headers=20,
    header_s=1.0,
    body_s=1.0,
    body_bytes_per_s=500,
    idle_s=1.0,
    stall_s=1.0,
    connections=24,
)
seen: Counter[str] = Counter()


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    seen[scope["path"]] += 1
    await {"/echo": echo, "/stream": stream, "/large": large, "/fail": fail}.get(scope["path"], state)(receive, send)


async def state(_receive: Any, send: Any) -> None:
    await reply(send, json.dumps(seen).encode())


async def echo(receive: Any, send: Any) -> None:
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            seen["left"] += 1
            return
        body += message["body"]
        more = message["more_body"]
    await reply(send, body)


async def stream(receive: Any, send: Any) -> None:
    """Send a line now and then until the client leaves."""
    await start(send)
    await receive()
    leaving = asyncio.ensure_future(receive())
    while not leaving.done():
        await send({"type": "http.response.body", "body": b"tick\n", "more_body": True})
        await asyncio.wait([leaving], timeout=0.05)


async def large(receive: Any, send: Any) -> None:
    """Send without an end, as fast as the client reads."""
    await start(send)
    await receive()
    leaving = asyncio.ensure_future(receive())
    while not leaving.done():
        await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
        await asyncio.sleep(0)
    seen["large ended"] += 1


async def fail(_receive: Any, _send: Any) -> None:
    raise RuntimeError("on purpose")


async def start(send: Any, *headers: tuple[bytes, bytes]) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": list(headers)})


async def reply(send: Any, body: bytes) -> None:
    await start(send, (b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.body", "body": body})


if __name__ == "__main__":
    configure_logging("debug")
    run_server(RequestIds(app), host="127.0.0.1", port=int(sys.argv[1]), limits=LIMITS)
