"""How a command ends in a terminal: every failure becomes a message, a hint and an exit code."""

import json
import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn, TextIO

from uraniborg.kernel.errors import InternalError, Unavailable, UraniborgError, as_error
from uraniborg.kernel.logging import get_logger, printable, redact

_RED = "31"
_DIM = "2"


def use_color(stream: TextIO) -> bool:
    """Whether colour is welcome: on a terminal that knows it, unless NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def fail(error: UraniborgError, *, as_json: bool) -> int:
    """Tell of the error, as one JSON line on stdout or as text on stderr, and return the exit code for it."""
    open_what_is_closed()
    if as_json:
        sys.stdout.write(json.dumps(redact(error.body()), default=str) + "\n")
    else:
        sys.stderr.write(_labelled("error", _RED, error.message))
        if error.hint:
            sys.stderr.write(_labelled("hint", _DIM, error.hint))
    return error.exit_code


def _labelled(label: str, style: str, text: str) -> str:
    painted = f"\x1b[{style}m{label}:\x1b[0m" if use_color(sys.stderr) else f"{label}:"
    return f"{painted} {printable(redact(text), keep='')}\n"


def run(main: Callable[[], int | None], *, as_json: bool = False) -> NoReturn:
    """Run the body of a command and exit with its code, whatever happens inside."""
    open_what_is_closed()
    try:
        code = _run(main, as_json=as_json)
        _flush()
    except OSError as exc:
        # What stdout still holds must go nowhere, or the interpreter complains of it when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0 if isinstance(exc, BrokenPipeError) else fail(unwritten(exc), as_json=False)
    sys.exit(code)


def open_what_is_closed() -> None:
    """Have stdout and stderr, if they were closed, lead to nowhere: whoever did that wants nothing from them."""
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
            setattr(sys, name, open(descriptor, "w", encoding="utf-8", closefd=False))  # noqa: SIM115 - to the end


def unwritten(exc: OSError) -> Unavailable:
    """That stdout cannot be written to."""
    return Unavailable(f"The output could not be written: {exc.strerror}.", hint="Check where it goes.")


def _run(main: Callable[[], int | None], *, as_json: bool) -> int:
    try:
        return main() or 0
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        return 130
    except UraniborgError as exc:
        return fail(exc, as_json=as_json)
    except Exception as exc:
        if isinstance(exc, OSError) and _is_of_stdout(exc):
            raise
        error = as_error(exc)
        if isinstance(error, InternalError):
            get_logger(__name__).exception("unexpected failure", exc=exc)
        return fail(error, as_json=as_json)


def _flush() -> None:
    with suppress(ValueError):  # the command has closed it
        sys.stdout.flush()


def _is_of_stdout(exc: OSError) -> bool:
    """Whether it is stdout that failed, and not a file or a pipe of the command's own."""
    try:
        _flush()
    except OSError as again:
        return again.errno == exc.errno
    return isinstance(exc, BrokenPipeError) and _reader_has_gone()


def _reader_has_gone() -> bool:
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    try:
        poll.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):  # something else is in its place
        return False
    return bool(poll.poll(0))
