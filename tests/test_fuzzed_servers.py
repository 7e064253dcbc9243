"""Fuzzed messages to every MCP server as a process: it lives, answers each request once, and does not grow."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

import httpx
import pytest

from paper_library.service.shelf_catalog import sample_shelf
from tests.fuzzing import Fuzz, is_request, list_ids, parse_body

SEED: Final = 1572
SOON_S: Final = 60
GROWTH_MB: Final = 100
"""Beyond the memory after the first fifth: caches fill, but not without end."""

INITIALIZE: Final = {
    "method": "initialize",
    "params": {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}},
}
HEADERS: Final = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
SOLAR: Final = "fuzzed"


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def read(uri: str) -> dict[str, Any]:
    return {"method": "resources/read", "params": {"uri": uri}}


COMMON: Final[list[dict[str, Any]]] = [
    INITIALIZE,
    {"method": "ping"},
    {"method": "tools/list"},
    {"method": "resources/list"},
    {"method": "resources/templates/list"},
    call("unheard_of", x=1),
]
SOUND: Final[dict[str, list[dict[str, Any]]]] = {
    "paper_search": [
        *COMMON,
        call("search_papers", query="", domain="general", max_results=10),
        call("decide", session_id="none", action="approve", data={"queries": []}, note="x", checkpoint_id="c"),
        call("export_results", session_id="none", format="json"),
        call("get_session", session_id="none"),
        read("paper-search://sessions"),
        read("paper-search://sessions/none/papers/5"),
    ],
    "pflow": [
        *COMMON,
        call("browse_components", query="shell", include_workflows=True),
        call("list_library", pattern="x*"),
        call("describe_workflow", name="none"),
        call("execute", name="none", inputs={"a": [1, {"b": 2.5}]}),
        call("save_to_library", draft_name="none", final_name="x", description="y"),
        read("pflow://guide"),
    ],
    "paper_library": [
        *COMMON,
        call("search_papers", query="planets since 2000", limit=5, offset=0),
        call("search_papers_by_keyword", keyword="orbit", limit=5),
        call("get_paper_metadata", paper_id="none"),
        call("get_paper_source", paper_id="none", max_chars=100, offset=5),
        call("list_top_facets", category="author", limit=3),
        read("paper://none/source"),
    ],
    "universe": [
        *COMMON,
        call("get_universe_state", universeId=SOLAR, ids=["sun"], fields=["name"], maxBytes=2_000),
        call("list_universe_commands", universeId=SOLAR, category="star-crud"),
        call("send_universe_command", universeId=SOLAR, command={"type": "tick", "dt": 1}, expectedVersion=10**9),
        call("send_universe_command", universeId=SOLAR, command={"type": "removeStar", "id": "none"}),
        read(f"universe://universes/{SOLAR}"),
        {"method": "resources/subscribe", "params": {"uri": f"universe://universes/{SOLAR}"}},
    ],
}
STDIO: Final = {"paper_search": ["-m", "paper_search.mcp_server"], "pflow": ["-m", "pflow", "mcp", "serve"]}
COUNTS: Final = [300, pytest.param(10_000, marks=[pytest.mark.soak, pytest.mark.timeout(900)])]


@contextmanager
def process(arguments: list[str], home: Path, stdin: int | None = None) -> Generator[subprocess.Popen[bytes]]:
    """Run a process, and check that its stderr has no traceback."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "URANIBORG_HOME": str(home), "PFLOW_HOME": str(home / "p")}
    with (home / "stderr").open("wb") as stderr:
        started = subprocess.Popen(
            [sys.executable, *arguments], cwd=home, env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr
        )
        with started:
            try:
                yield started
            finally:
                started.kill()
    assert "Traceback" not in (home / "stderr").read_text(errors="replace")


def resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    return int(status.read_text().split("VmRSS:")[1].split()[0]) / 1024 if status.exists() else 0.0


