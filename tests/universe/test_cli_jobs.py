"""The commands `jobs` and `job`."""

import asyncio
from pathlib import Path

from tests.universe.actors import name_actor
from tests.universe.command_line import RunUniverse
from universe.config import load_config
from universe.service.jobs.job_service import JobService
from universe.service.universes import UniverseService
from universe.store.factory import make_store


def compute_job(days: float = 2) -> str:
    """Compute a job as a server does, and return its id."""

    async def compute() -> str:
        async with (
            UniverseService(make_store(load_config().database_address)).running() as service,
            JobService(service).running() as jobs,
        ):
            options = {"kind": "nbody", "days": days, "bodies": ["trappist-1", "trappist-1-b"]}
            job = await jobs.create("t1", options, actor=name_actor("Tycho"))
            return (await asyncio.wait_for(jobs.wait("t1", job.id), 40)).id

    return asyncio.run(compute())


def test_a_job_is_listed_shown_drawn_and_deleted(run_universe: RunUniverse, tmp_path: Path) -> None:
    run_universe("new", "--from", "trappist-1", "--id", "t1")
    assert run_universe("jobs").out == "There are no jobs. Servers start them: POST /universes/{id}/jobs\n"
    job_id = compute_job()
    assert [job["id"] for job in run_universe("jobs", "t", "--json").json["jobs"]] == [job_id]
    listed = run_universe("jobs").out
    assert f"{job_id[:12]}  t1@1" in listed
    assert "2 days:" in listed
    shown = run_universe("job", job_id[:12], "--plot", "chart.svg")
    assert "Universe t1 at version 1, 2 days; started by Tycho, by account" in shown.out
    assert "During the 2 days of this run" in shown.out
    assert (tmp_path / "chart.svg").read_text().startswith("<svg")
    assert run_universe("job", job_id, "--json").json["result"]["days"] == 2.0
    refused = run_universe("job", job_id, "--cancel", "--json")
    assert (refused.code, refused.error["code"]) == (4, "job_ended")
    assert run_universe("job", job_id, "--delete").out == f"Deleted {job_id}.\n"
    assert run_universe("job", job_id, "--json").error["code"] == "job_not_found"


def test_options_of_a_job_that_do_not_fit_are_refused(run_universe: RunUniverse) -> None:
    assert run_universe("job", "x", "--cancel", "--delete", "--json").error["code"] == "usage"
    assert run_universe("job", "x", "--plot", "chart.png", "--json").error["code"] == "usage"
