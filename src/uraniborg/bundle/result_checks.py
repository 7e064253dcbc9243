"""The comparison of a stored result of a measurement with a repeated one, within the error of both."""

import math
import re
from collections.abc import Iterator
from typing import Any, Final

from uraniborg.bundle.checks import Check
from uraniborg.bundle.pieces import Plain
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.text import plural

_ROUNDING: Final = 1e-12
"""The relative difference that another machine makes in one number."""
_ERROR_RATIO: Final = 10.0
"""The largest ratio of the stored error to the error of the repeated run, or of the latter to the former."""
_ROUNDED: Final = re.compile(r"\b(accurate to|MEGNO) (\d[\d.]*(?:e[+-]\d+)?)")
"""The numbers in the text of a verdict that rounding makes others on another processor."""
_ARITHMETIC: Final = re.compile(r"(accurate to) (\S+)( degrees of each orbit; worst is .* \()(\S+) AU")
_MEGNO_DIFFERENCE: Final = 0.2
_MEGNO_ROUNDING: Final = 1e-3
_CHANGE: Final = 1e-6
"""The relative difference of transit times and velocities that is a change; their error is larger."""
_TIMES: Final = ("time", "times", "firstTransit")
"""Days since an epoch, of which a part of a million is days."""
_ABSOLUTE: Final = {
    **dict.fromkeys(_TIMES, 1e-7),
    **dict.fromkeys(("ocMinutes", "ttvHalfRangeMinutes"), 1e-4),
    **dict.fromkeys(("velocities", "least", "greatest"), 1e-6),
}
"""The differences that rounding makes, of values that can be about 0."""
_CLOSE: Final = 1e-9
"""The relative difference of a value of a run without errors that is a change."""
_PRINTED: Final = 0.0011
"""The difference of angles that are stored in thousandths of a degree, when rounding makes the last digit another."""
_STEPS: Final = {"shortestStep": 2.0, "steps": 1.1}
"""How many times as large the values of adaptive steps may be on another processor."""
_OWN: Final = frozenset(
    ("start", "end", "error", "errors", "trustworthy", "verdict", "energyDrift", "angularMomentumDrift")
)
"""The values of a run that have a comparison of their own."""


def compare_results(path: str, kind: str, stored: Plain, computed: Plain) -> list[Check]:
    """Return the checks of a stored result: its differences, or what matched, and what cannot be compared."""
    if kind != "nbody":
        return list(_compare_numbers(path, stored, computed))
    checks = list(_compare_runs(path, stored, computed))
    checks += _compare_noise(path, stored, computed)
    return checks


def _compare_runs(path: str, stored: Plain, computed: Plain) -> Iterator[Check]:
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


def _compare_others(stored: Plain, computed: Plain) -> Iterator[str]:
    """Yield the differences of all values that have no comparison of their own; at most one of each."""
    degrees = max((one["degrees"] or 0.0 for one in computed["error"].values()), default=0.0)
    tolerance = min(0.5, _CLOSE + 100 * math.radians(degrees))
    for name in {**computed, **stored}:
        if name in _OWN or name in _STEPS:
            continue
        if name not in stored or name not in computed:
            yield f"{make_printable(name)[:40]} is {'missing' if name in computed else 'not a value of a run'}"
            continue
        for path, one, other in _walk_values(name, stored[name], computed[name]):
            if path != "chaos.megno" and not _is_close_or_printed(path, one, other, tolerance):
                yield f"{path} is {_shorten(one)}, repeated {_shorten(other)}"
                break
    if set(stored["errors"]) != set(computed["errors"]) or stored["errors"]["physics"] != computed["errors"]["physics"]:
        yield "the errors of the physics are described otherwise than repeated"
    elif stored["errors"]["start"] != computed["errors"]["start"]:
        yield "the errors of the start are described otherwise than repeated"


def _is_close_or_printed(path: str, one: Any, other: Any, tolerance: float) -> bool:
    if path.rpartition(".")[2] in ("centre", "halfRange") and _is_number(one) and _is_number(other):
        return abs(one - other) <= _PRINTED + 360 * tolerance
    return _is_close(one, other, tolerance)


def _shorten(value: Any) -> str:
    return make_printable(str(value))[:100]


def _compare_noise(path: str, stored: Plain, computed: Plain) -> Iterator[Check]:
    """Compare what rounding errors decide: equal within a factor, or as likely as the repeated value, or different."""
    one, other = stored["chaos"]["megno"], computed["chaos"]["megno"]
    if not (one is other is None or (_is_number(one) and _is_number(other) and abs(one - other) <= _MEGNO_DIFFERENCE)):
        yield Check(path, "differs", f"chaos.megno is {_shorten(one)}, repeated {_shorten(other)}")
    elif one is not None and not _is_close(one, other, _MEGNO_ROUNDING):
        yield Check(
            path, "not checked", f"chaos.megno: {_shorten(one)}, repeated {_shorten(other)}, as rounding decides"
        )
    for name, ratio in _STEPS.items():
        if not (_is_number(stored[name]) and 1 / ratio <= stored[name] / computed[name] <= ratio):
            yield Check(path, "differs", f"{name} is {_shorten(stored[name])}, repeated {_shorten(computed[name])}")
        elif not _is_close(stored[name], computed[name], _CLOSE):
            yield Check(path, "not checked", f"{name} is {stored[name]:.4g}, repeated {computed[name]:.4g}: rounding")
    for name in ("energyDrift", "angularMomentumDrift"):
        drift, repeated = stored[name], computed[name]
        if drift is None or repeated is None or set(drift) != set(repeated):
            if drift is not repeated:
                yield Check(path, "differs", f"{name} is {_shorten(drift)}, repeated {_shorten(repeated)}")
        elif not _is_about_same_error(drift["max"], repeated["max"]) or not 0 <= abs(drift["final"]) <= drift["max"]:
            yield Check(path, "differs", f"{name} is {_shorten(drift)}, repeated {_shorten(repeated)}")
        elif not _is_about_same_error(abs(drift["final"]), abs(repeated["final"])):
            yield Check(path, "not checked", f"{name}.final is {drift['final']:.1g}: rounding decides what it is")
    yield from _compare_arithmetic(path, stored["errors"]["arithmetic"], computed["errors"]["arithmetic"])


