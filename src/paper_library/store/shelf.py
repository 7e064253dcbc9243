"""An open shelf: immutable and read-only. Nothing is ever written into its folder."""

import itertools
import re
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
from typing import TYPE_CHECKING, Any, Final, Self, cast
from urllib.parse import quote, unquote

import orjson
import tantivy

from paper_library.domain.excerpts import is_default_summary
from paper_library.domain.limits import AUTHORS_SHOWN, VALUE_CHARS
from paper_library.domain.markdown import extract_json_text, extract_plain_text
from paper_library.domain.paper_ids import RECORD_SCHEME, is_paper_id, list_lookup_keys
from paper_library.errors import PaperAmbiguous, PaperNotFound, QueryTooSlow
from paper_library.store.index import AUTHOR, NUMBER, open_index
from paper_library.store.layout import (
    DATABASE,
    INDEX,
    ORIGINAL,
    SOURCE,
    STATIC,
    SUMMARY,
    TEXT_KINDS,
    TRANSLATION,
    Manifest,
    compute_file_digest,
    make_asset_path,
    make_damaged_error,
    open_regular_file,
    read_builder,
    read_manifest,
)
from uraniborg.kernel.language.messages import find_nearest_ids, plural
from uraniborg.kernel.language.words import fold_text, split_words

if TYPE_CHECKING:
    from paper_library.domain.replies import ShelfCounts, StoredMetadata

_BLANKS: Final = f"{string.whitespace}\u00a0\u2009\u202f\u3000\u200b\ufeff"
_STEPS_BETWEEN_CHECKS: Final = 10_000
_LISTED: Final = 5
"""The number of papers that the error for an ambiguous prefix lists."""
_SHORTEST_PREFIX: Final = 6
_MOST_COMPARED: Final = 10_000
"""The most keys that are compared with an unknown one; of a larger shelf, those that begin like it."""
_LEAST_SIMILARITY: Final = 92
"""Of 100: a key of ten characters with one wrong character has 93."""
_MOST_READ: Final = 50
_YEAR: Final = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_BETWEEN_AUTHORS: Final = frozenset(["and", "et", "al", "und", "y"])
_ADDRESS: Final = "paper://"
_CONNECTIONS: Final = 16
"""The first is for the main thread, where an event loop may run; other threads share the rest."""


@dataclass(frozen=True, slots=True)
class Row:
    """The fields of a paper that a search result shows."""

    no: int
    paper_id: str
    title: str
    year: int | None
    venue: str
    authors: list[str]
    abstract: str
    record: "StoredMetadata"
    """All metadata of the paper."""


@dataclass(frozen=True, slots=True)
class StoredText:
    """A stored text of a paper, or its beginning."""

    kind: str
    markdown: str
    plain: str


@dataclass(frozen=True, slots=True)
class AssetRef:
    """A reference to an asset by its digest."""

    kind: str
    name: str
    sha256: str
    size: int
    chars: int


