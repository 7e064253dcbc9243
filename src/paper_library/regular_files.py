"""Open regular files only, without following links and without waiting."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Final

_FILE: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)
# O_PATH needs permission to search a folder, but not to list it.
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_WALKS: Final = hasattr(os, "O_DIRECTORY")


class NotRegular(OSError):
    """The error for a path to a pipe, socket, device or folder."""

    def __init__(self) -> None:
        super().__init__(errno.EINVAL, "It is not a regular file")


def resolve_links(path: Path) -> Path:
    """Return the path without links. Raise OSError, also for link loops."""
    try:
        return path.resolve(strict=True)
    except RuntimeError:  # before Python 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None


def resolve_existing(path: Path) -> Path | None:
    """Return the path without links, or None if it does not exist or is not a valid path."""
    try:
        return resolve_links(path)
    except (OSError, ValueError):
        return None


def open_regular_file(path: Path) -> BufferedReader:
    """Open the regular file at a path without links, such as `Path.resolve` returns.

    Each folder of the path is opened separately, so a link that replaces one meanwhile is not followed but raises
    OSError (ELOOP or ENOTDIR). Raise NotRegular, without waiting for the other end of a pipe, and OSError.
    """
    descriptor = _open_without_following_links(path.absolute())
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise NotRegular


def _open_without_following_links(path: Path) -> int:
    if not _WALKS:
        return os.open(path, _FILE | _NO_LINK | _NO_WAIT)
    folder = os.open(path.anchor, _FOLDER)
    try:
        for name in path.parts[1:-1]:
            below = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(path.name, _FILE | _NO_LINK | _NO_WAIT, dir_fd=folder)
    finally:
        os.close(folder)
