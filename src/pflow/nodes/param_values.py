"""Read parameters of built-in nodes: paths from the workflow's folder, seconds, and values as text."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import orjson

from pflow.domain.node import NodeContext
from pflow.domain.redaction import cut_masked_start
from pflow.errors import NodeFailed


def get_path(params: Mapping[str, object], key: str, context: NodeContext) -> Path:
    """Return the path in a parameter; the file may not exist. Raise NodeFailed for an invalid path."""
    given = str(params[key])
    if not given.strip():
        raise NodeFailed(f"`{key}` is empty.", hint="Give the path of a file, such as notes/today.md.")
    if "\0" in given:
        quoted = cut_masked_start(given, 100, context)
        raise NodeFailed(f"`{key}` cannot be a path: {quoted!r}.", hint="A path is text without NUL.")
    try:
        Path(given).expanduser()
    except RuntimeError:
        quoted = cut_masked_start(given, 100, context)
        raise NodeFailed(
            f"`{key}` names the home folder of an unknown user: {quoted!r}.", hint="Write the full path instead of ~."
        ) from None
    return context.path(given)


def get_seconds(params: Mapping[str, object], key: str = "timeout") -> float | None:
    """Return a positive number of seconds, or None if it is not given. Raise NodeFailed."""
    seconds = params.get(key)
    if seconds is None:
        return None
    if not (isinstance(seconds, int | float) and seconds > 0):
        raise NodeFailed(
            f"`{key}` must be a positive number of seconds, got {seconds!r}.", hint="Give it in seconds, more than 0."
        )
    return float(seconds)


def get_added_environment(params: Mapping[str, object]) -> dict[str, str]:
    """Return the variables that `env` adds to the environment of a child. Raise NodeFailed for a bad value."""
    given = cast("Mapping[str, object]", params.get("env") or {})
    return {name: "" if value is None else format_param_as_text(value, f"env.{name}") for name, value in given.items()}


def format_param_as_text(value: Any, param_name: str, *, indented: bool = False) -> str:
    """Return text unchanged, and other values as JSON. Raise NodeFailed if neither is possible."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indented else None).decode()
    except TypeError:
        raise NodeFailed(
            f"`{param_name}` cannot be written as text: it is, or contains, a value without a JSON form.",
            hint="Give text, a number, a list or an object.",
        ) from None
