"""A client of an ASGI app with no network between, which can stop reading a stream whenever it likes."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.types import Message, Scope

from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED

SESSION = "mcp-session-id"
TYPES = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        """The error of the answer, in the common error shape."""
        assert self.headers["content-type"] == "application/json"
        assert SESSION not in self.headers
        body = json.loads(self.body)
        assert body.keys() == {"error"}
        assert body["error"].keys() >= {"code", "message", "hint"}
        return body["error"]

    @property
    def messages(self) -> list[Any]:
        """The messages in the answer, whether it is JSON or events."""
        if self.body.startswith((b"{", b"[")):
            return [json.loads(self.body)]
        return [json.loads(line[6:]) for line in self.body.split(b"\r\n") if line.startswith(b"data: ")]


class Exchange:
    """One request: what the app sends is at hand as it comes, unless `reading` is cleared."""

    def __init__(self, app: Starlette, method: str, body: bytes, headers: dict[str, str]) -> None:
        self.reading = asyncio.Event()
        self.reading.set()
        self._sent: asyncio.Queue[Message] = asyncio.Queue()
        self._leaving = asyncio.Event()
        self._requests: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": "/mcp",
            "query_string": b"",
            "headers": [(b"host", b"localhost"), *raw],
            "client": None,
            "server": None,
        }
        self.served = asyncio.create_task(app(scope, self._receive, self._send))

    async def _receive(self) -> Message:
        if self._requests:
            return self._requests.pop()
        await self._leaving.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        await self.reading.wait()
        self._sent.put_nowait(message)

    async def next(self) -> Message:
        async with asyncio.timeout(20):
            return await self._sent.get()

    async def next_event(self) -> Any:
        """Return the next message in the stream, which must have started."""
        while True:
            body: bytes = (await self.next())["body"]
            if body.startswith(b"event: message\r\ndata: "):
                return json.loads(body.split(b"data: ", 1)[1])

    def count_unread(self) -> int:
        """Return the number of messages that were received and not read."""
        return self._sent.qsize()

    async def answer(self) -> Answer:
        start = await self.next()
        async with asyncio.timeout(20):
            await self.served
        rest = [self._sent.get_nowait() for _ in range(self._sent.qsize())]
        assert {message["type"] for message in rest} <= {"http.response.body"}
        body = b"".join(message.get("body", b"") for message in rest)
        return Answer(start["status"], {name.decode(): value.decode() for name, value in start["headers"]}, body)

    async def leave(self) -> None:
        self._leaving.set()
        async with asyncio.timeout(20):
            await self.served


class Client:
    def __init__(self, app: Starlette) -> None:
        self._app = app

    def send(self, method: str, message: Any = None, session: str | None = None, **headers: str) -> Exchange:
        body = message if isinstance(message, bytes) else b"" if message is None else json.dumps(message).encode()
        named = {} if session is None else {SESSION: session}
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return Exchange(self._app, method, body, {**TYPES, **named, **given})

    async def ask(self, method: str, message: Any = None, session: str | None = None, **headers: str) -> Answer:
        return await self.send(method, message, session, **headers).answer()

    async def post(self, message: Any, session: str | None = None, **headers: str) -> Answer:
        return await self.ask("POST", message, session, **headers)

    async def begin(self) -> str:
        """Return the id of a new session."""
        begun = await self.post(INITIALIZE)
        assert begun.status == 200
        session = begun.headers[SESSION]
        assert (await self.post(INITIALIZED, session)).status == 202
        return session

    @asynccontextmanager
    async def stream(self, session: str) -> AsyncGenerator[Exchange]:
        """Yield the open event stream of a session."""
        stream = self.send("GET", session=session)
        assert (await stream.next())["status"] == 200
        try:
            yield stream
        finally:
            stream.reading.set()
            await stream.leave()


@asynccontextmanager
async def client_of(app: Starlette) -> AsyncGenerator[Client]:
    async with app.router.lifespan_context(app):
        yield Client(app)
