"""The manifest: what a shelf is made of, and by which it is known to be whole."""

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

import orjson

from paper_library.errors import ShelfDamaged, ShelfNotFound, ShelfTooNew, ShelfTooOld
from paper_library.regular_files import open_regular, resolve_links
from paper_library.store.layout import DATABASE, INDEX, MANIFEST, READABLE_SINCE, SCHEMA_VERSION
from uraniborg.kernel.files import shown

_NAMED: Final = 5
"""How many inputs the hint of an error names."""
_LISTED: Final = 100
"""How many its body lists."""


@dataclass(frozen=True, slots=True)
class Manifest:
    schema_version: int
    build_id: str
    """Follows from the contents: the same papers give the same id, whoever builds them and when."""
    papers: int
    files: dict[str, str]
    """SHA-256 of the database and the index's files, by path. Static files carry theirs in their names."""
    software: str
    built_at: str

    def as_json(self) -> bytes:
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of the shelf in `folder`. Raise ShelfNotFound, ShelfTooNew, ShelfTooOld or ShelfDamaged."""
    try:
        with open_regular(resolve_links(folder / MANIFEST)) as file:
            said: Any = orjson.loads(file.read())
    except FileNotFoundError:
        raise _no_shelf(folder) from None
    except NotADirectoryError:
        raise ShelfNotFound(
            f"{shown(folder)} is a file, and a shelf is a folder.", hint="Name the folder that the build made."
        ) from None
    except (OSError, ValueError) as exc:
        raise damaged(folder, f"its {MANIFEST} cannot be read") from exc
    if not isinstance(said, dict):
        raise damaged(folder, f"its {MANIFEST} is not what a build writes")
    facts = cast("dict[str, Any]", said)
    version = facts.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise ShelfTooNew(
            f"The shelf {shown(folder)} was made by a later version: its schema is {version}, not {SCHEMA_VERSION}.",
            hint="Update uraniborg, or build the shelf again with this version.",
            schema_version=version,
            supported=SCHEMA_VERSION,
        )
    if isinstance(version, int) and 1 <= version < READABLE_SINCE:
        raise _too_old(folder, version)
    try:
        manifest = Manifest(**facts)
    except TypeError:
        raise damaged(folder, f"its {MANIFEST} is not what a build writes") from None
    if not _is_sound(facts):
        raise damaged(folder, f"its {MANIFEST} is not what a build writes")
    return manifest


def _is_sound(facts: dict[str, Any]) -> bool:
    kinds = {"build_id": str, "papers": int, "files": dict, "software": str, "built_at": str}
    version = facts["schema_version"]
    # True equals 1 and is not a version.
    if not isinstance(version, int) or isinstance(version, bool) or not READABLE_SINCE <= version <= SCHEMA_VERSION:
        return False
    if not all(isinstance(facts[name], kind) for name, kind in kinds.items()):
        return False
    files = cast("dict[str, Any]", facts["files"])
    return DATABASE in files and all(isinstance(digest, str) and ".." not in name for name, digest in files.items())


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file, also through links: its contents prove what it is. Raises OSError."""
    with open_regular(resolve_links(path)) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def damaged(folder: Path, why: str) -> ShelfDamaged:
    return ShelfDamaged(
        f"The shelf {shown(folder)} is damaged: {why}.",
        hint="`paper-library verify` tells what is wrong. Build it again, or copy it again from where it is whole.",
    )


def _too_old(folder: Path, version: int) -> ShelfTooOld:
    inputs = _inputs(folder)
    made_of = (
        f" It was built from {', '.join(inputs[:_NAMED])}{' and more' * (len(inputs) > _NAMED)}." if inputs else ""
    )
    return ShelfTooOld(
        f"The shelf {shown(folder)} was made by an earlier version: its schema is {version}, not {SCHEMA_VERSION}.",
        hint=f"Build it again from the same inputs: paper-library build INPUT… -o {shown(folder)}.{made_of}",
        schema_version=version,
        supported=SCHEMA_VERSION,
        inputs=inputs[:_LISTED],
    )


def _inputs(folder: Path) -> list[str]:
    """Return the files that an old shelf was built from, as far as its database tells."""
    try:
        with closing(sqlite3.connect(f"{(folder / DATABASE).absolute().as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT DISTINCT value FROM paper, json_each(paper.origins)").fetchall()
    except sqlite3.Error:
        return []
    return sorted({str(origin).partition(":")[0] for (origin,) in rows})


def _no_shelf(folder: Path) -> Exception:
    if not folder.exists():
        return ShelfNotFound(
            f"There is no shelf at {shown(folder)}.", hint="Build one with: paper-library build INPUT… -o SHELF"
        )
    if (folder / DATABASE).exists() or (folder / INDEX).exists():
        return damaged(folder, f"it has no {MANIFEST}, as if its copying or building had been cut off")
    return ShelfNotFound(
        f"The folder {shown(folder)} is not a shelf.", hint="Build one with: paper-library build INPUT… -o SHELF"
    )
