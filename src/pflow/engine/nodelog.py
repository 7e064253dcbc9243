"""What a run says of itself to the log of runs: gathered, and written some at a time."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pflow.engine.output import NodeStatus
from pflow.engine.results import RunResult
from pflow.engine.runlog import NodeRow, RunLog
from pflow.engine.steps import Step
from pflow.errors import PflowError
from pflow.ir.model import Node
from pflow.redaction import Secrets
from uraniborg.kernel.clock import iso
from uraniborg.kernel.errors import UraniborgError

_MANY: Final = 500
_OFTEN_S: Final = 1.0
_LONGEST: Final = 20_000


class NodeLog:
    """The rows of one run. A log that cannot be written is a warning, and no reason for a run to fail."""

    def __init__(self, log: RunLog | None, run_id: str, workflow: str, source: str) -> None:
        self._log = log
        self._run_id = run_id
        self._workflow = workflow
        self._source = source
        self.notices: list[str] = []
        """What whoever asked for the run should be told."""
        self._rows: list[NodeRow] = []
        self._count = 0
        self._flushed_at = time.monotonic()
        self._began = False
        self._secrets = Secrets()

    def begin(self, inputs: Mapping[str, Any], resumed_from: str | None, secrets: Secrets) -> None:
        """A run begins; nothing that is written of it from now on holds one of its secrets."""
        self._secrets = secrets
        if self._log is None:
            return
        told = secrets.masked(inputs)
        try:
            self._log.begin(self._run_id, self._workflow, self._source, _now(), told, resumed_from)
            self._began = True
        except UraniborgError as exc:
            self._give_up(exc)

    def add(
        self,
        key: str,
        node: Node,
        status: NodeStatus,
        step: Step | None,
        took_ms: float,
        error: PflowError | None,
    ) -> None:
        if self._log is None:
            return
        self._count += 1
        told = self._secrets.masked(error.body()["error"]) if error else None
        note = self._secrets.masked(step.note) if step and step.note else None
        action = step.action if step else "error"
        began = iso(datetime.now(UTC) - timedelta(milliseconds=took_ms))
        self._rows.append(NodeRow(self._count, key, node.type, status, action, began, took_ms, told, note))
        if len(self._rows) >= _MANY or time.monotonic() - self._flushed_at > _OFTEN_S:
            self._flush()

    def finish(self, result: RunResult, *, is_waiting: bool) -> None:
        """The run has ended. The log is let go of."""
        log = self._log
        if log is None:
            return
        try:
            self._finish(log, result, is_waiting=is_waiting)
        finally:
            if log.notice:
                self.notices.append(log.notice)
            log.close()

    def _finish(self, log: RunLog, result: RunResult, *, is_waiting: bool) -> None:
        if not self._began:  # it failed before it began, which counts, too
            self.begin({}, None, self._secrets)
        for name in result.progress.skipped:
            self._count += 1
            self._rows.append(NodeRow(self._count, name, "", "skipped"))
        self._flush()
        status = (
            "success"
            if result.success
            else "waiting"
            if is_waiting
            else "cancelled"
            if result.is_cancelled
            else "failed"
        )
        try:
            if self._began:
                log.finish(
                    self._run_id,
                    status,
                    _now(),
                    result.duration_ms,
                    result.failed_node,
                    result.error_body,
                    len(result.progress.reused),
                    _preview(result.outputs),
                )
        except UraniborgError as exc:
            self._give_up(exc)

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        self._flushed_at = time.monotonic()
        if not rows or self._log is None or not self._began:
            return
        try:
            self._log.add_nodes(self._run_id, rows)
        except UraniborgError as exc:
            self._give_up(exc)

    def _give_up(self, exc: UraniborgError) -> None:
        self.notices.append(f"This run is not in the log of runs: {exc.message}")
        self._log = None


def _preview(outputs: dict[str, Any]) -> dict[str, Any]:
    """What is small enough to be kept."""
    import orjson

    kept: dict[str, Any] = {}
    for name, value in outputs.items():
        try:
            size = len(orjson.dumps(value))
        except orjson.JSONEncodeError:
            continue
        kept[name] = value if size <= _LONGEST else {"bytes": size}
    return kept


def _now() -> str:
    return iso(datetime.now(UTC))
