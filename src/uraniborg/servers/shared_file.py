"""A small private file that the servers of one data folder share."""

import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.store.files import hold_lock, write_atomic

Data = TypeVar("Data", bound=BaseModel)
_LOCK_S: Final = 5.0

_log = get_logger(__name__)


class SharedFile(Generic[Data]):
    """A JSON file that is written as a whole. A file that is not valid is renamed, never overwritten."""

    def __init__(self, path: Path, make_empty: Callable[[Data | None], Data]) -> None:
        """Use the file at `path`; `make_empty` returns the data of a missing file, given the last data known here."""
        self.path = path
        self._make_empty = make_empty
        self._last: tuple[Any, Data] | None = None
        """The data that were last read or written, after the state of the file then: one value, as threads share it."""

    @property
    def last(self) -> Data:
        """Return the data that were last read or written here; before that, those of a missing file."""
        return self._last[1] if self._last else self._make_empty(None)

    def has_changed(self) -> bool:
        """Return True unless the file is the one that was last read or written here. Raise OSError."""
        return self._last is None or self._look() != self._last[0]

    def read(self) -> Data:
        """Return the data of the file. Raise OSError or Locked. Blocks."""
        try:
            return self._parse_file()
        except ValidationError:
            with self._hold_lock():  # another server may have renamed the file and written a new one
                return self._parse_or_rename_file()

    @contextmanager
    def change(self) -> Generator[Data]:
        """Yield the data and write them afterwards, while no other server does the same. Raise OSError or Locked."""
        with self._hold_lock():
            data = self._parse_or_rename_file().model_copy(deep=True)
            yield data
            write_atomic(self.path, data.model_dump_json())
            self._last = self._look(), data

    def _hold_lock(self) -> AbstractContextManager[None]:
        return hold_lock(self.path.with_name(f"{self.path.name}.lock"), timeout_s=_LOCK_S)

    def _look(self) -> tuple[int, int, int] | None:
        """Return what changes when the file is written again; None if there is no file."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _parse_file(self) -> Data:
        empty = self._make_empty(self._last and self._last[1])
        state = self._look()
        try:
            data = type(empty).model_validate_json(self.path.read_bytes())
        except FileNotFoundError:
            data = empty
        self._last = state, data
        return data

    def _parse_or_rename_file(self) -> Data:
        try:
            return self._parse_file()
        except ValidationError:
            damaged = self.path.with_name(f"{self.path.name}.damaged")
            os.replace(self.path, damaged)
            _log.error("a file is not valid and was renamed", path=str(self.path), renamed_to=damaged.name)
            return self._make_empty(self._last and self._last[1])
