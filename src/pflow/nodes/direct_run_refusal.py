"""Refuse to run directly what only the engine runs: a workflow, or a node for each item of a list."""

from typing import Any

from pflow.errors import NodeFailed
from pflow.node import Context


async def refuse_direct_run(_params: dict[str, Any], context: Context) -> dict[str, Any]:
    raise NodeFailed(
        f"'{context.node_id}' cannot be run by itself.",
        hint="A `batch` needs `items` and a `node` with `type` and `params`.",
    )
