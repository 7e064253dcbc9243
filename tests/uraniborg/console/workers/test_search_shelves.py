"""Builds of shelves whose worker refuses, is killed, or is stopped with the server."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.forked_processes import SOON
from uraniborg.console.workers import shelf_builds
from uraniborg.console.workers.shelf_builds import ShelfBuilds
from uraniborg.kernel.processes.worker_dialogue import WorkerProcess, start_worker

KILLED_PARENT = """
import asyncio, json, os, signal, sys
from uraniborg.console.workers.shelf_builds import ShelfBuilds

class Feed:
    def publish(self, *_names, **facts):
        if facts.get("phase"):
            (build,) = builds._builds.values()
            print(build.worker.process.pid, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

async def main():
    papers = [{"title": f"Icy moons of planet {number}", "year": 2020} for number in range(10_000)]
    await builds.start("s", "moons", json.dumps(papers))
    await asyncio.sleep(600)

builds = ShelfBuilds(Feed())
asyncio.run(main())
"""
PAPERS = json.dumps([{"title": "Icy moons", "year": 2020}])

pytestmark = pytest.mark.usefixtures("forked_workers")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path))


async def wait_for_end(builds: ShelfBuilds) -> dict[str, Any]:
    async with asyncio.timeout(SOON):
        while builds.get("s")["state"] == "running":  # noqa: ASYNC110 - another process ends
            await asyncio.sleep(0.02)
    return {**builds.get("s")}


async def test_papers_that_cannot_be_read_fail_the_build_with_the_message_of_the_worker() -> None:
    builds = ShelfBuilds()
    await builds.start("s", "moons", "{")
    failed = await wait_for_end(builds)
    assert failed["state"] == "failed"
    assert failed["error"].startswith("The inputs contain no papers, so no shelf was built.")
    assert failed["hint"]
    await builds.stop()


async def test_a_worker_that_is_killed_fails_its_build(monkeypatch: pytest.MonkeyPatch) -> None:
    async def start_and_kill(module: str) -> WorkerProcess[Any, Any, Any]:
        worker = await start_worker(module)
        worker.kill()
        return worker

    monkeypatch.setattr(shelf_builds, "start_worker", start_and_kill)
    builds = ShelfBuilds()
    await builds.start("s", "moons", PAPERS)
    failed = await wait_for_end(builds)
    assert (failed["state"], failed["error"]) == ("failed", "The build ended early.")
    await builds.stop()


async def test_stopping_the_server_ends_its_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    workers: list[WorkerProcess[Any, Any, Any]] = []

    async def start(module: str) -> WorkerProcess[Any, Any, Any]:
        workers.append(await start_worker(module))
        return workers[0]

    monkeypatch.setattr(shelf_builds, "start_worker", start)
    builds = ShelfBuilds()
    await builds.start("s", "moons", PAPERS)
    async with asyncio.timeout(SOON):
        while not workers:  # noqa: ASYNC110
            await asyncio.sleep(0)
    await builds.stop()
    assert workers[0].process.returncode is not None
    assert builds.get("s")["state"] != "running"


async def test_a_build_ends_with_the_server_that_is_killed_and_leaves_no_shelf() -> None:
    command = [sys.executable, "-c", KILLED_PARENT]
    killed = await asyncio.to_thread(subprocess.run, command, stdout=subprocess.PIPE, check=False)
    assert killed.returncode == -signal.SIGKILL
    async with asyncio.timeout(SOON):
        while Path(f"/proc/{int(killed.stdout)}").exists():  # noqa: ASYNC110 - another process ends
            await asyncio.sleep(0.02)
    assert [target["name"] for target in shelf_builds.list_shelf_targets()] == []
