"""The sources of a body as JSON: publications, locations in them, and the commands that set values."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from universe.domain.field_types import OPEN

Year = Annotated[float, Field(multiple_of=1)]


class Stated(TypedDict):
    """A number as a publication states it."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    value: NotRequired[float | None]
    unit: NotRequired[str | None]
    as_written: NotRequired[str | None]


Cell = str | float | None


class Location(TypedDict):
    """A place in a publication that states a value: a table row or a passage."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    section: NotRequired[str | None]
    page: NotRequired[str | float | None]
    table: NotRequired[str | float | None]
    header: NotRequired[
        Annotated[list[Cell], Field(fail_fast=True, description="The header cells above the row.")] | None
    ]
    row: NotRequired[Annotated[list[Cell], Field(fail_fast=True, description="The cells of the row.")] | None]
    passage: NotRequired[str | None]
    stated: NotRequired[Stated | None]


class Source(TypedDict):
    """A publication, and which fields of the body came from it."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    id: str
    title: str
    authors: NotRequired[Annotated[list[str], Field(fail_fast=True)] | None]
    year: NotRequired[Year | None]
    venue: NotRequired[str | None]
    doi: NotRequired[str | None]
    arxiv: NotRequired[str | None]
    url: NotRequired[str | None]
    fields: NotRequired[
        Annotated[
            list[str], Field(fail_fast=True, description="The fields it gives: `mass`, `kepler.period`, … Each once.")
        ]
        | None
    ]
    locations: NotRequired[
        Annotated[dict[str, Location], Field(description="For each field the place in the publication that states it.")]
        | None
    ]


class SetBy(TypedDict):
    """The command that gave a value, or left it without its source. Written by the program."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    version: NotRequired[Annotated[float, Field(description="Of the log entry.")] | None]
    by: NotRequired[Annotated[str, Field(description="The author of the entry, as given.")] | None]
    reason: NotRequired[Annotated[str, Field(description="`reason` of the command.")] | None]
    sources: NotRequired[
        Annotated[list[str], Field(fail_fast=True, description="The sources that came with the value.")] | None
    ]
    basis: NotRequired[Annotated[str, Field(description="The value was recomputed from this field.")] | None]
    withdrawn: NotRequired[
        Annotated[str, Field(description="The value is as before; a change of this field took its source.")] | None
    ]
    universe: NotRequired[Annotated[str, Field(description="The universe of the version, if it is another.")] | None]
    imported: NotRequired[
        Annotated[bool, Field(description="True: the record came with a state, and no log here confirms it.")] | None
    ]
