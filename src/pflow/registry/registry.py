"""Know all node types, without importing their code, and find them by name or by words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pflow.registry import cache
from pflow.registry.cache import CachedNodes, DamagedCache
from pflow.registry.entry_points import Folders
from pflow.registry.interface import Interface, build_interface
from pflow.registry.node_files import Problem

if TYPE_CHECKING:
    from pflow.node import Function


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
class Match:
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
        self._cache_problems: list[Problem] = []

    def load(self) -> Mapping[str, Interface]:
        """Return all interfaces by type. Invalid files never raise: see `problems`."""
        return self._interfaces

    def get(self, type: str) -> Interface | None:  # noqa: A002 - the name of the key in workflows
        return self._interfaces.get(type)

    def list_types(self) -> list[str]:
        return sorted(self._cached_nodes.spans)

    @property
    def problems(self) -> list[Problem]:
        """The declarations that could not be read, with reasons."""
        return [*self._cached_nodes.problems, *self._cache_problems]

    def search(self, query: str, limit: int | None = None, *, uses: Mapping[str, int] | None = None) -> list[Match]:
        """Return the matching types, best first; `uses` counts uses by type. An empty query matches all."""
        from pflow.registry.search_ranking import make_document, rank_documents  # a run searches for nothing

        used = uses or {}
        documents = [
            make_document(kind, description=description, keys=(keys,), tags=(tags,), uses=used.get(kind, 0))
            for kind, (description, keys, tags) in self._cached_nodes.get_search_texts().items()
        ]
        hits = rank_documents(query, documents, limit=limit)
        return [Match(hit.key, hit.score, hit.matched, self._interfaces) for hit in hits]

    def find_similar_types(self, type: str) -> list[str]:  # noqa: A002 - the name of the key in workflows
        """Return the types that a search for the words of `type` finds, the nearest first; none for no match."""
        return [match.type for match in self.search(type) if match.score > 0]

    def load_function(self, interface: Interface) -> "Function":
        """Import and return the function of a node type. Raise NodeNotLoaded."""
        from pflow.registry.function_loader import load_function  # only runs need it

        return load_function(interface, self.home)

    @cached_property
    def _interfaces(self) -> LazyInterfaces:
        return LazyInterfaces(self._cached_nodes)

    @cached_property
    def _cached_nodes(self) -> CachedNodes:
        try:
            cached, known = cache.secure_and_read_cache(self.home)
        except DamagedCache:
            message = "It was damaged or of another version, and has been rebuilt."
            self._cache_problems.append(Problem(cache.FILE, message, "You do not need to do anything."))
            cached, known = None, {}
        return self._discover_and_cache(known) if cached is None else cached

    def _discover_and_cache(self, known_folders: Folders) -> CachedNodes:
        from pflow.registry.discovery import discover_nodes  # only when something changed

        found = discover_nodes(self.home, known_folders)
        cached = cache.build_cached_nodes(found)
        cache.write_cache(self.home, found, cached)
        return cached
