"""Write the files of a shelf beside the old one, and replace the old one in one step."""

import ctypes
import errno
import hashlib
import os
import re
import secrets
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypedDict, cast
from uuid import UUID

import orjson
import tantivy

from paper_library.domain.entries import Entry
from paper_library.domain.paper_ids import list_identifier_terms, list_record_keys, make_record_key
from paper_library.errors import ShelfExists
from paper_library.service.build.prepared_papers import Asset, PreparedPaper
from paper_library.service.build.stored_entries import dump_entry
from paper_library.store.index import IndexFields, create_index, make_document_fields
from paper_library.store.layout import (
    BUILT_BY,
    DATABASE,
    INDEX,
    INDEXES,
    MANIFEST,
    SCHEMA_VERSION,
    STATIC,
    TABLES,
    Manifest,
    compute_file_digest,
    make_asset_path,
    read_builder,
    read_manifest,
)
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.bibliography.editorial_notices import find_retraction
from uraniborg.kernel.bibliography.identifiers import is_record_id
from uraniborg.kernel.clock import SystemClock
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.language.words import fold_text
from uraniborg.kernel.store.files import (
    display_path,
    hold_lock,
    make_folder,
    make_private,
    open_private,
    sync_folder,
    write_atomic,
)
from uraniborg.kernel.version import version

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


# The package's type hints leave the dictionary's type open.
_make_document = cast("Callable[[IndexFields, tantivy.Schema], tantivy.Document]", tantivy.Document.from_dict)  # pyright: ignore[reportUnknownMemberType]
_INDEX_MEMORY: Final = 256 * 1024 * 1024
_BATCH: Final = 2_000
_UNFINISHED: Final = "index.unfinished"
"""The folder in which tantivy writes. Its threads may create lock files there after the last call has returned."""
_META: Final = "meta.json"
_MANAGED: Final = ".managed.json"
_LISTS: Final = ("author", "keyword", "institution", "tag")
_WORTH_HAVING: Final = ("abstract", "authors", "year", "venue", "doi", "keywords", "source", "bibtex")
_INSERTS: Final = {
    "paper": "INSERT INTO paper VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    # The first of several papers with the same key has the alias.
    "alias": "INSERT OR IGNORE INTO alias VALUES (?, ?)",
    "asset": "INSERT INTO asset VALUES (?, ?, ?, ?, ?, ?, ?)",
    "entry": "INSERT INTO entry VALUES (?, ?, ?)",
    "put_facet": "INSERT INTO put_facet VALUES (?, ?)",
}