class Shelf:
    """An open shelf; see `Shelf.open`. Threads may share it."""

    def __init__(self, folder: Path, manifest: Manifest, index: tantivy.Index) -> None:
        """Open all connections now, because the path may lead to another shelf later. Raise sqlite3.Error."""
        self.folder = folder
        self._static = (folder / STATIC).resolve()
        self.manifest = manifest
        self.index = index
        self.schema = index.schema
        self.searcher = index.searcher()
        self._local = threading.local()
        self._connections = [self._open_connection() for _ in range(_CONNECTIONS)]
        self._handed_out = itertools.count()
        self.remove_links: Callable[[], object] = lambda: None

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the shelf. Raise ShelfNotFound, ShelfTooNew, or ShelfDamaged if a file is missing or has changed."""
        folder = folder.absolute()
        manifest = read_manifest(folder)
        # Reading all files also fills the page cache, so that lookups do not wait for the disk.
        for name, digest in manifest.files.items():
            try:
                if compute_file_digest(folder / name) != digest:
                    raise make_damaged_error(folder, f"{name} has changed since the build")
            except FileNotFoundError:
                raise make_damaged_error(folder, f"{name} is missing") from None
            except OSError as exc:
                raise make_damaged_error(folder, f"{name} cannot be read ({exc.strerror})") from None
        links = Path(tempfile.mkdtemp(prefix="shelf-index-"))
        try:
            shelf = cls(folder, manifest, _open_linked_index(folder / INDEX, links))
            shelf.get_connection().execute("SELECT no FROM paper LIMIT 1").fetchone()
        except (ValueError, OSError, sqlite3.Error) as exc:
            shutil.rmtree(links, ignore_errors=True)
            raise make_damaged_error(folder, "its index or database cannot be opened") from exc
        shelf.remove_links = weakref.finalize(shelf, shutil.rmtree, links, ignore_errors=True)
        if shelf.searcher.num_docs != manifest.papers:
            raise make_damaged_error(folder, f"its index holds {shelf.searcher.num_docs} of {manifest.papers} papers")
        # If the shelf was replaced meanwhile, files of two shelves may be open.
        return shelf if read_manifest(folder).build_id == manifest.build_id else cls.open(folder)

    @property
    def build_id(self) -> str:
        return self.manifest.build_id

    def close(self) -> None:
        self.remove_links()
        for connection in self._connections:
            connection.close()

    def get_connection(self) -> sqlite3.Connection:
        """Return a connection for this thread, which may share it with other threads."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            is_main = threading.current_thread() is threading.main_thread()
            found = self._connections[0 if is_main else 1 + next(self._handed_out) % (_CONNECTIONS - 1)]
            self._local.connection = found
        return found

    @contextmanager
    def limit_time(self, seconds: float) -> Generator[None]:
        """Stop statements of this thread after `seconds`. Raise QueryTooSlow."""
        self._local.deadline = time.monotonic() + seconds
        try:
            yield
        except sqlite3.OperationalError as exc:
            if "interrupted" in str(exc):
                raise make_timeout_error(seconds) from None
            raise
        finally:
            self._local.deadline = None

    def _open_connection(self) -> sqlite3.Connection:
        address = f"file:{quote(str(self.folder / DATABASE))}?mode=ro&immutable=1"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)
        connection.execute("PRAGMA query_only=1")
        connection.execute("PRAGMA mmap_size=1073741824")
        connection.set_progress_handler(self._is_past_deadline, _STEPS_BETWEEN_CHECKS)
        return connection

    def _is_past_deadline(self) -> bool:
        """Return True if the statement of this thread must stop; SQLite calls it regularly."""
        deadline: float | None = getattr(self._local, "deadline", None)
        return deadline is not None and time.monotonic() > deadline

    def find_paper_number(self, identifier: str) -> int:
        """Return the number of the paper with this id, DOI, arXiv id, PMID, PMCID or BibTeX key, in any spelling.

        The address of a resource, such as `paper://ID/source`, names its paper. Raise PaperNotFound.
        """
        identifier = identifier.strip(_BLANKS)
        if identifier.startswith(_ADDRESS):
            identifier = unquote(identifier.removeprefix(_ADDRESS).split("/")[0])
        if identifier and len(identifier) <= VALUE_CHARS and "\0" not in identifier:
            connection = self.get_connection()
            keys = list_lookup_keys(identifier)
            if is_paper_id(known := identifier.lower()):
                found = connection.execute("SELECT no FROM paper WHERE paper_id = ?", (known,)).fetchone()
                if found:
                    return found[0]
                keys = [f"id:{known}", *keys]  # of a paper that was merged into another
            for key in keys:
                found = connection.execute("SELECT no FROM alias WHERE key = ?", (key,)).fetchone()
                if found:
                    return found[0]
        raise PaperNotFound(
            identifier, nearest=self._list_nearest(identifier), knows_searches=self._has_keys_of(RECORD_SCHEME)
        )

    def find_cited_number(self, no: int, key: str) -> int | None:
        """Return the number of the paper with this BibTeX key in a file next to the files of paper `no`, or None.

        Files of other folders can use the same key for another paper.
        """
        found = self.get_connection().execute("SELECT no FROM alias WHERE key = ?", (f"bib:{key}",)).fetchone()
        if not found:
            return None
        folders, others = ({origin.rpartition("/")[0] for origin in self.list_origins(one)} for one in (no, found[0]))
        return None if folders.isdisjoint(others) else found[0]

    def _has_keys_of(self, scheme: str) -> bool:
        query = "SELECT 1 FROM alias WHERE key >= ? AND key < ? LIMIT 1"
        return self.get_connection().execute(query, (f"{scheme}:", f"{scheme};")).fetchone() is not None

    def _list_nearest(self, identifier: str) -> list[str]:
        """Return the ids and titles of the papers that may be meant.

        They have this title, an id or key that starts with it or is like it, or these authors and this year.
        """
        identifier = identifier.strip()
        numbers = self.find_numbers_by_title(identifier)
        if not numbers and len(identifier) >= _SHORTEST_PREFIX:
            numbers = list(self._find_papers_by_prefix(identifier)) or self._find_papers_with_similar_key(identifier)
        numbers = numbers or self._find_papers_by_authors_and_year(identifier)
        papers = map(self.read_metadata, numbers[:_LISTED])
        return [f"{paper['paper_id']} ({paper['title']})" for paper in papers]

    def _find_papers_with_similar_key(self, identifier: str) -> list[int]:
        """Return the papers that have a key, of the same kind, with hardly another spelling, the most similar first."""
        if len(identifier) > VALUE_CHARS or "\0" in identifier:
            return []
        is_small = self.manifest.papers <= _MOST_COMPARED
        last = "\U0010ffff"
        near: dict[int, None] = {}
        for key in [identifier.lower(), *list_lookup_keys(identifier)]:
            scheme, colon, value = key.rpartition(":")
            table, names = ("alias", "key") if colon else ("paper", "paper_id")
            start = f"{scheme}{colon}{'' if is_small else value[: len(value) // 2]}"
            query = f"SELECT {names}, no FROM {table} WHERE {names} >= ? AND {names} < ? LIMIT ?"  # noqa: S608 - constants
            rows = self.get_connection().execute(query, (start, start + last, _MOST_COMPARED)).fetchall()
            known: dict[str, int] = dict(rows)
            near |= dict.fromkeys(known[name] for name in find_nearest_ids(key, known, least=_LEAST_SIMILARITY))
        return list(near)

    def _find_papers_by_authors_and_year(self, text: str) -> list[int]:
        """Return the papers of a text such as `Mayor & Queloz 1995`."""
        names = [
            word
            for word in split_words(_YEAR.sub(" ", text))
            if word.isalpha() and len(word) > 1 and word not in _BETWEEN_AUTHORS
        ]
        year = _YEAR.search(text)
        if year is None or not names:
            return []
        terms = [tantivy.Query.term_query(self.schema, AUTHOR, name) for name in names]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, term) for term in terms])
        addresses = [address for _, address in self.searcher.search(query, _MOST_READ).hits]
        numbers = cast("list[int]", self.searcher.fast_field_values(NUMBER, addresses)) if addresses else []
        return [row.no for row in self.read_rows(numbers) if row.year == int(year[0])]

    def find_paper_number_by_prefix(self, identifier: str) -> int:
        """Return the number of the paper that `identifier` names, or of the only one whose id or key starts with it.

        Raise PaperNotFound, and PaperAmbiguous for several papers.
        """
        try:
            return self.find_paper_number(identifier)
        except PaperNotFound:
            matching = self._find_papers_by_prefix(identifier.strip())
        if not matching:
            raise PaperNotFound(identifier)
        if len(matching) > 1:
            raise PaperAmbiguous(
                identifier, [f"{name} ({self.read_metadata(no)['title']})" for no, name in matching.items()]
            )
        return next(iter(matching))

    def _find_papers_by_prefix(self, prefix: str) -> dict[int, str]:
        """Return the first papers whose id or BibTeX key starts with `prefix`, with that id or key."""
        if not prefix or len(prefix) > VALUE_CHARS or "\0" in prefix:
            return {}
        keys, ids = f"bib:{prefix.removeprefix('bib:')}", prefix.lower()
        query = (
            "SELECT no, paper_id FROM paper WHERE paper_id >= ?1 AND paper_id < ?2 UNION ALL "
            "SELECT no, substr(key, 5) FROM alias WHERE key >= ?3 AND key < ?4 ORDER BY 2 LIMIT ?5"
        )
        last = "\U0010ffff"
        rows = self.get_connection().execute(query, (ids, ids + last, keys, keys + last, 10 * _LISTED)).fetchall()
        matching: dict[int, str] = {}
        for no, name in rows:
            matching.setdefault(no, name)
        return dict(list(matching.items())[:_LISTED])

    def find_numbers_by_title(self, title: str) -> list[int]:
        """Return the numbers of the papers with this title, ignoring case and accents."""
        folded = fold_text(" ".join(title.split()))
        found = self.get_connection().execute("SELECT no FROM paper WHERE title_fold = ? ORDER BY no", (folded,))
        return [no for (no,) in found]

    def read_metadata_json(self, no: int) -> bytes:
        """Return all metadata of a paper, as JSON."""
        return self._read_value("SELECT metadata FROM paper WHERE no = ?", no)

    def read_metadata(self, no: int) -> "StoredMetadata":
        return orjson.loads(self.read_metadata_json(no))

    def read_bibtex(self, no: int) -> str:
        """Return the stored BibTeX entry of a paper, or an empty text."""
        return self._read_value("SELECT bibtex FROM paper WHERE no = ?", no)

    def read_paper_id(self, no: int) -> str:
        return self._read_value("SELECT paper_id FROM paper WHERE no = ?", no)

    def list_keys(self, no: int) -> list[str]:
        return orjson.loads(self._read_value("SELECT keys FROM paper WHERE no = ?", no))

    def list_merged_ids(self, no: int) -> list[str]:
        """Return the ids of the papers that were merged into a paper."""
        return [key.removeprefix("id:") for key in self.list_keys(no) if key.startswith("id:")]

    def list_origins(self, no: int) -> list[str]:
        """Return the inputs of a paper."""
        return orjson.loads(self._read_value("SELECT origins FROM paper WHERE no = ?", no))

    def read_digest(self, no: int) -> str:
        """Return the digest of the contents of a paper."""
        return self._read_value("SELECT digest FROM paper WHERE no = ?", no)

    def read_entry_rows(self, no: int) -> list[bytes]:
        """Return the stored entries of a paper that has several; not for shelves of schema 1."""
        rows = self.get_connection().execute("SELECT entry FROM entry WHERE no = ? ORDER BY place", (no,))
        return [row for (row,) in rows]

    def list_added_summaries(self, no: int) -> list[str]:
        """Return the names of the summaries from summary folders; not for shelves of schema 1."""
        query = "SELECT name FROM asset WHERE no = ? AND kind = ? AND is_added ORDER BY name"
        return [name for (name,) in self.get_connection().execute(query, (no, SUMMARY))]

    def read_rows(self, numbers: Sequence[int]) -> list[Row]:
        """Return the rows of these papers, in the order of `numbers`."""
        marks = ",".join("?" * len(numbers))
        query = f"SELECT no, metadata FROM paper WHERE no IN ({marks})"  # noqa: S608 - marks only
        found = {no: orjson.loads(metadata) for no, metadata in self.get_connection().execute(query, numbers)}
        return [_make_row(no, found[no]) for no in numbers]

    def find_facet_id(self, kind: str, folded: str) -> int | None:
        """Return the id of a folded facet value, or None."""
        query = "SELECT id FROM facet WHERE kind = ? AND fold = ?"
        found = self.get_connection().execute(query, (kind, folded)).fetchone()
        return found[0] if found else None

    def list_facets_containing(self, kinds: Sequence[str], folded: str) -> list[tuple[int, str]]:
        """Return the ids and values of these kinds that contain a folded text, most frequent first."""
        marks = ",".join("?" * len(kinds))
        query = (
            f"SELECT id, value FROM facet WHERE kind IN ({marks}) AND instr(fold, ?) "  # noqa: S608 - marks only
            "ORDER BY paper_count DESC, value"
        )
        return self.get_connection().execute(query, (*kinds, folded)).fetchall()

    def list_top_facets(self, kind: str, limit: int, offset: int = 0) -> list[tuple[str, int]]:
        """Return values and their numbers of papers, most frequent first."""
        query = "SELECT value, paper_count FROM facet WHERE kind = ? ORDER BY paper_count DESC, value LIMIT ? OFFSET ?"
        return self.get_connection().execute(query, (kind, limit, offset)).fetchall()

    def count_facet_values(self, kind: str) -> int:
        return self.get_connection().execute("SELECT count(*) FROM facet WHERE kind = ?", (kind,)).fetchone()[0]

    def find_numbers_by_facets(self, facets: Sequence[int], limit: int, offset: int) -> tuple[list[int], int]:
        """Return a page of the numbers of papers with any of these values, newest first, and their total."""
        found = "FROM paper WHERE no IN (SELECT no FROM paper_facet WHERE facet IN (SELECT value FROM json_each(?)))"
        ids = orjson.dumps(facets).decode()  # a statement takes a limited number of parameters
        connection = self.get_connection()
        total = connection.execute(f"SELECT count(*) {found}", (ids,)).fetchone()[0]
        page = f"SELECT no {found} ORDER BY year IS NULL, year DESC, no LIMIT ? OFFSET ?"
        return [no for (no,) in connection.execute(page, (ids, limit, offset))], total

    def find_asset(self, no: int, kind: str, name: str) -> AssetRef | None:
        """Return the reference to an asset of a paper, or None."""
        query = "SELECT kind, name, sha256, bytes, chars FROM asset WHERE no = ? AND kind = ? AND name = ?"
        found = self.get_connection().execute(query, (no, kind, name)).fetchone()
        return AssetRef(*found) if found else None

    def list_assets(self, no: int) -> list[AssetRef]:
        """Return references to all assets of a paper."""
        query = "SELECT kind, name, sha256, bytes, chars FROM asset WHERE no = ?"
        return [AssetRef(*row) for row in self.get_connection().execute(query, (no,))]

    def count_contents(self) -> "ShelfCounts":
        """Return counts of papers, assets, values and missing fields."""
        connection = self.get_connection()
        missing = connection.execute("SELECT what, papers FROM missing").fetchall()
        assets = connection.execute("SELECT kind, name, count(*) FROM asset GROUP BY kind, name").fetchall()
        facets = connection.execute("SELECT kind, count(*) FROM facet GROUP BY kind").fetchall()
        years = connection.execute("SELECT min(year), max(year) FROM paper").fetchone()
        builder = read_builder(self.folder)
        originals = sum(count for kind, _, count in assets if kind == ORIGINAL)
        counts: ShelfCounts = {
            "papers": self.manifest.papers,
            "build_id": self.build_id,
            "built_at": self.manifest.built_at,
            "built_by": builder and builder.model_dump(),
            "years": {"first": years[0], "last": years[1]},
            "with_source": sum(count for kind, _, count in assets if kind == SOURCE),
            "with_original": originals,
            "summaries": {name: count for kind, name, count in assets if kind == SUMMARY},
            "translations": {name: count for kind, name, count in assets if kind == TRANSLATION},
            "values": dict(facets),
            "missing": dict(missing),
        }
        if not originals:
            del counts["with_original"]
        return counts

    def read_texts(self, no: int, max_chars: int) -> Iterator[StoredText]:
        """Yield the local texts of a paper: source, translations, then summaries other than the default one.

        At most `max_chars` characters are read in total.
        """
        texts = (ref for ref in self.list_assets(no) if ref.kind in TEXT_KINDS)
        for ref in sorted(texts, key=lambda ref: (TEXT_KINDS.index(ref.kind), ref.name)):
            if max_chars <= 0:
                return
            with suppress(OSError, ValueError):
                path = self._static / make_asset_path(ref.kind, ref.sha256)
                # Line ends are not converted, so that offsets refer to the stored text.
                with TextIOWrapper(open_regular_file(path), encoding="utf-8", newline="") as stream:
                    text = stream.read(max_chars)
                max_chars -= len(text)
                if ref.kind != SUMMARY:
                    yield StoredText(ref.kind, text, extract_plain_text(text))
                elif not is_default_summary(summary := orjson.loads(text)):
                    yield StoredText(ref.kind, text, extract_json_text(summary))

    def _read_value(self, query: str, no: int) -> Any:
        return self.get_connection().execute(query, (no,)).fetchone()[0]


def _make_row(no: int, record: "StoredMetadata") -> Row:
    authors = record["authors"][:AUTHORS_SHOWN]
    head = (record["paper_id"], record["title"], record["year"], record["venue"])
    return Row(no, *head, authors, record["abstract"], record)


def make_timeout_error(seconds: float) -> QueryTooSlow:
    """Return the error for a query that was stopped after `seconds`."""
    return QueryTooSlow(
        f"The query took longer than {plural(seconds, 'second')} and was stopped.",
        hint="Use fewer or rarer words, or filters such as year: and venue:.",
        seconds=seconds,
    )


def _open_linked_index(folder: Path, links: Path) -> tantivy.Index:
    """Open the index through a folder of links, because tantivy writes lock files beside it."""
    for path in folder.iterdir():
        (links / path.name).symlink_to(path)
    index = open_index(links)
    index.config_reader("manual", 0)
    return index
