"""What parameters of built-in nodes mean: paths from the workflow's folder, seconds, values as text."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from pflow.errors import NodeFailed
from pflow.node import Context
from pflow.nodes.excerpts import beginning


def path_of(params: Mapping[str, Any], key: str, context: Context) -> Path:
    """The file or folder that a parameter names; it need not exist. Raises NodeFailed for what cannot be a path."""
    given = str(params[key])
    if not given.strip():
        raise NodeFailed(f"`{key}` is empty.", hint="Give the path of a file, such as notes/today.md.")
    if "\0" in given or not _is_whole(given):
        shown = beginning(given, 100, context)
        raise NodeFailed(f"`{key}` cannot be a path: {shown!r}.", hint="A path is text without NUL.")
    try:
        Path(given).expanduser()
    except RuntimeError:
        shown = beginning(given, 100, context)
        raise NodeFailed(
            f"`{key}` names the home of nobody here: {shown!r}.", hint="Write the whole path instead of ~."
        ) from None
    return context.path(given)


def seconds_of(params: Mapping[str, Any], key: str = "timeout") -> float | None:
    """A length of time, if one is given. Raises NodeFailed for one that is none."""
    seconds = params.get(key)
    if seconds is None:
        return None
    if not (isinstance(seconds, int | float) and seconds > 0):
        raise NodeFailed(f"`{key}` is {seconds!r}, which is no time.", hint="Give it in seconds, more than 0.")
    return float(seconds)


def variables_of(params: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that `env` adds to the environment of a child. Raises NodeFailed for a bad value."""
    given: Mapping[str, Any] = params.get("env") or {}
    return {name: "" if value is None else text_of(value, f"env.{name}") for name, value in given.items()}


def text_of(value: Any, what: str, *, indented: bool = False) -> str:
    """Text as it is, and other values as JSON. Raises NodeFailed for what is neither."""
    if isinstance(value, str):
        return whole(value)
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indented else None).decode()
    except TypeError:
        raise NodeFailed(
            f"`{what}` has no form as text: it is, or holds, what JSON cannot say.",
            hint="Give text, a number, a list or an object.",
        ) from None


def whole(text: str) -> str:
    """Text that can be written and sent: half characters in it are replaced."""
    if _is_whole(text):
        return text
    from uraniborg.kernel.text import replace_surrogates  # which few need, and which takes its time

    return replace_surrogates(text)


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
