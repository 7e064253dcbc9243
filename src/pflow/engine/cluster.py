"""Nodes on a Dask cluster: the same nodes, the same checkpoint and the same log, run by workers elsewhere.

A cluster computes again what a worker had finished that died. So nodes with effects stay here, where it is written down
before and after that they ran; what goes to the cluster may run more than once. Workers have this package installed,
and see the files that nodes name under the same paths.
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
from typing import Any, Final, cast

from pflow.engine.attempts import as_pflow_error
from pflow.engine.executors import Call, LocalExecutor, in_thread
from pflow.engine.values import as_json, from_json
from pflow.errors import ApprovalRequired, ClusterUnreachable, NodeFailed, NodeTimedOut, PflowError
from pflow.node import Context, Outcome
from pflow.redaction import Secrets
from pflow.registry.registry import Registry
from uraniborg.kernel.errors import MissingExtra, UraniborgError
from uraniborg.kernel.ids import new_id

_CONNECTING_S: Final = 10.0
_CLOSING_S: Final = 10.0
_LOOKING_S: Final = 1.0
_ALONE_S: Final = 60.0
"""For how long nobody need be there to work: a cluster that grows when it is asked to takes its time."""
_HERE: Final = ("mcp", "approval")
"""Types that need what only this process has: a connection that is kept, or the inbox of its user."""
_LOGGERS: Final = ("distributed", "distributed.client", "distributed.gc", "tornado", "tornado.application")
_LIKE: Final[dict[str, type[PflowError]]] = {kind.code: kind for kind in (ApprovalRequired, NodeTimedOut)}
"""Errors that the engine does not take for just any failure."""
_START: Final = "Start one with `dask scheduler`, and give its address as tcp://HOST:8786."
_AGAIN: Final = "Look at the cluster, then run it again: it goes on from where it came to."


class ClusterExecutor:
    """Sends nodes to the scheduler at `address`, which it connects to when the first is to be sent.

    A node that is given up on before a worker began with it never runs; one that runs is left to end by itself.
    """

    def __init__(self, registry: Registry, address: str) -> None:
        self._local = LocalExecutor(registry)
        self._address = address
        self._connecting: asyncio.Task[_Cluster] | None = None

    @property
    def keeper(self) -> Any:
        return self._local.keeper

    async def run(self, call: Call) -> Mapping[str, Any] | Outcome:
        if call.effect == "effectful" or call.interface.source == "mcp" or call.interface.type in _HERE:
            return await self._local.run(call)
        if self._connecting is None:
            self._connecting = asyncio.create_task(_connected(self._address))
        cluster = await asyncio.shield(self._connecting)
        reply = await cluster.answer(call.interface.type, _packed(call))
        if "error" in reply:
            raise _raised(reply["error"])
        outputs = reply["outputs"]
        plain = from_json(outputs) if isinstance(outputs, bytes) else outputs
        return Outcome(plain, reply["action"], tuple(reply.get("warnings", ())))

    async def close(self) -> None:
        await self._local.close()
        if self._connecting is not None:
            self._connecting.cancel()
            (cluster,) = await asyncio.gather(self._connecting, return_exceptions=True)
            if isinstance(cluster, _Cluster):
                await cluster.close()


class _Cluster:
    """A client of a scheduler, and someone who looks whether anybody works for it: it would wait for ever."""

    def __init__(self, client: Any, address: str) -> None:
        self._client = client
        self._address = address
        self._waiting = 0
        self._watch = asyncio.create_task(self._abandoned())

    async def answer(self, kind: str, parcel: "Parcel") -> dict[str, Any]:
        """What `run_remotely` makes of it. Raises ClusterUnreachable, and NodeFailed if the cluster gave up on it."""
        try:
            future = self._client.submit(run_remotely, parcel, key=f"{kind}-{new_id()}", pure=False)
        except Exception as exc:
            raise self._unreachable(f"takes nothing any more ({_told(exc)})") from exc
        answer = asyncio.ensure_future(future.result())
        answer.add_done_callback(_seen)
        self._waiting += 1
        try:
            await asyncio.wait({answer, self._watch}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise self._unreachable(self._watch.result())
            if (exc := answer.exception()) is not None:
                raise self._failure(exc) from exc
            return answer.result()
        finally:
            self._waiting -= 1
            answer.cancel()
            future.release()  # what nobody waits for any more the scheduler forgets

    async def close(self) -> None:
        self._watch.cancel()
        await _closed(self._client)

    async def _abandoned(self) -> str:
        """What is wrong, once nobody has worked for those who wait for a while."""
        since: float | None = None
        while True:
            await asyncio.sleep(_LOOKING_S)
            problem = await self._problem() if self._waiting else ""
            if not problem:
                since = None
                continue
            since = time.monotonic() if since is None else since
            if time.monotonic() - since >= _ALONE_S:
                return problem

    async def _problem(self) -> str:
        try:
            async with asyncio.timeout(_CONNECTING_S):
                workers = await self._client.scheduler.ncores()
        except Exception:  # of many kinds, and all of them mean the same
            return "does not answer any more"
        return "" if workers else f"has had no worker for {_ALONE_S:g} seconds"

    def _failure(self, exc: BaseException) -> PflowError:
        from distributed.client import FutureCancelledError

        if isinstance(exc, FutureCancelledError):
            return self._unreachable(f"dropped this node: {exc.reason.replace('-', ' ')}")
        return NodeFailed(
            f"The cluster could not run it: {_told(exc)}",
            hint="See the logs of its workers, which need the same packages. A node that ends its worker is given up.",
            exception=type(exc).__name__,
        )

    def _unreachable(self, problem: str) -> ClusterUnreachable:
        return ClusterUnreachable(
            f"The Dask scheduler at {self._address} {problem}.", hint=_AGAIN, address=self._address
        )


def _seen(answer: "asyncio.Future[Any]") -> None:
    """Look at what it raised, or asyncio prints that nobody did."""
    if not answer.cancelled():
        answer.exception()


async def _connected(address: str) -> _Cluster:
    """Raises MissingExtra or ClusterUnreachable."""
    try:
        distributed = await in_thread(_distributed)
    except ModuleNotFoundError as exc:
        raise MissingExtra("dask", "Running nodes on a cluster") from exc
    client = None
    try:
        client = distributed.Client(address, asynchronous=True, timeout=_CONNECTING_S, set_as_default=False)
        await client
        for topic in ("print", "warn"):  # which would be printed here
            client.unsubscribe_topic(topic)
    except BaseException as exc:
        if client is not None:
            await _closed(client)
        if not isinstance(exc, Exception):
            raise
        raise ClusterUnreachable(
            f"No Dask scheduler answers at '{address}': {_told(exc)}", hint=_START, address=address
        ) from exc
    return _Cluster(client, address)


async def _closed(client: Any) -> None:
    with suppress(Exception):
        await client.close(timeout=_CLOSING_S)


def _distributed() -> Any:
    import distributed

    # What it has to say of its connections is nothing to whoever waits for a workflow, and may not be printed.
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module="distributed")
    return distributed


@dataclass(frozen=True, slots=True)
class Parcel:
    """A call on its way. It is closed: a worker that cannot even open it says in its log what it was given."""

    data: bytes = field(repr=False)


def _packed(call: Call) -> Parcel:
    context = call.context
    fields: dict[str, Any] = {
        "run_id": context.run_id,
        "workflow": context.workflow,
        "node_id": context.node_id,
        "home": context.home.absolute(),
        "folder": context.folder.absolute(),
        "spool": context.spool.absolute(),
        "lineage": context.lineage,
        "timeout": context.timeout,
        "pass_env": context.pass_env,
    }
    try:
        return Parcel(pickle.dumps((call.interface, call.params, fields, call.secrets.own)))
    except RecursionError:
        raise NodeFailed("A parameter is nested too deep.", hint="Pass it on as a text of JSON.") from None


def run_remotely(parcel: Parcel) -> dict[str, Any]:
    """Run a node, on a worker. What it raises travels as plain values: here and there may be different versions."""
    try:
        interface, params, fields, secrets = pickle.loads(parcel.data)  # noqa: S301 - it comes from who may run any code here
        context = Context(**fields, mask=Secrets(secrets).masked)
        function = Registry(context.home).load_function(interface)
        is_async = iscoroutinefunction(function)
        given = asyncio.run(_in_time(function(params, context), context)) if is_async else function(params, context)
        outcome = given if isinstance(given, Outcome) else Outcome({} if given is None else given)
        action: Any = outcome.action
        return {
            "outputs": _portable(outcome.outputs),
            "action": action if isinstance(action, str) else None,
            "warnings": [str(one) for one in outcome.warnings],
        }
    except UraniborgError as exc:
        return {"error": _plain(as_pflow_error(exc))}
    except BaseException as exc:  # one that ends processes must not end the worker
        failed = NodeFailed(_told(exc), hint="This comes from the node itself.", exception=type(exc).__name__)
        return {"error": _plain(failed)}


async def _in_time(running: Any, context: Context) -> Any:
    async with asyncio.timeout(context.timeout):  # by then nobody waits for it any more
        return await running


def _portable(outputs: Any) -> Any:
    """Outputs as JSON; or as they are if bytes are in them, in which secrets are looked for before they become text."""
    text = as_json(outputs)
    return outputs if _has_bytes(outputs) else text


def _has_bytes(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_bytes, cast("Mapping[Any, Any]", value).values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(_has_bytes, cast("list[Any]", value)))
    return isinstance(value, (bytes, bytearray))


def _plain(error: PflowError) -> dict[str, Any]:
    return {
        "code": error.code,
        "type": error.type,
        "message": error.message,
        "hint": error.hint,
        "ids": {name: _json_of(value, f"<{type(value).__name__}>") for name, value in error.ids.items()},
        "outputs": _json_of(error.outputs, {}) if isinstance(error, NodeFailed) else {},
    }


def _json_of(value: Any, instead: Any) -> Any:
    """The value in its JSON form; something else in its place if it has none."""
    try:
        return from_json(as_json({"it": value}))["it"]
    except NodeFailed:
        return instead


def _raised(told: Mapping[str, Any]) -> PflowError:
    """The error that a node raised elsewhere, by the code and the type that it had there."""
    base = _LIKE.get(told["code"], NodeFailed)
    kind: type[Any] = base
    if (base.code, base.type) != (told["code"], told["type"]):
        kind = type("RaisedElsewhere", (base,), {"code": told["code"], "type": told["type"]})
    outputs = {"outputs": told["outputs"]} if issubclass(base, NodeFailed) else {}
    return kind(told["message"], hint=told["hint"], **outputs, **told["ids"])


def _told(exc: BaseException) -> str:
    try:
        text = str(exc)
    except Exception:  # its own words may be as broken as the node
        text = ""
    return f"{type(exc).__name__}: {text}" if text else type(exc).__name__
