"""From KEY=VALUE to the value of an input: as it is declared, else as it looks."""

import re
from collections.abc import Mapping
from typing import Any, Final

from pflow.cli.arguments import UsageError
from pflow.cli.contents import read_file, read_stdin, stdin_is_piped
from pflow.ir.declarations import read_inputs
from pflow.ir.model import Input

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_FLOAT: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?")
_UNDECLARED: Final = Input("")


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
