"""Run benchmarks and compare their ratios with the stored ones.

python bench/run.py                            run all, compare with bench/ratios.json
python bench/run.py pflow_start mcp_http       run two of them
python bench/run.py --rounds 3                 run each three times and compare the medians
python bench/run.py --store                    replace the stored ratios by those of this run
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from ratios import (
    Change,
    compare_ratios,
    read_recorded_ratios,
    read_stored_ratios,
    recording_environment,
    store_ratios,
)

HERE: Final = Path(__file__).parent
LIMIT: Final = 0.15
"""Ratios that moved by more than this are marked."""


def main() -> int:
    arguments = parse_arguments()
    names: list[str] = arguments.names or sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    measured: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            record = Path(folder) / name
            for _ in range(arguments.rounds):
                print(f"== bench/bench_{name}.py", flush=True)
                command = [sys.executable, str(HERE / f"bench_{name}.py")]
                if code := subprocess.run(command, env=recording_environment(record), check=False).returncode:
                    return code
            measured[name] = read_recorded_ratios(record)
    changes = compare_ratios(read_stored_ratios(), measured)
    print_changes(changes)
    if arguments.store:
        store_ratios(measured)
    if arguments.json:
        arguments.json.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="benchmarks, such as pflow_start (default: all)")
    parser.add_argument("--rounds", type=int, default=1, help="how often each runs (default: 1)")
    parser.add_argument("--store", action="store_true", help="replace the stored ratios by those of this run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the ratios of this run to FILE")
    return parser.parse_args()


def print_changes(changes: list[Change]) -> None:
    """Print each ratio beside the stored one, and mark those that moved by more than the limit."""
    print(f"\n{'benchmark':<20} {'ratio':<44} {'stored':>9} {'now':>9}  change")
    for change in changes:
        stored = "new" if change.stored is None else f"{change.stored:.3g}"
        relative = "" if change.relative is None else f"{change.relative:+.0%}"
        mark = "  !" if change.exceeds(LIMIT) else ""
        print(f"{change.benchmark:<20} {change.name:<44} {stored:>9} {change.measured:>9.3g}  {relative}{mark}")
    moved = sum(change.exceeds(LIMIT) for change in changes)
    print(f"{moved} of {len(changes)} ratios moved by more than {LIMIT:.0%}.")


if __name__ == "__main__":
    sys.exit(main())
