"""Notice workflow files that any program has written, changed or deleted since the last look."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from pflow.library.listing import DRAFTS, LIBRARY, Source, make_stamp
from pflow.library.names import SUFFIX
from uraniborg.kernel.files import make_private_folder, write_atomic

_STORED: Final = "cache/file-stamps.json"
_Stamps = dict[tuple[Source, str], list[int]]


class FileChange(NamedTuple):
    """A workflow whose file was written or deleted. `source` is the kind of its folder."""

    name: str
    source: Source
    is_deleted: bool


class FileChanges:
    """Compares the files of a home with those of the last look, also of an earlier process. The methods block."""

    def __init__(self, home: Path) -> None:
        self._folders: dict[Source, Path] = {"library": home / LIBRARY, "draft": home / DRAFTS}
        self._stored = home / _STORED
        stored = self._read_stored_stamps()
        self._stamps = self._read_stamps() if stored is None else stored
        if stored is None:
            self.store_look()

    def find_changes(self) -> list[FileChange]:
        """Return the workflows that were written or deleted since the last look."""
        before, self._stamps = self._stamps, self._read_stamps()
        written = [one for one, stamp in self._stamps.items() if before.get(one) != stamp]
        deleted = [one for one in before if one not in self._stamps]
        return [
            *(FileChange(name, source, is_deleted=False) for source, name in written),
            *(FileChange(name, source, is_deleted=True) for source, name in deleted),
        ]

    def store_look(self) -> None:
        """Store the last look for later processes. If it cannot be written, they find its changes again."""
        plain = [[*key, stamp] for key, stamp in self._stamps.items()]
        with suppress(OSError):
            make_private_folder(self._stored.parent)
            write_atomic(self._stored, json.dumps(plain))

    def _read_stored_stamps(self) -> _Stamps | None:
        """Return the stamps of the last look that was stored, or None if there is none or its file is damaged."""
        try:
            plain = cast("list[list[Any]]", json.loads(self._stored.read_bytes()))
            return {(source, name): stamp for source, name, stamp in plain}
        except (OSError, ValueError, TypeError):
            return None

    def _read_stamps(self) -> _Stamps:
        found: _Stamps = {}
        for source, folder in self._folders.items():
            with suppress(OSError), os.scandir(folder) as files:  # the folder may be missing
                for file in files:
                    if file.name.endswith(SUFFIX) and not file.name.startswith("."):
                        with suppress(FileNotFoundError):  # it was deleted meanwhile
                            found[source, file.name.removesuffix(SUFFIX)] = make_stamp(file.stat())
        return found
