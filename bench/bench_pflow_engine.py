"""What the engine costs for each node, beyond what the node does.

Claims: for nodes that do nothing, in a chain of 100, under 100 us each without the log of runs, under 300 us with it;
at least 20x less than pflow-cli, by the processor time that 90 more nodes cost; 1,000 side by side under 100 us each
with the log; and as much for each of 10,000 as for each of 1,000.
"""

import gc
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from pflow_peer import chain, cpu_of, fan, make_markdown_chain, measure_in_turns, peer
from ratios import record_ratio

from pflow.domain.ir.checker import check_workflow, require_valid_workflow
from pflow.service.execution import Engine
from pflow.store.node_registry import Registry
from pflow.store.run_log import RunLog
from pflow.store.workflow_library import WorkflowLoader

ROUNDS: Final = 7
OURS: Final = Path(sys.executable).parent / "pflow"


def per_node(home: Path, document: dict[str, Any], *, log: bool) -> float:
    """Microseconds for each node."""
    registry = Registry(home)
    workflow = require_valid_workflow(
        check_workflow(document, registry), "bench"
    )  # as every workflow is before it runs
    runs = RunLog(home / "runs.db") if log else None
    engine = Engine(WorkflowLoader(home, home, registry), log=runs)
    gc.collect()
    started = time.perf_counter()
    result = engine.run(workflow, {}, name="bench")
    took = time.perf_counter() - started
    assert result.success, result.error_body
    if runs:
        runs.close()
    return took / len(workflow.nodes) * 1e6


def more_nodes(command: list[Any], few: Path, many: Path, env: dict[str, str]) -> float:
    """Processor time of each of the nodes that one workflow has more than the other, in microseconds."""
    return (cpu_of([*command, many], env, many.parent) - cpu_of([*command, few], env, few.parent)) / 90 * 1e6


def main() -> None:
    theirs = peer()
    with tempfile.TemporaryDirectory(prefix="pflow-bench-") as name:
        folder = Path(name)
        home = folder / "ours"
        home.mkdir()
        bare, logged, wide, long, longer = measure_in_turns(
            ROUNDS,
            lambda: per_node(home, chain(100), log=False),
            lambda: per_node(home, chain(100), log=True),
            lambda: per_node(home, fan(1_000), log=True),
            lambda: per_node(home, chain(1_000), log=True),
            lambda: per_node(home, chain(10_000), log=True),
            of=min,
        )
        print(f"  the least of {ROUNDS} rounds each:")
        print(f"  chain of 100: {bare:.0f} us a node without the log (claim 100), {logged:.0f} us with it (claim 300)")
        print(f"  1,000 side by side, with the log: {wide:.0f} us a node (claim 100)")
        record_ratio("a node in a chain of 10,000 to one of 1,000", longer / long)
        print(f"  chain of 1,000: {long:.0f} us a node; of 10,000: {longer:.0f} us, {longer / long:.2f}x (claim flat)")
        env = {**os.environ, "HOME": name, "PFLOW_HOME": str(home)}
        for nodes in (10, 100):
            (folder / f"chain{nodes}.json").write_text(json.dumps(chain(nodes)))
            (folder / f"chain{nodes}.pflow.md").write_text(make_markdown_chain(nodes, shell=False))
        if theirs is None:
            return
        ours, others = measure_in_turns(
            ROUNDS,
            lambda: more_nodes([OURS, "run"], folder / "chain10.json", folder / "chain100.json", env),
            lambda: more_nodes([theirs], folder / "chain10.pflow.md", folder / "chain100.pflow.md", env),
        )
        share = others / ours
        record_ratio("a further node: pflow-cli to ours", share)
        print(f"  each further node of a run: {ours:.0f} us; pflow-cli {others:.0f} us: {share:.0f}x less (claim 20x)")


if __name__ == "__main__":
    main()
