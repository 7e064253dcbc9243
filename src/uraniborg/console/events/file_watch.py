"""Watch the settings and the files of clients, so that open pages follow changes made elsewhere."""

import asyncio
import os
from pathlib import Path
from typing import Final

from uraniborg.connect.clients import list_clients
from uraniborg.console.events.broadcast import EventBroadcast
from uraniborg.kernel.change_feed import ChangeFeed
from uraniborg.locations import list_locations

KIND: Final = "installation"
_LOOK_S: Final = 1.0


class InstallationChanges:
    """Compares the files with those of the last look, whichever program writes them. The methods block."""

    def __init__(self) -> None:
        settings_file = next(one.path for one in list_locations() if one.name == "config")
        self._settings_files = (settings_file, Path(".env").absolute())
        self._stamps = self._read_stamps()

    def find_changes(self) -> list[Path]:
        """Return the files that were written or deleted since the last look."""
        before, self._stamps = self._stamps, self._read_stamps()
        return [file for file, stamp in self._stamps.items() if before.get(file) != stamp]

    def _read_stamps(self) -> dict[Path, tuple[int, ...]]:
        files = [*self._settings_files, *(client.file for client in list_clients())]
        return {file: _make_stamp(file) for file in files}


def _make_stamp(file: Path) -> tuple[int, ...]:
    """Return numbers that change with the file. Without a file, its folder counts: a client may be installed there."""
    try:
        found = file.stat()
    except OSError:
        return (int(os.path.isdir(file.parent)),)  # unlike Path.is_dir, raises nothing
    return (found.st_mtime_ns, found.st_size, found.st_ino)


async def announce_installation_changes(broadcast: EventBroadcast) -> None:
    """Announce the files that any program writes or deletes until cancelled. Read nothing while no stream is open."""
    changes = await asyncio.to_thread(InstallationChanges)
    while True:
        await asyncio.sleep(_LOOK_S)
        if broadcast.has_clients:
            for file in await asyncio.to_thread(changes.find_changes):
                await asyncio.to_thread(ChangeFeed().publish, KIND, str(file))
