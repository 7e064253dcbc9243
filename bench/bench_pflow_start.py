"""How much starting costs: the command, a short run, and the server.

Claims, against pflow-cli in the same run: `pflow --version` takes at least 6x less processor time, a run of ten shell
nodes at least 3x less. The MCP server has answered `initialize` with at most 1.25x of the processor time of a server of
the SDK that has five empty tools, and idles in at most 1.15x of its memory.
"""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench_server_start import StdioServer
from pflow_peer import chain, cpu_of, make_markdown_chain, measure_in_turns, peer
from ratios import record_ratio

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


def cpu_until_answered(command: Sequence[Any], env: dict[str, str], *, tools: bool = False) -> float:
    """Return the CPU seconds of a server until it has answered `initialize`, with `tools` also the list of tools."""
    server = StdioServer([str(part) for part in command], env["HOME"], env)
    try:
        server.initialize()
        if tools:
            server.request("tools/list", {})
        return server.cpu_seconds()
    finally:
        server.end()


def resident(command: Sequence[Any], env: dict[str, str]) -> float:
    """Return the megabytes that a server holds once it has listed its tools."""
    server = StdioServer([str(part) for part in command], env["HOME"], env)
    try:
        server.initialize()
        server.request("tools/list", {})
        status = Path(f"/proc/{server.pid}/status").read_text()
    finally:
        server.end()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def main() -> None:
    theirs = peer()
    with tempfile.TemporaryDirectory(prefix="pflow-bench-") as name:
        folder = Path(name)
        env = {**os.environ, "HOME": name, "PFLOW_HOME": str(folder / "ours")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # otherwise modules without bytecode are compiled at each start
        (folder / "chain.json").write_text(json.dumps(chain(10, shell=True)))
        (folder / "chain.pflow.md").write_text(make_markdown_chain(10, shell=True))
        commands: dict[str, tuple[list[Any], list[Any], str]] = {
            "--version": ([OURS, "--version"], [theirs, "--version"], "6"),
            "ten shell nodes": ([OURS, "run", folder / "chain.json"], [theirs, folder / "chain.pflow.md"], "3"),
        }
        for what, (our, their, claim) in commands.items():
            measures = [partial(cpu_of, our, env, folder)]
            if theirs:
                measures.append(partial(cpu_of, their, env, folder))
            ours, *rest = measure_in_turns(ROUNDS, *measures)
            compared = (
                f"; pflow-cli {rest[0] * 1000:.0f} ms: {rest[0] / ours:.1f}x less (claim {claim}x)" if rest else ""
            )
            print(f"  {what}: {ours * 1000:.0f} ms of processor time{compared}")
            if rest:
                record_ratio(f"{what}: pflow-cli to ours", rest[0] / ours)
        serve, bare = [OURS, "mcp", "serve"], [sys.executable, "-c", BARE]
        servers: list[list[Any]] = [serve, bare, *([[theirs, "mcp", "serve"]] if theirs else [])]
        for what, tools, claim in (("initialize", False, " (claim 1.25x)"), ("its list of tools", True, "")):
            measures = [partial(cpu_until_answered, one, env, tools=tools) for one in servers]
            ours, plain, *rest = measure_in_turns(ROUNDS, *measures)
            compared = f"; pflow-cli {rest[0] * 1000:.0f} ms: {rest[0] / ours:.2f}x less" if rest else ""
            ratio = f"{ours / plain:.2f}x of a bare server{claim}{compared}"
            print(f"  server to {what}: {ours * 1000:.0f} ms of processor time, {ratio}")
            record_ratio(f"server to {what}: ours to a bare server", ours / plain)
        ours, plain = measure_in_turns(3, lambda: resident(serve, env), lambda: resident(bare, env))
        print(f"  memory when idle: {ours:.0f} MB, {ours / plain:.2f}x of a bare server (claim 1.15x)")
        record_ratio("idle memory to a bare server", ours / plain)


if __name__ == "__main__":
    main()
