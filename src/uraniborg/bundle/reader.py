"""Read a bundle of unknown origin, folder or zip file, with limits on names, sizes and kinds of files."""

import hashlib
import json
import os
import stat
import zipfile
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, cast

import orjson

from uraniborg.bundle.ro_crate_files import CRATE, DIGESTS
from uraniborg.kernel.errors import InvalidInput, NotFound
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.store.files import display_path

MOST_FILES: Final = 20_000
MOST_BYTES: Final = 256_000_000
"""Of one file. Only JSON of this size is read at once: as much as its values need."""
MOST_TEXT_BYTES: Final = 32_000_000
"""Of a text that is read at once and not made again first."""
MOST_BYTES_IN_ALL: Final = 1_000_000_000
MOST_VALUES: Final = 10_000_000
"""Of one JSON file; each takes up to 150 bytes of memory."""
_MOST_RATIO: Final = 1_000
"""The largest ratio of unpacked to packed bytes; deflate reaches 1032 with zeros alone."""
_BLOCK: Final = 1 << 20
_READ_ERRORS: Final = (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)


class InvalidBundle(InvalidInput):
    """The file is not a bundle, or is one that must not be read."""

    code = "invalid_bundle"


class BundleMissing(NotFound):
    code = "bundle_not_found"


class UnreadableBundle(Exception):
    """A file of a bundle that cannot be read; the text says why."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__(problem)
        self.path = path
        """The file, if it is known."""


class Bundle:
    """The files of a bundle by their paths. Nothing is unpacked to the disk."""

    def __init__(self, path: Path, archive: zipfile.ZipFile | None) -> None:
        self.path = path
        self._archive = archive
        sizes = dict(_list_folder(path) if archive is None else _list_archive(archive))
        self._top = "" if DIGESTS in sizes or CRATE in sizes else _find_top_folder(sizes)
        self.sizes = {name.removeprefix(self._top): size for name, size in sorted(sizes.items())}
        self.paths = sorted(self.sizes)
        self._digests: dict[str, str] = {}
        if DIGESTS not in self.paths or CRATE not in self.paths:
            raise _make_error(path, f"it has no {CRATE if DIGESTS in self.paths else DIGESTS}")

    def find_folders(self, kind: str) -> list[str]:
        """Return the folders below the folder `kind`, such as `universes/trappist-1`."""
        parts = [name.split("/") for name in self.paths if name.startswith(f"{kind}/")]
        return sorted({"/".join(one[:2]) for one in parts if len(one) > 2})

    def find_documents(self, kind: str) -> list[str]:
        """Return the JSON files in the folder `kind`, such as `runs/masses.json`."""
        return [name for name in self.paths if name.startswith(f"{kind}/") and name.endswith(".json")]

    def has(self, name: str) -> bool:
        """Return True if the bundle has this file."""
        return name in self.sizes

    def compute_digest(self, name: str) -> str:
        """Return the SHA-256 digest of a file, computed once. Raise Unreadable."""
        if name not in self._digests:
            digest = hashlib.sha256()
            for block in self._iterate_parts(name, MOST_BYTES):
                digest.update(block)
            self._digests[name] = digest.hexdigest()
        return self._digests[name]

    def read(self, name: str, *, most: int = MOST_TEXT_BYTES) -> bytes:
        """Return the content of a file of at most `most` bytes. Raise Unreadable."""
        return b"".join(self._iterate_parts(name, most))

    def read_json(self, name: str, *, most: int = MOST_BYTES) -> Any:
        """Return the value of a JSON file. Raise Unreadable."""
        return parse_json(self.read(name, most=most), name)

    def read_json_lines(self, name: str) -> list[Any]:
        """Return the values of the lines of a file, read line by line. Raise Unreadable."""
        found: list[Any] = []
        values = 0
        for line in self._iterate_parts(name, MOST_BYTES, by_line=True):
            values = _count_values(line, name, values + 1)
            found.append(parse_json(line, name))
        return found

    def read_object(self, name: str, *, most: int = MOST_BYTES) -> JsonObject:
        """Return the object in a JSON file. Raise Unreadable."""
        value = self.read_json(name, most=most)
        if not isinstance(value, dict):
            raise UnreadableBundle("is not a JSON object", name)
        return cast("JsonObject", value)

    def _iterate_parts(self, name: str, most: int, *, by_line: bool = False) -> Iterator[bytes]:
        """Yield the content of a file in blocks or lines. Raise Unreadable."""
        size, done = self.sizes.get(name), 0
        if size is None:
            raise UnreadableBundle("is missing", name)
        try:
            with self._open(name) as stream:
                while max(size, done) <= most and (part := stream.readline() if by_line else stream.read(_BLOCK)):
                    done += len(part)
                    yield part
        except _READ_ERRORS as exc:
            raise UnreadableBundle(f"cannot be read: {str(exc)[:200]}", name) from None
        if max(size, done) > most:
            raise UnreadableBundle(f"is larger than {most / 1e6:.3g} MB", name)

    def _open(self, name: str) -> IO[bytes]:
        if self._archive is not None:
            return self._archive.open(self._top + name)
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        return open(os.open(self.path / (self._top + name), flags), "rb")


@contextmanager
def open_bundle(path: Path) -> Generator[Bundle]:
    """Yield the bundle in a folder or zip file. Raise BundleMissing or InvalidBundle."""
    if path.is_dir():
        yield Bundle(path, None)
        return
    if not path.exists():
        raise BundleMissing(
            f"'{display_path(path)}' does not exist.", hint="Name a folder or .zip file of `uraniborg export`."
        )
    try:
        archive = zipfile.ZipFile(path)
    except _READ_ERRORS as exc:
        raise _make_error(path, f"it is neither a folder nor a zip file ({type(exc).__name__})") from None
    with archive:
        yield Bundle(path, archive)


def parse_json(content: bytes, name: str = "") -> Any:
    """Return the value of a JSON text, of the file `name`. Raise Unreadable."""
    _count_values(content, name)
    try:
        value = orjson.loads(content)
        json.loads(content, object_pairs_hook=partial(_check_unique_keys, name))
    except orjson.JSONDecodeError as exc:
        raise UnreadableBundle(f"is not JSON: {exc.msg} at line {exc.lineno}", name) from None
    except (RecursionError, ValueError) as exc:  # deep nesting, or a number of more digits than Python reads
        raise UnreadableBundle(f"is not JSON that this program reads: {type(exc).__name__}", name) from None
    return value


def _count_values(content: bytes, name: str, before: int = 0) -> int:
    """Return the largest number of values in a JSON text and `before` it. Raise Unreadable if memory cannot hold it."""
    # Each value follows one of these, or is the first one. Those in texts count, too.
    if (number := before + sum(map(content.count, (b",", b"[", b"{")))) > MOST_VALUES:
        raise UnreadableBundle(f"has more than {MOST_VALUES:,} values", name)
    return number


def _check_unique_keys(name: str, pairs: list[tuple[str, Any]]) -> None:
    """Raise Unreadable for a key that is there twice: programs differ in which of its values they read."""
    keys = {key for key, _ in pairs}
    if len(keys) < len(pairs):
        raise UnreadableBundle("has an object with a key twice", name)


def _list_folder(root: Path) -> Iterator[tuple[str, int]]:
    """Yield the path and size of every file. Raise InvalidBundle for links, devices, and too many or large files."""
    count = total = 0
    for folder, folders, names in os.walk(root, followlinks=False):
        for name in (*folders, *names):
            path = Path(folder) / name
            relative = path.relative_to(root).as_posix()
            found = path.lstat()
            if stat.S_ISDIR(found.st_mode):
                continue
            if not stat.S_ISREG(found.st_mode):
                raise _make_error(root, f"'{relative}' is not a regular file")
            total = _check_sizes(root, relative, found.st_size, total)
            count += 1
            if count > MOST_FILES:
                raise _make_error(root, f"it has more than {MOST_FILES:,} files")
            yield relative, found.st_size


def _list_archive(archive: zipfile.ZipFile) -> Iterator[tuple[str, int]]:
    """Yield the path and size of every file. Raise InvalidBundle for entries that an export does not write."""
    root, seen, total = Path(archive.filename or ""), set[str](), 0
    entries = archive.infolist()
    if archive.comment or min((entry.header_offset for entry in entries), default=0):
        raise _make_error(root, "it has other data beside its files")
    if len(entries) > MOST_FILES:
        raise _make_error(root, f"it has {len(entries):,} files, and the limit is {MOST_FILES:,}")
    for entry in entries:
        name = entry.orig_filename
        shown = name[:200]
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or "\\" in name or ".." in parts or ":" in parts[0] or "\0" in name:
            raise _make_error(root, f"the path '{shown}' leaves the bundle")
        if entry.is_dir():
            if entry.file_size:
                raise _make_error(root, "it has other data beside its files")
            continue
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise _make_error(root, f"'{shown}' is a link or a device")
        if entry.flag_bits & 0x1:
            raise _make_error(root, f"'{shown}' is encrypted")
        if name.casefold() in seen:
            raise _make_error(root, f"'{shown}' is there twice")
        seen.add(name.casefold())
        if entry.file_size > _BLOCK and entry.file_size > _MOST_RATIO * max(1, entry.compress_size):
            raise _make_error(root, f"'{shown}' unpacks to more than {_MOST_RATIO} times its size")
        total = _check_sizes(root, name, entry.file_size, total)
        yield name, entry.file_size


def _check_sizes(root: Path, name: str, size: int, total: int) -> int:
    """Return the sum of the sizes. Raise InvalidBundle above the limits."""
    if size > MOST_BYTES:
        raise _make_error(root, f"'{name[:200]}' is larger than {MOST_BYTES / 1e6:g} MB")
    if total + size > MOST_BYTES_IN_ALL:
        raise _make_error(root, f"its files are larger than {MOST_BYTES_IN_ALL / 1e6:g} MB in all")
    return total + size


def _find_top_folder(names: Collection[str]) -> str:
    """Return the one folder that has all files, as zip files of bundles have it; else an empty text."""
    tops = {name.partition("/")[0] for name in names if "/" in name}
    with suppress(KeyError):
        top = tops.pop()
        if not tops and all(name.startswith(f"{top}/") for name in names):
            return f"{top}/"
    return ""


def _make_error(path: Path, problem: str) -> InvalidBundle:
    return InvalidBundle(
        f"'{display_path(path)}' is not a bundle that can be checked: {problem}.",
        hint="Name a folder or .zip file that `uraniborg export` wrote.",
    )
