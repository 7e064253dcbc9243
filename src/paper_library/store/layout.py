"""Lay out a shelf on disk: names of files, the manifest with their digests, and opening regular files only."""

import errno
import hashlib
import os
import sqlite3
import stat
from contextlib import closing
from dataclasses import asdict, dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, TypedDict, cast

import orjson

from paper_library.errors import ShelfDamaged, ShelfNotFound, ShelfTooNew, ShelfTooOld
from uraniborg.kernel.actors import Actor, read_actor
from uraniborg.kernel.store.files import display_path

SCHEMA_VERSION: Final = 2
READABLE_SINCE: Final = 1
"""The oldest readable schema. Schema 1 has no `entry` table, no flags in its index and fewer metadata fields."""
DATABASE: Final = "shelf.db"
INDEX: Final = "index"
STATIC: Final = "static"
MANIFEST: Final = "manifest.json"
BUILT_BY: Final = "built_by.json"
"""Who built the shelf. Not in the manifest: earlier versions read manifests without unknown fields only."""

FACET_KINDS: Final = ("author", "venue", "keyword", "institution", "tag", "year")
SOURCE: Final = "source"
SUMMARY: Final = "summary"
TRANSLATION: Final = "translation"
ORIGINAL: Final = "original"
"""The PDF that the text of a paper was read from."""
TEXT_KINDS: Final = (SOURCE, TRANSLATION, SUMMARY)
_SUFFIXES: Final = {SUMMARY: "json", ORIGINAL: "pdf"}

TABLES: Final = """
CREATE TABLE paper (
    no INTEGER PRIMARY KEY,      -- number in the order of titles
    paper_id TEXT NOT NULL UNIQUE,
    title_fold TEXT NOT NULL,
    year INTEGER,
    metadata BLOB NOT NULL,      -- all metadata of the paper, as JSON
    bibtex TEXT NOT NULL,
    keys TEXT NOT NULL,          -- JSON list of its keys, strongest first
    origins TEXT NOT NULL,       -- JSON list of its inputs
    digest TEXT NOT NULL         -- of metadata, BibTeX and assets
);
CREATE TABLE alias (key TEXT PRIMARY KEY, no INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE facet (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, fold TEXT NOT NULL, value TEXT NOT NULL, paper_count INTEGER NOT NULL
);
CREATE TABLE paper_facet (facet INTEGER NOT NULL, no INTEGER NOT NULL, PRIMARY KEY (facet, no)) WITHOUT ROWID;
CREATE TABLE asset (
    no INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, chars INTEGER NOT NULL,
    is_added INTEGER NOT NULL,   -- the summary comes from a summary folder
    PRIMARY KEY (no, kind, name)
) WITHOUT ROWID;
CREATE TABLE entry (             -- the entries of a paper that has several, as JSON; see build/entry_storage.py
    no INTEGER NOT NULL, place INTEGER NOT NULL, entry BLOB NOT NULL, PRIMARY KEY (no, place)
) WITHOUT ROWID;
CREATE TABLE missing (what TEXT PRIMARY KEY, papers INTEGER NOT NULL) WITHOUT ROWID;
"""

INDEXES: Final = """
CREATE INDEX paper_title ON paper (title_fold);
CREATE UNIQUE INDEX facet_value ON facet (kind, fold);
CREATE INDEX facet_top ON facet (kind, paper_count DESC, value);
"""


def make_asset_path(kind: str, sha256: str) -> str:
    """Return the path of an asset below the static folder or the base address of a static server."""
    return f"{kind}/{sha256[:2]}/{sha256}.{_SUFFIXES.get(kind, 'md')}"


_INPUTS_NAMED: Final = 5
"""The number of inputs that a hint names."""
_INPUTS_LISTED: Final = 100
"""The number of inputs that an error body lists."""


