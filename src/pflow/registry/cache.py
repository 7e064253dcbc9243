"""Keeps what was discovered in a file, so that the next process need not look again.

The first line says what the rest follows from; each further line is a component, and the last has the texts that
searches look at. Components are found by their place and parsed when they are asked for: most runs need few.
"""

import contextlib
import os
import zlib
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from pflow.registry.installed import Folders, offering_folders, offers
from pflow.registry.problems import Problem
from pflow.registry.stamps import Stamp, stamp_of, unchanged

if TYPE_CHECKING:
    from pflow.registry.discovery import Found

FILE: Final = "cache/registry.json"
_FORMAT: Final = "pflow registry 1"
_CODE: Final = [
    str(Path(__file__).with_name(f"{name}.py")) for name in ("discovery", "installed", "interface", "reading", "search")
]
"""What is kept follows from this code too."""


class DamagedCache(Exception):
    """What is in the file was not written by us, or not all of it is there."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What was discovered, as lines: `places` says from where to where in `data` a type is declared."""

    data: bytes
    places: dict[str, tuple[int, int]]
    texts: tuple[int, int]
    problems: list[Problem]

    def component(self, kind: str) -> dict[str, Any]:
        start, end = self.places[kind]
        return orjson.loads(self.data[start:end])

    def searched(self) -> dict[str, str]:
        """The text of each type that searches look at."""
        start, end = self.texts
        return dict(zip(self.places, orjson.loads(self.data[start:end]), strict=True))


def kept_from(found: "Found") -> Kept:
    lines = [component.line for component in found.components.values()]
    texts = orjson.dumps([component.text for component in found.components.values()])
    ends = list(accumulate(len(line) + 1 for line in lines))
    places = {
        kind: (end - len(line) - 1, end - 1) for kind, line, end in zip(found.components, lines, ends, strict=True)
    }
    start = ends[-1] if ends else 0
    return Kept(b"\n".join([*lines, texts]), places, (start, start + len(texts)), found.problems)


def read(home: Path) -> tuple[Kept | None, Folders]:
    """What is kept, if it still holds, and what is known of the import path. Raises DamagedCache."""
    try:
        data = (home / FILE).read_bytes()
    except OSError:
        return None, {}
    try:
        return _opened(data)
    except (ValueError, TypeError, KeyError, AttributeError) as wrong:
        raise DamagedCache from wrong


def write(home: Path, found: "Found", kept: Kept) -> None:
    """Keep it if the home can be written to. It is not forced to the disk: damage is found by the checksum."""
    head = {
        "format": _FORMAT,
        "checksum": zlib.crc32(kept.data),
        "code": _code(),
        "stamps": found.stamps,
        "folders": found.folders,
        "problems": [problem.plain() for problem in found.problems],
        "types": list(kept.places),
        "places": list(kept.places.values()),
        "texts": kept.texts,
    }
    path = home / FILE
    temporary = path.with_name(f".{os.urandom(8).hex()}.tmp")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(orjson.dumps(head) + b"\n" + kept.data)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def forget(home: Path) -> None:
    """Have the next process look again: something changed that no stamp told of."""
    with contextlib.suppress(OSError):
        (home / FILE).unlink(missing_ok=True)


def _opened(data: bytes) -> tuple[Kept | None, Folders]:
    first, _, rest = data.partition(b"\n")
    head = orjson.loads(first)
    if head["format"] != _FORMAT or head["checksum"] != zlib.crc32(rest):
        raise ValueError("another format, or damaged")
    folders: Folders = {folder: (stamp, found) for folder, (stamp, found) in head["folders"].items()}
    now = offering_folders(folders)
    if head["code"] != _code() or not unchanged(head["stamps"]) or offers(now) != offers(folders):
        return None, now
    places = dict(zip(head["types"], head["places"], strict=True))
    problems = [Problem(**problem) for problem in head["problems"]]
    return Kept(rest, places, head["texts"], problems), now


def _code() -> list[Stamp]:
    return [stamp_of(path) for path in _CODE]
