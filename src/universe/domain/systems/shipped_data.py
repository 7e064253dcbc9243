"""The format of the data of real systems, as files state it and as its readers type it."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

Facts = Mapping[str, Any]
"""Facts that publications state, under names with their units."""


class SkyPlane(TypedDict):
    """The plane of the sky in the reference frame."""

    inclinationDeg: float
    nodeDeg: float
    poleIs: Literal["towards-us", "away-from-us"]


class ShippedVectors(TypedDict):
    """State vectors of bodies at one instant."""

    epochJd: float
    frame: str
    source: str
    vectors: dict[str, tuple[list[float], list[float], float]]


class SystemData(TypedDict):
    """A system: its bodies as publications state them, and the publications."""

    title: str
    epochJd: float
    firstDay: NotRequired[str]
    lastDay: NotRequired[str]
    referencePlane: str
    skyPlane: NotRequired[SkyPlane]
    displayMagnification: float
    sources: dict[str, Facts]
    stateVectors: NotRequired[ShippedVectors]
    bodies: list[Facts]
