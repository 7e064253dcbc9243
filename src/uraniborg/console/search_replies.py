"""The replies of the routes of searches."""

from typing import Any, Literal

from pydantic import Field, computed_field

from paper_search.review_models import PaperDecision
from paper_search.source_labels import get_source_label
from uraniborg.console.replies import Reply
from uraniborg.kernel.actors import Actor

Status = Literal["include", "exclude", "maybe", "undecided"]
SourceState = Literal["ok", "empty", "failed", "rate_limited", "skipped"]


StopReasonName = Literal["complete", "enough", "source_limit", "too_broad", "deadline", "failed", "not_run", "unknown"]


class NamedSource(Reply):
    """A source of papers, with the name that people know."""

    name: str

    @computed_field
    @property
    def label(self) -> str:
        """The name that people know, such as `Semantic Scholar`."""
        return get_source_label(self.name)


class SourceHealth(NamedSource):
    """How a source answered last."""

    status: SourceState
    returned: int = 0
    partial: bool = False
    reason: str | None = None


class SearchSummary(Reply):
    """One search in a list."""

    session_id: str
    query: str
    phase: Literal["waiting", "working", "completed", "failed", "unreadable"]
    created_at: str | None = None
    last_used_at: str
    checkpoint_kind: str | None = None
    checkpoint_id: str | None = None
    round: int = 0
    paper_count: int | None = None
    sources: list[SourceHealth] = Field(default_factory=list[SourceHealth])
    offline: bool = False
    actor: Actor | None = None
    """Who started the session; null if a version that did not store it started it."""
    error: str | None = None


class SearchList(Reply):
    """A page of searches, the one used last first."""

    sessions: list[SearchSummary]
    total: int
    offset: int
    limit: int
    next_offset: int | None


class SourceChoice(NamedSource):
    """A source that a search can use."""

    used: bool
    remark: str


class SearchOptions(Reply):
    """What a new search can choose, and the values it has otherwise."""

    domains: list[str]
    sources: list[SourceChoice]
    default_domain: str
    default_max_results: int
    max_results: int
    offline: bool
    example: str


class CheckpointReply(Reply):
    """The question that waits."""

    id: str
    kind: str
    iteration: int
    payload: dict[str, Any]
    actions: list[str]


class EarlierDecision(Reply):
    """The decision that was taken before."""

    message: str
    same_as_sent: bool
    checkpoint_id: str
    action: str | None
    note: str | None
    door: str | None
    decided_by: str | None
    decided_at: str | None


class SearchState(Reply):
    """The state of a search, as the tools `search_papers`, `decide` and `get_session` reply with it."""

    session_id: str
    query: str
    is_complete: bool
    has_pending_checkpoint: bool
    iteration: int
    round: int
    phase: str
    rounds_left: int
    elapsed_s: float
    summary: str
    sources: list[SourceHealth]
    offline: bool = False
    actor: Actor | None = None
    """Who started the session; null if a version that did not store it started it."""
    checkpoint_id: str | None = None
    checkpoint_kind: str | None = None
    checkpoint: CheckpointReply | None = None
    paper_count: int | None = None
    error: str | None = None
    already_decided: EarlierDecision | None = None


class QueryReportReply(Reply):
    """What one source did with one query."""

    text: str
    """The exact text that the source received."""
    rung: int = 0
    found: int | None = None
    """The number of all matches by the source's own count; null if it does not state one."""
    fetched: int = 0
    added: int = 0
    """Fetched records that no earlier query of this source had returned."""
    stopped: StopReasonName
    reason: str | None = None
    changes: list[str] = Field(default_factory=list[str])
    """What of a strategy the source changed or lost."""


class SourceReportReply(NamedSource):
    """The report on one source in one round."""

    status: SourceState
    received: int = 0
    returned: int = 0
    removed: dict[str, int] = Field(default_factory=dict[str, int])
    found: int | None = None
    calls: int = 0
    seconds: float = 0.0
    reason: str | None = None
    retry_at: str | None = None
    partial: bool = False
    queries: list[QueryReportReply] = Field(default_factory=list[QueryReportReply])
    """What the source did with each query, in the order of the plan."""


class SourceProgress(Reply):
    """The sources of the present round, as far as they have answered."""

    session_id: str
    phase: str
    round: int
    sources_asked: int
    sources: list[SourceReportReply]


class ReviewDecisionReply(Reply):
    """The decision of one reviewer."""

    status: Status
    reason: str | None
    reviewer: str
    at: str | None
    by_agent: bool
    """Whether an agent or another program decided."""
    actor: Actor | None = None
    """Who decided; null if that is not known."""


class RetractionReply(Reply):
    """A retraction."""

    status: str
    source: str
    date: str | None = None
    notice_doi: str | None = None


class NoticeReply(RetractionReply):
    """An editorial notice."""

    label: str | None = None


