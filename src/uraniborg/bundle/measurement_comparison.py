"""Compare a stored measurement with a repeated one; N-body runs within their errors, all else exactly."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, cast

from universe.domain.nbody.measurement_replies import (
    BodyError,
    BodyState,
    ChaosFacts,
    DriftFacts,
    MeasurementReply,
    RunReply,
)
from uraniborg.bundle.file_checks import (
    CHANGE,
    CLOSE,
    ERROR_RATIO,
    ROUNDING,
    is_about_same_error,
    is_equal_or_close_number,
    is_number,
    shorten,
    walk_values,
)
from uraniborg.bundle.inspection import Check, make_statement
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural

_ROUNDED: Final = re.compile(r"\b(accurate to|MEGNO|e in about) (\d[\d.]*(?:e[+-]\d+)?)")
"""The numbers in the text of a verdict that rounding makes others on another processor."""
_ARITHMETIC: Final = re.compile(r"(accurate to) (\S+)( degrees of each orbit; worst is .* \()(\S+) AU")
_MEGNO_DIFFERENCE: Final = 0.2
_MEGNO_ROUNDING: Final = 1e-3
_FEW_ROUNDINGS: Final = 1e-14
_PRINTED: Final = 0.0011
"""The difference of angles that are stored in thousandths of a degree, when rounding makes the last digit another."""
_STEPS: Final[dict[Literal["shortestStep", "step", "steps"], float]] = {"shortestStep": 2.0, "step": 1.1, "steps": 1.1}
"""How many times as large the values of adaptive steps may be on another processor."""
_UNITS: Final[tuple[Literal["au", "degrees"], ...]] = ("au", "degrees")
_CHAOS_LIMITS: Final[dict[Literal["megno", "lyapunovDays"], float]] = {
    "megno": _MEGNO_DIFFERENCE,
    "lyapunovDays": math.inf,
}
"""The largest differences that rounding makes."""
_CHAOS: Final = ("chaos.megno", "chaos.meaning", "chaos.lyapunovDays")
_OWN: Final = frozenset(
    ("start", "end", "error", "errors", "trustworthy", "verdict", "energyDrift", "angularMomentumDrift")
)
"""The values of a run that have a comparison of their own."""


def compare_runs(path: str, stored: RunReply, computed: RunReply) -> Iterator[Check]:
    """Yield the differences of two N-body runs, or what matched, and what cannot be compared."""
    yield from _compare_runs(path, stored, computed)
    yield from _compare_noise(path, stored, computed)


def _compare_runs(path: str, stored: RunReply, computed: RunReply) -> Iterator[Check]:
    """Compare two N-body runs: the starts exactly, the ends within both errors, the errors and the verdicts."""
    differences = [
        *_compare_bodies("start", stored, computed, exactly=True),
        *_compare_bodies("end", stored, computed, exactly=False),
        *_compare_errors(stored["error"], computed["error"]),
    ]
    if stored["trustworthy"] is not computed["trustworthy"]:
        differences.append(f"trustworthy is {stored['trustworthy']}, repeated {computed['trustworthy']}"[:80])
    if not _is_same_verdict(str(stored["verdict"]), computed["verdict"]):
        differences.append(f"the verdict is “{str(stored['verdict'])[:80]}…”, repeated “{computed['verdict'][:80]}…”")
    if len(stored["resonances"]) == len(computed["resonances"]):
        for one, other in zip(stored["resonances"], computed["resonances"], strict=True):
            if one["behaviour"] != other["behaviour"]:
                differences.append(f"{one['angle']} {one['behaviour']}, repeated it {other['behaviour']}"[:200])
    if not differences:
        differences = list(_compare_others(stored, computed))
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


def _compare_others(stored: RunReply, computed: RunReply) -> Iterator[str]:
    """Yield the differences of all values that have no comparison of their own; at most one of each."""
    degrees = max((one["degrees"] or 0.0 for one in computed["error"].values()), default=0.0)
    tolerance = min(0.5, CLOSE + 100 * math.radians(degrees))
    for name in {**computed, **stored}:
        if name in _OWN or name in _STEPS:
            continue
        if name not in stored or name not in computed:
            yield f"{name[:40]} is {'missing' if name in computed else 'not a value of a run'}"
            continue
        for path, one, other in walk_values(name, stored[name], computed[name]):
            if path not in _CHAOS and not _is_close_or_printed(path, one, other, tolerance):
                yield f"{path} is {shorten(one)}, repeated {shorten(other)}"
                break
    if set(stored["errors"]) != set(computed["errors"]) or stored["errors"]["physics"] != computed["errors"]["physics"]:
        yield "the errors of the physics are described otherwise than repeated"
    elif stored["errors"]["start"] != computed["errors"]["start"]:
        yield "the errors of the start are described otherwise than repeated"


def _is_close_or_printed(path: str, one: Any, other: Any, tolerance: float) -> bool:
    if path.rpartition(".")[2] in ("centre", "halfRange") and is_number(one) and is_number(other):
        return abs(one - other) <= _PRINTED + 360 * tolerance
    return is_equal_or_close_number(one, other, tolerance)


def _compare_noise(path: str, stored: RunReply, computed: RunReply) -> Iterator[Check]:
    """Compare what rounding errors decide: equal within a factor, or as likely as the repeated value, or different."""
    yield from _compare_chaos(path, stored["chaos"], computed["chaos"])
    yield from _compare_steps(path, stored, computed)
    for name in ("energyDrift", "angularMomentumDrift"):
        yield from _compare_drifts(path, name, stored[name], computed[name])
    yield from _compare_arithmetic(path, stored["errors"]["arithmetic"], computed["errors"]["arithmetic"])


def _compare_chaos(path: str, stored: ChaosFacts, computed: ChaosFacts) -> Iterator[Check]:
    for name, allowed in _CHAOS_LIMITS.items():
        one, other = stored[name], computed[name]
        if is_number(one) and is_number(other) and other / 2 <= one <= 2 * other and abs(one - other) <= allowed:
            if not is_equal_or_close_number(one, other, _MEGNO_ROUNDING):
                yield make_statement(path, f"chaos.{name}: {one:.4g}, repeated {other:.4g}, as rounding decides")
        elif one is not other:
            yield Check(path, "differs", f"chaos.{name} is {shorten(one)}, repeated {shorten(other)}")
    if not _is_same_verdict(str(stored["meaning"]), computed["meaning"]):
        yield Check(path, "differs", f"chaos.meaning is “{shorten(stored['meaning'])}”, which is not that of the run")


def _compare_steps(path: str, stored: RunReply, computed: RunReply) -> Iterator[Check]:
    for name, ratio in _STEPS.items():
        one, other = stored[name], computed[name]
        if is_equal_or_close_number(one, other, CLOSE):
            continue
        if is_number(one) and is_number(other) and other / ratio <= one <= other * ratio:
            yield make_statement(path, f"{name} is {one:.6g}, repeated {other:.6g}, as rounding decides")
        else:
            yield Check(path, "differs", f"{name} is {shorten(one)}, repeated {shorten(other)}")


def _compare_drifts(path: str, name: str, stored: DriftFacts | None, computed: DriftFacts | None) -> Iterator[Check]:
    if stored is None or computed is None or set(stored) != set(computed):
        if stored is not computed:
            yield Check(path, "differs", f"{name} is {shorten(stored)}, repeated {shorten(computed)}")
        return
    largest, repeated = stored["max"], computed["max"]
    has_none = min(largest, repeated) == 0 and max(largest, repeated) < _FEW_ROUNDINGS
    if not (has_none or is_about_same_error(largest, repeated)) or not abs(stored["final"]) <= largest:
        yield Check(path, "differs", f"{name} is {shorten(stored)}, repeated {shorten(computed)}")
    elif has_none or not is_about_same_error(abs(stored["final"]), abs(computed["final"])):
        yield make_statement(path, f"{name} ends at {stored['final']:.1g}: rounding decides what it is")


def _compare_arithmetic(path: str, stored: Any, computed: list[str]) -> Iterator[Check]:
    """Compare the sentences about the error of the integration: the numbers as errors, and the rest exactly."""
    if stored == computed:
        return
    found = [_ARITHMETIC.search(text) for text in map(str, stored)], [_ARITHMETIC.search(text) for text in computed]
    pairs = list(zip(*found, strict=False))
    is_same = [_ARITHMETIC.sub("", str(text)) for text in stored] == [_ARITHMETIC.sub("", text) for text in computed]
    if not is_same or not all(
        one and other and is_about_same_error(float(one[2]), float(other[2]))
        and is_about_same_error(float(one[4]), float(other[4]))
        for one, other in pairs
    ):  # fmt: skip
        yield Check(path, "differs", f"errors.arithmetic is {shorten(stored)}, repeated {shorten(computed)}")
    elif any(one and other and one[3] != other[3] for one, other in pairs):
        yield make_statement(path, "errors.arithmetic: which body has the largest error; rounding decides it")


def _is_same_verdict(stored: str, repeated: str) -> bool:
    """Return True for texts that differ only in their errors and MEGNO, and in these by no more than rounding does."""
    if _ROUNDED.sub(r"\1", stored) != _ROUNDED.sub(r"\1", repeated):
        return False
    pairs = zip(_ROUNDED.findall(stored), _ROUNDED.findall(repeated), strict=True)
    return all(_is_about_same(name, float(stated), float(other)) for (name, stated), (_, other) in pairs)


def _is_about_same(name: str, stated: float, repeated: float) -> bool:
    if name == "e in about":
        return repeated / 2 <= stated <= 2 * repeated
    if name == "MEGNO":
        return abs(stated - repeated) <= _MEGNO_DIFFERENCE
    return is_about_same_error(stated, repeated)


def _compare_bodies(
    moment: Literal["start", "end"], stored: RunReply, computed: RunReply, *, exactly: bool
) -> Iterator[str]:
    if set(stored[moment]) != set(computed[moment]):
        yield f"the {moment} has other bodies"
        return
    for key, other in computed[moment].items():
        one = stored[moment][key]
        if one is None or other is None:
            if one is not other:
                yield f"{moment}: {key} has merged into another body in one of the runs only"
            continue
        if one.keys() != other.keys():
            yield f"{moment}: {key} has other values than mass, position and velocity"
            continue
        change = abs(one["mass"] - other["mass"])
        if not change <= ROUNDING * abs(other["mass"]):
            percent = 100 * (one["mass"] - other["mass"]) / other["mass"] if other["mass"] else math.inf
            yield (
                f"{moment}: the mass of {key} differs by {percent:+.3g} % ({one['mass']:.6g} instead of "
                f"{other['mass']:.6g} solar masses)"
            )
        speed = math.dist(one["velocity"], other["velocity"])
        distance = _measure_distance(stored[moment], computed[moment], key)
        allowed = ROUNDING * max(1e-6, math.hypot(*other["position"]))
        if not exactly:
            # Each run is away from the truth by its own error. On another processor, rounding errors are others.
            repeated = computed["error"][key]["au"] or 0.0
            allowed += repeated + min(stored["error"][key]["au"] or 0.0, ERROR_RATIO * repeated)
        # A body that is away by a distance has a velocity that differs by as much in the time of a radian.
        rate = math.hypot(*other["velocity"]) / max(1e-12, math.hypot(*other["position"]))
        if not speed <= 10 * allowed * max(rate, 1e-6) + ROUNDING * math.hypot(*other["velocity"]):
            yield f"{moment}: the velocity of {key} differs by {speed:.3g} AU/day"
        if not distance <= allowed:
            yield f"{moment}: the position of {key} differs by {distance:.3g} AU; the error is {allowed:.1g} AU"


def _compare_errors(stored: Mapping[str, BodyError], computed: Mapping[str, BodyError]) -> Iterator[str]:
    """Yield a line for each body whose stored error is not about that of the repeated run."""
    for key, other in computed.items():
        for unit in _UNITS:
            stated, repeated = stored[key][unit], other[unit]
            if stated is None or repeated is None:
                is_right = stated is repeated
            else:
                is_right = is_about_same_error(stated, repeated)
            if not is_right:
                yield (
                    f"the error of {key} is stated as {_format_error(stated, unit)}; the repeated run has "
                    f"{_format_error(repeated, unit)}"
                )
                break


def _format_error(error: float | None, unit: str) -> str:
    return "unknown" if error is None else f"{error:.1g} {'AU' if unit == 'au' else unit}"


def _measure_distance(
    stored: Mapping[str, BodyState | None], computed: Mapping[str, BodyState | None], key: str
) -> float:
    one, other = stored[key], computed[key]
    return 0.0 if one is None or other is None else math.dist(one["position"], other["position"])


_TIMES: Final = ("time", "times", "firstTransit")
"""Days since an epoch, of which a part of a million is days."""
_ABSOLUTE: Final = {
    **dict.fromkeys(_TIMES, 1e-7),
    **dict.fromkeys(("ocMinutes", "ttvHalfRangeMinutes"), 1e-4),
    **dict.fromkeys(("velocities", "least", "greatest"), 1e-6),
}
"""The differences that rounding makes, of values that can be about 0."""


def compare_results(path: str, kind: str, stored: MeasurementReply, computed: MeasurementReply) -> list[Check]:
    """Return the checks of a stored result: its differences, or what matched, and what cannot be compared."""
    if kind == "nbody":
        return list(compare_runs(path, cast("RunReply", stored), cast("RunReply", computed)))
    return list(_compare_numbers(path, cast("JsonObject", stored), cast("JsonObject", computed)))


def _compare_numbers(path: str, stored: JsonObject, computed: JsonObject) -> Iterator[Check]:
    numbers = 0
    for name in {**computed, **stored}:
        if name not in stored or name not in computed:
            problem = "missing" if name in computed else "not a value of this measurement"
            yield Check(path, "differs", f"{name[:40]} is {problem}")
            return
        for where, one, other in walk_values(name, stored[name], computed[name]):
            numbers += 1
            if not _is_close_measurement(where, one, other):
                yield Check(path, "differs", f"{where} is {shorten(one)}, repeated {shorten(other)}")
                return
    yield Check(path, "matched", f"{plural(numbers, 'value')} measured again")


def _is_close_measurement(where: str, one: Any, other: Any) -> bool:
    """Return True for values that differ by rounding alone, which depends on what they are."""
    name = where.rstrip(".0123456789").rpartition(".")[2]
    if not is_number(one) or not is_number(other):
        return is_equal_or_close_number(one, other, CHANGE)
    if name.startswith("error"):
        return abs(one - other) <= CLOSE or is_about_same_error(one, other)
    return math.isclose(one, other, rel_tol=0 if name in _TIMES else CHANGE, abs_tol=_ABSOLUTE.get(name, ROUNDING))
