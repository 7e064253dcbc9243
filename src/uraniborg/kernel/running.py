"""The server that apps run in: it says when it is ready, and tells the app when it stops."""

import asyncio
import socket

import uvicorn

from uraniborg.kernel.web import EndsWithServer


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
