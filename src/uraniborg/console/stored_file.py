"""A small private file of data that the servers of one data folder share."""

import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from uraniborg.kernel.files import hold_lock, write_atomic
from uraniborg.kernel.logging import get_logger

Data = TypeVar("Data", bound=BaseModel)
_LOCK_S: Final = 5.0

_log = get_logger(__name__)


class StoredFile(Generic[Data]):
    """A JSON file that is written as a whole. A file that is not valid is renamed, never overwritten."""

    def __init__(self, path: Path, make_empty: Callable[[], Data]) -> None:
        """Use the file at `path`; `make_empty` returns the data of a file that does not exist."""
        self.path = path
        self._make_empty = make_empty

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
            data = self._parse_or_rename_file()
            yield data
            write_atomic(self.path, data.model_dump_json())

    def _hold_lock(self) -> AbstractContextManager[None]:
        return hold_lock(self.path.with_name(f"{self.path.name}.lock"), timeout_s=_LOCK_S)

    def _parse_file(self) -> Data:
        empty = self._make_empty()
        try:
            return type(empty).model_validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return empty

    def _parse_or_rename_file(self) -> Data:
        try:
            return self._parse_file()
        except ValidationError:
            damaged = self.path.with_name(f"{self.path.name}.damaged")
            os.replace(self.path, damaged)
            _log.error("a file is not valid and was renamed", path=str(self.path), renamed_to=damaged.name)
            return self._make_empty()
