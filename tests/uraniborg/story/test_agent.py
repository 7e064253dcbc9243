"""The agent of the story: a refusal of its server ends the request at once."""

import asyncio
from asyncio.subprocess import PIPE

import pytest

from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.processes.child_processes import end_process
from uraniborg.story.agents import Agent

REFUSE = """
read request
echo '{"jsonrpc": "2.0", "method": "notifications/message"}'
echo '{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "Unsupported protocol version"}}'
read request
"""
"""A server that refuses a request and then waits."""


async def test_a_request_that_the_server_refuses_raises_its_message() -> None:
    process = await asyncio.create_subprocess_exec("sh", "-c", REFUSE, stdin=PIPE, stdout=PIPE)
    with pytest.raises(Unavailable, match="The search server refused: Unsupported protocol version"):
        await Agent(process).send_request("initialize", {})
    await end_process(process, within_s=10.0)
