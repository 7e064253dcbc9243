"""Putting a finished folder in its place in one step."""

import ctypes
import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from paper_library.errors import ShelfExists
from paper_library.store.layout import MANIFEST
from uraniborg.kernel.files import locked, make_folder, shown, sync_folder

_EXCHANGE: Final = 2
_HERE: Final = -100  # AT_FDCWD


@contextmanager
def staged(target: Path) -> Generator[Path]:
    """A folder beside `target` that takes its place when the block ends well, and is gone when it does not.

    Whoever looks at `target` meanwhile, or after a crash, sees what was there before. Raises ShelfExists when something
    stands there that is not a shelf, and Locked while another build makes the same shelf.
    """
    target = target.resolve()
    if target.exists() and not (target / MANIFEST).is_file() and not _is_empty_folder(target):
        raise ShelfExists(
            f"{shown(target)} exists and is not a shelf.", hint="Choose another place, or remove it yourself first."
        )
    make_folder(target.parent)
    with locked(target.parent / f".{target.name}.building", timeout_s=0):
        _sweep(target)
        folder = target.parent / f".{target.name}.{secrets.token_hex(4)}.new"
        make_folder(folder)
        try:
            yield folder
            _replace(folder, target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            (target.parent / f".{target.name}.building").unlink(missing_ok=True)


def _replace(folder: Path, target: Path) -> None:
    if not target.exists():
        folder.rename(target)
    elif not _exchanged(folder, target):
        # Without an exchange there is a moment without a shelf; what was there is found by the next build.
        aside = target.parent / f".{target.name}.old"
        target.rename(aside)
        folder.rename(target)
        shutil.rmtree(aside, ignore_errors=True)
    sync_folder(target.parent)


def _exchanged(one: Path, other: Path) -> bool:
    """Whether the two folders have changed places in one step; not every system can."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    if renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    if (number := ctypes.get_errno()) in (errno.EINVAL, errno.ENOSYS, errno.EXDEV, errno.EPERM, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), str(other))


def _sweep(target: Path) -> None:
    """Clear away what a killed build left, and put back what one had just set aside."""
    aside = target.parent / f".{target.name}.old"
    if aside.exists() and not target.exists():
        aside.rename(target)
    ours = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{8}\.new")
    for leftover in (aside, *(path for path in target.parent.iterdir() if ours.fullmatch(path.name))):
        shutil.rmtree(leftover, ignore_errors=True)


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
