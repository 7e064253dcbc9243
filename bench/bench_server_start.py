"""What starting the server costs: CPU until `initialize` is answered over stdio, against a bare FastMCP server."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any, Final

from ratios import record_ratio

ROUNDS: Final = 9
WARM_UP: Final = 1
OURS: Final = [sys.executable, "-m", "paper_search.mcp_server"]
PEER: Final = [
    sys.executable,
    "-c",
    """
from mcp.server.fastmcp import FastMCP

server = FastMCP("bare")


@server.tool()
async def echo(text: str) -> str:
    "Repeats its argument."
    return text


server.run()
""",
]
INITIALIZE: Final = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class StdioServer:
    """A server process and the plainest of clients: a line out, a line in."""

    def __init__(self, command: list[str], home: str, environment: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "URANIBORG_HOME": home, **(environment or {})},
        )
        self.pid = self._process.pid
        self._requests = 0

    def initialize(self) -> None:
        answer = self.request("initialize", INITIALIZE)
        assert answer["result"]["serverInfo"]["name"], answer
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """Return the text of the tool's reply, which must not be an error."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert not result.get("isError"), result
        return result["content"][0]["text"]

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return its reply; skip notifications."""
        self._requests += 1
        self._send({"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._requests:
                return answer
        raise EOFError(f"the server ended before it answered {method}")

    def cpu_seconds(self) -> float:
        """Return the CPU time of all threads of the server. The clock's number is that of clock_getcpuclockid."""
        return time.clock_gettime((~self._process.pid << 3) | 2)

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


def cpu_until_initialized(command: list[str], home: str) -> float:
    server = StdioServer(command, home)
    try:
        server.initialize()
        return server.cpu_seconds()
    finally:
        server.end()


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        pairs = [
            (cpu_until_initialized(PEER, home), cpu_until_initialized(OURS, home)) for _ in range(WARM_UP + ROUNDS)
        ][WARM_UP:]
    peer, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(mine / theirs for theirs, mine in pairs)
    print(f"bare FastMCP server      {peer * 1000:6.1f} ms of CPU  (median of {ROUNDS}, alternating)")
    print(f"paper-search-mcp         {ours * 1000:6.1f} ms of CPU")
    print(f"ratio                    {ratio:6.2f}x  (target: at most 1.25x)")
    record_ratio("paper-search-mcp to a bare FastMCP server", ratio)


if __name__ == "__main__":
    main()
