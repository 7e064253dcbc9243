"""The standard streams of a server process, claimed for the client that started the process."""

import gc
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from uraniborg.kernel.cli import print_error, reopen_closed_streams
from uraniborg.kernel.errors import InvalidInput, UraniborgError

ENDING: Final = (signal.SIGINT, signal.SIGTERM)
LINE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of a line that are stored; the rest of a longer line is discarded."""

_CHUNK: Final = 1 << 16


class NoClient(InvalidInput):
    code = "no_client"

    def __init__(self) -> None:
        super().__init__(
            "A server that speaks over stdin and stdout needs both, and one of them is closed.",
            hint="Have an MCP client start it.",
        )


def require_client() -> None:
    """Exit with an error if stdin or stdout is closed."""
    if sys.stdin is None or sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - so it is if closed
        sys.exit(print_error(NoClient(), as_json=False))
    reopen_closed_streams()


@contextmanager
def load_server_modules() -> Generator[None]:
    """Load a server in this block: signals end the process at once, and the garbage collector does not run.

    Loaded modules stay, so looking for garbage among them costs time and finds nothing. Exit with the message of an
    UraniborgError.
    """
    for ending in ENDING:
        signal.signal(ending, _exit_on_signal)
    gc.disable()
    try:
        yield
    except UraniborgError as error:
        sys.exit(print_error(error, as_json=False))
    finally:
        gc.freeze()
        gc.enable()


class Client:
    """The process at the other end of stdin and stdout.

    What this process prints, and what its children print, goes to stderr; children read nothing from stdin.
    """

    def __init__(self) -> None:
        self._source, self._sink = _claim_standard_streams()
        self.is_writing = False

    def listen(self, deliver: Callable[[bytes | None], None], left: Callable[[], None]) -> None:
        """Call `deliver` with each line and with None at the end of input, then `left` once nobody reads stdout.

        Both are called in a thread. A line longer than LINE_LIMIT arrives cut at LINE_LIMIT + 1 bytes.
        """

        def read() -> None:
            try:
                self._read(deliver)
            finally:
                deliver(None)
            self._wait_until_unread()
            left()

        # A daemon: nothing can make a thread stop waiting for input.
        threading.Thread(target=read, name="stdin", daemon=True).start()

    def write(self, line: bytes) -> None:
        """Write all of `line`. Raise OSError, and BrokenPipeError if nobody reads stdout."""
        self.is_writing = True
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._sink, rest) :]
        finally:
            self.is_writing = False

    def _read(self, deliver: Callable[[bytes | None], None]) -> None:
        """Read unbuffered: a buffer's lock, held while waiting, can end the interpreter badly."""
        line = bytearray()

        def add(part: bytes) -> None:
            line.extend(part[: max(0, LINE_LIMIT + 1 - len(line))])

        def finish() -> None:
            if stripped := bytes(line).strip():
                deliver(stripped)
            line.clear()

        try:
            while chunk := os.read(self._source, _CHUNK):
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    add(end)
                    finish()
                add(rest)
        except OSError:
            return
        finish()

    def _wait_until_unread(self) -> None:
        """Return once no process has the other end of stdout open, which for a file is never."""
        errors = select.poll()
        errors.register(self._sink, 0)
        errors.poll()


def _exit_on_signal(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)


def _claim_standard_streams() -> tuple[int, int]:
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    # What is printed shows at once: a signal ends the process without emptying buffers.
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        reconfigure(line_buffering=True)
    return source, sink
