"""The checks of measurements: computed again from the stored universe, and compared within the error of both runs."""

import math
import re
from collections.abc import Iterator
from typing import Any, Final

from universe.jobs.measurement import measure
from universe.jobs.options import JobOptions, parse_job_options
from uraniborg.bundle.checks import Check
from uraniborg.bundle.pieces import Plain
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.bundle.universe_checks import read_document
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.progress import ReportFraction
from uraniborg.kernel.text import plural

MOST_SECONDS: Final = 600.0
"""The time that one measurement may take."""
_ROUNDING: Final = 1e-12
"""The relative difference that another machine makes in one number."""
_ERROR_RATIO: Final = 10.0
"""The largest ratio of the stored error to the error of the repeated run, or of the latter to the former."""
_ROUNDED: Final = re.compile(r"\b(accurate to|MEGNO) (\d[\d.]*(?:e[+-]\d+)?)")
"""The numbers in the text of a verdict that rounding makes others on another processor."""
_MEGNO_DIFFERENCE: Final = 0.2
_CHANGE: Final = 1e-6
"""The relative difference of transit times and velocities that is a change; their error is larger."""


def check_measurement(bundle: Bundle, folder: str, progress: ReportFraction) -> Iterator[Check]:
    """Measure again from the stored universe, and compare with the stored result."""
    try:
        _, state = read_document(bundle, f"{folder}/universe.json")
        stored = bundle.read_object(f"{folder}/result.json")
        options = _read_options(bundle.read_object(f"{folder}/job.json"))
    except Unreadable as exc:
        yield Check(folder, "differs", f"the measurement cannot be read: {exc}")
        return
    try:
        computed = measure(state, options, progress=progress).reply
    except UraniborgError as exc:
        yield Check(folder, "not repeated", f"{exc.message} {exc.hint}".strip())
        return
    try:
        yield from (_compare_runs if options.kind == "nbody" else _compare_numbers)(folder, stored, computed)
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        yield Check(
            f"{folder}/result.json", "differs", f"is not a result of this kind: {type(exc).__name__} {exc}"[:200]
        )


def _read_options(job: Plain) -> JobOptions:
    try:
        options = parse_job_options({"kind": job.get("kind"), **job.get("options", {})})
    except (UraniborgError, TypeError) as exc:
        raise Unreadable(f"the options in job.json: {exc}") from None
    return options.model_copy(update={"max_seconds": min(options.max_seconds, MOST_SECONDS)})


def _compare_runs(folder: str, stored: Plain, computed: Plain) -> Iterator[Check]:
    """Compare two N-body runs: the starts exactly, the ends within both errors, the errors and the verdicts."""
    path = f"{folder}/result.json"
    differences = [
        *_compare_bodies("start", stored, computed, exactly=True),
        *_compare_bodies("end", stored, computed, exactly=False),
        *_compare_errors(stored["error"], computed["error"]),
    ]
    if stored["trustworthy"] is not computed["trustworthy"]:
        differences.append(f"trustworthy is {stored['trustworthy']}, repeated {computed['trustworthy']}"[:80])
    if not _is_same_verdict(str(stored["verdict"]), computed["verdict"]):
        differences.append(f"the verdict is “{str(stored['verdict'])[:80]}…”, repeated “{computed['verdict'][:80]}…”")
    for one, other in zip(stored["resonances"], computed["resonances"], strict=True):
        if one["behaviour"] != other["behaviour"]:
            differences.append(f"{one['angle']} {one['behaviour']}, repeated it {other['behaviour']}")
    yield from (Check(path, "differs", difference) for difference in differences)
    if not differences:
        worst = max((_measure_distance(stored["end"], computed["end"], key) for key in computed["end"]), default=0.0)
        limit = max((one["au"] or 0.0 for one in computed["error"].values()), default=0.0)
        yield Check(
            path,
            "matched",
            f"{plural(len(computed['end']), 'body', 'bodies')}, integrated again for {computed['days']:g} days, end "
            f"within {worst:.1g} AU of the stored positions; the error is {limit:.1g} AU, as the repeated run confirms",
        )


def _is_same_verdict(stored: str, repeated: str) -> bool:
    """Return True for texts that differ only in their errors and MEGNO, and in these by no more than rounding does."""
    if _ROUNDED.sub(r"\1", stored) != _ROUNDED.sub(r"\1", repeated):
        return False
    pairs = zip(_ROUNDED.findall(stored), _ROUNDED.findall(repeated), strict=True)
    return all(_is_about_same(name, float(stated), float(other)) for (name, stated), (_, other) in pairs)


