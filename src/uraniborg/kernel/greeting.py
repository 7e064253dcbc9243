"""What an MCP server says first. Loading the SDK takes longer than all else at its start, and a client need not wait.

Only greetings are answered here of which it is sure what the SDK will answer; whatever else comes first is left to it.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, cast

VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions of the protocol that the SDK speaks."""

_LARGEST_ID: Final = 2**53

_INFO: Final = {"name": str, "version": str, "title": str, "websiteUrl": str, "description": str}
_CAPABILITIES: Final[dict[str, Any]] = {
    "roots": {"listChanged": bool},
    "sampling": {"context": {}, "tools": {}},
    "elicitation": {"form": {}, "url": {}},
}
_MESSAGE: Final[dict[str, Any]] = {
    "jsonrpc": str,
    "id": object,
    "method": str,
    "params": {"protocolVersion": str, "capabilities": _CAPABILITIES, "clientInfo": _INFO},
}


@dataclass(frozen=True)
class Greeting:
    """Who a server says it is. It has tools and resources, no prompts, and nothing that can be subscribed to."""

    name: str
    version: str
    instructions: str

    def answer(self, line: bytes) -> bytes | None:
        """What the SDK answers to this line, as a line, or None if that is not sure."""
        try:
            message = json.loads(line.decode("utf-8", "replace"))
            json.dumps(message, ensure_ascii=False).encode()  # half characters are refused
        except (ValueError, RecursionError):
            return None
        if not (_has_shape(message, _MESSAGE) and _is_greeting(message)):
            return None
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": self._result(message["params"]["protocolVersion"])}
        return json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def _result(self, version: str) -> dict[str, Any]:
        return {
            "protocolVersion": version,
            "capabilities": {
                "resources": {"subscribe": False, "listChanged": False},
                "tools": {"listChanged": False},
            },
            "serverInfo": {"name": self.name, "version": self.version},
            "instructions": self.instructions,
        }


def _has_shape(value: Any, shape: Any) -> bool:
    """Whether an object has no other keys than these, and each the shape of its own."""
    if isinstance(shape, type):
        return isinstance(value, shape)
    if not isinstance(value, dict):
        return False
    keys = cast("dict[str, Any]", value)
    return all(key in shape and _has_shape(its, shape[key]) for key, its in keys.items())


def _is_greeting(message: dict[str, Any]) -> bool:
    params: dict[str, Any] = message.get("params", {})
    given = message.get("id")
    return (
        message.get("jsonrpc") == "2.0"
        and message.get("method") == "initialize"
        and (isinstance(given, str) or (type(given) is int and abs(given) < _LARGEST_ID))
        and params.get("protocolVersion") in VERSIONS
        and "capabilities" in params
        and {"name", "version"} <= params.get("clientInfo", {}).keys()
    )
