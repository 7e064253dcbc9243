"""The real server as a process, called by the official client or with raw JSON-RPC messages."""

import itertools
import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, cast

from paper_search.sources.registry import KNOWN
from tests.forked_processes import Forked, template
from tests.installed_programs import find_program
from tests.paper_search.service.sessions import fast_server
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, request
from uraniborg.kernel.mcp.testing import ClientSession, connect_stdio_client
from uraniborg.recordings import QUERY, RECORDING

COMMAND: Final = str(Path(sys.executable).with_name("paper-search-mcp"))
MAIN: Final = f"{fast_server.__name__}:{fast_server.main.__name__}"
LOADED: Final = (
    "uraniborg.kernel.mcp",
    "paper_search.service.sessions",
    "paper_search.api.search_functions",
    "paper_search.service.workflow_assembly",
    "paper_search.export.formats",
    "paper_search.export.formats",
    *(f"paper_search.sources.{name}" for name in KNOWN),
    "paper_search.sources.transport.http_transport",
    "paper_library.api.entry_points",
    "anyio._backends._asyncio",
    "filelock",
    "Stemmer",
    "rich.logging",
    "structlog",
)
TIMEOUT_S: Final = 30.0
"""The maximum seconds to wait for an event."""
REPLY_BYTES: Final = 25_000
"""The maximum size of a reply that is not an export."""

_INTERNALS: Final = re.compile(
    r"""
      Traceback | \bFile\s" | \.py\b | site-packages
    | /(?:home|root|tmp|usr|var|work|etc|opt|proc|srv|mnt)/
    | \b(?:sqlite3|pydantic|asyncio|filelock|httpx)\b
    | \b[A-Z]\w*(?:Error|Exception)\b | \bErrno\b
    | \b(?:SELECT|INSERT|UPDATE|DELETE|PRAGMA|COMMIT|ROLLBACK|CREATE\sTABLE)\b | no\ssuch\s(?:table|column)
    """,
    re.VERBOSE,
)
_PATHS: Final = (str(RECORDING.parent), sys.prefix, sys.base_prefix, str(Path(__file__).parents[4]))
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

GATED_SOURCE: Final = """
import asyncio, os, pathlib, subprocess, sys

HERE = pathlib.Path(__file__).parent


class Shelf:
    source_name = "shelf"

    async def search_advanced(self, strategy):
        print("printed by a source")
        os.write(1, b"written by a source\\n")
        subprocess.run([sys.executable, "-c", "print('printed by a child of a source')"], check=True)
        with (HERE / "asked").open("a") as file:
            file.write("asked\\n")
        while not (HERE / "open").exists():
            await asyncio.sleep(0.01)
        names = ("Europa", "Enceladus", "Ganymede")
        return [{"title": f"Tidal heating of {name}", "year": 2020, "doi": f"10.1000/{name}"} for name in names]
"""


class GatedSource:
    """An installed source that prints text and returns its papers once it is opened. Servers use it with `env`."""

    def __init__(self, folder: Path) -> None:
        info = folder / "shelf-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shelf\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[paper_search.sources]\nshelf = the_shelf:Shelf\n")
        (folder / "the_shelf.py").write_text(GATED_SOURCE)
        self._folder = folder
        others = {name: {"enabled": False} for name in KNOWN}
        self.env = {
            "PYTHONPATH": str(folder),
            "URANIBORG_PAPER_SEARCH__REPLAY_DIR": "",
            "URANIBORG_PAPER_SEARCH__SOURCES": json.dumps(others),
        }

    def open(self) -> None:
        (self._folder / "open").touch()

    @property
    def search_count(self) -> int:
        asked = self._folder / "asked"
        return len(asked.read_text().splitlines()) if asked.exists() else 0

    def wait_for_search(self, times: int = 1) -> None:
        eventually(lambda: self.search_count >= times)


