"""The server that apps run in: it says when it is ready, and tells the app when it stops."""

import asyncio
import gc
import socket
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
