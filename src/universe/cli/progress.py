"""The progress of long work on stderr: nothing for a second, then a line that is renewed on a terminal."""

import sys
import time
from typing import Final, Self, TextIO

_SILENT_S: Final = 1.0
_RENEWED_S: Final = 0.2
_REPEATED_S: Final = 10.0
"""Between lines where they cannot be renewed, such as in a file."""
_ERASE: Final = "\r\x1b[2K"


class Progress:
    """A context in which to call `progress(part)`, with the part of the work that is done, from 0 to 1."""

    def __init__(self, label: str, *, is_quiet: bool = False, stream: TextIO | None = None) -> None:
        self._label = label
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._is_quiet = is_quiet and not self._is_terminal
        self._is_drawn = False

    def __enter__(self) -> Self:
        self._begun = time.monotonic()
        self._next = self._begun + _SILENT_S
        return self

    def __call__(self, part: float) -> None:
        now = time.monotonic()
        if self._is_quiet or now < self._next:
            return
        left = (now - self._begun) * (1 / part - 1) if part > 0 else 0.0
        text = f"{self._label}: {100 * min(part, 1.0):.0f} %, about {left:,.0f} s left"
        self._next = now + (_RENEWED_S if self._is_terminal else _REPEATED_S)
        self._write(_ERASE + text if self._is_terminal else text + "\n")
        self._is_drawn = self._is_terminal

    def __exit__(self, *_: object) -> None:
        if self._is_drawn:
            self._write(_ERASE)

    def _write(self, text: str) -> None:
        """Write, or be quiet from now on: no work ends because nobody reads its progress."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._is_quiet = True
