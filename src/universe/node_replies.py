"""Parameters and outputs of the workflow nodes of universes."""

from typing import NotRequired

from typing_extensions import TypedDict

from universe.domain.events_and_refusals import Event
from universe.domain.state import Plain
from universe.nbody.replies import PlanetTransits, RunReply, TransitReply
from uraniborg.kernel.json_values import Json, JsonObject


class UniverseParams(TypedDict):
    """What the nodes have in common: the universe and its database."""

    universe_id: NotRequired[str | None]
    db: NotRequired[str | None]


CreationParams = TypedDict("CreationParams", {"from": NotRequired[str | None]})
CreationParams.__doc__ = "What a universe is created from."


class CommandParams(UniverseParams, CreationParams):
    """The parameters of universe-command. `name`, `from` and `settings` are for a universe to create."""

    command: NotRequired[Json]
    create: NotRequired[bool | None]
    name: NotRequired[str | None]
    settings: NotRequired[JsonObject | None]
    idempotency_key: NotRequired[str | None]
    expected_version: NotRequired[int | None]


class CommandOutputs(TypedDict):
    """The outputs of universe-command."""

    events: list[Event]
    version: int
    universe_id: str
    created: bool


class StateParams(UniverseParams):
    """The parameters of universe-state."""

    ids: NotRequired[list[str] | None]
    fields: NotRequired[list[str] | None]
    version: NotRequired[int | None]


class StateOutputs(TypedDict):
    """The outputs of universe-state: the state, or the part of it that was asked for."""

    state: Plain
    version: int
    universe_id: str
    name: str
    not_found: list[str]


class JobParams(UniverseParams):
    """The parameters of universe-nbody and universe-transits, which are the options of a job."""

    version: NotRequired[int | None]
    max_seconds: NotRequired[float | None]
    days: NotRequired[float | None]
    bodies: NotRequired[list[str] | None]
    method: NotRequired[str | None]
    step: NotRequired[float | None]
    relativity: NotRequired[bool | None]
    on_collision: NotRequired[str | None]
    observer: NotRequired[list[float] | None]
    kepler: NotRequired[bool | None]


class JobOutputs(TypedDict):
    """What the nodes of jobs have in common."""

    job_id: str
    universe_id: str
    version: int


class RunOutputs(JobOutputs):
    """The outputs of universe-nbody."""

    verdict: str | None
    headline: str | None
    trustworthy: bool | None
    error_degrees: float | None
    result: RunReply


class TransitOutputs(JobOutputs):
    """The outputs of universe-transits."""

    planets: dict[str, PlanetTransits]
    headline: str | None
    error_seconds: float | None
    result: TransitReply
