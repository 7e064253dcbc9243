"""How a command ends in a terminal: every failure becomes a message, a hint and an exit code."""

import json
import os
import sys
from collections.abc import Callable
from typing import NoReturn, TextIO

from uraniborg.kernel.errors import UraniborgError, as_error
from uraniborg.kernel.logging import get_logger, printable, redact

_RED = "31"
_DIM = "2"


def use_color(stream: TextIO) -> bool:
    """Whether colour is welcome: on a terminal that knows it, unless NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def fail(error: UraniborgError, *, as_json: bool) -> int:
    """Tell of the error, as one JSON line on stdout or as text on stderr, and return the exit code for it."""
    if as_json:
        sys.stdout.write(json.dumps(redact(error.body()), default=str) + "\n")
    else:
        sys.stderr.write(_labelled("error", _RED, error.message))
        if error.hint:
            sys.stderr.write(_labelled("hint", _DIM, error.hint))
    return error.exit_code


def _labelled(label: str, style: str, text: str) -> str:
    painted = f"\x1b[{style}m{label}:\x1b[0m" if use_color(sys.stderr) else f"{label}:"
    return f"{painted} {printable(redact(text))}\n"


def run(main: Callable[[], int | None], *, as_json: bool = False) -> NoReturn:
    """Run the body of a command and exit with its code, whatever happens inside."""
    try:
        code = _run(main, as_json=as_json)
        sys.stdout.flush()
    except BrokenPipeError:
        code = 0
        _forget_stdout()
    sys.exit(code)


def _run(main: Callable[[], int | None], *, as_json: bool) -> int:
    try:
        return main() or 0
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        return 130
    except UraniborgError as exc:
        return fail(exc, as_json=as_json)
    except Exception as exc:
        if isinstance(exc, BrokenPipeError):
            sys.stdout.flush()  # raises again when it is our reader that has gone, and not some other peer
        get_logger(__name__).exception("unexpected failure", exc=exc)
        return fail(as_error(exc), as_json=as_json)


def _forget_stdout() -> None:
    """Let nothing more be written, so that the interpreter does not complain of the closed pipe at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
