"""What it costs to go on from a failed run.

Claim: of 1,000 nodes that each run a command, the 900th fails; to run it again costs, for the 899 results that are
taken over, less than 7 % of what it cost to run those nodes, with all values in the log of runs.
"""

import tempfile
import time
from pathlib import Path
from typing import Any, Final

from pflow_peer import chain
from ratios import record_ratio

from pflow.domain.ir.parser import parse_workflow
from pflow.service.execution import Engine
from pflow.store.run_log import RunLog
from pflow.store.workflow_library import WorkflowLoader

NODES: Final = 1_000
FAILING: Final = 900
ROUNDS: Final = 3
"""Of which the least counts: a busy machine can only add."""


def run(home: Path, document: dict[str, Any]) -> tuple[float, int]:
    """Seconds until it failed again, and how many results were taken over."""
    workflow, _ = parse_workflow(document)
    assert workflow is not None
    engine = Engine(WorkflowLoader(home, home), log=RunLog(home / "runs.db"))
    started = time.perf_counter()
    result = engine.run(workflow, {}, name="bench")
    took = time.perf_counter() - started
    assert result.failed_node == f"n{FAILING - 1}", result.error_body
    return took, len(result.progress.reused)


def main() -> None:
    document = chain(NODES, shell=True)
    document["nodes"][FAILING - 1]["params"]["command"] = "false"
    firsts: list[float] = []
    agains: list[tuple[float, int]] = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory(prefix="pflow-bench-") as name:
            firsts.append(run(Path(name), document)[0])
            agains += [run(Path(name), document) for _ in range(3)]
    first, (took, reused) = min(firsts), min(agains)
    print(
        f"  first run to node {FAILING}: {first:.2f} s; again, with {reused} results taken over: {took * 1000:.0f} ms"
    )
    print(f"  that is {took / first:.1%} (claim 7 %)")
    record_ratio("a resumed run to the first", took / first)


if __name__ == "__main__":
    main()
