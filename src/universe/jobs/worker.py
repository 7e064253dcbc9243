"""`python -m universe.jobs.worker`: computes one job in a process of its own and stores the result."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

import orjson

from universe.jobs.measurement import measure
from universe.jobs.options import parse_job_options
from universe.jobs.store import JobStore
from uraniborg.kernel.clock import format_now
from uraniborg.kernel.worker_child import Request, answer_requests

_NICENESS = 5


class JobRequest(TypedDict):
    """The job. The body of the request is the state of the universe, and the progress the fraction that is done."""

    path: str
    id: str
    universe_id: str
    version: int
    title: str
    options: dict[str, Any]


JobEnd: TypeAlias = Literal["done", "cancelled"]


def main() -> None:
    """Compute the job of the request."""
    with suppress(OSError, AttributeError):
        os.nice(_NICENESS)  # the server stays responsive
    answer_requests(_compute)


def _compute(request: Request[JobRequest, float, JobEnd]) -> JobEnd:
    job = request.content
    store = JobStore(Path(job["path"]))
    try:
        found = measure(
            orjson.loads(request.body),
            parse_job_options(job["options"]),
            universe_id=job["universe_id"],
            version=job["version"],
            title=job["title"],
            progress=request.report_progress,
        )
        return "done" if store.finish(job["id"], format_now(), found) else "cancelled"
    finally:
        store.close()


if __name__ == "__main__":
    main()
