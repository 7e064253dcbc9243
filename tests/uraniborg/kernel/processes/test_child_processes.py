"""The end of child processes."""

import asyncio
import gc
import os
import signal
import sys
import warnings
from asyncio.subprocess import PIPE, Process

from uraniborg.kernel.processes.child_processes import end_process

READS_UNTIL_THE_END = "import sys; sys.stdin.read()"
IGNORES_ITS_INPUT = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
LEAVES_A_CHILD = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {IGNORES_ITS_INPUT!r}])
sys.stdin.read()
"""


async def start(script: str) -> Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdin=PIPE, stdout=PIPE)


async def test_a_process_that_reads_its_input_ends_by_itself() -> None:
    assert await end_process(await start(READS_UNTIL_THE_END), within_s=30) == 0


async def test_a_process_that_does_not_end_is_killed() -> None:
    process = await start(IGNORES_ITS_INPUT)
    assert process.stdout is not None
    await process.stdout.readline()
    assert await end_process(process, within_s=0) == -signal.SIGKILL


async def test_a_process_that_has_ended_keeps_its_status() -> None:
    process = await start("import sys; sys.exit(3)")
    await process.wait()
    assert await end_process(process, within_s=0) == 3


def test_the_pipes_are_closed_although_a_grandchild_has_them_open() -> None:
    async def leave_a_grandchild() -> None:
        process = await start(LEAVES_A_CHILD)
        assert process.stdout is not None
        grandchild = int(await process.stdout.readline())
        reading = asyncio.create_task(process.stdout.read())
        try:
            async with asyncio.timeout(60):
                await end_process(process, within_s=0)
                assert await reading == b""
        finally:
            os.kill(grandchild, signal.SIGKILL)

    with warnings.catch_warnings(record=True, action="always") as caught:
        asyncio.run(leave_a_grandchild())
        gc.collect()
    assert [str(one.message) for one in caught] == []
