"""Run nodes on a Dask cluster, with the same resume point and the same log.

If a worker dies, a cluster repeats the nodes that the worker had finished. Therefore nodes with effects run in this
process, which records their start and their result. Nodes on the cluster may run more than once. Workers need this
package, and the files that nodes name under the same paths.
"""

import asyncio
import logging
import pickle
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

from pflow.domain.node import NodeContext, Outcome, Returned, SharedObjects
from pflow.domain.redaction import Secrets
from pflow.domain.value_conversion import encode_outputs, parse_exact_json
from pflow.errors import (
    ApprovalRequired,
    ClusterUnreachable,
    NodeFailed,
    NodeTimedOut,
    PflowError,
    as_pflow_error,
    describe_exception,
)
from pflow.service.engine.executors import Call, LocalExecutor, run_in_thread
from pflow.store.node_registry import Registry
from uraniborg.kernel.errors import MissingExtra, UraniborgError
from uraniborg.kernel.ids import new_id

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

_CONNECT_TIMEOUT_S: Final = 10.0
_CLOSE_TIMEOUT_S: Final = 10.0
_CHECK_INTERVAL_S: Final = 1.0
_NO_WORKER_S: Final = 60.0
"""How long a cluster may have no worker: one that scales on demand takes its time."""
_LOCAL_TYPES: Final = ("mcp", "approval")
"""Types that need a connection of this process, or the inbox of its user."""
_LOGGERS: Final = ("distributed", "distributed.client", "distributed.gc", "tornado", "tornado.application")
_ERROR_TYPES: Final[dict[str, type[PflowError]]] = {kind.code: kind for kind in (ApprovalRequired, NodeTimedOut)}
"""Errors that the engine treats differently from other failures."""
_START_HINT: Final = "Start one with `dask scheduler`, and give its address as tcp://HOST:8786."
_RESUME_HINT: Final = "Check the cluster, then run the workflow again to resume it."


class WorkerError(TypedDict):
    """The error of a node on a worker."""

    code: str
    type: str
    message: str
    hint: str
    ids: "JsonObject"
    outputs: "JsonObject"


class WorkerReply(TypedDict, total=False):
    """The outcome of a node on a worker, or its error. The parts may have different versions."""

    outputs: bytes | Mapping[str, object]
    """As JSON, or as they are if they contain bytes, which are searched for secrets first."""
    action: str | None
    warnings: list[str]
    error: WorkerError


class ClusterExecutor:
    """Sends nodes to the scheduler at `address`. The first node opens the connection.

    A node that is cancelled before a worker starts it never runs; one that runs is left to end by itself.
    """

    def __init__(self, registry: Registry, address: str) -> None:
        self._local = LocalExecutor(registry)
        self._address = address
        self._connecting: asyncio.Task[_Cluster] | None = None

    @property
    def shared_objects(self) -> SharedObjects:
        return self._local.shared_objects

    async def run_node(self, call: Call) -> Returned:
        if call.effect == "effectful" or call.interface.source == "mcp" or call.interface.type in _LOCAL_TYPES:
            return await self._local.run_node(call)
        if self._connecting is None:
            self._connecting = asyncio.create_task(_connect_to_scheduler(self._address))
        cluster = await asyncio.shield(self._connecting)
        reply = await cluster.run_pickled_call(call.interface.type, _pickle_call(call))
        if "error" in reply:
            raise _make_error_from_dict(reply["error"])
        outputs, action = reply.get("outputs"), cast("Any", reply.get("action"))  # None is refused, as from any node
        plain = parse_exact_json(outputs) if isinstance(outputs, bytes) else cast("Mapping[str, object]", outputs)
        return Outcome(plain, action, tuple(reply.get("warnings", ())))

    async def close(self) -> None:
        await self._local.close()
        if self._connecting is not None:
            self._connecting.cancel()
            (cluster,) = await asyncio.gather(self._connecting, return_exceptions=True)
            if isinstance(cluster, _Cluster):
                await cluster.close()


