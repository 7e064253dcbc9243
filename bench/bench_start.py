"""How fast the commands start: `python -m paper_search` without arguments, and the help of each program.

The peer is `python -c pass`, alternating in the same run.
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Final

from ratios import record_ratio

ROUNDS: Final = 25
PEER: Final = [sys.executable, "-c", "pass"]
OURS: Final = [sys.executable, "-m", "paper_search"]
HELP_ROUNDS: Final = 10
PROGRAMS: Final = ("uraniborg", "paper-search", "paper-library", "universe", "pflow")


def seconds(command: list[str]) -> float:
    started = perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env=os.environ)
    return perf_counter() - started


def compare(command: list[str], rounds: int) -> tuple[float, float]:
    """Return the median seconds of the peer and of the command, measured in turns after three that do not count."""
    pairs = [(seconds(PEER), seconds(command)) for _ in range(rounds + 3)][3:]
    peer, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    return peer, ours


def main() -> None:
    peer, ours = compare(OURS, ROUNDS)
    print(f"python -c pass           {peer * 1000:6.1f} ms  (median of {ROUNDS}, alternating)")
    print(f"python -m paper_search   {ours * 1000:6.1f} ms")
    print(f"ratio                    {ours / peer:6.2f}x  (target: at most 3x)")
    record_ratio("python -m paper_search to python -c pass", ours / peer)
    for program in PROGRAMS:
        peer, ours = compare([str(Path(sys.executable).parent / program), "--help"], HELP_ROUNDS)
        print(f"{f'{program} --help':<24} {ours * 1000:6.1f} ms  {ours / peer:5.2f}x")
        record_ratio(f"{program} --help to python -c pass", ours / peer)


if __name__ == "__main__":
    main()
