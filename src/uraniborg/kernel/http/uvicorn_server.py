"""Run uvicorn with our limits and a clean shutdown, in one process or in workers that end with their parent."""

import asyncio
import gc
import os
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, TypeVar

import uvicorn
from starlette.types import ASGIApp

from uraniborg.kernel.http.connection_limits import Limits, make_protocol, raise_file_limit
from uraniborg.kernel.http.secure_app import StoppableApp

T = TypeVar("T")
_DRAIN_S: Final = 5
_BACKLOG: Final = 2_048
_NEW_OBJECTS: Final = 20_000
"""The number of new objects that starts a garbage collection: under load thousands live for a moment only."""


def run_server(
    app: ASGIApp | str,
    *,
    host: str,
    port: int,
    workers: int = 1,
    factory: bool = False,
    limits: Limits | None = None,
) -> None:
    """Serve until interrupted. With several workers `app` is the import path of a factory."""
    limits = limits or Limits()
    raise_file_limit()
    if workers > 1:
        _configure(uvicorn.run, limits)(app, host=host, port=port, workers=workers, factory=factory)
        return
    tune_garbage_collection()
    with suppress(KeyboardInterrupt), open_listener(host, port) as listener:
        StoppingServer(_configure(uvicorn.Config, limits)(app, factory=factory)).run(sockets=[listener])


def make_server(app: ASGIApp) -> "StoppingServer":
    """Return a server for one of several apps on the same event loop: `serve` it with a listener."""
    return StoppingServer(_configure(uvicorn.Config, Limits())(app), handles_signals=False)


def _configure(function: Callable[..., T], limits: Limits) -> Callable[..., T]:
    """Return the function of uvicorn with our settings."""
    # uvicorn can limit the number of connections, but it counts idle ones and refuses new ones because of them.
    return partial(
        function,
        http=make_protocol(limits),
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        backlog=_BACKLOG,
        timeout_keep_alive=limits.idle_s,
        timeout_graceful_shutdown=_DRAIN_S,
    )


def open_listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens at this address; 0 is any free port. Raise OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # so the loop sends small answers at once
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


class StoppingServer(uvicorn.Server):
    """A server that sets `ready` after its start and calls `stop` of a StoppableApp at its end."""

    def __init__(self, config: uvicorn.Config, *, handles_signals: bool = True) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._handles_signals = handles_signals

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        if self._handles_signals:
            with super().capture_signals():
                yield
        else:
            yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if isinstance(self.config.app, StoppableApp):
            self.config.app.stop()
        await super().shutdown(sockets)


def tune_garbage_collection() -> None:
    """Exclude loaded modules from garbage collection, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 20, 100)


def exit_with_parent() -> None:
    """Make this worker process exit when the process that started it has ended, also if that one was killed."""
    import multiprocessing
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch_parent() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch_parent, daemon=True, name="exit-with-parent").start()
