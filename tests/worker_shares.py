"""The order of tests in which every worker of a parallel run starts with its share of the long ones.

The scheduler gives each worker an equal, contiguous share; an idle worker takes tests from the end of the largest rest.
In the order of their names, long tests would run last on one worker, and files whose servers and browsers take long to
start would be divided between workers.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

import pytest

Test = TypeVar("Test")


def has_long_time_limit(item: pytest.Item) -> bool:
    """Return True if a mark gives the test more time than the settings do."""
    mark = item.get_closest_marker("timeout")
    return mark is not None and mark.args[0] > float(item.config.getini("timeout"))


def order_for_workers(files: Mapping[Path, Sequence[Test]], long_files: Collection[Path], workers: int) -> list[Test]:
    """Return all tests, so that each worker's share starts with whole files of long tests."""
    dealt = [path for path in files if path in long_files]
    others = iter([test for path, tests in files.items() if path not in long_files for test in tests])
    ordered: list[Test] = []
    rest = sum(map(len, files.values()))
    for worker in range(workers):
        size = rest // (workers - worker)
        share = [test for path in dealt[worker::workers] for test in files[path]]
        ordered += [*share, *islice(others, max(0, size - len(share)))]
        rest -= size
    return [*ordered, *others]
