"""Text that an input takes from elsewhere: a file, or what is piped in."""

import os
import re
import select
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pflow.cli.run_arguments import UsageError
from pflow.ir.declarations import read_inputs
from pflow.ir.model import Input

LARGEST: Final = 10_000_000
"""Bytes of text that one input takes."""
_PATIENCE_MS: Final = 1_000
_HINT: Final = "Save it to a file, give its path as a value, and have the workflow read it, for example with read-file."
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_FLOAT: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?")
_UNDECLARED: Final = Input("")


def read_file(name: str, path: str) -> str:
    """The text of a file, for the input `name`. Raises UsageError."""
    try:
        with Path(path).expanduser().open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except (OSError, ValueError, RuntimeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "this is no path"
        hint = f"Check the path. To give the text itself, write {name}=@@{path[:40]}"
        raise UsageError(f"The file '{path[:200]}' for '{name}' cannot be read: {reason}.", hint=hint) from None
    return _text(data, f"The file '{path[:200]}'", name)


def stdin_is_piped() -> bool:
    """Whether something is piped in, or a file is. What programs get from other programs is often neither, and open
    for ever."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # closed, or in the place of it something else
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def read_stdin(name: str) -> str:
    """All of stdin, for the input `name`. Raises UsageError."""
    try:
        _tell_if_waiting(name)
        data = sys.stdin.buffer.read(LARGEST + 1)
    except (AttributeError, OSError, ValueError):
        raise UsageError(f"There is no stdin to read '{name}' from.", hint=f"Write {name}=VALUE.") from None
    return _text(data, "What is on stdin", name)


def _tell_if_waiting(name: str) -> None:
    """Whoever does not know what is waited for should be told."""
    if sys.stdin.isatty():
        sys.stderr.write(f"Type the value of '{name}', then Ctrl-D on a line of its own.\n")
    elif hasattr(select, "poll"):
        poll = select.poll()
        poll.register(sys.stdin.fileno(), select.POLLIN)
        if not poll.poll(_PATIENCE_MS):
            sys.stderr.write(f"Waiting for the value of '{name}' on stdin.\n")


def _text(data: bytes, what: str, name: str) -> str:
    if len(data) > LARGEST:
        raise UsageError(f"{what} is too large for '{name}': over {LARGEST // 1_000_000} MB.", hint=_HINT)
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{what} is not UTF-8 text, and '{name}' takes no other.", hint=_HINT) from None


def inputs_of(document: Mapping[str, Any], given: Mapping[str, str], *, has_stdin: bool = True) -> dict[str, Any]:
    """Return the inputs of a run, with what is piped in for the one that asks for it. Raises UsageError."""
    declared = read_inputs(document.get("inputs"), [])
    from_stdin = [name for name, text in given.items() if text == "-"]
    if from_stdin and not has_stdin:
        name = from_stdin[0]
        raise UsageError(
            f"The input '{name}' cannot be read from stdin here.", hint=f"Give {name}=VALUE or {name}=@FILE."
        )
    if len(from_stdin) > 1:
        raise UsageError(
            f"Only one input can be read from stdin; these ask for it: {', '.join(from_stdin)}.",
            hint="Give the others as KEY=@FILE.",
        )
    values = {name: _value(name, text, declared.get(name, _UNDECLARED)) for name, text in given.items()}
    asking = next((one for one in declared.values() if one.stdin), None)
    if has_stdin and asking and asking.name not in values and not from_stdin and stdin_is_piped():
        text = read_stdin(asking.name)
        if text:  # an empty pipe is what many programs are started with
            values[asking.name] = _content(text, asking)
    return values


def _value(name: str, text: str, declared: Input) -> Any:
    if text == "-":
        return _content(read_stdin(name), declared)
    if text.startswith("@@"):
        return text[1:]
    if text.startswith("@"):
        return _content(read_file(name, text[1:]), declared)
    # Text is left to whoever checks the inputs to make of it what is declared.
    return text if declared.type != "any" else inferred(text)


def _content(text: str, declared: Input) -> Any:
    """What a file or stdin holds is text, unless it is an object or a list as JSON."""
    is_structured = declared.type == "any" and text.lstrip().startswith(("{", "["))
    return _as_json(text) if is_structured else text


def inferred(text: str) -> Any:
    """The value that a text looks like. Numbers that would lose something, such as 007, are text."""
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and not text.lstrip("-").isdigit():
        return float(text)
    return _as_json(text) if text.startswith(("{", "[", '"')) or text == "null" else text


def _as_json(text: str) -> Any:
    import orjson

    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
