"""`python -m universe.service.jobs.worker`: compute one job in a process of its own and store the result."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict

import orjson

from universe.service.jobs.job_store import JobStore
from universe.service.jobs.measurement import measure
from universe.service.jobs.options_and_replies import parse_job_options
from uraniborg.kernel.clock import format_now
from uraniborg.kernel.processes.worker_dialogue import WorkerRequest, answer_requests

_NICENESS = 5


class JobRequest(TypedDict):
    """The id of a stored job. The body of the request is the state of the universe, and the progress the part done."""

    path: str
    id: str
    title: str


JobEnd: TypeAlias = Literal["done", "cancelled"]


def main() -> None:
    """Compute the job of the request."""
    with suppress(OSError, AttributeError):
        os.nice(_NICENESS)  # the server stays responsive
    answer_requests(_compute)


def _compute(request: WorkerRequest[JobRequest, float, JobEnd]) -> JobEnd:
    store = JobStore(Path(request.content["path"]))
    try:
        job = store.get(request.content["id"])
        if job is None:
            return "cancelled"  # and deleted
        found = measure(
            orjson.loads(request.body),
            parse_job_options(job.options),
            universe_id=job.universe_id,
            version=job.version,
            title=request.content["title"],
            progress=request.report_progress,
        )
        return "done" if store.finish(job.id, format_now(), found) else "cancelled"
    finally:
        store.close()


if __name__ == "__main__":
    main()
