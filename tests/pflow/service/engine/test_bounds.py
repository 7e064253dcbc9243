"""The documented limits of the engine."""

# pyright: reportPrivateUsage=false

import os
import time
from pathlib import Path
from typing import Any

import pytest

from pflow.service.engine import run_reporter
from pflow.store import resume_point
from pflow.store.run_log_rows import format_masked_json
from pflow.store.run_recorder import remove_old_spools
from tests.pflow.service.engine.counting_home import Home, build_graph, chain, node
from tests.requirements import requirement

DAY_S = 24 * 3600
CROWD = """
import asyncio

now, most, full = 0, 0, asyncio.Event()


async def meet(params, context):
    global now, most
    now += 1
    most = max(most, now)
    if now == 100:
        full.set()
    async with asyncio.timeout(20):
        await full.wait()
    await asyncio.sleep(0.05)
    now -= 1
    return {"most": most}
"""
MEETING: dict[str, Any] = {
    "type": "meeting",
    "description": "Waits until a hundred are there.",
    "run": "crowd.py:meet",
    "outputs": {"most": "int"},
    "effect": "pure",
}


def test_a_hundred_nodes_of_a_workflow_run_at_the_same_time_and_no_more(home: Home) -> None:
    home.record_nodes("crowd", [MEETING], CROWD)
    names = [f"n{number}" for number in range(150)]
    nodes = [node("start"), *(node(name, "meeting") for name in names)]
    outputs = {name: {"source": f"${{{name}.most}}"} for name in names}
    reply: Any = home.run(build_graph(nodes, *(f"start>{name}" for name in names), outputs=outputs)).reply()
    assert max(reply["outputs"].values()) == 100


@requirement("PF-E10")
@pytest.mark.parametrize(("later_s", "is_reused"), [(DAY_S - 60, True), (DAY_S + 60, False)])
def test_a_failed_run_is_resumed_for_a_day(
    home: Home, monkeypatch: pytest.MonkeyPatch, later_s: float, is_reused: bool
) -> None:
    ir = chain(node("a", "effect"), node("end"))
    home.order("fail-end")
    first = home.run(ir)
    home.clear_orders()
    now = time.time
    monkeypatch.setattr("time.time", lambda: now() + later_s)
    second = home.run(ir)
    assert second.success
    assert second.progress.reused == (["a"] if is_reused else [])
    assert second.resumed_from == (first.run_id if is_reused else None)
    assert [text for text in second.warnings if "has expired" in text] == (
        [] if is_reused else ["The checkpoint of 'flow' has expired: every node runs."]
    )
    assert resume_point.HOURS == 24.0


def test_long_output_is_stored_for_a_week(tmp_path: Path) -> None:
    for name, days in (("young", 6.9), ("old", 7.1)):
        folder = tmp_path / "spool" / name
        folder.mkdir(parents=True)
        then = time.time() - days * DAY_S
        os.utime(folder, (then, then))
    remove_old_spools(tmp_path)
    assert [folder.name for folder in (tmp_path / "spool").iterdir()] == ["young"]


def test_a_value_in_the_log_of_runs_has_a_hundred_thousand_characters_and_an_output_twenty_thousand_bytes() -> None:
    assert format_masked_json("x" * 99_998) == f'"{"x" * 99_998}"'
    assert str(format_masked_json("x" * 99_999)).startswith('{"characters": 100001, "beginning": ')
    assert run_reporter._replace_large_values({"a": "x" * 19_998, "b": "x" * 19_999}) == {
        "a": "x" * 19_998,
        "b": {"bytes": 20_001},
    }
