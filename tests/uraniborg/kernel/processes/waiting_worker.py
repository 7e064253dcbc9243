"""`python -m tests.uraniborg.kernel.processes.waiting_worker`: a worker for tests that can print, fail and wait."""

import subprocess
import sys
import time
from typing import Any

from uraniborg.kernel.errors import NotFound
from uraniborg.kernel.processes.worker_dialogue import WorkerRequest, answer_requests


def answer(request: WorkerRequest[str, Any, Any]) -> Any:
    match request.content:
        case "count":
            for number in range(3):
                request.report_progress(number)
            return len(request.body)
        case "print":
            print("to the log")
            subprocess.run(["echo", "of a child"], check=True)
            return sys.stdin.read()
        case "write":
            return "Müller … 星 \ud800"
        case "refuse":
            raise NotFound("There is no moon.", hint="Look again.", moon="Neith")
        case "break":
            raise ZeroDivisionError
        case _:
            request.report_progress("waiting")
            return time.sleep(600)


if __name__ == "__main__":
    answer_requests(answer)
