"""Keeps what was discovered in a file, so that the next process need not look again.

The first line is a checksum of the others. The second says what the rest follows from; then each line is a component,
and the last has what searches look at. Components are found by their place and parsed when they are asked for: most
runs need few.
"""

import contextlib
import os
import zlib
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from pflow.registry.entry_points import Folders, offering_folders, offers
from pflow.registry.node_files import Problem, Stamp, stamp_of, unchanged
from uraniborg.kernel.files import make_private, make_private_folder, open_private

if TYPE_CHECKING:
    from pflow.registry.discovery import Found

FILE: Final = "cache/registry.json"
_FORMAT: Final = "pflow registry 1"
"""To be counted up when what the lines hold changes its shape."""
_CODE: Final = [
    str(Path(__file__).with_name(f"{name}.py")) for name in ("discovery", "entry_points", "interface", "node_files")
]
"""What is kept follows from this code too."""


class DamagedCache(Exception):
    """What is in the file was not written by us, or not all of it is there."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What was discovered, as lines: `places` says from where to where in `data` a type is declared."""

    data: bytes | memoryview
    places: dict[str, tuple[int, int]]
    about: tuple[int, int]
    problems: list[Problem]

    def component(self, kind: str) -> dict[str, Any]:
        start, end = self.places[kind]
        return orjson.loads(self.data[start:end])

    def searched(self) -> dict[str, tuple[str, str, str]]:
        """Description, parameters and outputs, and tags of each type."""
        start, end = self.about
        return dict(zip(self.places, orjson.loads(self.data[start:end]), strict=True))


def kept_from(found: "Found") -> Kept:
    lines = [component.line for component in found.components.values()]
    about = orjson.dumps([component.about for component in found.components.values()])
    ends = list(accumulate(len(line) + 1 for line in lines))
    places = {
        kind: (end - len(line) - 1, end - 1) for kind, line, end in zip(found.components, lines, ends, strict=True)
    }
    start = ends[-1] if ends else 0
    return Kept(b"\n".join([*lines, about]), places, (start, start + len(about)), found.problems)


def read(home: Path) -> tuple[Kept | None, Folders]:
    """What is kept, if it still holds, and what is known of the import path. Raises DamagedCache."""
    for path in ((home / FILE).parent, home / FILE):
        make_private(path)
    try:
        data = (home / FILE).read_bytes()
    except OSError:
        return None, {}
    try:
        return _opened(data, home)
    except (ValueError, TypeError, KeyError, AttributeError) as wrong:
        raise DamagedCache from wrong


def write(home: Path, found: "Found", kept: Kept) -> None:
    """Keep it if the home can be written to. It is not forced to the disk: damage is found by the checksum."""
    head = {
        "home": os.path.abspath(home),
        "code": _code(),
        "stamps": found.stamps,
        "folders": found.folders,
        "problems": [problem.plain() for problem in found.problems],
        "types": list(kept.places),
        "places": list(kept.places.values()),
        "about": kept.about,
    }
    path = home / FILE
    temporary = path.with_name(f".{os.urandom(8).hex()}.tmp")
    # A folder whose name is no text cannot be written down either.
    with contextlib.suppress(OSError, TypeError):
        make_private_folder(path.parent)
        try:
            body = b"\n".join([orjson.dumps(head), kept.data])
            with open(open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as stream:
                stream.write(_mark(body) + b"\n" + body)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def forget(home: Path) -> None:
    """Have the next process look again: something changed that no stamp told of."""
    with contextlib.suppress(OSError):
        (home / FILE).unlink(missing_ok=True)


def _mark(body: bytes | memoryview) -> bytes:
    return f"{_FORMAT} {zlib.crc32(body):08x}".encode()


def _opened(data: bytes, home: Path) -> tuple[Kept | None, Folders]:
    view = memoryview(data)
    first = data.index(b"\n")
    second = data.index(b"\n", first + 1)
    if data[:first] != _mark(view[first + 1 :]):
        raise ValueError("another format, or damaged")
    head = orjson.loads(view[first + 1 : second])
    folders: Folders = {folder: (stamp, found) for folder, (stamp, found) in head["folders"].items()}
    now = offering_folders(folders)
    is_ours = head["home"] == os.path.abspath(home) and head["code"] == _code()
    if not is_ours or not unchanged(head["stamps"]) or offers(now) != offers(folders):
        return None, now
    places = dict(zip(head["types"], head["places"], strict=True))
    problems = [Problem(**problem) for problem in head["problems"]]
    return Kept(view[second + 1 :], places, head["about"], problems), now


def _code() -> dict[str, Stamp]:
    return {path: stamp_of(path) for path in _CODE}
