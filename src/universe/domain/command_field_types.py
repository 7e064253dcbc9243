"""Types of the fields of commands: payloads, patches, maps of entities and snapshots."""

from typing import Annotated, Any, Final, NotRequired, cast, get_type_hints

from pydantic import ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict, is_typeddict

from universe.domain.entities import (
    AsteroidBelt,
    Entity,
    Group,
    GroupChild,
    GroupPayload,
    NebulaRegion,
    PlanetaryRing,
    ProtoplanetaryDisk,
    SmallBodyField,
    Star,
    StarPayload,
)
from universe.domain.field_types import OPEN, TRIMMED, Id
from universe.domain.type_validation import get_type_adapter


class Shape:
    """The type that a dictionary is checked against; the dictionary itself is passed on unchanged."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape

    def __get_pydantic_core_schema__(self, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.shape)


class _EntityMap:
    """A map of ids to entities for the JSON schema. `find_entity_map_problems` checks the entities one by one."""

    def __init__(self, entity: Any) -> None:
        self._map = dict[Id, entity]

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(get_type_adapter(self._map).core_schema)


def make_patch_type(entity: Any) -> Any:
    """Return a type with the fields of `entity`, none of them required; fields that cannot be null still cannot."""
    assert is_typeddict(entity)
    hints = get_type_hints(entity, include_extras=True)
    fields = {name: NotRequired[_strip_not_required(hint)] for name, hint in hints.items() if not name.startswith("__")}
    patch = cast("Any", TypedDict)(f"{entity.__name__}Patch", fields)
    patch.__pydantic_config__ = OPEN
    patch.__doc__ = f"Any fields of a {entity.__name__}."
    return patch


def _strip_not_required(hint: Any) -> Any:
    return hint.__args__[0] if getattr(hint, "__origin__", None) is NotRequired else hint


StarFields = Annotated[Entity, Shape(StarPayload)]
StarPatch = Annotated[Entity, Shape(make_patch_type(Star))]
GroupFields = Annotated[Entity, Shape(GroupPayload)]
GroupPatch = Annotated[Entity, Shape(make_patch_type(Group))]
RingPatch = Annotated[Entity, Shape(make_patch_type(PlanetaryRing))]
FieldPatch = Annotated[Entity, Shape(make_patch_type(SmallBodyField))]
DiskPatch = Annotated[Entity, Shape(make_patch_type(ProtoplanetaryDisk))]
NebulaPatch = Annotated[Entity, Shape(make_patch_type(NebulaRegion))]
Disk = Annotated[Entity, Shape(ProtoplanetaryDisk)]
Child = Annotated[Entity, Shape(GroupChild)]
Stars = Annotated[dict[str, Entity], _EntityMap(Star)]
Groups = Annotated[dict[str, Entity], _EntityMap(Group)]
Belts = Annotated[dict[str, Entity], _EntityMap(AsteroidBelt)]
Fields = Annotated[dict[str, Entity], _EntityMap(SmallBodyField)]
Disks = Annotated[dict[str, Entity], _EntityMap(ProtoplanetaryDisk)]
Nebulae = Annotated[dict[str, Entity], _EntityMap(NebulaRegion)]
Ids = Annotated[list[str], Field(fail_fast=True)]
Reason = Annotated[
    str,
    Field(min_length=1, max_length=1_000, description="Why the value is set; `universe cite` shows it."),
]


SNAPSHOT_PARTS: Final = (
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
        json_schema_extra={"anyOf": [{"required": [name]} for name in SNAPSHOT_PARTS]}
    )

    stars: Stars
    rootIds: Ids
    groups: NotRequired[Groups | None]
    rootGroupIds: NotRequired[Ids | None]
    belts: NotRequired[Belts | None]
    smallBodyFields: NotRequired[Fields | None]
    protoplanetaryDisks: NotRequired[Disks | None]
    nebulae: NotRequired[Nebulae | None]
