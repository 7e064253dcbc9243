"""Store entries on disk while a build groups them, so that memory does not grow with the texts."""

import os
from array import array
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import orjson

from paper_library.build.entry import Entry
from paper_library.build.entry_matcher import make_keys
from paper_library.paper_ids import Keys

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

_BUFFER_BYTES: Final = 1 << 20
_TEXT_FIELDS: Final = ("translations", "summaries")
_ROW_FIELDS: Final = tuple(one.name for one in fields(Entry) if one.name not in ("origin", "old_paper_id"))


class EntrySpool:
    """A temporary file of entries and their keys, read by number, so that memory does not grow with their texts."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w+b", buffering=_BUFFER_BYTES)
        self._starts = array("Q", [0])

    def append_entry(self, entry: Entry) -> Keys:
        """Write an entry and return its keys. Raise TypeError for values that are nested too deeply."""
        keys = make_keys(entry)
        line = orjson.dumps((entry, keys))
        self._file.write(line)
        self._starts.append(self._starts[-1] + len(line))
        return keys

    def flush(self) -> None:
        """Write buffered entries. Call it after the last `append_entry` and before the first `read_entries`."""
        self._file.flush()

    def read_entries(self, numbers: Iterable[int]) -> list[tuple[Entry, Keys]]:
        found: list[tuple[Entry, Keys]] = []
        for number in numbers:
            start = self._starts[number]
            entry, keys = orjson.loads(os.pread(self._file.fileno(), self._starts[number + 1] - start, start))
            found.append((Entry(**entry), Keys(**keys)))
        return found

    def close(self) -> None:
        self._file.close()


def dump_entry(entry: Entry, merged_entry: Entry) -> bytes:
    """Return the row of one entry of a paper that has several; `merged_entry` is made of all of them.

    Fields that equal those of `merged_entry` are stored by name only. An update replaces each row separately. A paper
    with a single entry needs no row.
    """
    row: dict[str, object] = {"origin": entry.origin}
    same: list[str] = []
    for name in _ROW_FIELDS:
        value, merged = getattr(entry, name), getattr(merged_entry, name)
        if not value:
            continue
        if value == merged:
            same.append(name)
        elif name in _TEXT_FIELDS:
            row[name] = {key: None if merged.get(key) == text else text for key, text in value.items()}
        else:
            row[name] = value
    return orjson.dumps({**row, "same": same})


def load_entry(row: bytes, merged_entry: Entry) -> Entry:
    """Return the entry that `dump_entry` stored in `row`; `merged_entry` is that of its paper."""
    stored: JsonObject = orjson.loads(row)
    entry = Entry(old_paper_id=merged_entry.old_paper_id)
    for name in cast("list[str]", stored.pop("same")):
        setattr(entry, name, getattr(merged_entry, name))
    for name, value in stored.items():
        if name in _TEXT_FIELDS:
            merged = getattr(merged_entry, name)
            texts = {key: merged.get(key) if text is None else text for key, text in cast("JsonObject", value).items()}
            setattr(entry, name, {key: text for key, text in texts.items() if text is not None})
        else:
            setattr(entry, name, value)
    return entry
