"""The state of a universe: maps that share what they have in common with the states before them."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, NotRequired, cast, get_args

from immutables import Map
from typing_extensions import TypedDict

from universe.domain.checking import MOST_FLAWS, field_flaws, map_flaws
from universe.domain.commands import Belts, Disks, Fields, Groups, Ids, Nebulae, Stars
from universe.domain.entities import CLOSED, Entity
from universe.domain.hierarchy import circle_in
from universe.domain.values import Flaw, plain_object, raise_all
from universe.errors import MalformedState

Kind = Literal["stars", "groups", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
Entities = Map[str, Entity]
Plain = dict[str, Any]
"""A state as JSON has it."""

_NONE: Final[Entities] = Map()


class State(NamedTuple):
    """Immutable, as are the entities in it by agreement: a changed entity is a new dictionary."""

    stars: Entities = _NONE
    groups: Entities = _NONE
    belts: Entities = _NONE
    smallBodyFields: Entities = _NONE
    protoplanetaryDisks: Entities = _NONE
    nebulae: Entities = _NONE
    rootIds: tuple[str, ...] = ()
    rootGroupIds: tuple[str, ...] = ()
    time: float = 0
    derivedOrbits: frozenset[str] = frozenset()
    """The bodies in `stars` of whose orbit one element follows from Kepler's third law: an index, not in the JSON."""

    def entities(self, kind: Kind) -> Entities:
        return getattr(self, kind)

    def plain(self) -> Plain:
        """The state as JSON has it. The entities are not copied."""
        return {
            "stars": dict(self.stars.items()),
            "rootIds": list(self.rootIds),
            "groups": dict(self.groups.items()),
            "rootGroupIds": list(self.rootGroupIds),
            "belts": dict(self.belts.items()),
            "smallBodyFields": dict(self.smallBodyFields.items()),
            "protoplanetaryDisks": dict(self.protoplanetaryDisks.items()),
            "nebulae": dict(self.nebulae.items()),
            "time": self.time,
        }


EMPTY: Final = State()


