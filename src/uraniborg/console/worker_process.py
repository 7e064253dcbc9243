"""The process of the search worker: started, sent requests, started again if it ends, and stopped."""

import asyncio
import itertools
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from starlette.types import Message, Receive, Scope, Send

from uraniborg.kernel.actors import ACTOR, Actor
from uraniborg.kernel.child_processes import end_process
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.http_access import make_error_response
from uraniborg.kernel.logging import get_logger

_START_S: Final = 60.0
_STOP_S: Final = 15.0
_RESTART_PAUSE_S: Final = 1.0

_log = get_logger(__name__)


class WorkerEnded(Unavailable):
    code = "worker_ended"

    def __init__(self) -> None:
        super().__init__(
            "The process that runs searches has ended.",
            hint="It is started again. Searches are stored: repeat the request in a few seconds.",
        )


class WorkerResponse(NamedTuple):
    """The response of the worker to one request."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


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
        self._numbers = itertools.count()
        self._answers: dict[int, asyncio.Future[WorkerResponse]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._ready = asyncio.Event()
        self._supervision: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the process, and start it again whenever it ends."""
        self._supervision = asyncio.create_task(self._supervise())

    async def wait_until_ready(self) -> None:
        """Wait until the worker answers requests. Raise WorkerEnded if it does not start."""
        try:
            async with asyncio.timeout(_START_S):
                await self._ready.wait()
        except TimeoutError:
            raise WorkerEnded from None

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
        headers: Any = (),
        body: bytes = b"",
        actor: Actor | None = None,
    ) -> WorkerResponse:
        """Return the response of the worker. Raise WorkerEnded."""
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            await self._send(
                {
                    "id": number,
                    "method": method,
                    "path": path,
                    "query": query.decode("latin-1"),
                    "headers": [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers],
                    "body": body.decode("latin-1"),
                    "actor": actor and actor.model_dump(),
                }
            )
            return await answer
        finally:
            self._answers.pop(number, None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request, whose body is complete in its first message."""
        message: Message = await receive() if scope["method"] not in ("GET", "HEAD") else {"type": "http.request"}
        try:
            response = await self.request(
                scope["method"],
                scope["path"],
                query=scope["query_string"],
                headers=scope["headers"],
                body=message.get("body", b""),
                actor=scope[ACTOR],
            )
        except WorkerEnded as error:
            await make_error_response(error)(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
        await send({"type": "http.response.body", "body": response.body})

    async def _send(self, request: dict[str, Any]) -> None:
        await self.wait_until_ready()
        process = self._process
        if process is None or process.stdin is None:
            raise WorkerEnded
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            await process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise WorkerEnded from None

    async def _supervise(self) -> None:
        while True:
            try:
                await self._run_process()
            except Exception as exc:
                _log.exception("the search worker failed", exc=exc)
            await asyncio.sleep(_RESTART_PAUSE_S)

    async def _run_process(self) -> None:
        """Run the process and pass on its responses until it ends. If cancelled, end it."""
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "uraniborg.console.search_worker",
            str(self.port),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C ends the worker through `stop`
        )
        try:
            assert process.stdout is not None
            await self._read_responses(process.stdout)
            _log.warning("the search worker has ended", exit_code=await process.wait())
        finally:
            self._ready.clear()
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(WorkerEnded())
            await end_process(process, within_s=_STOP_S)

    async def _read_responses(self, stream: asyncio.StreamReader) -> None:
        with suppress(asyncio.IncompleteReadError, json.JSONDecodeError):  # the process ended
            started: dict[str, Any] = json.loads(await stream.readline())
            self.port, self.problem, self.hint = started["port"], started["problem"], started["hint"]
            self.socket = Path(started["socket"]) if started["socket"] else None
            self.socket_problem = started["socket_problem"]
            self._ready.set()
            while True:
                head: dict[str, Any] = json.loads(await stream.readline())
                body = await stream.readexactly(head["size"])
                headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in head["headers"]]
                answer = self._answers.get(head["id"])
                if answer is not None and not answer.done():
                    answer.set_result(WorkerResponse(head["status"], headers, body))
