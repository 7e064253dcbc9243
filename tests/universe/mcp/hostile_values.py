"""Helpers for hostile tests: health checks, raw commands, and errors of all forms."""

import json
from typing import Any

import httpx

from tests.universe.mcp.wire import Session, call, message_in, refusal_in


async def is_alive(session: Session, u: str) -> bool:
    """Return True if the session still works and the universe still has its three bodies."""
    printed = await session.call("get_universe_state", universeId=u)
    return not printed.get("isError") and len(json.loads(printed["content"][0]["text"])["stars"]) == 3


async def send_raw_command(session: Session, u: str, written: str) -> httpx.Response:
    """Send a command whose JSON is given as text, and return the response."""
    requests = call("send_universe_command", universeId=u, command="COMMAND", **{"return": "events"})
    message = json.dumps(requests)
    return await session.post(message.replace('"COMMAND"', written).encode())


def get_error_of_response(response: httpx.Response) -> dict[str, Any]:
    """Return the error in a response: an HTTP refusal, a JSON-RPC error or a failed result."""
    if response.status_code >= 400:
        return refusal_in(response)
    message = message_in(response)
    if "error" in message:
        return message["error"]["data"]["error"]
    assert message["result"]["isError"] is True, response.text[:500]
    return json.loads(message["result"]["content"][0]["text"])["error"]
