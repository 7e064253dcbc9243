"""Backups of all data in one archive: made while servers run, checked and restored in one step."""

import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast

from uraniborg.kernel.errors import Conflict, InvalidInput, NotFound
from uraniborg.kernel.files import AlreadyExists, check_output, display_path, make_private_folder
from uraniborg.kernel.settings import config_dir, data_dir
from uraniborg.kernel.version import version

MANIFEST: Final = "manifest.json"
FORMAT: Final = 1
_SKIPPED_ENDINGS: Final = ("-wal", "-shm", "-journal", ".lock", ".tmp")
_SQLITE_MARK: Final = b"SQLite format 3\x00"
_LARGEST_MANIFEST: Final = 64_000_000

Progress = Callable[[str], None]


class InvalidBackup(InvalidInput):
    code = "invalid_backup"


def write_backup(target: Path, *, replace: bool = False, report_file: Progress = lambda _: None) -> dict[str, Any]:
    """Write all data into a tar archive and return its manifest. Servers may run meanwhile.

    Every database is copied with SQLite's backup, so that it is consistent; the inbox comes last, so that no decision
    is missing that a session or run already used. Raise AlreadyExists or Unwritable.
    """
    if target.exists() and not replace:
        raise AlreadyExists(f"'{display_path(target)}' exists.", hint="Name another file, or add --replace.")
    check_output(target)
    files: dict[str, dict[str, Any]] = {}
    manifest = {"format": FORMAT, "version": version(), "created_at": datetime.now(UTC).isoformat(), "files": files}
    partial = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with tempfile.TemporaryDirectory() as folder:
            with partial.open("xb") as stream, tarfile.open(fileobj=stream, mode=_get_tar_mode(target)) as archive:
                os.fchmod(stream.fileno(), 0o600)
                for name, path in _list_files():
                    report_file(name)
                    with suppress(FileNotFoundError):  # deleted since it was listed
                        files[name] = _add_file_and_describe(archive, name, path, Path(folder) / "copy.db")
                content = json.dumps(manifest, indent=1).encode()
                entry = tarfile.TarInfo(MANIFEST)
                entry.size, entry.mode = len(content), 0o600
                archive.addfile(entry, io.BytesIO(content))
            partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return manifest


def restore_backup(source: Path, *, replace: bool = False, report_file: Progress = lambda _: None) -> dict[str, Any]:
    """Restore an archive and return its manifest. Nothing is changed before all of it was read and checked.

    Data that exist are moved aside with `replace`. Raise InvalidBackup, Conflict or NotFound.
    """
    roots = _list_backup_roots()
    if not source.is_file():
        raise NotFound(f"There is no file '{display_path(source)}'.", hint="Check the path of the backup.")
    occupied = [path for path in roots.values() if path.exists() and (path.is_file() or any(path.iterdir()))]
    if occupied and not replace:
        raise Conflict(
            f"There are data in {', '.join(display_path(path) for path in occupied)}.",
            hint="Stop all servers and add --replace: the present data are moved aside, not deleted.",
        )
    make_private_folder(data_dir().parent)
    with tempfile.TemporaryDirectory(dir=data_dir().parent, prefix=".restore-") as folder:
        manifest = _extract_and_check_files(source, Path(folder), report_file)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        for root, path in roots.items():
            restored = Path(folder) / root
            if not restored.exists():
                continue
            make_private_folder(path.parent)
            if path.exists():
                path.rename(path.with_name(f"{path.name}.before-restore-{stamp}"))
            shutil.move(restored, path)
    return manifest


def read_manifest(source: Path) -> dict[str, Any]:
    """Return the manifest of an archive. Raise InvalidBackup."""
    with _open_archive(source) as archive:
        return _read_manifest_of_archive(archive, source)


def _list_backup_roots() -> dict[str, Path]:
    """Return the folders and files that a backup holds, by their name in the archive."""
    from pflow.config import load_settings

    return {
        "data": data_dir(),
        "pflow": load_settings().home.expanduser(),
        "config/uraniborg.toml": config_dir() / "uraniborg.toml",
    }


