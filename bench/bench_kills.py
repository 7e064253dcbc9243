"""What 1,000 SIGKILLs at random moments leave of paper search sessions: nothing lost, nothing repeated."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1_000)
    given = parser.parse_args()
    command = [sys.executable, "-m", "tests.paper_search.service.sessions.kill_harness", "--progress"]
    command += ["--kills", str(given.kills), "--seed", str(given.seed)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    report = json.loads(done.stdout)

    print(f"{report['kills']:,} kills of {report['servers']:,} servers in {report['seconds']:.0f} s")
    print(
        f"{report['sessions']:,} sessions: {report['sessions_finished']:,} finished, "
        f"{report['sessions_orphaned']:,} opened by a call that was never answered"
    )
    print(
        f"{report['decisions_answered']:,} decisions answered, {report['decisions_answered_again']:,} of them "
        f"to a call that was repeated; {report['fetches']:,} fetches"
    )
    for title, figures in (
        ("the kill came", report["kills_by_aim"]),
        ("where sessions were when their server died", report["sessions_at_kill"]),
        ("what broke  (target: 0 of each)", report["failures"]),
    ):
        print(title)
        for name, count in figures.items():
            print(f"  {name.replace('_', ' '):<40} {count:6,}")
    for problem in report["problems"]:
        print(problem)
    if any(report["failures"].values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
