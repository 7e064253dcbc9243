"""All node types there are, found without importing any, and looked for by name or in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pflow.registry import cache
from pflow.registry.cache import DamagedCache, Kept
from pflow.registry.entry_points import Folders
from pflow.registry.interface import Interface, checked_interface
from pflow.registry.node_files import Problem

if TYPE_CHECKING:
    from pflow.node import Function


class Interfaces(Mapping[str, Interface]):
    """The interfaces by type. Each is made when it is first asked for."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._made: dict[str, Interface] = {}

    def __getitem__(self, kind: str) -> Interface:
        if kind not in self._made:
            plain = self._kept.component(kind)
            self._made[kind] = checked_interface(plain, source=plain["source"], file=plain["file"])
        return self._made[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in self._kept.places

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept.places)

    def __len__(self) -> int:
        return len(self._kept.places)


@dataclass(frozen=True, slots=True)
class Match:
    """A node type that fits. `matched` are the words of the query that it has."""

    type: str
    score: float
    matched: tuple[str, ...]
    interfaces: Mapping[str, Interface] = field(repr=False, compare=False)

    @property
    def interface(self) -> Interface:
        return self.interfaces[self.type]


class Registry:
    """The node types of one home, as they are when they are first asked for. Made anew for each request."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._told: list[Problem] = []

    def load(self) -> Mapping[str, Interface]:
        """All interfaces by type. Never fails because of what a file holds: see `problems`."""
        return self._interfaces

    def get(self, type: str) -> Interface | None:  # noqa: A002 - what the IR calls it
        return self._interfaces.get(type)

    def types(self) -> list[str]:
        return sorted(self._kept.places)

    @property
    def problems(self) -> list[Problem]:
        """What could not be read, and why."""
        return [*self._kept.problems, *self._told]

    def search(self, query: str, limit: int | None = None, *, uses: Mapping[str, int] | None = None) -> list[Match]:
        """The types that fit, best first; `uses` says how often each was used. All types for an empty query."""
        from pflow.registry.search import document, ranked  # a run searches for nothing

        used = uses or {}
        documents = [
            document(kind, description=description, keys=(keys,), tags=(tags,), uses=used.get(kind, 0))
            for kind, (description, keys, tags) in self._kept.searched().items()
        ]
        hits = ranked(query, documents, limit=limit)
        return [Match(hit.key, hit.score, hit.matched, self._interfaces) for hit in hits]

    def similar(self, type: str) -> list[str]:  # noqa: A002 - what the IR calls it
        """Return the types that a search for the words of `type` finds, the nearest first; none for no match."""
        return [match.type for match in self.search(type) if match.score > 0]

    def function(self, interface: Interface) -> "Function":
        """The function of a node type, whose module is imported now. Raises NodeFailed if it cannot be."""
        from pflow.registry.loader import function_of  # only runs need it

        return function_of(interface, self.home)

    @cached_property
    def _interfaces(self) -> Interfaces:
        return Interfaces(self._kept)

    @cached_property
    def _kept(self) -> Kept:
        try:
            kept, known = cache.read(self.home)
        except DamagedCache:
            told = "It was damaged or of another version, and has been made anew."
            self._told.append(Problem(cache.FILE, told, "Nothing need be done."))
            kept, known = None, {}
        return self._looked(known) if kept is None else kept

    def _looked(self, known: Folders) -> Kept:
        from pflow.registry.discovery import discover  # only when something changed

        found = discover(self.home, known)
        kept = cache.kept_from(found)
        cache.write(self.home, found, kept)
        return kept
