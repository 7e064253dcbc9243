"""Pass the events of a run on to its output, its log and the change feed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pflow.engine.walk_events import ItemEnd, NodeEnd, WalkListener
from uraniborg.kernel.boundary import make_encodable

if TYPE_CHECKING:
    from pflow.engine.progress_output import ProgressOutput
    from pflow.engine.runlog_writer import RunLogWriter
    from pflow.ir.model import Node
    from pflow.redaction import Secrets
    from uraniborg.kernel.change_feed import Publisher


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