def _compare_arithmetic(path: str, stored: Any, computed: list[str]) -> Iterator[Check]:
    """Compare the sentences about the error of the integration: the numbers as errors, and the rest exactly."""
    if stored == computed:
        return
    found = [_ARITHMETIC.search(text) for text in map(str, stored)], [_ARITHMETIC.search(text) for text in computed]
    pairs = list(zip(*found, strict=False))
    is_same = [_ARITHMETIC.sub("", str(text)) for text in stored] == [_ARITHMETIC.sub("", text) for text in computed]
    if not is_same or not all(
        one and other and _is_about_same_error(float(one[2]), float(other[2]))
        and _is_about_same_error(float(one[4]), float(other[4]))
        for one, other in pairs
    ):  # fmt: skip
        yield Check(path, "differs", f"errors.arithmetic is {_shorten(stored)}, repeated {_shorten(computed)}")
    elif any(one and other and one[3] != other[3] for one, other in pairs):
        yield Check(path, "not checked", "errors.arithmetic: which body has the largest error; rounding decides it")


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
        if one.keys() != other.keys():
            yield f"{moment}: {key} has other values than mass, position and velocity"
            continue
        change = abs(one["mass"] - other["mass"])
        if not change <= _ROUNDING * abs(other["mass"]):
            percent = 100 * (one["mass"] - other["mass"]) / other["mass"] if other["mass"] else math.inf
            yield (
                f"{moment}: the mass of {key} differs by {percent:+.3g} % ({one['mass']:.6g} instead of "
                f"{other['mass']:.6g} solar masses)"
            )
        speed = math.dist(one["velocity"], other["velocity"])
        distance = _measure_distance(stored[moment], computed[moment], key)
        allowed = _ROUNDING * max(1e-6, math.hypot(*other["position"]))
        if not exactly:
            # Each run is away from the truth by its own error. On another processor, rounding errors are others.
            repeated = computed["error"][key]["au"] or 0.0
            allowed += repeated + min(stored["error"][key]["au"] or 0.0, _ERROR_RATIO * repeated)
        # A body that is away by a distance has a velocity that differs by as much in the time of a radian.
        rate = math.hypot(*other["velocity"]) / max(1e-12, math.hypot(*other["position"]))
        if not speed <= 10 * allowed * max(rate, 1e-6) + _ROUNDING * math.hypot(*other["velocity"]):
            yield f"{moment}: the velocity of {key} differs by {speed:.3g} AU/day"
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


def _compare_numbers(path: str, stored: Plain, computed: Plain) -> Iterator[Check]:
    """Compare all numbers and texts of two results."""
    numbers = 0
    for name in {**computed, **stored}:
        if name not in stored or name not in computed:
            problem = "missing" if name in computed else "not a value of this measurement"
            yield Check(path, "differs", f"{make_printable(name)[:40]} is {problem}")
            return
        for where, one, other in _walk_values(name, stored[name], computed[name]):
            numbers += 1
            if not _is_close_measurement(where, one, other):
                yield Check(path, "differs", f"{where} is {_shorten(one)}, repeated {_shorten(other)}")
                return
    yield Check(path, "matched", f"{plural(numbers, 'value')} measured again")


def _is_close_measurement(where: str, one: Any, other: Any) -> bool:
    """Return True for values that differ by rounding alone, which depends on what they are."""
    name = where.rstrip(".0123456789").rpartition(".")[2]
    if not _is_number(one) or not _is_number(other):
        return _is_close(one, other, _CHANGE)
    if name.startswith("error"):
        return abs(one - other) <= _CLOSE or _is_about_same_error(one, other)
    return math.isclose(one, other, rel_tol=0 if name in _TIMES else _CHANGE, abs_tol=_ABSOLUTE.get(name, _ROUNDING))


def _walk_values(path: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(other, dict) and isinstance(one, dict) and one.keys() == other.keys():  # pyright: ignore[reportUnknownMemberType]
        for key in other:  # pyright: ignore[reportUnknownVariableType]
            yield from _walk_values(f"{path}.{key}", one[key], other[key])
    elif isinstance(other, list | tuple) and isinstance(one, list) and len(one) == len(other):  # pyright: ignore[reportUnknownArgumentType]
        for index, (first, second) in enumerate(zip(one, other, strict=True)):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            yield from _walk_values(f"{path}.{index}", first, second)
    else:
        yield path, one, other


def _is_close(one: Any, other: Any, tolerance: float) -> bool:
    if _is_number(one) and _is_number(other):
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance if tolerance == _CHANGE else _ROUNDING)
    return type(one) is type(other) and one == other


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)