class _Cluster:
    """A client of a scheduler, with a watch for workers: without one it would wait forever."""

    def __init__(self, client: Any, address: str) -> None:
        self._client = client
        self._address = address
        self._waiting = 0
        self._watch = asyncio.create_task(self._wait_for_lasting_problem())

    async def run_pickled_call(self, node_type: str, pickled_call: "PickledCall") -> WorkerReply:
        """Return the reply of `run_on_worker`. Raise ClusterUnreachable, or NodeFailed if the cluster gave up."""
        try:
            future = self._client.submit(run_on_worker, pickled_call, key=f"{node_type}-{new_id()}", pure=False)
        except Exception as exc:
            raise self._make_unreachable_error(f"accepts no more nodes ({describe_exception(exc)})") from exc
        answer = asyncio.ensure_future(future.result())
        answer.add_done_callback(_mark_exception_retrieved)
        self._waiting += 1
        try:
            await asyncio.wait({answer, self._watch}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise self._make_unreachable_error(self._watch.result())
            if (exc := answer.exception()) is not None:
                raise self._convert_cluster_error(exc) from exc
            return answer.result()
        finally:
            self._waiting -= 1
            answer.cancel()
            future.release()  # lets the scheduler forget the node

    async def close(self) -> None:
        self._watch.cancel()
        await _close_client(self._client)

    async def _wait_for_lasting_problem(self) -> str:
        """Return the problem of the cluster once calls have waited for a worker for too long."""
        since: float | None = None
        while True:
            await asyncio.sleep(_CHECK_INTERVAL_S)
            problem = await self._find_worker_problem() if self._waiting else ""
            if not problem:
                since = None
                continue
            since = time.monotonic() if since is None else since
            if time.monotonic() - since >= _NO_WORKER_S:
                return problem

    async def _find_worker_problem(self) -> str:
        """Return why no worker runs calls at the moment, or an empty string."""
        try:
            async with asyncio.timeout(_CONNECT_TIMEOUT_S):
                workers = await self._client.scheduler.ncores()
        except Exception:  # of many types with the same meaning
            return "does not answer any more"
        return "" if workers else f"has had no worker for {_NO_WORKER_S:g} seconds"

    def _convert_cluster_error(self, exc: BaseException) -> PflowError:
        from distributed.client import FutureCancelledError

        if isinstance(exc, FutureCancelledError):
            return self._make_unreachable_error(f"dropped this node: {exc.reason.replace('-', ' ')}")
        return NodeFailed(
            f"The cluster could not run it: {describe_exception(exc)}",
            hint="Read the logs of its workers, which need the same packages. A node that ends its worker fails.",
            exception=type(exc).__name__,
        )

    def _make_unreachable_error(self, problem: str) -> ClusterUnreachable:
        return ClusterUnreachable(
            f"The Dask scheduler at {self._address} {problem}.", hint=_RESUME_HINT, address=self._address
        )


def _mark_exception_retrieved(answer: "asyncio.Future[Any]") -> None:
    """Retrieve the exception of a future, or asyncio logs that it was never retrieved."""
    if not answer.cancelled():
        answer.exception()


async def _connect_to_scheduler(address: str) -> _Cluster:
    """Return a connection to a scheduler. Raise MissingExtra or ClusterUnreachable."""
    try:
        distributed = await run_in_thread(_import_and_silence_distributed)
    except ModuleNotFoundError as exc:
        raise MissingExtra("dask", "Running nodes on a cluster") from exc
    client = None
    try:
        client = distributed.Client(address, asynchronous=True, timeout=_CONNECT_TIMEOUT_S, set_as_default=False)
        async with asyncio.timeout(2 * _CONNECT_TIMEOUT_S):  # Dask's own timeout does not cover all of its attempts
            await client
        for topic in ("print", "warn"):  # whose messages would be printed here
            client.unsubscribe_topic(topic)
    except BaseException as exc:
        if client is not None:
            await _close_client(client)
        if not isinstance(exc, Exception):
            raise
        raise ClusterUnreachable(
            f"No Dask scheduler answers at '{address}': {describe_exception(exc)}", hint=_START_HINT, address=address
        ) from exc
    return _Cluster(client, address)


async def _close_client(client: Any) -> None:
    with suppress(Exception):
        async with asyncio.timeout(2 * _CLOSE_TIMEOUT_S):
            await client.close(timeout=_CLOSE_TIMEOUT_S)


def _import_and_silence_distributed() -> Any:
    """Return the module `distributed`, with its log and warnings silenced."""
    import distributed

    # Its messages about connections would mix with the output of the workflow.
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module="distributed")
    return distributed


