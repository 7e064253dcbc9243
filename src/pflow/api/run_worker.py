"""`python -m pflow.api.run_worker`: execute runs in a process of their own, for a server that starts workflows.

A run that is active when the server ends is interrupted and can be resumed.
"""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from pflow.config import load_settings
from pflow.domain.run_events import NodeStatus, NullOutput
from pflow.errors import ApprovalRequired
from pflow.service.engine.cancellation import Cancellation
from pflow.service.engine.results import build_refusal_reply, build_reply_and_write_large_outputs
from pflow.service.operations import Service
from uraniborg.kernel.actors import Actor, read_actor
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.processes.worker_dialogue import WorkerRequest, answer_requests

if TYPE_CHECKING:
    from pflow.service.run_replies import EndedRun, RunRequest, StartedRun


class _RunIdReporter(NullOutput):
    """Reports the run when its first node starts or ends: then the run is in the log."""

    _started: "StartedRun | None" = None

    def __init__(self, request: "WorkerRequest[RunRequest, StartedRun, EndedRun]") -> None:
        self._request = request

    def on_run_started(self, name: str, run_id: str, nodes: int) -> None:
        self._started = {"run_id": run_id, "workflow": name, "nodes": nodes}

    def on_node_started(self, node_id: str, type: str) -> None:  # noqa: A002 - the name of the key in workflows
        self._report_once()

    def on_node_finished(self, node_id: str, status: NodeStatus, duration_ms: float, note: str = "") -> None:
        self._report_once()

    def _report_once(self) -> None:
        started, self._started = self._started, None
        if started is not None:
            self._request.report_progress(started)


def _run_workflow(cancellation: Cancellation, request: "WorkerRequest[RunRequest, StartedRun, EndedRun]") -> "EndedRun":
    content = request.content
    service = Service(load_settings(), door="console")
    actor = read_actor(content.get("actor")) or Actor(
        kind="software", name=content.get("person", ""), authenticated="account"
    )
    try:
        result = service.execute(
            content["name"],
            content.get("inputs"),
            output=_RunIdReporter(request),
            fresh=bool(content.get("fresh")),
            cancellation=cancellation,
            must_be_logged=True,
            actor=actor,
        )
        reply = build_reply_and_write_large_outputs(result, service.home)
        if isinstance(result.error, ApprovalRequired):
            reply["secret_inputs"] = result.secret_inputs
    except UraniborgError as error:
        reply = build_refusal_reply(error, content["name"])
    return reply


if __name__ == "__main__":
    cancellation = Cancellation()  # of the run that is active or the next one: each has ended before the next begins
    with suppress(KeyboardInterrupt):
        answer_requests(partial(_run_workflow, cancellation), on_parent_ended=cancellation.interrupt)
