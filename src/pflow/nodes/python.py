"""Run code in a separate process with limits, return its JSON value, and explain its errors."""

import asyncio
import io
import keyword
import math
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

import orjson

from pflow.domain.ir.model import DEFAULT_ACTION
from pflow.domain.ir.python_code import NO_RESULT
from pflow.domain.node import NodeContext, Outcome
from pflow.domain.redaction import cut_masked_end, cut_masked_start, mask_secrets
from pflow.errors import NodeFailed, NodeTimedOut
from pflow.nodes.child_output import PrintedOutputs, format_size, join_outputs
from pflow.nodes.param_values import get_added_environment, get_seconds
from pflow.nodes.process_runner import FinishedProcess, run_process
from uraniborg.kernel.processes.child_processes import build_child_environment

if TYPE_CHECKING:
    from pflow.nodes.python_child import CodeReport
    from uraniborg.kernel.json_values import Json, JsonObject

RESULT_BYTES: Final = 32 << 20
"""The largest result, as JSON."""

_CHILD: Final = Path(__file__).with_name("python_child.py")
_ANSWERS: Final = ("result", "action")
_LEAST_MB: Final = 64
_QUICK: Final = 1 << 20
_EXAMPLE: Final = "Use text, numbers, booleans, None, lists, and dicts with text keys."
_LONGEST_PIECE: Final = 62
_LONGEST_MESSAGE: Final = 1000
_LONGEST_LINE: Final = 200
_ENDED: Final = {
    "SIGXCPU": "It used up its processor time, which depends on `timeout`.",
    "SIGKILL": "The system does this when memory is short.",
    "SIGSEGV": "A compiled library crashed; `memory_mb` may be too small for it.",
}
_RAISED: Final = {
    "MemoryError": "It needs more than `memory_mb` allows.",
    "ModuleNotFoundError": "The code can import modules that are installed beside pflow: install this one there.",
    "RecursionError": "It recurses endlessly, or too deep.",
    "SystemExit": "Let the code run to its end; to choose an edge, set `action`.",
}
_MISSING: Final = ("NameError", "KeyError")
_UNDEFINED: Final = re.compile(r"^NameError: name '(\w{1,60})' is not defined")


class PythonOutputs(PrintedOutputs):
    result: "Json"


async def run_python(params: "JsonObject", context: NodeContext) -> Outcome:
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
            raise _make_timeout_error(exc, _read_report_or_empty(report), timeout) from None
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
        raise _make_code_error(reported, finished, params, context, printed)
    warnings = () if reported.get("is_assigned") else (NO_RESULT,)
    outputs: PythonOutputs = {"result": reported["result"], **printed}
    return Outcome(outputs, reported.get("action") or DEFAULT_ACTION, warnings)


def _check_and_encode_job(params: "JsonObject", context: NodeContext, timeout: float | None) -> bytes:
    inputs = cast("JsonObject", params.get("inputs") or {})
    for name in inputs:
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__") or name in _ANSWERS:
            raise NodeFailed(
                f"`inputs` has {cut_masked_start(name, 60, context)!r}, which is not a valid variable name.",
                hint="Use letters, digits and _. Python keywords, `result` and `action` are reserved.",
            )
    memory = float(cast("int", params.get("memory_mb") or 1024))
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
        raise NodeFailed("`inputs` contains a value without a JSON form.", hint=_EXAMPLE) from None


def _read_report_or_empty(report: IO[bytes]) -> "CodeReport":
    size = os.fstat(report.fileno()).st_size
    if not 0 < size <= RESULT_BYTES:
        return {}
    try:
        return orjson.loads(os.pread(report.fileno(), size, 0))
    except orjson.JSONDecodeError:  # it was ended while it wrote
        return {}


def _make_timeout_error(exc: NodeTimedOut, report: "CodeReport", timeout: float | None) -> NodeTimedOut:
    line = report.get("stopped_at")
    where = f" in line {line}" if line else ""
    return NodeTimedOut(
        f"The code was still running{where} after {timeout:g} s, and was ended.",
        hint=exc.hint,
        outputs=exc.outputs,
        **({"line": line} if line else {}),
    )


def _make_code_error(
    report: "CodeReport",
    finished: FinishedProcess,
    params: "JsonObject",
    context: NodeContext,
    printed: PrintedOutputs,
) -> NodeFailed:
    """Return the error for code without a result. `report` is the report of the process, if it wrote one."""
    if "refused" in report:
        problem = "".join(cut_masked_start(piece, _LONGEST_PIECE, context) for piece in report["refused"])
        alternative = report.get("alternative")
        return NodeFailed(
            f"{problem}.", hint=f"Use {alternative} instead." if alternative else _EXAMPLE, outputs=printed
        )
    if "raised" in report:
        line = report.get("line")
        where = f" in line {line}" if line else ""
        *_, message = mask_secrets(report.get("message", ""), context).strip().splitlines() or [report["raised"]]
        lines = cut_masked_end(report.get("traceback", ""), context, line_count=6, max_characters=1500)
        return NodeFailed(
            f"The code failed{where}: {message[:_LONGEST_MESSAGE]}\n{lines}",
            hint=_suggest_pass_env(message, context) or _suggest_fix(report["raised"], message, line, params, context),
            outputs=printed,
            exception=report["raised"],
            **({"line": line} if line else {}),
        )
    stderr_end = finished.stderr.cut_masked_end(context)
    return NodeFailed(
        f"The code {finished.describe_ending()} before it was done."
        + (f" Its stderr ends: {stderr_end}" if stderr_end else ""),
        hint=_ENDED.get(finished.signal or "", "Let the code run to its end: it must not end its process."),
        outputs=printed,
        exit_code=finished.exit_code,
    )


def _suggest_pass_env(message: str, context: NodeContext) -> str:
    """Return how to pass the variable that the code looked for, if only pflow's own environment has it."""
    found = re.fullmatch(r"KeyError: '(\w+)'", message)
    if not found or found[1] not in os.environ or found[1] in build_child_environment(context.pass_env):
        return ""
    return f'The code does not inherit {found[1]} from pflow\'s environment. Pass it: "pass_env": ["{found[1]}"].'


def _suggest_fix(raised: str, message: str, line: int | None, params: "JsonObject", context: NodeContext) -> str:
    text = _mask_code_line(line, str(params["code"]), context)
    where = f"Line {line} of the code is `{text}`." if text else "See its stderr for details."
    advice = _RAISED.get(raised) or (_describe_inputs(params, context) if raised in _MISSING else "")
    if undefined := _UNDEFINED.search(message):
        name = undefined[1]
        advice += f' To pass a value of the workflow: "inputs": {{"{name}": "${{{name}}}"}}.'
    return f"{advice} {where}" if advice else where


def _mask_code_line(line: int | None, code: str, context: NodeContext) -> str:
    """Return a line of the code; empty if a secret spans several lines, as a part of it would not be masked."""
    lines, masked_lines = (io.StringIO(text, newline=None).readlines() for text in (code, mask_secrets(code, context)))
    if line is None or len(lines) != len(masked_lines) or not 0 < line <= len(masked_lines):
        return ""
    return masked_lines[line - 1].strip()[:_LONGEST_LINE]


def _describe_inputs(params: "JsonObject", context: NodeContext) -> str:
    names = ", ".join(cast("JsonObject", params.get("inputs") or {}))
    there = f"here: {cut_masked_start(names, _LONGEST_LINE, context)}" if names else "this node has none"
    return f"Values reach the code as `inputs`, each as a variable of the same name; {there}."
