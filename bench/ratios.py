"""The ratios that benchmarks report: recorded while a benchmark runs, compared with stored ones afterwards.

A ratio compares this project with a peer, or with itself at another size, in one run. It hardly depends on the machine.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

STORED: Final = Path(__file__).parent / "ratios.json"
_RECORD: Final = "BENCH_RATIOS"
"""The environment variable that names the file for recorded ratios."""


def record_ratio(name: str, ratio: float) -> None:
    """Append the ratio to the file that the runner named. Do nothing if the benchmark runs alone."""
    if path := os.environ.get(_RECORD):
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps([name, ratio]) + "\n")


def recording_environment(path: Path) -> dict[str, str]:
    """Return an environment in which benchmarks record their ratios in `path`."""
    return {**os.environ, _RECORD: str(path)}


def read_recorded_ratios(path: Path) -> dict[str, float]:
    """Return the median of each recorded ratio, to four digits."""
    values: dict[str, list[float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        name, ratio = json.loads(line)
        values.setdefault(name, []).append(ratio)
    return {name: float(f"{median(ratios):.4g}") for name, ratios in values.items()}


def read_stored_ratios() -> dict[str, dict[str, float]]:
    """Return the stored ratios by benchmark and name."""
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}


def store_ratios(measured: dict[str, dict[str, float]]) -> None:
    """Replace the stored ratios of the benchmarks that were measured."""
    ratios = {**read_stored_ratios(), **{name: found for name, found in measured.items() if found}}
    STORED.write_text(json.dumps(ratios, indent=2, sort_keys=True) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Change:
    """A ratio of this run beside the stored one."""

    benchmark: str
    name: str
    stored: float | None
    measured: float

    @property
    def relative(self) -> float | None:
        """The change as a fraction of the stored ratio."""
        return self.measured / self.stored - 1 if self.stored else None

    def exceeds(self, limit: float) -> bool:
        """Return True if the ratio moved by more than `limit`, in either direction."""
        return self.relative is not None and abs(self.relative) > limit


def compare_ratios(stored: dict[str, dict[str, float]], measured: dict[str, dict[str, float]]) -> list[Change]:
    """Return one change for each measured ratio."""
    return [
        Change(benchmark, name, stored.get(benchmark, {}).get(name), ratio)
        for benchmark, ratios in measured.items()
        for name, ratio in ratios.items()
    ]
