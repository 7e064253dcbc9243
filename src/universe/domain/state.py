"""An immutable state of a universe, its checks, walks through its hierarchy, and `Draft`, a state under change."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, NotRequired, cast, get_args

from immutables import Map
from typing_extensions import TypedDict

from universe.domain.command_field_types import Belts, Disks, Fields, Groups, Ids, Nebulae, Stars
from universe.domain.entities import Entity
from universe.domain.field_types import CLOSED
from universe.domain.json_copies import ValueProblem, check_and_copy_json_object, raise_first_problem_if_any
from universe.domain.type_validation import MAX_PROBLEMS, find_entity_map_problems, find_field_problems
from universe.errors import MalformedState

EntityKind = Literal["stars", "groups", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae"]
ENTITY_KINDS: Final[tuple[EntityKind, ...]] = get_args(EntityKind)
Entities = Map[str, Entity]


class Plain(TypedDict):
    """A state in the form of its JSON. Parts may be missing until a replica has it."""

    stars: dict[str, Entity]
    rootIds: list[str]
    groups: dict[str, Entity]
    rootGroupIds: list[str]
    belts: dict[str, Entity]
    smallBodyFields: dict[str, Entity]
    protoplanetaryDisks: dict[str, Entity]
    nebulae: dict[str, Entity]
    time: float


_NONE: Final[Entities] = Map()
_NOTHING: Final[dict[str, Entity]] = {}


class State(NamedTuple):
    """The immutable state of a universe. Entities are never changed in place: a changed entity is a new dictionary."""

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
    """The ids of bodies whose orbit has an element derived by Kepler's third law: an index, not part of the JSON."""

    def get_entities(self, kind: EntityKind) -> Entities:
        return getattr(self, kind)

    def to_plain(self) -> Plain:
        """Return the state in the form of its JSON. The entities are not copied."""
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
    """A complete state. Parts that are left out are empty."""

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
    """Return the state given as JSON. Raise MalformedState, also for cycles in the hierarchy."""
    return make_state_from_plain(check_and_copy_plain_state(given))


def check_and_copy_plain_state(given: Any) -> Plain:
    """Return a checked copy of a state given as JSON. Raise MalformedState, also for cycles in the hierarchy."""
    try:
        copied = check_and_copy_json_object(given, expected_in_error=list(StateFields.__annotations__))
        problems = find_field_problems(StateFields, copied, "a state", {}) + find_entity_map_problems(copied)
        raise_first_problem_if_any(problems[:MAX_PROBLEMS])
        check_no_cycles(copied)
    except ValueProblem as first:
        raise MalformedState.from_problems([problem.to_json() for problem in (first, *first.others)]) from None
    return cast("Plain", copied)


def check_no_cycles(plain: Mapping[str, Any]) -> None:
    """Raise ValueProblem at the first body or group that is its own ancestor."""
    for kind, link in (("stars", "parentId"), ("groups", "parentGroupId")):
        if (key := find_entity_in_cycle(plain.get(kind) or {}, link)) is not None:
            allowed = "something above it, or null"
            raise ValueProblem("would be below itself", allowed=allowed, reversed_path=[link, key, kind])


def make_state_from_plain(plain: Plain) -> State:
    """Return the state of a checked plain state, whose entities it takes over without a copy."""
    maps: dict[EntityKind, Entities] = {kind: Map(plain.get(kind) or _NOTHING) for kind in ENTITY_KINDS}
    return State(
        maps["stars"],
        maps["groups"],
        maps["belts"],
        maps["smallBodyFields"],
        maps["protoplanetaryDisks"],
        maps["nebulae"],
        rootIds=tuple(plain.get("rootIds") or ()),
        rootGroupIds=tuple(plain.get("rootGroupIds") or ()),
        time=plain.get("time", 0),
        derivedOrbits=_find_ids_with_derived_orbits(maps["stars"]),
    )


def get_derived_element_name(body: Mapping[str, Any] | None) -> str | None:
    """Return the element of a body's orbit that Kepler's third law gives; None if its Kepler block names none."""
    block: Any = body.get("kepler") if body else None
    if not isinstance(block, dict):
        return None
    element = cast("Entity", block).get("derived")
    return element if element in ("semiMajorAxis", "period") else None


