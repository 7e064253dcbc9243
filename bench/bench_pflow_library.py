"""What listing 1,000 workflows costs, cold and warm, against reading the same files with orjson in a loop."""

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, sleep

import orjson
from ratios import record_ratio

from pflow.store.workflow_library import WorkflowManager, find_workflow
from pflow.store.workflow_listing import INDEX, LIBRARY, filter_workflows, list_workflows

WORKFLOWS = 1_000
NODES = 10
ROUNDS = 15
FRESH = """
import sys
from pathlib import Path
from time import perf_counter
from pflow.store.workflow_listing import list_workflows
started = perf_counter()
listing = list_workflows(Path(sys.argv[1]))
print(perf_counter() - started, len(listing.workflows))
"""


def write_workflows(home: Path) -> None:
    folder = home / LIBRARY
    folder.mkdir(parents=True)
    for number in range(WORKFLOWS):
        nodes = [
            {
                "id": f"step-{n}",
                "type": "shell",
                "purpose": "Does one thing",
                "params": {"command": f"echo ${{who}} {n}"},
            }
            for n in range(NODES)
        ]
        edges = [{"from": f"step-{n}", "to": f"step-{n + 1}"} for n in range(NODES - 1)]
        ir = {"ir_version": "0.1.0", "inputs": {"who": {"type": "string"}}, "nodes": nodes, "edges": edges}
        name = f"workflow-{number:04}"
        wrapped = {"name": name, "description": f"Greets {number} people, one after the other.", "ir": ir}
        (folder / f"{name}.json").write_bytes(orjson.dumps(wrapped, option=orjson.OPT_INDENT_2))


def read_all(home: Path) -> int:
    return sum("ir" in orjson.loads(path.read_bytes()) for path in (home / LIBRARY).glob("*.json"))


def list_cold(home: Path) -> int:
    (home / INDEX).unlink(missing_ok=True)
    return list_warm(home)


def list_warm(home: Path) -> int:
    return len(list_workflows(home).workflows)


def search_warm(home: Path) -> int:
    return len(filter_workflows(list_workflows(home).workflows, "people greets"))


def seconds(call: Callable[[Path], int], home: Path) -> float:
    started = perf_counter()
    assert call(home) == WORKFLOWS
    return perf_counter() - started


def seconds_in_a_fresh_process(home: Path) -> float:
    done = subprocess.run([sys.executable, "-c", FRESH, str(home)], capture_output=True, text=True, check=True)
    taken, listed = done.stdout.split()
    assert int(listed) == WORKFLOWS
    return float(taken)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_workflows(home)
        sleep(0.2)  # files just written are not remembered
        rounds = [
            (
                seconds(read_all, home),
                seconds(list_cold, home),
                seconds(list_warm, home),
                seconds(search_warm, home),
                seconds_in_a_fresh_process(home),
            )
            for _ in range(ROUNDS + 2)
        ][2:]
        manager = WorkflowManager.for_library(home)
        started = perf_counter()
        for number in range(WORKFLOWS):
            find_workflow(home, f"workflow-{number:04}")
        found = (perf_counter() - started) / WORKFLOWS
        started = perf_counter()
        for number in range(100):
            manager.save(f"new-{number}", {"nodes": [{"id": "a", "type": "echo"}]}, "New")
        saved = (perf_counter() - started) / 100
    reading, cold, warm, searching, fresh = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"{WORKFLOWS:,} workflows of {NODES} nodes (median of {ROUNDS}, alternating)")
    print(f"orjson.loads of each file      {reading * 1000:7.1f} ms")
    for name, taken in (
        ("listing, cold", cold),
        ("listing, warm", warm),
        ("searching, warm", searching),
        ("listing, warm, fresh process", fresh),
    ):
        print(f"{name:<30} {taken * 1000:7.1f} ms  {taken / reading:5.2f}x")
        record_ratio(f"{name} to orjson.loads", taken / reading)
    print("target: warm under 50 ms, also in a fresh process")
    print(f"finding one by its name        {found * 1e6:7.0f} µs")
    print(f"saving one, synced to disk     {saved * 1e6:7.0f} µs")


if __name__ == "__main__":
    main()
