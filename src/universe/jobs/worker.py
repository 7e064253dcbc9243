"""`python -m universe.jobs.worker`: computes one job in a process of its own and stores the result.

The request is one line of JSON on stdin: the job and the state of the universe. Lines of JSON on stdout report the
progress and the end. The worker ends when stdin closes: the process that started it has ended.
"""

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

import orjson

from universe.jobs.measurement import measure
from universe.jobs.options import parse_job_options
from universe.jobs.replies import WorkerReport, WorkRequest
from universe.jobs.store import JobStore
from uraniborg.kernel.clock import format_now
from uraniborg.kernel.errors import InternalError, as_error
from uraniborg.kernel.logging import configure_logging, get_logger
from uraniborg.kernel.parent_output import write_line_to_parent

_NICENESS = 5


def main() -> None:
    """Compute the job of the request."""
    configure_logging()
    with suppress(OSError, AttributeError):
        os.nice(_NICENESS)  # the server stays responsive
    request: WorkRequest = orjson.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    store = JobStore(Path(request["path"]))
    try:
        found = measure(
            request["state"],
            parse_job_options(request["options"]),
            universe_id=request["universe_id"],
            version=request["version"],
            title=request["title"],
            progress=lambda fraction: _write_line({"progress": fraction}),
        )
        stored = store.finish(request["id"], format_now(), found)
        _write_line({"state": "done" if stored else "cancelled"})
    except Exception as exc:
        error = as_error(exc)
        if isinstance(error, InternalError):
            get_logger(__name__).exception("a job failed", exc=exc)
        _write_line({"state": "failed", "error": error.body()["error"]})
    finally:
        store.close()


def _exit_with_parent() -> None:
    while os.read(0, 1):  # not through sys.stdin, whose lock would be held when the interpreter ends
        pass
    os._exit(1)


def _write_line(value: WorkerReport) -> None:
    write_line_to_parent(orjson.dumps(value, default=str).decode())


if __name__ == "__main__":
    main()
