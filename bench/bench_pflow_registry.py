"""How fast the nodes are there and found: 1,000 components beside the built-in ones, and 1,000 workflows.

Times are of the process's own CPU, the best of several rounds, so that other programs matter little. The peer reads the
same JSON with one `orjson.loads`, in turns with ours: nothing that parses all of it can be faster.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import orjson
from ratios import record_ratio

from pflow.domain.mcp_tool_interfaces import make_tool_declaration
from pflow.domain.search_ranking import RankedDocument, make_document, rank_documents
from pflow.store.node_discovery import FILE
from pflow.store.node_registry import Registry

COMPONENTS = 1_000
ROUNDS = 15
FRESH_ROUNDS = 7
SERVERS = ["github", "slack", "jira", "notion", "gmail", "linear", "stripe", "shopify"]
VERBS = ["create", "read", "update", "delete", "list", "search", "send", "copy", "merge", "close"]
THINGS = ["issue", "file", "request", "repository", "message", "page", "row", "user", "project", "event", "order"]
QUERIES = [
    "github",
    "githb",
    "read file",
    "create a github issue and send a message to the team about it",
    "fetch a web page, summarize it and save it to a file",
    "",
]
FRESH = """
import sys
from pathlib import Path
from typing import Any
from time import process_time
from pflow.store.node_registry import Registry
started = process_time()
assert len(Registry(Path(sys.argv[1])).load()) > 1_000
print(process_time() - started)
"""


def words(number: int) -> tuple[str, str, str]:
    server = SERVERS[number % len(SERVERS)]
    return server, VERBS[number // 8 % len(VERBS)], THINGS[number // 80 % len(THINGS)]


def description(server: str, verb: str, thing: str) -> str:
    return (
        f"{verb.title()} a {thing} in {server}. Gives the {thing} with all its fields, and whether it was changed "
        f"since. Use it when you have the id of the {thing} and want to {verb} it with other values."
    )


def tool(number: int) -> dict[str, Any]:
    server, verb, thing = words(number)
    keys = ("repo", "title", "body", "labels", "assignee", "state")
    text = "What is meant by this parameter, in some words, and what it is if it is left out."
    return {
        "name": f"{verb}_{thing}_{number}",
        "description": description(server, verb, thing),
        "inputSchema": {
            "type": "object",
            "properties": {key: {"type": "string", "description": text} for key in keys},
            "required": ["repo", "title"],
        },
        "outputSchema": {"type": "object", "properties": {"number": {"type": "integer"}, "url": {"type": "string"}}},
    }


def write_components(home: Path) -> list[Path]:
    """Half of the components as tools of servers, half as the user's own; returns the files that declare them."""
    half = COMPONENTS // 2
    servers: dict[str, dict[str, list[object]]] = {}
    for number in range(half):
        server = words(number)[0]
        servers.setdefault(server, {"nodes": []})["nodes"].append(make_tool_declaration(server, tool(number)))
    files = [home / "mcp-tools.json", home / "nodes" / "own.json"]
    files[0].write_bytes(orjson.dumps({"servers": servers}))
    own = [
        {**make_tool_declaration("own", tool(number)), "type": f"own-{number}", "run": "own.py:run"}
        for number in range(half, COMPONENTS)
    ]
    files[1].parent.mkdir()
    files[1].write_bytes(orjson.dumps({"nodes": own}))
    (home / "nodes" / "own.py").write_text("def run(params, context):\n    return {}\n")
    return files


def seconds(action: Callable[[], object]) -> float:
    started = process_time()
    action()
    return process_time() - started


def load_cold(home: Path) -> None:
    (home / FILE).unlink(missing_ok=True)
    Registry(home).load()


def make_registry(home: Path, *, cold: bool) -> float:
    if cold:
        (home / FILE).unlink(missing_ok=True)
    command = [sys.executable, "-c", FRESH, str(home)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ).stdout)


def time_loading(home: Path, files: list[Path]) -> None:
    peer: list[float] = []
    cold: list[float] = []
    warm: list[float] = []
    for _ in range(ROUNDS):
        peer.append(seconds(lambda: [orjson.loads(file.read_bytes()) for file in files]))
        cold.append(seconds(lambda: load_cold(home)))
        warm.append(seconds(lambda: Registry(home).load()))
    base = min(peer)
    size = sum(file.stat().st_size for file in files)
    print(f"{COMPONENTS} components, {size / 1e6:.2f} MB of JSON; best of {ROUNDS}, in turns")
    print(f"orjson.loads of all of it       {base * 1e3:7.2f} ms")
    print(f"cold: everything looked for     {min(cold) * 1e3:7.2f} ms  {min(cold) / base:5.2f}x  (limit 50 ms)")
    print(f"warm: from the cache            {min(warm) * 1e3:7.2f} ms  {min(warm) / base:5.2f}x  (limit 5 ms)")
    record_ratio("cold to orjson.loads", min(cold) / base)
    record_ratio("warm to orjson.loads", min(warm) / base)
    firsts = [min(make_registry(home, cold=cold) for _ in range(FRESH_ROUNDS)) for cold in (True, False)]
    print(f"first load of a process, cold   {firsts[0] * 1e3:7.2f} ms  with what it imports  (limit 50 ms)")
    print(f"first load of a process, warm   {firsts[1] * 1e3:7.2f} ms")


def workflow_documents() -> list[RankedDocument]:
    return [
        make_document(
            f"{verb}-{thing}-{number}", description=description(server, verb, thing), keys=["url"], uses=number % 7
        )
        for number in range(COMPONENTS)
        for server, verb, thing in [words(number)]
    ]


def time_searching(home: Path) -> None:
    print(
        f"\nranking {COMPONENTS} nodes and {COMPONENTS} workflows, with a registry of its own each time (limit 50 ms)"
    )
    for query in QUERIES:

        def browse(query: str = query) -> None:
            Registry(home).search(query)
            rank_documents(query, workflow_documents())

        best = min(seconds(browse) for _ in range(ROUNDS))
        print(f"  {best * 1e3:7.2f} ms  {query or '(everything)'}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        files = write_components(home)
        problems = Registry(home).problems
        assert not problems, problems
        time_loading(home, files)
        time_searching(home)


if __name__ == "__main__":
    main()
