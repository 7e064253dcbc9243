"""The server that apps run in: it says when it is ready, and tells the app when it stops."""

import asyncio
import gc
import os
import socket
import threading
from typing import Final

import uvicorn

from uraniborg.kernel.web import EndsWithServer

_YOUNG: Final = 20_000
"""How many new objects make a look worth while: thousands are made and gone again in every moment of load."""


def settle() -> None:
    """Have the collector of garbage leave alone what was loaded, which stays, and look less often for the rest."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 20, 100)


class EndingServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if isinstance(self.config.app, EndsWithServer):
            self.config.app.end()
        await super().shutdown(sockets)


def end_with_parent() -> None:
    """Have a worker process end when the one that started it does, however that ends: nobody else would end it."""
    import multiprocessing
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end-with-parent").start()
