"""A server over stdin and stdout: its signals, its cleanup and its end."""

import asyncio
import os
import select
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import FrameType
from typing import Final

from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.mcp.protocol import Protocol
from uraniborg.kernel.mcp.stdio_exchange import Exchange
from uraniborg.kernel.processes.reserved_stdio import ENDING, Client

Cleanup = Callable[[], Awaitable[None]]

ANSWERS_WITHIN_S: Final = 60.0
"""The time for open requests after the end of input; no tool of our servers waits for longer."""

_log = get_logger(__name__)


def run_stdio(
    protocol: Protocol,
    *,
    cleanup: Cleanup | None = None,
    interrupted: Cleanup | None = None,
    grace: float = 5.0,
    patience: float = ANSWERS_WITHIN_S,
) -> None:
    """Serve one client over stdin and stdout; return after it has closed stdin and received its replies.

    Requests that were received when input ends are answered within `patience` seconds, unless nobody reads stdout; then
    calls are cancelled, and those that ignore it are abandoned after `grace` seconds. Work in threads is finished.

    The output of the process and of its children goes to stderr; children read nothing from stdin. SIGINT and SIGTERM
    end the process with 130 and 143, also during a call. `cleanup` is always awaited before the end, for at most
    `grace` seconds; a second signal does not wait for it. `interrupted` is awaited before that, only if a signal ends
    the process: calls whose client has left are completed. Call this function from the main thread.
    """
    asyncio.run(_serve_client(protocol, Client(), cleanup, interrupted, grace, patience))


async def _serve_client(
    protocol: Protocol,
    client: Client,
    cleanup: Cleanup | None,
    interrupted: Cleanup | None,
    grace: float,
    patience: float,
) -> None:
    exit_code = _watch_signals(None if cleanup is None and interrupted is None else grace)
    exchange = Exchange(protocol, client, patience)
    session = asyncio.create_task(exchange.run())
    over = asyncio.create_task(exchange.over.wait())
    await asyncio.wait([session, over, exit_code], return_when=asyncio.FIRST_COMPLETED)
    if not exit_code.done():
        await asyncio.wait([session, exit_code], timeout=grace, return_when=asyncio.FIRST_COMPLETED)
    signalled = exit_code.done()
    if signalled:
        await _await_within(interrupted, grace)
    await _await_within(cleanup, grace)
    if not signalled:
        # Calls whose client has left continue in threads, and a signal must still end them.
        ending = asyncio.ensure_future(asyncio.get_running_loop().shutdown_default_executor())
        await asyncio.wait([ending, exit_code], return_when=asyncio.FIRST_COMPLETED)
        if exit_code.done():
            await _await_within(interrupted, grace)
    if exit_code.done():
        os._exit(exit_code.result())
    over.cancel()
    await _end_tasks(client, grace)
    await session


async def _await_within(clean: Cleanup | None, grace: float) -> None:
    """Await `clean` for at most `grace` seconds, even if it ignores its cancellation."""
    if clean is None:
        return
    task = asyncio.ensure_future(clean())
    await asyncio.wait([task], timeout=grace)
    error = TimeoutError() if not task.done() else None if task.cancelled() else task.exception()
    task.cancel()
    if error is not None:
        _log.exception("cleanup failed", exc=error)


async def _end_tasks(client: Client, grace: float) -> None:
    """Cancel all other tasks; end the process if one ignores that, or if nobody reads its output."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=grace)
    left = sum(not task.done() for task in tasks)
    if left or client.is_writing:
        _log.warning("the process ends before its calls", tasks=left)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(0)


def _watch_signals(grace: float | None) -> asyncio.Future[int]:
    """Return a future exit code, set after SIGINT or SIGTERM; the process ends at most `grace` seconds later.

    A thread reads the numbers of signals from the wakeup descriptor of the interpreter. The loop may be busy with a
    call, or have ended while threads still run; and a signal handler interrupts other code, too late if that code is
    about to wait for input, and unsafely if it holds locks.
    """
    loop = asyncio.get_running_loop()
    exit_code: asyncio.Future[int] = loop.create_future()
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)

    def watch() -> None:
        while (number := os.read(read_end, 1)[0]) not in ENDING:
            pass
        if grace is not None:
            with suppress(RuntimeError):  # the loop is closed already
                loop.call_soon_threadsafe(exit_code.set_result, 128 + number)
            select.select([read_end], [], [], grace)
        os._exit(128 + number)

    threading.Thread(target=watch, name="signals", daemon=True).start()
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for ending in ENDING:
        signal.signal(ending, _ignore_signal)
    return exit_code


def _ignore_signal(_number: int, _frame: FrameType | None) -> None:
    """Do nothing, in place of the default action of the signal."""
