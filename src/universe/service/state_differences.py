"""Compare two states: entities that were added, removed or changed, with the old and new values."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from universe.domain.entities import Entity
from universe.domain.state import ENTITY_KINDS, EntityKind, Plain
from universe.replies import EntityDifferences, StateDifferences
from uraniborg.kernel.json_values import Json

_NO_ENTITIES: Final[dict[str, Entity]] = {}
MAX_CHANGED: Final = 1_000
"""The most changed entities, and the most added or removed ids, that are listed of each kind; all are counted."""


def compare_plain_states(before: Plain, after: Plain) -> StateDifferences:
    """Return, for each kind of entity that differs, ids that were added and removed, and changed fields.

    A changed field has its path, such as `kepler.period`, and its old and new value; None for a value that is missing.
    """
    differences: dict[EntityKind, EntityDifferences] = {}
    for kind in ENTITY_KINDS:
        old, new = before.get(kind) or _NO_ENTITIES, after.get(kind) or _NO_ENTITIES
        added, removed = [key for key in new if key not in old], [key for key in old if key not in new]
        changed = [key for key in new if key in old and new[key] != old[key]]
        if added or removed or changed:
            differences[kind] = {
                "addedCount": len(added),
                "removedCount": len(removed),
                "changedCount": len(changed),
                "added": added[:MAX_CHANGED],
                "removed": removed[:MAX_CHANGED],
                "changed": {
                    key: dict(islice(_iterate_changed_fields(old[key], new[key]), MAX_CHANGED))
                    for key in changed[:MAX_CHANGED]
                },
            }
    time: list[float | None] = [before.get("time"), after.get("time")]
    return {"equal": not differences and time[0] == time[1], "time": time, "differences": differences}


def _iterate_changed_fields(old: Json, new: Json, path: str = "") -> Iterator[tuple[str, list[Json]]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            if old.get(name) != new.get(name):
                yield from _iterate_changed_fields(old.get(name), new.get(name), f"{path}.{name}" if path else name)
        return
    yield path, [old, new]
