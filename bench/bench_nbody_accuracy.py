"""How far default N-body runs end from IAS15, and how honest their reported error is.

Claims: at most 1e-6 degrees per body; the reported error within ten times of the real one wherever this is above
1e-12 AU; never `trustworthy` when a body is more than 0.1 degree off. The peer is IAS15 of REBOUND (Rein & Spiegel
2015), in the same run where rebound is installed and else as stored. `--long` adds 10 years of TRAPPIST-1 and a
century of the planets.
"""

import sys
from typing import Final

import numpy as np
from nbody_cases import YEAR, End, Floats, Truth, ias15, installed, line, read_truth

from universe.domain.nbody.runs import Run, run_nbody

REGULAR: Final = [
    ("trappist-1", YEAR),
    ("planets", 10 * YEAR),
    ("comet-967", 100 * YEAR),
    ("comet-9995", 100 * YEAR),
    ("earth-moon", YEAR),
    ("kepler-90", YEAR),
    ("close-encounter", 3 * YEAR),
    ("fly-by", 100 * YEAR),
]
LONG: Final = [("trappist-1", 10 * YEAR), ("planets", 100 * YEAR)]
CHAOTIC: Final = [("trappist-1-x30", 200.0), ("pythagorean", 2325.0), ("pythagorean", 4069.0)]
FIXED: Final = [("yoshida4", "trappist-1", YEAR), ("leapfrog", "planets", YEAR), ("yoshida4", "comet-967", 100 * YEAR)]
DEGREES: Final = 1e-6
WRONG: Final = 0.1
MEASURABLE: Final = 1e-12


def main() -> None:
    rebound, heyoka = installed("rebound"), installed("heyoka")
    peer = f"REBOUND {rebound.__version__} in this run" if rebound else "stored results"
    print(f"errors against IAS15, {peer}")
    for case, days in [*REGULAR, *(LONG if "--long" in sys.argv else [])]:
        truth = read_truth(case)
        end = truth.end(days)
        peer_end = ias15(truth.start, end.days, rebound) if rebound else end.positions
        done = run_nbody(truth.start, end.days)
        report(f"{case} {span(days)}", truth, end, peer_end, done)
        if heyoka:
            compare_with_heyoka(f"{case} {span(days)}, heyoka", truth, end, done)
    for case, days in CHAOTIC:
        report_honesty(f"{case} {span(days)}, chaotic", case, days, "gauss")
    for method, case, days in FIXED:
        report_honesty(f"{case} {span(days)}, {method}", case, days, method)


def span(days: float) -> str:
    return f"{days / YEAR:g} yr" if days % YEAR == 0 else f"{days:.0f} d"


def report(claim: str, truth: Truth, end: End, peer: Floats, done: Run) -> None:
    au, degrees = truth.errors(peer, done.positions)
    line(claim, f"{degrees.max():.1e} deg, {au.max():.0e} AU", f"<= {DEGREES:g} deg", passed=degrees.max() <= DEGREES)
    report_ratios(claim, truth, end, done)


def report_ratios(claim: str, truth: Truth, end: End, done: Run) -> None:
    """Compare the reported error with the real one, the distance from an integration in 80-bit numbers."""
    real, _ = truth.errors(end.exact, done.positions)
    counted = real > MEASURABLE
    if counted.any():
        ratios = done.error_au[counted] / real[counted]
        passed = bool(ratios.min() >= 0.1 and ratios.max() <= 10)
        line(
            f"{claim}: reported / real, all bodies",
            f"{ratios.min():.2g} to {ratios.max():.2g}",
            "0.1 to 10",
            passed=passed,
        )


def report_honesty(claim: str, case: str, days: float, method: str) -> None:
    truth = read_truth(case)
    end = truth.end(days)
    done = run_nbody(truth.start, end.days, method=method)
    _, degrees = truth.errors(end.positions, done.positions)
    said = "trustworthy" if done.trustworthy else "not trustworthy"
    passed = bool(degrees.max() < WRONG or not done.trustworthy)
    line(claim, f"{degrees.max():.1e} deg, {said}", f"not trustworthy above {WRONG} deg", passed=passed)
    if method != "gauss":
        report_ratios(claim, truth, end, done)


def compare_with_heyoka(claim: str, truth: Truth, end: End, done: Run) -> None:
    other = run_nbody(truth.start, end.days, method="heyoka")
    apart, _ = truth.errors(other.positions, done.positions)
    allowed = np.maximum(done.error_au + other.error_au, 1e-15)
    worst = float((apart[1:] / allowed[1:]).max())
    line(claim, f"{worst:.2g} of the reported error", "<= 1", passed=worst <= 1)


if __name__ == "__main__":
    main()
