"""An HTTP address for a server that speaks stdio, because the conformance suite speaks only HTTP.

Each session is a process of its own, and so is each request without a session. Messages pass unchanged.
"""

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from uraniborg.kernel.mcp.testing import serve_app

_SESSION: Final = "mcp-session-id"
_LONGEST_LINE: Final = 1 << 24


class _StdioServer:
    """A process and the messages that it has written, by the request whose answer they belong to."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._asked: dict[Any, asyncio.Queue[dict[str, Any] | None]] = {}
        self._unasked: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read_lines())

    async def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()

    async def ask(self, message: dict[str, Any]) -> AsyncGenerator[bytes]:
        """Send a request; yield its answer, and the messages before it, as events."""
        queue = self._asked[message["id"]] = asyncio.Queue[dict[str, Any] | None]()
        try:
            await self.send(message)
            while (written := await queue.get()) is not None:
                yield _format_event(written)
                if "method" not in written:
                    return
        finally:
            del self._asked[message["id"]]

    async def listen(self) -> AsyncGenerator[bytes]:
        """Yield the messages that belong to no request, as events."""
        yield b": open\n\n"
        while (written := await self._unasked.get()) is not None:
            yield _format_event(written)

    async def stop(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        await self._reading

    async def _read_lines(self) -> None:
        assert self._process.stdout
        async for line in self._process.stdout:
            written = json.loads(line)
            latest = list(self._asked.values())[-1:]
            answered = self._asked.get(written.get("id")) if "method" not in written else None
            (answered or (latest or [self._unasked])[0]).put_nowait(written)
        for queue in (*self._asked.values(), self._unasked):
            queue.put_nowait(None)


@asynccontextmanager
async def bridge(command: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> AsyncGenerator[str]:
    """Yield the address at which the server that `command` starts can be reached over HTTP."""
    sessions: dict[str, _StdioServer] = {}

    async def start() -> _StdioServer:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=dict(env), cwd=cwd, limit=_LONGEST_LINE
        )
        return _StdioServer(process)

    async def answer_alone(message: dict[str, Any]) -> AsyncGenerator[bytes]:
        server = await start()
        try:
            async for event in server.ask(message):
                yield event
        finally:
            await server.stop()

    async def answer(request: Request) -> Response:
        session = request.headers.get(_SESSION, "")
        if session and session not in sessions:
            return Response(status_code=404)
        if request.method == "DELETE":
            await sessions.pop(session).stop()
            return Response()
        if request.method == "GET":
            return StreamingResponse(sessions[session].listen(), media_type="text/event-stream")
        message = await request.json()
        if message.get("method") == "initialize":
            session = uuid4().hex
            sessions[session] = await start()
        is_request = "id" in message and "method" in message
        if session and not is_request:
            await sessions[session].send(message)
        if not is_request:
            return Response(status_code=202)
        events = sessions[session].ask(message) if session else answer_alone(message)
        return StreamingResponse(events, media_type="text/event-stream", headers={_SESSION: session} if session else {})

    app = Starlette(routes=[Route("/mcp", answer, methods=["POST", "GET", "DELETE"])])
    async with serve_app(app) as url:
        try:
            yield f"{url}/mcp"
        finally:
            await asyncio.gather(*(server.stop() for server in sessions.values()))


def _format_event(message: dict[str, Any]) -> bytes:
    return f"event: message\ndata: {json.dumps(message)}\n\n".encode()
