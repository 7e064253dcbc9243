"""Walk through parents and children of bodies and groups. Each walk ends, also in a cycle."""

from collections.abc import Mapping
from typing import Any, Final, Literal

MAX_DEPTH: Final = 1_000
"""The most ancestors that a command may give a body or group."""

Link = Literal["parentId", "parentGroupId"]
Entities = Mapping[str, Mapping[str, Any]]
Reason = Literal["cycle", "tooDeep"]


def find_hierarchy_problem(child: str, parent: str, entities: Entities, link: Link) -> Reason | None:
    """Return the reason why `child` cannot be below `parent`; None if it can. The walk ends at an unknown id."""
    above: str | None = parent
    for _ in range(MAX_DEPTH):
        if above == child:
            return "cycle"
        entity = entities.get(above) if above else None
        if entity is None:
            return None
        above = entity.get(link)
    # Only an imported state can have a cycle above the parent; the child does not close it then.
    ancestors = list_self_and_ancestors(parent, entities, link)
    if child in ancestors:
        return "cycle"
    return None if entities[next(reversed(ancestors))].get(link) in ancestors else "tooDeep"


def list_self_and_ancestors(start: str | None, entities: Entities, link: Link) -> dict[str, None]:
    """Return `start` and its known ancestors, each once, from the bottom up."""
    ancestors: dict[str, None] = {}
    above = start
    while above and above in entities and above not in ancestors:
        ancestors[above] = None
        above = entities[above].get(link)
    return ancestors


def find_roots(stars: Entities) -> dict[str, str]:
    """Return the topmost body above each body, or the body itself. All members of a cycle have the same root."""
    roots: dict[str, str] = {}
    for start in stars:
        chain: list[str] = []
        key = start
        while key not in roots:
            roots[key] = key  # ends the walk in a cycle
            chain.append(key)
            parent = stars[key].get("parentId")
            if not parent or parent not in stars:
                break
            key = parent
        root = roots[key]
        for one in chain:
            roots[one] = root
    return roots


def find_entity_in_cycle(entities: Entities, link: str) -> str | None:
    """Return the first entity found that is its own ancestor; None if there is no cycle."""
    acyclic: set[str] = set()
    for start in entities:
        chain: dict[str, None] = {}
        current: str | None = start
        while current and current in entities and current not in acyclic:
            if current in chain:
                return current
            chain[current] = None
            current = entities[current].get(link)
        acyclic.update(chain)
    return None


def list_self_and_descendants(root: str, stars: Entities) -> list[str]:
    """Return `root` and all children listed below it, parents first, including ids without a body.

    A child that is listed twice is returned twice, but its own children only once.
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
