"""With the extra `nbody` heyoka answers as the default method does; without it the reply says how to install it."""

import sys
from typing import Final

import numpy as np
import pytest

from tests.universe.nbody.truths import read_truth
from universe.nbody.runs import run
from uraniborg.kernel.errors import MissingExtra

YEAR: Final = 365.25


@pytest.mark.parametrize(
    ("case", "days"),
    [("trappist-1", YEAR), ("earth-moon", YEAR), ("comet-967", 100 * YEAR), ("close-encounter", 3 * YEAR)],
)
def test_heyoka_ends_where_the_default_method_does_within_the_reported_error(case: str, days: float) -> None:
    pytest.importorskip("heyoka", reason="the extra nbody is not installed")
    truth = read_truth(case)
    gauss, taylor = (run(truth.start, days, method=method) for method in ("gauss", "heyoka"))
    apart = np.linalg.norm(truth.start.relative @ (gauss.positions - taylor.positions), axis=1)
    assert (apart <= gauss.error_au + taylor.error_au).all()
    assert taylor.trustworthy
    _, degrees = truth.errors(truth.end(days).positions, taylor.positions)
    assert degrees.max() <= 1e-6


def test_without_the_extra_the_error_has_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "heyoka", None)
    monkeypatch.delitem(sys.modules, "universe.nbody.heyoka_method", raising=False)
    with pytest.raises(MissingExtra) as caught:
        run(read_truth("earth-moon").start, 1.0, method="heyoka")
    assert "pip install 'uraniborg[nbody]'" in caught.value.hint
