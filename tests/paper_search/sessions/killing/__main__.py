"""Kills the paper search server with SIGKILL at random moments of scripted sessions, and counts what that broke.

`python -m tests.paper_search.sessions.killing --kills 50 --seed 1` prints one JSON object; every figure under
"failures" must be 0. `--self-check` breaks the server on purpose, in all ways known or in those named, one after the
other, and prints what was noticed.

One process imports everything and forks a server for each life, which serves stdio over two pipes. It has no thread, no
event loop and no session of its own that a server could inherit.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from time import monotonic

from tests.paper_search.sessions.killing.harness import Harness
from tests.paper_search.sessions.killing.plans import PLANS, random_plans
from tests.paper_search.sessions.killing.server import SABOTAGES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--self-check", nargs="*", metavar="WAY", help="break the server; at most so many kills for each"
    )
    parser.add_argument("--random-plans", action="store_true", help="make the sessions' plans from the seed, too")
    parser.add_argument("--folder", type=Path, help="where the servers keep their data meanwhile")
    parser.add_argument("--progress", action="store_true", help="tell on stderr how far it is")
    given = parser.parse_args()
    started = monotonic()

    def tell(kills: int) -> None:
        if given.progress and kills % 50 == 0:
            print(f"{kills} kills, {monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    from tests.paper_search.sessions.killing.rehearsed import REHEARSAL

    with tempfile.TemporaryDirectory(dir=given.folder) as root:
        plans = random_plans(given.seed) if given.random_plans else PLANS
        harness = Harness(Path(root), given.seed, REHEARSAL, plans)
        if given.random_plans:
            harness.rehearse()
        if given.self_check is not None:
            broken = given.self_check or SABOTAGES
            report = {sabotage: harness.run_broken(sabotage, given.kills) for sabotage in broken}
        else:
            report = harness.run(given.kills, tell)
    print(json.dumps({**report, "seconds": round(monotonic() - started, 1)}))


if __name__ == "__main__":
    main()
