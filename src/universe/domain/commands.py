"""The 25 commands, and how one is told from what is none."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal, NotRequired, cast

from pydantic import ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

from universe.domain.checking import MOST_FLAWS, check_of, field_flaws, map_flaws
from universe.domain.entities import (
    CLOSED,
    TRIMMED,
    AsteroidBelt,
    Entity,
    Group,
    GroupChild,
    GroupPayload,
    Id,
    NebulaRegion,
    PlanetaryRing,
    ProtoplanetaryDisk,
    Ref,
    SmallBodyField,
    Star,
    StarPayload,
)
from universe.domain.examples import EXAMPLES
from universe.domain.patches import patch_of
from universe.domain.suggestions import nearest_command
from universe.domain.values import Flaw, plain_object, raise_all
from universe.errors import MalformedCommand, UnknownCommand

DEFAULT_DT: Final = 1


class _Shaped:
    """What a dictionary is checked against; it is passed on as it came, with its order and its numbers as sent."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape

    def __get_pydantic_core_schema__(self, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.shape)


class _MapOf:
    """A map of ids to entities. They are checked one by one, elsewhere; here is only said what they are."""

    def __init__(self, entity: Any) -> None:
        self._map = dict[Id, entity]

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(check_of(self._map).core_schema)


StarFields = Annotated[Entity, _Shaped(StarPayload)]
StarPatch = Annotated[Entity, _Shaped(patch_of(Star))]
GroupFields = Annotated[Entity, _Shaped(GroupPayload)]
GroupPatch = Annotated[Entity, _Shaped(patch_of(Group))]
RingPatch = Annotated[Entity, _Shaped(patch_of(PlanetaryRing))]
FieldPatch = Annotated[Entity, _Shaped(patch_of(SmallBodyField))]
DiskPatch = Annotated[Entity, _Shaped(patch_of(ProtoplanetaryDisk))]
NebulaPatch = Annotated[Entity, _Shaped(patch_of(NebulaRegion))]
Disk = Annotated[Entity, _Shaped(ProtoplanetaryDisk)]
Child = Annotated[Entity, _Shaped(GroupChild)]
Stars = Annotated[dict[str, Entity], _MapOf(Star)]
Groups = Annotated[dict[str, Entity], _MapOf(Group)]
Belts = Annotated[dict[str, Entity], _MapOf(AsteroidBelt)]
Fields = Annotated[dict[str, Entity], _MapOf(SmallBodyField)]
Disks = Annotated[dict[str, Entity], _MapOf(ProtoplanetaryDisk)]
Nebulae = Annotated[dict[str, Entity], _MapOf(NebulaRegion)]
Ids = Annotated[list[str], Field(fail_fast=True)]
Reason = Annotated[
    str,
    Field(min_length=1, max_length=1_000, description="Why the value is set; `universe cite` shows it."),
]


_BESIDE_BODIES: Final = (
    "groups",
    "rootGroupIds",
    "belts",
    "smallBodyFields",
    "protoplanetaryDisks",
    "nebulae",
)


class Snapshot(TypedDict):
    """A state without its time, and with at least one key beside `stars` and `rootIds`. Further keys are dropped."""

    __pydantic_config__ = TRIMMED | ConfigDict(  # type: ignore[misc]
        json_schema_extra={"anyOf": [{"required": [name]} for name in _BESIDE_BODIES]}
    )

    stars: Stars
    rootIds: Ids
    groups: NotRequired[Groups | None]
    rootGroupIds: NotRequired[Ids | None]
    belts: NotRequired[Belts | None]
    smallBodyFields: NotRequired[Fields | None]
    protoplanetaryDisks: NotRequired[Disks | None]
    nebulae: NotRequired[Nebulae | None]


class Tick(TypedDict):
    """Let time pass."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["tick"]
    dt: NotRequired[
        Annotated[
            float,
            Field(
                description="How much time passes, in simulation seconds; may be negative. In astronomical units, "
                "as in all real systems, one simulation second is one day: a year is 365.25.",
                json_schema_extra={"default": DEFAULT_DT},
            ),
        ]
    ]


class AddStar(TypedDict):
    """Add a body, or put another in place of the one with this id."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["addStar"]
    id: Id
    payload: StarFields
    reason: NotRequired[Reason]


