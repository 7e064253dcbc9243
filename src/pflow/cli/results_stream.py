"""Stdout for the result of a run alone: whatever else is written there goes to stderr."""

import contextlib
import os
import sys
from collections.abc import Generator
from typing import TextIO

from uraniborg.kernel.cli import make_output_error


@contextlib.contextmanager
def stdout_for_result() -> Generator[TextIO]:
    """A stream to where stdout leads. What nodes print, and what they and their processes write to stdout's descriptor,
    goes to stderr, from now on and to the end of the process: a thread that was given up on may write until then.

    Raises Unavailable if what was written cannot be. If anything is raised, stdout is what it was.
    """
    usual = sys.stdout
    try:
        descriptor = usual.fileno()
    except (OSError, ValueError):  # something else is in its place
        with contextlib.redirect_stdout(sys.stderr):
            yield usual
        return
    own = _led_away(descriptor)
    sys.stdout = sys.stderr
    try:
        yield own
        _flush(own)
    except BaseException:
        usual.flush()
        os.dup2(own.fileno(), descriptor)
        sys.stdout = usual
        _drop(own)
        raise


def _led_away(descriptor: int) -> TextIO:
    sys.stdout.flush()
    own = open(  # noqa: SIM115 - whoever asked for it closes it
        os.dup(descriptor), "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors, closefd=False
    )
    try:
        os.dup2(sys.stderr.fileno(), descriptor)
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    return own


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as exc:
        raise make_output_error(exc) from None


def _drop(stream: TextIO) -> None:
    """What it still holds must go nowhere, or the interpreter complains of it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    stream.close()
