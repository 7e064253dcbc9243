"""Nodes on a Dask cluster: the same nodes, the same checkpoint and the same log, run by workers elsewhere.

A cluster computes again what a worker had finished that died. So nodes with effects stay here, where it is written down
before and after that they ran; what goes to the cluster may run more than once.
"""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pflow.engine.executors import Call, LocalExecutor, in_thread
from pflow.engine.values import as_json, from_json
from pflow.errors import NodeFailed, PflowError
from pflow.node import Context, Outcome
from pflow.registry.interface import Interface
from pflow.registry.registry import Registry
from uraniborg.kernel.errors import MissingExtra, Unavailable, UraniborgError

_CONNECTING_S: Final = 10
_HERE: Final = ("mcp", "approval")
"""Types that need what only this process has: a connection that is kept, or the inbox of its user."""


class ClusterUnreachable(PflowError, Unavailable):
    code = "cluster_unreachable"


class ClusterExecutor:
    """Sends nodes to the scheduler at `address`, which it connects to when the first is to be sent."""

    def __init__(self, registry: Registry, address: str) -> None:
        self._local = LocalExecutor(registry)
        self._address = address
        self._connecting: asyncio.Task[Any] | None = None

    @property
    def keeper(self) -> Any:
        return self._local.keeper

    async def run(self, call: Call) -> Mapping[str, Any] | Outcome:
        if call.effect == "effectful" or call.interface.source == "mcp" or call.interface.type in _HERE:
            return await self._local.run(call)
        if self._connecting is None:
            self._connecting = asyncio.ensure_future(_connected(self._address))
        client = await asyncio.shield(self._connecting)
        future = client.submit(run_remotely, call.interface, call.params, _plain(call.context), pure=False)
        try:
            told = await future
        except asyncio.CancelledError:
            await future.cancel(force=True)
            raise
        except Exception as exc:
            raise NodeFailed(
                f"The cluster could not run it: {type(exc).__name__}: {exc}",
                hint="See the logs of its workers. A node that ends its worker is given up after some attempts.",
            ) from exc
        if "error" in told:
            raise _as_raised(told["error"])
        return Outcome(from_json(told["outputs"]), told["action"])

    async def close(self) -> None:
        await self._local.close()
        if self._connecting is not None:
            (client,) = await asyncio.gather(self._connecting, return_exceptions=True)
            if not isinstance(client, BaseException):
                await client.close()


async def _connected(address: str) -> Any:
    """A client of the scheduler. Raises MissingExtra or ClusterUnreachable."""
    # What it has to say of its connections is nothing to whoever waits for a workflow.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        distributed = await in_thread(_distributed)
    except ModuleNotFoundError as exc:
        raise MissingExtra("dask", "Running nodes on a cluster") from exc
    try:
        return await distributed.Client(address, asynchronous=True, timeout=_CONNECTING_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as exc:
        raise ClusterUnreachable(
            f"No Dask scheduler answers at {address}.",
            hint="Start one with `dask scheduler`, and give its address as tcp://HOST:8786.",
            address=address,
        ) from exc


def _distributed() -> Any:
    import distributed

    return distributed


def _plain(context: Context) -> dict[str, Any]:
    """What of a context can travel."""
    return {
        "run_id": context.run_id,
        "workflow": context.workflow,
        "node_id": context.node_id,
        "home": str(context.home),
        "folder": str(context.folder),
        "spool": str(context.spool),
        "lineage": context.lineage,
        "timeout": context.timeout,
    }


def run_remotely(interface: Interface, params: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Run a node, on a worker. What it raises travels as plain values: a worker may have other versions than we."""
    from inspect import iscoroutinefunction

    values: dict[str, Any] = {**told, **{key: Path(told[key]) for key in ("home", "folder", "spool")}}
    context = Context(**values)
    try:
        function = Registry(context.home).function(interface)
        given = asyncio.run(function(params, context)) if iscoroutinefunction(function) else function(params, context)
        outcome = given if isinstance(given, Outcome) else Outcome(given or {})
        return {"outputs": as_json(outcome.outputs), "action": outcome.action}
    except UraniborgError as exc:
        outputs = exc.outputs if isinstance(exc, NodeFailed) else {}
        return {
            "error": {
                "code": exc.code,
                "message": exc.message,
                "hint": exc.hint,
                "ids": exc.ids,
                "outputs": as_json(outputs),
            }
        }
    except Exception as exc:
        message = f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__
        return {
            "error": {
                "code": NodeFailed.code,
                "message": message,
                "hint": "This comes from the node itself.",
                "ids": {"exception": type(exc).__name__},
                "outputs": b"{}",
            }
        }


def _as_raised(told: Mapping[str, Any]) -> NodeFailed:
    failed = NodeFailed(told["message"], hint=told["hint"], outputs=from_json(told["outputs"]), **told["ids"])
    if told["code"] != NodeFailed.code:
        failed.ids["cause"] = told["code"]
    return failed
