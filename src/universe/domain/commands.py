"""The 25 commands that change a universe, as types with their fields and categories."""

from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from universe.domain.command_field_types import (
    Child,
    Disk,
    DiskPatch,
    Disks,
    FieldPatch,
    Fields,
    GroupFields,
    GroupPatch,
    Nebulae,
    NebulaPatch,
    Reason,
    RingPatch,
    Snapshot,
    StarFields,
    StarPatch,
)
from universe.domain.field_types import CLOSED, Id, Ref

DEFAULT_DT: Final = 1


class Tick(TypedDict):
    """Let time pass."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["tick"]
    dt: NotRequired[
        Annotated[
            float,
            Field(
                description="The time that passes, in simulation seconds; may be negative. In astronomical units, "
                "as in all real systems, one simulation second is one day: a year is 365.25.",
                json_schema_extra={"default": DEFAULT_DT},
            ),
        ]
    ]


class AddStar(TypedDict):
    """Add a body, or replace the body with this id."""

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
    """Make a body orbit another body."""

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
    """Add a group, or replace the group with this id."""

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
    """Add a system or a group to a group."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["addToGroup"]
    groupId: Id
    child: Child


class RemoveFromGroup(TypedDict):
    """Remove a system or a group from a group."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["removeFromGroup"]
    groupId: Id
    childId: Id


class MoveToGroup(TypedDict):
    """Move a system or a group into a group, or out of all groups."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["moveToGroup"]
    childId: Id
    childType: Literal["system", "group"]
    targetGroupId: Annotated[Ref | None, Field(description="null removes it from all groups.")]


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
    """Remove a belt of particles, if it exists."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["removeSmallBodyField"]
    id: Id


class SetProtoplanetaryDisks(TypedDict):
    """Replace all protoplanetary disks."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["setProtoplanetaryDisks"]
    disks: Disks


class AddProtoplanetaryDisk(TypedDict):
    """Add a protoplanetary disk, or replace the disk with its id."""

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
    """Remove a protoplanetary disk, if it exists."""

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
    """Remove a nebula, if it exists."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["removeNebula"]
    id: Id


class UpdateRing(TypedDict):
    """Change the ring of a body; a body without a ring gets a default ring first."""

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
    """Replace the whole state except the time."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]
    type: Literal["replaceSnapshot"]
    snapshot: Snapshot


Command = (
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

"""A command as `parse_command` returns it."""

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


def get_command_type(command_class: Any) -> str:
    """Return the `type` of the commands of this class."""
    return command_class.__annotations__["type"].__args__[0]


COMMAND_CLASSES: Final[dict[str, Any]] = {
    get_command_type(command_class): command_class for _, _, classes in CATEGORIES for command_class in classes
}
COMMAND_TYPES: Final = list(COMMAND_CLASSES)
