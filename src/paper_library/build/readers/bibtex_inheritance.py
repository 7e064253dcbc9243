"""Inherit fields of BibTeX entries: a chapter from its book (crossref), any entry from an @xdata.

BibTeX wants parents after their children, so that children can be completed only at the end of the file. Until then
both are in a temporary file: memory holds only the position of each parent.
"""

import tempfile
from collections.abc import Iterator
from typing import Any

import orjson

from paper_library.build.readers.bibtex_scanner import Block

COLLECTIONS = frozenset(("proceedings", "mvproceedings", "book", "mvbook", "collection", "mvcollection", "periodical"))
_INSIDE_A_BOOK = frozenset(("inproceedings", "conference", "incollection", "inbook", "suppcollection", "inreference"))
_INHERITED = ("year", "date", "month", "publisher", "series", "editor", "isbn")
_IN_MEMORY = 4 << 20
"""Of a smaller file nothing is written to disk."""

_Position = tuple[int, int]


class FieldInheritance:
    """The parents and children of one file."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile[bytes](max_size=_IN_MEMORY)
        self._size = 0
        self._parents: dict[str, _Position] = {}
        """By key: where the fields of the entry lie in the temporary file, and how long they are."""
        self._children: list[tuple[_Position, _Position | None]] = []
        """Where each child lies, and where it lies as a parent if it is one too."""
        self._latest: tuple[_Position, dict[str, str]] | None = None
        """The parent that was read last: the chapters of a book mostly follow one another."""

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()

    def store_parent_and_defer_child(self, block: Block) -> bool:
        """Store a parent, a child or both; return True for a child, which is read later. Raise OSError."""
        as_parent = None
        if block.kind in COLLECTIONS or block.kind == "xdata":
            as_parent = self._parents[block.key.lower()] = self._write_value(block.fields)
        if not (block.fields.get("crossref") or block.fields.get("xdata")):
            return False
        position = self._write_value((block.kind, block.key, block.fields, block.text, block.line))
        self._children.append((position, as_parent))
        return True

    def read_deferred_children(self) -> Iterator[Block]:
        """Yield the children with the fields that they inherit, in the order of the file. Raise OSError."""
        for position, as_parent in self._children:
            block = Block(*self._read_value(position))
            self._inherit_fields(block)
            if as_parent and self._parents[block.key.lower()] == as_parent:
                # The children that follow inherit from its own parents too.
                self._parents[block.key.lower()] = self._write_value(block.fields)
            yield block

    def _inherit_fields(self, block: Block) -> None:
        names = f"{block.fields.get('crossref', '')},{block.fields.get('xdata', '')}"
        for name in names.split(","):
            parent = self._read_parent_fields(name.strip().lower())
            if parent is None:
                continue
            for field in _INHERITED:
                if field in parent:
                    block.fields.setdefault(field, parent[field])
            if block.kind in _INSIDE_A_BOOK:
                block.fields.setdefault("booktitle", parent.get("booktitle") or parent.get("title", ""))
            if name.strip() == block.fields.get("xdata", "").strip():
                block.fields = parent | block.fields

    def _read_parent_fields(self, key: str) -> dict[str, str] | None:
        position = self._parents.get(key)
        if position is None:
            return None
        if self._latest is None or self._latest[0] != position:
            self._latest = position, self._read_value(position)
        return self._latest[1]

    def _write_value(self, value: Any) -> _Position:
        data = orjson.dumps(value)
        self._file.seek(self._size)
        self._file.write(data)
        position = self._size, len(data)
        self._size += len(data)
        return position

    def _read_value(self, position: _Position) -> Any:
        self._file.seek(position[0])
        return orjson.loads(self._file.read(position[1]))
