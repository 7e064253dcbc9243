"""The writer of one run in the log of runs: it collects rows and writes many at a time."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pflow.engine.results import RunResult
from pflow.engine.runlog import Ending, NodeRow, RunLog
from pflow.engine.steps import NodeEnd
from pflow.redaction import Secrets
from uraniborg.kernel.clock import format_iso, format_now
from uraniborg.kernel.errors import UraniborgError

_MAX_ROWS: Final = 500
_FLUSH_S: Final = 1.0
_MAX_BYTES: Final = 20_000


class RunLogWriter:
    """Writes one run to the log. If the log cannot be written, a warning is added and the run continues."""

    def __init__(self, log: RunLog | None, run_id: str, workflow: str, source: str) -> None:
        self._log = log
        self._run_id = run_id
        self._workflow = workflow
        self._source = source
        self.status: Ending = "failed"
        self.notices: list[str] = []
        """Warnings for the reply of the run."""
        self._rows: list[NodeRow] = []
        self._count = 0
        self._flushed_at = time.monotonic()
        self._began = False
        self._secrets = Secrets()

    def record_run_start(self, inputs: Mapping[str, Any], resumed_from: str | None, secrets: Secrets) -> None:
        """Write that the run begins. Its secrets are masked in everything that is written from now on."""
        self._secrets = secrets
        if self._log is None:
            return
        try:
            self._log.record_run_start(
                self._run_id, self._workflow, self._source, format_now(), secrets.mask(inputs), resumed_from
            )
            self._began = True
        except UraniborgError as exc:
            self._stop_logging_with_notice(exc)

    def record_node(self, end: NodeEnd) -> None:
        """Add a row for a node that has ended."""
        if self._log is None:
            return
        self._count += 1
        step, milliseconds = end.step, end.duration_ms
        body = self._secrets.mask(end.error.body()["error"]) if end.error else None
        note = self._secrets.mask(step.not_reused_reason) if step and step.not_reused_reason else None
        action = step.action if step else "error"
        began = format_iso(datetime.now(UTC) - timedelta(milliseconds=milliseconds))
        params = self._secrets.mask(_replace_large_values(end.node.params))
        found = (step.outputs if step.masked_outputs is None else step.masked_outputs) if step else None
        outputs = self._secrets.mask(_replace_large_values(found)) if found else None
        row = NodeRow(
            *(self._count, end.key, end.node.type, end.status, action, began, milliseconds, body, note, params, outputs)
        )
        self._rows.append(row)
        if len(self._rows) >= _MAX_ROWS or time.monotonic() - self._flushed_at > _FLUSH_S:
            self._flush_rows()

    def record_run_end(self, result: RunResult, *, is_waiting: bool) -> None:
        """Write that the run has ended, and close the log."""
        self.status = (
            "success"
            if result.success
            else "waiting"
            if is_waiting
            else "cancelled"
            if result.is_cancelled
            else "failed"
        )
        log = self._log
        if log is None:
            return
        try:
            self._write_run_end(log, result)
        finally:
            if log.notice:
                self.notices.append(log.notice)
            log.close()

    def _write_run_end(self, log: RunLog, result: RunResult) -> None:
        if not self._began:  # it failed before it began, which is logged as well
            self.record_run_start({}, None, self._secrets)
        for name in result.progress.skipped:
            self._count += 1
            self._rows.append(NodeRow(self._count, name, "", "skipped"))
        self._flush_rows()
        try:
            if self._began:
                log.record_run_end(
                    self._run_id,
                    self.status,
                    format_now(),
                    result.duration_ms,
                    result.failed_node,
                    result.error_body,
                    len(result.progress.reused),
                    _replace_large_values(result.outputs),
                )
        except UraniborgError as exc:
            self._stop_logging_with_notice(exc)

    def _flush_rows(self) -> None:
        rows, self._rows = self._rows, []
        self._flushed_at = time.monotonic()
        if not rows or self._log is None or not self._began:
            return
        try:
            self._log.record_nodes(self._run_id, rows)
        except UraniborgError as exc:
            self._stop_logging_with_notice(exc)

    def _stop_logging_with_notice(self, exc: UraniborgError) -> None:
        self.notices.append(f"This run is not in the log of runs: {exc.message}")
        self._log = None


def _replace_large_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values, with the size instead of a value that is too large for the log."""
    import orjson

    small: dict[str, Any] = {}
    for name, value in values.items():
        try:
            size = len(orjson.dumps(value))
        except orjson.JSONEncodeError:
            continue
        small[name] = value if size <= _MAX_BYTES else {"bytes": size}
    return small
