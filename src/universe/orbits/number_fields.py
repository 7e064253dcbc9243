"""Read numbers of a body: null counts as absent, and anything but a finite number is refused."""

import math
from collections.abc import Mapping
from typing import Any, overload

from uraniborg.kernel.errors import InvalidInput


@overload
def read_number(fields: Mapping[str, Any], name: str) -> float | None: ...
@overload
def read_number(fields: Mapping[str, Any], name: str, default: float) -> float: ...
def read_number(fields: Mapping[str, Any], name: str, default: float | None = None) -> float | None:
    """Return the number called `name`, or `default` where it is absent or null. Raise InvalidInput naming the field."""
    value = fields.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _make_number_error(name)
    try:
        found = float(value)
    except OverflowError:
        raise _make_number_error(name) from None
    if not math.isfinite(found):
        raise _make_number_error(name)
    return found


def finite_or_none(value: float) -> float | None:
    """Return a number that JSON can carry, or None."""
    return value if math.isfinite(value) else None


def check_finite_time(t: float) -> None:
    """Raise InvalidInput unless `t` is a finite number."""
    if not math.isfinite(t):
        raise InvalidInput(
            f"The time is {t}.", hint="Give the simulation time as a finite number.", argument="t", allowed="a number"
        )


def _make_number_error(name: str) -> InvalidInput:
    return InvalidInput(
        f"'{name}' is not a finite number.", hint="Set it to a number, or to null.", argument=name, allowed="a number"
    )
