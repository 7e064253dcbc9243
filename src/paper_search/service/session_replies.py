"""Replies about sessions: of the tools `search_papers`, `decide` and `get_session`, of lists, exports and pages."""

from typing import Annotated, Final, Literal, NotRequired

from pydantic import BaseModel, Field, GetPydanticSchema
from typing_extensions import TypedDict

from paper_search.domain.review_models import ExclusionReason
from paper_search.service.checkpoint_replies import CheckpointPayload
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.shared_fields import ActorFields, ChangeFields

SourceState = Literal["ok", "empty", "failed", "rate_limited", "skipped"]
StopReasonName = Literal["complete", "enough", "source_limit", "too_broad", "deadline", "failed", "not_run", "unknown"]


_AS_OBJECT: Final = GetPydanticSchema(lambda _source, handler: handler(dict))
"""For large parts of replies: schemas say only that they are objects, because agents pay for every word of them."""


class SourceSummary(TypedDict):
    """What a source did, in the reply about a session."""

    name: str
    status: SourceState
    returned: int
    matched: Annotated[int | None, Field(description="All matches by the source's own count; null if unknown.")]
    fetched: int
    stopped: Annotated[StopReasonName | None, Field(description="Why the source stopped; the most serious reason.")]
    short: Annotated[str | None, Field(description="What is missing, in words; null if nothing is.")]
    partial: bool
    calls: int
    seconds: float
    reason: str | None
    retry_at: NotRequired[str]


class CheckpointReply(TypedDict):
    """The question that waits."""

    id: str
    kind: str
    iteration: int
    payload: Annotated[CheckpointPayload, _AS_OBJECT]
    actions: list[str]


class EarlierDecision(TypedDict):
    """The decision that was taken before."""

    message: str
    same_as_sent: bool
    checkpoint_id: str
    action: str | None
    note: str | None
    door: str | None
    decided_by: str | None
    decided_at: str | None


class SessionOutcome(TypedDict):
    paper_count: int
    summary: str
    reason: NotRequired[str]


class SessionFacts(TypedDict):
    """What every reply about a session has."""

    session_id: str
    query: str
    is_complete: bool
    has_pending_checkpoint: bool
    iteration: int
    round: int
    phase: str
    rounds_left: int
    elapsed_s: float
    summary: Annotated[str, Field(description="The question to the person, or the state of the search.")]
    current_checkpoint_kind: NotRequired[str]
    user_action_required: NotRequired[bool]
    result: NotRequired[SessionOutcome]
    dialog: NotRequired[Annotated[dict[str, str], Field(description="The dialog in which the client asks the person.")]]


class SessionReply(SessionFacts):
    """The state of a session."""

    sources: list[Annotated[SourceSummary, _AS_OBJECT]]
    already_decided: NotRequired[Annotated[EarlierDecision, _AS_OBJECT]]
    offline: NotRequired[bool]
    actor: NotRequired[dict[str, str]]
    checkpoint: NotRequired[CheckpointReply]
    checkpoint_id: NotRequired[str]
    checkpoint_kind: NotRequired[str]
    paper_count: NotRequired[int]
    error: NotRequired[str]


class SessionEntry(TypedDict):
    """A session in a list; one that cannot be read has only an error."""

    session_id: str
    query: NotRequired[str]
    phase: str
    created_at: NotRequired[str]
    last_used_at: NotRequired[str]
    checkpoint_kind: NotRequired[str]
    checkpoint_id: NotRequired[str]
    paper_count: NotRequired[int]
    error: NotRequired[str]
    offline: NotRequired[bool]
    actor: NotRequired[ActorFields]


class SessionEntries(TypedDict):
    """The sessions used last, and the number of all sessions."""

    sessions: list[SessionEntry]
    total: int


class NamedPaper(TypedDict):
    id: str
    title: str
    year: int | None
    doi: str | None


class ExportSummary(TypedDict):
    """What a JSON export contains that is too long for one reply, and where to read it."""

    session_id: str
    format: str
    is_summary: bool
    query: str
    total_papers: int
    excluded_papers: int
    removed_papers: int
    years: list[int] | None
    best_papers: list[NamedPaper]
    resource: str
    hint: str


class ExportParts(TypedDict):
    """Parts of a JSON export: the lists of all pages joined, and their objects merged, are the export."""

    papers: NotRequired[list[JsonObject]]
    excluded_papers: NotRequired[list[JsonObject]]
    removed_papers: NotRequired[list[JsonObject]]
    metadata: NotRequired[JsonObject]
    facets: NotRequired[JsonObject]


class ExportPage(ExportParts):
    """A page of a JSON export."""

    session_id: str
    total_papers: int
    offset: int
    total_parts: int
    next: str | None


class SessionChange(ChangeFields):
    """A session reached another phase. `subject` is the id of the session."""

    kind: Literal["session"]
    phase: NotRequired[str]
    round: NotRequired[int]
    checkpoint_id: NotRequired[str | None]
    checkpoint_kind: NotRequired[str | None]


class SourceChange(ChangeFields):
    """A source answered a search. `subject` is the id of the session."""

    kind: Literal["source"]
    name: NotRequired[str]
    status: NotRequired[SourceState]
    returned: NotRequired[int]
    reason: NotRequired[str | None]


class PapersChange(ChangeFields):
    """A person marked papers. `subject` is the id of the session."""

    kind: Literal["papers"]
    checkpoint_id: NotRequired[str | None]
    marked: NotRequired[int]
    reviewer: NotRequired[str]
    papers: NotRequired[Annotated[list[str], Field(description="The ids of up to 20 papers that were marked.")]]


class ListedQuery(BaseModel):
    """A query of a strategy: its text for Boolean sources and that for ranking sources; one of them may be empty."""

    rung: int
    blocks: list[str]
    boolean_query: str
    words: str


class QueryPage(BaseModel):
    """A page of queries in the order of the strategy."""

    session_id: str
    queries: list[ListedQuery]
    total_queries: int
    offset: int
    next: str | None
    """The address of the next page."""


class RemovedPaper(BaseModel):
    """A screened paper that is not in the result. Include it by its id to bring it back."""

    id: str
    title: str
    authors: list[str]
    year: int | None
    venue: str | None
    doi: str | None
    abstract: str | None
    reason: ExclusionReason
    score: float | None
    threshold: float | None
    """The `min_relevance` that the score did not reach."""
    reviewer: str | None
    detail: str | None
    """The reviewer's reason, or the id of the paper that this one was merged into."""
    found_in_round: int


class RemovedPage(BaseModel):
    """A page of removed papers: those that automation removed first, each group best first."""

    session_id: str
    papers: list[RemovedPaper]
    total_papers: int
    counts: dict[str, int]
    """The number of all removed papers by reason."""
    offset: int
    next: str | None
    """The address of the next page."""
