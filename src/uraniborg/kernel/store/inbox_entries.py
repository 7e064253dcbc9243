"""Entries of the inbox: questions to a person, their decisions, and the errors of deciding."""

from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

from pydantic import BaseModel, ConfigDict, Field, SkipValidation
from typing_extensions import TypedDict

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.clock import format_iso
from uraniborg.kernel.errors import Conflict, NotFound
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.shared_fields import ActorFields, ChangeFields

State = Literal["pending", "decided", "withdrawn"]
Position = int
"""The position of an entry in the history: the number of its last change."""


class InboxDecision(BaseModel):
    """The answer of a person: an action, its data, and an optional note."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: str
    data: Any = None
    note: str | None = None
    marks: Any = None
    """What reviewers had stored for this decision before it was taken, which is part of it."""

    def is_same_as(self, sent: "InboxDecision") -> bool:
        """Return whether the decider sent the same, whatever was stored for it."""
        return (self.action, self.data, self.note) == (sent.action, sent.data, sent.note)


class InboxEntry(BaseModel):
    """A question to a person. `subject` is its topic, such as a session; `door` is the interface that decided it.

    `decided_by` is the description of `actor`, or of earlier versions the name that the decider claimed. It is not
    verified.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    part: str
    kind: str
    subject: str
    payload: Annotated[JsonObject, SkipValidation]
    """What its part asks, as the part declares it."""
    created_at: datetime
    state: State = "pending"
    decision: InboxDecision | None = None
    door: str | None = None
    decided_by: str | None = None
    actor: Actor | None = None
    """Who decided; None for decisions of versions that did not store it."""
    decided_at: datetime | None = None


class DecisionTaken(TypedDict):
    """The decision about a question."""

    action: str
    data: NotRequired[Json]
    note: NotRequired[str]
    marks: NotRequired[Annotated[Json, Field(description="What reviewers had stored for the decision.")]]


class QuestionFields(TypedDict):
    """The fields of every question. `decision` and the fields after it are there once it is decided."""

    id: str
    part: str
    subject: Annotated[str, Field(description="The id of the session, or of the approval.")]
    created_at: str
    state: State
    decision: NotRequired[DecisionTaken]
    door: NotRequired[
        Annotated[str, Field(description="The interface of the decision: `console`, `terminal`, `client` or `agent`.")]
    ]
    decided_by: NotRequired[Annotated[str, Field(description="The name that the decider claimed.")]]
    actor: NotRequired[Annotated[ActorFields, Field(description="Who decided.")]]
    decided_at: NotRequired[str]


class InboxChange(ChangeFields):
    """A question was asked, decided, withdrawn or deleted. `subject` is the id of the question."""

    kind: Literal["inbox"]
    state: NotRequired[Literal["pending", "decided", "withdrawn", "deleted"]]
    part: NotRequired[str]
    about: NotRequired[Annotated[str, Field(description="The id of the session, or of the approval.")]]


class EntryPage(NamedTuple):
    """A page of the history, and the position of the next one unless this is the last."""

    entries: list[InboxEntry]
    next: Position | None


class DecisionNotFound(NotFound):
    code = "decision_not_found"

    def __init__(self, entry_id: str, waiting: int) -> None:
        super().__init__(
            f"There is no question with this id; {waiting} {'waits' if waiting == 1 else 'wait'}.",
            hint="List the questions that wait and use the id of one of them.",
            decision_id=make_printable(entry_id[:200]),
            waiting=waiting,
        )


class AlreadyDecided(Conflict):
    code = "already_decided"

    def __init__(self, entry: InboxEntry) -> None:
        action = entry.decision.action if entry.decision else "withdrawn"
        super().__init__(
            f"This question was already decided: {describe_decision(entry)}.",
            hint="The first decision is final. Continue from the state that it led to.",
            decision_id=entry.id,
            action=action,
            door=entry.door,
            decided_by=entry.decided_by,
            decided_at=format_iso(entry.decided_at) if entry.decided_at else None,
        )


class DecisionWithdrawn(Conflict):
    code = "decision_withdrawn"

    def __init__(self, entry: InboxEntry) -> None:
        super().__init__(
            "This question no longer waits for a decision.",
            hint="The session or run that asked it has ended. List the questions that wait.",
            decision_id=entry.id,
        )


def describe_decision(entry: InboxEntry) -> str:
    """Return the action, the interface, the claimed name and the time: "approve, through terminal, by Ada, at …"."""
    by = f", by {make_printable(entry.decided_by)}" if entry.decided_by else ""
    at = f", at {entry.decided_at:%Y-%m-%d %H:%M:%S} UTC" if entry.decided_at else ""
    return f"{entry.decision.action if entry.decision else 'withdrawn'}, through {entry.door}{by}{at}"
