"""Discover all nodes: built in, user-defined, of installed packages, and tools of MCP servers.

Only declarations are read. No module of a node is imported, and unreadable declarations are reported and skipped.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from pflow.registry.entry_points import Folders, find_interface_file, list_offers, scan_import_path
from pflow.registry.interface import NodeDeclaration, Source, require_valid_declaration
from pflow.registry.node_files import NodeFileReader, Problem, Stamp, describe_error_without_path
from uraniborg.kernel.errors import UraniborgError

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
    problems: list[Problem]
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
                from uraniborg.kernel.files import confine_path

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
