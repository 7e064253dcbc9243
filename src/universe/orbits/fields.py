"""Numbers of a body, read so that null counts as absent and anything but a finite number is refused."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from types import NoneType
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from uraniborg.kernel.errors import InvalidInput

_PLAIN: Final = frozenset({int, float, NoneType})


@overload
def number(fields: Mapping[str, Any], name: str) -> float | None: ...
@overload
def number(fields: Mapping[str, Any], name: str, default: float) -> float: ...
def number(fields: Mapping[str, Any], name: str, default: float | None = None) -> float | None:
    """The number called `name`, or `default` where it is absent or null. Raises InvalidInput naming the field."""
    value = fields.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _not_a_number(name)
    try:
        found = float(value)
    except OverflowError:
        raise _not_a_number(name) from None
    if not math.isfinite(found):
        raise _not_a_number(name)
    return found


def table(bodies: Sequence[Mapping[str, Any]], names: Sequence[str]) -> tuple[NDArray[np.float64], dict[int, str]]:
    """The named numbers of each body as a row, absent ones not-a-number; and why some rows (by place) are no use."""
    rows = [[body.get(name) for name in names] for body in bodies]
    values = list(chain.from_iterable(rows))
    # All plain is the rule, and a hundred times cheaper to find out at once than one by one.
    if _PLAIN.issuperset(map(type, values)):
        try:
            found = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
        except OverflowError:
            return _table_by_body(bodies, names)
        if not np.isinf(found).any() and np.isnan(found).sum() == values.count(None):
            return found, {}
    return _table_by_body(bodies, names)


def _table_by_body(
    bodies: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> tuple[NDArray[np.float64], dict[int, str]]:
    found = np.full((len(bodies), len(names)), math.nan)
    faults: dict[int, str] = {}
    for place, body in enumerate(bodies):
        try:
            found[place] = [number(body, name, math.nan) for name in names]
        except InvalidInput as exc:
            faults[place] = exc.message
    return found, faults


def require_time(t: float) -> None:
    """Raises InvalidInput unless `t` is a moment."""
    if not math.isfinite(t):
        raise InvalidInput(
            f"The time is {t}.", hint="Give the simulation time as a finite number.", argument="t", allowed="a number"
        )


def _not_a_number(name: str) -> InvalidInput:
    return InvalidInput(
        f"'{name}' is not a finite number.", hint="Set it to a number, or to null.", argument=name, allowed="a number"
    )