@dataclass(frozen=True)
class Answer:
    """The answer to one call: the text of a result, or the body of an error, from a result or from JSON-RPC."""

    text: str
    is_error: bool

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> "Answer":
        if "error" in message:
            error = message["error"]
            assert error["message"].strip()
            assert error.get("data"), f"a JSON-RPC error without an error body: {error}"
            return cls(json.dumps(error["data"], ensure_ascii=False), is_error=True)
        result = message["result"]
        if "contents" in result:
            return cls(result["contents"][0]["text"], is_error=False)
        (block,) = result["content"]
        assert block["type"] == "text"
        return cls(block["text"], is_error=bool(result.get("isError")))

    @property
    def state(self) -> dict[str, Any]:
        assert not self.is_error, self.text
        return json.loads(self.text)

    @property
    def error(self) -> dict[str, Any]:
        assert self.is_error, self.text[:500]
        body = json.loads(self.text)
        assert body.keys() == {"error"}
        return body["error"]

    def check_no_leaks(self, *paths: object) -> "Answer":
        for path in (*_PATHS, *map(str, paths)):
            assert path not in self.text
        if self.is_error:
            assert not (found := _INTERNALS.search(self.text)), (found, self.text)
        return self

    def check_error(self, code: str | Sequence[str], *named: str) -> "Answer":
        """Check that this is an error with one of these codes, a message, a hint and no internal details."""
        error = self.error
        assert error["code"] in ([code] if isinstance(code, str) else code), error
        assert error["message"].strip()
        assert error["hint"].strip()
        for name in named:
            assert name in self.text, (name, self.text)
        assert len(self.text.encode()) <= REPLY_BYTES
        shown = error["message"] + error["hint"]
        assert not _CONTROL.search(shown), ascii(shown)
        return self.check_no_leaks()


