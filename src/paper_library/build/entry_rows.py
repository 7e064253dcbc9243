"""The entries of a paper as a shelf stores them, so that each can be replaced without the others.

A paper of one entry needs no rows: the shelf has all that the entry said. Of several entries each row holds what is not
what the paper says anyway.
"""

from dataclasses import fields
from typing import Any, Final

import orjson

from paper_library.build.entry import Entry

_TEXTS: Final = ("translations", "summaries")
_NAMES: Final = tuple(one.name for one in fields(Entry) if one.name not in ("origin", "was"))


def dump_entry(entry: Entry, paper: Entry) -> bytes:
    """Return the row of one entry of a paper; `paper` is all that its entries say."""
    row: dict[str, Any] = {"origin": entry.origin}
    same: list[str] = []
    for name in _NAMES:
        value, whole = getattr(entry, name), getattr(paper, name)
        if not value:
            continue
        if value == whole:
            same.append(name)
        elif name in _TEXTS:
            row[name] = {key: None if whole.get(key) == text else text for key, text in value.items()}
        else:
            row[name] = value
    return orjson.dumps({**row, "same": same})


def load_entry(row: bytes, paper: Entry) -> Entry:
    """Return the entry of a row; `paper` is what the shelf has of its paper."""
    stored: dict[str, Any] = orjson.loads(row)
    entry = Entry(was=paper.was)
    for name in stored.pop("same"):
        setattr(entry, name, getattr(paper, name))
    for name, value in stored.items():
        if name in _TEXTS:
            whole = getattr(paper, name)
            texts = {key: whole.get(key) if text is None else text for key, text in value.items()}
            setattr(entry, name, {key: text for key, text in texts.items() if text is not None})
        else:
            setattr(entry, name, value)
    return entry