class UpdateStar(TypedDict):
    """Change fields of a body; nested blocks are replaced whole, child lists are not repaired."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["updateStar"]
    id: Id
    payload: StarPatch
    reason: NotRequired[Reason]


class RemoveStar(TypedDict):
    """Remove a body and everything below it."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["removeStar"]
    id: Id


class AttachStar(TypedDict):
    """Have a body orbit another."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["attachStar"]
    childId: Id
    parentId: Id


class DetachStar(TypedDict):
    """Make a body a root; its orbitalDistance becomes 0."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["detachStar"]
    childId: Id


class AddGroup(TypedDict):
    """Add a group, or put another in place of the one with this id."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["addGroup"]
    id: Id
    payload: GroupFields


class UpdateGroup(TypedDict):
    """Change fields of a group; lists of children are not repaired."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["updateGroup"]
    id: Id
    payload: GroupPatch


class RemoveGroup(TypedDict):
    """Remove a group; the groups in it move up to its parent, the systems in it stay ungrouped."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["removeGroup"]
    id: Id


class AddToGroup(TypedDict):
    """Put a system or a group into a group."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["addToGroup"]
    groupId: Id
    child: Child


class RemoveFromGroup(TypedDict):
    """Take a system or a group out of a group."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["removeFromGroup"]
    groupId: Id
    childId: Id


class MoveToGroup(TypedDict):
    """Move a system or a group from wherever it is into a group, or out of all."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["moveToGroup"]
    childId: Id
    childType: Literal["system", "group"]
    targetGroupId: Annotated[Ref | None, Field(description="null takes it out of all groups.")]


class SetSmallBodyFields(TypedDict):
    """Replace all belts of particles."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["setSmallBodyFields"]
    fields: Fields


class UpdateSmallBodyField(TypedDict):
    """Change a belt of particles."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["updateSmallBodyField"]
    id: Id
    patch: FieldPatch


class RemoveSmallBodyField(TypedDict):
    """Remove a belt of particles, if it is there."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["removeSmallBodyField"]
    id: Id


class SetProtoplanetaryDisks(TypedDict):
    """Replace all protoplanetary disks."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["setProtoplanetaryDisks"]
    disks: Disks


class AddProtoplanetaryDisk(TypedDict):
    """Add a protoplanetary disk under the id it has, or put it in place of the one there."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["addProtoplanetaryDisk"]
    disk: Disk


class UpdateProtoplanetaryDisk(TypedDict):
    """Change a protoplanetary disk."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["updateProtoplanetaryDisk"]
    id: Id
    patch: DiskPatch


class RemoveProtoplanetaryDisk(TypedDict):
    """Remove a protoplanetary disk, if it is there."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["removeProtoplanetaryDisk"]
    id: Id


class SetNebulae(TypedDict):
    """Replace all nebulae."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["setNebulae"]
    nebulae: Nebulae


class UpdateNebula(TypedDict):
    """Change a nebula."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["updateNebula"]
    id: Id
    patch: NebulaPatch


class RemoveNebula(TypedDict):
    """Remove a nebula, if it is there."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["removeNebula"]
    id: Id


class UpdateRing(TypedDict):
    """Change the ring of a body, which gets a plain one first if it has none."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["updateRing"]
    planetId: Id
    patch: RingPatch


class RemoveRing(TypedDict):
    """Remove the ring of a body."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["removeRing"]
    planetId: Id


