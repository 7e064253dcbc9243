"""Walks through parents and children. Each of them ends, whatever circles it is led into."""

from collections.abc import Mapping
from typing import Any, Final, Literal

MAX_DEPTH: Final = 1_000
"""How deep a command may put a body or group, counted on the way up from it."""

Link = Literal["parentId", "parentGroupId"]
Entities = Mapping[str, Mapping[str, Any]]
Reason = Literal["cycle", "tooDeep"]


def find_hierarchy_problem(child: str, parent: str, entities: Entities, link: Link) -> Reason | None:
    """Return the reason why `child` cannot be put below `parent`, if any. The walk ends at an id that is not there."""
    above: str | None = parent
    for _ in range(MAX_DEPTH):
        if above == child:
            return "cycle"
        entity = entities.get(above) if above else None
        if entity is None:
            return None
        above = entity.get(link)
    # A way up that never ends only a state from elsewhere can have; nothing new closes it then.
    line = list_ancestors(parent, entities, link)
    if child in line:
        return "cycle"
    return None if entities[next(reversed(line))].get(link) in line else "tooDeep"


def list_ancestors(start: str | None, entities: Entities, link: Link) -> dict[str, None]:
    """`start` and everything above it that is there, each once, upward."""
    line: dict[str, None] = {}
    above = start
    while above and above in entities and above not in line:
        line[above] = None
        above = entities[above].get(link)
    return line


def find_cycle(entities: Entities, link: str) -> str | None:
    """The first entity found to be its own ancestor."""
    ends: set[str] = set()
    for start in entities:
        chain: dict[str, None] = {}
        current: str | None = start
        while current and current in entities and current not in ends:
            if current in chain:
                return current
            chain[current] = None
            current = entities[current].get(link)
        ends.update(chain)
    return None


def list_descendants(root: str, stars: Entities) -> list[str]:
    """`root` and everything listed below it, parents first; what is listed but not there is listed here too.

    What is listed twice is listed twice here, but its own children only once.
    """
    found: list[str] = []
    visited: set[str] = set()
    waiting = [root]
    while waiting:
        key = waiting.pop()
        found.append(key)
        if key in visited:
            continue
        visited.add(key)
        waiting.extend(reversed(stars[key]["children"] if key in stars else ()))
    return found
