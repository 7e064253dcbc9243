"""The whole app on a real port in a separate thread, and checks of its responses."""

import asyncio
import logging
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from tests.universe.chosen_store import make_chosen_store
from universe.api.app import make_app
from universe.config import UniverseConfig
from universe.store.interface import Store
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.mcp.testing import serve_app

SOON: Final = 20.0
"""The timeout in seconds of everything that a test waits for."""


@contextmanager
def run_server(folder: Path, *, store: Store | None = None, **settings: Any) -> Generator[httpx.Client]:
    """Provide a client of a server that stores its universes in the folder, or in `store`."""
    app = make_app(UniverseConfig(**settings), store or make_chosen_store(lambda: SqliteStore(folder / "universes.db")))
    with run_in_thread(app) as url, httpx.Client(base_url=url, timeout=SOON) as client:
        yield client


@contextmanager
def run_in_thread(app: Any) -> Generator[str]:
    """Serve the app on a thread during the block, and provide its address."""
    printed: dict[str, str] = {}
    started, leaving = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with serve_app(app) as url:
            printed["url"] = url
            started.set()
            await leaving.wait()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            started.set()
            loop.close()

    thread = threading.Thread(target=run, name="served app")
    # Two threads that write a traceback at once, this server's and the test's, can crash the interpreter.
    logging.disable(logging.CRITICAL)
    thread.start()
    with ExitStack() as leave:
        leave.callback(logging.disable, logging.NOTSET)
        leave.callback(thread.join, SOON)
        assert started.wait(SOON)
        leave.callback(loop.call_soon_threadsafe, leaving.set)
        yield printed["url"]


def get_error(answer: httpx.Response, status: int, code: str | None = None) -> dict[str, Any]:
    """Return the error of an answer, which must have this status and the common error shape."""
    assert answer.status_code == status, (answer.status_code, answer.text[:500])
    assert answer.headers["Content-Type"] == "application/json"
    assert "ETag" not in answer.headers
    body = answer.json()
    assert body.keys() == {"error"}
    reply = body["error"]
    assert {"code", "message", "hint"} <= reply.keys()
    assert all(isinstance(reply[name], str) and reply[name] for name in ("code", "message", "hint"))
    assert code is None or reply["code"] == code, reply
    return reply


SEEN_AS: Final[list[dict[str, Any]]] = [{"headers": {"If-Match": '"0"'}}, {"params": {"expectedVersion": 0}}]
"""The two ways to say that version 0 is what was seen."""


def make_bearer_headers(value: str) -> httpx.Headers:
    """Return an Authorization header in UTF-8."""
    return httpx.Headers([(b"Authorization", value.encode())])


def create_universe(client: httpx.Client, **body: Any) -> str:
    """Create a universe and return its id."""
    answer = client.post("/universes", json={"name": "Hven", **body})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def send_command(client: httpx.Client, universe_id: str, command: Any, **more: Any) -> dict[str, Any]:
    """Send a command that must be accepted, and return the answer."""
    answer = client.post(f"/universes/{universe_id}/commands", json=command, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def read_state(client: httpx.Client, universe_id: str) -> dict[str, Any]:
    return client.get(f"/universes/{universe_id}").json()["state"]


def read_version(client: httpx.Client, universe_id: str) -> int:
    return client.get(f"/universes/{universe_id}").json()["version"]
