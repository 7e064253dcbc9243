"""Play the programs of the story: an agent, which is a client of the search server, and a reviewer."""

import asyncio
import json
import os
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from paper_search.domain.review_models import PaperDecision
from paper_search.service.review.session_review import SessionReview
from paper_search.service.session_replies import SessionReply
from paper_search.service.sessions import SessionManager
from uraniborg.kernel.actors import Actor, describe_actor
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.processes.child_processes import end_process
from uraniborg.kernel.version import version
from uraniborg.story.results import FoundPaper, ProposedMark

AGENT_NAME: Final = "demo-agent"
"""The name that the agent gives the server."""
_PROTOCOL: Final = "2025-11-25"
_MAX_LINE_BYTES: Final = 4 << 20
_TIMEOUT_S: Final = 180.0
_POLL_S: Final = 0.02
_HINT: Final = "Run `paper-search-mcp` to see why."


class Agent:
    """A client that sends one JSON-RPC message per line."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._calls = 0

    @property
    def server_pid(self) -> int:
        """The id of the process of the server."""
        return self._process.pid

    async def call_tool(self, tool: str, **arguments: Json) -> SessionReply:
        """Return the reply of a tool about a session. Raise Unavailable if the server refuses or ends."""
        result: Any = await self.send_request("tools/call", {"name": tool, "arguments": arguments})
        answer = json.loads(result["content"][0]["text"])
        if result.get("isError"):
            raise Unavailable(f"The search server refused: {answer['error']['message']}", hint=answer["error"]["hint"])
        return answer

    async def wait_until(self, session_id: str, is_reached: Callable[[SessionReply], bool]) -> SessionReply:
        """Ask for the state of a session until it is reached, and return it."""
        while True:
            state = await self.call_tool("get_session", session_id=session_id)
            if is_reached(state):
                return state
            await asyncio.sleep(_POLL_S)

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Return the result of a request. Raise Unavailable if the server refuses or ends."""
        self._calls += 1
        await self.send_message({"id": self._calls, "method": method, "params": params})
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") != self._calls:
                continue
            if "error" in message:
                raise Unavailable(f"The search server refused: {message['error']['message']}", hint=_HINT)
            if "result" in message:
                return message["result"]
        raise Unavailable("The search server of the story ended too early.", hint=_HINT)

    async def send_message(self, message: JsonObject) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self._process.stdin.drain()


@asynccontextmanager
async def start_agent() -> AsyncGenerator[Agent]:
    """Start the search server in the environment of this process and connect to it. Raise Unavailable."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "paper_search.mcp_server",
        stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=dict(os.environ), limit=_MAX_LINE_BYTES,
    )  # fmt: skip
    agent = Agent(process)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            client: JsonObject = {"name": AGENT_NAME, "version": version()}
            hello: JsonObject = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client}
            await agent.send_request("initialize", hello)
            await agent.send_message({"method": "notifications/initialized"})
            yield agent
    except TimeoutError:
        raise Unavailable("The search server of the story did not answer.", hint=_HINT) from None
    finally:
        await end_process(process, within_s=0.0)


SCREENER: Final = Actor(kind="software", name="demo", authenticated="account")
"""The program that suggests verdicts: a reviewer of its own."""
TOPICS: Final = {
    "masses": re.compile(r"\bmass(?:es)?\b", re.IGNORECASE),
    "resonance": re.compile(r"\bresonan\w+", re.IGNORECASE),
    "stability": re.compile(r"\b(?:stable|stability|long-lived)\b", re.IGNORECASE),
}
"""The topics of the question, and the words that name them in a title or summary."""


def propose_mark(title: str, abstract: str) -> ProposedMark:
    """Return a status and its reason: include a paper whose title or summary names a topic of the question."""
    text = f"{title}\n{abstract}"
    named = [f"{topic} (“{found[0]}”)" for topic, words in TOPICS.items() if (found := words.search(text))]
    if named:
        return {"status": "include", "reason": f"Title or summary names {', '.join(named)}."}
    return {"status": "exclude", "reason": f"Title and summary name none of {', '.join(TOPICS)}."}


async def suggest_marks(manager: SessionManager, session_id: str, papers: Sequence[FoundPaper]) -> None:
    """Store the proposed mark of each paper as a mark of the program, for the review to come."""
    marks = {paper["id"]: PaperDecision.model_validate(paper["proposed"]) for paper in papers}
    await SessionReview(manager).mark_papers(session_id, marks, describe_actor(SCREENER), SCREENER)
