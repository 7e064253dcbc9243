"""How the cost of one operation grows with the size of a universe.

Claim: a command, the undo of a command, a branch and GET of one body cost at 100,000 bodies at most twice of what they
cost at 1,000. Loading, memory and disk grow with the number of bodies. Positions of all bodies grow with it, too;
positions after a command cost as much as without one.

python bench/bench_universe_growth.py --quick     100 and 1,000 bodies only, without stored ratios
"""

import argparse
import asyncio
import gc
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

import httpx
from ratios import record_ratio
from universes import folder, planetary_systems

from universe.api.event_stream import EventStreams
from universe.api.rest import make_rest_app
from universe.service.jobs.job_service import JobService
from universe.service.state_views import BodyPositions
from universe.service.universes import UniverseService
from universe.store.replica import rebuild_replica
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.http.uvicorn_server import tune_garbage_collection

SIZES: Final = (1_000, 10_000, 100_000)
QUICK_SIZES: Final = (100, 1_000)
REPEATS: Final = 40
FLAT: Final = ("rename a body", "change an orbit", "undo", "branch", "GET one body")
"""Operations that must not grow."""
LIMIT: Final = 2.0

Row = dict[str, float]


class Universe:
    """A universe of one size behind its own REST app, with medians of CPU and wall times in milliseconds."""

    def __init__(self, rest: httpx.AsyncClient, service: UniverseService, bodies: int) -> None:
        self.rest = rest
        self.service = service
        self.bodies = bodies
        self.cpu: Row = {}
        self.wall: Row = {}
        self.number = 0

    async def load(self) -> None:
        await rebuild_replica(self.service.store, "bench")

    async def post(self, address: str, content: Any = None) -> None:
        (await self.rest.post(f"/universes/bench/{address}", json=content)).raise_for_status()

    async def get(self, address: str) -> None:
        (await self.rest.get(f"/universes/bench{address}")).raise_for_status()

    async def rename(self) -> None:
        self.number += 1
        await self._update(f"body-{self.number * 7 % self.bodies}", {"name": f"New {self.number}"})

    async def change_orbit(self) -> None:
        self.number += 1
        orbit = {"units": "astronomical", "semiMajorAxis": 1.0 + self.number, "period": 400.0 + self.number}
        await self._update(f"body-{self.number * 7 % (self.bodies // 10) * 10 + 3}", {"kepler": orbit})

    async def locate(self) -> None:
        await self.get("/positions?format=float32")

    async def _update(self, key: str, payload: dict[str, Any]) -> None:
        await self.post("commands?return=events", {"type": "updateStar", "id": key, "payload": payload})

    async def rename_and_locate(self) -> None:
        await self.rename()
        await self.locate()

    async def change_orbit_and_locate(self) -> None:
        await self.change_orbit()
        await self.locate()


OPERATIONS: Final[dict[str, tuple[Callable[[Universe], Awaitable[None]], int]]] = {
    "load": (Universe.load, 3),
    "rename a body": (Universe.rename, REPEATS),
    "change an orbit": (Universe.change_orbit, REPEATS),
    "undo": (lambda universe: universe.post("undo?return=events"), REPEATS),
    "branch": (lambda universe: universe.post("branch?return=record"), REPEATS),
    "GET one body": (lambda universe: universe.get("?ids=body-7"), REPEATS),
    "GET the state": (lambda universe: universe.get(""), 3),
    "positions": (Universe.locate, REPEATS // 4),
    "rename, then positions": (Universe.rename_and_locate, REPEATS // 4),
    "change an orbit, then positions": (Universe.change_orbit_and_locate, REPEATS // 4),
}


def read_memory_mb() -> float:
    """Return the resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def read_disk_mb(path: Path) -> float:
    """Return the size of the files in a folder."""
    return sum(one.stat().st_size for one in path.iterdir()) / 1e6


@asynccontextmanager
async def serve_universe(path: Path, bodies: int, space: Row) -> AsyncGenerator[Universe]:
    """Create a universe and load it; put the memory and the disk that it takes into `space`."""
    file = path / "bench.db"
    async with UniverseService(SqliteStore(file)).running() as service:
        await service.create("bench", planetary_systems(bodies), universe_id="bench")
    space["disk MB, new"] = read_disk_mb(path)
    gc.collect()
    before = read_memory_mb()
    async with UniverseService(SqliteStore(file)).running() as service:
        streams = EventStreams(service, heartbeat_s=15, stall_s=30)
        jobs = JobService(service)
        app = make_rest_app(service, streams, BodyPositions(), jobs, body_limit=10_000_000, heartbeat_s=15, stall_s=30)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=None) as rest:
            universe = Universe(rest, service, bodies)
            await universe.rename_and_locate()  # loads the universe
            gc.collect()
            space["memory MB"] = read_memory_mb() - before
            yield universe
    space["disk MB, used"] = read_disk_mb(path)


async def measure_operation(universes: list[Universe], name: str) -> None:
    """Measure an operation, universe after universe, so that a machine that slows down slows down all of them."""
    work, repeats = OPERATIONS[name]
    times: dict[int, list[tuple[float, float]]] = {universe.bodies: [] for universe in universes}
    for _ in range(repeats):
        for universe in universes:
            if repeats < REPEATS // 4:
                gc.collect()  # the garbage of another universe
            cpu_started, started = time.process_time(), time.perf_counter()
            await work(universe)
            times[universe.bodies].append((time.process_time() - cpu_started, time.perf_counter() - started))
    for universe in universes:
        cpu, wall = zip(*times[universe.bodies], strict=True)
        universe.cpu[name], universe.wall[name] = median(cpu) * 1_000, median(wall) * 1_000


def print_table(title: str, rows: dict[int, Row], names: list[str]) -> None:
    sizes = list(rows)
    print(f"  {title:<34}" + "".join(f"{size:>14,}" for size in sizes) + "         last to first")
    for name in names:
        values = [rows[size][name] for size in sizes]
        print(f"  {name:<34}" + "".join(f"{value:>14.3f}" for value in values) + f"{values[-1] / values[0]:>20.2f}")


async def run(sizes: tuple[int, ...]) -> dict[int, Row]:
    """Print the tables and return the CPU times by size."""
    tune_garbage_collection()  # as the server does when it starts
    space: dict[int, Row] = {size: {} for size in sizes}
    async with AsyncExitStack() as stack:
        universes = [
            await stack.enter_async_context(serve_universe(stack.enter_context(folder()), size, space[size]))
            for size in sizes
        ]
        for name in OPERATIONS:
            await measure_operation(universes, name)
    cpu = {universe.bodies: universe.cpu for universe in universes}
    print_table("CPU time, ms", cpu, list(OPERATIONS))
    print_table("wall time, ms", {universe.bodies: universe.wall for universe in universes}, list(OPERATIONS))
    print_table("space", space, list(space[sizes[0]]))
    return cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="measure small universes only")
    sizes = QUICK_SIZES if parser.parse_args().quick else SIZES
    cpu = asyncio.run(run(sizes))
    first, last = sizes[0], sizes[-1]
    for name in FLAT:
        ratio = cpu[last][name] / cpu[first][name]
        print(f"  {name}: {ratio:.2f}x at {last:,} bodies of the CPU time at {first:,} (claim {LIMIT:g})")
        if sizes == SIZES:
            record_ratio(f"{name} at 100,000 bodies to 1,000", ratio)


if __name__ == "__main__":
    main()
