"""Replies about physical quantities, for REST and the command line."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class Quantity(TypedDict):
    """A quantity, its formula and the paper that it is from; without a value, what is missing."""

    value: float | str | None
    unit: str
    formula: str | None
    paper: str | None
    unknown: NotRequired[str | None]


class MassAndRadiusKinds(TypedDict):
    """What a mass and a radius are, where they were not measured."""

    massIs: NotRequired[str]
    radiusIs: NotRequired[str]


class BodyQuantities(MassAndRadiusKinds):
    """The quantities of a body."""

    name: str
    star: Annotated[str | None, Field(description="The id of the star that lights it.")]
    semiMajorAxis: float | None
    quantities: dict[str, Quantity]


class ZoneLimit(TypedDict):
    """A limit of a habitable zone."""

    starlight: float
    au: float


class Zone(TypedDict):
    """The habitable zone of a star; without limits, the note says why."""

    limits: dict[str, ZoneLimit] | None
    temperature: NotRequired[float]
    note: str | None
    paper: NotRequired[str]


class Paper(TypedDict):
    """A paper that formulas are from."""

    title: str
    authors: list[str]
    year: int
    venue: str
    doi: NotRequired[str]
    arxiv: NotRequired[str]


class FormulaPaper(Paper):
    """The paper of a formula, and the quantities that use it."""

    id: str
    fields: list[str]


class ZoneReport(TypedDict):
    """The habitable zones of the stars."""

    zones: dict[str, Zone]
    notes: list[str]
    sources: list[FormulaPaper]


class PhysicsReport(ZoneReport):
    """The quantities of all bodies, and the habitable zones."""

    bodies: dict[str, BodyQuantities]


class Physics(ZoneReport):
    """The physical quantities of a universe; without `bodies` only the habitable zones."""

    id: str
    version: int
    bodies: NotRequired[dict[str, BodyQuantities]]
