"""The servers of one process: the console and the MCP servers; one that cannot start stops no other."""

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from uraniborg.kernel.errors import UraniborgError, as_error
from uraniborg.kernel.http.serve_command import PortTaken
from uraniborg.kernel.logging import get_logger
from uraniborg.servers.unix_sockets import find_socket, open_socket

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from uraniborg.installation.replies import ServerAddress
    from uraniborg.kernel.http.uvicorn_server import StoppingServer


HOST: Final = "127.0.0.1"
API: Final = "api"

_log = get_logger(__name__)


@dataclass
class PartServer:
    """One server of the process: its address, or the reason why it does not run."""

    name: str
    purpose: str
    port: int
    make_app: "Callable[[PartServer], Awaitable[ASGIApp]] | None"
    """Returns the app. Raises the error that prevents its start. None if another process serves the part."""
    has_mcp: bool = True
    problem: str | None = None
    hint: str | None = None
    socket: Path | None = None
    """Where programs of this account also reach the server."""
    socket_problem: str | None = None
    """Why a server that runs has no socket."""

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://{HOST}:{self.port}"

    def to_json(self) -> "ServerAddress":
        """Return the part as the API and `--json` show it."""
        return {
            "name": self.name,
            "purpose": self.purpose,
            "url": self.url,
            "mcp": f"{self.url}/mcp" if self.has_mcp else None,
            "running": self.problem is None,
            "problem": self.problem,
            "hint": self.hint,
            "socket": self.socket and str(self.socket),
            "socket_problem": self.socket_problem,
        }


class _Running(NamedTuple):
    server: "StoppingServer"
    listeners: list[socket.socket]
    socket: Path | None


@dataclass
class PartServers:
    """The servers of one process. One that cannot start is recorded with its problem, and the others run."""

    parts: list[PartServer]
    _running: list[_Running] = field(default_factory=list[_Running])

    async def start(self) -> None:
        """Listen at every port and create every app. Raise the error of the API, without which nothing runs."""
        for part in self.parts:
            try:
                await self._start_part(part)
            except Exception as exc:
                if part.name == API:
                    raise
                error = as_error(exc)
                part.problem, part.hint = error.message, error.hint
                _log.warning("a server does not start", server=part.name, reason=error.message)

    async def run(self, on_ready: Callable[[], None], stopping: asyncio.Event) -> None:
        """Serve until SIGINT, SIGTERM or `stopping`, then end all servers cleanly.

        Call `on_ready` once all accept requests.
        """
        from uraniborg.kernel.http.uvicorn_server import tune_garbage_collection

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # Windows
                loop.add_signal_handler(number, stopping.set)
        tasks = [asyncio.create_task(one.server.serve(one.listeners)) for one in self._running]
        waiting = asyncio.create_task(stopping.wait())
        await asyncio.gather(*(one.server.ready.wait() for one in self._running))
        tune_garbage_collection()
        on_ready()
        await asyncio.wait([waiting, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for one in self._running:
            _remove_socket(one.socket)  # while it listens: a later server has not replaced it yet
            one.server.should_exit = True
        await asyncio.gather(*tasks, return_exceptions=True)
        waiting.cancel()

    async def _start_part(self, part: PartServer) -> None:
        from uraniborg.kernel.http.uvicorn_server import make_server, open_listener

        if part.make_app is None:
            return
        try:
            listener = open_listener(HOST, part.port)
        except OSError as exc:
            raise PortTaken(
                f"Port {part.port} cannot be used: {exc.strerror or exc}.",
                hint="Stop the other program, or set another port.",
                port=part.port,
            ) from None
        part.port = listener.getsockname()[1]
        listeners = [listener, *(await asyncio.to_thread(_open_socket, part) if part.has_mcp else [])]
        try:
            self._running.append(_Running(make_server(await part.make_app(part)), listeners, part.socket))
        except BaseException:
            _remove_socket(part.socket)
            part.socket = None
            for one in listeners:
                one.close()
            raise


def _remove_socket(path: Path | None) -> None:
    with suppress(OSError):  # the next server replaces it
        if path is not None:
            path.unlink()


def _open_socket(part: PartServer) -> list[socket.socket]:
    """Return the socket of a part, which listens, or nothing: then the part has the reason."""
    try:
        part.socket = find_socket(part.name)
        return [open_socket(part.socket)]
    except UraniborgError as error:
        part.socket, part.socket_problem = None, f"{error.message} {error.hint}"
        return []
