"""An agent in a process of its own beside a browser, and searches stored before a server starts."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from paper_search.config import AppConfig
from paper_search.errors import SessionFailed
from paper_search.models import RawPaper
from paper_search.testing import FakeSource
from paper_search.workflow import Decision
from tests.installed_programs import find_program
from tests.paper_search.service.sessions.helpers import APPROVE, DataFolder, open_session
from uraniborg.kernel.clock import SystemClock
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.mcp.testing import connect_stdio_client, get_json
from uraniborg.kernel.store.inbox import Inbox

_WAIT_S = 60


class Agent:
    """A client of a stdio server, by default that of searches, which `python -m` starts.

    It has a thread: the event loop of the test belongs to the browser.
    """

    def __init__(self, env: dict[str, str], *command: str) -> None:
        self._env = env
        self._command = command or ("paper_search.mcp_server",)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._opened = threading.Event()
        self._stopping = asyncio.Event()
        self._client: Any = None

    def __enter__(self) -> "Agent":
        self._thread.start()
        self._connection = asyncio.run_coroutine_threadsafe(self._connect(), self._loop)
        assert self._opened.wait(_WAIT_S)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._connection.result(_WAIT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_WAIT_S)
        self._loop.close()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the reply of a tool."""
        return self.finish(self.start(tool, **arguments))

    def start(self, tool: str, **arguments: Any) -> "Future[Any]":
        """Call a tool without waiting for its reply, which `finish` returns."""
        return asyncio.run_coroutine_threadsafe(self._client.call_tool(tool, arguments), self._loop)

    def finish(self, calling: "Future[Any]") -> dict[str, Any]:
        """Wait for the reply of a call and return it."""
        return get_json(calling.result(_WAIT_S))

    async def _connect(self) -> None:
        async with connect_stdio_client(find_program("python"), ["-m", *self._command], env=self._env) as client:
            self._client = client
            self._opened.set()
            await self._stopping.wait()


def store_review(
    home: Path,
    question: str,
    papers: Sequence[RawPaper],
    *others: FakeSource,
    decisions: Sequence[Decision] = (APPROVE,),
    failure: str = "",
    name: str = "alpha",
    offline: bool = False,
) -> str:
    """Store a search in the data folder of a server; return its id.

    It waits at the review of these papers, which the source `name` sends, or where other decisions lead to; with a
    `failure` it fails before that. If it is `offline`, it continues with the shipped recordings.
    """
    data = home / "uraniborg" / "data"
    folder = DataFolder(data / "paper_search", FakeSource(name, list(papers)), *others)
    if failure:
        folder.engine.failures["dedup"] = Unavailable(failure)

    async def store() -> str:
        inbox = Inbox(data / "inbox.db")
        async with folder.open_manager(clock=SystemClock(), inbox=inbox) as manager:
            asked = await open_session(manager, question, AppConfig(default_max_results=1_000, offline=offline))
            with suppress(SessionFailed):
                for decision in decisions:
                    await manager.decide(asked["session_id"], decision)
            return asked["session_id"]

    return run_in_thread(store())


def run_in_thread(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a thread of its own and return its result."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(work)))
    thread.start()
    thread.join(_WAIT_S)
    return found[0]
