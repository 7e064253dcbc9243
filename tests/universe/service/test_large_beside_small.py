"""A universe of 100,000 bodies beside small ones: nothing waits for long, whatever is done to any of them."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any, Final

import pytest

from tests.universe.domain.samples import a_body
from universe.service.state_views import BodyPositions
from universe.service.universes import UniverseService
from universe.store.sqlite import SqliteStore

BODIES: Final = 100_000
SMALL: Final = 4
COMMANDS: Final = 1_000
STALL_S: Final = 20.0
"""Far above the time of every operation: the slowest prepare all orbits, which takes a few seconds."""


def make_large_state() -> dict[str, Any]:
    """Return stars with nine planets each."""
    stars: dict[str, Any] = {}
    for number in range(BODIES):
        star = number - number % 10
        parent = {"parentId": f"b{star}"} if number % 10 else {"parentId": None}
        source = {"id": "survey", "title": "A survey of planets", "authors": ["Tycho Brahe"], "fields": ["mass"]}
        stars[f"b{number}"] = {**a_body(f"b{number}"), **parent, "children": [], "sources": [source]}
        if number % 10:
            stars[f"b{star}"]["children"].append(f"b{number}")
    return {"stars": stars, "rootIds": [f"b{number}" for number in range(0, BODIES, 10)]}


@pytest.mark.soak
async def test_no_command_undo_or_branch_stalls_in_a_large_universe_and_small_ones_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times: dict[str, list[float]] = defaultdict(list)
    longest_turn = 0.0
    positions = BodyPositions()

    async def take(name: str, work: Callable[[], Awaitable[Any]]) -> None:
        started = time.perf_counter()
        async with asyncio.timeout(STALL_S):
            await work()
        times[name].append(time.perf_counter() - started)

    async def send(universe: str, command: dict[str, Any]) -> None:
        await take(f"{universe}: {command['type']}", lambda: service.send(universe, command))

    async def change_small(universe: str) -> None:
        for number in range(COMMANDS):
            await send(universe, {"type": "updateStar", "id": "sun", "payload": {"mass": float(number)}})
            if number % 20 == 0:
                await take("small: undo", lambda: service.undo(universe))
            if number % 100 == 0:
                await take("small: branch", lambda: service.branch(universe))

    async def change_large() -> None:
        payload = {name: value for name, value in a_body("x").items() if name not in ("id", "children")}
        for number in range(COMMANDS):
            key = f"b{number * 7919 % BODIES}"
            await send("large", {"type": "updateStar", "id": key, "payload": {"name": f"New {number}"}})
            if number % 20 == 0:
                await send(
                    "large", {"type": "addStar", "id": f"new-{number}", "payload": {**payload, "parentId": "b0"}}
                )
                await take("large: undo", lambda: service.undo("large"))
            if number % 50 == 0:
                await send("large", {"type": "removeStar", "id": f"b{number * 10 + 9}"})
                await take("large: undo", lambda: service.undo("large"))
                await take("large: branch", lambda: service.branch("large"))

    async def locate_large() -> None:
        while not changes.done():
            replica = (await service.view("large")).replica
            await take("large: positions", lambda replica=replica: positions.compute_at("large", replica, 0.0))
            await asyncio.sleep(0.05)

    async def watch_loop() -> None:
        nonlocal longest_turn
        while not changes.done():
            started = time.perf_counter()
            await asyncio.sleep(0.01)
            longest_turn = max(longest_turn, time.perf_counter() - started)

    async with UniverseService(SqliteStore(tmp_path / "universes.db")).running() as service:
        await service.create("Large", make_large_state(), universe_id="large")
        small = [f"small {number}" for number in range(SMALL)]
        for universe in small:
            await service.create(universe, {"stars": {"sun": a_body("sun")}, "rootIds": ["sun"]}, universe_id=universe)
        await service.view("large")
        changes = asyncio.gather(change_large(), *(change_small(universe) for universe in small))
        await asyncio.gather(changes, locate_large(), watch_loop())
        versions = [(await service.read_record(universe)).version for universe in small]
        large = await service.read_record("large")
    assert versions == [1 + COMMANDS + COMMANDS // 20] * SMALL
    assert large.version == 1 + COMMANDS + 2 * COMMANDS // 20 + 2 * COMMANDS // 50
    with capsys.disabled():
        print(f"\n  longest turn of the loop {longest_turn * 1e3:.0f} ms")
        for name, taken in sorted(times.items()):
            middle, longest = median(taken) * 1e3, max(taken) * 1e3
            print(f"  {name:<24} {len(taken):>5}  median {middle:7.1f} ms  longest {longest:7.1f} ms")
