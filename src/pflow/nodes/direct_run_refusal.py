"""Refuse to run directly what only the engine runs: a workflow, or a node for each item of a list."""

from collections.abc import Mapping
from typing import NoReturn

from pflow.domain.node import NodeContext
from pflow.errors import NodeFailed


async def refuse_direct_run(_params: Mapping[str, object], context: NodeContext) -> NoReturn:
    raise NodeFailed(
        f"'{context.node_id}' cannot be run by itself.",
        hint="A `batch` needs `items` and a `node` with `type` and `params`.",
    )
