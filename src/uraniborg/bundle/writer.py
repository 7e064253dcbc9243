"""Write a bundle as a folder or a zip file: complete, or not there at all."""

import os
import shutil
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final

from uraniborg.bundle.pieces import BundleFile
from uraniborg.bundle.ro_crate_files import DIGESTS
from uraniborg.kernel.errors import Refused
from uraniborg.kernel.store.files import (
    AlreadyExists,
    Unwritable,
    display_path,
    make_private_folder,
    open_private,
    sync_folder,
    write_atomic,
)

_ZIP_TIME: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every file of a zip: the same files give the same bytes."""
_FILE_MODE: Final = 0o600 << 16


class NotABundle(Refused):
    """The folder or file to replace was not written by an export."""

    code = "not_a_bundle"


def check_target(target: Path, *, replace: bool) -> None:
    """Raise AlreadyExists, NotABundle or Unwritable if a bundle cannot be written to `target`; call before the work."""
    if not target.name or target.name in (".", ".."):
        raise Unwritable(f"'{display_path(target)}' cannot be replaced.", hint="Name a new folder or a .zip file.")
    if not target.parent.is_dir():
        raise Unwritable(
            f"The folder '{display_path(target.parent)}' does not exist.", hint="Create it, or name another folder."
        )
    if not os.path.lexists(target):
        return
    if not replace:
        raise AlreadyExists(f"'{display_path(target)}' exists.", hint="Name another one, or add --replace.")
    is_bundle = target.is_file() if is_zip(target) else (target / DIGESTS).is_file() or not any(target.iterdir())
    if target.is_symlink() or not is_bundle:
        raise NotABundle(
            f"'{display_path(target)}' is not a bundle and is not replaced.", hint="Name another folder or .zip file."
        )


def is_zip(target: Path) -> bool:
    """Return True if a bundle of this name is a zip file."""
    return target.suffix.lower() == ".zip"


def write_bundle(target: Path, files: Sequence[BundleFile], *, replace: bool = False) -> None:
    """Write the files as the folder or the zip file `target`. Raise AlreadyExists, NotABundle or Unwritable."""
    check_target(target, replace=replace)
    partial = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    _delete(partial)
    try:
        (_write_zip if is_zip(target) else _write_folder)(partial, target.stem, files)
        _place(partial, target)
        sync_folder(target.parent)
    except OSError as exc:
        raise Unwritable(
            f"'{display_path(target)}' cannot be written: {exc.strerror}.", hint="Check the disk and the permissions."
        ) from exc
    finally:
        _delete(partial)


def delete_listed_files(folder: Path) -> None:
    """Delete the files of a bundle that its list of digests names. Other files of the folder stay."""
    root = folder.resolve()
    with suppress(OSError, ValueError):
        for line in (root / DIGESTS).read_text(encoding="utf-8").splitlines():
            path = root / line.partition("  ")[2]
            if path.parent.resolve().is_relative_to(root) and (path.is_symlink() or path.is_file()):
                path.unlink()


def _write_folder(partial: Path, _stem: str, files: Sequence[BundleFile]) -> None:
    make_private_folder(partial)
    for one in files:
        path = partial.joinpath(*PurePosixPath(one.path).parts)
        make_private_folder(path.parent)
        write_atomic(path, one.content)


def _write_zip(partial: Path, stem: str, files: Sequence[BundleFile]) -> None:
    descriptor = open_private(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0))
    with open(descriptor, "wb") as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for one in files:
                entry = zipfile.ZipInfo(f"{stem}/{one.path}", _ZIP_TIME)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, _FILE_MODE
                entry.create_system = 3  # the same bytes on every system
                archive.writestr(entry, one.content)
        stream.flush()
        os.fsync(stream.fileno())


def _place(partial: Path, target: Path) -> None:
    """Rename the finished bundle; a folder that is replaced is moved aside first and deleted last."""
    if not target.is_dir():
        partial.replace(target)
        return
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    target.rename(old)
    try:
        partial.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
