"""Measure a state from Python programs and notebooks: an N-body run, transits and radial velocities.

A result has `reply` (all values, as the command line prints them with --json), `summary` and `render_svg()`. In a
notebook, a result that ends a cell is shown with its summary and its chart.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from universe.jobs.measurement import Measurement, measure
from universe.jobs.options import YEAR, parse_job_options
from uraniborg.kernel.progress import ReportFraction


def run_nbody(
    state: Mapping[str, Any],
    *,
    days: float = YEAR,
    bodies: Sequence[str] | None = None,
    method: str = "gauss",
    step: float | None = None,
    relativity: bool = False,
    on_collision: str = "stop",
    max_seconds: float = 3_600,
    title: str = "",
    progress: ReportFraction | None = None,
) -> Measurement:
    """Integrate the bodies of a plain state and return the run with its verdict, error, chart and trajectory.

    Raise MalformedRequest, NotFound for a body that does not exist, or InvalidInput.
    """
    options = {"days": days, "bodies": _to_list(bodies), "method": method, "step": step, "relativity": relativity}
    return _measure("nbody", state, {**options, "onCollision": on_collision}, max_seconds, title, progress)


def find_transits(
    state: Mapping[str, Any],
    *,
    days: float = YEAR,
    bodies: Sequence[str] | None = None,
    observer: Sequence[float] | None = None,
    kepler: bool = False,
    max_seconds: float = 3_600,
    title: str = "",
    progress: ReportFraction | None = None,
) -> Measurement:
    """Return the transits of planets in a plain state. `observer` is a longitude and a latitude in degrees.

    Raise as `run_nbody` does.
    """
    options = {"days": days, "bodies": _to_list(bodies), "observer": _to_list(observer), "kepler": kepler}
    return _measure("transits", state, options, max_seconds, title, progress)


def measure_velocities(
    state: Mapping[str, Any],
    *,
    days: float = YEAR,
    samples: int = 400,
    star: str | None = None,
    observer: Sequence[float] | None = None,
    kepler: bool = False,
    max_seconds: float = 3_600,
    title: str = "",
    progress: ReportFraction | None = None,
) -> Measurement:
    """Return the radial velocity of a star in a plain state. Raise as `run_nbody` does."""
    options = {"days": days, "samples": samples, "star": star, "observer": _to_list(observer), "kepler": kepler}
    return _measure("rv", state, options, max_seconds, title, progress)


def _measure(
    kind: str,
    state: Mapping[str, Any],
    options: dict[str, Any],
    max_seconds: float,
    title: str,
    progress: ReportFraction | None,
) -> Measurement:
    parsed = parse_job_options({"kind": kind, **options, "maxSeconds": max_seconds})
    return measure(state, parsed, title=title or _find_name(state), progress=progress)


def _to_list(values: Sequence[Any] | None) -> list[Any] | None:
    return None if values is None else list(values)


def _find_name(state: Mapping[str, Any]) -> str:
    bodies = sorted(state["stars"].values(), key=lambda body: body.get("mass") or 0.0)
    return str(bodies[-1].get("name") or "") if bodies else ""
