"""How fast the command starts: `python -m paper_search` without arguments against `python -c pass`."""

import os
import statistics
import subprocess
import sys
from time import perf_counter

from ratios import record_ratio

ROUNDS = 25
PEER = [sys.executable, "-c", "pass"]
OURS = [sys.executable, "-m", "paper_search"]


def seconds(command: list[str]) -> float:
    started = perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env=os.environ)
    return perf_counter() - started


def main() -> None:
    pairs = [(seconds(PEER), seconds(OURS)) for _ in range(ROUNDS + 3)][3:]
    peer, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"python -c pass           {peer * 1000:6.1f} ms  (median of {ROUNDS}, alternating)")
    print(f"python -m paper_search   {ours * 1000:6.1f} ms")
    print(f"ratio                    {ours / peer:6.2f}x  (target: at most 3x)")
    record_ratio("python -m paper_search to python -c pass", ours / peer)


if __name__ == "__main__":
    main()
