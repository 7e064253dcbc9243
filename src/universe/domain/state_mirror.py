"""A state once more as plain dictionaries, kept up with each change: what is sent needs no conversion."""

from typing import Any, Final

import orjson

from universe.domain.state import EMPTY, ENTITY_KINDS, Plain, State, Touched

_LISTS: Final = ("rootIds", "rootGroupIds")
_EMPTY_STATE_BYTES: Final = len(orjson.dumps({**EMPTY.to_plain(), "time": 0})) - len("0") - 2 * len("[]")
"""The length of what every state has, without its time and its lists."""


class StateMirror:
    """The plain form of a state. Entities stay in the order in which they were added."""

    def __init__(self, plain: Plain) -> None:
        self.reset(plain)

    def reset(self, plain: Plain) -> None:
        """Become the state that was written as `plain`. Its maps belong to the mirror from now on."""
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
        self._bytes: int | None = None
        self._list_bytes: int | None = None

    def follow(self, state: State, touched: Touched) -> None:
        """Become `state`, which differs from the state before in no entity that was not touched."""
        for kind, keys in touched.items():
            entities, plain = state.entities(kind), self._plain[kind]
            for key, touch in keys.items():
                # What is gone by now was removed by a later change.
                now = None if touch == "removed" else entities.get(key)
                if self._bytes is not None:
                    self._bytes += _measure_entry(key, now) - _measure_entry(key, plain.get(key))
                if now is None or touch == "put anew":
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
        """A copy that stays as it is while the mirror moves on; the entities are shared, and never change."""
        return {name: value if name == "time" else value.copy() for name, value in self._plain.items()}

    def json(self) -> bytes:
        return orjson.dumps(self._plain)

    @property
    def bytes(self) -> int:
        """How long the JSON is. It is counted once, and kept up from then on."""
        if self._bytes is None:
            self._bytes = sum(
                _measure_entry(key, entity) for kind in ENTITY_KINDS for key, entity in self._plain[kind].items()
            )
        if self._list_bytes is None:
            self._list_bytes = sum(len(orjson.dumps(self._plain[name])) for name in _LISTS)
        commas = sum(max(0, len(self._plain[kind]) - 1) for kind in ENTITY_KINDS)
        return _EMPTY_STATE_BYTES + self._bytes + self._list_bytes + commas + len(orjson.dumps(self._plain["time"]))


def _measure_entry(key: str, entity: Any) -> int:
    return 0 if entity is None else len(orjson.dumps(entity)) + len(orjson.dumps(key)) + 1
