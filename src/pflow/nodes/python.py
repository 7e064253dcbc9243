"""The python node: code in a separate process with limits, which returns a JSON value."""

import asyncio
import keyword
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Required, TypedDict

import orjson

from pflow.errors import NodeFailed, NodeTimedOut
from pflow.ir.model import DEFAULT_ACTION
from pflow.node import Context, Outcome
from pflow.nodes.child_output import PrintedOutputs, format_size, join_outputs
from pflow.nodes.masked_excerpts import cut_masked_start
from pflow.nodes.param_values import get_added_environment, get_seconds
from pflow.nodes.process_runner import run_process
from pflow.nodes.python_errors import EXAMPLE, make_code_error, make_timeout_error
from pflow.python_code import NO_RESULT

if TYPE_CHECKING:
    from pflow.nodes.python_child import Report
    from uraniborg.kernel.json_values import Json, JsonObject

RESULT_BYTES: Final = 32 << 20
"""The largest result, as JSON."""

_CHILD: Final = Path(__file__).with_name("python_child.py")
_ANSWERS: Final = ("result", "action")
_LEAST_MB: Final = 64
_QUICK: Final = 1 << 20


class PythonParams(TypedDict, total=False):
    code: Required[str]
    inputs: "JsonObject | None"
    env: "JsonObject | None"
    timeout: float | None
    memory_mb: int | None


class PythonOutputs(PrintedOutputs):
    result: "Json"


async def run_python(params: PythonParams, context: Context) -> Outcome:
    """Run the code. Raise NodeFailed with the line that failed, or with the value that JSON cannot represent."""
    timeout = get_seconds(params)
    job = _check_and_encode_job(params, context, timeout)
    with tempfile.TemporaryFile() as report:
        command = [sys.executable, "-I", "-X", "utf8", str(_CHILD), str(report.fileno())]
        try:
            finished = await run_process(
                command,
                context,
                stdin=job,
                environment=get_added_environment(params),
                timeout_s=timeout,
                pass_fds=[report.fileno()],
            )
        except NodeTimedOut as exc:
            raise make_timeout_error(exc, _read_report_or_empty(report), timeout) from None
        size = os.fstat(report.fileno()).st_size
        reported = (
            await asyncio.to_thread(_read_report_or_empty, report) if size > _QUICK else _read_report_or_empty(report)
        )
    printed = join_outputs(finished.stdout, finished.stderr)
    if size > RESULT_BYTES:
        raise NodeFailed(
            f"`result` is too large: {format_size(size)} as JSON, of {format_size(RESULT_BYTES)} at most.",
            hint="Write it to a file, and return its path.",
            outputs=printed,
        )
    if "result" not in reported or finished.exit_code:
        raise make_code_error(reported, finished, params, context, printed)
    warnings = () if reported.get("is_assigned") else (NO_RESULT,)
    outputs: PythonOutputs = {"result": reported["result"], **printed}
    return Outcome(outputs, reported.get("action") or DEFAULT_ACTION, warnings)


def _check_and_encode_job(params: PythonParams, context: Context, timeout: float | None) -> bytes:
    inputs = params.get("inputs") or {}
    for name in inputs:
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__") or name in _ANSWERS:
            raise NodeFailed(
                f"`inputs` has {cut_masked_start(name, 60, context)!r}, which is not a valid variable name.",
                hint="Use letters, digits and _. Python keywords, `result` and `action` are reserved.",
            )
    memory = float(params.get("memory_mb") or 1024)
    if not memory >= _LEAST_MB:
        raise NodeFailed(
            f"`memory_mb` must be at least {_LEAST_MB}, got {memory:g}.", hint="Increase it, or leave it out."
        )
    job = {
        "code": str(params["code"]),
        "inputs": inputs,
        "memory_mb": memory,
        # The timeout ends the code; this limit ends it also if pflow is gone.
        "cpu_s": timeout and math.ceil(timeout * (os.cpu_count() or 1)) + 1,
    }
    try:
        return orjson.dumps(job)
    except TypeError:
        raise NodeFailed("`inputs` contains a value without a JSON form.", hint=EXAMPLE) from None


def _read_report_or_empty(report: IO[bytes]) -> "Report":
    size = os.fstat(report.fileno()).st_size
    if not 0 < size <= RESULT_BYTES:
        return {}
    try:
        return orjson.loads(os.pread(report.fileno(), size, 0))
    except orjson.JSONDecodeError:  # it was ended while it wrote
        return {}
