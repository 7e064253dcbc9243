"""Compare two results value by value: numbers within a tolerance, everything else exactly."""

import math
from collections.abc import Iterator
from typing import Any, Final, TypeGuard

ROUNDING: Final = 1e-12
"""The relative difference that another machine makes in one number."""
ERROR_RATIO: Final = 10.0
"""The largest ratio of the stored error to the error of the repeated run, or of the latter to the former."""
CHANGE: Final = 1e-6
"""The relative difference of transit times and velocities that is a change; their error is larger."""
CLOSE: Final = 1e-9
"""The relative difference of a value of a run without errors that is a change."""


def walk_values(path: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(other, dict) and isinstance(one, dict) and one.keys() == other.keys():  # pyright: ignore[reportUnknownMemberType]
        for key in other:  # pyright: ignore[reportUnknownVariableType]
            yield from walk_values(f"{path}.{key}", one[key], other[key])
    elif isinstance(other, list | tuple) and isinstance(one, list) and len(one) == len(other):  # pyright: ignore[reportUnknownArgumentType]
        for index, (first, second) in enumerate(zip(one, other, strict=True)):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            yield from walk_values(f"{path}.{index}", first, second)
    else:
        yield path, one, other


def is_close(one: Any, other: Any, tolerance: float) -> bool:
    if is_number(one) and is_number(other):
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance if tolerance == CHANGE else ROUNDING)
    return type(one) is type(other) and one == other


def is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, float | int) and not isinstance(value, bool)


def is_about_same_error(stated: float, repeated: float) -> bool:
    """Return True for errors of two runs that differ no more than errors do on different processors."""
    return repeated / ERROR_RATIO <= stated <= repeated * ERROR_RATIO


def shorten(value: Any) -> str:
    """Return a value as text that fits a message."""
    return str(value)[:100]
