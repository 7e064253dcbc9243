"""What a `get_session` call costs the server over stdio, against a trivial tool on a bare FastMCP server.

A bare server logs a line for every request; the ratios are relative to a stricter peer without this log.
"""

import json
import statistics
import tempfile
from contextlib import ExitStack
from typing import Final

from bench_server_start import OURS, PEER, StdioServer
from ratios import record_ratio

from uraniborg.recordings import QUERY, RECORDING

CALLS: Final = 60
"""In one measurement; the server's clock is read before the first and after the last."""
ROUNDS: Final = 9
WARM_UP: Final = 2
QUIET: Final = [*PEER[:2], PEER[2].replace('"bare"', '"bare", log_level="WARNING"')]
REPLAY: Final = {"URANIBORG_PAPER_SEARCH__REPLAY_DIR": str(RECORDING)}


def cpu_per_call(server: StdioServer, tool: str, arguments: dict[str, str]) -> float:
    before = server.cpu_seconds()
    for _ in range(CALLS):
        server.call(tool, arguments)
    return (server.cpu_seconds() - before) / CALLS


def main() -> None:
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())

        def start_server(command: list[str]) -> StdioServer:
            server = StdioServer(command, home, REPLAY)
            stack.callback(server.end)
            server.initialize()
            return server

        quiet, bare, ours, other = start_server(QUIET), start_server(PEER), start_server(OURS), start_server(OURS)
        proposed, reviewed, complete = (
            json.loads(ours.call("search_papers", {"query": QUERY}))["session_id"] for _ in range(3)
        )
        for session_id in (reviewed, complete, complete):
            decided = json.loads(ours.call("decide", {"session_id": session_id, "action": "approve"}))
            assert decided["is_complete"] or decided["checkpoint"]["payload"]["shown"] == 20, decided

        calls: list[tuple[str, StdioServer, str, dict[str, str]]] = [
            ("echo, quiet FastMCP", quiet, "echo", {"text": proposed}),
            ("echo, bare FastMCP", bare, "echo", {"text": proposed}),
            ("at the strategy", ours, "get_session", {"session_id": proposed}),
            ("at a review of 20 papers", ours, "get_session", {"session_id": reviewed}),
            ("complete", ours, "get_session", {"session_id": complete}),
            ("review, in another process", other, "get_session", {"session_id": reviewed}),
            ("complete, from disk", other, "get_session", {"session_id": complete}),
        ]
        rounds = [
            [cpu_per_call(server, tool, arguments) for _, server, tool, arguments in calls]
            for _ in range(WARM_UP + ROUNDS)
        ][WARM_UP:]
        sizes = [len(server.call(tool, arguments)) for _, server, tool, arguments in calls]
    print(f"server CPU per call (median of {ROUNDS} times {CALLS} calls, alternating; target: at most 1.5x)")
    for number, ((name, *_), size) in enumerate(zip(calls, sizes, strict=True)):
        cost = statistics.median(measured[number] for measured in rounds)
        ratio = statistics.median(measured[number] / measured[0] for measured in rounds)
        record_ratio(f"{name} to a quiet FastMCP server", ratio)
        print(f"  {name:<26} {cost * 1000:6.3f} ms  {ratio:5.2f}x  {size:6,} bytes of text")


if __name__ == "__main__":
    main()
