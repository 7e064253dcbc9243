"""Other processes that append to the same universes."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.universe.store.sample_logs import SOON_S

_CHECKOUT = Path(__file__).resolve().parents[3]


@asynccontextmanager
async def run_append_process(
    address: str, writer: str = "w", *, times: int = 0, batch: int = 1
) -> AsyncGenerator[Process]:
    """Run a process that appends to the universe 'u', and kill it when the block ends if it is still running."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.universe.store.append_process", address, "u", writer, str(times), str(batch)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        cwd=_CHECKOUT,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            kill_process(process)
        await asyncio.wait_for(process.communicate(), SOON_S)


def kill_process(process: Process) -> None:
    """Not by asyncio, which would look whether it has ended and so take the exit code from its own watcher."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)


async def read_acknowledged(process: Process) -> int | None:
    """Return the last version of the next acknowledged append, or None at the end of the output."""
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), SOON_S)
    return int(line.split()[1]) if line.endswith(b"\n") else None


async def wait_until_finished(process: Process) -> list[int]:
    """Wait until the process exits successfully, and return the versions in the rest of its output."""
    out, err = await asyncio.wait_for(process.communicate(), SOON_S)
    assert process.returncode == 0, err.decode()
    return [int(line.split()[1]) for line in out.splitlines()]
