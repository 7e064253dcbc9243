"""What a review works with: decisions about papers, feedback, and reasons for exclusion."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.shared_fields import StoredActor

DEFAULT_REVIEWER = "reviewer"
"""The name of a reviewer without a name."""
AGENT = "agent"
"""The interface of agents, and the name of an agent without a name."""
UNNAMED = frozenset({DEFAULT_REVIEWER, AGENT, "client", "terminal", "console"})
"""Names of reviewers without a name, after the interface of their decision; people among them count as one person."""


def _clean_text(value: Any) -> Any:
    # NUL survives JSON but breaks SQLite, C libraries and terminals downstream.
    return make_encodable(value.replace("\x00", "")) if isinstance(value, str) else value


CleanText = Annotated[str, BeforeValidator(_clean_text)]
"""A text from a source, a person or other code, without half characters and NUL."""


class ReviewStatus(StrEnum):
    """The status of a paper in a review."""

    INCLUDE = "include"
    EXCLUDE = "exclude"
    MAYBE = "maybe"
    UNDECIDED = "undecided"


class PaperDecision(BaseModel):
    """The status that a reviewer gives a paper. A string with the status is accepted too."""

    status: ReviewStatus
    reason: CleanText | None = None

    @model_validator(mode="before")
    @classmethod
    def _expand_plain_status(cls, value: Any) -> Any:
        return {"status": value} if isinstance(value, str) else value


class ReviewDecision(PaperDecision):
    """A decision as a session stores it, with its reviewer and time."""

    reviewer: str = DEFAULT_REVIEWER
    at: datetime | None = None
    """None in sessions of versions that did not store the time."""
    by_agent: bool = False
    """Whether the decision came from an agent or another program, also if it names a person as the reviewer."""
    actor: StoredActor = None
    """Who decided; None in sessions of versions that did not store it."""

    @model_validator(mode="before")
    @classmethod
    def _infer_agent(cls, value: Any) -> Any:
        # Earlier versions stored the interface of unnamed reviewers only.
        if isinstance(value, dict) and "by_agent" not in value:
            fields = cast("dict[str, object]", value)
            return {**fields, "by_agent": fields.get("reviewer") == AGENT}
        return cast("Any", value)

    def is_by_same_reviewer(self, other: "ReviewDecision") -> bool:
        """Return True if both name one reviewer, or neither names one. An agent is never the same as a person."""
        is_same = self.reviewer == other.reviewer or {self.reviewer, other.reviewer} <= UNNAMED
        return is_same and self.by_agent == other.by_agent


Judge = Literal["person", "agent", "program"]
"""Who marked a paper or merged papers: a program is one that is not an agent, such as a script with a token."""


def find_judge(*, by_agent: bool, actor: Actor | None) -> Judge:
    """Return who decided; without an actor, a program counts as an agent."""
    if not by_agent:
        return "person"
    return "program" if actor is not None and actor.kind == "software" else "agent"


def find_judge_of_decisions(decisions: Iterable[ReviewDecision]) -> Judge:
    """Return who decided about a paper: a person if one has, else an agent if one has, else a program."""
    judges = {find_judge(by_agent=decision.by_agent, actor=decision.actor) for decision in decisions}
    return "person" if "person" in judges else "agent" if "agent" in judges else "program"


def combine_decisions(decisions: Sequence[ReviewDecision]) -> ReviewStatus:
    """Return the combined status of the decisions that count."""
    if not decisions:  # most papers of a large review
        return ReviewStatus.UNDECIDED
    return combine_statuses(decision.status for decision in select_counting_decisions(decisions))


def select_counting_decisions(decisions: Iterable[ReviewDecision]) -> list[ReviewDecision]:
    """Return the decisions of people, or those of agents if no person has decided: a person corrects an agent."""
    listed = list(decisions)
    return [decision for decision in listed if not decision.by_agent] or listed


def combine_statuses(statuses: Iterable[ReviewStatus]) -> ReviewStatus:
    """Return the combined status of several reviewers; include and exclude give maybe."""
    given = set(statuses)
    if ReviewStatus.INCLUDE in given:
        return ReviewStatus.MAYBE if ReviewStatus.EXCLUDE in given else ReviewStatus.INCLUDE
    for status in (ReviewStatus.MAYBE, ReviewStatus.EXCLUDE):
        if status in given:
            return status
    return ReviewStatus.UNDECIDED


class RecordName(BaseModel):
    """The name of one record of one source, as a paper lists it."""

    model_config = ConfigDict(frozen=True)

    source: str
    record_id: str


class PaperMerge(BaseModel):
    """Papers that a reviewer merges into the first one of them. A list of their ids is accepted too."""

    papers: list[str]
    reviewer: str | None = Field(default=None, max_length=100)
    """The reviewer, if not the one of the whole feedback."""

    @model_validator(mode="before")
    @classmethod
    def _expand_list(cls, value: Any) -> Any:
        return {"papers": cast("Any", value)} if isinstance(value, list) else value


class PaperSplit(BaseModel):
    """A paper whose records are not one paper. The id of the paper is accepted too."""

    paper: str
    records: list[RecordName] = Field(default_factory=list[RecordName])
    """The records that leave the paper, together as one paper; without any, each record becomes a paper."""
    reviewer: str | None = Field(default=None, max_length=100)
    """The reviewer, if not the one of the whole feedback."""

    @model_validator(mode="before")
    @classmethod
    def _expand_id(cls, value: Any) -> Any:
        return {"paper": value} if isinstance(value, str) else value

    @field_validator("records", mode="before")
    @classmethod
    def _expand_record(cls, value: Any) -> Any:
        return [value] if isinstance(value, dict | RecordName) else value


class DuplicateCorrection(BaseModel):
    """A merge or a split that a reviewer made."""

    kind: Literal["merge", "split"]
    papers: list[str]
    """The ids of the papers that became one, or the id of the paper that was split."""
    records: list[RecordName] = Field(default_factory=list[RecordName])
    """The records that left the paper; empty if each became a paper."""
    title: str
    """The title of the paper that was merged or split."""
    reviewer: str
    at: datetime | None = None
    by_agent: bool = False
    actor: StoredActor = None
    """Who made the change; None in sessions of versions that did not store it."""


Limit = Literal["years", "year_from", "year_to", "language", "min_relevance"]
"""The name of a limit that feedback can drop."""
YEARS: Final[dict[str, tuple[str, ...]]] = {"years": ("year_from", "year_to")}
"""The limits that one name stands for."""


class YearLimits(BaseModel):
    """First and last year: a year that is left out stays, null removes it."""

    model_config = ConfigDict(extra="forbid")

    year_from: int | None = Field(default=None, ge=1600, le=2100)
    year_to: int | None = Field(default=None, ge=1600, le=2100)


class UserFeedback(BaseModel):
    """The feedback of a person on a strategy or on papers."""

    marked_relevant: list[str] = Field(default_factory=list)
    """Ids of papers to include, short for decisions."""
    marked_irrelevant: list[str] = Field(default_factory=list)
    """Ids of papers to exclude, short for decisions."""
    free_text_feedback: str | None = None
    decisions: dict[str, PaperDecision] = Field(default_factory=dict[str, PaperDecision])
    """By paper id."""
    reviewer: str | None = Field(default=None, max_length=100)
    """The name of the reviewer; by default the interface through which the decisions came."""
    reviews: dict[str, dict[str, PaperDecision]] = Field(default_factory=dict[str, dict[str, PaperDecision]])
    """The decisions of other reviewers by their name, each by paper id."""
    note: str | None = None
    """The note of the decision: a second text, read separately."""
    merge: list[PaperMerge] = Field(default_factory=list[PaperMerge])
    """Papers that are one paper: lists of their ids."""
    split: list[PaperSplit] = Field(default_factory=list[PaperSplit])
    """Papers whose records are not one paper: ids, or ids with the records that leave."""
    add_terms: list[str] = Field(default_factory=list, max_length=50)
    """Terms that the next plan also searches for. These fields win over the texts."""
    exclude_terms: list[str] = Field(default_factory=list, max_length=50)
    """Terms that no paper of the next plan contains."""
    drop_limits: list[Limit] = Field(default_factory=list[Limit])
    """Limits that the next plan does not have."""
    set_years: YearLimits | None = None
    use_suggestions: bool | list[str] = False
    """The suggested terms that the next plan uses; True for all of them."""

    @property
    def has_changes(self) -> bool:
        """Whether a field asks for a change of the next plan."""
        fields = (self.add_terms, self.exclude_terms, self.drop_limits, self.set_years, self.use_suggestions)
        return any(map(bool, fields))

    @property
    def texts(self) -> list[str]:
        """The texts that are not blank, to be read one by one."""
        return [text for text in (self.free_text_feedback, self.note) if text and text.strip()]

    @property
    def statuses(self) -> dict[str, PaperDecision]:
        """The decisions by paper id, including those of the two lists of marks."""
        marked = dict.fromkeys(self.marked_relevant, ReviewStatus.INCLUDE)
        marked |= dict.fromkeys(self.marked_irrelevant, ReviewStatus.EXCLUDE)
        return {key: PaperDecision(status=status) for key, status in marked.items()} | self.decisions


class ReviewMarks(UserFeedback):
    """What reviewers marked before a decision, as a session collects it: no client sends it."""

    actors: dict[str, Actor] = Field(default_factory=dict[str, Actor])
    """By reviewer: who marked under this name last."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sent feedback: one actor, or for marks that were collected an actor for each reviewer."""

    by_agent: bool = False
    """For feedback without actors: whether it came through the interface of agents."""
    actor: Actor | None = None
    actors: Mapping[str, Actor] = field(default_factory=dict[str, Actor])

    def get_actor(self, reviewer: str) -> Actor | None:
        """Return who decided under the name of the reviewer, or None if that is not known."""
        return self.actors.get(reviewer, self.actor)

    def is_program(self, reviewer: str) -> bool:
        """Return True if a program decided under the name of the reviewer."""
        actor = self.get_actor(reviewer)
        return self.by_agent if actor is None else not actor.is_person


