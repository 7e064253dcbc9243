"""The differences of two states: entities that were added, removed or changed, with the old and new values."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, cast

from universe.domain.state import ENTITY_KINDS

MAX_CHANGED: Final = 1_000
"""The most changed entities, and the most added or removed ids, that are listed of each kind; all are counted."""


def compare_plain_states(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return, for each kind of entity that differs, ids that were added and removed, and changed fields.

    A changed field has its path, such as `kepler.period`, and its old and new value; None for a value that is missing.
    """
    differences: dict[str, Any] = {}
    for kind in ENTITY_KINDS:
        old, new = cast("Mapping[str, Any]", before.get(kind) or {}), cast("Mapping[str, Any]", after.get(kind) or {})
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
    time = [before.get("time"), after.get("time")]
    return {"equal": not differences and time[0] == time[1], "time": time, "differences": differences}


def _iterate_changed_fields(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, list[Any]]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        one, other = cast("Mapping[str, Any]", old), cast("Mapping[str, Any]", new)
        for name in dict.fromkeys((*one, *other)):
            if one.get(name) != other.get(name):
                yield from _iterate_changed_fields(one.get(name), other.get(name), f"{path}.{name}" if path else name)
        return
    yield path, [old, new]
