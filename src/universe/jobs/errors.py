"""Errors that jobs raise.

UraniborgError
├── InvalidInput
│   └── JobFailed         job_failed: the job ended without a result; `reason` is the code of its error
├── NotFound
│   └── JobNotFound       job_not_found
├── Conflict
│   ├── JobNotDone        job_not_done: the job has no result, or not yet; `state` is its state
│   ├── JobEnded          job_ended: only an active job can be cancelled
│   └── JobActive         job_active: only a job that has ended can be deleted
└── Unavailable
    └── TooManyJobs       too_many_jobs: too many jobs are waiting
"""

from collections.abc import Sequence

from uraniborg.kernel.errors import Conflict, InvalidInput, NotFound, Unavailable
from uraniborg.kernel.suggestions import format_did_you_mean


class JobFailed(InvalidInput):
    code = "job_failed"


class JobNotFound(NotFound):
    code = "job_not_found"

    def __init__(self, universe_id: str | None, job_id: str, nearest: Sequence[str] = ()) -> None:
        """Make the error; with None, no universe has the job. `nearest` are similar ids."""
        super().__init__(
            f"{'There is' if universe_id is None else f'Universe {universe_id[:100]} has'} no job {job_id[:100]}.",
            hint=f"{format_did_you_mean(nearest)}GET /universes/{{id}}/jobs, the resource "
            "universe://universes/{id}/jobs and `universe jobs` list the jobs.",
            jobId=job_id[:100],
            **({} if universe_id is None else {"universeId": universe_id[:100]}),
            **({"nearest": list(nearest)} if nearest else {}),
        )


class JobNotDone(Conflict):
    code = "job_not_done"


class JobEnded(Conflict):
    code = "job_ended"


class JobActive(Conflict):
    code = "job_active"


class TooManyJobs(Unavailable):
    code = "too_many_jobs"
