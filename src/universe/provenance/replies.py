"""Replies about citations and origins of values, for REST and the command line."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from universe.provenance.bibliography import CitedSource
from uraniborg.kernel.actor_fields import ActorFields
from uraniborg.kernel.json_values import Json

Status = Literal["cited", "supported", "unverified claim", "computed", "set", "without source"]


class Publication(TypedDict):
    """A publication that a body cites."""

    id: str
    title: NotRequired[Json]
    authors: NotRequired[Json]
    year: NotRequired[Json]
    venue: NotRequired[Json]
    doi: NotRequired[Json]
    arxiv: NotRequired[Json]
    url: NotRequired[Json]
    computed: NotRequired[Json]
    shortCitation: Annotated[str, Field(description="Its authors and year in short.")]


class ValueSource(Publication):
    """A publication of one value: the location of the value in it, and how the value follows from what it states."""

    location: Json
    conversion: str | None
    status: str
    reason: str | None
    isChecked: bool
    dataFile: NotRequired[str]
    note: NotRequired[str | None]


class SettingCommand(TypedDict):
    """The command that set a value, as far as it was recorded."""

    version: NotRequired[Json]
    universe: NotRequired[Json]
    reason: NotRequired[Json]
    imported: NotRequired[Json]
    author: Json
    actor: NotRequired[ActorFields | None]
    at: NotRequired[str]
    type: NotRequired[str]


class ValueBrief(TypedDict):
    """A value with its unit, its status and the ids of its sources."""

    value: Json
    unit: str
    status: Status
    mark: Annotated[str, Field(description="The note beside the value; empty if it has a source.")]
    sources: list[str]


class BodyOrigins(TypedDict):
    """The values of a body that have, or had, a source."""

    body: str
    name: str
    fields: dict[str, ValueBrief]
    sources: list[Publication]


class Chain(TypedDict):
    """The origin of a value of a body."""

    field: str
    value: Json
    unit: str
    status: Status
    mark: str
    sources: list[ValueSource]
    command: SettingCommand | None
    withdrawn: NotRequired[Json]
    computed: "NotRequired[Computation]"


Computation = TypedDict("Computation", {"how": str, "from": list[Chain], "masses": dict[str, ValueBrief]})
Computation.__doc__ = "The rule of a computed value, and the values that it is computed from."


class ValueOrigin(Chain):
    """The origin of a value, with its universe and body."""

    universe: str
    version: int
    body: str
    name: str


class Citations(TypedDict):
    """The bibliography of a universe."""

    sources: list[CitedSource]
    bibtex: str
