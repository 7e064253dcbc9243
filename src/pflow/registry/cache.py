"""Cache discovered nodes in a file, so that the next process does not discover them again.

The first line is a checksum of the others. The second has the stamps on which the cache depends; then each line is a
component, and the last has the texts for searches. Components are located by their span and parsed on demand: most runs
need few.
"""

import contextlib
import os
import zlib
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from pflow.registry.entry_points import Folders, list_offers, scan_import_path
from pflow.registry.interface import StoredDeclaration
from pflow.registry.node_files import Problem, Stamp, are_files_unchanged, make_path_stamp
from uraniborg.kernel.files import make_private, make_private_folder, open_private

if TYPE_CHECKING:
    from pflow.registry.discovery import DiscoveredNodes

FILE: Final = "cache/registry.json"
_FORMAT: Final = "pflow registry 1"
"""Increase the number when the format of the lines changes."""
_CODE: Final = [
    str(Path(__file__).with_name(f"{name}.py")) for name in ("discovery", "entry_points", "interface", "node_files")
]
"""The modules on which the content of the cache depends."""


class DamagedCache(Exception):
    """The file was not written by pflow, or is incomplete."""


@dataclass(frozen=True, slots=True)
class CachedNodes:
    """Discovered nodes as lines of JSON: `spans` has the start and end of each type in `data`."""

    data: bytes | memoryview
    spans: dict[str, tuple[int, int]]
    search_span: tuple[int, int]
    problems: list[Problem]

    def parse_component(self, node_type: str) -> StoredDeclaration:
        start, end = self.spans[node_type]
        return orjson.loads(self.data[start:end])

    def get_search_texts(self) -> dict[str, tuple[str, str, str]]:
        """Return the description, the parameters and outputs, and the tags of each type."""
        start, end = self.search_span
        return dict(zip(self.spans, orjson.loads(self.data[start:end]), strict=True))


def build_cached_nodes(discovered: "DiscoveredNodes") -> CachedNodes:
    lines = [component.line for component in discovered.components.values()]
    about = orjson.dumps([component.about for component in discovered.components.values()])
    ends = list(accumulate(len(line) + 1 for line in lines))
    spans = {
        kind: (end - len(line) - 1, end - 1) for kind, line, end in zip(discovered.components, lines, ends, strict=True)
    }
    start = ends[-1] if ends else 0
    return CachedNodes(b"\n".join([*lines, about]), spans, (start, start + len(about)), discovered.problems)


def secure_and_read_cache(home: Path) -> tuple[CachedNodes | None, Folders]:
    """Make the cache private to the user, and read it. Raise DamagedCache.

    Return the nodes, None if outdated or missing, and the known folders of the import path.
    """
    for path in ((home / FILE).parent, home / FILE):
        make_private(path)
    try:
        data = (home / FILE).read_bytes()
    except OSError:
        return None, {}
    try:
        return _parse_cache(data, home)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedCache from error


def write_cache(home: Path, discovered: "DiscoveredNodes", cached: CachedNodes) -> None:
    """Write the cache if the home is writable. It is not synced to the disk: the checksum detects damage."""
    head = {
        "home": os.path.abspath(home),
        "code": _make_code_stamps(),
        "stamps": discovered.stamps,
        "folders": discovered.folders,
        "problems": [problem.to_dict() for problem in discovered.problems],
        "types": list(cached.spans),
        "places": list(cached.spans.values()),
        "about": cached.search_span,
    }
    path = home / FILE
    temporary = path.with_name(f".{os.urandom(8).hex()}.tmp")
    # A folder name that is not valid text cannot be stored either.
    with contextlib.suppress(OSError, TypeError):
        make_private_folder(path.parent)
        try:
            body = b"\n".join([orjson.dumps(head), cached.data])
            with open(open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as stream:
                stream.write(_make_checksum_line(body) + b"\n" + body)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def delete_cache(home: Path) -> None:
    """Delete the cache, after a change that no stamp detects."""
    with contextlib.suppress(OSError):
        (home / FILE).unlink(missing_ok=True)


def _make_checksum_line(body: bytes | memoryview) -> bytes:
    return f"{_FORMAT} {zlib.crc32(body):08x}".encode()


def _parse_cache(data: bytes, home: Path) -> tuple[CachedNodes | None, Folders]:
    view = memoryview(data)
    first = data.index(b"\n")
    second = data.index(b"\n", first + 1)
    if data[:first] != _make_checksum_line(view[first + 1 :]):
        raise ValueError("another format, or damaged")
    head = orjson.loads(view[first + 1 : second])
    folders: Folders = {folder: (stamp, offers) for folder, (stamp, offers) in head["folders"].items()}
    now = scan_import_path(folders)
    is_ours = head["home"] == os.path.abspath(home) and head["code"] == _make_code_stamps()
    if not is_ours or not are_files_unchanged(head["stamps"]) or list_offers(now) != list_offers(folders):
        return None, now
    spans = dict(zip(head["types"], head["places"], strict=True))
    problems = [Problem(**problem) for problem in head["problems"]]
    return CachedNodes(view[second + 1 :], spans, head["about"], problems), now


def _make_code_stamps() -> dict[str, Stamp]:
    return {path: make_path_stamp(path) for path in _CODE}
