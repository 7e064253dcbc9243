"""An open shelf: immutable, read-only, and nothing is ever written into its folder."""

import itertools
import shutil
import sqlite3
import string
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

import orjson
import tantivy

from paper_library.errors import PaperAmbiguous, PaperNotFound, QueryTooSlow
from paper_library.identity import is_paper_id, list_lookup_keys
from paper_library.limits import AUTHORS_SHOWN, VALUE_CHARS
from paper_library.regular_files import open_regular
from paper_library.store.index import open_index
from paper_library.store.layout import DATABASE, INDEX, SOURCE, STATIC, SUMMARY, TRANSLATION, asset_path
from paper_library.store.manifest import Manifest, damaged, file_digest, read_manifest
from paper_library.text.default_summary import is_default_summary
from paper_library.text.markdown import extract_json_text, extract_plain_text
from uraniborg.kernel.text import plural, replace_surrogates
from uraniborg.kernel.words import fold_text

_BLANKS: Final = f"{string.whitespace}\u00a0\u2009\u202f\u3000\u200b\ufeff"
_STEPS_BETWEEN_CHECKS: Final = 10_000
_LISTED: Final = 5
"""The papers that an ambiguous prefix names."""
_CONNECTIONS: Final = 16
"""The first is the main thread's, where an event loop may run; the others share the rest."""


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
    record: dict[str, Any]
    """The whole reply about the paper."""


@dataclass(frozen=True, slots=True)
class StoredText:
    """A text of a paper as it is stored, or the beginning of one."""

    kind: str
    markdown: str
    plain: str


@dataclass(frozen=True, slots=True)
class AssetRef:
    kind: str
    name: str
    sha256: str
    size: int
    chars: int


