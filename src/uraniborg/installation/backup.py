"""Back up all data into one archive while servers run, and restore it: all is read and checked first."""

import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from uraniborg.installation.backup_archive import (
    FORMAT,
    MANIFEST,
    ArchivedFile,
    ArchivedFileFacts,
    BackupManifest,
    BackupReader,
    InvalidBackup,
    copy_file,
    is_in_use,
    is_live_database,
    list_backup_roots,
    open_backup,
)
from uraniborg.kernel.actors import Actor, describe_actor, get_process_actor, read_actor
from uraniborg.kernel.errors import Conflict, NotFound, Unavailable, is_out_of_room
from uraniborg.kernel.progress_callbacks import ReportItem
from uraniborg.kernel.settings import config_dir, data_dir
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.kernel.store.files import (
    AlreadyExists,
    check_output,
    display_path,
    hold_lock,
    make_folder,
    open_private,
    sync_folder,
    write_atomic,
)
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


_STAGING: Final = ".uraniborg-restore-"
_PLAN: Final = "restore-in-progress.json"
_LOCK: Final = "restore.lock"


def restore_backup(
    source: Path,
    *,
    replace: bool = False,
    report_file: ReportItem = lambda _: None,
    actor: Actor | None = None,
) -> BackupManifest:
    """Restore an archive and return its manifest. Nothing is changed before all of it was read and checked.

    The log of changes, which is among the restored data, states who restored it: `actor`, by default the program that
    runs this process. Data that exist are moved aside with `replace`. Raise InvalidBackup, Conflict, NotFound or
    Unavailable.
    """
    roots = list_backup_roots()
    if not source.is_file():
        raise NotFound(f"There is no file '{display_path(source)}'.", hint="Check the path of the backup.")
    make_folder(config_dir())
    with hold_lock(config_dir() / _LOCK, timeout_s=1):
        complete_interrupted_restore()
        _check_present_data(roots, replace=replace)
        _check_unused(roots)
        with open_backup(source) as reader:
            staged = _stage_files(reader, roots, report_file)
            manifest = reader.manifest
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        moves = [
            [str(path), str(roots[root]), f"{roots[root]}.before-restore-{stamp}"] for root, path in staged.items()
        ]
        # A restore that is killed from here on is completed by the next restore.
        write_atomic(config_dir() / _PLAN, json.dumps(moves))
        complete_interrupted_restore()
    writer = describe_actor(read_actor(manifest.get("actor")))
    aside = next((aside for _, target, aside in moves if target == str(roots["data"]) and Path(aside).exists()), None)
    record_change("backup restored", str(source), actor, written_by=writer, data_before=aside)
    return manifest


def find_interrupted_restore() -> Path | None:
    """Return the plan of a restore that was killed while it moved the data into place, or None."""
    plan = config_dir() / _PLAN
    return plan if plan.exists() else None


def complete_interrupted_restore() -> None:
    """Move the restored data into place if a restore was killed meanwhile, and delete what killed restores left."""
    if plan := find_interrupted_restore():
        for staged, target, aside in json.loads(plan.read_text(encoding="utf-8")):
            _move_into_place(Path(staged), Path(target), Path(aside))
        plan.unlink()
    for path in list_backup_roots().values():
        if path.parent.is_dir():
            for left in path.parent.glob(f"{_STAGING}*"):
                shutil.rmtree(left, ignore_errors=True)


def _move_into_place(staged: Path, target: Path, aside: Path) -> None:
    """Move `target` to `aside` and `staged` to `target`; what was moved before a kill stays."""
    if not staged.exists():
        return
    if target.exists():
        number = 1
        free = aside
        while free.exists():  # a server has made new data since the kill
            number += 1
            free = aside.with_name(f"{aside.name}-{number}")
        target.rename(free)
    staged.rename(target)
    sync_folder(target.parent)


def _check_present_data(roots: dict[str, Path], *, replace: bool) -> None:
    """Raise Conflict if there are data and `replace` is False."""
    occupied = [path for path in roots.values() if path.is_file() or (path.is_dir() and any(path.iterdir()))]
    if occupied and not replace:
        raise Conflict(
            f"There are data in {', '.join(str(path) for path in occupied)}.",
            hint="Stop all servers and add --replace: the present data are moved aside, not deleted.",
        )


def _check_unused(roots: dict[str, Path]) -> None:
    """Raise Conflict if a running program uses the present data."""
    for path in roots.values():
        for database in path.rglob("*.db"):
            with suppress(OSError):
                if database.is_file() and is_live_database(database) and is_in_use(database):
                    raise Conflict(
                        f"A running program uses '{database}'.",
                        hint="Stop all servers, clients and workflows of Uraniborg, then restore again.",
                    )


def _stage_files(reader: BackupReader, roots: dict[str, Path], report_file: ReportItem) -> dict[str, Path]:
    """Extract and check all files beside the folders that they will replace; return their paths by root.

    On an error nothing is left. Raise InvalidBackup, or Unavailable if the disk has too little space.
    """
    folders: list[str] = []
    try:
        staged: dict[str, Path] = {}
        for root, path in roots.items():
            if any(file.root == root for file in reader.files):
                make_folder(path.parent)
                folders.append(tempfile.mkdtemp(dir=path.parent, prefix=_STAGING))
                staged[root] = Path(folders[-1]) / path.name
        for root, path in staged.items():
            _check_free_space(path.parent, sum(file.size for file in reader.files if file.root == root))
        for file in reader.files:
            report_file(file.name)
            _write_file(staged[file.root] / file.name.removeprefix(file.root).lstrip("/"), file, reader.read_blocks)
    except OSError as exc:
        _delete_folders(folders)
        if is_out_of_room(exc):
            raise
        raise InvalidBackup(f"The backup cannot be extracted: {exc.strerror}.", hint="Use another backup.") from None
    except BaseException:
        _delete_folders(folders)
        raise
    return staged


def _delete_folders(folders: list[str]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _check_free_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise Unavailable(
            f"The backup needs {needed / 1e9:,.1f} GB, and its disk has {free / 1e9:,.1f} GB left.",
            hint="Free disk space, or set URANIBORG_HOME to a folder on another disk.",
        )


def _write_file(path: Path, file: ArchivedFile, read_blocks: Callable[[ArchivedFile], Iterator[bytes]]) -> None:
    make_folder(path.parent)
    descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0))
    with open(descriptor, "wb") as target:
        target.writelines(read_blocks(file))
        target.flush()
        os.fsync(target.fileno())
