"""The record of benchmark ratios: written by benchmarks, compared with the stored ratios by the runner."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parent.parent / "bench"


@pytest.fixture
def ratios(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("ratios", BENCH / "ratios.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "ratios", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "STORED", tmp_path / "stored.json")
    return module


def test_the_median_of_all_rounds_is_recorded(
    ratios: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in ratios.recording_environment(tmp_path / "record").items():
        monkeypatch.setenv(name, value)
    for ratio in (1.0, 9.0, 2.0):
        ratios.record_ratio("ours to theirs", ratio)
    assert ratios.read_recorded_ratios(tmp_path / "record") == {"ours to theirs": 2.0}


def test_a_benchmark_that_runs_alone_records_nothing(
    ratios: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("BENCH_RATIOS", raising=False)
    ratios.record_ratio("ours to theirs", 1.0)
    assert ratios.read_recorded_ratios(tmp_path / "record") == {}


def test_only_the_ratios_that_were_measured_are_replaced(ratios: ModuleType) -> None:
    ratios.store_ratios({"start": {"a": 1.0}, "http": {"b": 2.0}})
    ratios.store_ratios({"http": {"b": 3.0}, "skipped": {}})
    assert ratios.read_stored_ratios() == {"start": {"a": 1.0}, "http": {"b": 3.0}}


@pytest.mark.parametrize(("measured", "marked"), [(1.14, False), (1.16, True), (0.84, True)])
def test_a_ratio_that_moved_by_more_than_the_limit_is_marked(
    ratios: ModuleType, measured: float, *, marked: bool
) -> None:
    (change,) = ratios.compare_ratios({"start": {"a": 1.0}}, {"start": {"a": measured}})
    assert change.exceeds(0.15) is marked


def test_a_new_ratio_is_not_marked(ratios: ModuleType) -> None:
    (change,) = ratios.compare_ratios({}, {"start": {"a": 5.0}})
    assert change.relative is None
    assert not change.exceeds(0.15)


@pytest.mark.soak
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name",
    [
        "change_feed",
        "console_lists",
        "console_review",
        "decision_latency",
        "event_stream",
        "loop_blocking",
        "serve_start",
    ],
)
def test_the_benchmarks_of_the_server_run(name: str) -> None:
    subprocess.run([sys.executable, BENCH / f"bench_{name}.py", "--quick"], check=True)


def test_every_benchmark_that_records_ratios_has_stored_ones() -> None:
    stored = json.loads((BENCH / "ratios.json").read_text())
    recording = {
        path.stem.removeprefix("bench_") for path in BENCH.glob("bench_*.py") if "record_ratio(" in path.read_text()
    }
    assert recording == set(stored)
    assert all(re.fullmatch(r"[\w, :'@.-]+", name) for names in stored.values() for name in names)


def test_the_growth_of_universes_is_measured_in_quick_mode() -> None:
    command = [sys.executable, str(BENCH / "bench_universe_growth.py"), "--quick"]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    for operation in ("load", "rename a body", "undo", "branch", "GET one body", "positions", "memory MB", "disk MB"):
        assert re.search(rf"^  {operation}.* \d", printed, re.MULTILINE), printed
    assert len(re.findall(r"x at 1,000 bodies of the CPU time at 100 \(claim 2\)", printed)) == 5
