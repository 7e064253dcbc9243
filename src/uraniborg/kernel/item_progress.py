"""Show on stderr how many items of a long work are done."""

import sys
from threading import Event, Thread
from typing import Final, Self

from uraniborg.kernel.logging import make_printable

_SILENT_S: Final = 1.0
_STREAM_INTERVAL_S: Final = 10.0
_ERASE: Final = "\r\x1b[K"
_MOST_CHARACTERS: Final = 60


class ItemProgress:
    """Shows the current item after one second: on one line of a terminal, else on a new line every ten seconds.

    Call it with the name of each item when its turn comes.
    """

    def __init__(self, verb: str, *, is_quiet: bool, as_json: bool) -> None:
        self._verb, self._item, self._stream = verb, "", sys.stderr
        self._is_terminal = self._stream.isatty()
        self._ended = Event()
        self._thread = (
            None if is_quiet or (as_json and not self._is_terminal) else Thread(target=self._show, daemon=True)
        )

    def __call__(self, item: str) -> None:
        self._item = item

    def __enter__(self) -> Self:
        if self._thread:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread:
            self._thread.join()

    def _show(self) -> None:
        """Write the item until the work has ended, or until nobody reads the stream."""
        wait = _SILENT_S
        try:
            while not self._ended.wait(wait):
                text = f"{self._verb} {make_printable(self._item, keep='')[-_MOST_CHARACTERS:]}"
                self._write(_ERASE + text if self._is_terminal else f"{text}\n")
                wait = _SILENT_S if self._is_terminal else _STREAM_INTERVAL_S
            if self._is_terminal:
                self._write(_ERASE)
        except (OSError, ValueError):
            return

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
