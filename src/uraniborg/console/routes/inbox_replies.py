"""Replies of the inbox: questions of the parts, each kind with its own payload."""

from typing import Annotated, Any, Literal

from pydantic import Field

from paper_search.models import ParsedIntent, SearchStrategy
from uraniborg.console.replies import ApiReply
from uraniborg.kernel.actors import Actor


class DecisionTaken(ApiReply):
    """The decision about a question."""

    action: str
    data: Any = None
    note: str | None = None


class InboxQuestion(ApiReply):
    """The fields of every question. `decision` and the fields after it are there once it is decided."""

    id: str
    part: str
    subject: str
    """The id of the session, or of the approval."""
    created_at: str
    state: Literal["pending", "decided", "withdrawn"]
    decision: DecisionTaken | None = None
    door: str | None = None
    """The interface of the decision: `console`, `terminal`, `client` or `agent`."""
    decided_by: str | None = None
    """The name that the decider claimed."""
    actor: Actor | None = None
    """Who decided."""
    decided_at: str | None = None


class StrategyPayload(ApiReply):
    """A strategy that a search proposes."""

    query: str
    question: str
    intent: ParsedIntent
    strategy: SearchStrategy
    shortened: bool = False
    """Whether texts and lists were cut. `GET /api/searches/{session_id}` has more."""

    findings: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    """The first warnings about queries that a person wrote."""
    findings_in_all: int | None = None
    changed_for_sources: dict[str, list[str]] = Field(default_factory=dict[str, list[str]])
    """What sources change or lose of a strategy in the syntax of PubMed, by the names of sources that do alike."""
    source_labels: dict[str, str]
    """The names of sources as people know them."""


class StrategyQuestion(InboxQuestion):
    """A search asks whether its strategy is right."""

    kind: Literal["strategy_confirmation"]
    payload: StrategyPayload


class ListedPaper(ApiReply):
    """A paper in short."""

    id: str
    title: str
    authors: list[str]
    more_authors: int = 0
    year: int | None = None
    venue: str | None = None
    doi: str | None = None
    relevance_score: float
    relevance_reason: str | None = None
    sources: list[str] = Field(default_factory=list)
    retraction: dict[str, Any] | None = None
    editorial_note: str | None = None
    status: str | None = None
    found_in_round: int | None = None


class ReviewFacets(ApiReply):
    """Counts of years and venues, and frequent authors and themes."""

    by_year: dict[str, int]
    by_venue: dict[str, int]
    top_authors: list[str]
    key_themes: list[str]


class ReviewPayload(ApiReply):
    """The papers that a search found. `GET /api/searches/{session_id}/papers` lists all of them."""

    query: str
    question: str
    papers: list[ListedPaper]
    total_papers: int
    shown: int
    more: str | None = None
    facets: ReviewFacets
    accumulated_count: int
    status_counts: dict[str, int] = Field(default_factory=dict)
    stage_counts: dict[str, dict[str, int]]
    strategy: SearchStrategy | None = None


class ReviewQuestion(InboxQuestion):
    """A search asks which papers to keep."""

    kind: Literal["result_review"]
    payload: ReviewPayload


class ApprovalPayload(ApiReply):
    """The question of a workflow."""

    question: str
    details: Any = None
    workflow: str
    node: str
    lineage: str
    actions: list[str]


class ApprovalQuestion(InboxQuestion):
    """A run of a workflow waits for approval."""

    kind: Literal["approval"]
    payload: ApprovalPayload


AnyQuestion = Annotated[StrategyQuestion | ReviewQuestion | ApprovalQuestion, Field(discriminator="kind")]


class InboxPage(ApiReply):
    """A page of the inbox."""

    entries: list[AnyQuestion]
    next: str | None
    """The value of `before` for the next page."""
    pending: dict[str, int]
    """How many questions of each part wait."""


class QuestionSummary(ApiReply):
    """A question in a list."""

    id: str
    part: str
    kind: str
    subject: str
    """The id of the session, or of the approval."""
    title: str
    """The beginning of the question."""
    created_at: str
    state: Literal["pending", "decided", "withdrawn"]
    papers: int | None = None
    """How many papers a review has."""
    workflow: str | None = None
    """The workflow that waits for approval."""
    action: str | None = None
    note: str | None = None
    """The beginning of the note of the decision."""
    door: str | None = None
    decided_by: str | None = None
    actor: Actor | None = None
    decided_at: str | None = None


class QuestionSummaryPage(ApiReply):
    """A page of questions in short."""

    entries: list[QuestionSummary]
    next: str | None
    """The value of `before` for the next page."""
    pending: dict[str, int]
    """How many questions of each part wait."""
