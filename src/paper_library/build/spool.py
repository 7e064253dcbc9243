"""Entries laid aside on disk while it is found out which belong together, so that memory does not grow with texts."""

import os
from array import array
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import orjson

from paper_library.build.entry import Entry
from paper_library.build.matching import keys_of
from paper_library.identity import Keys
from uraniborg.kernel.text import replace_surrogates

_BUFFER: Final = 1 << 20


class Spool:
    """A file of entries with their keys, in the order they were put, each to be had back by its number."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w+b", buffering=_BUFFER)
        self._starts = array("Q", [0])

    def put(self, entry: Entry) -> tuple[Entry, Keys]:
        """Lay an entry aside with its keys. Raises TypeError for what has no JSON form."""
        try:
            keys = keys_of(entry)
            line = orjson.dumps((entry, keys))
        except TypeError:  # half characters, which no reader should leave in
            entry = _mended(entry)
            keys = keys_of(entry)
            line = orjson.dumps((entry, keys))
        self._file.write(line)
        self._starts.append(self._starts[-1] + len(line))
        return entry, keys

    def flush(self) -> None:
        """To be called once all is put, before anything is had back."""
        self._file.flush()

    def get(self, numbers: Iterable[int]) -> list[tuple[Entry, Keys]]:
        found: list[tuple[Entry, Keys]] = []
        for number in numbers:
            start = self._starts[number]
            entry, keys = orjson.loads(os.pread(self._file.fileno(), self._starts[number + 1] - start, start))
            found.append((Entry(**entry), Keys(**keys)))
        return found

    def close(self) -> None:
        self._file.close()


def _mended(entry: Entry) -> Entry:
    try:
        return Entry(**_whole(asdict(entry)))
    except RecursionError:
        raise TypeError("nested too deeply") from None


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {_whole(name): _whole(item) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value