def _find_ids_with_derived_orbits(stars: Mapping[str, Entity]) -> frozenset[str]:
    return frozenset(key for key, body in stars.items() if body.get("kepler") and get_derived_element_name(body))


Touch = Literal["put", "removed", "put again"]
Touched = dict[EntityKind, dict[str, Touch]]
"""The entities of each kind that a change put or removed, in order; `put again`: put after it was removed."""


def add_to_touched(touched: Touched, later: Touched) -> Touched:
    """Add the entities that a later change touched to `touched`, and return `touched`."""
    for kind, keys in later.items():
        known = touched.setdefault(kind, {})
        for key, touch in keys.items():
            if touch == "put" and known.get(key) == "removed":
                del known[key]  # the entity comes back at the end of the map
                known[key] = "put again"
            elif touch != "put" or key not in known:
                known[key] = touch
    return touched


def list_touches_of_replacement(before: Mapping[str, Entity], after: Mapping[str, Entity]) -> dict[str, Touch]:
    """Return the entities touched when all entities of a kind are replaced by others."""
    removed: dict[str, Touch] = {key: "removed" for key in before if key not in after}
    put: dict[str, Touch] = dict.fromkeys(after, "put")
    return removed | put


class Draft:
    """A state under change that records which entities were touched."""

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

    def make_state(self) -> State:
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

    def get_entities(self, kind: EntityKind) -> Entities:
        return getattr(self, kind)

    def put_entity(self, kind: EntityKind, key: str, entity: Entity) -> None:
        """Add or replace an entity."""
        setattr(self, kind, self.get_entities(kind).set(key, entity))
        self.touched.setdefault(kind, {}).setdefault(key, "put")
        if kind == "stars" and (self.derivedOrbits or entity.get("kepler")):
            self._update_derived_orbits(key, entity)

    def _update_derived_orbits(self, key: str, body: Entity) -> None:
        if (get_derived_element_name(body) is not None) != (key in self.derivedOrbits):
            self.derivedOrbits ^= {key}

    def remove_entities(self, kind: EntityKind, keys: Iterable[str]) -> None:
        """Remove the entities with these ids; ids without an entity are skipped."""
        entities = self.get_entities(kind)
        removed: dict[str, Touch] = {key: "removed" for key in keys if key in entities}
        with entities.mutate() as mutation:
            for key in removed:
                del mutation[key]
            setattr(self, kind, mutation.finish())
        if kind == "stars":
            self.derivedOrbits = self.derivedOrbits.difference(removed)
        self.touched.setdefault(kind, {}).update(removed)

    def replace_entities(self, kind: EntityKind, entities: Mapping[str, Entity]) -> None:
        """Replace all entities of a kind."""
        self.touched.setdefault(kind, {}).update(list_touches_of_replacement(self.get_entities(kind), entities))
        setattr(self, kind, Map(entities))
        if kind == "stars":
            self.derivedOrbits = _find_ids_with_derived_orbits(entities)


MAX_DEPTH: Final = 1_000
"""The most ancestors that a command may give a body or group."""

Link = Literal["parentId", "parentGroupId"]
LinkedEntities = Mapping[str, Mapping[str, Any]]
Reason = Literal["cycle", "tooDeep"]


def find_hierarchy_problem(child: str, parent: str, entities: LinkedEntities, link: Link) -> Reason | None:
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


def list_self_and_ancestors(start: str | None, entities: LinkedEntities, link: Link) -> dict[str, None]:
    """Return `start` and its known ancestors, each once, from the bottom up."""
    ancestors: dict[str, None] = {}
    above = start
    while above and above in entities and above not in ancestors:
        ancestors[above] = None
        above = entities[above].get(link)
    return ancestors


def find_roots(stars: LinkedEntities) -> dict[str, str]:
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


def find_entity_in_cycle(entities: LinkedEntities, link: str) -> str | None:
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


def list_self_and_descendants(root: str, stars: LinkedEntities) -> list[str]:
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
