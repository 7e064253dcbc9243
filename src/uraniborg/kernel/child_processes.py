"""Ensure that child processes end with the process that started them."""

import asyncio
import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress
from typing import Any, Final, cast

_CHILDREN_S: Final = 2.0


async def end_process(process: Process, *, within_s: float) -> int:
    """Close the input of a process, kill the process if it still runs after `within_s` seconds, and return its status.

    A killed process gets a moment in which its children end, too. Then its pipes are closed: `Process.wait` waits for
    their end, and a grandchild may keep the other end open.
    """
    if process.stdin is not None:
        process.stdin.close()
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), within_s)
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)  # `Process.kill` may take the status from the loop, which waits for it
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _CHILDREN_S)
    transport: asyncio.SubprocessTransport = cast("Any", process)._transport
    for stream in (1, 2):
        pipe = transport.get_pipe_transport(stream)
        if pipe is not None:
            pipe.close()
    return await process.wait()
