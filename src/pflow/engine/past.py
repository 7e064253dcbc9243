"""What earlier runs of a workflow left, as the next one is given it."""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from pflow.engine.journals import Key, Result

_PLACES: Final = re.compile(r"\[\d+\]")
_KEPT: Final = 20
"""Results of one node with other fingerprints that are kept."""

IsSecret = Callable[[Any], bool]
"""Whether a secret is in a value."""


class Past(NamedTuple):
    """What runs before this one left. `lineage` is the first of them."""

    results: dict[Key, Result]
    fingerprints: dict[str, set[str]]
    uncertain: set[Key]
    lineage: str | None
    notices: list[str]
    waiting: frozenset[Key] = frozenset()
    """Questions to a person that they ended with. While one is open, nothing of it is too old."""
    run: str | None = None
    """The last of them."""

    def took(self) -> frozenset[str]:
        """The files that were taken away."""
        return frozenset(path for one in self.results.values() for path in one.took)


class Lookup:
    """The results that earlier runs left, each asked for by whoever might be given it."""

    def __init__(self, past: Past) -> None:
        self.names: set[str] = set()
        """The nodes that there are now."""
        self._results = past.results
        self._given: list[tuple[dict[str, Result], str, Result]] | None = None
        self._of_items: dict[Key, dict[str, Result]] = {}
        self._effects = {
            result.fingerprint: result
            for result in past.results.values()
            if result.effect == "effectful" and "[" not in result.node and "/" not in result.node
        }
        for result in past.results.values():
            if "[" in result.node:
                self._of_items.setdefault(without_places(result.key), {})[result.node] = result

    def earlier(self, key: Key) -> Result | None:
        """The result of an earlier run. Of a batch, that of any item that was given the same, each for one item: items
        that were added or left out move the others to other places."""
        if "[" not in key[0]:
            return self._results.get(key) or self._renamed(key)
        left = self._of_items.get(without_places(key), {})
        place = key[0] if key[0] in left else next(iter(left), "")
        return self._claimed(left, place) if place else None

    @contextmanager
    def tentatively(self) -> Generator[None]:
        """What is given to somebody meanwhile can be had by others after."""
        outer, self._given = self._given, []
        try:
            yield
        finally:
            for place, name, result in self._given:
                place[name] = result
            self._given = outer

    def _claimed(self, place: dict[str, Result], name: str) -> Result:
        result = place.pop(name)
        if self._given is not None:
            self._given.append((place, name, result))
        return result

    def _renamed(self, key: Key) -> Result | None:
        """What a node with effects gave that is no longer there, for the same: it was probably given another name."""
        result = self._effects.get(key[1])
        if result is None or result.node in self.names or "/" in key[0]:
            return None
        return self._claimed(self._effects, key[1])


def without_places(key: Key) -> Key:
    """The same for all items of a batch."""
    return _PLACES.sub("[]", key[0]), key[1]


def past_of(
    results: dict[Key, Result], uncertain: set[Key], lineage: str | None, notices: list[str] | None = None
) -> Past:
    """The past that has these results."""
    fingerprints: dict[str, set[str]] = {}
    for node, fingerprint in results:
        fingerprints.setdefault(node, set()).add(fingerprint)
    return Past(results, fingerprints, uncertain, lineage, notices or [])


def joined(one: Past, other: Past) -> Past:
    """Both: of a node that both tell of, what the other says."""
    past = past_of(one.results | other.results, one.uncertain | other.uncertain, other.lineage or one.lineage)
    return past._replace(waiting=one.waiting | other.waiting, run=other.run or one.run)


def latest_of(results: dict[Key, Result]) -> list[Result]:
    """The newest results of each node; all of those that had effects, which must not be had again."""
    counts: dict[str, int] = {}
    kept: list[Result] = []
    for result in reversed(list(results.values())):
        counts[result.node] = counts.get(result.node, 0) + 1
        if counts[result.node] <= _KEPT or result.effect == "effectful":
            kept.append(result)
    return kept[::-1]


def without_secrets(past: Past, is_secret: IsSecret) -> Past:
    """The same, in which no result has outputs that hold a secret: such a node runs again."""
    results = {
        key: one._replace(outputs=None) if one.outputs is not None and is_secret(one.values()) else one
        for key, one in past.results.items()
    }
    return past._replace(results=results)


def used_now(past: Past, used: set[Key], now: float) -> Past:
    """The same, in which what was used again is as good as new: only what nobody asks for grows too old."""
    return past._replace(
        results={key: one._replace(at=now) if key in used else one for key, one in past.results.items()}
    )