class ReplaceSnapshot(TypedDict):
    """Replace everything but the time."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["replaceSnapshot"]
    snapshot: Snapshot


AnyCommand = (
    Tick
    | AddStar
    | UpdateStar
    | RemoveStar
    | AttachStar
    | DetachStar
    | AddGroup
    | UpdateGroup
    | RemoveGroup
    | AddToGroup
    | RemoveFromGroup
    | MoveToGroup
    | SetSmallBodyFields
    | UpdateSmallBodyField
    | RemoveSmallBodyField
    | SetProtoplanetaryDisks
    | AddProtoplanetaryDisk
    | UpdateProtoplanetaryDisk
    | RemoveProtoplanetaryDisk
    | SetNebulae
    | UpdateNebula
    | RemoveNebula
    | UpdateRing
    | RemoveRing
    | ReplaceSnapshot
)

Command = dict[str, Any]
"""A command that `parse_command` has let pass."""

CATEGORIES: Final[tuple[tuple[str, str, tuple[Any, ...]], ...]] = (
    ("Simulation", "simulation", (Tick,)),
    ("Star CRUD", "star-crud", (AddStar, UpdateStar, RemoveStar)),
    ("Star hierarchy", "star-hierarchy", (AttachStar, DetachStar)),
    ("Group CRUD", "group-crud", (AddGroup, UpdateGroup, RemoveGroup)),
    ("Group hierarchy", "group-hierarchy", (AddToGroup, RemoveFromGroup, MoveToGroup)),
    ("Small body fields", "small-body-fields", (SetSmallBodyFields, UpdateSmallBodyField, RemoveSmallBodyField)),
    (
        "Protoplanetary disks",
        "protoplanetary-disks",
        (SetProtoplanetaryDisks, AddProtoplanetaryDisk, UpdateProtoplanetaryDisk, RemoveProtoplanetaryDisk),
    ),
    ("Nebulae", "nebulae", (SetNebulae, UpdateNebula, RemoveNebula)),
    ("Rings", "rings", (UpdateRing, RemoveRing)),
    ("Snapshot", "snapshot", (ReplaceSnapshot,)),
)
"""Name as in the specification, slug, and the commands of each category."""


def type_of(kind: Any) -> str:
    """The name under which this kind of command is sent."""
    return kind.__annotations__["type"].__args__[0]


KINDS: Final[dict[str, Any]] = {type_of(kind): kind for _, _, kinds in CATEGORIES for kind in kinds}
TYPES: Final = list(KINDS)
_WITH_MAPS: Final = ("setSmallBodyFields", "setProtoplanetaryDisks", "setNebulae")


def parse_command(given: Any) -> Command:
    """Return the command that `given` is, sharing nothing with it.

    Raises UnknownCommand, or MalformedCommand with every problem and a valid example.
    """
    claimed: Any = cast("Mapping[str, Any]", given).get("type") if isinstance(given, Mapping) else None
    name = claimed if isinstance(claimed, str) and claimed in KINDS else ""
    try:
        command: Command = plain_object(given, allowed="an object with a type")
        name = _name_of(command)
        raise_all(_flaws(name, command)[:MOST_FLAWS])
    except Flaw as flaw:
        example = {"example": EXAMPLES[name or "tick"]}
        raise MalformedCommand.of([one.facts() for one in (flaw, *flaw.others)], command=name, **example) from None
    if name == "tick":
        command.setdefault("dt", DEFAULT_DT)
    return command


def _flaws(name: str, command: Command) -> list[Flaw]:
    kind = KINDS[name]
    flaws = field_flaws(kind, command, f"the command {name}", inner_fields(name))
    if name in _WITH_MAPS:
        return flaws + map_flaws(command)
    if name == "replaceSnapshot" and isinstance(snapshot := command.get("snapshot"), dict):
        return flaws + _snapshot_flaws(cast("dict[str, Any]", snapshot))
    return flaws


def _snapshot_flaws(snapshot: Mapping[str, Any]) -> list[Flaw]:
    flaws = map_flaws(snapshot, "snapshot")
    if {"stars", "rootIds"} <= snapshot.keys() and not snapshot.keys() & set(_BESIDE_BODIES):
        # Everything else would be gone without a word of it.
        allowed = f"stars, rootIds and at least one of {', '.join(_BESIDE_BODIES)}"
        flaws.append(Flaw("has only stars and rootIds", allowed=allowed, way=["snapshot"]))
    return flaws


@cache
def inner_fields(name: str) -> dict[str, Collection[str]]:
    """Return the names of the fields inside the payload, patch, disk or child of a command."""
    hints = KINDS[name].__annotations__
    shapes = {name: getattr(hint, "__metadata__", (None,))[0] for name, hint in hints.items()}
    return {name: shape.shape.__annotations__ for name, shape in shapes.items() if isinstance(shape, _Shaped)}


def _name_of(command: Command) -> str:
    name = command.get("type")
    if not isinstance(name, str):
        problem = "is missing" if name is None else "is not a string"
        raise Flaw(problem, allowed=", ".join(TYPES), way=["type"])
    if name not in KINDS:
        meant = nearest_command(name, TYPES)
        raise UnknownCommand(name, TYPES, meant, EXAMPLES[meant[0]] if meant else None)
    return name
