"""`python -m uraniborg.console.search_worker`: the sessions of `uraniborg serve`, in a process of their own.

A search of thousands of papers keeps Python busy for seconds, so it must not share a process with the event loop of the
API. The worker answers the requests that the API forwards, and serves the MCP tools of paper search at an address.

On stdin, each line is a request as JSON. On stdout, each response is a line of JSON, `id`, `status`, `headers` and
`size`, followed by `size` bytes of body. The first line states the port of the MCP server, or its problem. The worker
ends at the end of stdin, so that it never outlives the API.
"""

import asyncio
import json
import sys
from contextlib import suppress
from typing import Any, Final

from starlette.types import ASGIApp, Message

from paper_search.mcp_server import get_session_manager
from paper_search.sessions import SessionManager
from uraniborg.console.app import make_api, run_broadcast
from uraniborg.console.event_stream import EventBroadcast
from uraniborg.console.inbox_routes import add_inbox_routes
from uraniborg.console.search_routes import add_search_routes
from uraniborg.console.sign_in import SignIns
from uraniborg.console.source_progress import SourceProgressLog
from uraniborg.credential_check import require_credential
from uraniborg.kernel.actors import ACTOR, Actor
from uraniborg.kernel.http_access import RequestIds
from uraniborg.kernel.inbox import Inbox
from uraniborg.kernel.logging import configure_logging, get_logger
from uraniborg.kernel.standard_streams import Client
from uraniborg.search_shelves import ShelfBuilds
from uraniborg.served_parts import ServedPart, ServedParts

BODY_LIMIT: Final = 2_000_000
"""The maximum size of a request, in bytes."""

_log = get_logger(__name__)


def main() -> None:
    """Serve until the end of stdin. The only argument is the port of the MCP server."""
    client = Client()
    configure_logging()
    asyncio.run(_serve(client, int(sys.argv[1])))


def _make_worker_app(manager: SessionManager, progress: SourceProgressLog, shelf_builds: ShelfBuilds) -> ASGIApp:
    api = make_api()
    add_inbox_routes(api, Inbox())
    add_search_routes(api, manager, progress, shelf_builds)
    return RequestIds(api)


async def _serve(client: Client, port: int) -> None:
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    manager = await get_session_manager()
    await manager.run_sessions_decided_from_now_on()
    broadcast, progress, shelf_builds = EventBroadcast(), SourceProgressLog(), ShelfBuilds()
    broadcast.add_listener(progress.record_change)
    worker = _Worker(client, _make_worker_app(manager, progress, shelf_builds))

    def deliver(line: bytes | None) -> None:
        if line is None:
            loop.call_soon_threadsafe(stopping.set)
        else:
            loop.call_soon_threadsafe(worker.start_request, line)

    part = ServedPart("paper-search", "find papers", port, _make_mcp_app)
    parts = ServedParts([part])
    await parts.start()
    client.listen(deliver, lambda: None)

    def report_ready() -> None:
        with suppress(BrokenPipeError):  # the API has ended, and so does this process at the end of stdin
            known = part.to_json()
            names = ("problem", "hint", "socket", "socket_problem")
            client.write(json.dumps({"port": part.port, **{name: known[name] for name in names}}).encode() + b"\n")

    async with run_broadcast(broadcast):
        await parts.run(report_ready, stopping)
    await worker.stop()
    await shelf_builds.stop()
    await manager.aclose()


async def _make_mcp_app(part: ServedPart) -> ASGIApp:
    from paper_search import mcp_server
    from uraniborg.kernel.http_app import StoppableApp, list_origins, secure_app
    from uraniborg.kernel.http_config import HttpConfig
    from uraniborg.kernel.mcp import make_stateful_app

    config = HttpConfig(port=part.port)
    app = make_stateful_app(mcp_server.mcp, origins=list_origins(config), body_limit=BODY_LIMIT)
    secured = secure_app(app, config, is_page=lambda _path: False, open_paths=())
    return StoppableApp(require_credential(secured, part, SignIns(), config), app.state.end_streams)


class _Worker:
    """Answers the requests of the API, many at a time."""

    def __init__(self, client: Client, app: ASGIApp) -> None:
        self._client = client
        self._app = app
        self._tasks: set[asyncio.Task[None]] = set()
        self._write_lock = asyncio.Lock()

    def start_request(self, line: bytes) -> None:
        """Answer the request of this line in a task."""
        task = asyncio.create_task(self._answer_request(json.loads(line)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Cancel the requests that are not answered yet."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer_request(self, request: dict[str, Any]) -> None:
        start: Message = {"status": 500, "headers": []}
        parts: list[bytes] = []
        body: Message | None = {"type": "http.request", "body": request["body"].encode("latin-1")}

        async def receive() -> Message:
            nonlocal body
            message, body = body, None
            return message or {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                parts.append(message.get("body", b""))

        try:
            await self._app(_make_scope(request), receive, send)
        except Exception as exc:  # the app has sent its answer; the log has the request id
            _log.exception("a request failed", exc=exc, path=request["path"][:200])
        text = b"".join(parts)
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
        head = {"id": request["id"], "status": start["status"], "headers": headers, "size": len(text)}
        async with self._write_lock:
            with suppress(BrokenPipeError):
                await asyncio.to_thread(self._client.write, json.dumps(head).encode() + b"\n" + text)


def _make_scope(request: dict[str, Any]) -> dict[str, Any]:
    path: str = request["path"]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": request["method"],
        "path": path,
        "raw_path": path.encode(errors="replace"),
        "root_path": "",
        "query_string": request["query"].encode("latin-1"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in request["headers"]],
        "client": None,
        "server": None,
        "state": {},
        ACTOR: request["actor"] and Actor.model_validate(request["actor"]),
    }


if __name__ == "__main__":
    main()