def _list_files() -> Iterator[tuple[str, Path]]:
    """Yield the name in the archive and the path of every file; the inbox last."""
    inbox = data_dir() / "inbox.db"
    for root, path in _list_backup_roots().items():
        if path.is_file():
            yield root, path
        elif path.is_dir():
            for inner in sorted(path.rglob("*")):
                is_data = inner.is_file() and not inner.is_symlink() and not inner.name.endswith(_SKIPPED_ENDINGS)
                if is_data and inner != inbox:
                    yield f"{root}/{inner.relative_to(path).as_posix()}", inner
    if inbox.is_file():
        yield "data/inbox.db", inbox


def _add_file_and_describe(archive: tarfile.TarFile, name: str, path: Path, database_copy: Path) -> dict[str, Any]:
    if _is_database(path):
        _copy_database(path, database_copy)
        path = database_copy
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode, entry.mtime = size, 0o600, int(path.stat().st_mtime)
        archive.addfile(entry, stream)
    database_copy.unlink(missing_ok=True)
    return {"bytes": size, "sha256": digest}


def _is_database(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_SQLITE_MARK)) == _SQLITE_MARK


def _copy_database(path: Path, database_copy: Path) -> None:
    database_copy.unlink(missing_ok=True)
    address = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as source, closing(sqlite3.connect(database_copy)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")  # one file, without a write-ahead log beside it


def _get_tar_mode(target: Path) -> Any:
    compression = {".gz": "gz", ".tgz": "gz", ".xz": "xz", ".bz2": "bz2"}.get(target.suffix, "")
    return f"w:{compression}"


def _open_archive(source: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(source)
    except (tarfile.TarError, OSError, EOFError) as exc:
        raise InvalidBackup(
            f"'{display_path(source)}' is not a backup: {exc}.", hint="Name a file that `uraniborg backup` wrote."
        ) from None


def _read_manifest_of_archive(archive: tarfile.TarFile, source: Path) -> dict[str, Any]:
    try:
        entry = archive.getmember(MANIFEST)
        stream = archive.extractfile(entry)
        content: Any = json.loads(stream.read(_LARGEST_MANIFEST)) if stream else None
    except (KeyError, ValueError, tarfile.TarError, EOFError, OSError):
        content = None
    if not isinstance(content, dict) or not isinstance(cast("dict[str, Any]", content).get("files"), dict):
        raise InvalidBackup(
            f"'{display_path(source)}' has no readable {MANIFEST}.", hint="Name a file that `uraniborg backup` wrote."
        )
    manifest = cast("dict[str, Any]", content)
    if manifest.get("format") != FORMAT:
        raise InvalidBackup(
            f"'{display_path(source)}' has the format {manifest.get('format')}; this version reads {FORMAT}.",
            hint=f"Restore it with version {manifest.get('version')} or newer.",
        )
    return manifest


def _extract_and_check_files(source: Path, folder: Path, report_file: Progress) -> dict[str, Any]:
    """Extract every file that the manifest names below `folder` and check its digest. Raise InvalidBackup."""
    with _open_archive(source) as archive:
        manifest = _read_manifest_of_archive(archive, source)
        for name, expected in manifest["files"].items():
            report_file(name)
            path = folder / _parse_safe_name(name)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                stream = archive.extractfile(name)
            except (KeyError, tarfile.TarError):
                stream = None
            digest = hashlib.sha256()
            if stream is not None:
                with stream, path.open("xb") as target:
                    os.chmod(path, 0o600)
                    while block := stream.read(1 << 20):
                        digest.update(block)
                        target.write(block)
            if stream is None or digest.hexdigest() != expected["sha256"]:
                raise InvalidBackup(f"The file {name} in the backup is damaged.", hint="Use another backup.")
    return manifest


def _parse_safe_name(name: str) -> PurePosixPath:
    """Return the name as a path. Raise InvalidBackup if it would leave the folders of our data."""
    path = PurePosixPath(name)
    is_ours = path.parts[:1] in (("data",), ("pflow",)) or name == "config/uraniborg.toml"
    if not is_ours or ".." in path.parts or path.is_absolute() or "\\" in name:
        raise InvalidBackup(f"The backup has a file with the name '{name}'.", hint="Use another backup.")
    return path