class StdioConversation:
    """A conversation with a server over stdio, with a count of the answers by id."""

    def __init__(self, server: subprocess.Popen[bytes]) -> None:
        self._stdin, self._stdout = cast("tuple[IO[bytes], IO[bytes]]", (server.stdin, server.stdout))
        self.answered: Counter[Any] = Counter()
        self._arrived = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, message: bytes) -> None:
        self._stdin.write(message + b"\n")

    def ask(self, message: dict[str, Any]) -> None:
        """Send a request and wait for its answer."""
        self.send(json.dumps({"jsonrpc": "2.0", **message}).encode())
        self._stdin.flush()
        with self._arrived:
            assert self._arrived.wait_for(lambda: self.answered[message["id"]], SOON_S), message

    def end(self) -> None:
        self._stdin.close()
        self._reader.join(SOON_S)

    def _read(self) -> None:
        for line in self._stdout:
            message = json.loads(line)
            answers = cast("list[Any]", message if isinstance(message, list) else [message])
            with self._arrived:
                for answer in answers:
                    if "method" not in answer:
                        self.answered[answer["id"]] += 1
                self._arrived.notify_all()


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", STDIO)
def test_a_server_over_stdio_answers_each_fuzzed_request_once(name: str, count: int, tmp_path: Path) -> None:
    fuzz = Fuzz(SEED, SOUND[name])
    required: Counter[Any] = Counter()
    possible: Counter[Any] = Counter()
    early_mb = 0.0
    with process(STDIO[name], tmp_path, stdin=subprocess.PIPE) as server:
        conversation = StdioConversation(server)
        conversation.ask({"id": "begin", **INITIALIZE})
        for number in range(count):
            message = fuzz.message(f"q{number}")
            (required if is_request(message) else possible).update(list_ids(message))
            conversation.send(message)
            if number % 100 == 99:
                conversation.ask({"id": f"alive {number}", "method": "ping"})
            if number == count // 5:
                early_mb = resident_mb(server.pid)
        conversation.ask({"id": "end", "method": "ping"})
        late_mb = resident_mb(server.pid)
        conversation.end()
        assert server.wait(SOON_S) == 0
    answered = conversation.answered
    wrong = {
        one: (required[one], possible[one], answered[one])
        for one in required | possible
        if not required[one] <= answered[one] <= required[one] + possible[one]
    }
    assert wrong == {}
    assert late_mb - early_mb < GROWTH_MB


async def answering(url: str) -> None:
    """Wait until a server that announced its address can be reached there."""
    async with asyncio.timeout(SOON_S), httpx.AsyncClient() as client:
        while True:
            try:
                await client.get(url)
            except httpx.ConnectError:
                await asyncio.sleep(0.05)
            else:
                return


async def converse(url: str, name: str, count: int, seed: int) -> None:
    """Send fuzzed messages one after the other, all under the same id, and check each response."""
    fuzz = Fuzz(seed, SOUND[name])
    async with httpx.AsyncClient(base_url=url, headers=HEADERS, timeout=SOON_S) as client:
        begun = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 0, **INITIALIZE})
        if session := begun.headers.get("mcp-session-id"):
            client.headers["mcp-session-id"] = session
        await client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        for _ in range(count):
            body = fuzz.message(1)
            response = await client.post("/mcp", content=body)
            assert response.status_code < 500, (body, response.text)
            if is_request(body):
                answers = [answer for answer in messages_in(response) if "method" not in answer]
                assert [answer["id"] for answer in answers] == list_ids(body), (body, response.text)
        alive = await client.post("/mcp", json={"jsonrpc": "2.0", "id": "end", "method": "ping"})
        assert messages_in(alive) == [{"jsonrpc": "2.0", "id": "end", "result": {}}]


def messages_in(response: httpx.Response) -> list[dict[str, Any]]:
    if response.headers["content-type"].startswith("application/json"):
        return [response.json()]
    return [json.loads(line[6:]) for line in response.text.split("\r\n") if line.startswith("data: ")]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ["paper_library", "universe"])
async def test_a_server_over_http_answers_each_fuzzed_request_once(name: str, count: int, tmp_path: Path) -> None:
    if name == "universe":
        arguments = ["-m", "universe", "serve", "--port", "0", "--json", "--db", f"sqlite:///{tmp_path / 'u.db'}"]
    else:
        arguments = ["-m", "paper_library", "serve", str(sample_shelf()), "--port", "0", "--json"]
    with process(arguments, tmp_path) as server:
        assert server.stdout is not None
        url = json.loads(await asyncio.to_thread(server.stdout.readline))["url"]
        await answering(url)
        if name == "universe":
            made = await asyncio.to_thread(httpx.post, f"{url}/universes", json={"id": SOLAR, "name": SOLAR})
            made.raise_for_status()
        early_mb = 0.0
        for part in range(5):
            conversations = [converse(url, name, count // 20, SEED + 4 * part + number) for number in range(4)]
            await asyncio.gather(*conversations)
            if part == 0:
                early_mb = resident_mb(server.pid)
        assert resident_mb(server.pid) - early_mb < GROWTH_MB
        server.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(server.wait, SOON_S) in (0, 130)


def test_the_fuzz_is_the_same_for_the_same_seed_and_of_every_kind() -> None:
    first, second = (Fuzz(SEED, COMMON) for _ in range(2))
    messages = [first.message(number) for number in range(500)]
    assert messages == [second.message(number) for number in range(500)]
    requests = sum(map(is_request, messages))
    readable = sum(parse_body(message) is not None for message in messages)
    assert 150 < requests < readable < 480
