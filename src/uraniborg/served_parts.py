"""The servers of one process: each listens at its own port, and one that cannot start does not stop the others."""

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from uraniborg.kernel.errors import as_error
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.serving import PortTaken

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from uraniborg.kernel.http_server import StoppingServer

HOST: Final = "127.0.0.1"
API: Final = "api"

_log = get_logger(__name__)


@dataclass
class ServedPart:
    """One server of the process: its address, or the reason why it does not run."""

    name: str
    purpose: str
    port: int
    make_app: "Callable[[ServedPart], Awaitable[ASGIApp]] | None"
    """Returns the app. Raises the error that prevents its start. None if another process serves the part."""
    has_mcp: bool = True
    problem: str | None = None
    hint: str | None = None

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://{HOST}:{self.port}"

    def to_json(self) -> dict[str, Any]:
        """Return the part as the API and `--json` show it."""
        return {
            "name": self.name,
            "purpose": self.purpose,
            "url": self.url,
            "mcp": f"{self.url}/mcp" if self.has_mcp else None,
            "running": self.problem is None,
            "problem": self.problem,
            "hint": self.hint,
        }


class _Running(NamedTuple):
    server: "StoppingServer"
    listener: socket.socket


@dataclass
class ServedParts:
    """The servers of one process. One that cannot start is recorded with its problem, and the others run."""

    parts: list[ServedPart]
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
        from uraniborg.kernel.http_server import tune_garbage_collection

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # Windows
                loop.add_signal_handler(number, stopping.set)
        tasks = [asyncio.create_task(one.server.serve([one.listener])) for one in self._running]
        waiting = asyncio.create_task(stopping.wait())
        await asyncio.gather(*(one.server.ready.wait() for one in self._running))
        tune_garbage_collection()
        on_ready()
        await asyncio.wait([waiting, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for one in self._running:
            one.server.should_exit = True
        await asyncio.gather(*tasks, return_exceptions=True)
        waiting.cancel()

    async def _start_part(self, part: ServedPart) -> None:
        from uraniborg.kernel.http_server import make_server, open_listener

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
        try:
            self._running.append(_Running(make_server(await part.make_app(part)), listener))
        except BaseException:
            listener.close()
            raise
