"""The demo's session: the real server is killed between two calls, and another server resumes the session."""

import asyncio
import json
import os
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from uraniborg.kernel.errors import Unavailable
from uraniborg.recordings import QUERY, RECORDING

_PROTOCOL: Final = "2025-11-25"
_MOST_LINE: Final = 1 << 20
_PATIENCE_S: Final = 60.0
_NEEDED: Final = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT", "TEMP")


async def run_and_show_session(console: Console) -> None:
    """Run `paper-search-mcp` as an agent would, kill it at the review, and resume in a new process."""
    console.print("[bold]The same search as an agent's session[/], with the server killed in the middle")
    if find_spec("mcp") is None:
        console.print("  [dim]needs the server: pip install 'uraniborg[mcp]'[/]\n")
        return
    with tempfile.TemporaryDirectory(prefix="uraniborg-demo-") as home:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await _run_session(console, Path(home))
        except TimeoutError:
            raise Unavailable("The demo's server did not answer.", hint="Run `paper-search-mcp` to see why.") from None
    console.print()


async def _run_session(console: Console, home: Path) -> None:
    async with _start_server(home) as agent:
        first = await agent.call_tool("search_papers", query=QUERY)
        session = first["session_id"]
        console.print(_render_line("agent", "search_papers", _describe_checkpoint(first)))
        review = await agent.call_tool("decide", session_id=session, action="approve")
        console.print(
            _render_line(
                "agent", 'decide "approve"', f"{_describe_checkpoint(review)}, {_get_total_papers(review)} papers"
            )
        )
        agent.process.kill()
        await agent.process.wait()
        console.print(_render_line("", "kill -9", "the server is gone", style="red"))
    async with _start_server(home) as agent:
        again = await agent.call_tool("get_session", session_id=session)
        same = again["checkpoint"]["payload"] == review["checkpoint"]["payload"]
        console.print(
            _render_line(
                "new server", "get_session", f"{_describe_checkpoint(again)}, {'the same' if same else 'other'} papers"
            )
        )
        await _decide_as_person(again["checkpoint_id"], home)
        console.print(_render_line("you", "uraniborg decide", '"approve", from another terminal'))
        done = again
        while not done["is_complete"]:
            done = await agent.call_tool("get_session", session_id=session)
        console.print(_render_line("agent", "get_session", f"complete: {done['paper_count']} papers", style="green"))


class _Agent:
    """A client that sends one JSON-RPC message per line, as the client of an agent does."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._calls = 0

    async def call_tool(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.send_request("tools/call", {"name": tool, "arguments": arguments})
        answer = json.loads(result["content"][0]["text"])
        if result.get("isError"):
            raise Unavailable(f"The demo's server refused: {answer['error']['message']}", hint=answer["error"]["hint"])
        return answer

    async def send_request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._calls += 1
        await self.send_message({"id": self._calls, "method": method, "params": params})
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self._calls and "result" in message:
                return message["result"]
        raise Unavailable("The server of the demo ended too early.", hint="Run `paper-search-mcp` to see why.")

    async def send_message(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self.process.stdin.drain()


@asynccontextmanager
async def _start_server(home: Path) -> AsyncGenerator[_Agent]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "paper_search.mcp_server",
        stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=_make_environment(home), cwd=home, limit=_MOST_LINE,
    )  # fmt: skip
    agent = _Agent(process)
    try:
        client = {"name": "uraniborg-demo", "version": "1"}
        hello = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client}
        await agent.send_request("initialize", hello)
        await agent.send_message({"method": "notifications/initialized"})
        yield agent
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _decide_as_person(checkpoint_id: str, home: Path) -> None:
    command = [sys.executable, "-m", "uraniborg", "decide", checkpoint_id, "approve", "--json"]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=DEVNULL, stderr=DEVNULL, env=_make_environment(home), cwd=home
    )
    if await process.wait():
        raise Unavailable("The demo's decision was not taken.", hint=f"Run `uraniborg decide {checkpoint_id} approve`.")


def _make_environment(home: Path) -> dict[str, str]:
    """Return an environment without the user's settings: the demo is the same everywhere."""
    needed = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    return {**needed, "URANIBORG_HOME": str(home), "URANIBORG_PAPER_SEARCH__REPLAY_DIR": str(RECORDING)}


def _describe_checkpoint(state: dict[str, Any]) -> str:
    return f"waits at {state.get('checkpoint_kind', 'nothing')}"


def _get_total_papers(state: dict[str, Any]) -> int:
    return state["checkpoint"]["payload"]["total_papers"]


def _render_line(who: str, what: str, outcome: str, style: str = "dim") -> Text:
    return Text.assemble("  ", (f"{who:<12}", "cyan"), f"{what:<18}", (outcome, style))
