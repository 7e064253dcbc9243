"""The client at the other end of stdin and stdout, which from then on are its alone; heard before the SDK is loaded."""

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.greeting import Greeting
from uraniborg.kernel.terminal import fail, open_what_is_closed

ENDING: Final = (signal.SIGINT, signal.SIGTERM)

_CHUNK: Final = 1 << 16


class NoClient(InvalidInput):
    code = "no_client"

    def __init__(self) -> None:
        super().__init__(
            "A server that speaks over stdin and stdout needs both, and one of them is closed.",
            hint="Have an MCP client start it.",
        )


def require_client() -> None:
    """Exits, and says why, where nobody can be at the other end."""
    if sys.stdin is None or sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - so it is if closed
        sys.exit(fail(NoClient(), as_json=False))
    open_what_is_closed()


class Client:
    """Whoever started this process. Its lines are read from now on, and wait until somebody listens.

    What the process prints, and what its children print, goes to stderr; children read nothing from stdin.
    """

    def __init__(self, greeting: Greeting | None = None) -> None:
        self.greeted: bytes | None = None
        """The answer to its first line, if that was a greeting and has been answered."""
        self._greeting = greeting
        self._source, self._sink = _claim_standard_streams()
        self._waiting: list[bytes | None] = []
        self._deliver: Callable[[bytes | None], None] = self._waiting.append
        self._delivering = threading.Lock()
        # A thread of its own, and a daemon: nothing else can be made to stop waiting for input.
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    def listen(self, deliver: Callable[[bytes | None], None]) -> None:
        """Have `deliver` called with each line, those that came before now first, and with None after the last. From
        now on nobody is greeted: whoever listens does that."""
        with self._delivering:
            self._greeting = None
            for line in self._waiting:
                deliver(line)
            self._waiting.clear()
            self._deliver = deliver

    def write(self, line: bytes) -> None:
        """Write all of it. Raises OSError, and BrokenPipeError if the client has gone."""
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._sink, rest) :]

    def _read(self) -> None:
        """Unbuffered: a buffer's lock, held while waiting, can end the interpreter badly."""
        parts: list[bytes] = []
        try:
            while chunk := os.read(self._source, _CHUNK):
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    if line := b"".join([*parts, end]).strip():
                        self._take(line)
                    parts.clear()
                parts.append(rest)
        except OSError:
            return
        finally:
            self._take(None)

    def _take(self, line: bytes | None) -> None:
        with self._delivering:
            greeting, self._greeting = self._greeting, None
            if greeting is not None and line is not None and (answer := greeting.answer(line)) is not None:
                self.greeted = answer
                with suppress(OSError):  # it has gone, as will be noticed soon enough
                    self.write(answer)
            self._deliver(line)


_greeted: Client | None = None


def greet(greeting: Greeting) -> None:
    """Answer the greeting of this process's client as soon as it comes, also before there is a server to run for it.

    Call it from the main thread, then make the server and run it over stdio. Until it runs, a signal ends the process
    at once, and no garbage is looked for: what is loaded is there to stay.
    """
    global _greeted  # noqa: PLW0603 - a process has one stdin and one stdout
    for ending in ENDING:
        signal.signal(ending, _exit)
    gc.disable()
    _greeted = Client(greeting)


def client_of_this_process() -> Client:
    """The one that is being greeted; if there is none, its lines are read from now on. To be asked for once."""
    if _greeted is None:
        return Client()
    gc.freeze()
    gc.enable()
    return _greeted


def _exit(number: int, _frame: FrameType | None) -> None:
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