def _is_about_same(name: str, stated: float, repeated: float) -> bool:
    if name == "MEGNO":
        return abs(stated - repeated) <= _MEGNO_DIFFERENCE
    return _is_about_same_error(stated, repeated)


def _compare_bodies(moment: str, stored: Plain, computed: Plain, *, exactly: bool) -> Iterator[str]:
    if set(stored[moment]) != set(computed[moment]):
        yield f"the {moment} has other bodies"
        return
    for key, other in computed[moment].items():
        one: Plain | None = stored[moment][key]
        if one is None or other is None:
            if one is not other:
                yield f"{moment}: {key} has merged into another body in one of the runs only"
            continue
        change = abs(one["mass"] - other["mass"])
        if not change <= _ROUNDING * abs(other["mass"]):
            percent = 100 * (one["mass"] - other["mass"]) / other["mass"] if other["mass"] else math.inf
            yield (
                f"{moment}: the mass of {key} differs by {percent:+.3g} % ({one['mass']:.6g} instead of "
                f"{other['mass']:.6g} solar masses)"
            )
        distance = _measure_distance(stored[moment], computed[moment], key)
        allowed = _ROUNDING * max(1e-6, math.hypot(*other["position"]))
        if not exactly:
            # Each run is away from the truth by its own error. On another processor, rounding errors are others.
            repeated = computed["error"][key]["au"] or 0.0
            allowed += repeated + min(stored["error"][key]["au"] or 0.0, _ERROR_RATIO * repeated)
        if not distance <= allowed:
            yield f"{moment}: the position of {key} differs by {distance:.3g} AU; the error is {allowed:.1g} AU"


def _compare_errors(stored: Plain, computed: Plain) -> Iterator[str]:
    """Yield a line for each body whose stored error is not about that of the repeated run."""
    for key, other in computed.items():
        for unit, repeated in other.items():
            stated: float | None = stored[key][unit]
            if stated is None or repeated is None:
                is_right = stated is repeated
            else:
                is_right = _is_about_same_error(stated, repeated)
            if not is_right:
                yield (
                    f"the error of {key} is stated as {_format_error(stated, unit)}; the repeated run has "
                    f"{_format_error(repeated, unit)}"
                )
                break


def _is_about_same_error(stated: float, repeated: float) -> bool:
    return repeated / _ERROR_RATIO <= stated <= repeated * _ERROR_RATIO


def _format_error(error: float | None, unit: str) -> str:
    return "unknown" if error is None else f"{error:.1g} {'AU' if unit == 'au' else unit}"


def _measure_distance(stored: Plain, computed: Plain, key: str) -> float:
    if stored[key] is None or computed[key] is None:
        return 0.0
    return math.dist(stored[key]["position"], computed[key]["position"])


def _compare_numbers(folder: str, stored: Plain, computed: Plain) -> Iterator[Check]:
    """Compare all numbers and texts of two results, except the universe and version, which name their origin."""
    numbers = 0
    for name, other in computed.items():
        if name in ("id", "version"):
            continue
        for path, one_value, other_value in _walk_values(name, stored.get(name), other):
            numbers += 1
            if not _is_close(one_value, other_value):
                yield Check(f"{folder}/result.json", "differs", f"{path} is {one_value}, repeated {other_value}"[:300])
                return
    yield Check(f"{folder}/result.json", "matched", f"{plural(numbers, 'value')} measured again")


def _walk_values(path: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(other, dict) and isinstance(one, dict) and one.keys() == other.keys():  # pyright: ignore[reportUnknownMemberType]
        for key in other:  # pyright: ignore[reportUnknownVariableType]
            yield from _walk_values(f"{path}.{key}", one[key], other[key])
    elif isinstance(other, list | tuple) and isinstance(one, list) and len(one) == len(other):  # pyright: ignore[reportUnknownArgumentType]
        for index, (first, second) in enumerate(zip(one, other, strict=True)):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            yield from _walk_values(f"{path}.{index}", first, second)
    else:
        yield path, one, other


def _is_close(one: Any, other: Any) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=_CHANGE, abs_tol=_CHANGE)
    return one == other
