"""An open shelf: immutable, read-only, and nothing is ever written into its folder."""

import os
import sqlite3
import tempfile
import threading
import time
import weakref
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

import orjson
import tantivy

from paper_library.errors import PaperNotFound, QueryTooSlow
from paper_library.identity import is_paper_id, lookup_keys
from paper_library.limits import AUTHORS_SHOWN, VALUE_CHARS
from paper_library.search.fields import open_index
from paper_library.store.layout import DATABASE, INDEX, SOURCE, STATIC, SUMMARY, TRANSLATION, asset_path
from paper_library.store.manifest import Manifest, damaged, descriptor_digest, read_manifest
from paper_library.text.markdown import plain_text
from uraniborg.kernel.text import fold

_STEPS_BETWEEN_CHECKS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Row:
    """What a search result shows of a paper."""

    no: int
    paper_id: str
    title: str
    year: int | None
    venue: str
    authors: list[str]
    abstract: str


@dataclass(frozen=True, slots=True)
class AssetRef:
    kind: str
    name: str
    sha256: str
    size: int
    chars: int


class Shelf:
    """Opened by `Shelf.open`. Threads may share it; each has a connection of its own."""

    def __init__(self, folder: Path, manifest: Manifest, index: tantivy.Index, database: int) -> None:
        self.folder = folder
        self._database = database
        weakref.finalize(self, os.close, database)
        self.manifest = manifest
        self.index = index
        self.schema = index.schema
        self.searcher = index.searcher()
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Raises ShelfNotFound, ShelfTooNew, or ShelfDamaged when a file is missing or not as it was built."""
        folder = folder.absolute()
        manifest = read_manifest(folder)
        for name in manifest.files:
            if not (folder / name).is_file():
                raise damaged(folder, f"{name} is missing")
        database = os.open(folder / DATABASE, os.O_RDONLY)
        with ExitStack() as on_failure:
            on_failure.callback(os.close, database)
            # Reads all of it, which also brings it into memory: look-ups do not wait for the disk afterwards.
            if descriptor_digest(database) != manifest.files.get(DATABASE):
                raise damaged(folder, f"{DATABASE} is not as it was built")
            try:
                index = _opened_index(folder / INDEX)
            except (ValueError, OSError) as exc:
                raise damaged(folder, "its index cannot be opened") from exc
            on_failure.pop_all()
        shelf = cls(folder, manifest, index, database)
        try:
            shelf.connection().execute("SELECT no FROM paper LIMIT 1").fetchone()
        except sqlite3.Error as exc:
            raise damaged(folder, "its database cannot be opened") from exc
        if shelf.searcher.num_docs != manifest.papers:
            raise damaged(folder, f"its index holds {shelf.searcher.num_docs} of {manifest.papers} papers")
        return shelf

    @property
    def build_id(self) -> str:
        return self.manifest.build_id

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    def connection(self) -> sqlite3.Connection:
        """This thread's connection."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(self._address(), uri=True, check_same_thread=False, isolation_level=None)
            found.execute("PRAGMA query_only=1")
            found.execute("PRAGMA mmap_size=1073741824")
            self._connections.append(found)
            self._local.connection = found
        return found

    def _address(self) -> str:
        """The database that was opened first, also when its folder has been replaced since, where that can be said."""
        opened = Path(f"/proc/self/fd/{self._database}")
        path = opened if opened.exists() else self.folder / DATABASE
        return f"file:{quote(str(path))}?mode=ro&immutable=1"

    @contextmanager
    def in_time(self, seconds: float) -> Generator[sqlite3.Connection]:
        """This thread's connection, with statements cut off after `seconds`. Raises QueryTooSlow."""
        connection = self.connection()
        deadline = time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_CHECKS)
        try:
            yield connection
        except sqlite3.OperationalError as exc:
            if "interrupted" in str(exc):
                raise too_slow(seconds) from None
            raise
        finally:
            connection.set_progress_handler(None, 0)

    def resolve(self, given: str) -> int:
        """The place of the paper with this id, DOI, arXiv id or BibTeX key. Raises PaperNotFound."""
        if given and len(given) <= VALUE_CHARS and "\0" not in given:
            connection = self.connection()
            if is_paper_id(given):
                found = connection.execute("SELECT no FROM paper WHERE paper_id = ?", (given,)).fetchone()
                if found:
                    return found[0]
            for key in lookup_keys(given):
                found = connection.execute("SELECT no FROM alias WHERE key = ?", (key,)).fetchone()
                if found:
                    return found[0]
        raise PaperNotFound(given)

    def with_title(self, title: str) -> list[int]:
        """The places of the papers with exactly this title, whatever its case and accents."""
        found = self.connection().execute("SELECT no FROM paper WHERE title_fold = ? ORDER BY no", (fold(title),))
        return [no for (no,) in found]

    def metadata(self, no: int) -> bytes:
        """The whole reply about a paper, as JSON."""
        return self._one("SELECT metadata FROM paper WHERE no = ?", no)

    def described(self, no: int) -> dict[str, Any]:
        return orjson.loads(self.metadata(no))

    def bibtex(self, no: int) -> str:
        return self._one("SELECT bibtex FROM paper WHERE no = ?", no)

    def origins(self, no: int) -> list[str]:
        """The inputs a paper came from."""
        return orjson.loads(self._one("SELECT origins FROM paper WHERE no = ?", no))

    def rows(self, numbers: Sequence[int]) -> list[Row]:
        """What search results show, in the order of `numbers`."""
        marks = ",".join("?" * len(numbers))
        query = f"SELECT no, metadata FROM paper WHERE no IN ({marks})"  # noqa: S608 - marks only
        found = {no: orjson.loads(metadata) for no, metadata in self.connection().execute(query, numbers)}
        return [_row(no, found[no]) for no in numbers]

    def facet_id(self, kind: str, folded: str) -> int | None:
        query = "SELECT id FROM facet WHERE kind = ? AND fold = ?"
        found = self.connection().execute(query, (kind, folded)).fetchone()
        return found[0] if found else None

    def top_facets(self, kind: str, limit: int, offset: int = 0) -> list[tuple[str, int]]:
        """Values and how many papers have them, the most frequent first."""
        query = "SELECT value, paper_count FROM facet WHERE kind = ? ORDER BY paper_count DESC, value LIMIT ? OFFSET ?"
        return self.connection().execute(query, (kind, limit, offset)).fetchall()

    def facet_total(self, kind: str) -> int:
        """How many different values there are."""
        return self.connection().execute("SELECT count(*) FROM facet WHERE kind = ?", (kind,)).fetchone()[0]

    def with_facet(self, facets: Sequence[int], limit: int, offset: int) -> tuple[list[int], int]:
        """The places of the papers that have any of the values, newest first, and how many there are."""
        marks = ",".join("?" * len(facets))
        found = f"FROM paper WHERE no IN (SELECT no FROM paper_facet WHERE facet IN ({marks}))"  # noqa: S608
        connection = self.connection()
        total = connection.execute(f"SELECT count(*) {found}", facets).fetchone()[0]
        page = f"SELECT no {found} ORDER BY year IS NULL, year DESC, no LIMIT ? OFFSET ?"
        return [no for (no,) in connection.execute(page, (*facets, limit, offset))], total

    def asset(self, no: int, kind: str, name: str) -> AssetRef | None:
        query = "SELECT kind, name, sha256, bytes, chars FROM asset WHERE no = ? AND kind = ? AND name = ?"
        found = self.connection().execute(query, (no, kind, name)).fetchone()
        return AssetRef(*found) if found else None

    def assets(self, no: int) -> list[AssetRef]:
        query = "SELECT kind, name, sha256, bytes, chars FROM asset WHERE no = ?"
        return [AssetRef(*row) for row in self.connection().execute(query, (no,))]

    def stats(self) -> dict[str, Any]:
        """What is here, and how many papers lack what."""
        connection = self.connection()
        missing = connection.execute("SELECT what, papers FROM missing").fetchall()
        assets = connection.execute("SELECT kind, name, count(*) FROM asset GROUP BY kind, name").fetchall()
        facets = connection.execute("SELECT kind, count(*) FROM facet GROUP BY kind").fetchall()
        years = connection.execute("SELECT min(year), max(year) FROM paper").fetchone()
        return {
            "papers": self.manifest.papers,
            "build_id": self.build_id,
            "built_at": self.manifest.built_at,
            "years": {"first": years[0], "last": years[1]},
            "with_source": sum(count for kind, _, count in assets if kind == SOURCE),
            "summaries": {name: count for kind, name, count in assets if kind == SUMMARY},
            "translations": {name: count for kind, name, count in assets if kind == TRANSLATION},
            "values": dict(facets),
            "missing": dict(missing),
        }

    def texts(self, no: int) -> Iterator[str]:
        """The plain texts of a paper that lie here: its source, then its translations, then its summaries."""
        order = {SOURCE: 0, TRANSLATION: 1, SUMMARY: 2}
        for ref in sorted(self.assets(no), key=lambda ref: (order[ref.kind], ref.name)):
            with suppress(OSError, UnicodeDecodeError):
                yield plain_text((self.folder / STATIC / asset_path(ref.kind, ref.sha256)).read_text(encoding="utf-8"))

    def _one(self, query: str, no: int) -> Any:
        return self.connection().execute(query, (no,)).fetchone()[0]


def _row(no: int, said: dict[str, Any]) -> Row:
    authors = said["authors"][:AUTHORS_SHOWN]
    return Row(no, said["paper_id"], said["title"], said["year"], said["venue"], authors, said["abstract"])


def too_slow(seconds: float) -> QueryTooSlow:
    return QueryTooSlow(
        f"The query took longer than {seconds:g} seconds and was stopped.",
        hint="Use fewer or rarer words, or filters such as year: and venue:.",
        seconds=seconds,
    )


def _opened_index(folder: Path) -> tantivy.Index:
    """The index, opened through a folder of links: it wants to write a lock where it lies."""
    with tempfile.TemporaryDirectory(prefix="shelf-index-") as links:
        for path in folder.iterdir():
            (Path(links) / path.name).symlink_to(path)
        index = open_index(Path(links))
        index.config_reader("manual", 0)
        index.searcher()
        return index
