"""The rate limit: each client has its own, and it recovers."""

import asyncio
from typing import Any

from uraniborg.console.request_checks import CLIENT, RequestRates


async def answer(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


class Clients:
    """Clients of a server that admits two requests at once and one each second, with a clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self._app = RequestRates(answer, per_second=1, burst=2, clock=lambda: self.now)

    def send(self, client: str) -> tuple[int, bytes | None]:
        """Send a request and return its status and its Retry-After."""
        messages: list[Any] = []

        async def send(message: Any) -> None:
            messages.append(message)

        async def receive() -> Any:
            return {"type": "http.request"}

        asyncio.run(self._app({"type": "http", "headers": [], CLIENT: client}, receive, send))
        return messages[0]["status"], dict(messages[0]["headers"]).get(b"retry-after")


def test_a_client_that_sends_too_much_is_refused_and_others_are_not() -> None:
    clients = Clients()
    assert [clients.send("a")[0] for _ in range(3)] == [204, 204, 429]
    assert clients.send("b") == (204, None)
    assert clients.send("a") == (429, b"1")


def test_a_refused_client_is_admitted_again_after_a_second() -> None:
    clients = Clients()
    assert [clients.send("a")[0] for _ in range(3)] == [204, 204, 429]
    clients.now = 1.0
    assert [clients.send("a")[0] for _ in range(2)] == [204, 429]
