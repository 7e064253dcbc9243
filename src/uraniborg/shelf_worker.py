"""`python -m uraniborg.shelf_worker`: one build of a shelf in a process of its own, for the console.

The request is one JSON object on stdin: `papers`, a file of papers, `shelf`, the folder of the shelf, which is extended
if it exists, and `actor`, who builds it. The worker writes JSON lines to stdout: the progress, and at the end the
report or an error.
"""

import json
import sys
import time
from pathlib import Path
from typing import Final

from paper_library.build.builder import build_shelf
from uraniborg.kernel.actors import read_actor
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import configure_logging
from uraniborg.kernel.parent_output import write_line_to_parent
from uraniborg.search_shelf_replies import BuildFacts, BuildRequest

_LEAST_PAUSE_S: Final = 0.2


class _ProgressWriter:
    """Writes the progress of a build, a few times a second at most."""

    def __init__(self) -> None:
        self._last_phase = ""
        self._last_time = 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if phase != self._last_phase or now - self._last_time >= _LEAST_PAUSE_S:
            self._last_phase, self._last_time = phase, now
            _write_line({"phase": phase, "done": done, "total": total})


def main() -> None:
    """Build the shelf of the request."""
    configure_logging()
    request: BuildRequest = json.loads(sys.stdin.readline())
    target = Path(request["shelf"])
    actor = read_actor(request.get("actor"))
    try:
        old = target if target.exists() else None
        report = build_shelf([Path(request["papers"])], target, update=old, progress=_ProgressWriter(), actor=actor)
        _write_line({"papers": report.papers, "added": report.added if old else report.papers})
    except UraniborgError as error:
        _write_line({"error": error.message, "hint": error.hint})


def _write_line(line: BuildFacts) -> None:
    write_line_to_parent(json.dumps(line))


if __name__ == "__main__":
    main()
