"""Build beside the shelf, and replace the shelf in one step."""

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
from uraniborg.kernel.files import display_path, hold_lock, make_folder, sync_folder

_EXCHANGE: Final = 2
_HERE: Final = -100  # AT_FDCWD


@contextmanager
def stage_replacement(target: Path) -> Generator[Path]:
    """Yield a new folder beside `target` that replaces it when the block succeeds, and is removed when it fails.

    Readers of `target` see the old contents until then, also after a crash. Raise ShelfExists if `target` exists and
    is not a shelf, and Locked while another build writes the same shelf.
    """
    target = target.resolve()
    if target.exists() and not (target / MANIFEST).is_file() and not _is_empty_folder(target):
        raise ShelfExists(
            f"{display_path(target)} exists and is not a shelf.",
            hint="Choose another output folder or remove this one.",
        )
    make_folder(target.parent)
    with hold_lock(target.parent / f".{target.name}.building", timeout_s=0):
        _restore_shelf_and_remove_leftovers(target)
        folder = target.parent / f".{target.name}.{secrets.token_hex(4)}.new"
        make_folder(folder)
        try:
            yield folder
            _replace_folder(folder, target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            (target.parent / f".{target.name}.building").unlink(missing_ok=True)


def _replace_folder(folder: Path, target: Path) -> None:
    if not target.exists():
        folder.rename(target)
    elif not _try_exchange_folders(folder, target):
        # Without an exchange there is a moment without a shelf; the next build restores the old one.
        old = target.parent / f".{target.name}.old"
        target.rename(old)
        folder.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    sync_folder(target.parent)


def _try_exchange_folders(one: Path, other: Path) -> bool:
    """Exchange two folders in one step. Return False on systems that cannot."""
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


def _restore_shelf_and_remove_leftovers(target: Path) -> None:
    """Remove folders that a killed build left, and restore a shelf that it had moved."""
    old = target.parent / f".{target.name}.old"
    if old.exists() and not target.exists():
        old.rename(target)
    ours = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{8}\.new")
    for leftover in (old, *(path for path in target.parent.iterdir() if ours.fullmatch(path.name))):
        shutil.rmtree(leftover, ignore_errors=True)


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