class Server:
    """A server process that exchanges lines. Its stderr goes to a file in `home`."""

    def __init__(self, home: Path, command: Sequence[str], env: Mapping[str, str]) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.output_lines: list[bytes] = []
        """Every line that the server has written to stdout."""
        self._log = home / "stderr"
        self._numbers = itertools.count(1)
        self._waiting: dict[Any, Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._is_listening = True
        with self._log.open("ab") as stderr:
            self.process = _start_process(home, command, env, stderr)
        self._stdin, self._stdout = cast("tuple[IO[bytes], IO[bytes]]", (self.process.stdin, self.process.stdout))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def initialize(self) -> None:
        self._begin(INITIALIZE).result(TIMEOUT_S)
        self.send(INITIALIZED)

    def call(self, tool: str, /, **arguments: Any) -> Answer:
        return self.begin(tool, **arguments)()

    def begin(self, tool: str, /, **arguments: Any) -> "Pending":
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def ask(self, method: str, params: Any) -> "Pending":
        message = request(method, params, id=next(self._numbers))
        return Pending(message["id"], self._begin(message))

    def ask_raw(self, line: Callable[[int], bytes]) -> "Pending":
        """Send the line that `line` makes for a request id, unchecked."""
        number = next(self._numbers)
        return Pending(number, self._begin({"id": number}, line(number)))

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        with self._lock:
            self._stdin.write(line + b"\n")
            self._stdin.flush()

    def search(self, query: str = QUERY) -> dict[str, Any]:
        """Open a session and return its state."""
        return self.call("search_papers", query=query).state

    def state(self, session_id: str) -> dict[str, Any]:
        return self.call("get_session", session_id=session_id).state

    def state_once(self, session_id: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the state of the session once `wanted` accepts it."""
        found: list[dict[str, Any]] = []

        def is_wanted() -> bool:
            found.append(self.state(session_id))
            return wanted(found[-1])

        eventually(is_wanted)
        return found[-1]

    def close(self) -> int:
        """Close its stdin and return its exit code."""
        self._stdin.close()
        return self.process.wait(TIMEOUT_S)

    def stop_listening(self) -> None:
        """Close the pipe that the server writes to; the pipe that it reads from stays open."""
        self._is_listening = False
        self.send(request("ping", id="the last"))
        self._reader.join(TIMEOUT_S)
        self._stdout.close()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(TIMEOUT_S)

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def check_log(self) -> None:
        """Check that the log contains no unexpected failure."""
        for event in ("unexpected error", "search failed", "Task exception was never retrieved"):
            assert event not in self.log

    def release(self) -> None:
        """Kill the process and close its streams."""
        self.process.kill()
        self.process.wait(TIMEOUT_S)
        self._reader.join(TIMEOUT_S)
        for stream in (self._stdin, self._stdout):
            try:
                stream.close()
            except OSError:
                continue  # unsent data cannot be delivered

    def _begin(self, message: Mapping[str, Any], line: bytes | None = None) -> Future[dict[str, Any]]:
        future: Future[dict[str, Any]] = Future()
        self._waiting[message["id"]] = future
        self.send(message if line is None else line)
        return future

    def _read(self) -> None:
        try:
            while self._is_listening and (line := self._stdout.readline()):
                self.output_lines.append(line)
                message = json.loads(line)
                if "method" not in message and (future := self._waiting.pop(message.get("id"), None)) is not None:
                    future.set_result(message)
        except (OSError, ValueError) as broken:
            self._stop_waiting(broken)
        else:
            self._stop_waiting(EOFError("the server has ended"))

    def _stop_waiting(self, why: Exception) -> None:
        for future in list(self._waiting.values()):
            future.set_exception(why)
        self._waiting.clear()


def _start_process(
    home: Path, command: Sequence[str], env: Mapping[str, str], stderr: IO[bytes]
) -> subprocess.Popen[bytes] | Forked:
    given, pipe = environment(home, env), subprocess.PIPE
    if command:
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, env=given, cwd=home)
    return template(MAIN, *LOADED).start(env=given, cwd=home, stderr=stderr.fileno())


@dataclass(frozen=True)
class Pending:
    """A pending call; calling it waits for the answer."""

    request_id: int
    future: Future[dict[str, Any]]

    def __call__(self) -> Answer:
        return Answer.of(self.future.result(TIMEOUT_S))


@contextmanager
def serving(home: Path, *, command: Sequence[str] = (), env: Mapping[str, str] | None = None) -> Generator[Server]:
    """Run an initialized server on the data folder in `home`; it answers searches from the recording.

    Without a `command` the server is forked from a process that has loaded everything.
    """
    server = Server(home, command, env or {})
    try:
        server.initialize()
        yield server
    finally:
        server.release()


@asynccontextmanager
async def open_client(home: Path, env: Mapping[str, str] | None = None) -> AsyncGenerator[ClientSession]:
    """Run the server with the official client."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "stderr").open("a") as stderr:
        async with connect_stdio_client(
            find_program("paper-search-mcp"), env=environment(home, env or {}), cwd=str(home), stderr=stderr
        ) as client:
            yield client


def environment(home: Path, more: Mapping[str, str]) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "URANIBORG_HOME": str(home),
        "URANIBORG_PAPER_SEARCH__REPLAY_DIR": str(RECORDING),
        **more,
    }


def eventually(happened: Callable[[], bool], within_s: float = TIMEOUT_S) -> None:
    """Wait until `happened` is true."""
    deadline = time.monotonic() + within_s
    pause = threading.Event()
    while not happened():
        assert time.monotonic() < deadline, "the condition never became true"
        pause.wait(0.02)


def get_sessions_folder(home: Path) -> Path:
    return home / "data" / "paper_search" / "sessions"


def get_journal_path(home: Path, session_id: str) -> Path:
    return get_sessions_folder(home) / f"{session_id}.db"


def get_inbox_path(home: Path) -> Path:
    return home / "data" / "inbox.db"


def read_steps(journal: Path) -> dict[str, Any]:
    """Return the steps of a journal in the order in which they were written."""
    with closing(sqlite3.connect(journal)) as connection:
        rows = connection.execute("SELECT step, value FROM steps ORDER BY rowid")
        return {step: json.loads(value) for step, value in rows}


def read_decisions(journal: Path) -> list[str]:
    """Return the actions of the decisions in a journal, in order."""
    return [value["action"] for step, value in read_steps(journal).items() if step.startswith("decision-")]
