"""Where heyoka is installed it gives the same answers; where it is not, the error says how to install it."""

import sys

import numpy as np
import pytest

from tests.universe.nbody.sample_starts import giants, pair, with_radii
from universe.nbody.heyoka_method import _compile  # pyright: ignore[reportPrivateUsage]
from universe.nbody.runs import run
from uraniborg.kernel.errors import MissingExtra


def test_without_heyoka_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    _compile.cache_clear()
    monkeypatch.setitem(sys.modules, "heyoka", None)
    with pytest.raises(MissingExtra, match="'nbody'"):
        run(pair(), 10, method="heyoka")


@pytest.mark.parametrize("relativity", [False, True])
def test_heyoka_agrees_with_the_default_within_the_errors(relativity: bool) -> None:
    pytest.importorskip("heyoka", reason="heyoka is an extra and not installed")
    ours, theirs = (run(giants(), -4000, method=method, relativity=relativity) for method in ("gauss", "heyoka"))
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
        ours, theirs = (run(start, 3000, method=method, on_collision=policy) for method in ("gauss", "heyoka"))
        assert theirs.collisions[0].day == pytest.approx(ours.collisions[0].day, abs=1e-8)
        assert theirs.days == pytest.approx(ours.days, abs=1e-8)
