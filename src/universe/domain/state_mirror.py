"""The mirror of a state as plain dictionaries, updated with each change, so that replies need no conversion."""

from typing import Any, Final

import orjson

from universe.domain.state import EMPTY, ENTITY_KINDS, Plain, State, Touched

_LISTS: Final = ("rootIds", "rootGroupIds")
_EMPTY_STATE_BYTES: Final = len(orjson.dumps({**EMPTY.to_plain(), "time": 0})) - len("0") - 2 * len("[]")
"""The size of an empty state as JSON, without its time and its lists."""


class StateMirror:
    """A state as plain dictionaries. Entities stay in the order in which they were added."""

    def __init__(self, plain: Plain) -> None:
        self.reset(plain)

    def reset(self, plain: Plain) -> None:
        """Replace the whole state. The maps of `plain` belong to the mirror afterwards."""
        self._plain: Plain = {
            "stars": plain.get("stars") or {},
            "rootIds": plain.get("rootIds") or [],
            "groups": plain.get("groups") or {},
            "rootGroupIds": plain.get("rootGroupIds") or [],
            "belts": plain.get("belts") or {},
            "smallBodyFields": plain.get("smallBodyFields") or {},
            "protoplanetaryDisks": plain.get("protoplanetaryDisks") or {},
            "nebulae": plain.get("nebulae") or {},
            "time": plain.get("time", 0),
        }
        self._roots: tuple[Any, ...] = ()
        self._entity_bytes: int | None = None
        self._list_bytes: int | None = None

    def apply_changes(self, state: State, touched: Touched) -> None:
        """Update the mirror to `state`, which differs from the state before only in the entities `touched`."""
        for kind, keys in touched.items():
            entities, plain = state.entities(kind), self._plain[kind]
            for key, touch in keys.items():
                # An entity that is absent by now was removed by a later change.
                now = None if touch == "removed" else entities.get(key)
                if self._entity_bytes is not None:
                    self._entity_bytes += _measure_entry(key, now) - _measure_entry(key, plain.get(key))
                if now is None or touch == "put again":
                    plain.pop(key, None)
                if now is not None:
                    plain[key] = now
        roots = (state.rootIds, state.rootGroupIds)
        if self._roots != roots:
            self._plain["rootIds"], self._plain["rootGroupIds"] = list(state.rootIds), list(state.rootGroupIds)
            self._roots = roots
            self._list_bytes = None
        self._plain["time"] = state.time

    def to_plain(self) -> Plain:
        """Return a copy that does not change with the mirror; it shares the entities, which never change."""
        return {name: value if name == "time" else value.copy() for name, value in self._plain.items()}

    def to_json(self) -> bytes:
        """Return the state as JSON."""
        return orjson.dumps(self._plain)

    @property
    def json_size(self) -> int:
        """The size of the JSON in bytes, measured once and then updated with each change."""
        if self._entity_bytes is None:
            self._entity_bytes = sum(
                _measure_entry(key, entity) for kind in ENTITY_KINDS for key, entity in self._plain[kind].items()
            )
        if self._list_bytes is None:
            self._list_bytes = sum(len(orjson.dumps(self._plain[name])) for name in _LISTS)
        commas = sum(max(0, len(self._plain[kind]) - 1) for kind in ENTITY_KINDS)
        return (
            _EMPTY_STATE_BYTES + self._entity_bytes + self._list_bytes + commas + len(orjson.dumps(self._plain["time"]))
        )


def _measure_entry(key: str, entity: Any) -> int:
    """Return the size of an entity and its key as JSON; 0 for None."""
    return 0 if entity is None else len(orjson.dumps(entity)) + len(orjson.dumps(key)) + 1
