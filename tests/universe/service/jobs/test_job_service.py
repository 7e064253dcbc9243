"""The service of jobs: results, failures, cancellation, and jobs of processes that have ended."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import pytest

from tests.universe.actors import name_actor
from universe.domain.systems import load_system
from universe.errors import (
    JobActive,
    JobEnded,
    JobNotDone,
    JobNotFound,
    MalformedRequest,
    UniverseNotFound,
    VersionNotFound,
)
from universe.service.jobs.job_service import FEED_KIND, JobService
from universe.service.jobs.job_store import JobStore, StoredJob
from universe.service.jobs.measurement import summarise_reply
from universe.service.universes import UniverseService
from universe.store.factory import make_store
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.errors import InvalidInput, NotFound
from uraniborg.kernel.store.change_feed import ChangeFeed, ChangeReader

SOON_S: Final = 40
SHORT: Final = {"kind": "nbody", "days": 3, "bodies": ["trappist-1", "trappist-1-b", "trappist-1-c"]}
LONG: Final = {"kind": "nbody", "days": 36_525}

pytestmark = pytest.mark.usefixtures("forked_workers")


@pytest.fixture
async def universes(tmp_path: Path) -> AsyncIterator[UniverseService]:
    async with UniverseService(SqliteStore(tmp_path / "universes.db")).running() as service:
        await service.create("TRAPPIST-1", load_system("trappist-1"), universe_id="t1")
        yield service


@pytest.fixture
async def jobs(universes: UniverseService) -> AsyncIterator[JobService]:
    async with JobService(universes).running() as service:
        yield service


async def wait_for_end(jobs: JobService, job: StoredJob) -> StoredJob:
    async with asyncio.timeout(SOON_S):
        return await jobs.wait(job.universe_id, job.id)


async def wait_until_running(jobs: JobService, job: StoredJob) -> None:
    async with asyncio.timeout(SOON_S):
        async for one in jobs.watch(job.universe_id, job.id):
            if one is not None and one.state == "running" and one.progress > 0:
                return


async def test_a_run_is_stored_with_its_universe_version_start_method_error_verdict_and_trajectory(
    jobs: JobService,
) -> None:
    job = await wait_for_end(jobs, await jobs.create("t1", SHORT, actor=name_actor("Tycho")))
    assert (job.state, job.universe_id, job.version, job.author, job.progress) == (*("done", "t1", 1, "Tycho", 1.0),)
    summary: Any = job.summary
    assert (summary["time"], summary["method"], summary["trustworthy"]) == (0, "gauss", True)
    assert 0 < summary["errorDegrees"] < 1e-6
    result = orjson.loads(await jobs.read_result("t1", job.id))
    assert (result["id"], result["version"], result["verdict"]) == ("t1", 1, summary["verdict"])
    assert (await jobs.read_plot("t1", job.id)).startswith(b"<svg")
    layout, states = await jobs.read_trajectory("t1", job.id, first=0, limit=1_000)
    found = np.frombuffer(states, "<f4").reshape(-1, 3, 6)
    start = [result["start"][key] for key in layout["ids"]]
    assert np.allclose(found[0, :, :3], [one["position"] for one in start], rtol=1e-6)
    assert np.allclose(found[0, :, 3:], [one["velocity"] for one in start], rtol=1e-6)
    assert (layout["returned"], layout["next"]) == (1_000, 1_000)
    rest, _ = await jobs.read_trajectory("t1", job.id, first=1_000, limit=1_000)
    assert (rest["returned"], rest["next"], rest["count"]) == (1, None, 1_001)
    assert (layout["error"]["trappist-1-b"]["degrees"] or 1) < 1e-6


async def test_transits_and_velocities_are_stored_like_runs_but_have_no_trajectory(jobs: JobService) -> None:
    made = [
        await jobs.create("t1", {"kind": "transits", "days": 5, "bodies": ["b"]}, actor=name_actor("Tycho")),
        await jobs.create("t1", {"kind": "rv", "days": 5, "samples": 10}, actor=name_actor("Tycho")),
    ]
    transits, velocities = [await wait_for_end(jobs, job) for job in made]
    assert (transits.summary or {})["headline"] == "3 transits of 1 of 1 planets"
    assert len(orjson.loads(await jobs.read_result("t1", velocities.id))["samples"]["times"]) == 10
    with pytest.raises(JobNotDone, match="A job of the kind rv has no such result"):
        await jobs.read_trajectory("t1", velocities.id, first=0, limit=1)


def test_transits_that_cannot_be_computed_are_unknown_and_not_zero() -> None:
    planet: dict[str, Any] = {"name": "b", "transits": [], "errorSeconds": None, "status": "tilt of the orbit unknown"}
    reply: dict[str, Any] = {"time": 0, "epochJulianDate": None, "days": 5, "method": "gauss", "planets": {"b": planet}}
    assert summarise_reply("transits", reply)["headline"] == "transits unknown: tilt of the orbit unknown"
    planet["status"] = "does not transit"
    assert summarise_reply("transits", reply)["headline"] == "0 transits of 0 of 1 planets"


async def test_jobs_of_a_postgres_database_are_stored_in_the_data_folder_and_outlive_the_service(
    postgres_dsn: str, tmp_path: Path
) -> None:
    async with UniverseService(make_store(postgres_dsn)).running() as universes:
        await universes.create("TRAPPIST-1", load_system("trappist-1"), universe_id="t1")
        await universes.send("t1", {"type": "updateStar", "id": "trappist-1-b", "payload": {"name": "B"}})
        async with JobService(universes, max_running=1).running() as jobs:
            done = await wait_for_end(jobs, await jobs.create("t1", {**SHORT, "version": 1}, actor=name_actor("Tycho")))
            assert (done.state, done.version) == ("done", 1)
            running = await jobs.create("t1", LONG, actor=name_actor("Tycho"))
            await wait_until_running(jobs, running)
    async with (
        UniverseService(make_store(postgres_dsn)).running() as universes,
        JobService(universes).running() as jobs,
    ):
        stopped = await jobs.get("t1", running.id)
        assert (stopped.state, (stopped.error or {})["code"]) == ("failed", "server_stopped")
        reply = orjson.loads(await jobs.read_result("t1", done.id))
        assert (reply["id"], reply["version"], reply["trustworthy"]) == ("t1", 1, True)
        (found,) = (tmp_path / "home").rglob("*.jobs")
        assert found.is_file()
        await universes.delete("t1")
        async with asyncio.timeout(SOON_S):
            while await jobs.list_jobs():  # noqa: ASYNC110 - there is no event to wait for
                await asyncio.sleep(0.01)


async def test_a_job_uses_the_version_that_it_names(universes: UniverseService, jobs: JobService) -> None:
    await universes.send("t1", {"type": "updateStar", "id": "trappist-1-b", "payload": {"mass": 0.0}})
    old = await wait_for_end(jobs, await jobs.create("t1", {**SHORT, "version": 1}, actor=name_actor("Tycho")))
    new = await wait_for_end(jobs, await jobs.create("t1", SHORT, actor=name_actor("Tycho")))
    assert (old.version, new.version) == (1, 2)
    masses = [orjson.loads(await jobs.read_result("t1", job.id))["start"]["trappist-1-b"]["mass"] for job in (old, new)]
    assert masses[0] > 0 == masses[1]
    compared = await jobs.compare("t1", old.id, new.id, "t1")
    assert compared["labels"] == ["t1 version 1", "t1 version 2"]


@pytest.mark.parametrize(
    ("universe_id", "options", "error"),
    [
        ("t1", {"kind": "spectrum"}, MalformedRequest),
        ("t1", {"kind": "nbody", "days": float("nan")}, MalformedRequest),
        ("t1", {"kind": "nbody", "surplus": 1}, MalformedRequest),
        ("t1", [], MalformedRequest),
        ("t1", {"kind": "nbody", "bodies": ["vulcan"]}, NotFound),
        ("t1", {"kind": "rv", "star": "vulcan"}, NotFound),
        ("t1", {**SHORT, "version": 7}, VersionNotFound),
        ("t2", SHORT, UniverseNotFound),
    ],
)
async def test_a_job_that_cannot_start_is_refused_at_once_and_not_stored(
    jobs: JobService, universe_id: str, options: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await jobs.create(universe_id, options, actor=name_actor("Tycho"))
    assert await jobs.list_jobs() == []


async def test_a_computation_that_is_refused_is_a_failed_job_with_the_same_error(jobs: JobService) -> None:
    job = await wait_for_end(jobs, await jobs.create("t1", {"kind": "nbody", "days": 1e9}, actor=name_actor("Tycho")))
    assert job.state == "failed"
    error: Any = job.error
    assert (error["code"], error["argument"]) == ("invalid_argument", "days")
    with pytest.raises(JobNotDone):
        await jobs.read_result("t1", job.id)


async def test_a_job_fails_after_its_time_limit(jobs: JobService) -> None:
    job = await wait_for_end(jobs, await jobs.create("t1", {**LONG, "maxSeconds": 0.2}, actor=name_actor("Tycho")))
    assert job.state == "failed"
    assert "0.2 seconds, the limit" in (job.error or {})["message"]


async def test_running_and_queued_jobs_are_cancelled_and_cannot_be_deleted_before(universes: UniverseService) -> None:
    async with JobService(universes, max_running=1).running() as jobs:
        first, second = [await jobs.create("t1", LONG, actor=name_actor("Tycho")) for _ in range(2)]
        await wait_until_running(jobs, first)
        assert (await jobs.get("t1", second.id)).state == "queued"
        with pytest.raises(JobActive):
            await jobs.delete("t1", first.id)
        assert [(await jobs.cancel("t1", one.id)).state for one in (second, first)] == ["cancelled"] * 2
        with pytest.raises(JobEnded):
            await jobs.cancel("t1", first.id)
        # The worker of the cancelled job is free again.
        assert (await wait_for_end(jobs, await jobs.create("t1", SHORT, actor=name_actor("Tycho")))).state == "done"
        await jobs.delete("t1", first.id)
        with pytest.raises(JobNotFound):
            await jobs.get("t1", first.id)


async def test_a_job_is_cancelled_by_another_process_than_its_own(universes: UniverseService, jobs: JobService) -> None:
    job = await jobs.create("t1", LONG, actor=name_actor("Tycho"))
    await wait_until_running(jobs, job)
    async with JobService(universes).running() as other:
        assert (await other.cancel("t1", job.id)).state == "cancelled"
    assert (await wait_for_end(jobs, job)).state == "cancelled"


async def test_a_worker_that_is_killed_fails_its_job(jobs: JobService) -> None:
    job = await jobs.create("t1", LONG, actor=name_actor("Tycho"))
    await wait_until_running(jobs, job)
    work = jobs._workers._work[job.id]  # pyright: ignore[reportPrivateUsage]
    assert work.worker is not None
    os.kill(work.worker.process.pid, signal.SIGKILL)
    ended = await wait_for_end(jobs, job)
    assert (ended.state, (ended.error or {})["code"]) == ("failed", "worker_ended")
    assert "signal 9" in (ended.error or {})["message"]


async def test_a_stopped_service_fails_its_jobs_and_leaves_no_process(universes: UniverseService) -> None:
    async with JobService(universes).running() as jobs:
        job = await jobs.create("t1", LONG, actor=name_actor("Tycho"))
        await wait_until_running(jobs, job)
        worker = jobs._workers._work[job.id].worker  # pyright: ignore[reportPrivateUsage]
    assert worker is not None
    assert worker.process.returncode == -signal.SIGKILL
    async with JobService(universes).running() as jobs:
        ended = await jobs.get("t1", job.id)
    assert (ended.state, (ended.error or {})["code"]) == ("failed", "server_stopped")
    assert "the server stopped" in (ended.error or {})["message"]


_OWNER: Final = """
import sys
from pathlib import Path
from universe.service.jobs.job_store import JobStore, StoredJob
store = JobStore(Path(sys.argv[1]))
lease = store.acquire_owner_lock("lost")
store.add(StoredJob("job_lost", "t1", 1, "nbody", {}, "Tycho", "2026-01-01T00:00:00Z", "lost"))
store.start("job_lost", "2026-01-01T00:00:00Z")
print("started", flush=True)
sys.stdin.read()
"""


async def test_a_job_whose_process_died_is_running_until_then_and_failed_afterwards(universes: UniverseService) -> None:
    path = JobStore.make_for(universes.store).path
    command = [sys.executable, "-c", _OWNER, str(path)]
    owner = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert owner.stdout is not None
    assert await owner.stdout.readline() == b"started\n"
    async with JobService(universes).running() as jobs:
        assert (await jobs.get("t1", "job_lost")).state == "running"
        owner.kill()
        await owner.wait()
        ended = await jobs.get("t1", "job_lost")
        assert (ended.state, (ended.error or {})["code"]) == ("failed", "server_stopped")
        assert [job.state for job in await jobs.list_jobs(state="running")] == []


async def test_jobs_are_announced_in_the_change_feed(universes: UniverseService, tmp_path: Path) -> None:
    reader = ChangeReader(tmp_path / "changes")
    async with JobService(universes, feed=ChangeFeed(tmp_path / "changes")).running() as jobs:
        job = await wait_for_end(jobs, await jobs.create("t1", SHORT, actor=name_actor("Tycho")))
    changes = [one for one in reader.read() if one.kind == FEED_KIND]
    reader.close()
    states = list(dict.fromkeys(one.facts["state"] for one in changes))
    assert states == ["queued", "running", "done"]
    assert {one.subject for one in changes} == {job.id}
    assert {one.facts["universeId"] for one in changes} == {"t1"}


async def test_the_jobs_of_a_deleted_universe_are_deleted(universes: UniverseService, jobs: JobService) -> None:
    job = await wait_for_end(jobs, await jobs.create("t1", SHORT, actor=name_actor("Tycho")))
    await universes.delete("t1")
    async with asyncio.timeout(SOON_S):
        while await jobs.list_jobs():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)
    with pytest.raises(JobNotFound):
        await jobs.get("t1", job.id)


async def test_jobs_are_listed_newest_first_in_pages_and_found_by_the_beginning_of_their_ids(
    universes: UniverseService, jobs: JobService
) -> None:
    path = JobStore.make_for(universes.store).path
    store = JobStore(path)
    for number in range(5):
        at = f"2026-01-01T00:00:0{number}Z"
        store.add(StoredJob(f"job_{number}x", "t1", 1, "nbody", {}, "Tycho", at, "lost"))
    store.close()
    first = await jobs.list_jobs("t1", limit=3)
    assert [job.id for job in first] == ["job_4x", "job_3x", "job_2x"]
    rest = await jobs.list_jobs("t1", limit=3, before=(first[-1].created_at, first[-1].id))
    assert [job.id for job in rest] == ["job_1x", "job_0x"]
    assert (await jobs.find("job_3")).id == "job_3x"
    with pytest.raises(InvalidInput, match="several jobs"):
        await jobs.find("job_")
    with pytest.raises(JobNotFound):
        await jobs.find("")
    with pytest.raises(UniverseNotFound):
        await jobs.list_jobs("t2")


async def test_the_oldest_ended_jobs_are_deleted_but_not_active_jobs_or_those_of_a_story(
    universes: UniverseService, tmp_path: Path
) -> None:
    store = JobStore.make_for(universes.store)
    for number in range(6):
        at = f"2026-01-01T00:00:0{number}Z"
        job = StoredJob(f"job_{number}", "t1", 1, "nbody", {}, "Tycho", at, "lost", is_kept=number == 0)
        store.add(job)
        store.cancel(job.id, at, name_actor("Tycho"))
    store.close()
    reader = ChangeReader(tmp_path / "changes")
    async with JobService(universes).running() as jobs:  # without a limit
        assert len(await jobs.list_jobs("t1")) == 6
    async with JobService(universes, max_ended=3, feed=ChangeFeed(tmp_path / "changes")).running() as jobs:
        assert [job.id for job in await jobs.list_jobs("t1")] == ["job_5", "job_4", "job_3", "job_0"]
        started = await jobs.create("t1", SHORT, actor=name_actor("Tycho"), job_id="job_story")
        assert (await wait_for_end(jobs, started)).state == "done"
        later = await jobs.cancel("t1", (await jobs.create("t1", LONG, actor=name_actor("Tycho"))).id)
        await jobs.cancel("t1", (await jobs.create("t1", LONG, actor=name_actor("Tycho"))).id)
        found = [job.id for job in await jobs.list_jobs("t1")]
        assert found[1:] == [later.id, "job_story", "job_5", "job_4", "job_0"]
        assert await jobs.read_result("t1", "job_story")
    assert [one.subject for one in reader.read() if one.facts.get("deleted")] == ["job_2", "job_1", "job_3"]
    reader.close()


async def test_no_file_is_made_before_the_first_job(universes: UniverseService, tmp_path: Path) -> None:
    async with JobService(universes).running() as jobs:
        assert await jobs.list_jobs("t1") == []
        with pytest.raises(JobNotFound):
            await jobs.get("t1", "job_x")
    assert [one.name for one in tmp_path.iterdir() if "jobs" in one.name] == []
