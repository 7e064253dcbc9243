"""What a listing remembers of the files it has read, so that the next one, in any process, need not read them."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from uraniborg.kernel.files import make_private_folder, write_atomic
from uraniborg.kernel.ids import content_id

Entry = dict[str, Any]
"""What is known of one file: its `stamp`, and either a `problem` or what a summary says."""

_FORMAT: Final = 2
_SETTLED_NS: Final = 100_000_000
"""A file is remembered once it has been left alone this long: a clock tick may hide a second change."""


def stamp_of(status: os.stat_result) -> list[int]:
    """What differs whenever the file is another or has changed."""
    return [status.st_mtime_ns, status.st_size, status.st_ctime_ns, status.st_ino]


def is_settled(entry: Entry, read_at_ns: int) -> bool:
    """Whether whatever is written to the file after it was read will show in its stamp."""
    return max(entry["stamp"][0], entry["stamp"][2]) < read_at_ns - _SETTLED_NS


def remembered(index: Path) -> dict[str, Entry]:
    """The entries by path; none when there is no index or it is not as it was written."""
    try:
        plain = orjson.loads(index.read_bytes())
        entries = plain["files"]
        is_whole = plain["format"] == _FORMAT and plain["digest"] == _digest(entries)
    except (OSError, ValueError, TypeError, KeyError):
        return {}
    return entries if is_whole else {}


def remember(index: Path, entries: Mapping[str, Entry]) -> None:
    """Put them in the place of what was there. Whoever cannot write there lists as well, and slower."""
    content = orjson.dumps({"format": _FORMAT, "digest": _digest(entries), "files": entries})
    with contextlib.suppress(OSError):
        make_private_folder(index.parent)
        write_atomic(index, content)


def _digest(entries: Mapping[str, Entry]) -> str:
    return content_id(orjson.dumps(entries))