class ShelfWriter:
    """Writes papers in shelf order; after `finish_and_get_build_id` the shelf is complete except for its manifest."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._unfinished = folder / _UNFINISHED
        make_folder(self._unfinished)
        self._static = folder / STATIC
        make_folder(self._static)
        self._made_folders: set[Path] = set()
        os.close(open_private(folder / DATABASE, os.O_WRONLY | os.O_CREAT))
        self._database = sqlite3.connect(folder / DATABASE, isolation_level=None, check_same_thread=False)
        self._database.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA page_size=8192; PRAGMA temp_store=FILE;"
            + TABLES
            + "CREATE TEMP TABLE put_facet (facet INTEGER, no INTEGER); BEGIN;"
        )
        self._index = create_index(self._unfinished)
        self._schema = self._index.schema
        self._documents = self._index.writer(_INDEX_MEMORY, 1)
        self._facets: dict[tuple[str, str], list[Any]] = {}
        self._content: list[bytes] = []
        self._missing = Counter[str](dict.fromkeys(_WORTH_HAVING, 0))
        self._rows: dict[str, list[Sequence[Any]]] = {table: [] for table in _INSERTS}
        self._other_keys: list[tuple[str, int]] = []
        """Other BibTeX keys of papers, which are aliases unless another paper has them."""
        self.papers = 0

    def add_paper(self, prepared: PreparedPaper) -> None:
        """Write the next paper. Raise OSError."""
        no = self.papers
        paper, entry = prepared.paper, prepared.paper.entry
        for asset in prepared.assets:
            self._write_asset(asset)
        lists = {
            "author": entry.authors,
            "keyword": entry.keywords,
            "institution": entry.institutions,
            "tag": entry.tags,
        }
        facets = {kind: self._count_and_get_facet_ids(kind, lists[kind]) for kind in _LISTS}
        facets["venue"] = self._count_and_get_facet_ids("venue", [entry.venue] if entry.venue else [])
        year = self._count_and_get_facet_ids("year", [str(entry.year)] if entry.year else [])
        rows = self._rows
        rows["paper"].append(
            (
                no,
                paper.paper_id,
                fold_text(" ".join(entry.title.split())),
                entry.year,
                prepared.metadata,
                entry.bibtex,
                orjson.dumps(paper.keys).decode(),
                orjson.dumps(paper.origins).decode(),
                prepared.digest,
            )
        )
        rows["asset"] += [(no, a.kind, a.name, a.sha256, len(a.content), a.chars, a.is_added) for a in prepared.assets]
        if len(paper.entries) > 1:
            rows["entry"] += [(no, place, dump_entry(one, entry)) for place, one in enumerate(paper.entries)]
        own = f"bib:{paper.citation_key}"
        rows["alias"] += [(key, no) for key in (own, *paper.keys) if key == own or not key.startswith("bib:")]
        self._other_keys += [(key, no) for key in paper.keys if key != own and key.startswith("bib:")]
        records = list_record_keys(entry.identifiers, entry.title, entry.authors, entry.year)
        records += map(make_record_key, filter(is_record_id, _list_given_record_ids(entry)))
        rows["alias"] += [(key, no) for key in records]
        rows["put_facet"] += [(facet, no) for ids in (*facets.values(), year) for facet in ids]
        fields = make_document_fields(
            no=no,
            title=entry.title,
            abstract=entry.abstract,
            year=entry.year,
            venue=entry.venue,
            lists=lists,
            identifiers=[*list_identifier_terms(entry.identifiers), paper.paper_id],
            texts=prepared.texts,
            facets=facets,
            flags=["retracted"] if find_retraction(entry.notices) else [],
        )
        self._documents.add_document(_make_document(fields, self._schema))
        self._missing.update(_list_missing_fields(entry))
        self._content.append(f"{paper.paper_id}{prepared.digest}".encode())
        self.papers += 1
        if self.papers % _BATCH == 0:
            self._flush_rows()

    def finish_and_get_build_id(self) -> str:
        """Complete the files, sync them to disk and return the build id."""
        self._documents.commit()
        self._documents.wait_merging_threads()
        self._flush_rows()
        self._database.executemany(_INSERTS["alias"], self._other_keys)
        counted = ((entry[0], kind, key, entry[1], entry[2]) for (kind, key), entry in self._facets.items())
        self._database.executemany("INSERT INTO facet VALUES (?, ?, ?, ?, ?)", counted)
        self._database.executemany("INSERT INTO missing VALUES (?, ?)", self._missing.items())
        self._database.execute("INSERT INTO paper_facet SELECT facet, no FROM put_facet ORDER BY facet, no")
        self._database.execute("COMMIT")
        self._database.executescript(INDEXES)
        self._database.close()
        content = hashlib.sha256(b"shelf-1\n")
        for line in sorted(self._content):
            content.update(line)
        build_id = content.hexdigest()[:32]
        move_index(self._unfinished, self._folder / INDEX, build_id)
        os.sync()
        return build_id

    @contextmanager
    def close_database_on_error(self) -> Generator[None]:
        """Close the incomplete database if the block fails."""
        try:
            yield
        except BaseException:
            self._database.close()
            raise

    def write_manifest(self, build_id: str, target: Path, actor: Actor) -> None:
        """Write the manifest, and who built the shelf: those of `target` if the contents are the same."""
        manifest, is_same = self._make_or_reuse_manifest(build_id, target)
        write_atomic(self._folder / MANIFEST, manifest.to_json())
        if builder := read_builder(target) if is_same else actor:
            write_atomic(self._folder / BUILT_BY, builder.model_dump_json())

    def _make_or_reuse_manifest(self, build_id: str, target: Path) -> tuple[Manifest, bool]:
        """Return the manifest, or that of the existing shelf and True if the contents are the same."""
        software, now = f"uraniborg {version()}", SystemClock().now().isoformat()
        new = Manifest(SCHEMA_VERSION, build_id, self.papers, self._compute_file_digests(), software, now)
        try:
            old = read_manifest(target)
        except UraniborgError:
            return new, False
        is_same = (old.schema_version, old.files, old.software) == (new.schema_version, new.files, new.software)
        return (old, True) if is_same else (new, False)

    def _compute_file_digests(self) -> dict[str, str]:
        """Return the digests of the finished database and index files."""
        names = [DATABASE, *sorted(f"{INDEX}/{path.name}" for path in (self._folder / INDEX).iterdir())]
        return {name: compute_file_digest(self._folder / name) for name in names}

    def _count_and_get_facet_ids(self, kind: str, values: Sequence[str]) -> list[int]:
        ids: dict[int, None] = {}
        for value in values:
            key = _fold_facet_value(value)
            if not key:
                continue
            entry = self._facets.get((kind, key))
            if entry is None:
                entry = self._facets[kind, key] = [len(self._facets) + 1, " ".join(value.split()), 0]
            if entry[0] not in ids:
                ids[entry[0]] = None
                entry[2] += 1
        return list(ids)

    def _write_asset(self, asset: Asset) -> None:
        path = self._static / make_asset_path(asset.kind, asset.sha256)
        if path.parent not in self._made_folders:
            make_folder(path.parent)
            self._made_folders.add(path.parent)
        descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            rest = memoryview(asset.content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        finally:
            os.close(descriptor)

    def _flush_rows(self) -> None:
        for table, rows in self._rows.items():
            self._database.executemany(_INSERTS[table], rows)
            rows.clear()


@lru_cache(maxsize=1 << 17)
def _fold_facet_value(value: str) -> str:
    """Return the folded value. Cached, because names and keywords repeat."""
    return fold_text(" ".join(value.split()))


def _list_given_record_ids(entry: Entry) -> list[str]:
    """Return the ids that a paper has if the entry comes from a paper search."""
    others = entry.search.get("other_ids")
    return [entry.identifiers.get("id", ""), *(map(str, others) if isinstance(others, list) else ())]


def _list_missing_fields(entry: Entry) -> Iterator[str]:
    has = (entry.abstract, entry.authors, entry.year, entry.venue, entry.identifiers.get("doi"))
    has += (entry.keywords, entry.source, entry.bibtex)
    return (name for name, value in zip(_WORTH_HAVING, has, strict=True) if not value)


class _Segment(TypedDict):
    segment_id: str


class _IndexMeta(TypedDict):
    """The part of tantivy's description of an index that names its files."""

    segments: list[_Segment]


def move_index(source: Path, target: Path, build_id: str) -> None:
    """Move the files of a finished index and name its segments by the build id, because tantivy uses random names."""
    make_folder(target)
    meta: _IndexMeta = orjson.loads((source / _META).read_bytes())
    for index, segment in enumerate(meta["segments"]):
        old = UUID(segment["segment_id"])
        new = UUID(hashlib.sha256(f"{build_id} {index}".encode()).hexdigest()[:32])
        segment["segment_id"] = str(new)
        for path in source.glob(f"{old.hex}.*"):
            path.rename(target / f"{new.hex}{path.suffix}")
    (target / _META).write_bytes(orjson.dumps(meta, option=orjson.OPT_INDENT_2))
    names = sorted(path.name for path in target.iterdir())
    (target / _MANAGED).write_bytes(orjson.dumps(names))
    for path in target.iterdir():
        make_private(path)
    shutil.rmtree(source, ignore_errors=True)
