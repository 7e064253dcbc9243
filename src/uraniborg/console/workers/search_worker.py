"""`python -m uraniborg.console.workers.search_worker`: the sessions of `uraniborg serve`, in a process of their own.

A search of thousands of papers keeps Python busy for seconds, so it must not share a process with the event loop of the
API. The worker answers the requests that the API forwards, and serves the MCP tools of paper search at an address. It
ends when the API has ended.
"""

import asyncio
import sys
from typing import Final, TypeAlias

from starlette.types import ASGIApp, Message, Scope

from paper_search.mcp_server import get_session_manager
from uraniborg.console.api import make_api
from uraniborg.console.event_broadcast import EventBroadcast
from uraniborg.console.routes import inbox, review, searches
from uraniborg.console.sign_ins import SignIns
from uraniborg.console.workers.search_process import (
    SearchRequest,
    SearchResponse,
    ServerState,
    decode_headers,
    encode_headers,
)
from uraniborg.console.workers.search_services import SearchServices, SourceProgressLog
from uraniborg.console.workers.shelf_builds import ShelfBuilds
from uraniborg.kernel.actors import ACTOR, Actor
from uraniborg.kernel.http.header_checks import RequestIds
from uraniborg.kernel.logging import configure_logging, get_logger
from uraniborg.kernel.processes.worker_dialogue import Parent, WorkerRequest
from uraniborg.kernel.store.inbox import Inbox
from uraniborg.servers.credential_check import require_credential
from uraniborg.servers.process import PartServer, PartServers

BODY_LIMIT: Final = 2_000_000
"""The maximum size of a request, in bytes."""

_Request: TypeAlias = WorkerRequest[SearchRequest, None, SearchResponse]

_log = get_logger(__name__)


def main() -> None:
    """Serve until the API has ended. The only argument is the port of the MCP server."""
    parent = Parent()
    configure_logging()
    asyncio.run(_serve(parent, int(sys.argv[1])))


def _make_worker_app(services: SearchServices) -> ASGIApp:
    routers = (inbox.router, searches.router, review.router)
    return RequestIds(make_api(services, *routers))


async def _serve(parent: Parent, port: int) -> None:
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    manager = await get_session_manager()
    await manager.run_sessions_decided_from_now_on()
    broadcast, progress, shelf_builds = EventBroadcast(), SourceProgressLog(), ShelfBuilds()
    broadcast.add_listener(progress.record_change)
    worker = _RequestAnswers(_make_worker_app(SearchServices(Inbox(), manager, progress, shelf_builds)))

    def deliver(request: _Request | None) -> None:
        if request is None:
            loop.call_soon_threadsafe(stopping.set)
        else:
            loop.call_soon_threadsafe(worker.start_request, request)

    part = PartServer("paper-search", "find papers", port, _make_mcp_app)
    parts = PartServers([part])
    await parts.start()
    parent.listen(deliver)

    def report_ready() -> None:
        state: ServerState = {
            "port": part.port,
            "problem": part.problem,
            "hint": part.hint,
            "socket": part.socket and str(part.socket),
            "socket_problem": part.socket_problem,
        }
        parent.send(ready=state)

    async with broadcast.running():
        await parts.run(report_ready, stopping)
    await worker.stop()
    await shelf_builds.stop()
    await manager.aclose()


async def _make_mcp_app(part: PartServer) -> ASGIApp:
    from paper_search import mcp_server
    from uraniborg.kernel.http.config import HttpConfig
    from uraniborg.kernel.http.secure_app import StoppableApp, list_origins, secure_app
    from uraniborg.kernel.mcp import make_stateful_app

    config = HttpConfig(port=part.port)
    app = make_stateful_app(mcp_server.mcp, origins=list_origins(config), body_limit=BODY_LIMIT)
    secured = secure_app(app, config, is_page=lambda _path: False, open_paths=())
    return StoppableApp(require_credential(secured, part, SignIns(), config), app.state.end_streams)


class _RequestAnswers:
    """Answers the requests of the API, many at a time."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._tasks: set[asyncio.Task[None]] = set()
        self._write_lock = asyncio.Lock()

    def start_request(self, request: _Request) -> None:
        task = asyncio.create_task(self._answer_request(request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Cancel the requests that are not answered yet."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer_request(self, request: _Request) -> None:
        start: Message = {"status": 500, "headers": []}
        parts: list[bytes] = []
        body: Message | None = {"type": "http.request", "body": request.body}

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
            await self._app(_make_scope(request.content), receive, send)
        except Exception as exc:  # the app has sent its answer; the log has the request id
            _log.exception("a request failed", exc=exc, path=request.content["path"][:200])
        head: SearchResponse = {"status": start["status"], "headers": encode_headers(start["headers"])}
        async with self._write_lock:
            await asyncio.to_thread(request.send_result, head, b"".join(parts))


def _make_scope(request: SearchRequest) -> Scope:
    path: str = request["path"]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": request["method"],
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": request["query"].encode("latin-1"),
        "headers": decode_headers(request["headers"]),
        "client": None,
        "server": None,
        "state": {},
        ACTOR: request["actor"] and Actor.model_validate(request["actor"]),
    }


if __name__ == "__main__":
    main()
