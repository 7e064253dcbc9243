"""Runs that are killed at random moments: no effect is missing, and no finished effect is repeated."""

import os
from pathlib import Path

import pytest

from tests.pflow.service.engine.killed_runs import SABOTAGES
from tests.pflow.service.engine.random_kills import Report, kill_at_random
from tests.requirements import requirement

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the runs are forked")


def check_report(report: Report, kills: int) -> None:
    assert report.problems == []
    assert report.kills >= kills
    assert report.successes > kills / 20


@requirement("PF-E10")
@pytest.mark.parametrize("seed", [1, 2])
def test_no_effect_is_missing_or_repeated_after_kills_at_random_instants(seed: int, tmp_path: Path) -> None:
    check_report(kill_at_random(tmp_path, 10, seed), 10)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [11, 12, 13, 14])
def test_no_effect_is_missing_or_repeated_after_many_kills(seed: int, tmp_path: Path) -> None:
    report = kill_at_random(tmp_path, 50, seed)
    check_report(report, 50)
    assert len(report.kills_by_progress) > 4, "the kills came at all stages of the runs"


@pytest.mark.parametrize("sabotage", SABOTAGES)
def test_every_injected_fault_of_the_engine_is_detected(sabotage: str, tmp_path: Path) -> None:
    assert any(kill_at_random(tmp_path / str(seed), 10, seed, sabotage).problems for seed in range(8))
