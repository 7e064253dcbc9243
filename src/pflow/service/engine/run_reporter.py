"""Report the events of a run: to its output, to the change feed, and to the log, many rows at a time."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from pflow.domain.ir.graph import describe_graph
from pflow.domain.ir.model import Workflow
from pflow.domain.redaction import Secrets
from pflow.domain.run_events import ItemEnd, NodeEnd, WalkListener
from pflow.errors import RunNotRecorded
from pflow.service.engine.results import RunResult
from pflow.store.run_log import RunLog
from pflow.store.run_log_rows import Door, ItemRow, NodeRow
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.clock import format_iso, format_now
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import MASK
from uraniborg.kernel.store.sqlite import DatabaseNewer

if TYPE_CHECKING:
    from pflow.domain.ir.model import Node
    from pflow.domain.run_events import ProgressOutput, StepResult
    from pflow.service.run_replies import RunGraph
    from uraniborg.kernel.json_values import Json, JsonObject
    from uraniborg.kernel.store.change_feed import Publisher


_NOT_RECORDED_HINT: Final = "Free disk space in the pflow home or correct its permissions, then run the workflow again."
_MAX_ROWS: Final = 500
_FLUSH_S: Final = 1.0
_MESSAGE_S: Final = 0.2
"""The time for which a message waits for others."""
_MAX_BYTES: Final = 20_000
_MAX_ITEM_BYTES: Final = 2_000
_MAX_BATCH_BYTES: Final = 4_000_000
"""The size of all values of a batch; items after that are stored without their values."""
_MAX_MESSAGES: Final = 100
_MAX_MESSAGE_CHARS: Final = 1_000


class RunLogWriter:
    """Writes one run to the log. If the log cannot be written, a warning says so.

    The log masks the secrets of this process in all rows, those of the active run among them: see `enable_redactor`.
    """

    def __init__(
        self,
        log: RunLog | None,
        run_id: str,
        workflow: str,
        source: str,
        door: Door | None = None,
        actor: Actor | None = None,
    ) -> None:
        self._log = log
        self._run_id = run_id
        self._workflow = workflow
        self._source = source
        self._door: Door | None = door
        self._actor = actor
        self.on_messages: Callable[[str, int], None] = lambda _node, _count: None
        """Called with a node and the number of its messages so far when others can read them."""
        self.notices: list[str] = []
        """Warnings for the reply of the run."""
        self.problem: UraniborgError | None = None
        """Why the log does not have this run."""
        self._rows: list[NodeRow] = []
        self._items: list[ItemRow] = []
        self._batch_bytes: dict[str, int] = {}
        self._count = 0
        self._flushed_at = time.monotonic()
        self._began = False
        self._secrets = Secrets()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._message_timer: asyncio.TimerHandle | None = None
        self._messages: dict[str, deque[str]] = {}
        """The last messages of nodes that have not ended."""
        self._message_counts: dict[str, int] = {}
        self._unwritten = deque[str]()
        """Nodes with messages that others cannot read yet. Threads append to it."""

    def record_run_start(
        self,
        inputs: "Mapping[str, Json]",
        resumed_from: str | None,
        secrets: Secrets,
        workflow: Workflow | None = None,
    ) -> None:
        """Write that the run begins. Its secrets are masked in everything that is written from now on."""
        self._secrets = secrets
        self._loop = asyncio.get_running_loop()
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
                door=self._door,
                actor=self._actor,
            )
            self._began = True
        except UraniborgError as exc:
            self._stop_logging_with_notice(exc)

    def record_message(self, key: str, text: str) -> None:
        """Add a message of a node, without secrets. Nodes call this from their threads."""
        node = key[: key.rindex("[")] if key.endswith("]") else key  # an item of a batch
        self._messages.setdefault(node, deque(maxlen=_MAX_MESSAGES)).append(text[:_MAX_MESSAGE_CHARS])
        self._message_counts[node] = self._message_counts.get(node, 0) + 1
        self._unwritten.append(node)
        if self._loop is not None and self._message_timer is None:
            with suppress(RuntimeError):  # the run has ended
                self._loop.call_soon_threadsafe(self._write_messages_soon)

    def record_item(self, end: ItemEnd) -> None:
        """Add a row for an item of a batch that has ended."""
        if self._log is None:
            return
        error = end.error.body()["error"] if end.error else None
        values: JsonObject = {}
        used = self._batch_bytes.get(end.key, 0)
        if used <= _MAX_BATCH_BYTES:
            values = _replace_large_values({"value": end.item, "outputs": _choose_outputs(end.step)}, _MAX_ITEM_BYTES)
            self._batch_bytes[end.key] = used + _measure(values)
        masked = {name: self._mask_short_secrets(value) for name, value in values.items()}
        self._items.append(ItemRow(end.key, end.position, end.status, end.duration_ms, error, **masked))
        self._flush_rows_or_wait()

    def record_node(self, end: NodeEnd) -> None:
        """Add a row for a node that has ended."""
        if self._log is None:
            return
        self._count += 1
        step, milliseconds = end.step, end.duration_ms
        error = end.error.body()["error"] if end.error else None
        note = step.not_reused_reason or None if step else None
        action = step.action if step else "error"
        began = format_iso(datetime.now(UTC) - timedelta(milliseconds=milliseconds))
        params = _replace_large_values(end.node.params)
        outputs = _replace_large_values(found) if (found := _choose_outputs(step)) else None
        is_given = end.params is not None and end.params != end.node.params
        inputs = self._mask_short_secrets(_replace_large_values(end.params or {})) if is_given else None
        messages = list(self._messages.pop(end.key, ())) or None
        ending = (self._count, end.key, end.node.type, end.status, action, began, milliseconds, error, note)
        self._rows.append(NodeRow(*ending, params, outputs, inputs, messages))
        self._flush_rows_or_wait()

    def require_record(self) -> None:
        """Raise RunNotRecorded if the log does not have this run."""
        if (problem := self.problem) is not None:
            raise RunNotRecorded(
                f"The run was not started, because it cannot be recorded in the log of runs: {problem.message}",
                hint=problem.hint if isinstance(problem, DatabaseNewer) else _NOT_RECORDED_HINT,
            )

    def record_run_end(self, result: RunResult) -> None:
        """Write that the run has ended, and close the log."""
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
                    result.status,
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

    def _mask_short_secrets(self, value: "Json") -> "Json":
        """Return the value; the mask instead of one, or of a member of an object, that contains a short secret."""
        if isinstance(value, dict):
            return {name: MASK if self._secrets.has_short_secret_in(one) else one for name, one in value.items()}
        return MASK if self._secrets.has_short_secret_in(value) else value

    def _flush_rows_or_wait(self) -> None:
        """Write the rows if they are many or old, else soon: others can read them while a node runs for long."""
        if len(self._rows) + len(self._items) >= _MAX_ROWS or time.monotonic() - self._flushed_at > _FLUSH_S:
            self._flush_rows()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_S, self._flush_rows)

    def _flush_rows(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        rows, self._rows = self._rows, []
        items, self._items = self._items, []
        self._flushed_at = time.monotonic()
        if not (rows or items) or self._log is None or not self._began:
            return
        try:
            self._log.record_nodes(self._run_id, rows, items)
        except UraniborgError as exc:
            self._stop_logging_with_notice(exc)

    def _write_messages_soon(self) -> None:
        if self._message_timer is None:
            self._message_timer = asyncio.get_running_loop().call_later(_MESSAGE_S, self._write_messages)

    def _write_messages(self) -> None:
        self._message_timer = None
        nodes = {self._unwritten.popleft() for _ in range(len(self._unwritten))}
        messages = {node: list(found) for node in nodes if (found := self._messages.get(node))}
        if not messages or self._log is None or not self._began:
            return
        try:
            self._log.record_messages(self._run_id, messages)
        except UraniborgError as exc:
            self._stop_logging_with_notice(exc)
            return
        for node in messages:
            self.on_messages(node, self._message_counts[node])

    def _stop_logging_with_notice(self, exc: UraniborgError) -> None:
        if self._began:
            self.notices.append(f"The log of runs does not have all of this run: {exc.message}")
        else:
            self.problem = exc
            self.notices.append(f"This run is not in the log of runs: {exc.message}")
        self._log = None


def _choose_outputs(step: "StepResult | None") -> "JsonObject | None":
    """Return the outputs of a step for the log."""
    return (step.outputs if step.masked_outputs is None else step.masked_outputs) if step else None


def _describe_masked_graph(workflow: Workflow, secrets: Secrets) -> "RunGraph":
    """Return the graph of a workflow without secrets. Its names are masked together: one text costs little."""
    graph = describe_graph(workflow)
    names = "\n".join(f"{node['id']} {node['type']}" for node in graph["nodes"])
    if secrets.mask(names) != names:
        return secrets.mask(graph)
    for node in graph["nodes"]:
        node["purpose"] = node["purpose"] and secrets.mask(node["purpose"])
    return graph


def _replace_large_values(values: "Mapping[str, Json]", max_bytes: int = _MAX_BYTES) -> "JsonObject":
    """Return the values that are JSON, with the size instead of a value that is too large for the log."""
    small: JsonObject = {}
    for name, value in values.items():
        try:
            size = _measure(value)
        except TypeError:
            continue
        small[name] = value if size <= max_bytes else {"bytes": size}
    return small


def _measure(value: "Json") -> int:
    """Return the size of a value as JSON. Raise TypeError if it is not JSON."""
    import orjson

    return len(orjson.dumps(value))


class RunReporter(WalkListener):
    """Passes the events of a run on to its output, its log and the change feed."""

    def __init__(
        self, output: "ProgressOutput", log: "RunLogWriter", secrets: "Secrets", feed: "Publisher", run_id: str
    ) -> None:
        self._output, self._log, self._secrets, self._feed, self._run_id = output, log, secrets, feed, run_id
        self._facts: dict[str, dict[str, int]] = {}
        """The facts of nodes that run: an announcement replaces the one before it, which may not be written yet."""
        log.on_messages = lambda key, count: self._announce_facts(key, messages=count)

    def on_node_started(self, key: str, node: "Node", deciding_nodes: Sequence[str]) -> None:
        self._output.on_node_started(key, node.type)
        self._feed.publish("node", self._run_id, node=key, status="running")

    def on_message(self, key: str, text: str) -> None:
        masked = make_encodable(self._secrets.mask(text))
        self._log.record_message(key, masked)
        self._output.on_node_message(key, masked)

    def on_item_ended(self, end: ItemEnd, item_count: int, done_count: int) -> None:
        self._log.record_item(end)
        self._announce_facts(end.key, items=item_count, items_done=done_count)

    def on_node_ended(self, end: NodeEnd) -> None:
        self._facts.pop(end.key, None)
        self._log.record_node(end)
        if end.step is not None:
            note = end.step.not_reused_reason
        else:
            note = self._secrets.mask(end.error.message) if end.error else "interrupted"
        self._output.on_node_finished(end.key, end.status, end.duration_ms, note)
        self._feed.publish("node", self._run_id, node=end.key, status=end.status, duration_ms=end.duration_ms)

    def on_node_skipped(self, key: str, node: "Node") -> None:
        self._output.on_node_finished(key, "skipped", 0)
        self._feed.publish("node", self._run_id, node=key, status="skipped")

    def _announce_facts(self, key: str, **facts: int) -> None:
        known = self._facts.setdefault(key, {})
        known.update(facts)
        self._feed.publish("node", self._run_id, node=key, status="running", **known)
