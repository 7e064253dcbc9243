"""The records of a bundle as an export writes them; those that are read from a bundle only claim to have these types.

Runs, jobs and results are records that their parts declare.
"""

from typing import NotRequired, TypedDict

from universe.domain.state import Plain
from universe.service.replies import LogEntry
from uraniborg.kernel.json_values import Json
from uraniborg.kernel.shared_fields import ActorFields
from uraniborg.kernel.store.inbox import State


class DecisionContent(TypedDict):
    """What was decided."""

    action: str
    data: Json
    note: str | None
    marks: Json


class DecisionRecord(TypedDict):
    """A decision, without the payload of its question."""

    id: str
    part: str
    kind: str
    subject: str
    created_at: str
    state: State
    decision: DecisionContent | None
    door: str | None
    decided_by: str | None
    actor: ActorFields | None
    decided_at: str | None


class UniverseDocument(TypedDict):
    """A universe as `universe import` reads it."""

    format: str
    name: str
    version: int
    state: Plain


class RecordedLogEntry(LogEntry):
    """An entry of the log, with the state that it restored."""

    state: NotRequired[Plain]


ValueRow = TypedDict(
    "ValueRow",
    {
        "body": str,
        "field": str,
        "value": str,
        "unit": str,
        "status": str,
        "as written": str,
        "source": str,
        "doi": str,
        "section": str,
        "row": str,
        "set by": str,
    },
)
ValueRow.__doc__ = "A value of a body in the table of values, as text."
