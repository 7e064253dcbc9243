"""Text that an input takes from elsewhere: a file, or what is piped in."""

import os
import select
import stat
import sys
from pathlib import Path
from typing import Final

from pflow.cli.arguments import UsageError

LARGEST: Final = 10_000_000
"""Bytes of text that one input takes."""
_PATIENCE_MS: Final = 1_000
_HINT: Final = "Save it to a file, give its path as a value, and have the workflow read it, for example with read-file."


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
