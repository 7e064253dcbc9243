"""Describe a shelf in its manifest: version, build id and the digests of its files."""

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypedDict, cast

import orjson

from paper_library.errors import ShelfDamaged, ShelfNotFound, ShelfTooNew, ShelfTooOld
from paper_library.regular_files import open_regular_file, resolve_links
from paper_library.store.layout import BUILT_BY, DATABASE, INDEX, MANIFEST, READABLE_SINCE, SCHEMA_VERSION
from uraniborg.kernel.actors import Actor, read_actor
from uraniborg.kernel.files import display_path

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
