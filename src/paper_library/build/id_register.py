"""The register of a shelf: the ids that its papers were given, in a file beside the shelf's folder.

`SHELF.ids.json` lies outside the folder so that it survives the exchange of the shelf, and its loss. A build reads it,
gives every paper that it knows again its id and BibTeX key, and writes it before the new shelf takes its place: a build
that is killed in between has remembered ids that no shelf uses yet, and the next build gives them to the same papers.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, cast

import orjson

from paper_library.build.entry import Problem
from paper_library.build.id_evidence import Record, place_key
from paper_library.errors import RegisterTooNew
from paper_library.identity import is_paper_id
from paper_library.regular_files import open_regular
from uraniborg.kernel.files import shown, sync_folder, write_atomic

SUFFIX: Final = ".ids.json"
_FORMAT: Final = 1
_MARK: Final = b'{"paper_library_ids":'
_LISTS: Final = ("authors", "keys", "places")


def register_path(shelf: Path) -> Path:
    """Return where the register of the shelf lies: beside what a link to the shelf leads to."""
    real = shelf.resolve()
    return real.with_name(f"{real.name}{SUFFIX}")


def is_register(path: Path) -> bool:
    """Return True for a register, of any shelf and version. The path must be without links."""
    if not path.name.endswith(SUFFIX):
        return False
    try:
        with open_regular(path) as stream:
            return stream.read(len(_MARK)) == _MARK
    except OSError:
        return False


class Register:
    """Records by id, and by everything that leads to them."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}
        self._by_key: dict[int, list[str]] = {}
        self._written: dict[str, bytes] = {}
        """The lines of papers of this build, which nothing is looked up in any more."""

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, paper_id: str) -> bool:
        return paper_id in self._records

    def __getitem__(self, paper_id: str) -> Record:
        return self._records[paper_id]

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def add(self, records: Iterable[Record]) -> None:
        """Take in records; one that is known already is renewed."""
        for record in records:
            known = self._records.get(record.paper_id)
            self._records[record.paper_id] = known.renewed(record) if known else record
            keys = (*record.keys, *map(place_key, record.places), f"id:{record.paper_id}")
            for key in keys:
                # By hash: the keys themselves would take several times the memory.
                ids = self._by_key.setdefault(hash(key), [])
                if record.paper_id not in ids:
                    ids.append(record.paper_id)

    def renew(self, record: Record, absorbed: Iterable[str]) -> None:
        """Remember a paper as it is now, in the place of what was known of it and of the papers it absorbed."""
        known = self._records.pop(record.paper_id, None)
        self._written[record.paper_id] = _line(known.renewed(record) if known else record)
        for paper_id in absorbed:
            self._records.pop(paper_id, None)

    def find(self, evidence: dict[str, int]) -> dict[str, int]:
        """Return the ids that the evidence speaks for, and the kinds of evidence that do."""
        found: dict[str, int] = {}
        for key, kind in evidence.items():
            for paper_id in self._by_key.get(hash(key), ()):
                found[paper_id] = found.get(paper_id, 0) | kind
        return found

    def read(self, path: Path, *, is_own: bool) -> Iterator[Problem]:
        """Take in the file at `path`, if there is one; yield what of it cannot be used.

        A file that cannot be used at all is put aside as `NAME.damaged` if `is_own`: no other build may write it then.
        Raises RegisterTooNew, and OSError.
        """
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return
        document = _parsed(content)
        if document is None:
            aside = path.with_name(f"{path.name}.damaged")
            if is_own:
                path.replace(aside)
            where = f" and was put aside as {aside.name}" if is_own else ""
            yield Problem(path.name, "broken", f"It is damaged{where}. Papers have the ids of the shelf, or new ones.")
            return
        version = document["paper_library_ids"]
        if not isinstance(version, int) or version > _FORMAT:
            raise RegisterTooNew(
                f"{shown(path)} was written by a later version: its format is {version!r:.20}, not {_FORMAT}.",
                hint="Update uraniborg, or move the file away to give new ids to papers that the shelf does not have.",
            )
        papers: dict[str, Any] = document["papers"]
        records = [record for paper_id, facts in papers.items() if (record := _record(paper_id, facts))]
        self.add(records)
        if len(records) < len(papers):
            reason = f"{len(papers) - len(records):,} of its {len(papers):,} lines are damaged and were left out."
            yield Problem(path.name, "broken", reason)

    def write(self, path: Path, staging: Path) -> None:
        """Put a file with a line for each paper at `path`, in one step, from the folder `staging`. Raises OSError.

        What a killed build leaves in that folder, the next build clears away.
        """
        lines = {paper_id: _line(record) for paper_id, record in self._records.items()} | self._written
        content = b",\n".join(line for _, line in sorted(lines.items()))
        staged = staging / path.name
        write_atomic(staged, b'%s %d, "papers": {\n%s\n}}\n' % (_MARK, _FORMAT, content))
        staged.replace(path)
        sync_folder(path.parent)


def _parsed(content: bytes) -> dict[str, Any] | None:
    try:
        document: Any = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(document, dict):
        return None
    said = cast("dict[str, Any]", document)
    return said if "paper_library_ids" in said and isinstance(said.get("papers"), dict) else None


def _line(record: Record) -> bytes:
    facts: dict[str, Any] = {
        "key": record.key,
        "title": record.title,
        "authors": record.authors,
        "year": record.year,
        "keys": record.keys,
        "places": record.places,
    }
    known = orjson.dumps({name: value for name, value in facts.items() if value})
    return b'"%s":%s' % (record.paper_id.encode(), known)


def _record(paper_id: str, facts: Any) -> Record | None:
    """Return the record that a line holds, or None for a line that no build writes."""
    if not is_paper_id(paper_id) or not isinstance(facts, dict):
        return None
    said = cast("dict[str, Any]", facts)
    lists: dict[str, Any] = {name: said.get(name, []) for name in _LISTS}
    if not all(map(_is_texts, lists.values())):
        return None
    year, key, title = said.get("year"), said.get("key", ""), said.get("title", "")
    if (
        not isinstance(year, int | None)
        or isinstance(year, bool)
        or not isinstance(key, str)
        or not isinstance(title, str)
    ):
        return None
    return Record(paper_id, key, title, year=year, **lists)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in cast("list[Any]", value))
