"""The standard streams of a server process, reserved for the client that started the process."""

import gc
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import BinaryIO, Final

from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.terminal.command_runner import print_error, reopen_closed_streams

ENDING: Final = (signal.SIGINT, signal.SIGTERM)
LINE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of a line that are stored; the rest of a longer line is discarded."""

_CHUNK: Final = 1 << 16


class NoClient(InvalidInput):
    code = "no_client"

    def __init__(self) -> None:
        super().__init__(
            "The server communicates over stdin and stdout, and one of them is closed.",
            hint="Start the server from an MCP client.",
        )


def require_client() -> None:
    """Exit with an error if stdin or stdout is closed."""
    if sys.stdin is None or sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - closed streams are None
        sys.exit(print_error(NoClient(), as_json=False))
    reopen_closed_streams()


@contextmanager
def load_server_modules() -> Generator[None]:
    """Import a server in this block: signals end the process at once, and the garbage collector does not run.

    Modules are never garbage, so a collection among them only costs time. Print an UraniborgError and exit.
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

    The output of this process and of its children goes to stderr; children read nothing from stdin.
    """

    def __init__(self) -> None:
        self._source, self._sink = _reserve_standard_streams()
        self.is_writing = False

    def listen(self, deliver: Callable[[bytes | None], None], on_left: Callable[[], None]) -> None:
        """Call `deliver` with each line and with None at the end of input, then `on_left` once nobody reads stdout.

        Both are called in a thread. A line longer than LINE_LIMIT arrives cut at LINE_LIMIT + 1 bytes.
        """

        def read() -> None:
            try:
                self._read_lines(deliver)
            finally:
                deliver(None)
            self._wait_until_unread()
            on_left()

        # A daemon: a thread that waits for input cannot be stopped.
        threading.Thread(target=read, name="stdin", daemon=True).start()

    def open_input(self) -> BinaryIO:
        """Return stdin as a stream, for a reader of other messages than lines. Read it in one thread only."""
        return os.fdopen(self._source, "rb")

    def write(self, line: bytes) -> None:
        """Write all of `line`. Raise OSError, and BrokenPipeError if nobody reads stdout."""
        self.is_writing = True
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._sink, rest) :]
        finally:
            self.is_writing = False

    def _read_lines(self, deliver: Callable[[bytes | None], None]) -> None:
        """Call `deliver` with each line of stdin.

        Read without a buffer: its lock, held while waiting, can make the interpreter crash at exit.
        """
        line = bytearray()

        def add_part(part: bytes) -> None:
            line.extend(part[: max(0, LINE_LIMIT + 1 - len(line))])

        def deliver_line() -> None:
            if stripped := bytes(line).strip():
                deliver(stripped)
            line.clear()

        try:
            while chunk := os.read(self._source, _CHUNK):
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    add_part(end)
                    deliver_line()
                add_part(rest)
        except OSError:
            return
        deliver_line()

    def _wait_until_unread(self) -> None:
        """Return once no process has the other end of stdout open, which for a file is never."""
        errors = select.poll()
        errors.register(self._sink, 0)
        errors.poll()


def _exit_on_signal(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)


def _reserve_standard_streams() -> tuple[int, int]:
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    # Print lines at once: a signal ends the process without flushing buffers.
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        reconfigure(line_buffering=True)
    return source, sink
