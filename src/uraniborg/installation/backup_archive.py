"""The archive that a backup writes and a restore reads: folders, a manifest, and consistent copies of databases.

Use the functions on databases only in processes that have no connection to these files: closing a file releases all
locks of the process on it, also those of its connections.
"""

import hashlib
import json
import lzma
import os
import shutil
import sqlite3
import tarfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, NotRequired, TypedDict, cast

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.settings import config_dir, data_dir
from uraniborg.kernel.shared_fields import ActorFields
from uraniborg.kernel.store.files import display_path
from uraniborg.kernel.version import version

_MARK: Final = b"SQLite format 3\x00"
_WAL_VERSION: Final = b"\x02"
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_live_database(path: Path) -> bool:
    """Return True for a database with a write-ahead log, which a server may be writing. Raise OSError.

    The database of a shelf has none: it never changes after the build.
    """
    with path.open("rb") as stream:
        header = stream.read(len(_MARK) + 3)
    return header.startswith(_MARK) and header.endswith(_WAL_VERSION)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file into the new file `target`; a database that is being written is copied as of one moment.

    Raise OSError or sqlite3.Error.
    """
    if not is_live_database(source):
        shutil.copyfile(source, target)
        return
    # Without a log nobody has it open, and a connection that may write removes the log that it creates.
    mode = "rw" if os.access(source, os.W_OK) and not _has_log(source) else "ro"
    with closing(_connect(source, f"mode={mode}")) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy)


def find_database_damage(path: Path) -> str | None:
    """Return the first problem that SQLite finds in a database, or None. Change no file; servers may run."""
    is_in_use = _has_log(path)
    if not is_in_use and path.stat().st_size == 0:  # an empty file is a database without tables to SQLite
        return "the file is empty"
    # A connection that only reads would create a log and leave it.
    problem = _run_quick_check(path, "mode=ro" if is_in_use else "immutable=1")
    if problem and not is_in_use and _has_log(path):  # a server has opened it meanwhile
        return _run_quick_check(path, "mode=ro")
    return problem


def is_in_use(path: Path) -> bool:
    """Return True if another connection has the database open. Change no file."""
    try:
        with closing(_connect(path, "mode=rw", timeout_s=0)) as connection:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # takes the lock
    except sqlite3.Error as exc:
        return getattr(exc, "sqlite_errorcode", 0) & 0xFF in _BUSY
    return False


def _run_quick_check(path: Path, options: str) -> str | None:
    try:
        with closing(_connect(path, options)) as connection:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as exc:
        return str(exc)
    return None if found == "ok" else " ".join(str(found).split())


def _has_log(path: Path) -> bool:
    return path.with_name(f"{path.name}-wal").exists()


def _connect(path: Path, options: str, timeout_s: float = 5) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?{options}", uri=True, timeout=timeout_s)


MANIFEST: Final = "manifest.json"
FORMAT: Final = 1
SETTINGS: Final = "config/uraniborg.toml"
_LARGEST_MANIFEST: Final = 64_000_000
_MOST_MEMBERS: Final = 1_000_000
_BLOCK: Final = 1 << 20
_READ_ERRORS: Final = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError, ValueError, RecursionError)


class InvalidBackup(InvalidInput):
    code = "invalid_backup"


class ArchivedFileFacts(TypedDict):
    """A file as the manifest describes it."""

    bytes: int
    sha256: str


class BackupManifest(TypedDict):
    """Who wrote a backup, when and with which version, and its files by name."""

    format: int
    version: str
    created_at: str
    actor: NotRequired[ActorFields]
    """Missing in backups of versions that stored no actor."""
    files: dict[str, ArchivedFileFacts]


@dataclass(frozen=True)
class ArchivedFile:
    """A file of an archive as its manifest describes it."""

    name: str
    size: int
    sha256: str

    @property
    def root(self) -> str:
        """Return the name of the folder or file of `list_backup_roots` that it belongs to."""
        return SETTINGS if self.name == SETTINGS else self.name.partition("/")[0]


def list_backup_roots() -> dict[str, Path]:
    """Return the folders and files that a backup holds, by their name in the archive. Raise InvalidConfig."""
    from pflow.config import load_settings

    return {
        "data": data_dir().absolute(),
        "pflow": load_settings().home.expanduser().absolute(),
        SETTINGS: (config_dir() / "uraniborg.toml").absolute(),
    }


class BackupReader:
    """An opened archive: its manifest, and its files one after the other, each checked."""

    def __init__(self, source: Path, archive: tarfile.TarFile) -> None:
        self._source = source
        self._archive = archive
        self.manifest = self._read_manifest()
        self.files = [self._parse_file(name, facts) for name, facts in self.manifest["files"].items()]
        self._members = self._check_members()

    def read_blocks(self, file: ArchivedFile) -> Iterator[bytes]:
        """Yield the contents of a file. Raise InvalidBackup if it is not the file that was stored."""
        digest, size = hashlib.sha256(), 0
        with _translate_read_errors(self._source):
            stream = self._archive.extractfile(self._members[file.name])
        assert stream is not None  # it is a regular file
        while block := self._read_block(stream):
            digest.update(block)
            size += len(block)
            if size > file.size:
                break
            yield block
        if (size, digest.hexdigest()) != (file.size, file.sha256):
            raise InvalidBackup(f"The file {file.name} in the backup is damaged.", hint="Use another backup.")

    def _read_block(self, stream: IO[bytes]) -> bytes:
        with _translate_read_errors(self._source):
            return stream.read(_BLOCK)

    def _read_manifest(self) -> BackupManifest:
        from packaging.version import InvalidVersion, Version

        with _translate_read_errors(self._source):
            member = next((one for one in self._list_members() if one.name == MANIFEST and one.isreg()), None)
            stream = self._archive.extractfile(member) if member else None
            content: Any = json.loads(stream.read(_LARGEST_MANIFEST)) if stream else None
        manifest = cast("JsonObject", content if isinstance(content, dict) else {})
        if not isinstance(manifest.get("files"), dict):
            raise InvalidBackup(
                f"'{display_path(self._source)}' has no {MANIFEST}.", hint="Name a file that `uraniborg backup` wrote."
            )
        written_by = str(manifest.get("version"))[:40]
        try:
            is_newer = manifest.get("format") != FORMAT or Version(written_by) > Version(version())
        except InvalidVersion:
            is_newer = True
        if is_newer:
            raise InvalidBackup(
                f"'{display_path(self._source)}' was written by version {written_by} in the format "
                f"{str(manifest.get('format'))[:40]}; this is version {version()}, which reads the format {FORMAT}.",
                hint="Restore it with the version that wrote it, or a newer one.",
            )
        return cast("BackupManifest", manifest)

    def _list_members(self) -> list[tarfile.TarInfo]:
        for number, _ in enumerate(self._archive):
            if number > _MOST_MEMBERS:
                raise InvalidBackup("The backup has too many files.", hint="Use another backup.")
        return self._archive.getmembers()

    def _parse_file(self, name: str, facts: Any) -> ArchivedFile:
        """Return the file of an entry of the manifest. Raise InvalidBackup for a path outside our folders."""
        path = PurePosixPath(name)
        is_inside = name == SETTINGS or (path.parts[:1] in (("data",), ("pflow",)) and len(path.parts) > 1)
        is_plain = path.as_posix() == name and ".." not in path.parts and not set("\\\0:") & set(name)
        found = cast("JsonObject", facts if isinstance(facts, dict) else {})
        size, digest = found.get("bytes"), found.get("sha256")
        if not (is_inside and is_plain and isinstance(size, int) and size >= 0 and isinstance(digest, str)):
            raise InvalidBackup(f"The backup has a file with the name {name[:200]!r}.", hint="Use another backup.")
        return ArchivedFile(name, size, digest)

    def _check_members(self) -> dict[str, tarfile.TarInfo]:
        """Return the members by name. Raise InvalidBackup unless they are the regular files of the manifest."""
        members = [member for member in self._archive.getmembers() if member.name != MANIFEST]
        by_name = {member.name: member for member in members}
        sizes = {file.name: file.size for file in self.files}
        wrong = [one for one in members if not one.isreg() or one.issparse() or sizes.get(one.name) != one.size]
        missing = sorted(set(sizes) - set(by_name))
        if wrong or missing or len(by_name) < len(members):
            name = wrong[0].name if wrong else (missing or ["twice"])[0]
            raise InvalidBackup(
                f"The archive and its manifest differ at {name[:200]!r}.",
                hint="Use another backup: this one is damaged, or was not written by `uraniborg backup`.",
            )
        return by_name


@contextmanager
def open_backup(source: Path) -> Generator[BackupReader]:
    """Yield the reader of an archive. Raise InvalidBackup."""
    with _translate_read_errors(source):
        archive = tarfile.open(source)  # noqa: SIM115 - closed below
    with archive:
        yield BackupReader(source, archive)


@contextmanager
def _translate_read_errors(source: Path) -> Generator[None]:
    """Raise InvalidBackup for an archive that cannot be read."""
    try:
        yield
    except _READ_ERRORS as exc:
        reason = (str(exc).splitlines() or [type(exc).__name__])[0].rstrip(":.")
        raise InvalidBackup(
            f"'{display_path(source)}' cannot be read as a backup: {reason}.",
            hint="Name a complete file that `uraniborg backup` wrote.",
        ) from None
