"""The python node: code in a process of its own, with limits, that gives back a JSON value."""

import asyncio
import keyword
import math
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

import orjson

from pflow.errors import NodeFailed, NodeTimedOut
from pflow.ir.model import DEFAULT_ACTION
from pflow.node import Context, Outcome
from pflow.nodes.child_output import in_words
from pflow.nodes.excerpts import beginning
from pflow.nodes.param_values import seconds_of, variables_of, whole
from pflow.nodes.processes import run
from pflow.nodes.python_failures import EXAMPLE, failure, still_running
from pflow.python_code import NO_RESULT

RESULT_BYTES: Final = 32 << 20
"""The largest result, as JSON."""

_CHILD: Final = Path(__file__).with_name("python_child.py")
_ANSWERS: Final = ("result", "action")
_LEAST_MB: Final = 64
_QUICK: Final = 1 << 20


async def python(params: dict[str, Any], context: Context) -> Outcome:
    """Run the code. Raises NodeFailed that says in which line it failed, or what JSON cannot say of its result."""
    timeout = seconds_of(params)
    job = _job(params, context, timeout)
    with tempfile.TemporaryFile() as report:
        command = [sys.executable, "-I", "-X", "utf8", str(_CHILD), str(report.fileno())]
        try:
            finished = await run(
                command,
                context,
                stdin=job,
                environment=variables_of(params),
                timeout_s=timeout,
                pass_fds=[report.fileno()],
            )
        except NodeTimedOut as exc:
            raise still_running(exc, _reported(report), timeout) from None
        size = os.fstat(report.fileno()).st_size
        reported = await asyncio.to_thread(_reported, report) if size > _QUICK else _reported(report)
    printed = finished.stdout.outputs("stdout") | finished.stderr.outputs("stderr")
    if size > RESULT_BYTES:
        raise NodeFailed(
            f"`result` is too large: {in_words(size)} as JSON, of {in_words(RESULT_BYTES)} at most.",
            hint="Write it to a file, and give back its path.",
            outputs=printed,
        )
    if "result" not in reported or finished.exit_code:
        raise failure(reported, finished, params, context, printed)
    warnings = () if reported["is_assigned"] else (NO_RESULT,)
    return Outcome({"result": reported["result"], **printed}, reported["action"] or DEFAULT_ACTION, warnings)


def _job(params: Mapping[str, Any], context: Context, timeout: float | None) -> bytes:
    inputs: Mapping[str, Any] = params.get("inputs") or {}
    for name in inputs:
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__") or name in _ANSWERS:
            raise NodeFailed(
                f"`inputs` has {beginning(name, 60, context)!r}, which cannot be the name of a variable of the code.",
                hint="Use letters, digits and _; no word of Python's, nor `result` or `action`, which the code sets.",
            )
    memory = float(params.get("memory_mb") or 1024)
    if not memory >= _LEAST_MB:
        raise NodeFailed(f"`memory_mb` is {memory:g}, too little for Python.", hint=f"Give at least {_LEAST_MB}.")
    job = {
        "code": whole(str(params["code"])),
        "inputs": inputs,
        "memory_mb": memory,
        # The clock ends the code; this ends it also when nobody is left to look at the clock.
        "cpu_s": timeout and math.ceil(timeout * (os.cpu_count() or 1)) + 1,
    }
    try:
        return orjson.dumps(job)
    except TypeError:
        raise NodeFailed("`inputs` holds something that is no JSON value.", hint=EXAMPLE) from None


def _reported(report: IO[bytes]) -> dict[str, Any]:
    size = os.fstat(report.fileno()).st_size
    if not 0 < size <= RESULT_BYTES:
        return {}
    try:
        return orjson.loads(os.pread(report.fileno(), size, 0))
    except orjson.JSONDecodeError:  # it was ended while it wrote
        return {}
