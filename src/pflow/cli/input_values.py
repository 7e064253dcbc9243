"""Read values of inputs from KEY=VALUE arguments, files and stdin."""

import os
import re
import select
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pflow.cli.run_arguments import InvalidRunArguments
from pflow.domain.ir.declarations import parse_declared_inputs
from pflow.domain.ir.model import Input
from uraniborg.kernel.boundary import parse_json

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

MOST_BYTES: Final = 10_000_000
"""Bytes of text that one input takes."""
_PROMPT_AFTER_MS: Final = 1_000
_HINT: Final = "Save it to a file, give its path as a value, and let the workflow read it, for example with read-file."
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_FLOAT: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?")
_UNDECLARED: Final = Input("")


def read_input_file(input_name: str, path: str) -> str:
    """Return the text of a file for the input `input_name`. Raise InvalidRunArguments."""
    try:
        with Path(path).expanduser().open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError, RuntimeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "this is not a valid path"
        hint = f"Check the path. To give the text itself, write {input_name}=@@{path[:40]}"
        raise InvalidRunArguments(
            f"The file '{path[:200]}' for '{input_name}' cannot be read: {reason}.", hint=hint
        ) from None
    return _decode_input(data, f"The file '{path[:200]}'", input_name)


def is_stdin_piped() -> bool:
    """Return whether stdin is a pipe or a file, and not a terminal or an open descriptor of another program."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # closed, or replaced by another object
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def read_stdin_for_input(input_name: str) -> str:
    """Return the text of stdin for the input `input_name`. Raise InvalidRunArguments."""
    try:
        _print_prompt_if_waiting(input_name)
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    except (AttributeError, OSError, ValueError):
        raise InvalidRunArguments(
            f"stdin is closed, so '{input_name}' cannot be read from it.", hint=f"Write {input_name}=VALUE."
        ) from None
    return _decode_input(data, "The text on stdin", input_name)


def _print_prompt_if_waiting(input_name: str) -> None:
    """Print which input is expected on stdin if no text has arrived yet."""
    if sys.stdin.isatty():
        sys.stderr.write(f"Type the value of '{input_name}', then press Ctrl-D on an empty line.\n")
    elif hasattr(select, "poll"):
        poll = select.poll()
        poll.register(sys.stdin.fileno(), select.POLLIN)
        if not poll.poll(_PROMPT_AFTER_MS):
            sys.stderr.write(f"Waiting for the value of '{input_name}' on stdin.\n")


def _decode_input(data: bytes, source_description: str, input_name: str) -> str:
    if len(data) > MOST_BYTES:
        raise InvalidRunArguments(
            f"{source_description} is too large for '{input_name}': over {MOST_BYTES // 1_000_000} MB.", hint=_HINT
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InvalidRunArguments(
            f"{source_description} is not UTF-8 text, which '{input_name}' requires.", hint=_HINT
        ) from None


def read_input_values(
    document: Mapping[str, Any], given_texts: Mapping[str, str], *, may_read_stdin: bool = True
) -> "JsonObject":
    """Return the inputs of a run; piped text goes to the input with `"stdin": true`. Raise InvalidRunArguments."""
    declared = parse_declared_inputs(document.get("inputs"), [])
    from_stdin = [name for name, text in given_texts.items() if text == "-"]
    if from_stdin and not may_read_stdin:
        name = from_stdin[0]
        raise InvalidRunArguments(
            f"The input '{name}' cannot be read from stdin here.", hint=f"Give {name}=VALUE or {name}=@FILE."
        )
    if len(from_stdin) > 1:
        raise InvalidRunArguments(
            f"Only one input can be read from stdin; these ask for it: {', '.join(from_stdin)}.",
            hint="Give the others as KEY=@FILE.",
        )
    values = {
        name: _read_input_value(name, text, declared.get(name, _UNDECLARED)) for name, text in given_texts.items()
    }
    asking = next((one for one in declared.values() if one.stdin), None)
    if may_read_stdin and asking and asking.name not in values and not from_stdin and is_stdin_piped():
        text = read_stdin_for_input(asking.name)
        if text:  # many programs start others with an empty pipe
            values[asking.name] = _parse_input_content(text, asking)
    return values


def _read_input_value(name: str, text: str, declared: Input) -> Any:
    if text == "-":
        return _parse_input_content(read_stdin_for_input(name), declared)
    if text.startswith("@@"):
        return text[1:]
    if text.startswith("@"):
        return _parse_input_content(read_input_file(name, text[1:]), declared)
    # The engine converts text to the declared type.
    return text if declared.type != "any" else infer_value(text)


def _parse_input_content(text: str, declared: Input) -> Any:
    """Return the text of a file or of stdin, parsed if it is a JSON object or list."""
    is_structured = declared.type == "any" and text.lstrip().startswith(("{", "["))
    return _parse_json_or_return_text(text) if is_structured else text


def infer_value(text: str) -> Any:
    """Return the value that a text looks like. Numbers that would lose characters, such as 007, stay text."""
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and not text.lstrip("-").isdigit():
        return float(text)
    return _parse_json_or_return_text(text) if text.startswith(("{", "[", '"')) or text == "null" else text


def _parse_json_or_return_text(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return text