class PaperRow(Reply):
    """A paper in a list. The decisions of others are hidden until you have decided."""

    rank: int
    id: str
    title: str
    authors: list[str]
    author_count: int
    short_authors: str
    """The family names in short, such as `Gillon and Luger` or `Gillon et al.`."""
    year: int | None
    year_unknown_kept: bool
    """Whether the paper has no year and was kept although years are limited."""
    venue: str | None
    doi: str | None
    citation_key: str | None
    relevance_score: float
    sources: list[str]
    retraction: RetractionReply | None = None
    editorial_note: str | None = None
    found_in_round: int
    status: Status
    reason: str | None
    is_marked: bool
    others: list[ReviewDecisionReply]
    others_hidden: int
    differs: bool


class PaperFilters(Reply):
    """What papers can be filtered by."""

    sources: dict[str, int]
    source_labels: dict[str, str]
    """The names of these sources as people know them."""
    rounds: dict[str, int]
    year_min: int | None
    year_max: int | None


class PaperList(Reply):
    """A page of papers, and counts of all papers."""

    papers: list[PaperRow]
    total: int
    offset: int
    limit: int
    next_offset: int | None
    counts: dict[Status, int]
    facets: PaperFilters
    removed: dict[str, int]
    """The papers that automation removed, by reason: `below_threshold` and `over_limit`."""
    min_relevance: float | None
    unknown_years_kept: int
    """The papers of unknown year that were kept although years are limited."""
    query: str
    """The question of the search."""
    is_complete: bool
    can_mark: bool
    """Whether the review of these papers waits. It does not while the plan of the next round waits."""
    checkpoint_id: str | None


class TextNodeReply(Reply):
    """A part of a foreign text: plain text, a formula, or marked-up text with children."""

    kind: Literal["text", "math", "sub", "sup", "italic", "bold"]
    text: str
    matched: bool | None = None
    latex: str | None = None
    block: bool | None = None
    children: list["TextNodeReply"] | None = None


class MergedRecord(Reply):
    """A record that was merged into a paper, and why."""

    source: str
    record_id: str
    reason: str
    url: str | None


class FieldAlternative(Reply):
    """The value of another record."""

    source: str
    record_id: str
    value: str | None


class FieldOrigin(Reply):
    """The value of a field, its source, and the values of the other records."""

    field: str
    value: str | None
    source: str | None
    agreeing: list[str]
    """The other sources that give the same value."""
    alternatives: list[FieldAlternative]


class Provenance(Reply):
    """The records of a paper, and the origin of each field."""

    records: list[MergedRecord]
    fields: list[FieldOrigin]


class ExclusionOfPaper(Reply):
    """Why a paper is not in the result."""

    reason: str
    score: float | None
    threshold: float | None


class PaperDetails(PaperRow):
    """A paper in full."""

    exclusion: ExclusionOfPaper | None = None

    title_tree: list[TextNodeReply]
    abstract_tree: list[TextNodeReply]
    abstract_chars: int
    volume: str | None
    issue: str | None
    pages: str | None
    publisher: str | None
    url: str | None
    identifiers: dict[str, str]
    work_type: str | None
    citation_count: int
    relevance_reason: str
    tags: list[str]
    notices: list[NoticeReply]
    provenance: Provenance


class MarksReply(Reply):
    """Your marks by paper id."""

    marks: dict[str, PaperDecision]


class RecordNameReply(Reply):
    """The name of a record."""

    source: str
    record_id: str


class CorrectionReply(Reply):
    """A merge or a split of a reviewer."""

    kind: Literal["merge", "split"]
    papers: list[str]
    """The papers that are one paper, or the paper that is split."""
    records: list[RecordNameReply]
    """The records that leave; empty if each record becomes a paper."""
    title: str
    reviewer: str | None
    actor: Actor | None = None
    """Who made the change; null if that is not known."""
    at: str | None
    is_sent: bool
    """False while the change waits for the decision."""


class CorrectionList(Reply):
    """The merges and splits of a review: first those that wait for the decision."""

    corrections: list[CorrectionReply]


class UndoneMarks(Reply):
    """The marks of the papers that the undone change had changed; None for a paper without a mark."""

    undone: dict[str, PaperDecision | None]


class ReasonCount(Reply):
    """A reason for an exclusion, and how many papers you excluded by it."""

    reason: str
    count: int


class ReasonList(Reply):
    """The reasons that a review offers."""

    reasons: list[ReasonCount]


class FlowReply(Reply):
    """The PRISMA flow with your marks. `counts` has the papers by your status."""

    identified: dict[str, int]
    removed: dict[str, int]
    screened: int
    judged_by_person: int
    judged_by_agent: int
    judged_by_software: int
    removed_by_automation: int
    unknown_years_kept: int
    included_by_agent: dict[str, int]
    excluded: dict[str, int]
    included: int
    round_count: int
    labels: dict[str, str]
    reasons: dict[str, int]
    counts: dict[Status, int]
    partial: bool
    is_complete: bool


class ExclusionReply(Reply):
    """A screened paper that is not in the result."""

    paper_id: str
    title: str
    doi: str | None
    round: int
    reason: str
    score: float | None
    threshold: float | None
    short_authors: str
    year: int | None
    venue: str | None
    mark: Status | None
    """Your mark that is not sent yet, such as one that brings the paper back."""
    reviewer: str | None
    at: str | None
    detail: str | None


class ExclusionList(Reply):
    """A page of exclusions."""

    exclusions: list[ExclusionReply]
    total: int
    offset: int
    limit: int
    next_offset: int | None
