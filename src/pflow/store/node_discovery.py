"""Discover nodes: built in, user-defined, of packages and MCP servers. Cache them in a file for the next process.

Only declarations are read. No module of a node is imported, and unreadable declarations are reported and skipped.

The first line of the cache is a checksum of the others. The second has the stamps on which the cache depends; then each
line is a component, and the last has the texts for searches. Components are located by their span and parsed on demand:
most runs need few.
"""

import contextlib
import os
import re
import zlib
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from pflow.domain.node_interface import NodeDeclaration, Source, StoredDeclaration, require_valid_declaration
from pflow.store.node_files import (
    Folders,
    NodeFileProblem,
    NodeFileReader,
    Stamp,
    are_files_unchanged,
    describe_error_without_path,
    find_interface_file,
    list_offers,
    make_path_stamp,
    scan_import_path,
)
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.store.files import make_private, make_private_folder, open_private

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject


BUILT_IN: Final = Path(__file__).parents[1] / "nodes"
OWN_FOLDER: Final = "nodes"
TOOLS_FILE: Final = "mcp-tools.json"
OWN_RUN: Final = re.compile(r"(\w[\w.-]*\.py):([A-Za-z_]\w*)")
_RUN: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_SEARCHED: Final = 2_000
_SYNC: Final = "Write it again: pflow mcp sync"


@dataclass(frozen=True, slots=True)
class Component:
    """A declared node: its interface as JSON, its source, and the texts for searches."""

    line: bytes
    about: tuple[str, str, str]
    where: str


@dataclass(frozen=True, slots=True)
class DiscoveredNodes:
    """All components by type, and the stamps on which they depend."""

    components: dict[str, Component]
    problems: list[NodeFileProblem]
    stamps: dict[str, Stamp]
    folders: Folders


def discover_nodes(home: Path, known_folders: Folders | None = None) -> DiscoveredNodes:
    """Return all nodes. `known_folders` are those of the import path from an earlier discovery."""
    discovery = _Discovery(home)
    discovery.add_built_in_nodes()
    discovery.add_user_nodes()
    folders = discovery.add_installed_nodes(known_folders or {})
    discovery.add_mcp_tools()
    return DiscoveredNodes(discovery.components, discovery.reader.problems, discovery.reader.stamps, folders)


def digest_source(source: bytes) -> str:
    """Return a digest of a user's node file."""
    from uraniborg.kernel.ids import content_id  # few users define nodes

    return content_id(source)[:16]


