"""Finds all nodes there are: built in, the user's own, of installed packages, and tools of MCP servers.

Only declarations are read. No module of a node is imported, and what cannot be read is told and left out.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import orjson

from pflow.registry.entry_points import Folders, interface_file, offering_folders, offers
from pflow.registry.interface import Source, check_interface
from pflow.registry.node_files import Problem, Reading, Stamp, why
from uraniborg.kernel.errors import UraniborgError

BUILT_IN: Final = Path(__file__).parents[1] / "nodes"
OWN_FOLDER: Final = "nodes"
TOOLS_FILE: Final = "mcp-tools.json"
OWN_RUN: Final = re.compile(r"(\w[\w.-]*\.py):([A-Za-z_]\w*)")
_RUN: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_SEARCHED: Final = 2_000
_SYNC: Final = "Have it written again: pflow mcp sync"


@dataclass(frozen=True, slots=True)
class Component:
    """A declared node: its interface in JSON, with where it comes from, and what searches look at beside its type."""

    line: bytes
    about: tuple[str, str, str]
    where: str


@dataclass(frozen=True, slots=True)
class Found:
    """All components by type, and all that they follow from."""

    components: dict[str, Component]
    problems: list[Problem]
    stamps: dict[str, Stamp]
    folders: Folders


def discover(home: Path, known: Folders | None = None) -> Found:
    """Everything there is. `known` is what an earlier look found in the folders of the import path."""
    look = _Look(home)
    look.built_in()
    look.own()
    folders = look.installed(known or {})
    look.tools()
    return Found(look.components, look.reading.problems, look.reading.stamps, folders)


def source_digest(source: bytes) -> str:
    """What tells one text of a user's node file from another."""
    from uraniborg.kernel.ids import content_id  # few have nodes of their own

    return content_id(source)[:16]


class _Look:
    """One look around. What is declared first has the type: built-in nodes cannot be replaced by others."""

    def __init__(self, home: Path) -> None:
        self.reading = Reading()
        self.components: dict[str, Component] = {}
        self._home = home
        self._own = home / OWN_FOLDER
        self._digests: dict[str, str] = {}

    def built_in(self) -> None:
        for name in self.reading.listed(BUILT_IN):
            where = f"pflow/nodes/{name}"
            for plain in self._declared(f"{BUILT_IN}/{name}", where):
                self._add(plain, "builtin", where)

    def own(self) -> None:
        for name in self.reading.listed(self._own):
            where = f"{OWN_FOLDER}/{name}"
            for plain in self._declared(f"{self._own}/{name}", where):
                self._add(plain, "user", where, file=where)

    def installed(self, known: Folders) -> Folders:
        folders = offering_folders(known)
        for distribution, name, module in offers(folders):
            where = f"entry point {name} of {distribution}"
            path = interface_file(module)
            if path is None or not path.is_file():
                self.reading.tell(where, f"There is no JSON file beside the module {module}.", "Install it again.")
            # A package that is not there cannot be watched either: with this stamp the next look is a new one.
            if path is None:
                self.reading.stamps[f"module {module}"] = []
            else:
                for plain in self._declared(str(path), where):
                    self._add(plain, "entry-point", where)
        return folders

    def tools(self) -> None:
        plain = self.reading.json(f"{self._home}/{TOOLS_FILE}", TOOLS_FILE)
        if plain is not None and not isinstance(_mapping(plain).get("servers"), dict):
            self.reading.tell(TOOLS_FILE, "It holds no `servers`.", _SYNC)
        for server, listed in _mapping(_mapping(plain).get("servers")).items():
            for node in _items(_mapping(listed).get("nodes")):
                self._add(node, "mcp", TOOLS_FILE, file=f"{server}/{_mapping(node).get('tool', '')}")

    def _declared(self, path: str, where: str) -> list[Any]:
        plain = self.reading.json(path, where)
        nodes = _mapping(plain).get("nodes")
        if plain is not None and not isinstance(nodes, list):
            self.reading.tell(where, "It holds no list `nodes`.")
        return _items(nodes)

    def _add(self, plain: Any, source: Source, where: str, *, file: str = "") -> None:
        declared = _mapping(plain)
        try:
            check_interface(declared)
            if source == "user":
                declared = {**declared, "version": self._own_version(declared)}
            else:
                _check_run(declared["run"])
        except (ValueError, OSError, RecursionError, UraniborgError) as wrong:
            told = declared.get("type")
            name = f"The node '{told}'" if isinstance(told, str) and told else "A node"
            self.reading.tell(where, f"{name} cannot be used: {why(wrong)}.")
            return
        self._keep(declared, source, where, file)

    def _keep(self, plain: dict[str, Any], source: Source, where: str, file: str) -> None:
        kind = plain["type"]
        if first := self.components.get(kind):
            told = f"The type '{kind}' is taken by {first.where}; this one is left out."
            self.reading.tell(where, told, "Give it another type.")
            return
        try:
            line = orjson.dumps({**plain, "source": source, "file": file})
        except TypeError:
            self.reading.tell(where, f"The node '{kind}' is nested too deep.")
            return
        keys = " ".join((*plain.get("params", ()), *plain.get("outputs", ())))
        about = (plain["description"][:_SEARCHED], keys[:_SEARCHED], " ".join(plain.get("tags", ()))[:_SEARCHED])
        self.components[kind] = Component(line, about, where)

    def _own_version(self, plain: Mapping[str, Any]) -> str:
        """What is declared and a digest of the code: whoever edits it has another node."""
        run = OWN_RUN.fullmatch(plain["run"])
        if run is None:
            raise ValueError("`run` must be `file.py:function`, of a file beside it")
        name = run[1]
        if name not in self._digests:
            path = f"{self._own}/{name}"
            if os.path.islink(path):
                from uraniborg.kernel.files import confine

                confine(self._own, name)
            source = self.reading.bytes(path)
            if source is None:
                raise ValueError(f"there is no file {name} beside it")
            self._digests[name] = source_digest(source)
        return f"{plain.get('version', '1')}+{self._digests[name]}"


def _check_run(run: str) -> None:
    if not _RUN.fullmatch(run):
        raise ValueError("`run` must be `package.module:function`")


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