class ExclusionReason(StrEnum):
    """Why a record or a paper is not in the result. The first group applies before screening, the second after."""

    YEAR = "year"
    LANGUAGE = "language"
    EXCLUDED_WORDS = "excluded_words"
    NO_TITLE = "no_title"
    OTHER_WORK = "other_work"
    """Not one of the works that the query names by identifier."""
    OVER_SOURCE_LIMIT = "over_source_limit"
    DUPLICATE = "duplicate"

    BELOW_THRESHOLD = "below_threshold"
    OVER_LIMIT = "over_limit"
    BY_PERSON = "by_person"
    BY_AGENT = "by_agent"
    BY_PROGRAM = "by_program"
    MERGED = "merged"
    """A later record showed that the paper is another paper of the session."""


EXCLUSIONS_BY_JUDGE: Final[Mapping[Judge, ExclusionReason]] = {
    "person": ExclusionReason.BY_PERSON,
    "agent": ExclusionReason.BY_AGENT,
    "program": ExclusionReason.BY_PROGRAM,
}
BY_REVIEWER = frozenset(EXCLUSIONS_BY_JUDGE.values())
BY_AUTOMATION = frozenset({ExclusionReason.BELOW_THRESHOLD, ExclusionReason.OVER_LIMIT})


class Exclusion(BaseModel):
    """A screened paper that is not in the result."""

    paper_id: str
    other_ids: list[str] = Field(default_factory=list)
    title: str
    doi: str | None = None
    round: int = 0
    """The round that found the paper."""
    reason: ExclusionReason
    score: float | None = None
    threshold: float | None = None
    reviewer: str | None = None
    at: datetime | None = None
    detail: str | None = None
    """The reviewer's reason, or the id of the paper that this one was merged into."""
