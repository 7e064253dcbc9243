"""Numbers of many bodies as arrays."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from types import NoneType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from universe.orbits.numbers import read_number
from uraniborg.kernel.errors import InvalidInput

_PLAIN: Final = frozenset({int, float, NoneType})


def read_number_table(
    bodies: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Return the named numbers of each body as a row, NaN for absent ones, and the problems of rows by index."""
    rows = [[body.get(name) for name in names] for body in bodies]
    values = list(chain.from_iterable(rows))
    # All plain is the rule, and a hundred times cheaper to find out at once than one by one.
    if _PLAIN.issuperset(map(type, values)):
        try:
            found = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
        except OverflowError:
            return _read_rows_one_by_one(bodies, names)
        if not np.isinf(found).any() and np.isnan(found).sum() == values.count(None):
            return found, {}
    return _read_rows_one_by_one(bodies, names)


def _read_rows_one_by_one(
    bodies: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> tuple[NDArray[np.float64], dict[int, str]]:
    found = np.full((len(bodies), len(names)), math.nan)
    faults: dict[int, str] = {}
    for place, body in enumerate(bodies):
        try:
            found[place] = [read_number(body, name, math.nan) for name in names]
        except InvalidInput as exc:
            faults[place] = exc.message
    return found, faults
