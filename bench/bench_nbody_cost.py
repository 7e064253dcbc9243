"""What the default N-body method costs in numpy alone, against IAS15 in C.

Claims: for the 8 bodies of TRAPPIST-1 over a year one pass takes at most 8 times the CPU time of IAS15 (REBOUND), a run
with its twin at most 16 times.
"""

from typing import Final

from nbody_cases import YEAR, InitialConditions, best_of, ias15, installed, line, read_truth
from ratios import record_ratio

from universe.domain.nbody.integration.methods import integrate
from universe.domain.nbody.runs import run_nbody

ROUNDS: Final = 3
ONE_PASS: Final = 8
WITH_TWIN: Final = 16


def main() -> None:
    rebound = installed("rebound")
    if rebound is None:
        print("skipped: rebound, the peer of this comparison, is not installed")
        return
    for case in ("trappist-1", "kepler-90"):
        start = read_truth(case).start
        best = best_of(
            ROUNDS,
            {
                "ias15": lambda start=start: ias15(start, YEAR, rebound),
                "pass": lambda start=start: one_pass(start),
                "run": lambda start=start: run_nbody(start, YEAR),
            },
        )
        for what, name, target in (("one pass", "pass", ONE_PASS), ("a run with its twin", "run", WITH_TWIN)):
            ratio = best[name] / best["ias15"]
            record_ratio(f"{case}: {what} to IAS15 in C", ratio)
            claim = f"{case}, {len(start.ids)} bodies, 1 yr: {what}"
            line(claim, f"{ratio:.1f}x IAS15 in C", f"<= {target}x", passed=ratio <= target)


def one_pass(start: InitialConditions) -> int:
    return sum(1 for _ in integrate(start.masses, start.positions, start.velocities, YEAR))


if __name__ == "__main__":
    main()
