"""Compare a stored measurement with a repeated one."""

import math
from collections.abc import Iterator
from typing import Any, Final, cast

from universe.nbody.replies import MeasurementReply, RunReply
from uraniborg.bundle.checks import Check
from uraniborg.bundle.nbody_result_checks import compare_runs
from uraniborg.bundle.number_comparison import (
    CHANGE,
    CLOSE,
    ROUNDING,
    is_about_same_error,
    is_close,
    is_number,
    shorten,
    walk_values,
)
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.text import plural

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
        return is_close(one, other, CHANGE)
    if name.startswith("error"):
        return abs(one - other) <= CLOSE or is_about_same_error(one, other)
    return math.isclose(one, other, rel_tol=0 if name in _TIMES else CHANGE, abs_tol=_ABSOLUTE.get(name, ROUNDING))