class StateFields(TypedDict):
    """A whole state. What is left out is empty."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]

    stars: NotRequired[Stars]
    rootIds: NotRequired[Ids]
    groups: NotRequired[Groups]
    rootGroupIds: NotRequired[Ids]
    belts: NotRequired[Belts]
    smallBodyFields: NotRequired[Fields]
    protoplanetaryDisks: NotRequired[Disks]
    nebulae: NotRequired[Nebulae]
    time: NotRequired[Annotated[float, "simulation seconds"]]


def parse_state(given: Any) -> State:
    """The state that `given` is. Raises MalformedState, also for circles in the hierarchy."""
    return trusted_state(checked_state(given))


def checked_state(given: Any) -> Plain:
    """A copy of `given`, which is a state. Raises MalformedState, also for circles in the hierarchy."""
    try:
        copied = plain_object(given, allowed=list(StateFields.__annotations__))
        flaws = field_flaws(StateFields, copied, "a state", {}) + map_flaws(copied)
        raise_all(flaws[:MOST_FLAWS])
        check_hierarchy(copied)
    except Flaw as flaw:
        raise MalformedState.of([one.facts() for one in (flaw, *flaw.others)]) from None
    return copied


def check_hierarchy(plain: Mapping[str, Any]) -> None:
    """Raises Flaw at the first body or group that is its own ancestor."""
    for kind, link in (("stars", "parentId"), ("groups", "parentGroupId")):
        if (circle := circle_in(plain.get(kind) or {}, link)) is not None:
            raise Flaw("would be below itself", allowed="something above it, or null", way=[link, circle, kind])


def trusted_state(state: Plain) -> State:
    """The state that was written as `state`, which belongs to it from now on."""
    maps = {kind: Map(cast("dict[str, Entity]", state.get(kind) or {})) for kind in KINDS}
    return State(
        **maps,
        rootIds=tuple(state.get("rootIds") or ()),
        rootGroupIds=tuple(state.get("rootGroupIds") or ()),
        time=state.get("time", 0),
        derivedOrbits=_derived_orbits(maps["stars"]),
    )


def derived_element(body: Mapping[str, Any] | None) -> str | None:
    """Return the element that Kepler's third law gives in this body's orbit, if its block names one."""
    block: Any = body.get("kepler") if body else None
    element = cast("Entity", block).get("derived") if isinstance(block, dict) else None
    return element if element in ("semiMajorAxis", "period") else None


def _derived_orbits(stars: Mapping[str, Entity]) -> frozenset[str]:
    return frozenset(key for key, body in stars.items() if body.get("kepler") and derived_element(body))


Touch = Literal["put", "removed", "put anew"]
Touched = dict[Kind, dict[str, Touch]]
"""Which entities of which kind a change put or removed, in order; `put anew` is what was removed before."""


def both(first: Touched, second: Touched) -> Touched:
    """What was touched by two changes, one after the other."""
    for kind, keys in second.items():
        known = first.setdefault(kind, {})
        for key, touch in keys.items():
            if touch == "put" and known.get(key) == "removed":
                del known[key]  # it comes back at the end
                known[key] = "put anew"
            elif touch != "put" or key not in known:
                known[key] = touch
    return first


def difference(before: Mapping[str, Entity], after: Mapping[str, Entity]) -> dict[str, Touch]:
    """What is touched where all entities of a kind are replaced by others."""
    gone: dict[str, Touch] = {key: "removed" for key in before if key not in after}
    put: dict[str, Touch] = dict.fromkeys(after, "put")
    return gone | put


class Draft:
    """A state under change, which remembers what was touched."""

    __slots__ = (
        "belts",
        "derivedOrbits",
        "groups",
        "nebulae",
        "protoplanetaryDisks",
        "rootGroupIds",
        "rootIds",
        "smallBodyFields",
        "stars",
        "time",
        "touched",
    )

    def __init__(self, state: State) -> None:
        (
            self.stars,
            self.groups,
            self.belts,
            self.smallBodyFields,
            self.protoplanetaryDisks,
            self.nebulae,
            self.rootIds,
            self.rootGroupIds,
            self.time,
            self.derivedOrbits,
        ) = state
        self.touched: Touched = {}

    def state(self) -> State:
        """The state as it is now."""
        return State(
            self.stars,
            self.groups,
            self.belts,
            self.smallBodyFields,
            self.protoplanetaryDisks,
            self.nebulae,
            self.rootIds,
            self.rootGroupIds,
            self.time,
            self.derivedOrbits,
        )

    def entities(self, kind: Kind) -> Entities:
        return getattr(self, kind)

    def put(self, kind: Kind, key: str, entity: Entity) -> None:
        setattr(self, kind, self.entities(kind).set(key, entity))
        self.touched.setdefault(kind, {}).setdefault(key, "put")
        if kind == "stars" and (derived_element(entity) is not None) != (key in self.derivedOrbits):
            self.derivedOrbits ^= {key}

    def remove(self, kind: Kind, keys: Iterable[str]) -> None:
        entities = self.entities(kind)
        gone: dict[str, Touch] = {key: "removed" for key in keys if key in entities}
        with entities.mutate() as mutation:
            for key in gone:
                del mutation[key]
            setattr(self, kind, mutation.finish())
        if kind == "stars":
            self.derivedOrbits = self.derivedOrbits.difference(gone)
        self.touched.setdefault(kind, {}).update(gone)

    def put_all(self, kind: Kind, entities: Mapping[str, Entity]) -> None:
        """These and no others."""
        self.touched.setdefault(kind, {}).update(difference(self.entities(kind), entities))
        setattr(self, kind, Map(entities))
        if kind == "stars":
            self.derivedOrbits = _derived_orbits(entities)