@dataclass(frozen=True, slots=True)
class PickledCall:
    """A call as bytes: a worker that cannot unpickle it would log its content otherwise."""

    data: bytes = field(repr=False)


def _pickle_call(call: Call) -> PickledCall:
    """Return a call as bytes for a worker. Raise NodeFailed if it is nested too deep."""
    context = call.context
    fields = {
        "run_id": context.run_id,
        "workflow": context.workflow,
        "node_id": context.node_id,
        "home": context.home.absolute(),
        "folder": context.folder.absolute(),
        "spool": context.spool.absolute(),
        "lineage": context.lineage,
        "timeout": context.timeout,
        "pass_env": context.pass_env,
        "actor": context.actor,
    }
    try:
        return PickledCall(pickle.dumps((call.interface, call.params, fields, call.secrets.own_values)))
    except RecursionError:
        raise NodeFailed("A parameter is nested too deep.", hint="Pass it on as a text of JSON.") from None


def run_on_worker(pickled_call: PickledCall) -> WorkerReply:
    """Run a node on a worker, and return its outcome or its error as plain values: versions may differ."""
    try:
        interface, params, fields, secrets = pickle.loads(pickled_call.data)  # noqa: S301 - the sender may run any code here
        context = NodeContext(**fields, mask=Secrets(secrets).mask)
        function = Registry(context.home).load_function(interface)
        given: Any = function(params, context)
        if iscoroutinefunction(function):
            given = asyncio.run(_await_with_timeout(given, context))
        outcome = given if isinstance(given, Outcome) else Outcome({} if given is None else given)
        action: Any = outcome.action
        return {
            "outputs": _encode_outputs_without_bytes(outcome.outputs),
            "action": action if isinstance(action, str) else None,
            "warnings": [str(one) for one in outcome.warnings],
        }
    except UraniborgError as exc:
        return {"error": _convert_error_to_dict(as_pflow_error(exc))}
    except BaseException as exc:  # an exception that ends a process must not end the worker
        failed = NodeFailed(
            describe_exception(exc), hint="The error comes from the node itself.", exception=type(exc).__name__
        )
        return {"error": _convert_error_to_dict(failed)}


async def _await_with_timeout(awaitable: Any, context: NodeContext) -> Any:
    async with asyncio.timeout(context.timeout):  # by then the caller has stopped waiting
        return await awaitable


def _encode_outputs_without_bytes(outputs: Mapping[str, object]) -> bytes | Mapping[str, object]:
    """Return outputs as JSON, or as they are if they contain bytes, which are searched for secrets first."""
    text = encode_outputs(outputs)
    return outputs if _contains_bytes(outputs) else text


def _contains_bytes(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_contains_bytes, cast("Mapping[Any, Any]", value).values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(_contains_bytes, cast("list[Any]", value)))
    return isinstance(value, (bytes, bytearray))


def _convert_error_to_dict(error: PflowError) -> WorkerError:
    return {
        "code": error.code,
        "type": error.type,
        "message": error.message,
        "hint": error.hint,
        "ids": {name: _convert_to_json_value(value, f"<{type(value).__name__}>") for name, value in error.ids.items()},
        "outputs": _convert_to_json_value(error.outputs, {}) if isinstance(error, NodeFailed) else {},
    }


def _convert_to_json_value(value: Any, fallback: Any) -> Any:
    """Return the value in its JSON form, or `fallback` if it has none."""
    try:
        return parse_exact_json(encode_outputs({"it": value}))["it"]
    except NodeFailed:
        return fallback


def _make_error_from_dict(error_dict: WorkerError) -> PflowError:
    """Return the error that a node raised on a worker, with its code and type."""
    base = _ERROR_TYPES.get(error_dict["code"], NodeFailed)
    kind: type[Any] = base
    if (base.code, base.type) != (error_dict["code"], error_dict["type"]):
        kind = type("RaisedElsewhere", (base,), {"code": error_dict["code"], "type": error_dict["type"]})
    outputs = {"outputs": error_dict["outputs"]} if issubclass(base, NodeFailed) else {}
    return kind(error_dict["message"], hint=error_dict["hint"], **outputs, **error_dict["ids"])
