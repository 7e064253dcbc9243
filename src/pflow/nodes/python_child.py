"""Run the code of a python node in a separate process. Started as a script, without pflow.

Stdin has a job: the code, its inputs and its limits. The report goes to the descriptor in the argument, so that it does
not mix with the output of the code.
"""

import json
import linecache
import math
import os
import signal
import sys
import traceback
from collections.abc import Mapping
from types import FrameType, ModuleType, TracebackType
from typing import Any, TypedDict, cast

NAME = "<code>"
_DEEPEST = 200
_DEEPEST_SHOWN = 8
_MAX_REPORTED = 1 << 18  # the parent masks secrets in all of it, and then shows far less
_RESERVE = 4 << 20  # memory to report that memory is exhausted
_ALTERNATIVES = {
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


class CodeReport(TypedDict, total=False):
    """The result of the code, the value that was refused, the exception, or the line at which the code was ended."""

    result: Any
    action: str | None
    is_assigned: bool
    refused: list[str]
    alternative: str
    raised: str
    message: str
    line: int | None
    traceback: str
    stopped_at: int | None


ValuePath = tuple[Any, Any] | None
"""The path of a value in the result: the path of its container, and its key or index there; None for the result."""


class _NotJsonError(Exception):
    """The error, in pieces each of which may be shortened, and an alternative that JSON can represent."""

    def __init__(self, *pieces: str, alternative: str = "") -> None:
        super().__init__("".join(pieces))
        self.report: CodeReport = {"refused": [piece[:_MAX_REPORTED] for piece in pieces], "alternative": alternative}


def main() -> None:
    descriptor = int(sys.argv[1])
    job = json.loads(sys.stdin.buffer.read())
    _limit_own_resources(job["memory_mb"], job["cpu_s"])
    _install_stop_handler(descriptor)
    _write_report(descriptor, _run_code_and_make_report(job["code"], job["inputs"]))


def _run_code_and_make_report(code: str, inputs: dict[str, object]) -> CodeReport:
    # Classes and pickles of the code look for its names in the module of this name.
    module = sys.modules["__main__"] = ModuleType("__main__")
    module.__dict__.update(inputs)
    linecache.cache[NAME] = (len(code), None, code.splitlines(keepends=True), NAME)
    reserve = [bytearray(_RESERVE)]
    try:
        exec(compile(code, NAME, "exec"), module.__dict__)  # noqa: S102 - the purpose of this module
    except SystemExit as exc:
        if exc.code not in (None, 0):
            return _print_and_report_exception(exc)
    except BaseException as exc:
        reserve.clear()
        return _print_and_report_exception(exc)
    return _make_result_report(module.__dict__)


def _make_result_report(names: Mapping[str, Any]) -> CodeReport:
    action = names.get("action")
    if not (action is None or (isinstance(action, str) and action)):
        kind = type(action).__name__
        return {"refused": ["`action` is ", kind, ", not text"], "alternative": "the name of an edge's action"}
    try:
        _require_json_value(names.get("result"), None, 0)
    except _NotJsonError as exc:
        return exc.report
    is_assigned = "result" in names or action is not None
    return {"result": names.get("result"), "action": action, "is_assigned": is_assigned}


def _require_json_value(value: Any, path: ValuePath, depth: int) -> None:
    """Raise _NotJsonError with the path of a value that JSON cannot represent."""
    if depth > _DEEPEST:
        raise _NotJsonError(f"`result` nests more than {_DEEPEST} levels deep, or contains itself")
    is_shown = depth < _DEEPEST_SHOWN
    if isinstance(value, list | tuple):
        for index, item in enumerate(cast("list[Any]", value)):
            _require_json_value(item, (path, index) if is_shown else path, depth + 1)
    elif isinstance(value, dict):
        for key, item in cast("dict[Any, Any]", value).items():
            if not isinstance(key, str):
                pieces = (*_list_path_pieces(path), " has the key ", repr(key), ", which is not text")
                raise _NotJsonError(*pieces, alternative="{str(key): …}")
            _require_json_text(key, path, "a key of ")
            _require_json_value(item, (path, key) if is_shown else path, depth + 1)
    else:
        _require_json_scalar(value, path)


def _require_json_scalar(value: Any, path: ValuePath) -> None:
    if isinstance(value, str):
        _require_json_text(value, path)
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise _NotJsonError(*_list_path_pieces(path), " is a number of more than 64 bits", alternative="str(…)")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise _NotJsonError(
                *_list_path_pieces(path), f" is {value}, which JSON cannot represent", alternative="None"
            )
    elif value is not None:
        kind = type(value).__name__
        pieces = (*_list_path_pieces(path), " has the type ", kind, ", which JSON cannot represent")
        raise _NotJsonError(*pieces, alternative=_ALTERNATIVES.get(kind, ""))


def _require_json_text(text: str, path: ValuePath, subject_prefix: str = "") -> None:
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        alternative = 'text.encode("utf-8", "replace").decode()'
        raise _NotJsonError(
            subject_prefix, *_list_path_pieces(path), " contains a lone surrogate", alternative=alternative
        )


def _list_path_pieces(path: ValuePath) -> list[str]:
    if path is None:
        return ["result"]
    around, key = path
    return [*_list_path_pieces(around), f"[{key!r}]"]


def _print_and_report_exception(exc: BaseException) -> CodeReport:
    own = exc.__traceback__
    while own and own.tb_frame.f_code.co_filename != NAME:
        own = own.tb_next
    text = "".join(traceback.format_exception(type(exc), exc, own))
    sys.stderr.write(text)
    line = exc.lineno if isinstance(exc, SyntaxError) and exc.filename == NAME else _find_last_code_line(own)
    message = "".join(traceback.format_exception_only(type(exc), exc))
    return {
        "raised": type(exc).__name__,
        "message": message[:_MAX_REPORTED],
        "line": line,
        "traceback": text[-_MAX_REPORTED:],
    }


def _find_last_code_line(trace: TracebackType | None) -> int | None:
    line = None
    while trace:
        if trace.tb_frame.f_code.co_filename == NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _limit_own_resources(memory_mb: float, cpu_s: int | None) -> None:
    try:
        import resource
    except ModuleNotFoundError:
        sys.exit(f"A python node needs the module 'resource', which this platform ({sys.platform}) does not have.")
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


def _install_stop_handler(report_descriptor: int) -> None:
    process = os.getpid()

    def report_and_exit(number: int, frame: FrameType | None) -> None:
        while frame and frame.f_code.co_filename != NAME:
            frame = frame.f_back
        if os.getpid() == process:  # and not one that the code has forked
            _write_report(report_descriptor, {"stopped_at": frame.f_lineno if frame else None})
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except (OSError, ValueError, RuntimeError):
                    continue
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, report_and_exit)


def _write_report(descriptor: int, report: CodeReport) -> None:
    left = memoryview(json.dumps(report, ensure_ascii=False).encode("utf-8", "replace"))
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    while left:
        left = left[os.write(descriptor, left) :]


if __name__ == "__main__":
    main()
