"""Serving the client at the other end of stdin and stdout."""

import asyncio
import json
import os
import re
import select
import signal
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage

from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.mcp.protocol import Protocol, UnreadableError
from uraniborg.kernel.stdio import ENDING, Client, client_of_this_process
from uraniborg.kernel.text import whole_text

if TYPE_CHECKING:
    from uraniborg.kernel.mcp.server import Server

Cleanup = Callable[[], Awaitable[None]]

_log = get_logger(__name__)


def run_stdio(
    server: "Server", *, cleanup: Cleanup | None = None, interrupted: Cleanup | None = None, grace: float = 5.0
) -> None:
    """Serve one client over stdin and stdout; return once it has closed stdin.

    What the process prints, and what its children print, goes to stderr; children read nothing from stdin. SIGINT and
    SIGTERM end the process with 130 and 143, during a call too. `cleanup` is awaited first, however the end comes, for
    at most `grace` seconds; a second signal does not wait for it. `interrupted` is awaited before that, and only if it
    is a signal that ends the process: calls whose client has left run on to their end. Call it from the main thread.
    """
    asyncio.run(_serve(server.protocol, client_of_this_process(), cleanup, interrupted, grace))


async def _serve(
    protocol: Protocol, client: Client, cleanup: Cleanup | None, interrupted: Cleanup | None, grace: float
) -> None:
    exit_code = _exit_code_of_first_signal(None if cleanup is None and interrupted is None else grace)
    session = asyncio.create_task(_exchange(protocol, client))
    await asyncio.wait([session, exit_code], return_when=asyncio.FIRST_COMPLETED)
    if exit_code.done():
        await _awaited(interrupted, grace)
    await _awaited(cleanup, grace)
    if not exit_code.done() and interrupted is not None:
        # Calls whose client has left run on in threads, and a signal must still end them.
        ending = asyncio.ensure_future(asyncio.get_running_loop().shutdown_default_executor())
        await asyncio.wait([ending, exit_code], return_when=asyncio.FIRST_COMPLETED)
        if exit_code.done():
            await _awaited(interrupted, grace)
    if exit_code.done():
        os._exit(exit_code.result())
    await session


async def _awaited(clean: Cleanup | None, grace: float) -> None:
    if clean is None:
        return
    try:
        async with asyncio.timeout(grace):
            await clean()
    except Exception as exc:
        _log.exception("cleanup failed", exc=exc)


def _exit_code_of_first_signal(grace: float | None) -> asyncio.Future[int]:
    """Known when SIGINT or SIGTERM has come; the process is gone `grace` seconds later at the latest.

    A thread is told of signals, through the descriptor that the interpreter writes their numbers to. The loop may be
    kept busy by a call, or have ended while threads are still at work; and a handler runs in the midst of other code,
    too late if that code is about to wait for input, and without its locks if it holds any.
    """
    loop = asyncio.get_running_loop()
    exit_code: asyncio.Future[int] = loop.create_future()
    numbers, told = os.pipe()
    os.set_blocking(told, False)

    def watch() -> None:
        while (number := os.read(numbers, 1)[0]) not in ENDING:
            pass
        if grace is not None:
            with suppress(RuntimeError):  # the loop is closed already
                loop.call_soon_threadsafe(exit_code.set_result, 128 + number)
            select.select([numbers], [], [], grace)
        os._exit(128 + number)

    threading.Thread(target=watch, name="signals", daemon=True).start()
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    for ending in ENDING:
        signal.signal(ending, _leave_it_to_the_thread)
    return exit_code


def _leave_it_to_the_thread(_number: int, _frame: FrameType | None) -> None:
    """Only there so that the signal does not do what it does by default."""


async def _exchange(protocol: Protocol, client: Client) -> None:
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
    outgoing, to_write = anyio.create_memory_object_stream[SessionMessage](0)
    loop = asyncio.get_running_loop()

    def hand_over(message: SessionMessage | Exception | None) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            incoming.close() if message is None else incoming.send_nowait(message)

    def deliver(line: bytes | None) -> None:
        with suppress(RuntimeError):  # the loop is closed already
            loop.call_soon_threadsafe(hand_over, None if line is None else parsed(line))

    async def write() -> None:
        try:
            await _write(to_write, client)
        except BrokenPipeError:
            tasks.cancel_scope.cancel()

    client.listen(deliver)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        await protocol.run(received, outgoing, protocol.create_initialization_options())


async def _write(messages: MemoryObjectReceiveStream[SessionMessage], client: Client) -> None:
    one_at_a_time = anyio.CapacityLimiter(1)
    greeted = json.loads(client.greeted) if client.greeted else None
    async with messages:
        async for message in messages:
            line = message.message.model_dump_json(by_alias=True, exclude_none=True).encode() + b"\n"
            if greeted and greeted["id"] == getattr(message.message.root, "id", None):
                # It has had this answer.
                if json.loads(line) != greeted:
                    _log.error("a client was greeted with what is not so")
                greeted = None
                continue
            await anyio.to_thread.run_sync(client.write, line, abandon_on_cancel=True, limiter=one_at_a_time)


def parsed(line: bytes) -> SessionMessage | UnreadableError:
    """The message in a line of input, or what stands for one that cannot be read."""
    raw: Any = None
    text = line.decode("utf-8", "replace")
    try:
        raw = json.loads(text)
        return SessionMessage(JSONRPCMessage.model_validate(raw))
    except RecursionError:
        given = _outermost_id(text)
    except ValueError:
        given = cast("dict[str, Any]", raw).get("id") if isinstance(raw, dict) else None
    answerable = type(given) is int or (isinstance(given, str) and whole_text(given) == given)
    return UnreadableError(given if answerable else None)


_SCANNED: Final = 4_096
_ID: Final = re.compile(r'"id"\s*:\s*(-?\d{1,15}|"[^"\\]{1,200}")\s*(?:,|$)')


def _outermost_id(text: str) -> Any:
    """The id of a message that is nested too deep to be parsed, if it stands before or after all that is nested."""
    before = re.split(r"[\[{]", text[:_SCANNED].lstrip()[1:], maxsplit=1)[0]
    _, *after = re.split(r"[\]}]", text[-_SCANNED:].rstrip()[:-1])
    found = _ID.search(before) or (_ID.search(after[-1]) if after else None)
    return json.loads(found[1]) if found else None
