"""Runs the code of a python node in a process of its own. Started as a script: it knows nothing of pflow.

On stdin comes a job: the code, its inputs and its limits. The report goes to the descriptor that the argument names, so
that what the code prints is not mixed with it.
"""

import json
import linecache
import math
import os
import resource
import signal
import sys
import traceback
from types import FrameType, ModuleType, TracebackType
from typing import Any, cast

NAME = "<code>"
_DEEPEST = 200
_RESERVE = 4 << 20  # so that there is memory to tell that there is none
_INSTEAD = {
    "set": "sorted(…) or list(…)",
    "frozenset": "sorted(…) or list(…)",
    "bytes": "base64.b64encode(…).decode()",
    "datetime": "….isoformat()",
    "date": "….isoformat()",
    "Decimal": "str(…) or float(…)",
    "ndarray": "….tolist()",
    "DataFrame": '….to_dict("records")',
    "Series": "….tolist()",
    "generator": "list(…)",
}


class _NotJsonError(Exception):
    """`instead` is how it could be said in JSON."""

    def __init__(self, message: str, instead: str = "") -> None:
        super().__init__(message)
        self.instead = instead


def main() -> None:
    descriptor = int(sys.argv[1])
    job = json.loads(sys.stdin.buffer.read())
    _limit(job["memory_mb"], job["cpu_s"])
    _report_when_stopped(descriptor)
    _write(descriptor, _run(job["code"], job["inputs"]))


def _run(code: str, inputs: dict[str, Any]) -> dict[str, Any]:
    # Classes and pickles of the code look for its names in the module of this name.
    module = sys.modules["__main__"] = ModuleType("__main__")
    module.__dict__.update(inputs)
    linecache.cache[NAME] = (len(code), None, code.splitlines(keepends=True), NAME)
    reserve = [bytearray(_RESERVE)]
    try:
        exec(compile(code, NAME, "exec"), module.__dict__)  # noqa: S102 - this is what it is for
    except SystemExit as exc:
        if exc.code not in (None, 0):
            return _raised(exc)
    except BaseException as exc:
        reserve.clear()
        return _raised(exc)
    return _answer(module.__dict__)


def _answer(names: dict[str, Any]) -> dict[str, Any]:
    action = names.get("action")
    if not (action is None or (isinstance(action, str) and action)):
        return {"refused": f"`action` is {type(action).__name__}, not text", "instead": "the name of an edge's action"}
    try:
        _check(names.get("result"), "result", 0)
    except _NotJsonError as exc:
        return {"refused": str(exc), "instead": exc.instead}
    return {"result": names.get("result"), "action": action}


def _check(value: Any, where: str, depth: int) -> None:
    """See that a value survives the way through JSON. Raises _NotJsonError with the place of what does not."""
    if depth > _DEEPEST:
        raise _NotJsonError(f"`result` nests more than {_DEEPEST} deep, or holds itself")
    if isinstance(value, list | tuple):
        for index, item in enumerate(cast("list[Any]", value)):
            _check(item, f"{where}[{index}]" if depth < 8 else where, depth + 1)
    elif isinstance(value, dict):
        for key, item in cast("dict[Any, Any]", value).items():
            if not isinstance(key, str):
                raise _NotJsonError(f"{where} has the key {key!r:.60}, which is not text", "{str(key): …}")
            _check_one(key, f"a key of {where}")
            _check(item, f"{where}[{key!r:.60}]" if depth < 8 else where, depth + 1)
    else:
        _check_one(value, where)


def _check_one(value: Any, where: str) -> None:
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
            raise _NotJsonError(f"{where} holds half a character", 'text.encode("utf-8", "replace").decode()')
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise _NotJsonError(f"{where} is a number of more than 64 bits", "str(…)")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise _NotJsonError(f"{where} is {value}, which JSON cannot say", "None")
    elif value is not None:
        kind = type(value).__name__
        raise _NotJsonError(f"{where} is of the kind {kind}, which JSON cannot say", _INSTEAD.get(kind, ""))


def _raised(exc: BaseException) -> dict[str, Any]:
    own = exc.__traceback__
    while own and own.tb_frame.f_code.co_filename != NAME:
        own = own.tb_next
    told = "".join(traceback.format_exception(type(exc), exc, own))
    sys.stderr.write(told)
    line = exc.lineno if isinstance(exc, SyntaxError) and exc.filename == NAME else _line(own)
    message = "".join(traceback.format_exception_only(type(exc), exc)).strip().splitlines()[-1]
    return {"raised": type(exc).__name__, "message": message[:1000], "line": line, "traceback": told[-1500:]}


def _line(own: TracebackType | None) -> int | None:
    line = None
    while own:
        if own.tb_frame.f_code.co_filename == NAME:
            line = own.tb_lineno
        own = own.tb_next
    return line


def _limit(memory_mb: float, cpu_s: int | None) -> None:
    memory = int(memory_mb * 2**20)
    wanted = [(resource.RLIMIT_CORE, 0, 0), (resource.RLIMIT_AS, memory, memory)]
    if cpu_s is not None:
        wanted.append((resource.RLIMIT_CPU, cpu_s, cpu_s + 2))
    for kind, soft, hard in wanted:
        try:
            _, most = resource.getrlimit(kind)
            allowed = most != resource.RLIM_INFINITY
            resource.setrlimit(kind, (min(soft, most) if allowed else soft, min(hard, most) if allowed else hard))
        except (ValueError, OSError):  # not every system knows every limit
            continue


def _report_when_stopped(descriptor: int) -> None:
    process = os.getpid()

    def stopped(number: int, frame: FrameType | None) -> None:
        while frame and frame.f_code.co_filename != NAME:
            frame = frame.f_back
        if os.getpid() == process:  # and not one that the code has forked
            _write(descriptor, {"stopped_at": frame.f_lineno if frame else None})
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except (OSError, ValueError, RuntimeError):
                    continue
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, stopped)


def _write(descriptor: int, report: dict[str, Any]) -> None:
    left = memoryview(json.dumps(report, ensure_ascii=False).encode("utf-8", "replace"))
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    while left:
        left = left[os.write(descriptor, left) :]


if __name__ == "__main__":
    main()
