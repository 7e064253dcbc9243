"""A server over stdio that reports on stderr when it is interrupted, and when it has cleaned up."""

import asyncio
import sys

from tests.uraniborg.kernel.mcp.sample_server import clean_up, sample_server, say_on_stderr
from uraniborg.kernel.mcp import make_server
from uraniborg.kernel.mcp.stdio import run_stdio


def main() -> None:
    how, door = sys.argv[1:]

    async def interrupted() -> None:
        say_on_stderr("interrupted")
        if how == "fails":
            raise RuntimeError("no")
        if how == "forever":
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        say_on_stderr("ended what ran")

    if door == "run":
        make_server("made", version="1", instructions="", cleanup=clean_up, interrupted=interrupted).run()
    else:
        grace = float(door) if door[0].isdigit() else 5.0
        cleanup = None if door == "alone" else clean_up
        run_stdio(sample_server().protocol, cleanup=cleanup, interrupted=interrupted, grace=grace, patience=0.1)