class Shelf:
    """Opened by `Shelf.open`. Threads may share it."""

    def __init__(self, folder: Path, manifest: Manifest, index: tantivy.Index) -> None:
        """Opens the connections now: later the path may lead to another shelf. Raises sqlite3.Error."""
        self.folder = folder
        self._static = (folder / STATIC).resolve()
        self.manifest = manifest
        self.index = index
        self.schema = index.schema
        self.searcher = index.searcher()
        self._local = threading.local()
        self._connections = [self._connect() for _ in range(_CONNECTIONS)]
        self._handed_out = itertools.count()
        self.forget_links: Callable[[], object] = lambda: None

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Raises ShelfNotFound, ShelfTooNew, or ShelfDamaged when a file is missing or not as it was built."""
        folder = folder.absolute()
        manifest = read_manifest(folder)
        # Reads all of it, which also brings it into memory: look-ups do not wait for the disk afterwards.
        for name, digest in manifest.files.items():
            try:
                if file_digest(folder / name) != digest:
                    raise damaged(folder, f"{name} is not as it was built")
            except FileNotFoundError:
                raise damaged(folder, f"{name} is missing") from None
            except OSError as exc:
                raise damaged(folder, f"{name} cannot be read ({exc.strerror})") from None
        links = Path(tempfile.mkdtemp(prefix="shelf-index-"))
        try:
            shelf = cls(folder, manifest, _opened_index(folder / INDEX, links))
            shelf.connection().execute("SELECT no FROM paper LIMIT 1").fetchone()
        except (ValueError, OSError, sqlite3.Error) as exc:
            shutil.rmtree(links, ignore_errors=True)
            raise damaged(folder, "its index or database cannot be opened") from exc
        shelf.forget_links = weakref.finalize(shelf, shutil.rmtree, links, ignore_errors=True)
        if shelf.searcher.num_docs != manifest.papers:
            raise damaged(folder, f"its index holds {shelf.searcher.num_docs} of {manifest.papers} papers")
        # Replaced in the meantime, it may be made of two.
        return shelf if read_manifest(folder).build_id == manifest.build_id else cls.open(folder)

    @property
    def build_id(self) -> str:
        return self.manifest.build_id

    def close(self) -> None:
        self.forget_links()
        for connection in self._connections:
            connection.close()

    def connection(self) -> sqlite3.Connection:
        """A connection for this thread, which may share it with others."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            is_main = threading.current_thread() is threading.main_thread()
            found = self._connections[0 if is_main else 1 + next(self._handed_out) % (_CONNECTIONS - 1)]
            self._local.connection = found
        return found

    @contextmanager
    def in_time(self, seconds: float) -> Generator[None]:
        """Cuts off statements of this thread after `seconds`. Raises QueryTooSlow."""
        self._local.deadline = time.monotonic() + seconds
        try:
            yield
        except sqlite3.OperationalError as exc:
            if "interrupted" in str(exc):
                raise too_slow(seconds) from None
            raise
        finally:
            self._local.deadline = None

    def _connect(self) -> sqlite3.Connection:
        address = f"file:{quote(str(self.folder / DATABASE))}?mode=ro&immutable=1"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)
        connection.execute("PRAGMA query_only=1")
        connection.execute("PRAGMA mmap_size=1073741824")
        connection.set_progress_handler(self._is_late, _STEPS_BETWEEN_CHECKS)
        return connection

    def _is_late(self) -> bool:
        """Asked by the thread that runs a statement, from time to time."""
        deadline: float | None = getattr(self._local, "deadline", None)
        return deadline is not None and time.monotonic() > deadline

    def resolve(self, given: str) -> int:
        """Return the place of the paper with this id, DOI, arXiv id, PMID, PMCID or BibTeX key, however it is spelled.

        Raises PaperNotFound.
        """
        given = replace_surrogates(given).strip(_BLANKS)
        if given and len(given) <= VALUE_CHARS and "\0" not in given:
            connection = self.connection()
            keys = list_lookup_keys(given)
            if is_paper_id(known := given.lower()):
                found = connection.execute("SELECT no FROM paper WHERE paper_id = ?", (known,)).fetchone()
                if found:
                    return found[0]
                keys = [f"id:{known}", *keys]  # of a paper that became part of another
            for key in keys:
                found = connection.execute("SELECT no FROM alias WHERE key = ?", (key,)).fetchone()
                if found:
                    return found[0]
        raise PaperNotFound(given)

    def complete(self, given: str) -> int:
        """Return the place of the paper that `given` names, or the only one whose id or BibTeX key begins with it.

        Raises PaperNotFound, and PaperAmbiguous if several begin so.
        """
        try:
            return self.resolve(given)
        except PaperNotFound:
            begun = self._beginning(replace_surrogates(given).strip())
        if not begun:
            raise PaperNotFound(given)
        if len(begun) > 1:
            raise PaperAmbiguous(given, [f"{name} ({self.described(no)['title']})" for no, name in begun.items()])
        return next(iter(begun))

    def _beginning(self, prefix: str) -> dict[int, str]:
        """Return the first papers whose id or a BibTeX key begins with `prefix`, with what begins so."""
        if not prefix or len(prefix) > VALUE_CHARS or "\0" in prefix:
            return {}
        keys, ids = f"bib:{prefix.removeprefix('bib:')}", prefix.lower()
        query = (
            "SELECT no, paper_id FROM paper WHERE paper_id >= ?1 AND paper_id < ?2 UNION ALL "
            "SELECT no, substr(key, 5) FROM alias WHERE key >= ?3 AND key < ?4 ORDER BY 2 LIMIT ?5"
        )
        last = "\U0010ffff"
        rows = self.connection().execute(query, (ids, ids + last, keys, keys + last, 10 * _LISTED)).fetchall()
        begun: dict[int, str] = {}
        for no, name in rows:
            begun.setdefault(no, name)
        return dict(list(begun.items())[:_LISTED])

    def with_title(self, title: str) -> list[int]:
        """The places of the papers with exactly this title, whatever its case and accents."""
        folded = fold_text(replace_surrogates(" ".join(title.split())))
        found = self.connection().execute("SELECT no FROM paper WHERE title_fold = ? ORDER BY no", (folded,))
        return [no for (no,) in found]

    def metadata(self, no: int) -> bytes:
        """The whole reply about a paper, as JSON."""
        return self._one("SELECT metadata FROM paper WHERE no = ?", no)

    def described(self, no: int) -> dict[str, Any]:
        return orjson.loads(self.metadata(no))

    def bibtex(self, no: int) -> str:
        return self._one("SELECT bibtex FROM paper WHERE no = ?", no)

    def keys(self, no: int) -> list[str]:
        """Every key that leads to a paper."""
        return orjson.loads(self._one("SELECT keys FROM paper WHERE no = ?", no))

    def origins(self, no: int) -> list[str]:
        """The inputs a paper came from."""
        return orjson.loads(self._one("SELECT origins FROM paper WHERE no = ?", no))

    def digest(self, no: int) -> str:
        """Return the digest of all that is said of a paper."""
        return self._one("SELECT digest FROM paper WHERE no = ?", no)

    def entry_rows(self, no: int) -> list[bytes]:
        """Return what each of several inputs said of a paper, in a form for builds; not in shelves of schema 1."""
        rows = self.connection().execute("SELECT entry FROM entry WHERE no = ? ORDER BY place", (no,))
        return [row for (row,) in rows]

    def added_summaries(self, no: int) -> list[str]:
        """Return the names of the summaries that came from a folder of them; not in shelves of schema 1."""
        query = "SELECT name FROM asset WHERE no = ? AND kind = ? AND is_added ORDER BY name"
        return [name for (name,) in self.connection().execute(query, (no, SUMMARY))]

    def rows(self, numbers: Sequence[int]) -> list[Row]:
        """What search results show, in the order of `numbers`."""
        marks = ",".join("?" * len(numbers))
        query = f"SELECT no, metadata FROM paper WHERE no IN ({marks})"  # noqa: S608 - marks only
        found = {no: orjson.loads(metadata) for no, metadata in self.connection().execute(query, numbers)}
        return [_row(no, found[no]) for no in numbers]

    def facet_id(self, kind: str, folded: str) -> int | None:
        query = "SELECT id FROM facet WHERE kind = ? AND fold = ?"
        found = self.connection().execute(query, (kind, replace_surrogates(folded))).fetchone()
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

    def texts(self, no: int, most: int) -> Iterator[StoredText]:
        """Yield the texts of a paper in this folder: its source, then its translations, then summaries of people.

        No more than `most` characters are read of all of them.
        """
        order = {SOURCE: 0, TRANSLATION: 1, SUMMARY: 2}
        for ref in sorted(self.assets(no), key=lambda ref: (order[ref.kind], ref.name)):
            if most <= 0:
                return
            with suppress(OSError, ValueError):
                path = self._static / asset_path(ref.kind, ref.sha256)
                # Line ends stay as they are, so that offsets are those of the stored text.
                with TextIOWrapper(open_regular(path), encoding="utf-8", newline="") as stream:
                    text = stream.read(most)
                most -= len(text)
                if ref.kind != SUMMARY:
                    yield StoredText(ref.kind, text, extract_plain_text(text))
                elif not is_default_summary(summary := orjson.loads(text)):
                    yield StoredText(ref.kind, text, extract_json_text(summary))

    def _one(self, query: str, no: int) -> Any:
        return self.connection().execute(query, (no,)).fetchone()[0]


def _row(no: int, said: dict[str, Any]) -> Row:
    authors = said["authors"][:AUTHORS_SHOWN]
    return Row(no, said["paper_id"], said["title"], said["year"], said["venue"], authors, said["abstract"], said)


def too_slow(seconds: float) -> QueryTooSlow:
    return QueryTooSlow(
        f"The query took longer than {plural(seconds, 'second')} and was stopped.",
        hint="Use fewer or rarer words, or filters such as year: and venue:.",
        seconds=seconds,
    )


def _opened_index(folder: Path, links: Path) -> tantivy.Index:
    """The index, opened through a folder of links: it wants to write locks where it lies."""
    for path in folder.iterdir():
        (links / path.name).symlink_to(path)
    index = open_index(links)
    index.config_reader("manual", 0)
    return index
