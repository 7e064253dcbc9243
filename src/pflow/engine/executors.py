"""Where nodes are run: in this process, unless another executor is asked for."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Any, Final, Protocol

from pflow.node import Closable, Context, Function, Keeper, Outcome
from pflow.redaction import Secrets
from pflow.registry.interface import Interface
from uraniborg.kernel.request_ids import in_this_context

THREADS: Final = 32
"""How many nodes that are plain functions run at once."""
PATIENCE_S: Final = 5.0
"""For how long a coroutine that is cancelled is waited for."""


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt at one node: all that is needed to run it, wherever that is."""

    interface: Interface
    params: dict[str, Any]
    context: Context
    effect: str
    secrets: Secrets = field(default_factory=Secrets)


class Functions(Protocol):
    """What an executor asks of a registry."""

    def load_function(self, interface: Interface, /) -> Function: ...


class Executor(Protocol):
    """Runs nodes. One is made for each run, and closed when it ends."""

    @property
    def keeper(self) -> Keeper:
        """For nodes that run here."""
        ...

    async def run(self, call: Call) -> Mapping[str, Any] | Outcome:
        """What the node gave. Raises what the node raises; to be cancelled is to give up on it."""
        ...

    async def close(self) -> None: ...


class LocalExecutor:
    """Coroutines run on the loop of the run, plain functions each in a thread of its own.

    A thread that is given up on is left behind: nothing waits for it, not even the end of the process.
    """

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._known: dict[str, tuple[Function, bool]] = {}
        self._threads = asyncio.Semaphore(THREADS)
        self.keeper = LocalKeeper()

    async def run(self, call: Call) -> Mapping[str, Any] | Outcome:
        known = self._known.get(call.interface.type)
        if known is None:
            function = self._functions.load_function(call.interface)
            known = self._known[call.interface.type] = (function, iscoroutinefunction(function))
        function, is_async = known
        if is_async and call.interface.source == "user":
            return await in_task(function(call.params, call.context))
        if is_async:
            return await function(call.params, call.context)
        async with self._threads:
            return await in_thread(function, call.params, call.context)

    async def close(self) -> None:
        await self.keeper.close()


async def in_task(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns that may not want to end: if this is cancelled, it is too, and is left behind if it goes
    on all the same."""

    async def caught() -> tuple[Any, BaseException | None]:
        try:
            return await work, None
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # some of these would end the loop
            return None, exc

    task = asyncio.ensure_future(caught())
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task], timeout=PATIENCE_S)
        raise
    value, problem = task.result()
    if problem is not None:
        raise problem
    return value


async def in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns, called in a thread that nothing waits for if this is cancelled."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, exc: BaseException | None) -> None:
        if future.done():
            return
        if exc is None:
            future.set_result(value)
        else:
            future.set_exception(exc)

    def work() -> None:
        value, problem = None, None
        try:
            value = function(*arguments)
        except BaseException as exc:
            # A future takes anything but this.
            problem = RuntimeError(f"{type(exc).__name__} ended the node") if isinstance(exc, StopIteration) else exc
        if not loop.is_closed():
            try:
                loop.call_soon_threadsafe(settle, value, problem)
            except RuntimeError:
                return  # it was closed just now, and nobody waits

    name = f"pflow-{getattr(function, '__name__', 'node')}"
    threading.Thread(target=in_this_context(work), daemon=True, name=name).start()
    return await future


class LocalKeeper:
    """Keeps what nodes of one run share."""

    def __init__(self) -> None:
        self._kept: dict[str, asyncio.Task[Any]] = {}

    async def keep(self, key: str, make: Callable[[], Awaitable[Closable]]) -> Any:
        task = self._kept.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._kept[key] = asyncio.ensure_future(_made(make))
        return await asyncio.shield(task)

    async def close(self) -> None:
        for task in self._kept.values():
            if not task.done():
                task.cancel()
        for made in await asyncio.gather(*self._kept.values(), return_exceptions=True):
            if not isinstance(made, BaseException):
                await asyncio.gather(made.close(), return_exceptions=True)
        self._kept.clear()


async def _made(make: Callable[[], Awaitable[Closable]]) -> Closable:
    return await make()
