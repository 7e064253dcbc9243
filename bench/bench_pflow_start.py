"""How much starting costs: the command, a short run, and the server.

Claims, against pflow-cli in the same run: `pflow --version` takes at least 6x less processor time, a run of ten shell
nodes at least 3x less; the MCP server answers `initialize` at least 1.3x sooner, within 1.25x of a server of the SDK
that has five empty tools, and idles in at most 1.15x of its memory. It answers before it has loaded the SDK, which the
first list of tools waits for; when that has come is told beside.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from pflow_peer import alternating, chain, cpu_of, markdown_chain, peer, timed

ROUNDS: Final = 7
OURS: Final = Path(sys.executable).parent / "pflow"
BARE: Final = """
from typing import Any
from mcp.server.fastmcp import FastMCP
server = FastMCP("bare")
for name in ("one", "two", "three", "four", "five"):
    async def tool(name: str = "", inputs: dict[str, Any] | None = None) -> dict[str, Any]:
        "A tool."
        return {}
    server.add_tool(tool, name=name)
server.run("stdio")
"""
HELLO: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def server(command: Sequence[Any], env: dict[str, str]) -> "subprocess.Popen[bytes]":
    """A server that has answered `initialize`."""
    process = subprocess.Popen(
        [str(part) for part in command],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    process.stdin.flush()
    assert b"serverInfo" in process.stdout.readline()
    return process


def end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.communicate()


def listing(command: Sequence[Any], env: dict[str, str]) -> "subprocess.Popen[bytes]":
    """A server that has answered `initialize` and listed its tools."""
    process = server(command, env)
    assert process.stdin
    assert process.stdout
    for message in ({"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"}):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
    assert b"tools" in process.stdout.readline()
    return process


def started(
    start: Callable[[Sequence[Any], dict[str, str]], Any], command: Sequence[Any], env: dict[str, str]
) -> float:
    processes: list[subprocess.Popen[bytes]] = []
    took = timed(lambda: processes.append(start(command, env)))
    end(processes[0])
    return took


def resident(command: Sequence[Any], env: dict[str, str]) -> float:
    """Megabytes, once it has answered and listed its tools."""
    process = listing(command, env)
    status = Path(f"/proc/{process.pid}/status").read_text()
    end(process)
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def main() -> None:
    theirs = peer()
    with tempfile.TemporaryDirectory(prefix="pflow-bench-") as name:
        folder = Path(name)
        env = {**os.environ, "HOME": name, "PFLOW_HOME": str(folder / "ours")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # else whoever was not compiled when installed is, at each start
        (folder / "chain.json").write_text(json.dumps(chain(10, shell=True)))
        (folder / "chain.pflow.md").write_text(markdown_chain(10, shell=True))
        commands: dict[str, tuple[list[Any], list[Any], str]] = {
            "--version": ([OURS, "--version"], [theirs, "--version"], "6"),
            "ten shell nodes": ([OURS, "run", folder / "chain.json"], [theirs, folder / "chain.pflow.md"], "3"),
        }
        for what, (our, their, claim) in commands.items():
            measures = [partial(cpu_of, our, env, folder)]
            if theirs:
                measures.append(partial(cpu_of, their, env, folder))
            ours, *rest = alternating(ROUNDS, *measures)
            told = f"; pflow-cli {rest[0] * 1000:.0f} ms: {rest[0] / ours:.1f}x less (claim {claim}x)" if rest else ""
            print(f"  {what}: {ours * 1000:.0f} ms of processor time{told}")
        serve, bare = [OURS, "mcp", "serve"], [sys.executable, "-c", BARE]
        servers: list[list[Any]] = [serve, bare, *([[theirs, "mcp", "serve"]] if theirs else [])]
        for what, start, within, sooner in (
            ("initialize", server, " (claim 1.25x)", " (claim 1.3x)"),
            ("its list of tools", listing, "", ""),
        ):
            ours, plain, *rest = alternating(ROUNDS, *(partial(started, start, one, env) for one in servers))
            told = f"; pflow-cli {rest[0] * 1000:.0f} ms: {rest[0] / ours:.2f}x sooner{sooner}" if rest else ""
            print(f"  server to {what}: {ours * 1000:.0f} ms, {ours / plain:.2f}x of a bare server{within}{told}")
        ours, plain = alternating(3, lambda: resident(serve, env), lambda: resident(bare, env))
        print(f"  memory when idle: {ours:.0f} MB, {ours / plain:.2f}x of a bare server (claim 1.15x)")


if __name__ == "__main__":
    main()
