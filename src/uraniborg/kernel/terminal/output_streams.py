"""Know the colours and columns of a command's streams, and write plain text and JSON to them."""

import os
import sys
from typing import Any, Final, TextIO

_LEAST_COLUMNS: Final = 20
"""Columns to assume at least; lines are longer than a terminal that has fewer."""


def can_use_color(stream: TextIO) -> bool:
    """Return True for a terminal with colours, unless NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def get_terminal_columns(stream: TextIO) -> int | None:
    """Return the columns of COLUMNS or of the terminal, or None if the stream is not a terminal."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and len(given) < 6 and int(given) > 0:
        return max(_LEAST_COLUMNS, int(given))
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):
        return None


def write_text(stream: TextIO, text: str) -> None:
    """Write a text; characters that the stream cannot encode are escaped."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def format_json(value: Any, *, indented: bool = False) -> str:
    """Return the value as JSON; values without a JSON form become text."""
    import orjson

    option = orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indented else 0)
    try:
        return orjson.dumps(value, default=str, option=option).decode()
    except orjson.JSONEncodeError:  # integers beyond 64 bits, half characters
        import json

        return json.dumps(value, default=str, indent=2 if indented else None)


def print_json(value: Any, stream: TextIO | None = None, *, indented: bool = False) -> None:
    """Print the value as UTF-8 JSON, by default in one line on stdout."""
    out = stream or sys.stdout
    data = f"{format_json(value, indented=indented)}\n".encode("utf-8", "backslashreplace")
    if hasattr(out, "buffer"):
        out.flush()
        out.buffer.write(data)
    else:
        out.write(data.decode())


def flush_stderr() -> None:
    """Flush stderr; if it is closed, discard the rest so that the exit code stays the same."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
