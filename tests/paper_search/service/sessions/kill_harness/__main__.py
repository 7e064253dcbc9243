"""Kills the paper search server with SIGKILL at random times of scripted sessions, and counts the failures.

`python -m tests.paper_search.service.sessions.kill_harness --kills 50 --seed 1` prints one JSON object; every figure
under "failures" must be 0. `--self-check` runs servers with deliberate faults, all or those named, and prints which
were detected.

One process imports everything and forks each server, which serves stdio over two pipes. The process has no thread, no
event loop and no session that a server could inherit.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from time import monotonic

from tests.paper_search.service.sessions.kill_harness.harness import Harness
from tests.paper_search.service.sessions.kill_harness.plans import PLANS, make_random_plans
from tests.paper_search.service.sessions.kill_harness.server import FAULTS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--self-check", nargs="*", metavar="FAULT", help="run servers with these faults; at most --kills kills for each"
    )
    parser.add_argument("--random-plans", action="store_true", help="make random plans from the seed")
    parser.add_argument("--folder", type=Path, help="the folder for the data of the servers")
    parser.add_argument("--progress", action="store_true", help="print the progress to stderr")
    given = parser.parse_args()
    started = monotonic()

    def report_kills(kills: int) -> None:
        if given.progress and kills % 50 == 0:
            print(f"{kills} kills, {monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    from tests.paper_search.service.sessions.kill_harness.expected_replies import REHEARSAL

    with tempfile.TemporaryDirectory(dir=given.folder) as root:
        plans = make_random_plans(given.seed) if given.random_plans else PLANS
        harness = Harness(Path(root), given.seed, REHEARSAL, plans)
        if given.random_plans:
            harness.rehearse()
        if given.self_check is not None:
            broken = given.self_check or FAULTS
            report = {fault: harness.run_broken(fault, given.kills) for fault in broken}
        else:
            report = harness.run(given.kills, report_kills)
    print(json.dumps({**report, "seconds": round(monotonic() - started, 1)}))


if __name__ == "__main__":
    main()
