"""The replies with items of batches and with messages of nodes."""

from typing import Any

from uraniborg.console.replies import Reply
from uraniborg.console.workflow_replies import NodeStatus, RunError


class RunItem(Reply):
    """How an item of a batch ended. `item` is its index."""

    item: int
    status: NodeStatus
    duration_ms: float | None
    error: RunError | None
    value: Any = None
    """The item itself; instead of a large value its size in `bytes`. None if the batch is too large to store it."""
    outputs: Any = None
    """The outputs. Secrets are masked; instead of large outputs their size in `bytes`."""


class RunItemPage(Reply):
    """Items of a batch that have ended, in their order."""

    items: list[RunItem]
    next: int | None
    """The value of `after` for the next page."""
    counts: dict[str, int]
    """The number of items with each status."""


class NodeMessages(Reply):
    """The last messages of a node that runs."""

    messages: list[str]