class _Discovery:
    """One discovery. The first declaration of a type wins, so built-in nodes cannot be replaced."""

    def __init__(self, home: Path) -> None:
        self.reader = NodeFileReader()
        self.components: dict[str, Component] = {}
        self._home = home
        self._user_folder = home / OWN_FOLDER
        self._digests: dict[str, str] = {}

    def add_built_in_nodes(self) -> None:
        for name in self.reader.list_json_files_and_stamp(BUILT_IN):
            where = f"pflow/nodes/{name}"
            for plain in self._read_declarations(f"{BUILT_IN}/{name}", where):
                self._check_and_add_node(plain, "builtin", where)

    def add_user_nodes(self) -> None:
        for name in self.reader.list_json_files_and_stamp(self._user_folder):
            where = f"{OWN_FOLDER}/{name}"
            for plain in self._read_declarations(f"{self._user_folder}/{name}", where):
                self._check_and_add_node(plain, "user", where, file=where)

    def add_installed_nodes(self, known_folders: Folders) -> Folders:
        folders = scan_import_path(known_folders)
        for distribution, name, module in list_offers(folders):
            where = f"entry point {name} of {distribution}"
            path = find_interface_file(module)
            if path is None or not path.is_file():
                self.reader.add_problem(
                    where, f"There is no JSON file beside the module {module}.", "Install it again."
                )
            # A missing package cannot be watched: this stamp never matches, so the next process discovers again.
            if path is None:
                self.reader.stamps[f"module {module}"] = []
            else:
                for plain in self._read_declarations(str(path), where):
                    self._check_and_add_node(plain, "entry-point", where)
        return folders

    def add_mcp_tools(self) -> None:
        plain = self.reader.read_json_and_stamp(f"{self._home}/{TOOLS_FILE}", TOOLS_FILE)
        if plain is not None and not isinstance(_get_mapping_or_empty(plain).get("servers"), dict):
            self.reader.add_problem(TOOLS_FILE, "It does not have an object `servers`.", _SYNC)
        for server, listed in _get_mapping_or_empty(_get_mapping_or_empty(plain).get("servers")).items():
            for node in _get_list_or_empty(_get_mapping_or_empty(listed).get("nodes")):
                self._check_and_add_node(
                    node, "mcp", TOOLS_FILE, file=f"{server}/{_get_mapping_or_empty(node).get('tool', '')}"
                )

    def _read_declarations(self, path: str, where: str) -> "list[Json]":
        plain = self.reader.read_json_and_stamp(path, where)
        nodes = _get_mapping_or_empty(plain).get("nodes")
        if plain is not None and not isinstance(nodes, list):
            self.reader.add_problem(where, "It does not have a list `nodes`.")
        return _get_list_or_empty(nodes)

    def _check_and_add_node(self, plain: "Json", source: Source, where: str, *, file: str = "") -> None:
        given = _get_mapping_or_empty(plain)
        try:
            declared = require_valid_declaration(given)
            if source == "user":
                declared["version"] = self._make_user_version(declared)
            else:
                _require_function_path(declared["run"])
        except (ValueError, OSError, RecursionError, UraniborgError) as error:
            kind = given.get("type")
            name = f"The node '{kind}'" if isinstance(kind, str) and kind else "A node"
            self.reader.add_problem(where, f"{name} cannot be used: {describe_error_without_path(error)}.")
            return
        self._add_component_unless_declared(declared, source, where, file)

    def _add_component_unless_declared(self, plain: NodeDeclaration, source: Source, where: str, file: str) -> None:
        kind = plain["type"]
        if first := self.components.get(kind):
            problem = f"The type '{kind}' is already declared by {first.where}; this declaration is skipped."
            self.reader.add_problem(where, problem, "Give it another type.")
            return
        try:
            line = orjson.dumps({**plain, "source": source, "file": file})
        except TypeError:
            self.reader.add_problem(where, f"The node '{kind}' is nested too deep.")
            return
        keys = " ".join((*plain.get("params", ()), *plain.get("outputs", ())))
        about = (plain["description"][:_SEARCHED], keys[:_SEARCHED], " ".join(plain.get("tags", ()))[:_SEARCHED])
        self.components[kind] = Component(line, about, where)

    def _make_user_version(self, plain: NodeDeclaration) -> str:
        """Return the declared version with a digest of the code, so that edited code is a new version."""
        run = OWN_RUN.fullmatch(plain["run"])
        if run is None:
            raise ValueError("`run` must be `file.py:function`, with the file in the same folder")
        name = run[1]
        if name not in self._digests:
            path = f"{self._user_folder}/{name}"
            if os.path.islink(path):
                from uraniborg.kernel.store.files import confine_path

                confine_path(self._user_folder, name)
            source = self.reader.read_bytes_and_stamp(path)
            if source is None:
                raise ValueError(f"there is no file {name} in the same folder")
            self._digests[name] = digest_source(source)
        return f"{plain.get('version', '1')}+{self._digests[name]}"


def _require_function_path(run: str) -> None:
    if not _RUN.fullmatch(run):
        raise ValueError("`run` must be `package.module:function`")


def _get_mapping_or_empty(value: "Json") -> "JsonObject":
    return value if isinstance(value, dict) else {}


def _get_list_or_empty(value: "Json") -> "list[Json]":
    return value if isinstance(value, list) else []


FILE: Final = "cache/registry.json"
_FORMAT: Final = "pflow registry 1"
"""Increase the number when the format of the lines changes."""
_CODE: Final = [
    str(Path(__file__).parents[1] / name)
    for name in ("store/node_discovery.py", "store/node_files.py", "domain/node_interface.py")
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
    problems: list[NodeFileProblem]

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
    problems = [NodeFileProblem(**problem) for problem in head["problems"]]
    return CachedNodes(view[second + 1 :], spans, head["about"], problems), now


def _make_code_stamps() -> dict[str, Stamp]:
    return {path: make_path_stamp(path) for path in _CODE}
