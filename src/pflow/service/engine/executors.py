"""Executors: they run nodes, in this process or elsewhere."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from pflow.domain.node import Closable, Function, NodeContext, Returned, SharedObjects
from pflow.domain.node_interface import Interface
from pflow.domain.redaction import Secrets
from pflow.service.engine.cancellation import CANCEL_TIMEOUT_S
from uraniborg.kernel.ids import bind_context

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

THREADS: Final = 32
"""How many nodes that are plain functions run at the same time."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a node: everything an executor needs to run it."""

    interface: Interface
    params: "JsonObject"
    context: NodeContext
    effect: str
    secrets: Secrets = field(default_factory=Secrets)


class FunctionLoader(Protocol):
    """The part of a registry that an executor uses."""

    def load_function(self, interface: Interface, /) -> Function: ...


class Executor(Protocol):
    """Runs nodes. Each run has its own, and closes it."""

    @property
    def shared_objects(self) -> SharedObjects:
        """The objects that the nodes in this process share."""
        ...

    async def run_node(self, call: Call) -> Returned:
        """Return what the node returns, and raise what it raises. If cancelled, stop waiting for it."""
        ...

    async def close(self) -> None: ...


class LocalExecutor:
    """Runs coroutines on the event loop of the run, and each plain function in its own thread.

    A thread that is not waited for any more does not keep the process alive.
    """

    def __init__(self, function_loader: FunctionLoader) -> None:
        self._function_loader = function_loader
        self._known: dict[str, tuple[Function, bool]] = {}
        self._threads = asyncio.Semaphore(THREADS)
        self.shared_objects = LocalSharedObjects()

    async def run_node(self, call: Call) -> Returned:
        known = self._known.get(call.interface.type)
        if known is None:
            function = self._function_loader.load_function(call.interface)
            known = self._known[call.interface.type] = (function, iscoroutinefunction(function))
        function, is_async = known
        if is_async:
            coroutine = cast("Coroutine[Any, Any, Returned]", function(call.params, call.context))
            return await (run_in_task(coroutine) if call.interface.source == "user" else coroutine)
        async with self._threads:
            return await run_in_thread(function, call.params, call.context)

    async def close(self) -> None:
        await self.shared_objects.close()


async def run_in_task(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine returns. If cancelled, cancel it, and abandon it if it does not end in time."""

    async def catch_exceptions() -> tuple[Any, BaseException | None]:
        try:
            return await coroutine, None
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # some of these would end the loop
            return None, exc

    task = asyncio.ensure_future(catch_exceptions())
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_TIMEOUT_S)
        raise
    value, problem = task.result()
    if problem is not None:
        raise problem
    return value


async def run_in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what the function returns, called in a new thread. If cancelled, abandon the thread."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle_future(value: Any, exc: BaseException | None) -> None:
        if future.done():
            return
        if exc is None:
            future.set_result(value)
        else:
            future.set_exception(exc)

    def call_function() -> None:
        value, problem = None, None
        try:
            value = function(*arguments)
        except BaseException as exc:
            # A future accepts any exception but this.
            problem = RuntimeError(f"{type(exc).__name__} ended the node") if isinstance(exc, StopIteration) else exc
        if not loop.is_closed():
            try:
                loop.call_soon_threadsafe(settle_future, value, problem)
            except RuntimeError:
                return  # it was closed just now, and nothing waits

    name = f"pflow-{getattr(function, '__name__', 'node')}"
    threading.Thread(target=bind_context(call_function), daemon=True, name=name).start()
    return await future


class LocalSharedObjects:
    """Holds objects that the nodes of one run share, such as connections."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    async def get_or_create(self, key: str, create: Callable[[], Awaitable[Closable]]) -> Any:
        task = self._tasks.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._tasks[key] = asyncio.ensure_future(_create_object(create))
        return await asyncio.shield(task)

    async def close(self) -> None:
        for task in self._tasks.values():
            if not task.done():
                task.cancel()
        for shared in await asyncio.gather(*self._tasks.values(), return_exceptions=True):
            if not isinstance(shared, BaseException):
                await asyncio.gather(shared.close(), return_exceptions=True)
        self._tasks.clear()


async def _create_object(create: Callable[[], Awaitable[Closable]]) -> Closable:
    return await create()
