"""The writer of one run in the log of runs: it collects rows and writes many at a time."""

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pflow.engine.results import RunResult
from pflow.engine.runlog import Ending, RunLog
from pflow.engine.runlog_rows import NodeRow
from pflow.engine.steps import NodeEnd
from pflow.ir.graph import describe_graph
from pflow.ir.model import Workflow
from pflow.redaction import Secrets
from uraniborg.kernel.clock import format_iso, format_now
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import MASK

_MAX_ROWS: Final = 500
_FLUSH_S: Final = 1.0
_MAX_BYTES: Final = 20_000
_MAX_MESSAGES: Final = 100
_MAX_MESSAGE_CHARS: Final = 1_000


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
        self._timer: asyncio.TimerHandle | None = None
        self._messages: dict[str, deque[str]] = {}
        """The last messages of nodes that have not ended."""

    def record_run_start(
        self,
        inputs: Mapping[str, Any],
        resumed_from: str | None,
        secrets: Secrets,
        workflow: Workflow | None = None,
    ) -> None:
        """Write that the run begins. Its secrets are masked in everything that is written from now on."""
        self._secrets = secrets
        if self._log is None:
            return
        try:
            self._log.record_run_start(
                self._run_id,
                self._workflow,
                self._source,
                format_now(),
                secrets.mask(inputs),
                resumed_from,
                graph=workflow and _describe_masked_graph(workflow, secrets),
            )
            self._began = True
        except UraniborgError as exc:
            self._stop_logging_with_notice(exc)

    def record_message(self, key: str, text: str) -> None:
        """Keep a message of a node, without secrets, until the node ends. Nodes call this from their threads."""
        node = key[: key.rindex("[")] if key.endswith("]") else key  # an item of a batch
        self._messages.setdefault(node, deque(maxlen=_MAX_MESSAGES)).append(text[:_MAX_MESSAGE_CHARS])

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
        # The run whose result was reused has the values.
        is_given = end.params is not None and end.status != "reused" and end.params != end.node.params
        inputs = self._mask_inputs(_replace_large_values(end.params or {})) if is_given else None
        messages = list(self._messages.pop(end.key, ())) or None
        ending = (self._count, end.key, end.node.type, end.status, action, began, milliseconds, body, note)
        self._rows.append(NodeRow(*ending, params, outputs, inputs, messages))
        if len(self._rows) >= _MAX_ROWS or time.monotonic() - self._flushed_at > _FLUSH_S:
            self._flush_rows()
        elif self._timer is None:  # so that others can read the row while the next node runs for long
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_S, self._flush_rows)

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
                    result.warnings,
                )
        except UraniborgError as exc:
            self._stop_logging_with_notice(exc)

    def _mask_inputs(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the values of parameters without secrets. One that contains a short secret is masked as a whole."""
        masked: dict[str, Any] = self._secrets.mask(inputs)
        return {name: MASK if self._secrets.has_short_secret_in(value) else value for name, value in masked.items()}

    def _flush_rows(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
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


def _describe_masked_graph(workflow: Workflow, secrets: Secrets) -> dict[str, Any]:
    """Return the graph of a workflow without secrets. Its names are masked together: one text costs little."""
    graph = describe_graph(workflow)
    names = "\n".join(f"{node['id']} {node['type']}" for node in graph["nodes"])
    if secrets.mask(names) != names:
        return secrets.mask(graph)
    for node in graph["nodes"]:
        node["purpose"] = node["purpose"] and secrets.mask(node["purpose"])
    return graph


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
