"""Backups of all data in one archive, made while servers run."""

import hashlib
import io
import json
import os
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from uraniborg.backup_archive import FORMAT, MANIFEST, ArchivedFileFacts, BackupManifest, list_backup_roots
from uraniborg.database_files import copy_file, is_live_database
from uraniborg.kernel.actors import Actor, get_process_actor
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.files import AlreadyExists, check_output, display_path, open_private, sync_folder
from uraniborg.kernel.progress import ReportItem
from uraniborg.kernel.settings import data_dir
from uraniborg.kernel.version import version

_SKIPPED_ENDINGS: Final = ("-wal", "-shm", "-journal", ".lock", ".tmp", ".new")
_COMPRESSIONS: Final = {".gz": "gz", ".tgz": "gz", ".xz": "xz", ".bz2": "bz2"}


class DataUnreadable(Unavailable):
    code = "data_unreadable"


def write_backup(
    target: Path,
    *,
    replace: bool = False,
    report_file: ReportItem = lambda _: None,
    actor: Actor | None = None,
) -> BackupManifest:
    """Write all data into a tar archive and return its manifest. Servers may run meanwhile.

    The manifest states who wrote it: `actor`, by default the program that runs this process. `target` is complete or
    does not change. Raise AlreadyExists, Unwritable or DataUnreadable.
    """
    if target.exists() and not replace:
        raise AlreadyExists(f"'{display_path(target)}' exists.", hint="Name another file, or add --replace.")
    check_output(target)
    _delete_partial_archives(target)
    partial = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        descriptor = open_private(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0))
        with open(descriptor, "wb") as stream:
            manifest = _write_archive(
                stream, _COMPRESSIONS.get(target.suffix, ""), report_file, actor or get_process_actor()
            )
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(target)
        sync_folder(target.parent)
    finally:
        partial.unlink(missing_ok=True)
    return manifest


def _write_archive(stream: Any, compression: str, report_file: ReportItem, actor: Actor) -> BackupManifest:
    files: dict[str, ArchivedFileFacts] = {}
    manifest: BackupManifest = {
        "format": FORMAT,
        "version": version(),
        "created_at": datetime.now(UTC).isoformat(),
        "actor": actor.model_dump(),
        "files": files,
    }
    mode: Any = f"w:{compression}"
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, path in list_files():
            report_file(name)
            with suppress(FileNotFoundError):  # deleted since it was listed
                files[name] = _add_file_and_describe(archive, name, path, Path(folder) / "copy")
        content = json.dumps(manifest, indent=1).encode()
        entry = tarfile.TarInfo(MANIFEST)
        entry.size, entry.mode = len(content), 0o600
        archive.addfile(entry, io.BytesIO(content))
    return manifest


def list_files() -> Iterator[tuple[str, Path]]:
    """Yield the name in the archive and the path of every file, in an order that is safe while servers write.

    Plain files come before databases: a high-water mark must not be newer than its log, and the results of a run are
    deleted only after the log of runs has its end. The inbox is last, with every decision that a session or run used.
    """
    inbox = data_dir().absolute() / "inbox.db"
    plain: list[tuple[str, Path]] = []
    databases: list[tuple[str, Path]] = []
    for root, path in list_backup_roots().items():
        if path.is_file():
            plain.append((root, path))
            continue
        for folder, _, names in os.walk(path, onerror=_raise_unreadable):
            for name in sorted(names):
                inner = Path(folder) / name
                if inner.is_file() and not inner.is_symlink() and not name.endswith(_SKIPPED_ENDINGS):
                    stored = (f"{root}/{inner.relative_to(path).as_posix()}", inner)
                    (databases if _is_live(inner) else plain).append(stored)
    yield from plain
    yield from (stored for stored in databases if stored[1] != inbox)
    yield from (stored for stored in databases if stored[1] == inbox)


def _is_live(path: Path) -> bool:
    try:
        return is_live_database(path)
    except FileNotFoundError:
        return False
    except OSError as exc:
        raise _make_unreadable_error(exc) from None


def _add_file_and_describe(archive: tarfile.TarFile, name: str, path: Path, copy: Path) -> ArchivedFileFacts:
    """Add a copy of the file: the file itself may change while it is read."""
    copy.unlink(missing_ok=True)
    try:
        modified = int(path.stat().st_mtime)
        copy_file(path, copy)
    except PermissionError as exc:
        raise _make_unreadable_error(exc) from None
    except sqlite3.Error as exc:
        if not path.exists():
            raise FileNotFoundError(path) from None
        raise DataUnreadable(
            f"The database '{display_path(path)}' cannot be copied: {exc}.",
            hint="`uraniborg doctor` checks all databases. Move this one aside, or restore it from a backup.",
        ) from None
    with copy.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode, entry.mtime = stream.tell(), 0o600, modified
        stream.seek(0)
        archive.addfile(entry, stream)
    return {"bytes": entry.size, "sha256": digest}


def _raise_unreadable(exc: OSError) -> None:
    """Raise DataUnreadable, except for a file or folder that was deleted since it was listed."""
    if not isinstance(exc, FileNotFoundError):
        raise _make_unreadable_error(exc) from None


def _make_unreadable_error(exc: OSError) -> DataUnreadable:
    return DataUnreadable(
        f"'{display_path(Path(exc.filename or '.'))}' cannot be read: {exc.strerror}.",
        hint="Fix its permissions: a backup holds all data or is not written.",
    )


def _delete_partial_archives(target: Path) -> None:
    """Delete what backups into the same file left that were killed."""
    for partial in target.parent.glob(f".{target.name}.*.tmp"):
        number = partial.name.split(".")[-2]
        if number.isdigit() and not _is_process_alive(int(number)):
            partial.unlink(missing_ok=True)


def _is_process_alive(pid: int) -> bool:
    if os.name == "nt":  # os.kill would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
