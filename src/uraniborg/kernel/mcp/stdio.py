"""Serving over stdin and stdout, which from then on belong to the protocol and to nothing else in the process."""

import asyncio
import json
import os
import re
import select
import signal
import sys
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
from uraniborg.kernel.text import whole_text

if TYPE_CHECKING:
    from uraniborg.kernel.mcp.server import Server

Cleanup = Callable[[], Awaitable[None]]

_CHUNK: Final = 1 << 16
_ENDING: Final = (signal.SIGINT, signal.SIGTERM)

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
    source, sink = _claim_standard_streams()
    asyncio.run(_serve(server.protocol, source, sink, cleanup, interrupted, grace))


def _claim_standard_streams() -> tuple[int, int]:
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    # What is printed shows at once: a signal ends the process without emptying buffers.
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        reconfigure(line_buffering=True)
    return source, sink


async def _serve(
    protocol: Protocol, source: int, sink: int, cleanup: Cleanup | None, interrupted: Cleanup | None, grace: float
) -> None:
    exit_code = _exit_code_of_first_signal(None if cleanup is None and interrupted is None else grace)
    session = asyncio.create_task(_exchange(protocol, source, sink))
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
        while (number := os.read(numbers, 1)[0]) not in _ENDING:
            pass
        if grace is not None:
            with suppress(RuntimeError):  # the loop is closed already
                loop.call_soon_threadsafe(exit_code.set_result, 128 + number)
            select.select([numbers], [], [], grace)
        os._exit(128 + number)

    threading.Thread(target=watch, name="signals", daemon=True).start()
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    for ending in _ENDING:
        signal.signal(ending, _leave_it_to_the_thread)
    return exit_code


def _leave_it_to_the_thread(_number: int, _frame: FrameType | None) -> None:
    """Only there so that the signal does not do what it does by default."""


async def _exchange(protocol: Protocol, source: int, sink: int) -> None:
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
            await _write(to_write, sink)
        except BrokenPipeError:
            tasks.cancel_scope.cancel()

    # A thread of its own, and a daemon: nothing else can be made to stop waiting for input.
    threading.Thread(target=_read, args=(source, deliver), name="stdin", daemon=True).start()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        await protocol.run(received, outgoing, protocol.create_initialization_options())


def _read(source: int, deliver: Callable[[bytes | None], None]) -> None:
    """Deliver each line, then None. Unbuffered: a buffer's lock, held while waiting, can end the interpreter badly."""
    parts: list[bytes] = []
    try:
        while chunk := os.read(source, _CHUNK):
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                if line := b"".join([*parts, end]).strip():
                    deliver(line)
                parts.clear()
            parts.append(rest)
    except OSError:
        return
    finally:
        deliver(None)


async def _write(messages: MemoryObjectReceiveStream[SessionMessage], sink: int) -> None:
    one_at_a_time = anyio.CapacityLimiter(1)
    async with messages:
        async for message in messages:
            line = message.message.model_dump_json(by_alias=True, exclude_none=True).encode() + b"\n"
            await anyio.to_thread.run_sync(_write_all, sink, line, abandon_on_cancel=True, limiter=one_at_a_time)


def _write_all(sink: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(sink, rest) :]


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
