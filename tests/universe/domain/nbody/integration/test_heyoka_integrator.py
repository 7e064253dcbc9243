"""The method heyoka agrees with the default method; without the package the error names the extra."""

import sys
from typing import Final

import numpy as np
import pytest

from tests.universe.domain.nbody.sample_starts import giants, pair, with_radii
from tests.universe.domain.nbody.truths import read_truth
from universe.domain.nbody.runs import run_nbody
from uraniborg.kernel.errors import MissingExtra

YEAR: Final = 365.25


@pytest.mark.parametrize(
    ("case", "days"),
    [("trappist-1", YEAR), ("earth-moon", YEAR), ("comet-967", 100 * YEAR), ("close-encounter", 3 * YEAR)],
)
def test_heyoka_ends_where_the_default_method_does_within_the_reported_error(case: str, days: float) -> None:
    pytest.importorskip("heyoka", reason="the extra nbody is not installed")
    truth = read_truth(case)
    gauss, taylor = (run_nbody(truth.start, days, method=method) for method in ("gauss", "heyoka"))
    apart = np.linalg.norm(truth.start.relative_matrix @ (gauss.positions - taylor.positions), axis=1)
    assert (apart <= gauss.error_au + taylor.error_au).all()
    assert taylor.trustworthy
    _, degrees = truth.errors(truth.end(days).positions, taylor.positions)
    assert degrees.max() <= 1e-6


def test_without_the_extra_the_error_has_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "heyoka", None)
    with pytest.raises(MissingExtra) as caught:
        run_nbody(read_truth("earth-moon").start, 1.0, method="heyoka")
    assert "pip install 'uraniborg[nbody]'" in caught.value.hint


@pytest.mark.parametrize("relativity", [False, True])
def test_heyoka_agrees_with_the_default_within_the_errors(relativity: bool) -> None:
    pytest.importorskip("heyoka", reason="heyoka is an extra and not installed")
    ours, theirs = (run_nbody(giants(), -4000, method=method, relativity=relativity) for method in ("gauss", "heyoka"))
    assert theirs.method == "heyoka"
    assert theirs.trustworthy
    apart = np.linalg.norm(ours.positions - theirs.positions, axis=1)
    assert (apart <= ours.error_au + theirs.error_au).all()
    assert theirs.samples.positions == pytest.approx(ours.samples.positions, abs=1e-11)
    assert theirs.samples.velocities == pytest.approx(ours.samples.velocities, abs=1e-13)
    assert theirs.closest.distance_au[1, 2] == pytest.approx(ours.closest.distance_au[1, 2], rel=1e-3)


def test_heyoka_stops_and_merges_at_collisions() -> None:
    pytest.importorskip("heyoka", reason="heyoka is an extra and not installed")
    start = with_radii(pair(0.9999, 1e-6, axis=5, anomaly=180), 0.00465, 0.0)
    for policy in ("stop", "merge"):
        ours, theirs = (run_nbody(start, 3000, method=method, on_collision=policy) for method in ("gauss", "heyoka"))
        assert theirs.collisions[0].day == pytest.approx(ours.collisions[0].day, abs=1e-8)
        assert theirs.days == pytest.approx(ours.days, abs=1e-8)
