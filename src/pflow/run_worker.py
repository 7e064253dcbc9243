"""`python -m pflow.run_worker`: runs in a process of their own, for a server that starts workflows.

Each line of stdin is a request as JSON: `name`, and perhaps `inputs`, `fresh` and `actor`. For each, the worker writes
one or two lines to stdout: the id of the run as soon as it begins, and the reply of `execute`, which has the key
`success`. A run that waits for an approval lists the inputs that are secrets in `secret_inputs`.
The worker ends at the end of stdin; a run that is active then is interrupted and can be resumed.
"""

import json
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from pflow.config import load_settings
from pflow.engine.cancellation import Cancellation
from pflow.engine.progress_output import NodeStatus, NullOutput
from pflow.errors import ApprovalRequired
from pflow.replies import build_refusal_reply, build_reply_and_write_large_outputs
from pflow.service import Service
from uraniborg.kernel.actors import Actor, read_actor
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import configure_logging
from uraniborg.kernel.parent_output import write_line_to_parent

if TYPE_CHECKING:
    from pflow.run_replies import EndedRun, RunRequest, StartedRun

_Requests = SimpleQueue[tuple["RunRequest", Cancellation] | None]


class _RunIdWriter(NullOutput):
    """Writes the id of the run when its first node starts or ends: then the run is in the log."""

    _started: "StartedRun | None" = None

    def on_run_started(self, name: str, run_id: str, nodes: int) -> None:
        self._started = {"run_id": run_id, "workflow": name, "nodes": nodes}

    def on_node_started(self, node_id: str, type: str) -> None:  # noqa: A002 - the name of the key in workflows
        self._write_once()

    def on_node_finished(self, node_id: str, status: NodeStatus, duration_ms: float, note: str = "") -> None:
        self._write_once()

    def _write_once(self) -> None:
        started, self._started = self._started, None
        if started is not None:
            _write_line(started)


def main() -> None:
    """Run the workflows of the requests, one after the other."""
    configure_logging()
    requests: _Requests = SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    with suppress(KeyboardInterrupt):
        while (request := requests.get()) is not None:
            _run_workflow(*request)


def _read_requests(requests: _Requests) -> None:
    last = Cancellation()
    for line in sys.stdin:
        last = Cancellation()
        requests.put((json.loads(line), last))
    requests.put(None)
    last.interrupt()


def _run_workflow(request: "RunRequest", cancellation: Cancellation) -> None:
    name = request["name"]
    service = Service(load_settings(), door="console")
    person = request.get("person", "")
    # Requests of earlier versions that wait for an approval have the name of a person only.
    actor = read_actor(request.get("actor")) or Actor(kind="software", name=person, authenticated="account")
    try:
        found = service.find_workflow(name)
        result = service.run_document(
            found.stored.ir,
            request.get("inputs"),
            name=found.stored.name,
            source=found.stored.source,
            warnings=list(found.warnings),
            output=_RunIdWriter(),
            fresh=bool(request.get("fresh")),
            cancellation=cancellation,
            must_be_logged=True,
            actor=actor,
        )
        reply = build_reply_and_write_large_outputs(result, service.home)
        if isinstance(result.error, ApprovalRequired):
            reply["secret_inputs"] = result.secret_inputs
        _write_line(reply)
    except UraniborgError as error:
        _write_line(build_refusal_reply(error, name))


def _write_line(reply: "StartedRun | EndedRun") -> None:
    write_line_to_parent(json.dumps(reply, default=str))


if __name__ == "__main__":
    main()
