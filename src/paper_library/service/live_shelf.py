"""Serve one shelf: reopen it when its folder is replaced, and query it in threads with time limits."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from paper_library.store.layout import MANIFEST
from paper_library.store.shelf import Shelf
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import get_logger

_CHECK_INTERVAL_S: Final = 0.5
_RETRY_INTERVAL_S: Final = 2.0
"""The pause after a shelf could not be opened."""

_log = get_logger(__name__)

_Mark = tuple[int, int, int]


class LiveShelf:
    """Opens a shelf and reopens it after a replacement. A shelf in use stays open until its last user is done."""

    def __init__(self, folder: Path) -> None:
        """Open the shelf. Raise the errors of `Shelf.open`."""
        self._folder = folder.absolute()
        self._seen_stat = self._stat_manifest()
        self._shelf = Shelf.open(self._folder)
        self._checked_at = time.monotonic()
        self._opening = threading.Lock()
        self.problem: UraniborgError | None = None
        """The error of a new shelf that could not be opened; the old shelf stays in use."""

    def start_watching(self) -> Callable[[], None]:
        """Start a thread that checks the folder for a replacement, and return a function that stops it."""
        ended = threading.Event()

        def check_folder() -> None:
            while not ended.wait(_CHECK_INTERVAL_S):
                self.get_current()

        threading.Thread(target=check_folder, name="shelf-watch", daemon=True).start()
        return ended.set

    def get_current(self) -> Shelf:
        """Return the open shelf. Never wait: a thread opens a new one."""
        if time.monotonic() - self._checked_at > _CHECK_INTERVAL_S / 2:
            self._checked_at = time.monotonic()
            changed = self._stat_manifest() != self._seen_stat or self.problem is not None
            if changed and not self._opening.locked():
                threading.Thread(target=self.reopen_if_replaced, name="shelf-swap", daemon=True).start()
        return self._shelf

    def reopen_if_replaced(self) -> Shelf:
        """Reopen the shelf if it was replaced, and return it; return the old one if the new one cannot be opened."""
        with self._opening:
            mark = self._stat_manifest()
            if mark == self._seen_stat:
                self.problem = None
                return self._shelf
            try:
                self._shelf = Shelf.open(self._folder)
                self._seen_stat = mark
                self.problem = None
                _log.info("shelf replaced", build_id=self._shelf.build_id, papers=self._shelf.manifest.papers)
            except UraniborgError as exc:
                # It may be incomplete for now, such as a copy whose manifest was copied first.
                self._checked_at = time.monotonic() + _RETRY_INTERVAL_S
                if self.problem is None or self.problem.message != exc.message:
                    _log.warning("the shelf was replaced by one that cannot be opened", problem=exc.message)
                self.problem = exc
            return self._shelf

    def _stat_manifest(self) -> _Mark | None:
        try:
            found = (self._folder / MANIFEST).stat()
        except OSError:
            return None
        return (found.st_ino, found.st_mtime_ns, found.st_size)


T = TypeVar("T")
