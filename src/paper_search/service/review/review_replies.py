"""Replies about reviews: papers, marks, the flow of records, and changes of duplicates."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from paper_search.domain.review_models import PaperDecision, RecordName
from paper_search.editorial_notices import RetractionReply
from paper_search.service.checkpoint_replies import Status
from uraniborg.kernel.shared_fields import ActorFields


class ReviewDecisionReply(TypedDict):
    """The decision of one reviewer."""

    status: Status
    reason: str | None
    reviewer: str
    at: datetime | None
    by_agent: Annotated[bool, Field(description="Whether an agent or another program decided.")]
    actor: Annotated[ActorFields | None, Field(description="Who decided; null if that is not known.")]


class DecisionFields(TypedDict):
    """The decisions about a paper as one reviewer may see them."""

    status: Status
    reason: str | None
    is_marked: bool
    others: list[ReviewDecisionReply]
    others_hidden: int
    differs: bool


class PaperRow(DecisionFields):
    """A paper in a list. The decisions of others are hidden until you have decided."""

    rank: int
    id: str
    title: str
    authors: list[str]
    author_count: int
    short_authors: Annotated[
        str, Field(description="The family names in short, such as `Gillon and Luger` or `Gillon et al.`")
    ]
    year: int | None
    year_unknown_kept: Annotated[
        bool, Field(description="Whether the paper has no year and was kept although years are limited.")
    ]
    venue: str | None
    doi: str | None
    citation_key: str | None
    relevance_score: float
    sources: list[str]
    retraction: RetractionReply | None
    editorial_note: str | None
    found_in_round: int


class PaperFilters(TypedDict):
    """What papers can be filtered by."""

    sources: dict[str, int]
    source_labels: Annotated[dict[str, str], Field(description="The names of these sources as people know them.")]
    rounds: dict[str, int]
    year_min: int | None
    year_max: int | None


class PaperPage(TypedDict):
    """A page of papers, and counts of all papers."""

    papers: list[PaperRow]
    total: int
    offset: int
    limit: int
    next_offset: int | None
    counts: dict[Status, int]
    facets: PaperFilters
    removed: Annotated[
        dict[str, int],
        Field(description="The papers that automation removed, by reason: `below_threshold` and `over_limit`."),
    ]
    min_relevance: float | None
    unknown_years_kept: Annotated[
        int, Field(description="The papers of unknown year that were kept although years are limited.")
    ]
    is_complete: bool


class PaperList(PaperPage):
    """A page of papers, and counts of all papers."""

    query: Annotated[str, Field(description="The question of the search.")]
    can_mark: Annotated[
        bool,
        Field(
            description="Whether the review of these papers waits. It does not while the plan of the next round waits."
        ),
    ]
    checkpoint_id: str | None


class TextNodeReply(TypedDict):
    """A part of a foreign text: plain text, a formula, or marked-up text with children."""

    kind: Literal["text", "math", "sub", "sup", "italic", "bold"]
    text: str
    matched: bool | None
    latex: str | None
    block: bool | None
    children: "list[TextNodeReply] | None"


class MergedRecord(TypedDict):
    """A record that was merged into a paper, and why."""

    source: str
    record_id: str
    reason: str
    url: str | None


class FieldAlternative(TypedDict):
    """The value of another record."""

    source: str
    record_id: str
    value: str | None


class FieldOrigin(TypedDict):
    """The value of a field, its source, and the values of the other records."""

    field: str
    value: str | None
    source: str | None
    agreeing: Annotated[list[str], Field(description="The other sources that give the same value.")]
    alternatives: list[FieldAlternative]


class Provenance(TypedDict):
    """The records of a paper, and the origin of each field."""

    records: list[MergedRecord]
    fields: list[FieldOrigin]


class ExclusionOfPaper(TypedDict):
    """Why a paper is not in the result."""

    reason: str
    score: float | None
    threshold: float | None


class NoticeReply(RetractionReply):
    """An editorial notice."""

    label: str | None


class PaperDetails(PaperRow):
    """A paper in full."""

    exclusion: ExclusionOfPaper | None
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


class MarksReply(TypedDict):
    """Your marks by paper id."""

    marks: dict[str, PaperDecision]


class UndoneMarks(TypedDict):
    """The marks of the papers that the undone change had changed; None for a paper without a mark."""

    undone: dict[str, PaperDecision | None]


class CorrectionReply(TypedDict):
    """A merge or a split of a reviewer."""

    kind: Literal["merge", "split"]
    papers: Annotated[list[str], Field(description="The papers that are one paper, or the paper that is split.")]
    records: Annotated[
        list[RecordName], Field(description="The records that leave; empty if each record becomes a paper.")
    ]
    title: str
    reviewer: str | None
    actor: Annotated[ActorFields | None, Field(description="Who made the change; null if that is not known.")]
    at: datetime | None
    is_sent: Annotated[bool, Field(description="False while the change waits for the decision.")]


class CorrectionList(TypedDict):
    """The merges and splits of a review: first those that wait for the decision."""

    corrections: list[CorrectionReply]


class ReasonCount(TypedDict):
    """A reason for an exclusion, and how many papers you excluded by it."""

    reason: str
    count: int


class ReasonList(TypedDict):
    """The reasons that a review offers."""

    reasons: list[ReasonCount]


class FlowFields(TypedDict):
    """The counts and the notes of a PRISMA flow."""

    identified: dict[str, int]
    matches: dict[str, int]
    removed: dict[str, int]
    screened: int
    excluded: dict[str, int]
    included: int
    question: str
    date: str
    software: str
    actor: NotRequired[ActorFields]
    domain: str
    ended_by: str | None
    partial: bool
    incomplete_because: str
    judged_by_person: int
    judged_by_agent: int
    judged_by_program: int
    judged_by_software: int
    removed_by_automation: int
    unknown_years_kept: int
    included_by_agent: dict[str, int]
    included_by_program: dict[str, int]
    notes: list[str]


class FlowReply(FlowFields):
    """The PRISMA flow with your marks. `counts` has the papers by your status."""

    round_count: int
    labels: dict[str, str]
    reasons: dict[str, int]
    counts: dict[Status, int]
    is_complete: bool


class ExclusionFields(TypedDict):
    paper_id: str
    other_ids: list[str]
    title: str
    doi: str | None
    round: int
    reason: str
    score: float | None
    threshold: float | None
    reviewer: str | None
    at: str | None
    detail: str | None


class ExclusionReply(ExclusionFields):
    """A screened paper that is not in the result."""

    short_authors: str
    year: int | None
    venue: str | None
    mark: Annotated[
        Status | None,
        Field(description="Your mark that is not sent yet, such as one that brings the paper back."),
    ]


class ExclusionList(TypedDict):
    """A page of exclusions."""

    exclusions: list[ExclusionReply]
    total: int
    offset: int
    limit: int
    next_offset: int | None
