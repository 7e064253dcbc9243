"""The shelf that is served now: when its folder is replaced, new requests use the new one without a restart."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from paper_library.store.layout import MANIFEST
from paper_library.store.shelf import Shelf
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import get_logger

_LOOK_EVERY_S: Final = 0.5
_LOOK_AGAIN_S: Final = 2.0
"""After a shelf could not be opened."""

_log = get_logger(__name__)

_Mark = tuple[int, int, int]


class LiveShelf:
    """Opens a shelf and follows its replacement. Whoever holds a shelf keeps it until done; nothing is closed early."""

    def __init__(self, folder: Path) -> None:
        """Raises as `Shelf.open` does."""
        self._folder = folder.absolute()
        self._mark = self._look()
        self._shelf = Shelf.open(self._folder)
        self._looked = time.monotonic()
        self._opening = threading.Lock()
        self.problem: UraniborgError | None = None
        """Why a replaced shelf could not be opened; the one before it is served on."""

    def watch(self) -> Callable[[], None]:
        """Follow the folder from now on, from a thread, until what is returned is called."""
        ended = threading.Event()

        def follow() -> None:
            while not ended.wait(_LOOK_EVERY_S):
                self.current()

        threading.Thread(target=follow, name="shelf-watch", daemon=True).start()
        return ended.set

    def current(self) -> Shelf:
        """The shelf to answer from. Never waits: a new one is opened on the side."""
        if time.monotonic() - self._looked > _LOOK_EVERY_S / 2:
            self._looked = time.monotonic()
            changed = self._look() != self._mark or self.problem is not None
            if changed and not self._opening.locked():
                threading.Thread(target=self.refresh, name="shelf-swap", daemon=True).start()
        return self._shelf

    def refresh(self) -> Shelf:
        """The shelf as it is on disk now, if it can be opened, else the one before."""
        with self._opening:
            mark = self._look()
            if mark == self._mark:
                self.problem = None
                return self._shelf
            try:
                self._shelf = Shelf.open(self._folder)
                self._mark = mark
                self.problem = None
                _log.info("shelf replaced", build_id=self._shelf.build_id, papers=self._shelf.manifest.papers)
            except UraniborgError as exc:
                # It may be on its way still: a copy whose manifest came first, say.
                self._looked = time.monotonic() + _LOOK_AGAIN_S
                if self.problem is None or self.problem.message != exc.message:
                    _log.warning("the shelf was replaced by one that cannot be opened", problem=exc.message)
                self.problem = exc
            return self._shelf

    def _look(self) -> _Mark | None:
        try:
            found = (self._folder / MANIFEST).stat()
        except OSError:
            return None
        return (found.st_ino, found.st_mtime_ns, found.st_size)
