"""Know all node types without importing their code, and import a function when its node first runs."""

import importlib
import importlib.util
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Final, cast

from pflow.domain.node import Function
from pflow.domain.node_interface import Interface, build_interface
from pflow.errors import NodeChanged, NodeNotLoaded
from pflow.store import node_discovery
from pflow.store.node_discovery import OWN_FOLDER, OWN_RUN, CachedNodes, DamagedCache, delete_cache, digest_source
from pflow.store.node_files import Folders, NodeFileProblem
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.store.files import confine_path


class LazyInterfaces(Mapping[str, Interface]):
    """The interfaces by type. Each is created at its first use."""

    def __init__(self, cached: CachedNodes) -> None:
        self._cached_nodes = cached
        self._built: dict[str, Interface] = {}

    def __getitem__(self, kind: str) -> Interface:
        if kind not in self._built:
            plain = self._cached_nodes.parse_component(kind)
            self._built[kind] = build_interface(plain, source=plain["source"], file=plain["file"])
        return self._built[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in self._cached_nodes.spans

    def __iter__(self) -> Iterator[str]:
        return iter(self._cached_nodes.spans)

    def __len__(self) -> int:
        return len(self._cached_nodes.spans)


@dataclass(frozen=True, slots=True)
class NodeMatch:
    """A node type that matches a query. `matched` are the words of the query that it contains."""

    type: str
    score: float
    matched: tuple[str, ...]
    interfaces: Mapping[str, Interface] = field(repr=False, compare=False)

    @property
    def interface(self) -> Interface:
        return self.interfaces[self.type]


class Registry:
    """The node types of one home, as of the first access. Each request creates a new registry."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._cache_problems: list[NodeFileProblem] = []

    def load(self) -> Mapping[str, Interface]:
        """Return all interfaces by type. Invalid files never raise: see `problems`."""
        return self._interfaces

    def get(self, type: str) -> Interface | None:  # noqa: A002 - the name of the key in workflows
        return self._interfaces.get(type)

    def list_types(self) -> list[str]:
        return sorted(self._cached_nodes.spans)

    @property
    def problems(self) -> list[NodeFileProblem]:
        """The declarations that could not be read, with reasons."""
        return [*self._cached_nodes.problems, *self._cache_problems]

    def search(self, query: str, limit: int | None = None, *, uses: Mapping[str, int] | None = None) -> list[NodeMatch]:
        """Return the matching types, best first; `uses` counts uses by type. An empty query matches all."""
        from pflow.domain.search_ranking import make_document, rank_documents  # a run searches for nothing

        used = uses or {}
        documents = [
            make_document(kind, description=description, keys=(keys,), tags=(tags,), uses=used.get(kind, 0))
            for kind, (description, keys, tags) in self._cached_nodes.get_search_texts().items()
        ]
        hits = rank_documents(query, documents, limit=limit)
        return [NodeMatch(hit.key, hit.score, hit.matched, self._interfaces) for hit in hits]

    def find_similar_types(self, type: str) -> list[str]:  # noqa: A002 - the name of the key in workflows
        """Return the types that a search for the words of `type` finds, the nearest first; none for no match."""
        return [match.type for match in self.search(type) if match.score > 0]

    def load_function(self, interface: Interface) -> "Function":
        """Import and return the function of a node type. Raise NodeNotLoaded."""
        return load_function(interface, self.home)

    @cached_property
    def _interfaces(self) -> LazyInterfaces:
        return LazyInterfaces(self._cached_nodes)

    @cached_property
    def _cached_nodes(self) -> CachedNodes:
        try:
            cached, known = node_discovery.secure_and_read_cache(self.home)
        except DamagedCache:
            message = "It was damaged or of another version, and has been rebuilt."
            self._cache_problems.append(
                NodeFileProblem(node_discovery.FILE, message, "You do not need to do anything.")
            )
            cached, known = None, {}
        return self._discover_and_cache(known) if cached is None else cached

    def _discover_and_cache(self, known_folders: Folders) -> CachedNodes:
        from pflow.store.node_discovery import discover_nodes  # only when something changed

        found = discover_nodes(self.home, known_folders)
        cached = node_discovery.build_cached_nodes(found)
        node_discovery.write_cache(self.home, found, cached)
        return cached


_load_lock: Final = threading.RLock()


def load_function(interface: Interface, home: Path) -> Function:
    """Return the function of the interface. Raise NodeNotLoaded with the reason."""
    module, _, name = interface.run.partition(":")
    try:
        found = _load_user_module(interface, home) if interface.source == "user" else importlib.import_module(module)
    except UraniborgError:
        raise
    except (Exception, SystemExit) as error:
        raise NodeNotLoaded(
            f"The code of the node type '{interface.type}' cannot be loaded: {type(error).__name__}: {error}",
            hint=f"Check {module}, or install its dependencies.",
            node_type=interface.type,
        ) from error
    function = getattr(found, name, None)
    if not callable(function):
        raise NodeNotLoaded(
            f"The node type '{interface.type}' names a function {name}, which {module} does not have.",
            hint="Correct `run` in the file that declares it.",
            node_type=interface.type,
        )
    return cast("Function", function)


def _load_user_module(interface: Interface, home: Path) -> ModuleType:
    """Return the module of a user's node. Raise NodeChanged if the file was edited after the interface was read."""
    run = OWN_RUN.fullmatch(interface.run)
    if run is None:
        raise ValueError("`run` must be `file.py:function`")
    path = confine_path(home / OWN_FOLDER, run[1])
    source = path.read_bytes()
    digest = digest_source(source)
    if not interface.version.endswith(f"+{digest}"):
        delete_cache(home)
        raise NodeChanged(
            f"{run[1]} changed after the nodes were discovered.",
            hint="Run the workflow again to use the new code.",
            node_type=interface.type,
        )
    name = f"pflow_own_nodes.{path.stem.replace('.', '_')}_{digest}"
    with _load_lock:
        return sys.modules.get(name) or _execute_module(name, path, source)


def _execute_module(name: str, path: Path, source: bytes) -> ModuleType:
    # Not by the loader itself, which trusts compiled files by the second.
    loader = SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        exec(loader.source_to_code(source, str(path)), module.__dict__)  # noqa: S102 - the user's own node
    except BaseException:
        del sys.modules[name]
        raise
    return module
