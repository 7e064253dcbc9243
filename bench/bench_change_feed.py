"""What the change feed costs a workflow for each node, and how soon another process sees a change.

The peer is the same engine with the log of runs and without a feed, in the same run and in turn. Claims: under 5 % more
for each node while somebody follows the feed, and another process sees a change within 100 ms.
"""

import argparse
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from pflow_peer import chain
from ratios import record_ratio

from pflow.domain.ir.checker import check_workflow, require_valid_workflow
from pflow.service.execution import Engine
from pflow.store.node_registry import Registry
from pflow.store.run_log import RunLog
from pflow.store.workflow_library import WorkflowLoader
from uraniborg.kernel.store.batched_change_feed import QueuedChangeFeed, TimedChangeFeed
from uraniborg.kernel.store.change_feed import ChangeFeed, ChangeReader, NullPublisher, Publisher

NODES: Final = 1_000
READER: Final = """
import asyncio, json, sys, time
from pathlib import Path

from uraniborg.console.event_broadcast import EventBroadcast

seen = {}


async def record(change):
    seen[change.subject] = time.monotonic()


async def main():
    broadcast = EventBroadcast(Path(sys.argv[1]))
    broadcast.add_listener(record)
    await broadcast.start()
    print("ready", flush=True)
    reading = asyncio.create_task(broadcast.run())
    while len(seen) < int(sys.argv[2]):
        await asyncio.sleep(0.01)
    reading.cancel()
    print(json.dumps(seen), flush=True)


asyncio.run(main())
"""
"""Another process, which reads the feed as the server does."""


def measure_run(home: Path, feed: Publisher) -> float:
    """Return the seconds of a run of NODES nodes that do nothing."""
    registry = Registry(home)
    workflow = require_valid_workflow(check_workflow(chain(NODES), registry), "bench")
    runs = RunLog(home / "runs.db")
    engine = Engine(WorkflowLoader(home, home, registry), log=runs, feed=feed)
    gc.collect()
    began = time.perf_counter()
    result = engine.run(workflow, {}, name="bench")
    feed.close()
    used = time.perf_counter() - began
    assert result.success, result.error_body
    runs.close()
    return used


def measure_overhead(folder: Path, rounds: int) -> tuple[list[float], list[float]]:
    """Return the microseconds of each node without and with a feed, in each round."""
    home = folder / "home"
    home.mkdir()
    ChangeReader(folder / "changes").close()  # the first reader creates the feed
    bare: list[float] = []
    fed: list[float] = []
    for number in range(rounds + 1):
        pair = [(bare, NullPublisher()), (fed, TimedChangeFeed(ChangeFeed(folder / "changes")))]
        for seconds, feed in pair if number % 2 else reversed(pair):
            seconds.append(measure_run(home, feed) / NODES * 1e6)
    return bare[1:], fed[1:]


def measure_visibility(folder: Path, changes: int) -> list[float]:
    """Return how long each change took to reach the other process, in seconds."""
    command = [sys.executable, "-c", READER, str(folder), str(changes)]
    reader = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert reader.stdout is not None
    reader.stdout.readline()
    feed = QueuedChangeFeed(ChangeFeed(folder))
    written: dict[str, float] = {}
    for number in range(changes):
        written[str(number)] = time.monotonic()
        feed.publish("run", str(number), status="running")
        time.sleep(0.007)
    feed.close()
    seen: dict[str, float] = json.loads(reader.stdout.readline())
    reader.communicate()
    return [seen[subject] - at for subject, at in written.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds")
    rounds, changes = (2, 50) if parser.parse_args().quick else (60, 1_000)
    with tempfile.TemporaryDirectory() as name:
        without, with_feed = measure_overhead(Path(name), rounds)
        delays = sorted(measure_visibility(Path(name) / "seen", changes))
    bare, fed = statistics.median(without), statistics.median(with_feed)
    ratio = fed / bare
    record_ratio("a node with the feed to one without", ratio)
    print(f"Each of {NODES} nodes that do nothing: {bare:.0f} us without a feed, {fed:.0f} us with one")
    print(f"  ratio {ratio:.3f}  (limit 1.05)")
    p50, p95 = delays[len(delays) // 2] * 1_000, delays[int(len(delays) * 0.95)] * 1_000
    print(
        f"{changes} changes in another process: p50 {p50:.0f} ms, p95 {p95:.0f} ms, worst {delays[-1] * 1_000:.0f} ms"
    )
    print("  (limit 100 ms)")


if __name__ == "__main__":
    main()
