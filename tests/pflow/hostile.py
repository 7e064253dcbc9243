"""Helpers for hostile input: run workflows in this process or another, and check the replies."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from pflow.config import Settings
from pflow.errors import PflowError
from pflow.service.engine.results import build_refusal_reply, build_reply_and_write_large_outputs
from pflow.service.operations import Service
from tests.pflow.mcp.agents import make_environment
from tests.pflow.store.homes import write_draft

SHORT = 250_000
"""More bytes than this no agent wants to read."""
SOON_S = 40.0
GOOD: dict[str, Any] = {"nodes": [{"id": "a", "type": "echo", "params": {"message": "well"}}]}

CHILD = """
import json, resource, sys
from pathlib import Path
from pflow.config import Settings
from pflow.errors import PflowError
from pflow.service.engine.results import build_refusal_reply, build_reply_and_write_large_outputs
from pflow.service.operations import Service

home, room = sys.argv[1:]
service = Service(Settings(home=Path(home)), folder=Path(home).parent)
if room:
    service.browse_components()
    sys.dont_write_bytecode = True  # a compiled module that is cut off would break later runs
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(room), resource.RLIM_INFINITY))
replies = []
for tool, *arguments in json.load(sys.stdin):
    try:
        operations = service.texts if tool == "save_to_library" else service
        reply = getattr(operations, tool)(*arguments)
        replies.append(build_reply_and_write_large_outputs(reply, service.home) if tool == "execute" else reply)
    except PflowError as exc:
        replies.append(build_refusal_reply(exc, arguments[0]))
try:  # only this process: getrusage also counts its parent
    peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
except (OSError, IndexError):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"replies": replies, "peak_mb": peak / 1024}))
"""
# Without what lets a superuser read and write everything.
AS_ANYBODY = """
import ctypes, os, sys
for capability in (1, 2):
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def make_service(home: Path) -> Service:
    return Service(Settings(home=home), folder=home.parent)


def execute(home: Path, ir: Any = None, inputs: Any = None, *, name: str = "x") -> Any:
    """Write `ir`, an object or a text, as a draft, run it, and return the reply that an agent gets."""
    if ir is not None:
        write_draft(home, name, ir)
    asked = make_service(home)
    try:
        return build_reply_and_write_large_outputs(asked.execute(name, inputs), asked.home)
    except PflowError as exc:
        return build_refusal_reply(exc, name)


def run_in_child(
    home: Path, *calls: tuple[Any, ...], room: int | None = None, as_anybody: bool = False
) -> tuple[Any, float]:
    """Call the service in a child process and return the replies and the peak memory in MB.

    `room` limits the size of a file, in bytes. With `as_anybody`, the process has no superuser rights to files.
    """
    argv = [sys.executable, "-c", CHILD, str(home), "" if room is None else str(room)]
    if as_anybody:
        argv = [sys.executable, "-c", AS_ANYBODY, *argv]
    env = make_environment(home)
    done = subprocess.run(
        argv, input=json.dumps(calls), capture_output=True, text=True, timeout=SOON_S, check=False, env=env
    )
    assert done.returncode == 0, done.stderr[-2000:]
    output = json.loads(done.stdout)
    return output["replies"], output["peak_mb"]


def measure_reply(reply: Any) -> int:
    return len(json.dumps(reply))


def check_refusal(reply: dict[str, Any], code: str, *words: str) -> dict[str, Any]:
    """Return the error of a reply, and check that it is short and has a message and a hint."""
    error = reply["error"]
    assert reply["success"] is False
    assert error["code"] == code, error
    assert error["hint"]
    for word in words:
        assert word in error["message"], error["message"][:500]
    assert measure_reply(reply) < SHORT, f"{measure_reply(reply):,} bytes"
    return error


def list_leftovers(home: Path) -> list[str]:
    """Return the temporary files that an interrupted write left."""
    return [path.name for path in home.rglob("*") if path.suffix == ".tmp" or path.name.endswith("-journal")]


def echo(name: str, message: Any = None, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "echo", "params": {"message": message}, **more}
