"""The changes of workflow files since the last look, whichever program wrote them."""

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pflow.library.listing import DRAFTS, LIBRARY, Source, make_stamp
from pflow.library.names import SUFFIX


class FileChange(NamedTuple):
    """A workflow whose file was written or deleted. `source` is the kind of its folder."""

    name: str
    source: Source
    is_deleted: bool


class FileChanges:
    """Compares the files of a home with those of the last look. The methods block."""

    def __init__(self, home: Path) -> None:
        self._folders: dict[Source, Path] = {"library": home / LIBRARY, "draft": home / DRAFTS}
        self._stamps = self._read_stamps()

    def find_changes(self) -> list[FileChange]:
        """Return the workflows that were written or deleted since the last call."""
        before, self._stamps = self._stamps, self._read_stamps()
        written = [one for one, stamp in self._stamps.items() if before.get(one) != stamp]
        deleted = [one for one in before if one not in self._stamps]
        return [
            *(FileChange(name, source, is_deleted=False) for source, name in written),
            *(FileChange(name, source, is_deleted=True) for source, name in deleted),
        ]

    def _read_stamps(self) -> dict[tuple[Source, str], list[int]]:
        found: dict[tuple[Source, str], list[int]] = {}
        for source, folder in self._folders.items():
            with suppress(OSError), os.scandir(folder) as files:  # the folder may be missing
                for file in files:
                    if file.name.endswith(SUFFIX) and not file.name.startswith("."):
                        with suppress(FileNotFoundError):  # it was deleted meanwhile
                            found[source, file.name.removesuffix(SUFFIX)] = make_stamp(file.stat())
        return found
