"""Refuse to run directly what only the engine runs: a workflow, or a node for each item of a list."""

from collections.abc import Mapping
from typing import NoReturn

from pflow.errors import NodeFailed
from pflow.node import Context


async def refuse_direct_run(_params: Mapping[str, object], context: Context) -> NoReturn:
    raise NodeFailed(
        f"'{context.node_id}' cannot be run by itself.",
        hint="A `batch` needs `items` and a `node` with `type` and `params`.",
    )
