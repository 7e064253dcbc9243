"""`python -m uraniborg.console.workers.shelf_worker`: one build of a shelf in a process of its own, for the console."""

import time
from pathlib import Path
from typing import Final, TypedDict

from paper_library.service.build.builder import build_shelf
from uraniborg.kernel.actors import read_actor
from uraniborg.kernel.processes.worker_dialogue import WorkerRequest, answer_requests
from uraniborg.kernel.shared_fields import ActorFields

_LEAST_PAUSE_S: Final = 0.2


class ShelfRequest(TypedDict):
    """Build the folder `shelf` from a file of papers, or extend it if it exists, for this actor."""

    papers: str
    shelf: str
    actor: ActorFields | None


class ShelfProgress(TypedDict):
    phase: str
    done: int
    total: int


class ShelfReport(TypedDict):
    papers: int
    added: int


class _BuildProgress:
    """Reports the progress of a build, a few times a second at most."""

    def __init__(self, request: WorkerRequest[ShelfRequest, ShelfProgress, ShelfReport]) -> None:
        self._request = request
        self._last_phase = ""
        self._last_time = 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if phase != self._last_phase or now - self._last_time >= _LEAST_PAUSE_S:
            self._last_phase, self._last_time = phase, now
            self._request.report_progress({"phase": phase, "done": done, "total": total})


def _build(request: WorkerRequest[ShelfRequest, ShelfProgress, ShelfReport]) -> ShelfReport:
    papers, target = Path(request.content["papers"]), Path(request.content["shelf"])
    actor = read_actor(request.content["actor"])
    old = target if target.exists() else None
    report = build_shelf([papers], target, update=old, progress=_BuildProgress(request), actor=actor)
    return {"papers": report.papers, "added": report.added if old else report.papers}


if __name__ == "__main__":
    answer_requests(_build)
