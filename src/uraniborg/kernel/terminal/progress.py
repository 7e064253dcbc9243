"""Show progress on stderr: a line that the next one replaces, or a line every ten seconds in a file."""

import os
import sys
import time
from threading import Event, Thread
from typing import Final, Self, TextIO

from uraniborg.kernel.terminal.output_streams import write_text
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.styled_text import DIM, Piece, StyledText, cut_to_width, mask_and_escape_text

ERASE: Final = "\r\x1b[2K"
_PLAIN_COLUMNS: Final = 80
_SILENT_S: Final = 1.0
_TERMINAL_INTERVAL_S: Final = 0.5
_STREAM_INTERVAL_S: Final = 10.0
"""The interval between lines on a stream that is not a terminal, such as a file."""
_MOST_CHARACTERS: Final = 60


class LiveLine:
    """A line of a terminal that the next line replaces. If writing fails, the rest is discarded: no work ends by it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream: TextIO | None = stream
        self._page = Page(stream)
        self._is_drawn = False
        self.is_live = stream.isatty() and os.environ.get("TERM") != "dumb"

    def draw(self, text: str, mark: str = "…") -> None:
        """Draw a text, cut with a mark if it is too long for the terminal; elsewhere write nothing."""
        if not self.is_live or self._stream is None:
            return
        line = StyledText(DIM, cut_to_width(mask_and_escape_text(text), _get_true_columns(self._stream) - 1, mark))
        # The cursor stays at the start of the line, so that other output begins there.
        self._write(f"{self._page.render_piece(line)}\r")
        self._is_drawn = True

    def write_line(self, *pieces: Piece) -> None:
        """Write a line, in place of the one that is drawn."""
        self._write("".join(map(self._page.render_piece, pieces)).rstrip() + "\n")

    def erase(self) -> None:
        """Erase the line that is drawn."""
        self._write("")

    def _write(self, text: str) -> None:
        text = (ERASE if self._is_drawn else "") + text
        self._is_drawn = False
        if self._stream is None or not text:
            return
        try:
            write_text(self._stream, text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone, the disk is full, or the stream is closed
            self._stream = None


def _get_true_columns(stream: TextIO) -> int:
    """Return the columns of the terminal, whatever COLUMNS states: a line that is wrapped could not be erased."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or _PLAIN_COLUMNS
    except (OSError, ValueError):
        return _PLAIN_COLUMNS


class Progress:
    """Shows what long work is doing, after one second. The work calls one of its methods, all of which are fast.

    It is silent if the person wants it `quiet`, and where a program reads JSON and no person sees a terminal.
    """

    def __init__(self, label: str, *, is_quiet: bool = False, as_json: bool = False) -> None:
        self._label, self._detail = label, ""
        self._fraction = 0.0
        self._ended = Event()
        self._line = LiveLine(sys.stderr)
        is_silent = is_quiet or (as_json and not self._line.is_live)
        self._thread = None if is_silent else Thread(target=self._show, daemon=True)

    def report_item(self, item: str) -> None:
        """Show the name of an item when its turn comes."""
        self._detail = f" {item[-_MOST_CHARACTERS:]}"

    def report_fraction(self, fraction: float) -> None:
        """Show the fraction that is done, from 0 to 1, and the time left."""
        self._fraction = min(fraction, 1.0)

    def report_count(self, phase: str, done: int, total: int) -> None:
        """Show a phase of the work with its number of finished items, and of how many if that is known."""
        self._detail = f" {phase} {done:,}" + (f" of {total:,}" if total else "")

    def __enter__(self) -> Self:
        self._begun = time.monotonic()
        if self._thread:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread:
            self._thread.join()

    def _show(self) -> None:
        wait = _SILENT_S
        while not self._ended.wait(wait):
            text = self._describe(time.monotonic() - self._begun)
            self._line.draw(text) if self._line.is_live else self._line.write_line(text)
            wait = _TERMINAL_INTERVAL_S if self._line.is_live else _STREAM_INTERVAL_S
        self._line.erase()

    def _describe(self, passed_s: float) -> str:
        if not self._fraction:
            return f"{self._label}{self._detail}".strip()
        left = passed_s * (1 / self._fraction - 1)
        return f"{self._label}{self._detail}: {100 * self._fraction:.0f} %, about {left:,.0f} s left"
