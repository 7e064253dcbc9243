"""Replies about universes and commands, for REST, MCP and the command line."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from universe.domain.command_results import Event
from universe.domain.exchange.imported_systems import ImportFacts
from universe.domain.state import EntityKind, Plain
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.shared_fields import ActorFields, ChangeFields

LogEntryKind = Literal["command", "restore"]


class Facts(TypedDict):
    """A universe without its state."""

    id: str
    name: str
    version: int
    createdAt: str
    updatedAt: str
    createdBy: ActorFields | None
    renamedBy: ActorFields | None


class FactsList(TypedDict):
    """A page of universes; `next` is the cursor of the next page."""

    universes: list[Facts]
    next: str | None


class Universe(Facts):
    """A universe with its state, or a part of it."""

    state: JsonObject
    total: NotRequired[Annotated[int, Field(description="How many bodies are selected.")]]
    next: NotRequired[str | None]
    notFound: NotRequired[list[str]]
    nearest: NotRequired[dict[str, list[str]]]
    sources: NotRequired[Annotated[JsonObject, Field(description="Citations that bodies share, by id.")]]


class NewUniverse(Facts):
    """A universe that was created, with the number of its bodies."""

    bodies: int


ImportReply = TypedDict("ImportReply", {"universes": list[NewUniverse], "import": ImportFacts})
ImportReply.__doc__ = "The universes that were created, and the report of the import."


class DeletionFacts(TypedDict):
    """A universe that was deleted."""

    id: str
    name: str
    version: int
    createdAt: str
    deletedAt: str
    deletedBy: ActorFields | None


class LogEntry(TypedDict):
    """An entry of the log. A restored state is left out, and so is the content of a damaged entry."""

    version: int
    kind: LogEntryKind
    at: str
    author: str | None
    actor: ActorFields | None
    damaged: NotRequired[bool]
    together: NotRequired[Annotated[bool, Field(description="True if it was sent together with the entry before.")]]
    command: NotRequired[JsonObject]
    events: NotRequired[list[Event]]


class History(TypedDict):
    """A page of the log; `next` is the version after which the next page starts."""

    entries: list[LogEntry]
    next: int | None


class HistoryWithActors(TypedDict):
    """Entries of the log, and who created and renamed the universe."""

    entries: list[LogEntry]
    createdBy: ActorFields | None
    renamedBy: ActorFields | None


class TimeFacts(TypedDict):
    """The unit of the time and, in a real system, the date in UTC or the Julian date."""

    timeUnit: str
    date: NotRequired[str]
    julianDate: NotRequired[float]


class ChangeSummary(TypedDict):
    """A change in short."""

    version: int
    events: list[Event]
    timePassed: NotRequired[float]
    timeUnit: NotRequired[str]
    warnings: NotRequired[list[str]]


class Result(TypedDict):
    """The result of a change, with the whole state if it was asked for."""

    nextState: NotRequired[JsonObject]
    events: list[Event]
    version: int
    warnings: NotRequired[list[str]]


class ChangedEntities(TypedDict):
    """The entities that a command changed and removed."""

    events: list[Event]
    version: int
    changed: dict[EntityKind, dict[str, JsonObject]]
    removed: dict[EntityKind, list[str]]
    time: float
    stateBytes: int
    hint: str
    warnings: NotRequired[list[str]]


class StatePartReply(Plain):
    """A part of a state, with the ids that were not found."""

    version: int
    notFound: NotRequired[list[str]]
    nearest: NotRequired[dict[str, list[str]]]
    hint: NotRequired[str]


class AgentStateReply(StatePartReply):
    """A state or a part of it, for agents: each shared citation once, and the date of a real system."""

    timeUnit: NotRequired[str]
    date: NotRequired[str]
    julianDate: NotRequired[float]
    sources: NotRequired[JsonObject]


class AgentCommandReply(TypedDict):
    """The result of a command for agents: the whole state, the changes or only the events."""

    events: list[Event]
    version: int
    nextState: NotRequired[Plain]
    changed: NotRequired[dict[EntityKind, dict[str, JsonObject]]]
    removed: NotRequired[dict[EntityKind, list[str]]]
    time: NotRequired[float]
    stateBytes: NotRequired[int]
    hint: NotRequired[str]
    timePassed: NotRequired[float]
    timeUnit: NotRequired[str]
    date: NotRequired[str]
    julianDate: NotRequired[float]
    warnings: NotRequired[list[str]]
    sources: NotRequired[JsonObject]


class Root(TypedDict):
    """A body at the top of a universe."""

    id: str
    name: str
    bodyType: str | None
    children: int


class UniverseSummary(TypedDict):
    """The number of entities of each kind, and the roots."""

    id: str
    name: str
    version: int
    time: float
    counts: dict[EntityKind, int]
    roots: list[Root]
    rootsNotShown: int
    stateBytes: int
    hint: str
    isSummary: NotRequired[bool]
    answerBytes: NotRequired[int]


class Health(TypedDict):
    """The health of the server."""

    ok: bool
    uptime: int
    listeners: int


class PositionList(TypedDict):
    """The positions of all bodies, in the order of `ids`; null for a body without a position."""

    version: int
    time: float
    ids: list[str]
    positions: list[list[float | None]]


class System(TypedDict):
    """A real system that ships with the program. `id` is for `from`."""

    id: str
    name: str


class OriginList(TypedDict):
    """What a universe can be created from: `seed:PRESET:SEED` takes the settings of the schema."""

    systems: list[System]
    presets: list[str]
    settings: JsonObject


class VersionFacts(TypedDict):
    """A universe at a version."""

    id: str
    version: int


class EntityDifferences(TypedDict):
    """Entities of one kind that differ; long lists are cut, and all are counted."""

    addedCount: int
    removedCount: int
    changedCount: int
    added: list[str]
    removed: list[str]
    changed: Annotated[
        dict[str, dict[str, list[Json]]], Field(description="By id and field: the old and the new value.")
    ]


class StateDifferences(TypedDict):
    """What differs between two states."""

    equal: bool
    time: list[float | None]
    differences: dict[EntityKind, EntityDifferences]


Differences = TypedDict(
    "Differences",
    {
        "from": VersionFacts,
        "to": VersionFacts,
        "equal": bool,
        "time": list[float | None],
        "differences": dict[EntityKind, EntityDifferences],
    },
)
Differences.__doc__ = "What differs between two versions of a universe, or between two universes."


class UniverseChange(ChangeFields):
    """A universe was created, changed, renamed or deleted. `subject` is its id."""

    kind: Literal["universe"]
    version: NotRequired[int]
    name: NotRequired[str]
    created: NotRequired[bool]
    deleted: NotRequired[bool]
