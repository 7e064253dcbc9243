"""Remember the ids of a shelf in a file beside it, so that papers keep them in every rebuild.

`SHELF.ids.json` is outside the folder so that it survives the replacement and the loss of the shelf. A build reads the
file, gives known papers their ids and BibTeX keys, and writes the file before the new shelf replaces the old one. If
the build is killed in between, the next build gives the same ids to the same papers.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeGuard, cast

import orjson

from paper_library.domain.entries import BuildProblem
from paper_library.domain.id_evidence import IdRecord, make_position_key
from paper_library.domain.paper_ids import is_paper_id
from paper_library.errors import RegisterTooNew
from paper_library.store.layout import open_regular_file
from uraniborg.kernel.store.files import display_path, sync_folder, write_atomic

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

SUFFIX: Final = ".ids.json"
_FORMAT: Final = 1
_MARK: Final = b'{"paper_library_ids":'
_LISTS: Final = ("authors", "keys", "places")


def get_register_path(shelf: Path) -> Path:
    """Return the path of the register: beside the shelf's folder, links resolved."""
    real = shelf.resolve()
    return real.with_name(f"{real.name}{SUFFIX}")


def is_register(path: Path) -> bool:
    """Return True if the file is a register of any shelf and version. The path must not contain links."""
    if not path.name.endswith(SUFFIX):
        return False
    try:
        with open_regular_file(path) as stream:
            return stream.read(len(_MARK)) == _MARK
    except OSError:
        return False


class _Document(TypedDict):
    """A register as JSON."""

    paper_library_ids: "Json"
    """The format of the file."""
    papers: "JsonObject"


class IdRegister:
    """Records of papers by id, and an index of their keys and positions."""

    def __init__(self) -> None:
        self._records: dict[str, IdRecord] = {}
        self._by_key: dict[int, list[str]] = {}
        self._written: dict[str, bytes] = {}
        """The lines of the papers of this build, ready to be written."""

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, paper_id: str) -> bool:
        return paper_id in self._records

    def __getitem__(self, paper_id: str) -> IdRecord:
        return self._records[paper_id]

    def __iter__(self) -> Iterator[IdRecord]:
        return iter(self._records.values())

    def add_or_merge_records(self, records: Iterable[IdRecord]) -> None:
        """Add records; merge a record with an earlier one of the same id."""
        for record in records:
            known = self._records.get(record.paper_id)
            self._records[record.paper_id] = known.merge_into_newer(record) if known else record
            keys = (*record.keys, *map(make_position_key, record.places), f"id:{record.paper_id}")
            for key in keys:
                # By hash: the keys would need several times the memory.
                ids = self._by_key.setdefault(hash(key), [])
                if record.paper_id not in ids:
                    ids.append(record.paper_id)

    def record_paper(self, record: IdRecord, absorbed_ids: Iterable[str]) -> None:
        """Record a paper of this build, and forget the papers that it absorbed."""
        known = self._records.pop(record.paper_id, None)
        self._written[record.paper_id] = _format_line(known.merge_into_newer(record) if known else record)
        for paper_id in absorbed_ids:
            self._records.pop(paper_id, None)

    def find_ids(self, evidence: dict[str, int]) -> dict[str, int]:
        """Return the ids that share evidence with an entry, with the kinds of evidence."""
        found: dict[str, int] = {}
        for key, kind in evidence.items():
            for paper_id in self._by_key.get(hash(key), ()):
                found[paper_id] = found.get(paper_id, 0) | kind
        return found

    def load_file(self, path: Path, *, rename_if_damaged: bool) -> Iterator[BuildProblem]:
        """Add the records of the file at `path`, if it exists; yield its problems.

        With `rename_if_damaged`, an unreadable file is renamed to `NAME.damaged`; no other build may write it. Raise
        RegisterTooNew and OSError.
        """
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return
        document = _parse_document(content)
        if document is None:
            damaged = path.with_name(f"{path.name}.damaged")
            if rename_if_damaged:
                path.replace(damaged)
            renamed = f" and was renamed to {damaged.name}" if rename_if_damaged else ""
            reason = f"The file is damaged{renamed}. Papers get the ids of the shelf, or new ids."
            yield BuildProblem(path.name, "broken", reason)
            return
        version = document["paper_library_ids"]
        if not isinstance(version, int) or version > _FORMAT:
            raise RegisterTooNew(
                f"{display_path(path)} was written by a later version: its format is {version!r:.20}, not {_FORMAT}.",
                hint="Update uraniborg, or remove the file; papers that are not on the shelf then get new ids.",
            )
        papers = document["papers"]
        records = [record for paper_id, facts in papers.items() if (record := _parse_record(paper_id, facts))]
        self.add_or_merge_records(records)
        if len(records) < len(papers):
            reason = f"{len(papers) - len(records):,} of {len(papers):,} lines are damaged and were ignored."
            yield BuildProblem(path.name, "broken", reason)

    def write_file(self, path: Path, staging: Path) -> None:
        """Write one line for each paper to `path`, atomically, through the folder `staging`. Raise OSError.

        The next build removes files that a killed build left in that folder.
        """
        lines = {paper_id: _format_line(record) for paper_id, record in self._records.items()} | self._written
        content = b",\n".join(line for _, line in sorted(lines.items()))
        staged = staging / path.name
        write_atomic(staged, b'%s %d, "papers": {\n%s\n}}\n' % (_MARK, _FORMAT, content))
        staged.replace(path)
        sync_folder(path.parent)


def _parse_document(content: bytes) -> "_Document | None":
    try:
        document: Any = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(document, dict):
        return None
    fields = cast("JsonObject", document)
    is_valid = "paper_library_ids" in fields and isinstance(fields.get("papers"), dict)
    return cast("_Document", fields) if is_valid else None


def _format_line(record: IdRecord) -> bytes:
    facts: dict[str, object] = {
        "key": record.key,
        "title": record.title,
        "authors": record.authors,
        "year": record.year,
        "keys": record.keys,
        "places": record.places,
    }
    known = orjson.dumps({name: value for name, value in facts.items() if value})
    return b'"%s":%s' % (record.paper_id.encode(), known)


def _parse_record(paper_id: str, facts: "Json") -> IdRecord | None:
    """Return the record of a line, or None if the line is invalid."""
    if not is_paper_id(paper_id) or not isinstance(facts, dict):
        return None
    lists = {name: texts for name in _LISTS if _is_list_of_strings(texts := facts.get(name, []))}
    if len(lists) < len(_LISTS):
        return None
    year, key, title = facts.get("year"), facts.get("key", ""), facts.get("title", "")
    if (
        not isinstance(year, int | None)
        or isinstance(year, bool)
        or not isinstance(key, str)
        or not isinstance(title, str)
    ):
        return None
    return IdRecord(
        paper_id, key, title, year=year, authors=lists["authors"], keys=lists["keys"], places=lists["places"]
    )


def _is_list_of_strings(value: "Json") -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
