"""A server that speaks just enough of the protocol to misbehave in the way its first argument says."""

import json
import os
import subprocess
import sys
from typing import Any


def answer(message: dict[str, Any], result: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


def hello(message: dict[str, Any]) -> None:
    capabilities: dict[str, Any] = {"tools": {}}
    info = {"name": "odd", "version": "0.9"}
    result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": capabilities, "serverInfo": info}
    answer(message, result)


def tools(message: dict[str, Any]) -> None:
    """Three pages, the last of which claims to be followed by itself."""
    params: dict[str, Any] = message.get("params") or {}
    page = int(params.get("cursor") or 0)
    following = str(min(page + 1, 2))
    listed = [{"name": f"tool{page}", "description": "One of three.", "inputSchema": {"type": "object"}}]
    answer(message, {"tools": listed, "nextCursor": following})


def called(message: dict[str, Any], how: str) -> None:
    if how == "dies-in-a-call":
        print("out of memory, token=sk-very-secret-1", file=sys.stderr, flush=True)
        os._exit(9)
    if how == "answers-nonsense":
        answer(message, {"content": "no list"})
    if how == "noisy":
        print("this is not a message", flush=True)
        print("x" * 1_000_000, file=sys.stderr, flush=True)
        answer(message, {"content": [{"type": "text", "text": "still here"}]})
    if how == "refuses":
        error = {"code": -32602, "message": "No such tool. api_key=sk-very-secret-2"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)


def main() -> None:
    how = sys.argv[1]
    if how == "dies-at-once":
        print("line 1\n" * 100 + "cannot find its settings", file=sys.stderr)
        sys.exit(3)
    if how == "leaves-a-child":
        subprocess.Popen(["sleep", "30"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        sys.exit(3)
    for line in sys.stdin:
        message = json.loads(line)
        if how == "silent":
            continue
        match message.get("method"):
            case "initialize":
                hello(message)
            case "tools/list":
                tools(message)
            case "tools/call":
                called(message, how)
            case _:
                pass


if __name__ == "__main__":
    main()