class _ManifestFields(TypedDict):
    schema_version: int
    build_id: str
    papers: int
    files: dict[str, str]
    software: str
    built_at: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of manifest.json."""

    schema_version: int
    build_id: str
    """A digest of the contents: the same papers give the same id."""
    papers: int
    files: dict[str, str]
    """SHA-256 of the database and index files, by path. The names of static files contain theirs."""
    software: str
    built_at: str

    def to_json(self) -> bytes:
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of the shelf in `folder`. Raise ShelfNotFound, ShelfTooNew, ShelfTooOld or ShelfDamaged."""
    try:
        with open_regular_file(resolve_links(folder / MANIFEST)) as file:
            content: Any = orjson.loads(file.read())
    except FileNotFoundError:
        raise _make_missing_error(folder) from None
    except NotADirectoryError:
        raise ShelfNotFound(
            f"{display_path(folder)} is a file, but a shelf is a folder.", hint="Name the output folder of a build."
        ) from None
    except (OSError, ValueError) as exc:
        raise make_damaged_error(folder, f"its {MANIFEST} cannot be read") from exc
    if not isinstance(content, dict):
        raise make_damaged_error(folder, f"its {MANIFEST} is invalid")
    facts = cast("dict[str, object]", content)
    version = facts.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise ShelfTooNew(
            f"The shelf {display_path(folder)} was built by a later version: "
            f"its schema is {version}, not {SCHEMA_VERSION}.",
            hint="Update uraniborg, or build the shelf again with this version.",
            schema_version=version,
            supported=SCHEMA_VERSION,
        )
    if isinstance(version, int) and 1 <= version < READABLE_SINCE:
        raise _make_too_old_error(folder, version)
    try:
        manifest = Manifest(**cast("_ManifestFields", content))
    except TypeError:
        raise make_damaged_error(folder, f"its {MANIFEST} is invalid") from None
    if not _has_valid_fields(facts):
        raise make_damaged_error(folder, f"its {MANIFEST} is invalid")
    return manifest


def read_builder(folder: Path) -> Actor | None:
    """Return who built the shelf in `folder`; None if that cannot be read, as in shelves of earlier versions."""
    try:
        with open_regular_file(resolve_links(folder / BUILT_BY)) as file:
            return read_actor(orjson.loads(file.read()))
    except (OSError, ValueError):
        return None


def _has_valid_fields(facts: dict[str, object]) -> bool:
    kinds = {"build_id": str, "papers": int, "files": dict, "software": str, "built_at": str}
    version = facts["schema_version"]
    # True equals 1 but is not a version.
    if not isinstance(version, int) or isinstance(version, bool) or not READABLE_SINCE <= version <= SCHEMA_VERSION:
        return False
    if not all(isinstance(facts[name], kind) for name, kind in kinds.items()):
        return False
    files = cast("dict[str, object]", facts["files"])
    return DATABASE in files and all(isinstance(digest, str) and ".." not in name for name, digest in files.items())


def compute_file_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file, links resolved. Raise OSError."""
    with open_regular_file(resolve_links(path)) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def make_damaged_error(folder: Path, why: str) -> ShelfDamaged:
    """Return the error for a damaged shelf; `why` is a clause."""
    return ShelfDamaged(
        f"The shelf {display_path(folder)} is damaged: {why}.",
        hint="`paper-library verify SHELF` lists the problems. Build the shelf again or copy an intact one.",
    )


def _make_too_old_error(folder: Path, version: int) -> ShelfTooOld:
    inputs = _list_inputs_of_old_shelf(folder)
    made_of = (
        f" It was built from {', '.join(inputs[:_INPUTS_NAMED])}{' and more' * (len(inputs) > _INPUTS_NAMED)}."
        if inputs
        else ""
    )
    return ShelfTooOld(
        f"The shelf {display_path(folder)} was built by an earlier version: "
        f"its schema is {version}, not {SCHEMA_VERSION}.",
        hint=f"Build it again from the same inputs: paper-library build INPUT… -o {display_path(folder)}.{made_of}",
        schema_version=version,
        supported=SCHEMA_VERSION,
        inputs=inputs[:_INPUTS_LISTED],
    )


def _list_inputs_of_old_shelf(folder: Path) -> list[str]:
    """Return the inputs of an old shelf, or an empty list if its database cannot be read."""
    try:
        with closing(sqlite3.connect(f"{(folder / DATABASE).absolute().as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT DISTINCT value FROM paper, json_each(paper.origins)").fetchall()
    except sqlite3.Error:
        return []
    return sorted({str(origin).partition(":")[0] for (origin,) in rows})


def _make_missing_error(folder: Path) -> Exception:
    if not folder.exists():
        return ShelfNotFound(
            f"The shelf {display_path(folder)} does not exist.",
            hint="Build a shelf: paper-library build INPUT… -o SHELF",
        )
    if (folder / DATABASE).exists() or (folder / INDEX).exists():
        return make_damaged_error(folder, f"it has no {MANIFEST}, so a copy or build may be incomplete")
    return ShelfNotFound(
        f"The folder {display_path(folder)} is not a shelf.", hint="Build a shelf: paper-library build INPUT… -o SHELF"
    )


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
