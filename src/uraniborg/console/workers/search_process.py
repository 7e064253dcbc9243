"""Start the search worker, start it again if it ends, and forward requests about searches and decisions to it."""

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TypeAlias, TypedDict

from fastapi import FastAPI
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from uraniborg.kernel.actors import ACTOR, Actor
from uraniborg.kernel.http.header_checks import JSON, make_error_response
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.processes.worker_dialogue import RequestReply, WorkerEnded, WorkerProcess, start_worker
from uraniborg.kernel.shared_fields import ActorFields

_START_S: Final = 60.0
_STOP_S: Final = 15.0
_RESTART_PAUSE_S: Final = 1.0

_log = get_logger(__name__)


class SearchWorkerEnded(WorkerEnded):
    def __init__(self) -> None:
        super().__init__(
            "The process that runs searches has ended.",
            hint="It is started again. Searches are stored: repeat the request in a few seconds.",
        )


Headers: TypeAlias = Iterable[tuple[bytes, bytes]]


class SearchRequest(TypedDict):
    """A request of HTTP, with its body."""

    method: str
    path: str
    query: str
    headers: list[tuple[str, str]]
    actor: ActorFields | None


class SearchResponse(TypedDict):
    """A response of HTTP, with its body."""

    status: int
    headers: list[tuple[str, str]]


class ServerState(TypedDict):
    """The MCP server of a worker that is ready."""

    port: int
    problem: str | None
    """Why the server does not run."""
    hint: str | None
    socket: str | None
    socket_problem: str | None


def encode_headers(headers: Headers) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


def decode_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Return headers that `encode_headers` returned."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


class SearchWorkerProcess:
    """The search worker of this process; an ASGI app that forwards requests to it."""

    def __init__(self, port: int) -> None:
        """Let the MCP server of the worker listen at this port; 0 is any free port."""
        self.port = port
        self.problem: str | None = None
        """Why the MCP server does not run."""
        self.hint: str | None = None
        self.socket: Path | None = None
        self.socket_problem: str | None = None
        self._worker: WorkerProcess[SearchRequest, None, SearchResponse] | None = None
        self._ready = asyncio.Event()
        self._supervision: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the process, and start it again whenever it ends."""
        self._supervision = asyncio.create_task(self._supervise())

    async def wait_until_ready(self) -> None:
        """Wait until the worker answers requests. Raise SearchWorkerEnded if it does not start."""
        try:
            async with asyncio.timeout(_START_S):
                await self._ready.wait()
        except TimeoutError:
            raise SearchWorkerEnded from None

    async def stop(self) -> None:
        """End the process. Its sessions are stored and can be continued."""
        if self._supervision is not None:
            self._supervision.cancel()
            await asyncio.gather(self._supervision, return_exceptions=True)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: bytes = b"",
        headers: Headers = (),
        body: bytes = b"",
        actor: Actor | None = None,
    ) -> RequestReply[SearchResponse]:
        """Return the response of the worker. Raise SearchWorkerEnded."""
        await self.wait_until_ready()
        request: SearchRequest = {
            "method": method,
            "path": path,
            "query": query.decode("latin-1"),
            "headers": encode_headers(headers),
            "actor": actor and actor.model_dump(),
        }
        worker = self._worker
        assert worker is not None
        try:
            return await worker.request(request, body)
        except WorkerEnded:
            if worker is self._worker:
                self._ready.clear()  # the next request waits for the next worker
            raise SearchWorkerEnded from None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request, whose body is complete in its first message."""
        message: Message = await receive() if scope["method"] not in ("GET", "HEAD") else {"type": "http.request"}
        try:
            response, content = await self.request(
                scope["method"],
                scope["path"],
                query=scope["query_string"],
                headers=scope["headers"],
                body=message.get("body", b""),
                actor=scope[ACTOR],
            )
        except SearchWorkerEnded as error:
            await make_error_response(error)(scope, receive, send)
            return
        headers = decode_headers(response["headers"])
        await send({"type": "http.response.start", "status": response["status"], "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def _supervise(self) -> None:
        while True:
            try:
                await self._run_process()
            except Exception as exc:
                _log.exception("the search worker failed", exc=exc)
            await asyncio.sleep(_RESTART_PAUSE_S)

    async def _run_process(self) -> None:
        """Run the process until it ends. If cancelled, end it."""
        module = "uraniborg.console.workers.search_worker"
        worker = self._worker = await start_worker(module, str(self.port), on_ready=self._note_ready)
        try:
            _log.warning("the search worker has ended", exit_code=await worker.wait())
        finally:
            self._ready.clear()
            await worker.end(within_s=_STOP_S)

    def _note_ready(self, state: ServerState) -> None:
        self.port, self.problem, self.hint = state["port"], state["problem"], state["hint"]
        self.socket = Path(state["socket"]) if state["socket"] else None
        self.socket_problem = state["socket_problem"]
        self._ready.set()


_SEARCHES: Final = "/api/search"
"""The beginning of the addresses of searches, their options and their shelves."""
_QUESTIONS: Final = "/api/inbox/"
_OPENAPI: Final = "/api/openapi.json"


class ForwardToWorker:
    """The API with the routes of the worker. The OpenAPI document describes the routes of both."""

    def __init__(self, api: FastAPI, worker: SearchWorkerProcess) -> None:
        self._api = api
        self._worker = worker
        self._openapi: bytes | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_forwarded(scope):
            await self._worker(scope, receive, send)
        elif scope["type"] == "http" and (scope["path"], scope["method"]) == (_OPENAPI, "GET"):
            await (await self._answer_openapi())(scope, receive, send)
        else:
            await self._api(scope, receive, send)

    async def _answer_openapi(self) -> Response:
        if self._openapi is None:
            try:
                searches = await self._worker.request("GET", _OPENAPI)
            except SearchWorkerEnded as error:
                return make_error_response(error)
            self._openapi = await asyncio.to_thread(_merge_documents, self._api, searches.body)
        return Response(self._openapi, media_type=JSON)


def _is_forwarded(scope: Scope) -> bool:
    path: str = scope["path"]
    return path.startswith(_SEARCHES) or (path.startswith(_QUESTIONS) and scope["method"] == "POST")


def _merge_documents(api: FastAPI, searches: bytes) -> bytes:
    """Return the OpenAPI document of the API with the paths and schemas of the worker."""
    document = api.openapi()
    added: Any = json.loads(searches)
    paths = {**added["paths"], **document["paths"]}
    schemas = {**added["components"]["schemas"], **document["components"]["schemas"]}
    merged = {
        **document,
        "paths": dict(sorted(paths.items())),
        "components": {**document["components"], "schemas": dict(sorted(schemas.items()))},
    }
    return json.dumps(merged, ensure_ascii=False).encode()
